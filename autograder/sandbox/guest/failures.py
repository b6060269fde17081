"""A student's exception as data, and the clock that interrupts what runs too long."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, TypeVar

try:
    # Below ``signal``, whose wrappers turn numbers into enumerations and back at every call of a student's function.
    import _signal as signal  # type: ignore[import-not-found]
except ImportError:
    import signal

__all__ = ["Clock", "TimeIsUp", "describe", "shapes_of"]

MAX_MESSAGE = 2000
MAX_FRAMES = 8
MAX_SHAPES = 6
_NAME = re.compile(r"\b[A-Za-z_]\w{0,39}\b")
CELL = "<cell "
Result = TypeVar("Result")


class TimeIsUp(BaseException):
    """Raised inside a student's code when its time is up; no ``except Exception`` catches it."""


class Clock:
    """A soft time limit around a piece of work: an alarm that raises ``TimeIsUp`` in it, again and again.

    It cannot interrupt C code, nor code that catches everything: for those the trusted side kills the process.
    """

    def __init__(self) -> None:
        self._armed = False
        self._signal, self._set = signal.signal, getattr(signal, "setitimer", None)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise TimeIsUp

    def run(self, seconds: float, work: Callable[[], Result]) -> Result:
        """What ``work`` returns; raises ``TimeIsUp`` when ``seconds`` did not suffice."""
        if self._set is None:
            return work()
        try:
            # Installed again each time: a student's code may have put another handler in its place.
            self._signal(signal.SIGALRM, self._ring)
            self._armed = True
            self._set(signal.ITIMER_REAL, seconds, 0.25)
            return work()
        finally:
            # An alarm between the end of the work and here leaves through this ``finally``: still only once.
            self._armed = False
            self._set(signal.ITIMER_REAL, 0.0)


def describe(error: BaseException, cells: dict[str, tuple[str, list[str]]]) -> dict[str, Any]:
    """The exception as JSON: type, message, place; ``cells`` maps file names to (cell name, source lines)."""
    described: dict[str, Any] = {"type": _public_name(type(error)), "message": _text_of(error)}
    frames = _frames(error.__traceback__, cells)
    if isinstance(error, SyntaxError) and type(error.filename) is str and error.filename in cells:
        name, lines = cells[error.filename]
        described["message"] = str(error.msg)[:MAX_MESSAGE]
        frames.append({"where": "", "lineno": error.lineno, "cell": name, "line": _line(lines, error.lineno)})
    if frames:
        described.update(frames[-1])
    described["frames"] = frames
    return described


def _public_name(kind: type) -> str:
    # NumPy raises private types (_ArrayMemoryError): a reader knows the public one above it.
    return next((base.__name__ for base in kind.__mro__ if not base.__name__.startswith("_")), "BaseException")


def _text_of(error: BaseException) -> str:
    try:
        return str(error)[:MAX_MESSAGE]
    except TimeIsUp:
        raise
    except BaseException as second:  # noqa: BLE001 - a student's __str__ may raise anything
        return f"(its text cannot be shown: {type(second).__name__})"


def _frames(trace: TracebackType | None, cells: dict[str, tuple[str, list[str]]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    frame = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith(CELL) and code.co_filename in cells:
            name, lines = cells[code.co_filename]
            where, number = "" if code.co_name == "<module>" else code.co_name, trace.tb_lineno
            line = _line(lines, number)
            found.append({"where": where, "lineno": number, "cell": name, "line": line})
            frame = trace.tb_frame
            if len(found) > 2 * MAX_FRAMES:  # of an endless recursion keep the way in and the end
                del found[MAX_FRAMES]
        trace = trace.tb_next
    if frame is not None and (shapes := shapes_of(found[-1]["line"], frame)):
        found[-1]["shapes"] = shapes
    return found


def shapes_of(line: str, frame: FrameType) -> str:
    """The shapes of the arrays that ``line`` names, as they are in ``frame``: ``"Q (2, 3), K (4, 3)"``."""
    numpy: Any = sys.modules.get("numpy")
    told = []
    for name in dict.fromkeys(_NAME.findall(line)):
        value: Any = frame.f_locals[name] if name in frame.f_locals else frame.f_globals.get(name)
        if numpy and type(value) is numpy.ndarray:  # of a class of the student's, looking may run anything
            told.append(f"{name} {value.shape}")
    return ", ".join(told[:MAX_SHAPES])


def _line(lines: list[str], number: int | None) -> str:
    return lines[number - 1].strip()[:300] if number is not None and 0 < number <= len(lines) else ""


def refuse_input(*_args: object, **_kwargs: object) -> str:
    """``input`` in a graded notebook."""
    raise RuntimeError(
        "There is nobody to answer input() while a notebook is graded: write the value into the cell instead."
    )
