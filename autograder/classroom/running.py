"""Whether a run is grading a chapter just now: it holds a lock on a file for as long as it lives, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.course.course import Course

__all__ = ["is_running", "running"]


@contextmanager
def running(course: Course, chapter: str) -> Iterator[None]:
    """Be seen as a run that grades ``chapter``; several may be at a time."""
    path = _path(course, chapter)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:  # a file system without locks, or somebody looks just now: nothing depends on being seen
            yield
        else:
            yield


def is_running(course: Course, chapter: str) -> bool:
    """Whether some run holds the lock; nothing is written."""
    try:
        handle = os.open(_path(course, chapter), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _path(course: Course, chapter: str) -> Path:
    return course.state("running", chapter)
