"""Describe a student's exception as data, interrupt long calls, and explain errors that the sandbox causes."""

from __future__ import annotations

import builtins
import errno
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType, ModuleType, TracebackType
from typing import Any, TypeVar

from .wire_limits import Value

__all__ = [
    "CallTimeout", "Clock", "JailLimits", "bases_of", "describe", "explain_jail_error", "loop_around", "loop_in",
    "shapes_of",
]  # fmt: skip


try:
    # This is faster than ``signal``, which converts numbers to enums and back in every call of a student's function.
    import _signal as signal  # type: ignore[import-not-found]
except ImportError:
    import signal


MAX_MESSAGE = 2000
MAX_FRAMES = 8
MAX_SHAPES = 6
MAX_BASES = 50
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w{0,39}\b")
CELL = "<cell "
_READ_EVERY = 0.005  # seconds between two readings of the processor's clock. Reading the wall clock is faster
Result = TypeVar("Result")


class CallTimeout(BaseException):
    """Raised in student code when its time is up. ``except Exception`` does not catch it."""


class Clock:
    """A soft limit of processor time: an alarm that raises ``CallTimeout`` in the running code, repeatedly.

    Other work on a busy machine does not count, unless the code takes ``waiting`` times its limit in wall-clock time. The
    alarm cannot interrupt C code, or code that catches everything. In these cases the parent kills the process.
    """

    def __init__(self, waiting: float) -> None:
        self._waiting = waiting
        self._armed = False
        self._signal, self._set = signal.signal, getattr(signal, "setitimer", None)
        self._now, self._processor_time = time.monotonic, time.process_time  # student code may replace them
        self._read_at = self._worked = self._most = self._latest = 0.0

    def handle_interrupts(self) -> None:
        """Let the notebook interrupt itself, as in a Jupyter kernel. Between cells and calls, interrupts are ignored."""
        if self._set is not None:
            self._signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise KeyboardInterrupt

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed and (self._processor_time() >= self._most or self._now() >= self._latest):
            raise CallTimeout

    def run(self, seconds: float, work: Callable[[], Result]) -> Result:
        """Return the result of ``work``. Raises ``CallTimeout`` if it takes longer than ``seconds`` of processor time."""
        if self._set is None:
            return work()
        now = self._now()
        if now > self._read_at + _READ_EVERY:
            self._read_at, self._worked = now, self._processor_time()
        self._most, self._latest = self._worked + seconds, now + self._waiting * seconds
        try:
            # Installed every time, because student code may have replaced the handler.
            self._signal(signal.SIGALRM, self._ring)
            self._armed = True
            self._set(signal.ITIMER_REAL, seconds, 0.25)
            return work()
        finally:
            # If the alarm rings between the end of the work and this line, ``CallTimeout`` interrupts this block, at most once.
            self._armed = False
            self._set(signal.ITIMER_REAL, 0.0)


def describe(error: BaseException, cells: dict[str, tuple[str, list[str]]]) -> dict[str, Any]:
    """Return the types, message and location of an exception as JSON. ``cells`` maps file names to (cell name, source lines)."""
    # For NumPy's private types, such as _ArrayMemoryError, use the public base class.
    public = (base.__name__ for base in type(error).__mro__ if not base.__name__.startswith("_"))
    described: dict[str, Any] = {"type": next(public, "BaseException"), "message": _text_of(error)}
    described["bases"] = bases_of(error)
    frames = _frames(error.__traceback__, cells)
    if isinstance(error, SyntaxError) and type(error.filename) is str and error.filename in cells:
        name, lines = cells[error.filename]
        described["message"] = str(error.msg)[:MAX_MESSAGE]
        frames.append({"where": "", "lineno": error.lineno, "cell": name, "line": _line(lines, error.lineno)})
    if frames:
        described.update(frames[-1])
        if frames[-1]["cell"] != frames[0]["cell"]:
            described["caller"] = next(f["line"] for f in reversed(frames) if f["cell"] == frames[0]["cell"])
    described["frames"] = frames
    return described


# Saved here because a student's metaclass may replace the attributes of its classes.
_name_of, _mro_of, _module_of = (type.__dict__[name].__get__ for name in ("__name__", "__mro__", "__module__"))
_BUILTINS = dict(vars(builtins))


def bases_of(error: BaseException) -> list[str]:
    """Return the names of an exception's own type and of its base types.

    A type in a module is also listed with its module, as in ``"numpy.linalg.LinAlgError"``. A class that only shares its name with
    a built-in class is listed as ``"class ValueError"``.
    """
    names, qualified = [], []
    for kind in _mro_of(type(error))[: MAX_BASES // 2]:
        name, module = str.__str__(_name_of(kind))[:100], _module_of(kind)
        names.append(name if _BUILTINS.get(name, kind) is kind else f"class {name}")
        home = sys.modules.get(module) if type(module) is str else None
        if type(home) is ModuleType and home is not builtins and vars(home).get(name) is kind:
            qualified.append(f"{module}.{name}"[:100])
    return names + qualified


def _text_of(error: BaseException) -> str:
    try:
        return str(error)[:MAX_MESSAGE]
    except CallTimeout:
        raise
    except BaseException as second:  # noqa: BLE001 - a student's __str__ may raise anything
        return f"(its message cannot be shown: {type(second).__name__})"


def _frames(trace: TracebackType | None, cells: dict[str, tuple[str, list[str]]]) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = []
    last = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith(CELL) and code.co_filename in cells:
            name, lines = cells[code.co_filename]
            where, number = "" if code.co_name == "<module>" else code.co_name, trace.tb_lineno
            frames.append({"where": where, "lineno": number, "cell": name, "line": _line(lines, number)})
            last = trace, lines
            if len(frames) > 2 * MAX_FRAMES:  # keep both ends of an endless recursion
                del frames[MAX_FRAMES]
        trace = trace.tb_next
    if last is not None and (shapes := shapes_of(*last)):
        frames[-1]["shapes"] = shapes
    return frames


def shapes_of(trace: TracebackType, lines: list[str]) -> str:
    """Return the shapes of the arrays in the expression that failed, for example ``"Q (2, 3), K (4, 3)"``. ``lines`` is its source."""
    numpy: Any = sys.modules.get("numpy")
    frame, shapes = trace.tb_frame, []
    *rows, start, end = next(islice(frame.f_code.co_positions(), trace.tb_lasti // 2, None), (None, None))
    number = trace.tb_lineno or 0
    row = "".join(lines[number - 1 : number]).encode()
    # The parts of an expression in several lines are unknown, and the target of an assignment is not the whole cause.
    alone = rows == [number, number] and not re.match(rb"\s*=(?!=)", row[end:])
    text = (row[start:end] if alone else row.strip()[:300]).decode(errors="replace")
    for name in dict.fromkeys(_NAME.findall(re.sub(r"^[\w, ]+=(?!=)", "", text))):  # not what it assigns
        value: Value = frame.f_locals[name] if name in frame.f_locals else frame.f_globals.get(name)
        if numpy and type(value) is numpy.ndarray:  # inspecting a student's own class could run its code
            shapes.append(f"{name} {value.shape}")
    return ", ".join(shapes[:MAX_SHAPES])


def loop_in(trace: TracebackType | None, cells: dict[str, tuple[str, list[str]]]) -> dict[str, Any]:
    """Return the innermost loop of a cell that was running, as JSON like that of ``describe``. The result is empty without a loop."""
    found: dict[str, Any] = {}
    while trace is not None:
        name, lines = cells.get(trace.tb_frame.f_code.co_filename, ("", []))
        line, number = loop_around(lines, trace.tb_lineno) or ("", 0)
        found = {"type": "", "message": "", "line": line[:300], "lineno": number, "cell": name} if number else found
        trace = trace.tb_next
    return found


def loop_around(lines: list[str], number: int) -> tuple[str, int] | None:
    """Return the first line of the innermost loop around line ``number``, and its number, or None. The line at which a timeout interrupts is arbitrary."""
    import ast  # noqa: PLC0415 - slow, and only needed after a timeout

    try:
        nodes = list(ast.walk(ast.parse("\n".join(line.rstrip("\n") for line in lines))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    loops = (node for node in nodes if isinstance(node, ast.While | ast.For))
    around = [loop.lineno for loop in loops if loop.lineno <= number <= (loop.end_lineno or loop.lineno)]
    return (lines[max(around) - 1].strip(), max(around)) if around else None


def _line(lines: list[str], number: int | None) -> str:
    return lines[number - 1].strip()[:300] if number is not None and 0 < number <= len(lines) else ""


def refuse_input(*_args: object, **_kwargs: object) -> str:
    """Raise ``RuntimeError``. This function replaces ``input`` in a graded notebook."""
    raise RuntimeError("input() does not work while a notebook is graded. Write the value into the cell instead.")


_REFUSED = {errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOSYS}
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_NETWORK = {"socket", "ssl", "http", "urllib", "ftplib", "smtplib", "socketserver", "requests", "urllib3", "httpx"}
_PROCESSES = {"subprocess", "multiprocessing", "pty", "joblib", "loky"}
_SQLITE_PERM = 3
_NO_THREAD = "can't start new thread"
_MAX_ERRORS = 8  # errors in a chain of causes
_MAX_FRAMES = 200

_START = "This is a limit of the grading sandbox, not an error in your code: "


@dataclass(frozen=True)
class JailLimits:
    """The permissions and limits of a sandbox.

    Attributes:
        writes: Whether files can be written in the current folder.
        threads: How many threads may run besides the first.
        disk_mb: The size of the writable file system in MiB.
        alone: Whether the notebook comes without other files.
    """

    writes: bool
    threads: int
    disk_mb: int
    alone: bool


def explain_jail_error(error: BaseException, jail: JailLimits) -> str:
    """Return a message about an error that ``jail`` caused, or ``""`` for any other error."""
    for cause in _chain(error):
        if type(cause) is RuntimeError and cause.args == (_NO_THREAD,):
            return f"{_START}it allows {jail.threads} threads in addition to the first. Run fewer threads at once."
        if isinstance(cause, OSError):
            return _about(cause, jail, _packages(error) | _packages(cause))
        if type(cause).__module__ == "sqlite3" and getattr(cause, "sqlite_errorcode", None) == _SQLITE_PERM:
            return (
                f"{_START}it cannot lock files. Keep the database in memory, with sqlite3.connect(':memory:'), or open it with "
                "sqlite3.connect('file:NAME?nolock=1', uri=True)."
            )
    return ""


def _about(error: OSError, jail: JailLimits, packages: set[str]) -> str:
    number, refused = error.errno, error.errno in _REFUSED
    # NumPy raises FileNotFoundError without an errno. Any other error without an errno is the student's own.
    missing = (number == errno.ENOENT and bool(error.filename)) or (number is None and _came_from_numpy(error))
    if packages & _PROCESSES and (refused or number == errno.ENOENT):
        return f"{_START}it cannot start another program or process. Do the same work in Python, in this process."
    if (packages & _NETWORK and refused) or type(error).__name__ in {"gaierror", "herror"}:
        return f"{_START}it has no network access. Put the data that you need into a cell."
    if number in _FULL:
        return f"{_START}it can store at most {jail.disk_mb} MiB of files."
    if refused and error.filename is not None:
        written = "can write new files only in the current folder" if jail.writes else "cannot write files"
        return f"{_START}it can read only the files of Python and its packages, and {written}. Put data into a cell."
    if refused:
        return f"{_START}it does not allow the system call that this line needs. Submit code that works without it."
    if missing and jail.alone:
        return (
            "The grading sandbox contains only the notebook, without the files and folders next to it. "
            "If your code needs this file, create it in a cell."
        )
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes. ``urllib`` stores the cause of an error as its ``reason``."""
    one: Any = error
    for _ in range(_MAX_ERRORS):
        if not isinstance(one, BaseException):
            return
        if isinstance(wrapped := getattr(one, "reason", None), OSError):
            one = wrapped
        else:
            yield one
            one = one.__cause__


def _came_from_numpy(error: OSError) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = trace.tb_frame.f_globals.get("__name__") if trace is not None else ""
    return isinstance(error, FileNotFoundError) and str(name).partition(".")[0] == "numpy"


def _packages(error: BaseException) -> set[str]:
    """Return the top-level packages in the error's traceback."""
    packages, trace = set(), error.__traceback__
    for _ in range(_MAX_FRAMES):
        if trace is None:
            break
        packages.add(str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0])
        trace = trace.tb_next
    return packages
