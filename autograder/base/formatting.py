"""Format numbers, counts and points the same way on every page, card and comment."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

__all__ = ["duration", "join_words", "number", "pluralize", "points", "with_article"]


def number(value: float) -> str:
    """Return ``value`` without trailing zeros: exact if four decimals are enough, otherwise rounded to two.

    >>> number(3.0), number(0.125), number(1 / 3)
    ('3', '0.125', '0.33')
    """
    decimals = 4 if abs(round(value, 4) - value) < 1e-9 else 2
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".")


def pluralize(count: float, noun: str) -> str:
    """Return ``count`` with its noun: ``1 point``, ``2 points``, ``0.5 points``."""
    shown = number(count)
    return f"{shown} {noun}" if shown == "1" else f"{shown} {noun}s"


def duration(time: dt.timedelta) -> str:
    """Return a length of time in whole days or hours if possible, otherwise in minutes: ``2 days``, ``36 hours``, ``90 minutes``."""
    seconds = time.total_seconds()
    units = (("day", 86_400), ("hour", 3600))
    unit, size = next(((unit, size) for unit, size in units if seconds % size == 0), ("minute", 60))
    return pluralize(seconds / size, unit)


def points(score: float, worth: float) -> str:
    """Return a score out of its maximum: ``2.5 of 4 points``."""
    return f"{number(score)} of {pluralize(worth, 'point')}"


def join_words(items: Sequence[str]) -> str:
    """Join ``items`` with commas and "and": ``line 2``, ``line 2 and line 5``, ``line 2, line 5 and line 7``."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def with_article(name: str) -> str:
    """Return the name of a class with its article: ``a ValueError``, ``an IndexError``."""
    return f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}"
