"""Lay out the screen of ``watch`` for any terminal width, and read the keys that the user presses."""

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
    """A line of text and its Rich style. A style of ``""`` means none."""

    text: str
    style: str = ""


def width_for(columns: int) -> int:
    """Return the width of wrapped text in a terminal with ``columns`` columns."""
    return max(NARROWEST, min(columns - 1, WIDEST))


def head_lines(
    name: str, examples: Examples | None, outcomes: Mapping[str, ExerciseVerdict], note: str, columns: int
) -> list[ScreenLine]:
    """Return the header: the notebook, the number of solved exercises, and the current activity."""
    solved = sum(outcome.status == "passed" for outcome in outcomes.values())
    count = f"   {solved} of {pluralize(len(examples.exercises), 'exercise')} solved" if examples and outcomes else ""
    head = f"{name}{count}"
    gap = width_for(columns) - len(head) - len(note)
    lines = [ScreenLine(head + " " * gap + note if note and gap > 1 else head, "bold")]
    if note and gap <= 1:
        lines.append(ScreenLine(note, "dim"))
    return [*lines, ScreenLine("")]


def card_lines(card: Card, kind: str, columns: int) -> list[ScreenLine]:
    """Return the card of one exercise as in a notebook, but without hints, because a separate key shows them."""
    outcome = card.verdict
    if outcome.status == "not_attempted":
        code = "put your code where the stub raises NotImplementedError"
        todo = "give its variables a value" if kind == "answers" else code
        outcome = replace(outcome, message=f"`{outcome.name}` is not written yet: {todo}, and save.")
    text = card_text(replace(card, verdict=outcome, hints=(), hints_left=0), width_for(columns))
    lines = [ScreenLine(line, _STYLES.get(line.strip()[:1], "")) for line in text.splitlines()]
    head = textwrap.wrap(lines[0].text, width_for(columns), subsequent_indent="    ")
    return [*(ScreenLine(line, "bold") for line in head), *lines[1:]]


def hint_lines(exercise: ExerciseExamples, number: int, columns: int) -> list[ScreenLine]:
    """Return hint ``number`` of an exercise, counted from 1. If ``number`` is 0, say that the exercise has no hints."""
    total = len(exercise.hints)
    if not number:
        return text_lines(f"There are no hints for {exercise.name}. Read the text above its cell again.", columns)
    text = exercise.hints[number - 1]
    if number == total and exercise.kind != "answers":
        following = f"run hint({exercise.name}) in the notebook for advice about your own code."
        text += f"\n\nThat was the last hint. Next, {following}"
    lines = hint_text(HintCard(exercise.name, number, total, text), width_for(columns)).splitlines()
    return [ScreenLine(lines[0], "bold yellow"), *map(ScreenLine, lines[1:])]


def list_lines(
    examples: Examples, outcomes: Mapping[str, ExerciseVerdict], focus: str, columns: int
) -> list[ScreenLine]:
    """Return the list of exercises with their status. An arrow marks ``focus``, the exercise that is shown."""
    widest = max(map(len, examples.exercises), default=0)
    lines = []
    for name, exercise in examples.exercises.items():
        outcome = outcomes.get(name)
        status = outcome.status if outcome is not None else "not_attempted"
        sign = _SIGNS.get(status, "✗")
        words = {"passed": "solved", "not_attempted": "not started"}.get(status, "not yet right")
        text = f"{'→' if name == focus else ' '} {sign} {name:<{widest}}   {words}"
        points = f", {pluralize(exercise.points, 'point')}" if examples.audience == "class" else ""
        lines.append(ScreenLine(text + (points if len(text + points) < width_for(columns) else ""), _STYLES[sign]))
    return lines


def text_lines(text: str, columns: int, style: str = "") -> list[ScreenLine]:
    """Wrap ``text`` for a terminal with ``columns`` columns."""
    return [ScreenLine(line, style) for line in wrapped(text, "", width=width_for(columns)).splitlines()]


def key_lines(keys: Sequence[tuple[str, str]], columns: int) -> list[ScreenLine]:
    """Return lines that list the ``keys`` and what each key does."""
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
    """Yield a function that waits for a key. It returns the key in lower case, or ``""`` if none is pressed within the given seconds.

    On exit, the terminal's settings are restored. Ctrl-C raises ``KeyboardInterrupt`` as usual.
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
    """Put the terminal into a mode in which keys are read immediately and not echoed. Yield whether that worked."""
    import termios  # noqa: PLC0415 - not available on Windows
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
        with contextlib.suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(handle, termios.TCSADRAIN, before)


def _posix(seconds: float) -> str:
    import select  # noqa: PLC0415

    handle = sys.stdin.fileno()
    if not select.select([handle], [], [], seconds)[0]:
        return ""
    data = os.read(handle, 64)
    if not data:  # the terminal is gone, so select would return immediately every time
        time.sleep(seconds)
        return ""
    text = data.decode("utf-8", "replace")
    return "" if text.startswith(_ESCAPE) else text[0].lower()  # arrow and function keys send several characters


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
    if key in {"\0", "\xe0"}:  # an arrow or function key sends two characters, so skip the second
        msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]
        return ""
    return key.lower()


def _lines() -> Callable[[float], str]:
    """Return a function that returns the first letter of the next input line, or ``""`` if no line comes in time."""
    waiting: queue.Queue[str] = queue.Queue()

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):  # the input is closed
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
