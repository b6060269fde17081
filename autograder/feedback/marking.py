"""What a page says of marks: those in the gradebook, whoever gave them, comments, a late penalty, and what counts in the end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from autograder.feedback.prose import prose
from autograder.marks import CHECK, CellMark, SubmissionMarks
from autograder.render import standing
from autograder.verdict import ExerciseVerdict, Verdict
from autograder.wording import number, plural, points

__all__ = ["Marking", "marking_of", "notes_elsewhere"]

WAITS = "waits for a person"
AGAIN = "waits for a person to look once more"
NO_RESPONSE = "left as it was handed out"


@dataclass(frozen=True)
class Marking:
    """The part of a page that is about marks.

    ``score`` is what counts, out of what there is, and ``by_person`` whether a person gave any of it; ``rows`` are the table's, one
    for each cell with a mark; ``before`` and ``penalty`` are the sum and what is taken off it for being late, and ``waiting`` the sentence on what
    a person still has to look at, each empty where there is nothing to say; ``notes`` is what a person gave or wrote, by cell.
    """

    score: str
    rows: tuple[dict[str, str], ...]
    before: str
    penalty: str
    waiting: str
    notes: Mapping[str, Sequence[str | Markup]]
    by_person: bool
    given: bool

    @cached_property
    def anchors(self) -> frozenset[str]:
        """The cells of which a page holds a place to go to: those with a mark, and those with a comment."""
        return frozenset(row["anchor"] for row in self.rows) | self.notes.keys()


def marking_of(verdict: Verdict, marks: SubmissionMarks) -> Marking:
    """What the page of ``verdict`` (as the student may read it) says of ``marks``."""
    exercises = {CHECK + exercise.name: exercise for exercise in verdict.exercises}
    others = [cell.name for cell in marks.cells if cell.name not in exercises]
    rows: list[dict[str, str]] = []
    notes: dict[str, Sequence[str | Markup]] = {}
    for name in [*(name for name in exercises if name in marks.by_cell), *others]:
        mark, exercise = marks.by_cell[name], exercises.get(name)
        rows.append(_row(mark, exercise))
        # nbgrader keeps the comment on an exercise at the cell of its stub.
        said = [marks.comments[at] for at in dict.fromkeys((_called(name), name)) if at in marks.comments]
        waits = mark.waits and (mark.given or verdict.status == "graded")  # else the page says it of the whole notebook
        if note := [*_note(mark, exercise, waits=waits), *map(_comment, said)]:
            notes[name] = note
    for name, text in marks.comments.items():
        if name not in marks.by_cell and CHECK + name not in marks.by_cell:
            notes[name] = [_comment(text)]
    waiting = [_called(mark.name) for mark in marks.waiting]
    return Marking(
        points(marks.total, marks.max_score),
        tuple(rows),
        points(marks.score, marks.max_score) if marks.penalty else "",
        number(marks.penalty) if marks.penalty else "",
        f"A person still has to look at {' and '.join(filter(None, [', '.join(waiting[:-1]), waiting[-1]]))}, so these points may change."
        if waiting
        else "",
        notes,
        any(mark.by_hand is not None or mark.extra for mark in marks.cells),
        marks.given,
    )


def _called(name: str) -> str:
    return name.removeprefix(CHECK)


def _row(mark: CellMark, exercise: ExerciseVerdict | None) -> dict[str, str]:
    stands = [standing(exercise)] if exercise is not None else []
    if mark.by_hand is not None:
        stands = ["marked by hand"]
    elif exercise is None and mark.auto is not None:
        stands = [NO_RESPONSE if mark.auto == 0 else ""]
    if mark.extra:
        stands.append(f"with {plural(mark.extra, 'point')} of extra credit")
    if mark.waits:
        stands.append(AGAIN if mark.given else WAITS)
    return {
        "name": _called(mark.name),
        "anchor": mark.name,
        "points": points(mark.score, mark.max_score) if mark.given else f"– of {plural(mark.max_score, 'point')}",
        "standing": ", ".join(filter(None, stands)),
    }


def _note(mark: CellMark, exercise: ExerciseVerdict | None, *, waits: bool) -> list[str]:
    """What stands at the cell itself of the mark that counts, where the checks' own is not the whole of it; one text, or none."""
    said = []
    if mark.by_hand is not None:
        said.append(f"Marked by hand: {points(mark.by_hand, mark.max_score)}.")
        if exercise is not None and mark.auto is not None and mark.auto != mark.by_hand:
            said.append(f"The checks gave {number(mark.auto)}; the mark by hand is the one that counts.")
    elif exercise is not None and mark.auto is not None and abs(mark.auto - exercise.score) > 1e-9:
        said.append(f"In the gradebook, {points(mark.auto, mark.max_score)} count for this.")
    if mark.extra and mark.given:
        said.append(f"Extra credit: {plural(mark.extra, 'point')}.")
    if waits:
        said.append("A person will look at this once more." if mark.given else "A person will mark this.")
    return [" ".join(said)] if said else []


def _comment(text: str) -> Markup:
    return Markup('<p class="label">Comment</p>{}').format(prose(text))


def notes_elsewhere(marking: Marking, shown: Collection[str]) -> list[tuple[str, Sequence[str | Markup]]]:
    """The names of the cells that are not on the page, with what a person gave or wrote there."""
    return [(_called(name), note) for name, note in marking.notes.items() if name not in shown]
