"""Files of a course changed together: all of them, or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from autograder.course import CourseError
from autograder.files import write_atomically

__all__ = ["read", "write_all"]


def read(path: Path) -> str | None:
    """The text of a file as it is, ends of lines included; None where there is none. Raises ``CourseError`` for what is no text."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is no UTF-8 text (byte {error.start}). Save it as UTF-8, and try again.") from error


def write_all(texts: Mapping[Path, str], *, new: bool = False) -> None:
    """Write ``texts``, by file; where one cannot be written, those before it become again what they were.

    With ``new``, none of the files may be there: raises ``CourseError`` naming those that are.
    """
    there = [path for path in texts if new and os.path.lexists(path)]
    if there:
        raise CourseError(f"Already there, so nothing was written: {', '.join(map(str, there))}.")
    before = {path: path.read_bytes() if path.is_file() else None for path in texts}
    made: list[Path] = []
    written: list[Path] = []
    try:
        for path, text in texts.items():
            made += _folders(path.parent)
            written.append(path)
            write_atomically(path, text.encode(), path.stat().st_mode & 0o777 if before[path] is not None else 0o644)
    except BaseException:
        for path in written:
            old = before[path]
            if old is not None:
                write_atomically(path, old)
            else:
                path.unlink(missing_ok=True)
        for folder in reversed(made):
            folder.rmdir()
        raise


def _folders(folder: Path) -> list[Path]:
    """Make ``folder`` with those above it that are missing; which these were, the uppermost first. Raises ``CourseError``."""
    missing = []
    while not folder.is_dir():
        if os.path.lexists(folder):
            raise CourseError(f"{folder} is a file, so there can be no folder of that name. Name another place.")
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        try:
            one.mkdir()
        except OSError as error:
            raise CourseError(f"The folder {one} cannot be made: {error.strerror}. Name another place.") from error
    return missing[::-1]
