"""How far a student is: which exercises hold, how often ``check`` did not, and how many hints were read.

``check`` and ``hint`` note it in one small file, ``.autograder_progress.json``, in the folder that holds the chapters'
folders, or beside a notebook that lies by itself. A program that shows progress, such as the map of a course, calls
``folder_of`` and ``read``. Nothing here raises: where nothing can be written, what was noted is remembered until Python ends.

    >>> where = folder_of(Path("course/ch1_weighted_averaging"), "ch1_weighted_averaging")
    >>> read(where).of("ch1_weighted_averaging", "softmax")
    Standing(status='begun', failed=2, hints=1)

The file is JSON: ``{"format": 1, "chapters": {chapter: {exercise: {"status", "failed", "hints"}}}}``. Deleting it
begins again from nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from autograder.base.files import FULL, write_atomically

__all__ = ["PROGRESS_NAME", "ExerciseProgress", "Progress", "folder_of", "read", "record"]

PROGRESS_NAME = ".autograder_progress.json"
FORMAT = 1
_MAX_BYTES = 2**20
_MAX_COUNT = 10**6
_MAX_WAIT = 1.0  # seconds for which another notebook may keep the file to itself


@dataclass(frozen=True, slots=True)
class ExerciseProgress:
    """How one exercise stands: whether it was ever right, how many checks were not before that, how many hints were read.

    ``status`` is ``""`` for an exercise that was not begun.
    """

    status: Literal["", "begun", "done"] = ""
    failed: int = 0
    hints: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How every exercise stands that was begun: ``chapters[chapter][exercise]``."""

    chapters: Mapping[str, Mapping[str, ExerciseProgress]] = field(default_factory=dict)

    def of(self, chapter: str, exercise: str) -> ExerciseProgress:
        """How one exercise stands."""
        return self.chapters.get(chapter, {}).get(exercise, ExerciseProgress())


class _FromALaterReleaseError(Exception):
    """The file was written by a later release, whose notes are not ours to change."""


_remembered: dict[Path, Progress] = {}  # what could not be written
_told: set[Path] = set()  # the folders of which a person knows that


def folder_of(notebook_folder: Path, chapter: str) -> Path:
    """The folder whose progress a notebook in ``notebook_folder`` shares: that of all chapters, where it is named as one."""
    folder = Path(os.path.abspath(notebook_folder))  # noqa: PTH100 - a link to a chapter lies where the link lies
    return folder.parent if folder.name == chapter else folder


def read(folder: Path) -> Progress:
    """What was noted in ``folder``; nothing where there is no file, or none that can be read."""
    try:
        written = _read(folder)
    except (OSError, ValueError, RecursionError, _FromALaterReleaseError):
        written = Progress()
    return _both(written, _remembered.get(folder, Progress()))


def record(folder: Path, chapter: str, exercise: str, *, passed: bool | None = None, hint: int = 0) -> str:
    """Note that a check of ``exercise`` passed or failed, or that its hint of number ``hint`` was read.

    Gives a sentence for the student where this could not be written, once for each folder, and otherwise ``""``.
    """
    trouble = ""
    with _alone(folder):
        before = Progress()
        try:
            before = _read(folder)
        except _FromALaterReleaseError:
            trouble = "it was written by a later release of autograder"
        except (ValueError, RecursionError):
            _set_aside(folder / PROGRESS_NAME)
        except OSError as error:
            trouble = _reason(error)
        known = _both(before, _remembered.get(folder, Progress()))
        after = _with(known, chapter, exercise, _after(known.of(chapter, exercise), passed=passed, hint=hint))
        if not trouble and after != before:
            try:
                _write(folder / PROGRESS_NAME, after)
                _remembered.pop(folder, None)
            except OSError as error:
                trouble = _reason(error)
    if not trouble:
        return ""
    _remembered[folder] = after
    if folder in _told:
        return ""
    _told.add(folder)
    return (
        f"How far you are could not be noted in {folder / PROGRESS_NAME}: {trouble}. It is remembered until the kernel "
        "is restarted, and everything else works as always."
    )


def _after(was: ExerciseProgress, *, passed: bool | None, hint: int) -> ExerciseProgress:
    if passed:
        return replace(was, status="done", hints=max(was.hints, hint))
    failed = was.failed + (passed is False and was.status != "done")
    return ExerciseProgress(was.status or "begun", min(failed, _MAX_COUNT), max(was.hints, hint))


def _with(progress: Progress, chapter: str, exercise: str, standing: ExerciseProgress) -> Progress:
    return Progress({**progress.chapters, chapter: {**progress.chapters.get(chapter, {}), exercise: standing}})


def _both(one: Progress, other: Progress) -> Progress:
    """What either of two knows, and where both know something, the further of the two."""
    for chapter, exercises in other.chapters.items():
        for exercise, theirs in exercises.items():
            ours = one.of(chapter, exercise)
            status = max(ours.status, theirs.status, key=("", "begun", "done").index)
            further = ExerciseProgress(status, max(ours.failed, theirs.failed), max(ours.hints, theirs.hints))
            one = _with(one, chapter, exercise, further)
    return one


def _read(folder: Path) -> Progress:
    path = folder / PROGRESS_NAME
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ValueError("too large")
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Progress()
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise ValueError("no notes of progress")  # noqa: TRY004 - of a file's content, not of an argument
    if data["format"] > FORMAT:
        raise _FromALaterReleaseError
    chapters = data.get("chapters")
    if not isinstance(chapters, dict):
        raise ValueError("no notes of progress")  # noqa: TRY004 - as above
    return Progress(
        {
            chapter: {exercise: _standing(entry) for exercise, entry in exercises.items() if isinstance(entry, dict)}
            for chapter, exercises in chapters.items()
            if isinstance(exercises, dict)
        }
    )


def _standing(entry: Mapping[str, Any]) -> ExerciseProgress:
    """What an entry says; a part of it that makes no sense counts as nothing."""
    counts = (entry.get(name) for name in ("failed", "hints"))
    failed, hints = (min(max(n, 0), _MAX_COUNT) if isinstance(n, int) else 0 for n in counts)
    return ExerciseProgress("done" if entry.get("status") == "done" else "begun", failed, hints)


def _write(path: Path, progress: Progress) -> None:
    chapters = {c: {e: asdict(standing) for e, standing in of.items()} for c, of in progress.chapters.items()}
    text = json.dumps({"format": FORMAT, "chapters": chapters}, ensure_ascii=False, indent=1) + "\n"
    if sys.platform == "emscripten":
        path.write_text(text, encoding="utf-8")  # a browser's storage has one writer, and cannot rename over a file
    else:
        write_atomically(path, text.encode())


def _set_aside(path: Path) -> None:
    """Keep a damaged file under another name: a person may find in it what we cannot."""
    with suppress(OSError):  # writing over it says what is wrong, if anything is
        path.replace(path.with_name(f"{path.name}.damaged"))


def _reason(error: OSError) -> str:
    if error.errno in FULL:
        return "the disk is full"
    return (error.strerror or type(error).__name__).lower()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait while another notebook notes something in ``folder``, where the system can tell, and not for long."""
    if sys.platform == "emscripten":  # where one notebook runs at a time, and what is called fcntl is an empty shell
        yield
        return
    try:
        import fcntl  # noqa: PLC0415 - neither Windows nor a browser has it

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        until = time.monotonic() + _MAX_WAIT
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    break
                time.sleep(0.01)
            except OSError:  # a file system without locks
                break
            else:
                break
        yield
    finally:
        os.close(handle)
