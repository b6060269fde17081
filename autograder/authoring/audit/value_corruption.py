"""Corrupt a built-in value or a table in one place, so that the audit can test whether a check notices."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np

from autograder.base.foreign import Value
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.sandbox.guest.wire_tables import kind_of_table
from autograder.values import family_of, sorted_members

__all__ = ["can_corrupt_value", "corrupt_table", "corrupt_value"]


def can_corrupt_value(value: Value) -> bool:
    """Return whether ``corrupt_value`` supports ``value``: a string, set, date or similar, or an empty container."""
    return (
        family_of(value).is_exact(value)
        or isinstance(value, Iterated)
        or (isinstance(value, list | dict) and not value)
    )


def corrupt_value(value: Value, number: int) -> Value:
    """Return ``value`` with one part changed. ``number`` selects the part. An empty value gets an item."""
    if isinstance(value, str):
        at = number % len(value) if value else 0
        return f"{value[:at]}{'?' if value[at : at + 1] != '?' else '!'}{value[at + 1 :]}"
    if isinstance(value, bytes | bytearray):
        return value[:-1] if value else value + b"?"
    if isinstance(value, set | frozenset):
        return type(value)(sorted_members(value)[:-1]) if value else type(value)({"something more"})
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


def corrupt_table(value: Value, share: float, number: int) -> Value:
    """Return a DataFrame, Series or Index with one cell changed. ``number`` selects the cell. An empty one gets an item."""
    kind = kind_of_table(value)
    if kind == "Index":
        return value[:-1] if len(value) else value.append(value.__class__([0]))
    other = value.copy()
    if not value.size:
        if kind == "DataFrame":
            other["spoilt"] = 0.0
        else:
            other.loc["spoilt"] = 0.0
        return other
    columns = 1 if kind == "Series" else value.shape[1]
    row, column = number // columns % len(value), number % columns
    held = value if kind == "Series" else value.iloc[:, column]
    items = held.tolist()
    items[row] = _other(items[row], items, share)
    changed = held.__class__(items, index=held.index, name=held.name)
    if kind == "Series":
        return changed
    other.isetitem(column, changed)
    return other


def _other(item: Value, items: list[Value], share: float) -> Value:
    """Return a different item of the same type, further away than any tolerance."""
    if isinstance(item, bool | np.bool_):
        return not item
    if isinstance(item, int | float) and item == item:  # noqa: PLR0124 - NaN is not itself
        numbers = [abs(n) for n in items if isinstance(n, int | float) and abs(n) < np.inf]
        step = max(share * max(numbers, default=0.0), 0.001)
        return item + max(1, round(step)) if isinstance(item, int) else item + step
    if isinstance(item, str):
        return f"{item}?"
    return next((n for n in items if n is not item and str(n) != str(item)), 0.0 if item != item else None)  # noqa: PLR0124
