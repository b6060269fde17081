"""Write either all of a course's files or none, and add or change cells without reformatting the rest of a notebook."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.base.foreign import Json
from autograder.course.notebook import document_bytes

__all__ = [
    "check_cell", "code_cell", "new_notebook", "prose_cell", "read", "same_formatting", "set_source", "stub_cell",
    "write_all",
]  # fmt: skip


def read(path: Path) -> str | None:
    """Return the text of a file with its line endings, or None if there is no file. Raises ``CourseError`` if it is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8 and try again.") from error


def write_all(texts: Mapping[Path, str], *, new: bool = False) -> None:
    """Write each of ``texts`` to its path. If one cannot be written, restore the files that were written before it.

    Raises ``CourseError`` if a folder cannot be created, or, with ``new``, if any of the files exists.
    """
    there = [path for path in texts if new and os.path.lexists(path)]
    if there:
        raise CourseError(f"Nothing was written, because these already exist: {', '.join(map(str, there))}.")
    before = {path: path.read_bytes() if path.is_file() else None for path in texts}
    folders: list[Path] = []
    written: list[Path] = []
    try:
        for path, text in texts.items():
            folders += _create_folders(path.parent)
            written.append(path)
            write_atomically(path, text.encode(), path.stat().st_mode & 0o777 if before[path] is not None else 0o644)
    except BaseException:
        for path in written:
            old = before[path]
            if old is not None:
                write_atomically(path, old)
            else:
                path.unlink(missing_ok=True)
        for folder in reversed(folders):
            folder.rmdir()
        raise


def _create_folders(folder: Path) -> list[Path]:
    """Create ``folder`` and its missing parents. Return the created folders, parents first. Raises ``CourseError``."""
    missing = []
    while not folder.is_dir():
        if os.path.lexists(folder):
            raise CourseError(f"{folder} is a file, not a folder. Name another folder.")
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        try:
            one.mkdir()
        except OSError as error:
            raise CourseError(f"Cannot create the folder {one}: {error.strerror}. Name another folder.") from error
    return missing[::-1]


def new_notebook(*cells: Mapping[str, Json]) -> dict[str, Json]:
    """Return a Python notebook with the given cells."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def prose_cell(name: str, text: str) -> dict[str, Json]:
    """Return a Markdown cell."""
    return {"cell_type": "markdown", "id": _id(name), "metadata": {}, "source": text.splitlines(keepends=True)}


def code_cell(name: str, source: str, **marks: object) -> dict[str, Json]:
    """Return a code cell. With ``marks``, it has nbgrader metadata with the grade id ``name``."""
    known = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3, "solution": False, "task": False}
    metadata = {"nbgrader": {**known, **marks}} if marks else {}
    lines = source.splitlines(keepends=True)
    return {
        "cell_type": "code", "execution_count": None, "id": _id(name), "metadata": metadata, "outputs": [], "source": lines,
    }  # fmt: skip


def stub_cell(exercise: str, source: str) -> dict[str, Json]:
    """Return the cell that the student fills in."""
    return code_cell(exercise, source, solution=True)


def check_cell(exercise: str, points: float) -> dict[str, Json]:
    """Return the locked cell below a stub, which checks the exercise."""
    worth = int(points) if points == int(points) else points
    return code_cell(f"check_{exercise}", f"check({exercise})", grade=True, locked=True, points=worth)


def set_source(cell: dict[str, Json], source: str) -> None:
    """Replace a cell's source. A string stays one string, and a list stays a list of lines."""
    cell["source"] = source.splitlines(keepends=True) if isinstance(cell.get("source"), list) else source


def same_formatting(before: str | None, document: Mapping[str, Json]) -> str:
    """Return ``document`` as text in the JSON formatting of ``before``, so that a diff shows only real changes."""
    default, *_ = layouts = _layouts()
    try:
        old = json.loads((before or "").removeprefix("\ufeff"))
    except ValueError:  # also if ``before`` is None
        return default(document)
    return next((layout for layout in layouts if layout(old) == before), default)(document)


def _layouts() -> list[Callable[[Mapping[str, Json]], str]]:
    """Return functions that format a notebook as common programs do, Jupyter's format first."""

    def dumped(end: str, options: Mapping[str, Json]) -> Callable[[Mapping[str, Json]], str]:
        return lambda document: json.dumps(document, **options) + end

    indents: list[dict[str, Json]] = [{"indent": width} for width in (1, 2, 4, None)]
    forms = product([*indents, {"separators": (",", ":")}], (False, True), ("\n", ""))
    layouts = [dumped(end, {**indent, "ensure_ascii": ascii_only}) for indent, ascii_only, end in forms]
    return [*layouts, lambda document: document_bytes(document).decode()]


def _id(name: str) -> str:
    """Return a cell id made from ``name``. nbformat allows at most 64 characters."""
    return name.replace("_", "-")[:64]
