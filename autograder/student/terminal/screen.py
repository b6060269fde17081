"""What ``watch`` shows, for a terminal of any width, and the single keys that it reads."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from autograder.base.formatting import pluralize
from autograder.base.verdict import ExerciseVerdict
from autograder.pages import Card, HintCard, card_text, hint_text
from autograder.pages.text import wrapped
from autograder.student.examples import Examples, ExerciseExamples

__all__ = ["ScreenLine", "card_lines", "head_lines", "hint_lines", "key_lines", "keys", "list_lines", "text_lines"]


NARROWEST, WIDEST = 30, 100
_STYLES = {"✓": "green", "✗": "red", "·": "dim"}
_SIGNS = {"passed": "✓", "not_attempted": "·"}


class ScreenLine(NamedTuple):
    """A line and how it looks: a style of Rich's, ``""`` for none."""

    text: str
    style: str = ""


def width_for(columns: int) -> int:
    """How wide text is filled in a terminal of so many columns."""
    return max(NARROWEST, min(columns - 1, WIDEST))


def head_lines(
    name: str, examples: Examples | None, outcomes: Mapping[str, ExerciseVerdict], note: str, columns: int
) -> list[ScreenLine]:
    """The notebook, how many of its exercises hold, and what is going on."""
    hold = sum(outcome.status == "passed" for outcome in outcomes.values())
    far = f"   {hold} of {pluralize(len(examples.exercises), 'exercise')} hold" if examples and outcomes else ""
    head = f"{name}{far}"
    gap = width_for(columns) - len(head) - len(note)
    lines = [ScreenLine(head + " " * gap + note if note and gap > 1 else head, "bold")]
    if note and gap <= 1:
        lines.append(ScreenLine(note, "dim"))
    return [*lines, ScreenLine("")]


def card_lines(card: Card, kind: str, columns: int) -> list[ScreenLine]:
    """The card of one exercise of this ``kind``, in the words that a notebook has for it; hints have a key here."""
    outcome = card.verdict
    if outcome.status == "not_attempted":
        todo = (
            "give its variables a value"
            if kind == "answers"
            else "put your code where the stub raises NotImplementedError"
        )
        outcome = replace(outcome, message=f"`{outcome.name}` is not written yet: {todo}, and save.")
    text = card_text(replace(card, verdict=outcome, hints=(), hints_left=0), width_for(columns))
    lines = [ScreenLine(line, _STYLES.get(line.strip()[:1], "")) for line in text.splitlines()]
    head = textwrap.wrap(lines[0].text, width_for(columns), subsequent_indent="    ")
    return [*(ScreenLine(line, "bold") for line in head), *lines[1:]]


def hint_lines(found: ExerciseExamples, number: int, columns: int) -> list[ScreenLine]:
    """A hint of an exercise, from 1; with a number of 0, that there is none."""
    total = len(found.hints)
    if not number:
        return text_lines(f"There are no hints for {found.name}: the text above its cell is all.", columns)
    text = found.hints[number - 1]
    if number == total and found.kind != "answers":
        text += f"\n\nThat was the last one. In the notebook, hint({found.name}) looks at your own code next."
    lines = hint_text(HintCard(found.name, number, total, text), width_for(columns)).splitlines()
    return [ScreenLine(lines[0], "bold yellow"), *map(ScreenLine, lines[1:])]


def list_lines(
    examples: Examples, outcomes: Mapping[str, ExerciseVerdict], focus: str, columns: int
) -> list[ScreenLine]:
    """Every exercise of the chapter, with how it stands; an arrow at the one that is shown."""
    widest = max(map(len, examples.exercises), default=0)
    lines = []
    for name, found in examples.exercises.items():
        outcome = outcomes.get(name)
        status = outcome.status if outcome is not None else "not_attempted"
        sign = _SIGNS.get(status, "✗")
        words = {"passed": "holds", "not_attempted": "not begun"}.get(status, "not yet right")
        text = f"{'→' if name == focus else ' '} {sign} {name:<{widest}}   {words}"
        worth = f", {pluralize(found.points, 'point')}"
        lines.append(ScreenLine(text + (worth if len(text + worth) < width_for(columns) else ""), _STYLES[sign]))
    return lines


def text_lines(text: str, columns: int, style: str = "") -> list[ScreenLine]:
    """A sentence or several."""
    return [ScreenLine(line, style) for line in wrapped(text, "", width=width_for(columns)).splitlines()]


def key_lines(keys: Sequence[tuple[str, str]], columns: int) -> list[ScreenLine]:
    """What can be pressed, on as many lines as it takes."""
    lines, room = [""], width_for(columns)
    for key, does in keys:
        text = f"{key} {does}"
        if lines[-1] and len(lines[-1]) + 3 + len(text) > room:
            lines.append("")
        lines[-1] += ("   " if lines[-1] else "") + text
    return [ScreenLine(""), *(ScreenLine(line, "dim") for line in lines)]


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
