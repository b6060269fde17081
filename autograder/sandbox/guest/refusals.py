"""What a student is told where code fails only because it runs in a jail: that it is the jail, and what to do instead."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Jail", "refusal"]

_REFUSED = {errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOSYS}
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_NETWORK = {"socket", "ssl", "http", "urllib", "ftplib", "smtplib", "socketserver", "requests", "urllib3", "httpx"}
_PROCESSES = {"subprocess", "multiprocessing", "pty", "joblib", "loky"}
_NO_THREAD = "can't start new thread"
_MAX_ERRORS = 8  # of those that an error came from
_MAX_FRAMES = 200

_START = "That is the jail in which notebooks are graded, not your code: "


@dataclass(frozen=True)
class Jail:
    """What a jail allows: whether files can be written, how many threads, how much disk, whether it holds the notebook alone."""

    writes: bool
    threads: int
    disk_mb: int
    alone: bool


def refusal(error: BaseException, jail: Jail) -> str:
    """The sentences about an error that ``jail`` has brought about; "" for any other."""
    for one in _chain(error):
        if type(one) is RuntimeError and one.args == (_NO_THREAD,):
            return f"{_START}it allows {jail.threads} threads at a time besides the first. Let fewer run at once."
        if isinstance(one, OSError):
            return _about(one, jail, _packages(error) | _packages(one))
    return ""


def _about(error: OSError, jail: Jail, packages: set[str]) -> str:
    number, refused = error.errno, error.errno in _REFUSED
    # NumPy says so in words of its own; what a student's code raises by itself is its own business.
    missing = (number == errno.ENOENT and bool(error.filename)) or (number is None and _came_from_numpy(error))
    if packages & _PROCESSES and (refused or number == errno.ENOENT):
        return f"{_START}no other program or process can be started in it. Do it in Python, in this process."
    if (packages & _NETWORK and refused) or type(error).__name__ in {"gaierror", "herror"}:
        return f"{_START}there is no network in it. Put the data that you need into a cell."
    if number in _FULL:
        return f"{_START}no more than {jail.disk_mb} MiB of files can be written in it."
    if refused and error.filename is not None:
        written = "new ones can be written in the current folder only" if jail.writes else "none can be written"
        return f"{_START}no files but those of Python and its packages can be read in it, and {written}. Put data into a cell."
    if refused:
        return f"{_START}what this line asks of the system is not allowed in it. Do without it in what you hand in."
    if missing and jail.alone:
        return (
            "The jail in which notebooks are graded holds the notebook alone, and no file or folder that lies beside it: "
            "if this is one, let a cell make it."
        )
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and what it carries: ``urllib`` wraps what went wrong in an error of its own."""
    one: Any = error
    for _ in range(_MAX_ERRORS):
        if not isinstance(one, BaseException):
            return
        wrapped = getattr(one, "reason", None)
        if not isinstance(wrapped, OSError):
            yield one
        one = wrapped if isinstance(wrapped, OSError) else one.__cause__


def _came_from_numpy(error: OSError) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = trace.tb_frame.f_globals.get("__name__") if trace is not None else ""
    return isinstance(error, FileNotFoundError) and str(name).partition(".")[0] == "numpy"


def _packages(error: BaseException) -> set[str]:
    """The packages that the error came through."""
    found, trace = set(), error.__traceback__
    for _ in range(_MAX_FRAMES):
        if trace is None:
            break
        found.add(str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0])
        trace = trace.tb_next
    return found
