"""Single keys from a terminal of any system; from anything else, the first letter of each line."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["keys"]

_ESCAPE = "\x1b"


@contextmanager
def keys() -> Iterator[Callable[[float], str]]:
    """Yields a function that waits so many seconds for a key, and gives it as a small letter, or ``""`` where none came.

    The terminal is as it was before once this ends. Ctrl-C is a ``KeyboardInterrupt`` throughout.
    """
    if not (sys.stdin is not None and sys.stdin.isatty()):
        yield _lines()
    elif os.name == "nt":
        yield _windows
    else:
        with _cbreak() as works:
            yield _posix if works else _lines()


@contextmanager
def _cbreak() -> Iterator[bool]:
    """A terminal that hands over each key at once and does not show it; where it refuses, yields False."""
    import termios  # noqa: PLC0415 - Windows has neither
    import tty  # noqa: PLC0415

    handle = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(handle)
        tty.setcbreak(handle, termios.TCSADRAIN)
    except termios.error:
        yield False
        return
    try:
        yield True
    finally:
        with contextlib.suppress(termios.error):  # a terminal that was closed
            termios.tcsetattr(handle, termios.TCSADRAIN, before)


def _posix(seconds: float) -> str:
    import select  # noqa: PLC0415

    handle = sys.stdin.fileno()
    ready, _, _ = select.select([handle], [], [], seconds)
    if not ready:
        return ""
    data = os.read(handle, 64)
    if not data:  # the terminal is gone, and would answer at once for ever
        time.sleep(seconds)
        return ""
    text = data.decode("utf-8", "replace")
    return "" if text.startswith(_ESCAPE) else text[0].lower()  # an arrow or a function key is several letters


def _windows(seconds: float) -> str:
    import msvcrt  # noqa: PLC0415

    until = time.monotonic() + seconds
    while not msvcrt.kbhit():  # type: ignore[attr-defined,unused-ignore]
        if time.monotonic() >= until:
            return ""
        time.sleep(0.03)
    key: str = msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]
    if key == "\x03":
        raise KeyboardInterrupt
    if key in {"\0", "\xe0"}:  # an arrow or a function key: its second half follows
        msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]
        return ""
    return key.lower()


def _lines() -> Callable[[float], str]:
    """The first letters of the lines that come in; once there are no more, none."""
    waiting: queue.Queue[str] = queue.Queue()

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):  # closed
            for line in sys.stdin:
                waiting.put(line.strip()[:1].lower())

    if sys.stdin is not None:
        threading.Thread(target=read, daemon=True).start()

    def key(seconds: float) -> str:
        try:
            return waiting.get(timeout=seconds)
        except queue.Empty:
            return ""

    return key
