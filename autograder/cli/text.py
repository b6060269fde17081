"""Verdicts in words, for a terminal and for a log."""

from __future__ import annotations

import statistics
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from autograder.render import Card, card_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.verdict import Verdict

__all__ = ["name_of", "needs_a_person", "number", "plain", "summary", "verdict_text"]

_WIDTH = 112


def plain(text: str) -> str:
    """``text`` with no control characters but line ends: nothing in a notebook may drive the terminal."""
    return "".join(c if c == "\n" or c.isprintable() else "�" for c in text)


def number(points: float) -> str:
    """A number of points as people write it: ``3``, ``2.5``, ``0.25``."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def name_of(verdict: Verdict) -> str:
    """What to call a notebook in a list: its student where one is known, else its file."""
    return plain(verdict.student or verdict.notebook)


def verdict_text(verdict: Verdict) -> str:
    """One notebook, exercise by exercise and check by check."""
    head = plain(verdict.notebook)
    if verdict.status == "ungradable":
        return f"{head}\n  could not be graded: {plain(verdict.reason or 'no reason is known.')}"
    lines = [f"{head}   {number(verdict.score)} of {_points(verdict.max_score)}"]
    lines += [
        plain(card_text(Card(exercise, points=exercise.max_score, graded=True))) for exercise in verdict.exercises
    ]
    return "\n\n".join(lines)


def summary(verdicts: Sequence[Verdict], seconds: float) -> str:
    """What a run did, in sentences that can be read aloud."""
    graded = [v for v in verdicts if v.status == "graded"]
    what = "notebook" if len(verdicts) == 1 else "notebooks"
    lines = [f"Graded {len(graded)} of {len(verdicts)} {what} in {seconds:.1f} seconds."]
    if len(graded) >= 5:  # fewer are read one by one
        scores = [v.score for v in graded]
        highest_possible = max(v.max_score for v in graded)
        lines.append(
            f"Half of them reach {number(statistics.median(scores))} points or more of {number(highest_possible)}; "
            f"the lowest has {number(min(scores))}, the highest {number(max(scores))}."
        )
        mistakes = Counter((e.name, e.misconception) for v in graded for e in v.exercises if e.misconception)
        if mistakes:
            (exercise, misconception), count = mistakes.most_common(1)[0]
            often = "once" if count == 1 else f"{count} times"
            lines.append(f"The mistake seen most is {misconception} in {exercise}: {often}.")
    return "\n".join(lines)


def needs_a_person(verdicts: Sequence[Verdict]) -> str:
    """The notebooks that could not be graded or hold something odd, each with its reason; empty where there are none."""
    lines: list[str] = []
    for verdict in verdicts:
        why = (verdict.reason or "no reason is known.") if verdict.status == "ungradable" else verdict.warning
        if why:
            lines += _indented(f"{name_of(verdict)}: {plain(why)}", "  - ")
    return "\n".join(["Needs a person:", *lines]) if lines else ""


def _indented(text: str, prefix: str) -> list[str]:
    # Prose is wrapped; a line with its own layout (an array, a caret below an error) stays as it is.
    lines: list[str] = []
    for line in plain(text).splitlines():
        keep = line.startswith(" ") or len(line) <= _WIDTH
        lines += [line] if keep else textwrap.wrap(line, _WIDTH - len(prefix))
    return [(prefix if i == 0 else " " * len(prefix)) + line for i, line in enumerate(lines)]


def _points(points: float) -> str:
    return f"{number(points)} point" if points == 1 else f"{number(points)} points"
