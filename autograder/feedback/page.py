"""One self-contained HTML page a notebook, made by Jinja2 from the graded notebook and its verdict."""

from __future__ import annotations

import string
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from autograder.feedback.marking import Marking, marking_of, notes_elsewhere
from autograder.feedback.prose import MAX_MARKDOWN, prose, verbatim
from autograder.marks import CHECK, as_graded
from autograder.notebook import cell_of
from autograder.render import STYLE, Card, card_section
from autograder.sanitize import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from autograder.marks import SubmissionMarks
    from autograder.notebook import Cell
    from autograder.verdict import ExerciseVerdict, Verdict

__all__ = ["feedback_page", "reason_page"]

MAX_PROSE = 200_000  # characters of a notebook's prose that are read as Markdown; what comes after is shown as typed
MAX_TYPED = 4 << 20  # characters of it that are shown at all
CUT = "… (the rest of this text is left out here)"
_BASE64 = (string.ascii_letters + string.digits + "+/=").encode()


def feedback_page(
    course_title: str, verdict: Verdict, document: Mapping[str, Any], marks: SubmissionMarks | None = None
) -> str:
    """The page of a graded notebook.

    Args:
        course_title: what the course is called.
        verdict: the outcome as the student may read it (see ``autograder.feedback.disclosure``).
        document: the notebook with its outputs, as it is kept in ``autograded/``.
        marks: what the gradebook has; without it, what the checks give.
    """
    outcomes = {CHECK + exercise.name: exercise for exercise in verdict.exercises}
    marking = marking_of(verdict, marks or as_graded(verdict))
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
    """The page of a notebook that could not be graded: why, what happens now, and the marks that a person gave meanwhile."""
    return _render(course_title, verdict, marking_of(verdict, marks or as_graded(verdict)), [])


def _cell(
    cell: Cell,
    raw: Mapping[str, Any],
    outcomes: Mapping[str, ExerciseVerdict],
    marked: AbstractSet[int],
    *,
    rendered: bool,
) -> dict[str, Any]:
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
    """The code, with those of its lines marked in which a mistake is."""
    if not lines:
        return source
    mark = Markup('<mark class="here" title="Look at this line">{}</mark>')
    return Markup("\n").join(
        mark.format(line) if number in lines else line for number, line in enumerate(source.split("\n"), start=1)
    )


def _outputs(outputs: Iterable[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    for output in outputs:
        match output.get("output_type"):
            case "stream":
                yield {"kind": str(output["name"]), "text": sanitize(str(output["text"]))}
            case "error":
                lines = output["traceback"] or [f"{output['ename']}: {output['evalue']}"]
                yield {"kind": "error", "text": sanitize("\n".join(lines))}
            case "display_data" | "execute_result":
                yield _shown(output["data"])


def _shown(data: Mapping[str, str]) -> dict[str, Any]:
    text = sanitize(data.get("text/plain", ""))
    for mime in ("image/png", "image/jpeg"):
        encoded = "".join(data.get(mime, "").split())
        if encoded and not encoded.encode("ascii", "replace").translate(None, _BASE64):
            source = Markup(f"data:{mime};base64,{encoded}")  # noqa: S704 - base64, as was just seen
            return {"kind": "picture", "source": source, "text": text}
    return {"kind": "result", "text": text or sanitize(data.get("text/latex", ""))}


def _render(course_title: str, verdict: Verdict, marking: Marking, cells: list[dict[str, Any]]) -> str:
    shown = {cell["name"] for cell in cells}
    return _template().render(
        card_style=Markup(STYLE),  # noqa: S704 - our own
        course_title=course_title,
        verdict=verdict,
        marking=marking,
        cells=cells,
        shown=shown,
        elsewhere=notes_elsewhere(marking, shown),
    )


def _finished(value: Any) -> Any:
    # Names of files and folders are a student's as well: terminal codes go from all that is not markup made here.
    return sanitize(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _template() -> Template:
    loader = PackageLoader("autograder.feedback", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finished,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2")
