"""Record a student's progress: finished exercises, failed checks and hints read.

``check`` and ``hint`` write it to a small file, ``.autograder_progress.json``. The file is in the folder that contains the
chapters' folders, or next to the notebook if the notebook is not in a chapter's folder. To show progress, call ``folder_of``
and ``read``. No function here raises an error. If the file cannot be written, progress is kept in memory until Python exits.

    >>> folder = folder_of(Path("course/ch1_weighted_averaging"), "ch1_weighted_averaging")
    >>> read(folder).of("ch1_weighted_averaging", "softmax")
    ExerciseProgress(status='begun', failed=2, hints=1)

The file is JSON: ``{"format": 1, "chapters": {chapter: {exercise: {"status", "failed", "hints"}}}}``. To reset the
progress, delete it.
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
from typing import Literal

from autograder.base.files import FULL, write_atomically
from autograder.base.foreign import Json

__all__ = ["PROGRESS_NAME", "ExerciseProgress", "Progress", "folder_of", "read", "record"]

PROGRESS_NAME = ".autograder_progress.json"
FORMAT = 1
_MAX_BYTES = 2**20
_MAX_COUNT = 10**6
_MAX_WAIT = 1.0  # seconds to wait for another notebook's lock


@dataclass(frozen=True, slots=True)
class ExerciseProgress:
    """The progress in one exercise.

    Attributes:
        status: ``"done"`` once the exercise has passed, ``""`` if it was not begun.
        failed: the number of failed checks.
        hints: the number of hints read.
    """

    status: Literal["", "begun", "done"] = ""
    failed: int = 0
    hints: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress in all exercises that were begun, as ``chapters[chapter][exercise]``."""

    chapters: Mapping[str, Mapping[str, ExerciseProgress]] = field(default_factory=dict)

    def of(self, chapter: str, exercise: str) -> ExerciseProgress:
        """Return the progress in one exercise."""
        return self.chapters.get(chapter, {}).get(exercise, ExerciseProgress())


class _FromALaterReleaseError(Exception):
    """Raised for a file from a later release, which must not be changed."""


_remembered: dict[Path, Progress] = {}  # progress that could not be written
_reported: set[Path] = set()  # folders whose problem was already shown


def folder_of(notebook_folder: Path, chapter: str) -> Path:
    """Return the folder of the progress file: the parent if ``notebook_folder`` is named after ``chapter``, or else ``notebook_folder``."""
    folder = Path(os.path.abspath(notebook_folder))  # noqa: PTH100 - do not resolve a link to a chapter
    return folder.parent if folder.name == chapter else folder


def read(folder: Path) -> Progress:
    """Return the progress recorded in ``folder``. The result is empty if there is no readable file."""
    try:
        written = _read(folder)
    except (OSError, ValueError, RecursionError, _FromALaterReleaseError):
        written = Progress()
    return _merge(written, _remembered.get(folder, Progress()))


def record(folder: Path, chapter: str, exercise: str, *, passed: bool | None = None, hint: int = 0) -> str:
    """Record that a check of ``exercise`` passed or failed, or that hint number ``hint`` was read.

    Returns a message for the student if the file could not be written (once per folder), otherwise ``""``.
    """
    problem = ""
    with _locked(folder):
        before = Progress()
        try:
            before = _read(folder)
        except _FromALaterReleaseError:
            problem = "the file was written by a newer version of autograder"
        except (ValueError, RecursionError):
            damaged = folder / PROGRESS_NAME
            with suppress(OSError):  # a later write reports any problem
                damaged.replace(damaged.with_name(f"{PROGRESS_NAME}.damaged"))
        except OSError as error:
            problem = _reason(error)
        known = _merge(before, _remembered.get(folder, Progress()))
        after = _with(known, chapter, exercise, _update(known.of(chapter, exercise), passed=passed, hint=hint))
        if not problem and after != before:
            try:
                _write(folder / PROGRESS_NAME, after)
                _remembered.pop(folder, None)
            except OSError as error:
                problem = _reason(error)
    if not problem:
        return ""
    _remembered[folder] = after
    if folder in _reported:
        return ""
    _reported.add(folder)
    return (
        f"Your progress could not be saved in {folder / PROGRESS_NAME}: {problem}. It is kept until you restart the "
        "kernel. Everything else works as usual."
    )


def _update(was: ExerciseProgress, *, passed: bool | None, hint: int) -> ExerciseProgress:
    if passed:
        return replace(was, status="done", hints=max(was.hints, hint))
    failed = was.failed + (passed is False)
    return ExerciseProgress(was.status or "begun", min(failed, _MAX_COUNT), max(was.hints, hint))


def _with(progress: Progress, chapter: str, exercise: str, entry: ExerciseProgress) -> Progress:
    return Progress({**progress.chapters, chapter: {**progress.chapters.get(chapter, {}), exercise: entry}})


def _merge(one: Progress, other: Progress) -> Progress:
    """Merge two records. For an exercise in both, keep the higher status and the higher counts."""
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
        raise ValueError("not a progress file")  # noqa: TRY004 - the content of the file is wrong, not the type of an argument
    if data["format"] > FORMAT:
        raise _FromALaterReleaseError
    chapters = data.get("chapters")
    if not isinstance(chapters, dict):
        raise ValueError("not a progress file")  # noqa: TRY004 - as above
    named = {chapter: exercises for chapter, exercises in chapters.items() if isinstance(exercises, dict)}
    parsed = {c: {e: _parse_entry(d) for e, d in own.items() if isinstance(d, dict)} for c, own in named.items()}
    return Progress(parsed)


def _parse_entry(entry: Mapping[str, Json]) -> ExerciseProgress:
    """Parse an entry of the file. Invalid parts are ignored."""
    counts = (entry.get(name) for name in ("failed", "hints"))
    failed, hints = (min(max(n, 0), _MAX_COUNT) if isinstance(n, int) else 0 for n in counts)
    return ExerciseProgress("done" if entry.get("status") == "done" else "begun", failed, hints)


def _write(path: Path, progress: Progress) -> None:
    chapters = {c: {e: asdict(entry) for e, entry in exercises.items()} for c, exercises in progress.chapters.items()}
    text = json.dumps({"format": FORMAT, "chapters": chapters}, ensure_ascii=False, indent=1) + "\n"
    if sys.platform == "emscripten":
        # A browser's storage has a single writer and cannot replace files by renaming.
        path.write_text(text, encoding="utf-8")
    else:
        write_atomically(path, text.encode())


def _reason(error: OSError) -> str:
    if error.errno in FULL:
        return "the disk is full"
    return (error.strerror or type(error).__name__).lower()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock on ``folder`` during the block, if the system supports locks. Wait only briefly for other notebooks."""
    if sys.platform == "emscripten":  # runs one notebook at a time, and its fcntl module does nothing
        yield
        return
    try:
        import fcntl  # noqa: PLC0415 - not available on Windows or in a browser

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        until = time.monotonic() + _MAX_WAIT
        with suppress(OSError):  # a file system without locks
            while time.monotonic() < until:
                with suppress(BlockingIOError):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(0.01)
        yield
    finally:
        os.close(handle)
