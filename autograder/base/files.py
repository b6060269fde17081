"""Write files completely or not at all, and explain disk errors."""

from __future__ import annotations

import errno
import os
import re
import threading
from pathlib import Path

__all__ = ["DISK", "FULL", "KEPT", "NO_ROOM", "disk_error_advice", "grading_disk_error_advice", "write_atomically"]

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
DISK = FULL | {errno.EROFS}  # errors after which no notebook can be written to the disk
KEPT = "Graded notebooks are saved. Run the same command to continue."
NO_ROOM = f"the disk is full. Free up some space. {KEPT}"
_TEMPORARY = re.compile(r"\..*\.\d+-\d+")


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write ``data`` to ``path`` so that the file is never incomplete: readers see either the old or the new version."""
    new = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        handle = _create(new)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = _create(new)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        new.chmod(mode)
        new.replace(path)
    except BaseException as error:
        new.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # the error of a full disk does not name the file
        raise


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)


def disk_error_advice(error: OSError) -> str:
    """Return advice for the user if ``error`` means that a file cannot be read or written, else ``""``."""
    where = Path(error.filename or "a file")
    where = where.parent if _TEMPORARY.fullmatch(where.name) else where
    if error.errno in FULL:
        return f"Cannot write {where}: the disk is full. Free up some space, then run the same command again."
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return f"Cannot write to {where}: choose a folder that you can write to."
    if error.errno in {errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG}:
        return f"Cannot use {where}: {error.strerror}. Choose another folder or fix its permissions, then run the same command again."
    return ""


def grading_disk_error_advice(error: OSError) -> str:
    """Return advice for the user if ``error`` means that grading cannot write a file, else ``""``."""
    if error.errno in FULL:
        return f"Cannot write {error.filename or 'a file'}: {NO_ROOM}"
    if error.filename is None or error.errno not in DISK | {errno.EACCES, errno.EPERM}:
        return ""
    return f"Cannot use {error.filename}: {error.strerror}. Fix its permissions, or move the course to a folder that you can write to. {KEPT}"
