"""Verdicts in words, for a terminal and for a log."""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from click.exceptions import Exit

from autograder.base.formatting import number, pluralize, points
from autograder.base.sanitize import sanitize
from autograder.base.verdict import Verdict, json_lines
from autograder.cli.progress import say
from autograder.pages import Card, card_text
from autograder.pages.text import wrapped

__all__ = ["finish", "listed", "needs_a_person", "summary", "verdict_text"]

_NAMED = 3  # of the notebooks of which the same is to be said


def verdict_text(verdict: Verdict) -> str:
    """One notebook, exercise by exercise and check by check."""
    head = sanitize(verdict.notebook)
    if verdict.status == "ungradable":
        return f"{head}\n  could not be graded: {sanitize(verdict.reason or 'no reason is known.')}"
    lines = [f"{head}   {points(verdict.score, verdict.max_score)}"]
    return "\n\n".join(lines + [card_text(Card(exercise, graded=True)) for exercise in verdict.exercises])


def summary(verdicts: Sequence[Verdict], seconds: float, by_hand: float = 0) -> str:
    """What a run did, in sentences that can be read aloud; ``by_hand`` are the points that a person gives besides."""
    graded = [v for v in verdicts if v.status == "graded"]
    lines = [f"Graded {len(graded)} of {pluralize(len(verdicts), 'notebook')} in {seconds:.1f} seconds."]
    if len(graded) >= 5:  # fewer are read one by one
        scores = [v.score for v in graded]
        highest_possible = max(v.max_score for v in graded)
        lines.append(
            f"Half of them reach {pluralize(statistics.median(scores), 'point')} or more of {number(highest_possible)}"
            f"{' that the checks give' if by_hand else ''}; "
            f"the lowest has {number(min(scores))}, the highest {number(max(scores))}."
        )
        mistakes = Counter((e.name, e.misconception) for v in graded for e in v.exercises if e.misconception)
        if mistakes:
            (exercise, misconception), count = mistakes.most_common(1)[0]
            often = "once" if count == 1 else f"{count} times"
            lines.append(f"The mistake seen most is {misconception} in {exercise}: {often}.")
    if graded and by_hand:
        lines.append(
            f"{pluralize(by_hand, 'point')} more {'is' if by_hand == 1 else 'are'} for a person to give, in formgrader."
        )
    return "\n".join(lines)


def needs_a_person(verdicts: Sequence[Verdict]) -> str:
    """The notebooks that could not be graded or hold something odd, each with its reason; empty where there are none.

    A notebook is called by its student where one is known, else by its file; graded ones of which the same is to be said, as
    where the points of a chapter have changed, stand together.
    """
    told: dict[tuple[str, str], list[str]] = {}
    for verdict in verdicts:
        reason = (verdict.reason or "no reason is known.") if verdict.status == "ungradable" else ""
        if why := " ".join(filter(None, [reason, verdict.warning])):
            told.setdefault((why, reason), []).append(sanitize(verdict.student or verdict.notebook))
    lines: list[str] = []
    for (why, reason), names in told.items():
        heads = names if reason else [_named(names)]
        lines += [wrapped(why, "    ", f"  - {head}: ") for head in heads]
    return "\n".join(["Needs a person:", *lines]) if lines else ""


def listed(found: Iterable[tuple[str, str]]) -> str:
    """What is to be said, each with whom it is about; of more than a few of whom the same is said three are named."""
    told: dict[str, list[str]] = {}
    for why, name in found:
        if why:
            told.setdefault(why, []).append(sanitize(name))
    lines = []
    for why, names in told.items():
        lines.append(wrapped(why, "    ", f"  - {_named(names)}: "))
    return "\n".join(lines)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def finish(
    verdicts: Sequence[Verdict], seconds: float, *, as_json: bool, brief: bool = False, by_hand: float = 0
) -> None:
    """Print the JSON that is asked for and, unless ``brief``, how it went; ends the verb where a notebook could not be graded."""
    if as_json:
        # A line for each: it can be read, and is written ten times as fast as with every key on a line of its own.
        sys.stdout.write("[\n{}\n]\n".format(",\n".join(json_lines(verdicts))))
    if not brief:
        say(summary(verdicts, seconds, by_hand))
        if missing := needs_a_person(verdicts):
            say(missing)
    if any(verdict.status == "ungradable" for verdict in verdicts):
        raise Exit(1)
