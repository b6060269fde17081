"""An exercise, or a whole notebook, as it was handed out; what stood there is kept in a copy beside it."""

from __future__ import annotations

import json
import time
from pathlib import Path

from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.notebook import NotebookError, cell_of, load_document, read_bytes
from autograder.terminal.layout import released_copy

__all__ = ["can_reset", "reset"]


def can_reset(notebook: Path) -> bool:
    """Whether it is known what ``notebook`` was when it was handed out."""
    return released_copy(notebook) is not None


def reset(notebook: Path, exercise: str | None) -> Path:
    """Put the released code back into the cell of ``exercise``, or, with None, the whole notebook; gives the copy that is kept.

    Raises ``CourseError`` where that is not known or cannot be done, and ``OSError`` where it cannot be written: then
    nothing was changed.
    """
    released = released_copy(notebook)
    if released is None:
        raise CourseError(
            f"{notebook.name} was not laid out by `autograder start`, so nothing here knows what it was. "
            "Fetch it again where you got it."
        )
    now, before = read_bytes(notebook), read_bytes(released)
    data = before if exercise is None else _with_stub(now, before, notebook, exercise)
    kept = _kept(notebook)
    write_atomically(kept, now)
    write_atomically(notebook, data)
    return kept


def _with_stub(now: bytes, before: bytes, notebook: Path, exercise: str) -> bytes:
    try:
        document, released = load_document(now, notebook), load_document(before, notebook)
    except NotebookError as error:
        raise CourseError(f"{error} A reset of the whole notebook is still possible.") from error
    stubs = [c for i, c in enumerate(released["cells"]) if _is_stub(i, c, exercise)]
    cells = [c for i, c in enumerate(document["cells"]) if _is_stub(i, c, exercise)]
    if not stubs or not cells:
        raise CourseError(
            f"The cell of {exercise} is not in {notebook.name} any more. A reset of the whole notebook brings it back."
        )
    for cell in cells:
        cell["source"] = stubs[0].get("source", "")
        cell["outputs"], cell["execution_count"] = [], None
    return f"{json.dumps(document, ensure_ascii=False, indent=1)}\n".encode()


def _is_stub(index: int, cell: object, exercise: str) -> bool:
    parsed = cell_of(index, cell)
    return parsed.role == "stub" and parsed.grade_id == exercise


def _kept(notebook: Path) -> Path:
    """A name for the copy that no file has; no notebook's, or the next ``watch`` would find two."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (
        f"{notebook.stem}.before-reset-{stamp}{again}.ipynb.bak" for again in ("", *map("-{}".format, range(2, 100)))
    )
    return next(path for name in names if not (path := notebook.with_name(name)).exists())
