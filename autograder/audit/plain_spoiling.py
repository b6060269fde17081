"""Plain values that are wrong in one place, for the audit: would a check notice?"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

from autograder.checking.plain_text import PLAIN, in_order
from autograder.sandbox.guest.wire_plain import Iterated

__all__ = ["is_spoilt_here", "spoilt_plain"]


def is_spoilt_here(value: Any) -> bool:
    """Whether ``value`` is a text, a set, a date or such, or empty: where no number can be moved."""
    return isinstance(value, (*PLAIN, Iterated)) or (isinstance(value, list | dict) and not value)


def spoilt_plain(value: Any, number: int) -> Any:
    """``value`` with one part changed; which one depends on ``number``. An empty one gets something more."""
    if isinstance(value, str):
        at = number % len(value) if value else 0
        return f"{value[:at]}{'?' if value[at : at + 1] != '?' else '!'}{value[at + 1 :]}"
    if isinstance(value, bytes | bytearray):
        return value[:-1] if value else value + b"?"
    if isinstance(value, set | frozenset):
        return type(value)(in_order(value)[:-1]) if value else type(value)({"something more"})
    if isinstance(value, range | Iterated):
        return [*value][:-1] if len(value) else ["something more"]
    if isinstance(value, list | dict):
        return ["something more"] if isinstance(value, list) else {"something more": None}
    if isinstance(value, Decimal | Fraction):
        return value + 1
    if isinstance(value, dt.date | dt.timedelta):
        day = dt.timedelta(days=1)
        return value - day if value == type(value).max else value + day
    if isinstance(value, dt.time):
        return value.replace(minute=(value.minute + 1) % 60)
    return value
