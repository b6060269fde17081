"""An instructor's notebook file: read safely, and taken as nbgrader's or Otter's, or refused in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.course.notebook import NotebookError, load_document, metadata_of, read_bytes
from autograder.extras.importing.from_nbgrader import is_nbgrader, read_nbgrader
from autograder.extras.importing.from_otter import is_otter, read_otter
from autograder.extras.importing.pieces import ImportRefusedError, Original

__all__ = ["original_of", "read_source"]

_KERNELS = {
    "ir": "R",
    "julia": "Julia",
    "octave": "Octave",
    "scala": "Scala",
    "xcpp": "C++",
    "bash": "Bash",
    "sas": "SAS",
}


def read_source(path: Path) -> Mapping[str, Any]:
    """The JSON of the notebook at ``path``; raises ``ImportRefusedError`` where it is none, or not for Python 3."""
    try:
        document = load_document(read_bytes(path), path)
    except NotebookError as error:
        why = str(error)
        if "nbconvert" not in why:
            why = why.partition(". ")[0].rstrip(".") + "."  # the rest is advice to students
        raise ImportRefusedError(f"{why.rstrip()} Nothing was written.") from error
    if kernel := _other_kernel(document):
        raise ImportRefusedError(
            f"{path.name} is a notebook for {kernel}, and chapters here are Python 3. Nothing was written."
        )
    return document


def original_of(path: Path, document: Mapping[str, Any]) -> Original:
    """The pieces of a notebook; raises ``ImportRefusedError`` where it is neither nbgrader's nor Otter's."""
    cells = [cell for cell in document["cells"] if isinstance(cell, dict)]
    if metadata_of(document).get("chapter"):
        raise ImportRefusedError(f"{path.name} is a chapter of this project already. Nothing was written.")
    try:
        if is_otter(cells):
            return read_otter(cells)
        if is_nbgrader(cells):
            return read_nbgrader(cells)
    except ImportRefusedError as error:
        raise ImportRefusedError(f"{path.name}, {str(error).rstrip()} Nothing was written.") from error
    raise ImportRefusedError(
        f"{path.name} is neither an nbgrader nor an Otter notebook: no cell has nbgrader's metadata, and none says "
        "# BEGIN QUESTION. Give the instructor's version, with the solutions in it. Nothing was written."
    )


def _other_kernel(document: Mapping[str, Any]) -> str:
    """What a notebook is written in, where that is not Python 3; empty where it is, or where nothing says so."""
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


def _texts(value: Any) -> dict[str, str]:
    return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}
