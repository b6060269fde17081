"""Render a graded notebook and its verdict as one self-contained HTML page."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from autograder.base.foreign import Json
from autograder.base.formatting import duration, join_words, number, pluralize, points
from autograder.base.marks import CHECK, CellMark, SubmissionMarks, automatic_marks
from autograder.base.sanitize import sanitize
from autograder.base.verdict import ExerciseVerdict, Verdict
from autograder.course.notebook import NOT_DRAWN, Cell, cell_of
from autograder.pages import STYLE, Card, card_section, status_text
from autograder.pages.card import ANSWERED
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
        extension: how much more time the student had. Empty if there was no extension.
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


def marking_of(verdict: Verdict, marks: SubmissionMarks) -> Marking:
    """Return the part of the page about ``marks``. ``verdict`` must already be redacted for the student."""
    exercises = {CHECK + exercise.name: exercise for exercise in verdict.exercises}
    others = [cell.name for cell in marks.cells if cell.name not in exercises]
    rows: list[dict[str, str]] = []
    notes: dict[str, Sequence[str | Markup]] = {}
    for name in [*(name for name in exercises if name in marks.by_cell), *others]:
        mark, exercise = marks.by_cell[name], exercises.get(name)
        rows.append(_row(mark, exercise))
        # nbgrader stores the comment on an exercise at its stub cell.
        comments = [marks.comments[cell] for cell in dict.fromkeys((_called(name), name)) if cell in marks.comments]
        # The page of an ungradable notebook mentions manual grading once for all cells.
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
    """Return a list with the note for a cell whose mark does not come from the checks alone, or an empty list."""
    sentences = []
    if mark.by_hand is not None:
        sentences.append(f"Graded manually: {points(mark.by_hand, mark.max_score)}.")
        if exercise is not None and mark.auto is not None and mark.auto != mark.by_hand:
            sentences.append(f"The checks gave {pluralize(mark.auto, 'point')}, but the manual mark counts.")
    elif exercise is not None and mark.auto is not None and abs(mark.auto - exercise.score) > 1e-9:
        sentences.append(f"The gradebook counts {points(mark.auto, mark.max_score)} for this exercise.")
    if mark.extra and mark.is_graded:
        sentences.append(f"Extra credit: {pluralize(mark.extra, 'point')}.")
    if waits:
        sentences.append(f"Your instructor will {'look at this again' if mark.is_graded else 'grade this'}.")
    return [" ".join(sentences)] if sentences else []


def _comment(text: str) -> Markup:
    return Markup('<p class="label">Comment</p>{}').format(prose(text))


def notes_off_page(marking: Marking, shown: Collection[str]) -> list[tuple[str, Sequence[str | Markup]]]:
    """Return the cells that are not in ``shown``, each with its manual marks and comments."""
    return [(_called(name), note) for name, note in marking.notes.items() if name not in shown]


MAX_PROSE = 200_000  # characters of a notebook's prose that are rendered as Markdown. The rest is shown as typed.
MAX_TYPED = 4 << 20  # characters of a notebook's prose that are shown
CUT = "… (the rest of this text is not shown)"
_BASE64 = (string.ascii_letters + string.digits + "+/=").encode()
_QUIET = {"passed", "not_attempted"}


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
    reasons = {exercise.name: "\n".join(check.reason for check in exercise.checks) for exercise in verdict.exercises}
    located = [exercise.located for exercise in verdict.exercises if exercise.located is not None]
    room, typed, code = MAX_PROSE, MAX_TYPED, 0
    cells: list[dict[str, Any]] = []
    titles: dict[str, str] = {}
    section = ""
    for index, raw in enumerate(document["cells"]):
        cell = cell_of(index, raw)
        if cell.kind != "code":
            length = len(cell.source)
            cell = cell if length <= typed else replace(cell, source=cell.source[:typed] + CUT)
            typed = max(typed - length, 0)
        room -= len(cell.source) if cell.kind == "markdown" and len(cell.source) <= MAX_MARKDOWN else 0
        code += cell.kind == "code"
        name = cell.grade_id or (f"cell {code}" if cell.kind == "code" else "")
        for level, heading in _HEADING.findall(cell.source[:MAX_MARKDOWN]) if cell.kind == "markdown" else ():
            section = _NUMBER.sub("", heading) if level == "##" else section
            titles.setdefault("", heading)
        titles.setdefault(name, section)
        # A card quotes the line in which an error was raised, and the first line of a loop that did not end.
        reason = reasons.get(name, "")
        source = cell.source.split("\n") if reason else []
        lines = {number for number, line in enumerate(source, start=1) if f"`{line.strip()}`" in reason}
        lines.update(*(place.lines for place in located if place.cell == name))
        cells.append({"name": name, **_cell(cell, raw, lines, rendered=room >= 0)})
    return _render(course_title, verdict, marks or automatic_marks(verdict), cells, titles)


def reason_page(course_title: str, verdict: Verdict, marks: SubmissionMarks | None = None) -> str:
    """Return the page of an ungradable notebook: the reason, what happens next, and any manual marks."""
    return _render(course_title, verdict, marks or automatic_marks(verdict), [], {})


_HEADING = re.compile(r"^(##?) +(.+?) *$", re.MULTILINE)
_NUMBER = re.compile(r"^\d+ · | · .*")


def _cell(cell: Cell, raw: Mapping[str, Json], marked: AbstractSet[int], *, rendered: bool) -> dict[str, object]:
    if cell.role == "check":
        return {"kind": "check"}
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


def _beginning(verdict: Verdict, marks: SubmissionMarks) -> dict[str, Any]:
    """Return the exercise to correct first and the points to gain: among attempted exercises if possible, the largest gain."""
    gains = {exercise.name: _gain(exercise, marks.by_cell.get(CHECK + exercise.name)) for exercise in verdict.exercises}
    tried = [exercise for exercise in verdict.exercises if exercise.status != "not_attempted"]
    wrong = (exercise for exercise in tried if gains[exercise.name] > 0)
    known = max(wrong, key=lambda e: (gains[e.name], bool(e.misconception or e.located)), default=None)
    best = known or next((exercise for exercise in verdict.exercises if gains[exercise.name] > 0), None)
    gain = pluralize(gains[best.name], "point") if best else ""
    return {"exercise": best, "gain": gain, "tried": bool(tried), "quiz": best is not None and _is_quiz(best)}


def _is_quiz(exercise: ExerciseVerdict) -> bool:
    return any(check.name.endswith(ANSWERED) for check in exercise.checks)


def _gain(exercise: ExerciseVerdict, mark: CellMark | None) -> float:
    """Return the points that one correction can gain: all lost points of an exercise, or the points of one quiz question."""
    lost = exercise.max_score - exercise.score if mark is None or not mark.is_graded else mark.max_score - mark.score
    one = max((check.points for check in exercise.checks if check.status != "passed"), default=0.0)
    return min(lost, one) if _is_quiz(exercise) and exercise.status != "not_attempted" else lost


def _with_marks(source: str, lines: AbstractSet[int]) -> str | Markup:
    if not lines:
        return source
    mark = Markup('<mark class="here" title="Look at this line">{}</mark>')
    numbered = enumerate(source.split("\n"), start=1)
    return Markup("\n").join(mark.format(line) if number in lines else line for number, line in numbered)


def _outputs(outputs: Iterable[Mapping[str, Json]]) -> Iterable[dict[str, object]]:
    for output in outputs:
        match output.get("output_type"):
            case "stream" if str(output["text"]).strip() == NOT_DRAWN:
                yield {"kind": "missing", "text": ""}
            case "stream":
                yield {"kind": str(output["name"]), "text": sanitize(str(output["text"]))}
            case "error":
                lines = output["traceback"] or [f"{output['ename']}: {output['evalue']}"]
                yield {"kind": "error", "text": sanitize("\n".join(lines))}
            case "display_data" | "execute_result":
                yield _shown(output["data"], output.get("metadata") or {})


def _shown(data: Mapping[str, str], metadata: Mapping[str, Json]) -> dict[str, object]:
    text = sanitize(data.get("text/plain", ""))
    for mime in ("image/png", "image/jpeg"):
        encoded = "".join(data.get(mime, "").split())
        if encoded and not encoded.encode("ascii", "replace").translate(None, _BASE64):
            source = Markup(f"data:{mime};base64,{encoded}")  # noqa: S704 - only base64, as checked above
            drawn = "" if text.startswith("<Figure") else text  # an interactive picture describes itself
            alt = " ".join(filter(None, [drawn, sanitize(str(metadata.get(mime, {}).get("alt", "")))]))
            return {"kind": "picture", "source": source, "text": alt or text}
    return {"kind": "result", "text": text or sanitize(data.get("text/latex", ""))}


def _render(
    course_title: str, verdict: Verdict, marks: SubmissionMarks, cells: list[dict[str, Any]], titles: Mapping[str, str]
) -> str:
    marking = marking_of(verdict, marks)
    by_name = {cell["name"]: cell for cell in cells}
    parts: dict[str, list[dict[str, Any]]] = {"open": [], "passed": [], "untried": []}
    for exercise in verdict.exercises if verdict.status == "graded" else ():
        notes = marking.notes.get(CHECK + exercise.name, ())
        shown_open = exercise.status not in _QUIET or notes
        kind = "open" if shown_open else "passed" if exercise.status == "passed" else "untried"
        places = [exercise.name, *([exercise.located.cell] if exercise.located else [])]
        code = [by_name[name] for name in dict.fromkeys(places) if by_name.get(name, {}).get("kind") == "code"]
        card = Markup(card_section(Card(exercise, graded=True, brief=True)))  # noqa: S704 - escaped there
        parts[kind].append({"name": exercise.name, "exercise": exercise, "code": code, "card": card, "notes": notes})
    begin = _beginning(verdict, marks)
    parts["open"].sort(key=lambda part: part["exercise"] is not begin["exercise"])
    here = {CHECK + part["name"] for several in parts.values() for part in several}
    answered = [{**by_name[n], "notes": notes} for n, notes in marking.notes.items() if n in by_name and n not in here]
    elsewhere = notes_off_page(marking, {*here, *by_name})
    return (
        page_templates("autograder.pages")
        .get_template("page.html.j2")
        .render(
            card_style=Markup(STYLE),  # noqa: S704 - our own
            course_title=course_title,
            verdict=verdict,
            marking=marking,
            begin=begin,
            titles=titles,
            parts=parts,
            answered=answered,
            elsewhere=elsewhere,
            cells=cells,
            shown=here | by_name.keys(),
            missing=sum(output["kind"] == "missing" for cell in cells for output in cell.get("outputs", ())),
        )
    )
