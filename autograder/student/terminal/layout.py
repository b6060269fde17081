"""Set up a released course in a student's folder without overwriting work, and reset exercises or notebooks."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.course.notebook import NotebookError, cell_of, load_document, read_bytes

__all__ = [
    "COURSE_NAME", "MAP_NAME", "StartResult", "can_reset", "chapters_of", "course_data", "material", "released_copy",
    "reset", "set_up_course",
]  # fmt: skip


MAP_NAME = "index.ipynb"
COURSE_NAME = "course.json"
_RECORD = Path(".autograder", "laid_out.json")  # what start wrote: file → digest
_RELEASED = Path(".autograder", "released")  # each notebook as it was handed out: what a reset goes back to


@dataclass(frozen=True)
class StartResult:
    """What ``lay_out`` did, as paths relative to the folder.

    ``added`` was not there, ``renewed`` had not been touched and is newer now, ``kept`` the student has worked on.
    """

    folder: Path
    added: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def material() -> Path | None:
    """The course that came with this installation; None where none did."""
    folder = Path(__file__).parents[2] / "material"
    return folder if (folder / COURSE_NAME).is_file() else None


def course_data(folder: Path) -> dict[str, Any]:
    """What a laid-out course says of itself (``title``, ``id``, ``packages``, ``chapters``); raises ``CourseError``."""
    path = folder / COURSE_NAME
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        _ = (found["title"], found["id"], [chapter["id"] for chapter in found["chapters"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(
            f"{path} cannot be read ({type(error).__name__}), so nothing is known of the course."
        ) from error
    data: dict[str, Any] = found
    return data


def chapters_of(folder: Path) -> list[Path]:
    """The notebooks of the course that is laid out in ``folder``, in the order of its chapters, those that are there."""
    found = [folder / chapter["id"] / f"{chapter['id']}.ipynb" for chapter in course_data(folder)["chapters"]]
    return [path for path in found if path.is_file()]


def set_up_course(source: Path, folder: Path) -> StartResult:
    """Lay the released course in ``source`` out in ``folder``: what is missing is added, what was changed there is kept.

    Beside a notebook that is kept, its own release's files stay too: the examples have to fit it. Raises ``CourseError``
    where ``folder`` is none or holds another course, and ``OSError`` where it cannot be written.
    """
    data = course_data(source)
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file. Name a folder for the course, or one that is not there yet.")
    if (folder / COURSE_NAME).is_file() and (other := course_data(folder))["id"] != data["id"]:
        raise CourseError(f"{folder} holds another course, {other['title']}. Name another folder.")
    wrote, done = _record(folder), StartResult(folder)
    for chapter in ["", *(chapter["id"] for chapter in data["chapters"])]:
        _lay_out_folder(source, folder, chapter, wrote, done)
    write_atomically(folder / _RECORD, f"{json.dumps(wrote, indent=1, sort_keys=True)}\n".encode())
    return done


def released_copy(notebook: Path) -> Path | None:
    """The notebook as it was handed out, of one that lies in a laid-out course or comes with this installation; else None."""
    chapter = notebook.resolve().parent
    places = [chapter.parent / _RELEASED, *([brought] if (brought := material()) is not None else [])]
    found = (place / chapter.name / notebook.name for place in places)
    return next((path for path in found if path.is_file()), None)


def _lay_out_folder(source: Path, folder: Path, inner: str, wrote: dict[str, str], done: StartResult) -> None:
    names = sorted(path.relative_to(source).as_posix() for path in _files(source / inner, deep=bool(inner)))
    touched = {name for name in names if (folder / name).exists() and not _is_ours(folder / name, wrote.get(name))}
    held = any(name.endswith(".ipynb") and inner for name in touched)
    for name in names:
        path, data = folder / name, (source / name).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if not path.exists():
            write_atomically(path, data)
            done.added.append(name)
        elif path.is_file() and _digest(path) == digest:
            touched.discard(name)
        elif name in touched or held:
            if name.endswith(".ipynb") or name in touched:
                done.kept.append(name)
            continue
        else:
            write_atomically(path, data)
            done.renewed.append(name)
        wrote[name] = digest
        if inner and name.endswith(".ipynb"):
            write_atomically(folder / _RELEASED / name, data)


def _files(folder: Path, *, deep: bool) -> list[Path]:
    inside = folder.rglob("*") if deep else folder.iterdir()
    return [path for path in inside if path.is_file() and "__pycache__" not in path.parts]


def _is_ours(path: Path, digest: str | None) -> bool:
    """Whether a file is still as ``lay_out`` wrote it."""
    return digest is not None and path.is_file() and _digest(path) == digest


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _record(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # then whatever lies there counts as the student's own
    return found if isinstance(found, dict) else {}


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
