"""Read a class's submissions from Canvas, Moodle or a folder, without trusting any file in it.

The formats, as the systems' own code writes and reads them:

- Canvas, "Download Submissions": ``byronada_LATE_12345_67890_ch1.ipynb``. These are the name (last name first, in lower case and without
  spaces), ``LATE``, the user's id, the file's id and the file's own name, which ends in ``-1`` if it is the second of that name
  (``lib/content_zipper.rb`` and ``Attachment.make_unique_filename`` of https://github.com/instructure/canvas-lms).
- Moodle, "Download all submissions": ``Ada Byron_12345_assignsubmission_file_/ch1.ipynb``. These are the full name, the participant's number
  in this assignment and the plugin. Moodle 4.1 leaves out the last ``_``. Without "in folders", the file's own name follows the ``_``
  (``mod/assign/classes/downloader.php`` and ``feedback/file/importziplib.php`` of https://github.com/moodle/moodle).
- A folder: one folder or file per student, named after the student's id, LMS id, address or name.
"""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from autograder.base.errors import CourseError
from autograder.base.formatting import join_words
from autograder.base.sanitize import sanitize

__all__ = [
    "MAX_INNER_BYTES",
    "File",
    "Handin",
    "HostileArchiveError",
    "System",
    "list_names",
    "read_download",
    "unpack",
]

System = Literal["canvas", "moodle", "folder"]

MAX_FILES = 50_000  # the most files in a download
MAX_BYTES = 4 << 30  # the most bytes of an unpacked download
MAX_FILE = 256 << 20
MAX_INNER_FILES = 2_000  # the most files in a student's own zip file
MAX_INNER_BYTES = 512 << 20
MAX_RATIO = 200  # the largest ratio of unpacked to packed bytes, except for small files. Notebooks reach 20.
_FREE = 8 << 20
_MAX_DEPTH = 3  # levels of zip files inside zip files
_MAX_ARCHIVES = 100  # the most zip files of one student
_MAX_NAMES = 6

# Files that operating systems, Jupyter and editors leave behind.
_LITTER = re.compile(
    r"(^|/)(__MACOSX|\.ipynb_checkpoints|__pycache__|\.git)/|(^|/)(\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)$"
)
_CANVAS = re.compile(r"(?P<name>.*?)_(?P<late>LATE_)?(?P<user>\d+)_(?P<file>\d+)_(?P<own>.+)", re.DOTALL)
_CANVAS_TEXT = re.compile(r"(?P<name>.*?)_(?P<late>LATE_)?(?P<user>\d+)_(?P<own>(?:text|link)\.html)", re.DOTALL)
_CANVAS_ANONYMOUS = re.compile(r"(LATE_)?anon_\w+?_\d+_.+", re.DOTALL)
_MOODLE = re.compile(r"(?P<name>[^_]+)_(?P<user>\d+)_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<own>.*))?", re.DOTALL)
EXAMPLES = {
    "canvas": "byronada_12345_67890_CHAPTER.ipynb",
    "moodle": "Ada Byron_12345_assignsubmission_file_/CHAPTER.ipynb",
    "folder": "ada/CHAPTER.ipynb",
}


@dataclass(frozen=True)
class File:
    """A file of a download. ``path`` is its path in the download, in which zip files count as folders.

    ``name`` is the path that the student gave it. ``number`` is the id of the file in Canvas, and ``given`` its
    name in the download.
    """

    path: PurePosixPath
    name: PurePosixPath
    read: Callable[[], bytes] = field(compare=False)
    size: int = 0
    late: bool = False
    number: int = 0
    given: str = ""


@dataclass(frozen=True)
class Handin:
    """All files of one student. ``user`` is their number in the system. ``folder`` is their folder in the download, or the start of their file names."""

    name: str
    user: str
    folder: str
    files: tuple[File, ...]

    @property
    def who(self) -> str:
        """The student, as the system calls them."""
        return sanitize(f"{self.name} ({self.user})" if self.user else self.name)


class HostileArchiveError(CourseError):
    """Raised for an archive that must not be unpacked. The message says why."""


def read_download(path: Path, system: System, chapter: str) -> tuple[list[Handin], list[str]]:
    """Return the files of each student, and the files that belong to no student. ``path`` is a zip file or a folder.

    Raises ``CourseError`` if it cannot be read, is not a download of ``system``, or could do harm.
    """
    if not path.exists():
        raise CourseError(f"There is no {path}. Give the zip file that you downloaded, or a folder.")
    files = list(_in_folder(path) if path.is_dir() else _in_zip(path))
    files = [file for file in files if not _LITTER.search(file.path.as_posix())]
    handins, others = _BY_SYSTEM[system](files)
    if not handins:
        raise CourseError(_nothing(path, system, chapter, files))
    if (
        system == "moodle"
        and len(handins) > 1
        and len({one.name for one in handins}) == 1
        and " " not in handins[0].name
    ):
        raise CourseError(
            f"Every student in {path} is called {sanitize(handins[0].name)}, because the assignment has anonymous submissions in Moodle. Reveal the "
            "students' identities there, download the submissions again, and collect that file."
        )
    return handins, [file.path.as_posix() for file in others]


def _nothing(path: Path, system: System, chapter: str, files: list[File]) -> str:
    if not files:
        return f"{path} contains no files."
    names = [file.path.as_posix() for file in files]
    example = EXAMPLES[system].replace("CHAPTER", chapter)
    text = f"{path} has no file with a name like {example}, as in a download from {system.capitalize()}. It contains {list_names(names)}."
    if system == "canvas" and any(_CANVAS_ANONYMOUS.fullmatch(file.path.name) for file in files):
        return (
            f"The files in {path} have no names, because the assignment is graded anonymously in Canvas. Turn off anonymous grading there, download the "
            "submissions again, and collect that file."
        )
    others = [other for other in _BY_SYSTEM if other not in {system, "folder"} and _BY_SYSTEM[other](files)[0]]
    return text + (
        f" It looks like a download from {others[0].capitalize()}: use --from {others[0]}." if others else ""
    )


def list_names(names: Iterable[str]) -> str:
    """Return the first few of ``names``, for a message."""
    given = [sanitize(name) for name in names]
    more = [f"{len(given) - _MAX_NAMES} more"] if len(given) > _MAX_NAMES else []
    return join_words([*given[:_MAX_NAMES], *more])


# --- Reading files and archives ----------------------------------------------------------------------------------------


def _in_folder(folder: Path) -> Iterator[File]:
    """Yield the files below ``folder``. Links are not followed, but yielded as files that cannot be read."""
    found = 0
    for root, folders, names in os.walk(folder):
        folders.sort()
        links = [name for name in folders if Path(root, name).is_symlink()]
        for name in sorted([*names, *links]):
            found += 1
            if found > MAX_FILES:
                raise CourseError(
                    f"{folder} has more than {MAX_FILES:,} files. Give a folder that contains only the submissions."
                )
            path = Path(root, name)
            place = PurePosixPath(path.relative_to(folder).as_posix())
            yield File(place, place, lambda path=path: _read_file(path), path.lstat().st_size)  # type: ignore[misc]


def _read_file(path: Path) -> bytes:
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            kind = "a link" if stat.S_ISLNK(found.st_mode) else "not a regular file"
            raise HostileArchiveError(f"{path.name} is {kind}, so it was not read.")
        if found.st_size > MAX_FILE:
            raise HostileArchiveError(f"{path.name} is larger than {MAX_FILE >> 20} MB.")
        return path.read_bytes()
    except OSError as error:
        raise HostileArchiveError(f"{path.name} cannot be read: {error.strerror or error}.") from error


def _in_zip(path: Path) -> Iterator[File]:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise CourseError(
            f"{path} cannot be read as a zip file: {getattr(error, 'strerror', None) or error}. Download it again, or unpack it and give "
            "the folder."
        ) from error
    try:
        yield from _members(archive, MAX_FILES, MAX_BYTES)
    except HostileArchiveError as error:
        raise CourseError(f"{path} was not unpacked: {error} Nothing was collected.") from error


def _members(archive: zipfile.ZipFile, most: int, most_bytes: int) -> Iterator[File]:
    """Yield the files in ``archive``. If any of them could do harm, raises ``HostileArchiveError`` before yielding any."""
    members = [info for info in archive.infolist() if not info.is_dir()]
    if len(members) > most:
        raise HostileArchiveError(f"it contains {len(members):,} files, more than the {most:,} that are allowed.")
    whole = sum(info.file_size for info in members)
    packed = sum(info.compress_size for info in members)
    if whole > most_bytes or whole > max(_FREE, MAX_RATIO * packed):
        raise HostileArchiveError(f"its {packed:,} bytes would unpack to {whole:,} bytes, as in a zip bomb.")
    for info in members:
        name = info.filename.replace("\\", "/")
        if (
            name.startswith("/")
            or ".." in name.split("/")
            or re.match(r"[A-Za-z]:", name)
            or "\0" in info.orig_filename
        ):
            raise HostileArchiveError(f"the path {sanitize(info.orig_filename)!r} in it points outside the folder.")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise HostileArchiveError(f"{sanitize(name)} in it is a link.")
        if info.file_size > MAX_FILE:
            raise HostileArchiveError(f"{sanitize(name)} in it is larger than {MAX_FILE >> 20} MB.")
    for info in members:
        place = PurePosixPath(info.filename.replace("\\", "/"))
        yield File(place, place, lambda info=info: _read_member(archive, info), info.file_size)  # type: ignore[misc]


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(info)  # reads at most `file_size` bytes, whatever the archive contains
    except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zipfile.LargeZipFile, EOFError) as error:
        raise HostileArchiveError(f"{sanitize(info.filename)} cannot be unpacked: {error}.") from error
    except Exception as error:  # zlib, bz2 and lzma each have an error of their own
        raise HostileArchiveError(f"{sanitize(info.filename)} is damaged: {error}.") from error


def unpack(files: Iterable[File]) -> list[File]:
    """Return ``files`` with each zip file replaced by its contents. Raises ``HostileArchiveError`` if a zip file could do harm."""
    found: list[File] = []
    todo = [(file, 0) for file in files]
    archives = 0
    while todo:
        file, depth = todo.pop(0)
        if file.name.suffix.casefold() != ".zip":
            found.append(file)
            continue
        archives += 1
        if depth == _MAX_DEPTH:
            raise HostileArchiveError(f"{sanitize(file.name.as_posix())} is nested in {_MAX_DEPTH} other zip files.")
        if archives > _MAX_ARCHIVES:
            raise HostileArchiveError(
                f"{sanitize(file.name.as_posix())} was not unpacked, because there are more than {_MAX_ARCHIVES} zip files."
            )
        try:
            inside = list(_members(zipfile.ZipFile(io.BytesIO(file.read())), MAX_INNER_FILES, MAX_INNER_BYTES))
        except HostileArchiveError as error:
            raise HostileArchiveError(f"{sanitize(file.name.as_posix())} was not unpacked: {error}") from error
        except (zipfile.BadZipFile, NotImplementedError, ValueError):
            found.append(file)  # shown as a file that is not a notebook
            continue
        todo = [
            (
                replace(file, path=file.path / one.path, name=file.name / one.path, read=one.read, size=one.size),
                depth + 1,
            )
            for one in inside
            if not _LITTER.search(one.path.as_posix())
        ] + todo
    return found


# --- Whose files they are ----------------------------------------------------------------------------------------------

Sorted = tuple[list[Handin], list[File]]


def _canvas(files: Iterable[File]) -> Sorted:
    found: dict[str, Handin] = {}
    others = []
    for file in files:
        # Canvas puts no folders into its zip file. If there is a folder, somebody packed the files again.
        match = _CANVAS.fullmatch(file.path.name) or _CANVAS_TEXT.fullmatch(file.path.name)
        if match is None:
            others.append(file)
            continue
        parts = match.groupdict()
        mine = replace(
            file, name=PurePosixPath(parts["own"]), late=bool(parts["late"]), number=int(parts.get("file") or 0)
        )
        start = file.path.name.removesuffix(parts["own"])
        mine = replace(mine, given=file.path.name)
        before = found.get(parts["user"]) or Handin(parts["name"], parts["user"], start, ())
        found[parts["user"]] = replace(before, files=(*before.files, mine))
    return list(found.values()), others


def _moodle(files: Iterable[File]) -> Sorted:
    found: dict[str, Handin] = {}
    others = []
    for file in files:
        parts = file.path.parts
        at = next((at for at, part in enumerate(parts) if _MOODLE.fullmatch(part)), len(parts))
        match = _MOODLE.fullmatch(parts[at]) if at < len(parts) else None
        if match is None:
            others.append(file)
            continue
        part = parts[at]
        own = [name for name in (match["own"] or "", *parts[at + 1 :]) if name]
        mine = replace(file, name=PurePosixPath(*own))
        in_folders = at + 1 < len(parts)
        folder = part if in_folders else part.removesuffix(match["own"] or "")
        key = f"{match['name']}_{match['user']}"
        # Moodle puts typed text into a separate folder. The feedback goes into the folder with the files.
        before = found.get(key) or Handin(match["name"], match["user"], folder, ())
        folder = folder if match["plugin"] == "file" else before.folder
        found[key] = replace(before, folder=folder, files=(*before.files, mine))
    return list(found.values()), others


def _folders(files: Iterable[File]) -> Sorted:
    given = list(files)
    # In a zip file of a folder, every path often begins with the folder's name.
    while (
        all(len(file.path.parts) > 2 for file in given)
        and len({file.path.parts[0] for file in given}) == 1
        and len({file.path.parts[1] for file in given}) > 1
    ):
        given = [replace(file, path=PurePosixPath(*file.path.parts[1:])) for file in given]
    found: dict[str, Handin] = {}
    for file in given:
        alone = len(file.path.parts) == 1
        name = file.path.stem if alone else file.path.parts[0]
        mine = replace(file, name=PurePosixPath(file.path.name if alone else "/".join(file.path.parts[1:])))
        before = found.get(name) or Handin(name, "", name, ())
        found[name] = replace(before, files=(*before.files, mine))
    return list(found.values()), []


_BY_SYSTEM: dict[System, Callable[[Iterable[File]], Sorted]] = {
    "canvas": _canvas,
    "moodle": _moodle,
    "folder": _folders,
}
