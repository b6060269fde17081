"""Cells of a source notebook that are added or changed, while everything else in its file stays as it is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from autograder.notebook import document_bytes

__all__ = ["check_cell", "code_cell", "new_notebook", "prose_cell", "set_source", "stub_cell", "written_alike"]


def new_notebook(*cells: Mapping[str, Any]) -> dict[str, Any]:
    """A notebook of these cells, for Python."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def prose_cell(name: str, text: str) -> dict[str, Any]:
    """A cell of text."""
    return {"cell_type": "markdown", "id": _id(name), "metadata": {}, "source": text.splitlines(keepends=True)}


def code_cell(name: str, source: str, **marks: object) -> dict[str, Any]:
    """A cell of code; with ``marks``, nbgrader knows it as ``name``."""
    known = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3, "solution": False, "task": False}
    metadata = {"nbgrader": {**known, **marks}} if marks else {}
    lines = source.splitlines(keepends=True)
    return {
        "cell_type": "code", "execution_count": None, "id": _id(name), "metadata": metadata, "outputs": [], "source": lines,
    }  # fmt: skip


def stub_cell(exercise: str, source: str) -> dict[str, Any]:
    """The cell that a student fills in."""
    return code_cell(exercise, source, solution=True)


def check_cell(exercise: str, points: float) -> dict[str, Any]:
    """The locked cell below it, which checks what was written."""
    worth = int(points) if points == int(points) else points
    return code_cell(f"check_{exercise}", f"check({exercise})", grade=True, locked=True, points=worth)


def set_source(cell: dict[str, Any], source: str) -> None:
    """Let a cell read ``source``, as one text or as a list of lines, whichever it is written as."""
    cell["source"] = source.splitlines(keepends=True) if isinstance(cell.get("source"), list) else source


def written_alike(before: str | None, document: Mapping[str, Any]) -> str:
    """``document`` as a file, laid out as ``before``, the text that it was read from, is: a diff shows what changed, and no more."""
    plain = _layouts()[0]
    if before is None:
        return plain(document)
    try:
        old = json.loads(before.removeprefix("\ufeff"))
    except ValueError:
        return plain(document)
    return next((layout for layout in _layouts() if layout(old) == before), plain)(document)


def _layouts() -> list[Callable[[Mapping[str, Any]], str]]:
    """The ways in which programs write a notebook, Jupyter's own first."""

    def dumped(end: str, options: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], str]:
        return lambda document: json.dumps(document, **options) + end

    indents: list[dict[str, Any]] = [
        {"indent": 1},
        {"indent": 2},
        {"indent": 4},
        {"indent": None},
        {"separators": (",", ":")},
    ]
    ways = [
        dumped(end, {**indent, "ensure_ascii": ascii_only})
        for indent in indents
        for ascii_only in (False, True)
        for end in ("\n", "")
    ]
    return [*ways, lambda document: document_bytes(document).decode()]


def _id(name: str) -> str:
    """The id of a cell, of which nbformat takes 64 characters."""
    return name.replace("_", "-")[:64]
