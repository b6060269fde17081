"""A source notebook of nbgrader's, as pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from autograder.course.notebook import text_of
from autograder.extras.importing.pieces import AnswerCell, ByHand, Given, Original, Piece, SourceLine, Test

__all__ = ["is_nbgrader", "read_nbgrader"]

_SOLUTION = re.compile(r"(BEGIN|END) SOLUTION\b")
_HIDDEN = re.compile(r"(BEGIN|END) HIDDEN TESTS\b")
_AUTOTEST = re.compile(r"^\s*#{3,}\s*(?:HASHED\s+)?AUTOTEST\s+(.*)$")
_BLANK_TEXT = "YOUR ANSWER HERE"
_BLANK_CODE = ("# YOUR CODE HERE", "raise NotImplementedError()")


def is_nbgrader(cells: Sequence[Mapping[str, Any]]) -> bool:
    """Whether any of the cells is marked as nbgrader's."""
    return any(_marks(cell) for cell in cells)


def read_nbgrader(cells: Sequence[Mapping[str, Any]]) -> Original:
    """The pieces of a notebook whose cells nbgrader's metadata marks."""
    notes: list[str] = []
    return Original(
        "nbgrader", [piece for n, cell in enumerate(cells, 1) for piece in _pieces(n, cell, notes)], notes=notes
    )


def _pieces(number: int, cell: Mapping[str, Any], notes: list[str]) -> Iterator[Piece]:
    marks, source, kind = _marks(cell), text_of(cell.get("source")), cell.get("cell_type")
    name = text_of(marks.get("grade_id"))
    where = f"cell {number}" + (f" ({name})" if name else "")
    grade, solution = marks.get("grade") is True, marks.get("solution") is True
    if marks.get("task") is True or (grade and solution):
        yield _by_hand(where, cell, source, name)
    elif solution and kind == "code":
        yield AnswerCell(where, name, _lines(source))
    elif grade and kind == "code":
        yield from _tests(where, name, source, points_of(marks.get("points")))
    elif grade or solution:
        notes.append(
            f"{where}: it is a cell of text that nbgrader marks as {'graded' if grade else 'an answer'}; it stays as it was."
        )
        yield Given(where, cell)
    else:
        yield Given(where, cell)


def _by_hand(where: str, cell: Mapping[str, Any], source: str, name: str) -> ByHand:
    marks = {**_marks(cell), "grade_id": name or re.sub(r"\W+", "-", where)}
    marks = {"grade": False, "locked": False, "solution": False, "task": False, **marks}
    changed = {**cell, "metadata": {**_metadata(cell), "nbgrader": marks}}
    if marks.get("task") is True:
        return ByHand(where, changed)  # nbgrader itself takes its mark scheme out of what students get
    if cell.get("cell_type") == "code":
        # Nothing is raised in it: it is run with all others, solved or not.
        answer = AnswerCell(where, name, _lines(source, blank=_BLANK_CODE[:1]))
        shown = "\n".join(
            line for line in answer.shown.splitlines() if not line.strip().startswith("raise NotImplementedError")
        )
        return ByHand(where, {**changed, "source": shown}, answer.solved)
    if _SOLUTION.search(source):
        answer = AnswerCell(where, name, _lines(source, blank=(_BLANK_TEXT,)))
        return ByHand(where, {**changed, "source": answer.shown}, answer.solved)
    return ByHand(where, {**changed, "source": _BLANK_TEXT}, source)


def _lines(source: str, blank: Sequence[str] = _BLANK_CODE) -> list[SourceLine]:
    """The lines of an answer; where no line says where the solution begins, all of them are, as nbgrader takes it."""
    lines = source.splitlines()
    if not any(_SOLUTION.search(line) for line in lines):
        if any(mark in source for mark in ("YOUR CODE HERE", "NotImplementedError")):
            return [SourceLine(line, line) for line in lines]
        return [
            *(SourceLine(None, text) for text in blank),
            *(SourceLine(line, None, is_solution=True) for line in lines),
        ]
    found: list[SourceLine] = []
    inside = False
    for line in lines:
        marker = _SOLUTION.search(line)
        if marker and marker[1] == "BEGIN":
            indent = line[: len(line) - len(line.lstrip())]
            found += [SourceLine(None, indent + text) for text in blank]
            inside = True
        elif marker:
            inside = False
        elif inside:
            found.append(SourceLine(line, None, is_solution=True))
        else:
            found.append(SourceLine(line, line))
    return found


def _tests(where: str, name: str, source: str, points: Fraction) -> Iterator[Test]:
    parts: dict[bool, list[str]] = {False: [], True: []}
    hidden = False
    for line in source.splitlines():
        marker = _HIDDEN.search(line)
        if marker:
            hidden = marker[1] == "BEGIN"
            continue
        auto = _AUTOTEST.match(line)
        parts[hidden].append(
            "\n".join(f"__autotest__({e.strip()})" for e in auto[1].split(";") if e.strip()) if auto else line
        )
    seen, unseen = ("\n".join(parts[key]).strip("\n") for key in (False, True))
    both = _says_something(seen) and _says_something(unseen)
    if _says_something(seen) or not unseen:
        # All or nothing, as nbgrader marks it: what students see earns nothing where the hidden part does not hold.
        yield Test(where, name, seen, Fraction(0) if both else points)
    if _says_something(unseen):
        yield Test(where, name, unseen, points, hidden=True, after_visible=both)


def _says_something(code: str) -> bool:
    return any(line.strip() and not line.strip().startswith("#") for line in code.splitlines())


def points_of(value: Any) -> Fraction:
    """Points as the source has them; 0 for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        return Fraction(0)
    return Fraction(value).limit_denominator(1000)


def _metadata(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    found = cell.get("metadata")
    return found if isinstance(found, dict) else {}


def _marks(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _metadata(cell).get("nbgrader")
    return found if isinstance(found, dict) else {}
