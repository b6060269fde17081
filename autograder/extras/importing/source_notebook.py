"""Read an instructor's notebook file, and split it into its parts.

This module recognizes the format and reads nbgrader notebooks. ``otter`` reads Otter notebooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from autograder.base.foreign import Json
from autograder.course.notebook import NotebookError, load_document, metadata_of, read_bytes, text_of
from autograder.extras.importing.otter import is_otter, read_otter
from autograder.extras.importing.pieces import (
    AnswerCell,
    CopiedCell,
    ImportRefusedError,
    ManualCell,
    Original,
    Piece,
    SourceLine,
    Test,
)

__all__ = ["is_nbgrader", "original_of", "read_nbgrader", "read_source"]


# --- Notebooks for nbgrader --------------------------------------------------------------------------------------------

_SOLUTION = re.compile(r"(BEGIN|END) SOLUTION\b")
_HIDDEN = re.compile(r"(BEGIN|END) HIDDEN TESTS\b")
_AUTOTEST = re.compile(r"^\s*#{3,}\s*(?:HASHED\s+)?AUTOTEST\s+(.*)$")
_BLANK_TEXT = "YOUR ANSWER HERE"
_BLANK_CODE = ("# YOUR CODE HERE", "raise NotImplementedError()")


def is_nbgrader(cells: Sequence[Mapping[str, Json]]) -> bool:
    """Return whether any cell has nbgrader metadata."""
    return any(_marks(cell) for cell in cells)


def read_nbgrader(cells: Sequence[Mapping[str, Json]]) -> Original:
    """Split an nbgrader source notebook into its parts."""
    notes: list[str] = []
    return Original(
        "nbgrader", [piece for n, cell in enumerate(cells, 1) for piece in _pieces(n, cell, notes)], notes=notes
    )


def _pieces(number: int, cell: Mapping[str, Json], notes: list[str]) -> Iterator[Piece]:
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
            f"{where}: it is a text cell that nbgrader marks as {'graded' if grade else 'an answer'}. It is unchanged."
        )
        yield CopiedCell(where, cell)
    else:
        yield CopiedCell(where, cell)


def _by_hand(where: str, cell: Mapping[str, Json], source: str, name: str) -> ManualCell:
    marks = {**_marks(cell), "grade_id": name or re.sub(r"\W+", "-", where)}
    marks = {"grade": False, "locked": False, "solution": False, "task": False, **marks}
    changed = {**cell, "metadata": {**_metadata(cell), "nbgrader": marks}}
    if marks.get("task") is True:
        return ManualCell(where, changed)  # nbgrader removes the mark scheme from the students' version
    if cell.get("cell_type") == "code":
        # The stub must not raise an error, because it runs with all other cells even if it is not filled in.
        answer = AnswerCell(where, name, _lines(source, blank=_BLANK_CODE[:1]))
        shown = "\n".join(
            line for line in answer.shown.splitlines() if not line.strip().startswith("raise NotImplementedError")
        )
        return ManualCell(where, {**changed, "source": shown}, answer.solved)
    if _SOLUTION.search(source):
        answer = AnswerCell(where, name, _lines(source, blank=(_BLANK_TEXT,)))
        return ManualCell(where, {**changed, "source": answer.shown}, answer.solved)
    return ManualCell(where, {**changed, "source": _BLANK_TEXT}, source)


def _lines(source: str, blank: Sequence[str] = _BLANK_CODE) -> list[SourceLine]:
    """Return the lines of an answer. As in nbgrader, all lines of an answer without solution markers are the solution, unless the cell is a blank stub."""
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
        # All or nothing, as in nbgrader: the visible part earns nothing if the hidden part fails.
        yield Test(where, name, seen, Fraction(0) if both else points)
    if _says_something(unseen):
        yield Test(where, name, unseen, points, hidden=True, after_visible=both)


def _says_something(code: str) -> bool:
    return any(line.strip() and not line.strip().startswith("#") for line in code.splitlines())


def points_of(value: Json) -> Fraction:
    """Return a number of points as a fraction, or 0 if ``value`` is not a valid number of points."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        return Fraction(0)
    return Fraction(value).limit_denominator(1000)


def _metadata(cell: Mapping[str, Json]) -> Mapping[str, Json]:
    found = cell.get("metadata")
    return found if isinstance(found, dict) else {}


def _marks(cell: Mapping[str, Json]) -> Mapping[str, Json]:
    found = _metadata(cell).get("nbgrader")
    return found if isinstance(found, dict) else {}


# --- Notebook files ----------------------------------------------------------------------------------------------------

_KERNELS = {
    "ir": "R",
    "julia": "Julia",
    "octave": "Octave",
    "scala": "Scala",
    "xcpp": "C++",
    "bash": "Bash",
    "sas": "SAS",
}


def read_source(path: Path) -> Mapping[str, Json]:
    """Return the JSON of a notebook. Raises ``ImportRefusedError`` if it is not a notebook, or not for Python 3."""
    try:
        document = load_document(read_bytes(path), path)
    except NotebookError as error:
        why = str(error)
        if "nbconvert" not in why:
            why = why.partition(". ")[0].rstrip(".") + "."  # the rest is advice for students
        raise ImportRefusedError(f"{why.rstrip()} Nothing was written.") from error
    if kernel := _other_kernel(document):
        raise ImportRefusedError(
            f"{path.name} is a notebook for {kernel}, but chapters here use Python 3. Nothing was written."
        )
    return document


def original_of(path: Path, document: Mapping[str, Json]) -> Original:
    """Return the parts of a notebook. Raises ``ImportRefusedError`` if it is neither for nbgrader nor for Otter."""
    cells = [cell for cell in document["cells"] if isinstance(cell, dict)]
    if metadata_of(document).get("chapter"):
        raise ImportRefusedError(f"{path.name} is already a chapter of this project. Nothing was written.")
    try:
        if is_otter(cells):
            return _without_nose(read_otter(cells))
        if is_nbgrader(cells):
            return _without_nose(read_nbgrader(cells))
    except ImportRefusedError as error:
        raise ImportRefusedError(f"{path.name}, {str(error).rstrip()} Nothing was written.") from error
    raise ImportRefusedError(
        f"{path.name} is neither an nbgrader nor an Otter notebook: no cell has nbgrader's metadata or "
        "# BEGIN QUESTION. Import the instructor's version, with its solutions. Nothing was written."
    )


_NOSE = re.compile(r"^([ \t]*)from nose\.tools import[ \t]+(?:\(([^)]*)\)|([^\n(]+))", re.MULTILINE)
_IN_UNITTEST = {"eq_": "assertEqual", "assert_equals": "assertEqual", "ok_": "assertTrue"}


def _without_nose(original: Original) -> Original:
    """Replace imports from nose with unittest's assertions, because nose cannot be installed with current Python versions."""

    def replaced(source: str) -> str:
        return _NOSE.sub(_from_unittest, source)

    pieces: list[Piece] = []
    for piece in original.pieces:
        if isinstance(piece, Test):
            pieces.append(replace(piece, code=replaced(piece.code)))
        elif isinstance(piece, CopiedCell) and "nose.tools" in text_of(piece.cell.get("source")):
            pieces.append(replace(piece, cell={**piece.cell, "source": replaced(text_of(piece.cell.get("source")))}))
        else:
            pieces.append(piece)
    return replace(original, pieces=pieces)


def _from_unittest(found: re.Match[str]) -> str:
    indent, names = found[1], re.findall(r"\w+", (found[2] or found[3]).partition("#")[0])
    lines = [f"{indent}import unittest"]
    for name in names:
        words = name.split("_")
        own = _IN_UNITTEST.get(name, words[0] + "".join(word.capitalize() for word in words[1:]))
        lines.append(f"{indent}{name} = unittest.TestCase().{own}")
    return "\n".join(lines)


def _other_kernel(document: Mapping[str, Json]) -> str:
    """Return the language of a notebook that is not for Python 3. The result is empty for Python 3, or if the notebook names no language."""
    metadata = document.get("metadata")
    spec, info = (
        _texts(metadata.get(key)) if isinstance(metadata, dict) else {} for key in ("kernelspec", "language_info")
    )
    language, name = (spec.get("language") or info.get("name") or "").lower(), spec.get("name", "").lower()
    if known := next((said for start, said in _KERNELS.items() if name.split("-")[0].split("_")[0] == start), ""):
        return known
    if language and "python" not in language and "python" not in name:
        return spec.get("language") or info.get("name") or ""
    old = name.startswith("python2") or info.get("version", "").startswith("2.") or language == "python2"
    return "Python 2" if old else ""


def _texts(value: Json) -> dict[str, str]:
    return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}
