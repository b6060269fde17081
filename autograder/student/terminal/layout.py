"""Set up a released course in a student's folder without overwriting work, and reset exercises or notebooks."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.base.foreign import Json
from autograder.course.notebook import NotebookError, cell_of, load_document, read_bytes

__all__ = [
    "COURSE_NAME", "MAP_NAME", "StartResult", "chapters_of", "course_data", "course_folder", "material",
    "released_copy", "reset", "set_up_course",
]  # fmt: skip


COURSE_CONFIG = "course_config.py"
MAP_NAME = "index.ipynb"
COURSE_NAME = "course.json"
_RECORD = Path(".autograder", "laid_out.json")  # the digest of each file when ``autograder start`` wrote it
_RELEASED = Path(".autograder", "released")  # the released notebooks, for a reset


@dataclass(frozen=True)
class StartResult:
    """The changes made by ``set_up_course``, as paths relative to the folder.

    Attributes:
        folder: the folder of the course.
        added: files that were missing.
        renewed: files that the student had not changed, and that were replaced by newer versions.
        kept: files that the student has changed.
    """

    folder: Path
    added: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def course_folder(folder: Path) -> Path | None:
    """Return the author's course folder that contains ``folder``, or None."""
    here = folder.resolve()
    return next((above for above in (here, *here.parents) if (above / COURSE_CONFIG).is_file()), None)


def material() -> Path | None:
    """Return the folder of the course included in this installation, or None."""
    folder = Path(__file__).parents[2] / "material"
    return folder if (folder / COURSE_NAME).is_file() else None


def course_data(folder: Path) -> dict[str, Json]:
    """Return the description of a course: ``title``, ``id``, ``packages`` and ``chapters``. Raises ``CourseError`` if it is invalid."""
    path = folder / COURSE_NAME
    try:
        data: dict[str, Json] = json.loads(path.read_text(encoding="utf-8"))
        _ = (data["title"], data["id"], [chapter["id"] for chapter in data["chapters"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(f"{path} cannot be read ({type(error).__name__}), so the course is unknown.") from error
    return data


def chapters_of(folder: Path) -> list[Path]:
    """Return the existing notebooks of the course in ``folder``, in chapter order."""
    paths = [folder / chapter["id"] / f"{chapter['id']}.ipynb" for chapter in course_data(folder)["chapters"]]
    return [path for path in paths if path.is_file()]


def set_up_course(source: Path, folder: Path) -> StartResult:
    """Copy the released course in ``source`` to ``folder``. Missing files are added, and files that the student has changed are kept.

    If a notebook is kept, the other files in its folder are kept too, because the examples must match it.
    Raises ``CourseError`` if ``folder`` is a file or contains another course, and ``OSError`` if it cannot be written.
    """
    data = course_data(source)
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file. Name a folder for the course. It may be a new one.")
    if (folder / COURSE_NAME).is_file() and (other := course_data(folder))["id"] != data["id"]:
        raise CourseError(f"{folder} contains another course, {other['title']}. Name another folder.")
    digests, result = _record(folder), StartResult(folder)
    for chapter in ["", *(chapter["id"] for chapter in data["chapters"])]:
        _set_up_chapter(source, folder, chapter, digests, result)
    write_atomically(folder / _RECORD, f"{json.dumps(digests, indent=1, sort_keys=True)}\n".encode())
    return result


def released_copy(notebook: Path) -> Path | None:
    """Return the released version of ``notebook``, from its course folder or this installation, or None."""
    chapter = notebook.resolve().parent
    folders = [chapter.parent / _RELEASED, *([included] if (included := material()) is not None else [])]
    paths = (folder / chapter.name / notebook.name for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def _set_up_chapter(source: Path, folder: Path, chapter: str, digests: dict[str, str], result: StartResult) -> None:
    """Copy the files of one chapter or, if ``chapter`` is ``""``, the files outside of all chapters."""
    inside = (source / chapter).rglob("*") if chapter else source.iterdir()
    files = [path for path in inside if path.is_file() and "__pycache__" not in path.parts]
    names = sorted(path.relative_to(source).as_posix() for path in files)
    there = [name for name in names if (folder / name).exists()]
    touched = {name for name in there if not (folder / name).is_file() or _digest(folder / name) != digests.get(name)}
    held = any(name.endswith(".ipynb") and chapter for name in touched)
    for name in names:
        path, data, digest = folder / name, (source / name).read_bytes(), _digest(source / name)
        if not path.exists():
            write_atomically(path, data)
            result.added.append(name)
        elif path.is_file() and _digest(path) == digest:
            touched.discard(name)
        elif name in touched or held:
            if name.endswith(".ipynb") or name in touched:
                result.kept.append(name)
            continue
        else:
            write_atomically(path, data)
            result.renewed.append(name)
        digests[name] = digest
        if chapter and name.endswith(".ipynb"):
            write_atomically(folder / _RELEASED / name, data)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _record(folder: Path) -> dict[str, str]:
    try:
        digests = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # then all files count as the student's own
    return digests if isinstance(digests, dict) else {}


def reset(notebook: Path, exercise: str | None) -> Path:
    """Restore the released code of ``exercise``, or the whole notebook if it is None. Return the path of the backup.

    Raises ``CourseError`` if the released code is unknown or cannot be restored, and ``OSError`` if a file cannot be
    written. In both cases nothing is changed.
    """
    released = released_copy(notebook)
    if released is None:
        raise CourseError(
            f"{notebook.name} was not created by `autograder start`, so its original is unknown. "
            "Download the notebook again from where you got it."
        )
    now, before = read_bytes(notebook), read_bytes(released)
    data = before if exercise is None else _with_stub(now, before, notebook, exercise)
    backup = _backup_path(notebook)
    write_atomically(backup, now)
    write_atomically(notebook, data)
    return backup


def _with_stub(now: bytes, before: bytes, notebook: Path, exercise: str) -> bytes:
    try:
        document, released = load_document(now, notebook), load_document(before, notebook)
    except NotebookError as error:
        raise CourseError(f"{error} You can still reset the whole notebook.") from error
    stubs = [c for i, c in enumerate(released["cells"]) if _is_stub(i, c, exercise)]
    cells = [c for i, c in enumerate(document["cells"]) if _is_stub(i, c, exercise)]
    if not stubs or not cells:
        lost = f"{notebook.name} no longer has the cell of {exercise}."
        raise CourseError(f"{lost} Reset the whole notebook to get it back.")
    for cell in cells:
        cell["source"] = stubs[0].get("source", "")
        cell["outputs"], cell["execution_count"] = [], None
    return f"{json.dumps(document, ensure_ascii=False, indent=1)}\n".encode()


def _is_stub(index: int, cell: object, exercise: str) -> bool:
    parsed = cell_of(index, cell)
    return parsed.role == "stub" and parsed.grade_id == exercise


def _backup_path(notebook: Path) -> Path:
    """Return an unused path for a backup. It does not end in .ipynb, so that ``watch`` does not find two notebooks."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (f"{notebook.stem}.before-reset-{stamp}{f'-{n}' if n > 1 else ''}.ipynb.bak" for n in range(1, 100))
    return next(path for name in names if not (path := notebook.with_name(name)).exists())
