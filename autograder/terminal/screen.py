"""What ``watch`` shows, as lines with a style each, for a terminal of any width."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from autograder.examples import Examples, ExerciseExamples
from autograder.render import Card, HintCard, card_text, hint_text
from autograder.render.text import wrapped
from autograder.verdict import ExerciseVerdict
from autograder.wording import plural

__all__ = ["ScreenLine", "card_lines", "head_lines", "hint_lines", "key_lines", "list_lines", "text_lines"]

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
    far = f"   {hold} of {plural(len(examples.exercises), 'exercise')} hold" if examples and outcomes else ""
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
        worth = f", {plural(found.points, 'point')}"
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
