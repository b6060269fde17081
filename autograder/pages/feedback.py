"""Render a graded notebook and its verdict as one self-contained HTML page."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property

from markupsafe import Markup

from autograder.base.foreign import Json
from autograder.base.formatting import duration, join_words, number, pluralize, points
from autograder.base.marks import CHECK, CellMark, SubmissionMarks, automatic_marks
from autograder.base.sanitize import sanitize
from autograder.base.verdict import ExerciseVerdict, Verdict
from autograder.course.notebook import Cell, cell_of
from autograder.pages import STYLE, Card, card_section, status_text
from autograder.pages.prose import MAX_MARKDOWN, page_templates, prose, verbatim

__all__ = ["Marking", "feedback_page", "marking_of", "notes_off_page", "reason_page"]


WAITS = "needs manual grading"
AGAIN = "needs manual grading again"
NO_RESPONSE = "no answer"


@dataclass(frozen=True)
class Marking:
    """The part of a page that is about marks.

    Attributes:
        score: the final score out of the maximum.
        rows: the rows of the table, one for each cell with a mark.
        before_penalty: the score before the late penalty. Empty without a penalty.
        penalty: the late penalty. Empty if there is none.
        extension: how much more time the student had. Empty if none.
        waiting: the sentence about cells that still need manual grading. Empty if there are none.
        notes: manual marks and comments, by cell.
        has_manual_marks: whether any part of the score was given manually.
        has_marks: whether there is any mark.
    """

    score: str
    rows: tuple[dict[str, str], ...]
    before_penalty: str
    penalty: str
    extension: str
    waiting: str
    notes: Mapping[str, Sequence[str | Markup]]
    has_manual_marks: bool
    has_marks: bool

    @cached_property
    def anchors(self) -> frozenset[str]:
        """The cells that have an anchor on the page: those with a mark or a comment."""
        return frozenset(row["anchor"] for row in self.rows) | self.notes.keys()


def marking_of(verdict: Verdict, marks: SubmissionMarks) -> Marking:
    """Return the part of the page about ``marks``. ``verdict`` is redacted for the student."""
    exercises = {CHECK + exercise.name: exercise for exercise in verdict.exercises}
    others = [cell.name for cell in marks.cells if cell.name not in exercises]
    rows: list[dict[str, str]] = []
    notes: dict[str, Sequence[str | Markup]] = {}
    for name in [*(name for name in exercises if name in marks.by_cell), *others]:
        mark, exercise = marks.by_cell[name], exercises.get(name)
        rows.append(_row(mark, exercise))
        # nbgrader stores the comment on an exercise at its stub cell.
        comments = [marks.comments[cell] for cell in dict.fromkeys((_called(name), name)) if cell in marks.comments]
        # Otherwise the page says so for the whole notebook.
        waits = mark.needs_manual_grade and (mark.is_graded or verdict.status == "graded")
        if note := [*_note(mark, exercise, waits=waits), *map(_comment, comments)]:
            notes[name] = note
    for name, text in marks.comments.items():
        if name not in marks.by_cell and CHECK + name not in marks.by_cell:
            notes[name] = [_comment(text)]
    waiting = join_words([_called(mark.name) for mark in marks.waiting])
    return Marking(
        points(marks.total, marks.max_score),
        tuple(rows),
        points(marks.score, marks.max_score) if marks.penalty else "",
        number(marks.penalty) if marks.penalty else "",
        duration(marks.extension) if marks.extension else "",
        f"Your instructor still has to grade {waiting}, so these points may change." if waiting else "",
        notes,
        any(mark.by_hand is not None or mark.extra for mark in marks.cells),
        marks.is_graded,
    )


def _called(name: str) -> str:
    return name.removeprefix(CHECK)


def _row(mark: CellMark, exercise: ExerciseVerdict | None) -> dict[str, str]:
    status = [status_text(exercise)] if exercise is not None else []
    if mark.by_hand is not None:
        status = ["graded manually"]
    elif exercise is None and mark.auto is not None:
        status = [NO_RESPONSE if mark.auto == 0 else ""]
    if mark.extra:
        status.append(f"with {pluralize(mark.extra, 'point')} of extra credit")
    if mark.needs_manual_grade:
        status.append(AGAIN if mark.is_graded else WAITS)
    none = f"– of {pluralize(mark.max_score, 'point')}"
    shown = points(mark.score, mark.max_score) if mark.is_graded else none
    texts = ", ".join(filter(None, status))
    return {"name": _called(mark.name), "anchor": mark.name, "points": shown, "status": texts}


def _note(mark: CellMark, exercise: ExerciseVerdict | None, *, waits: bool) -> list[str]:
    """Return the note shown at the cell if its mark does not come from the checks alone. A list of one text, or empty."""
    sentences = []
    if mark.by_hand is not None:
        sentences.append(f"Graded manually: {points(mark.by_hand, mark.max_score)}.")
        if exercise is not None and mark.auto is not None and mark.auto != mark.by_hand:
            sentences.append(f"The checks gave {number(mark.auto)}. The manual mark counts.")
    elif exercise is not None and mark.auto is not None and abs(mark.auto - exercise.score) > 1e-9:
        sentences.append(f"In the gradebook, {points(mark.auto, mark.max_score)} count for this.")
    if mark.extra and mark.is_graded:
        sentences.append(f"Extra credit: {pluralize(mark.extra, 'point')}.")
    if waits:
        sentences.append(f"Your instructor will {'look at this again' if mark.is_graded else 'grade this'}.")
    return [" ".join(sentences)] if sentences else []


def _comment(text: str) -> Markup:
    return Markup('<p class="label">Comment</p>{}').format(prose(text))


def notes_off_page(marking: Marking, shown: Collection[str]) -> list[tuple[str, Sequence[str | Markup]]]:
    """Return the cells that are not on the page, with their manual marks and comments."""
    return [(_called(name), note) for name, note in marking.notes.items() if name not in shown]


MAX_PROSE = 200_000  # characters of a notebook's prose that are rendered as Markdown. The rest is shown as typed.
MAX_TYPED = 4 << 20  # characters of prose that are shown at all
CUT = "… (the rest of this text is not shown)"
_BASE64 = (string.ascii_letters + string.digits + "+/=").encode()


def feedback_page(
    course_title: str, verdict: Verdict, document: Mapping[str, Json], marks: SubmissionMarks | None = None
) -> str:
    """Return the HTML page of a graded notebook.

    Args:
        course_title: the title of the course.
        verdict: the verdict, redacted for the student (see ``autograder.base.verdict``).
        document: the notebook with its outputs, as stored in ``autograded/``.
        marks: the marks in the gradebook. Defaults to those of the checks.
    """
    outcomes = {CHECK + exercise.name: exercise for exercise in verdict.exercises}
    marking = marking_of(verdict, marks or automatic_marks(verdict))
    marked: dict[str, set[int]] = {}
    for located in (exercise.located for exercise in verdict.exercises):
        if located is not None:
            marked.setdefault(located.cell, set()).update(located.lines)
    room, typed, code = MAX_PROSE, MAX_TYPED, 0
    cells = []
    for index, raw in enumerate(document["cells"]):
        cell = cell_of(index, raw)
        if cell.kind != "code":
            length = len(cell.source)
            cell = cell if length <= typed else replace(cell, source=cell.source[:typed] + CUT)
            typed = max(typed - length, 0)
        room -= len(cell.source) if cell.kind == "markdown" and len(cell.source) <= MAX_MARKDOWN else 0
        code += cell.kind == "code"
        lines = marked.get(cell.grade_id or f"cell {code}", set()) if cell.kind == "code" else set()
        place = {"name": cell.grade_id, "notes": marking.notes.get(cell.grade_id or "", ())}
        shown = place if cell.grade_id in marking.anchors else {"name": "", "notes": ()}
        cells.append({**_cell(cell, raw, outcomes, lines, rendered=room >= 0), **shown})
    return _render(course_title, verdict, marking, cells)


def reason_page(course_title: str, verdict: Verdict, marks: SubmissionMarks | None = None) -> str:
    """Return the page of an ungradable notebook: the reason, what happens next, and any manual marks."""
    return _render(course_title, verdict, marking_of(verdict, marks or automatic_marks(verdict)), [])


def _cell(
    cell: Cell,
    raw: Mapping[str, Json],
    outcomes: Mapping[str, ExerciseVerdict],
    marked: AbstractSet[int],
    *,
    rendered: bool,
) -> dict[str, object]:
    outcome = outcomes.get(cell.grade_id or "") if cell.role == "check" else None
    if outcome is not None:
        return {"kind": "check", "outcome": Markup(card_section(Card(outcome, graded=True)))}  # noqa: S704 - escaped there
    if cell.kind == "markdown":
        return {"kind": "prose", "html": prose(cell.source) if rendered else verbatim(cell.source)}
    if cell.kind != "code":
        return {"kind": "raw", "source": sanitize(cell.source)}
    return {
        "kind": "code",
        "source": _with_marks(sanitize(cell.source), marked),
        "label": f"Your code for {cell.grade_id}" if cell.role == "stub" else "Code",
        "yours": cell.role == "stub",
        "outputs": list(_outputs(raw.get("outputs", []))),
    }


def _with_marks(source: str, lines: AbstractSet[int]) -> str | Markup:
    if not lines:
        return source
    mark = Markup('<mark class="here" title="Look at this line">{}</mark>')
    numbered = enumerate(source.split("\n"), start=1)
    return Markup("\n").join(mark.format(line) if number in lines else line for number, line in numbered)


def _outputs(outputs: Iterable[Mapping[str, Json]]) -> Iterable[dict[str, object]]:
    for output in outputs:
        match output.get("output_type"):
            case "stream":
                yield {"kind": str(output["name"]), "text": sanitize(str(output["text"]))}
            case "error":
                lines = output["traceback"] or [f"{output['ename']}: {output['evalue']}"]
                yield {"kind": "error", "text": sanitize("\n".join(lines))}
            case "display_data" | "execute_result":
                yield _shown(output["data"])


def _shown(data: Mapping[str, str]) -> dict[str, object]:
    text = sanitize(data.get("text/plain", ""))
    for mime in ("image/png", "image/jpeg"):
        encoded = "".join(data.get(mime, "").split())
        if encoded and not encoded.encode("ascii", "replace").translate(None, _BASE64):
            source = Markup(f"data:{mime};base64,{encoded}")  # noqa: S704 - base64, as was just seen
            return {"kind": "picture", "source": source, "text": text}
    return {"kind": "result", "text": text or sanitize(data.get("text/latex", ""))}


def _render(course_title: str, verdict: Verdict, marking: Marking, cells: list[dict[str, object]]) -> str:
    shown = {str(cell["name"]) for cell in cells}
    return (
        page_templates("autograder.pages")
        .get_template("page.html.j2")
        .render(
            card_style=Markup(STYLE),  # noqa: S704 - our own
            course_title=course_title,
            verdict=verdict,
            marking=marking,
            cells=cells,
            shown=shown,
            elsewhere=notes_off_page(marking, shown),
        )
    )
