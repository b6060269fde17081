"""Write files atomically, and explain disk errors."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

__all__ = ["DISK", "FULL", "disk_error_advice", "write_atomically"]

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
DISK = FULL | {errno.EROFS}  # errors that affect every later write as well


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write ``data`` to ``path`` atomically: readers see either the old file or the complete new one."""
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
    """Return advice for a file that cannot be read or written, or ``""`` for any other error."""
    where = error.filename or "a file"
    if error.errno in FULL:
        return f"Cannot write {where}: the disk is full. Make room there, then run the same command again."
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG}:
        return f"Cannot use {where}: {error.strerror}. Name another folder, or mend its rights, and run the same command again."
    return ""
