"""Dates, times, durations, time zones and exact numbers, which are compared without tolerance."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from autograder.base.foreign import Value
from autograder.values.family import Difference, ExactFamily, Family, Rules, source
from autograder.values.messages import mismatch_message

__all__ = ["ExactNumberFamily", "NumpyTimeFamily", "TimeFamily", "another_day"]

_KINDS: Mapping[Value, str] = {
    dt.date: "a date", dt.datetime: "a datetime", dt.time: "a time of day", dt.timedelta: "a timedelta",
    Decimal: "a Decimal", Fraction: "a Fraction",
}  # fmt: skip


class ExactNumberFamily(ExactFamily):
    """The family of decimals and fractions, shown as Python code."""

    types: ClassVar[tuple[type, ...]] = (Decimal, Fraction)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if type(found) is not type(expected) or not self.same(found, expected):
            yield mismatch_message(found, expected, self.hint(found, expected))

    def same(self, found: Value, expected: Value) -> bool:
        return bool(found == expected) or str(found) == str(expected) == "NaN"

    def hint(self, found: Value, expected: Value) -> str:
        """Return the text to add to the sentence about two values that differ."""
        return ""

    def source(self, value: Value, depth: int) -> str:
        return f"{type(value).__module__.lstrip('_')}.{value!r}"

    def kind(self, value: Value) -> str:
        return _KINDS.get(type(value), "")

    def perturb(self, value: Value, where: int, by: float) -> Value:
        return value + 1


class TimeFamily(ExactNumberFamily):
    """The family of dates, times of day, durations and time zones of the standard library."""

    types: ClassVar[tuple[type, ...]] = (dt.date, dt.time, dt.timedelta, dt.tzinfo)

    def same(self, found: Value, expected: Value) -> bool:
        if isinstance(expected, dt.datetime | dt.time):
            bare = found.replace(tzinfo=None) == expected.replace(tzinfo=None)
            zoned = (found.tzinfo is None) == (expected.tzinfo is None)
            return bare and zoned and found.utcoffset() == expected.utcoffset()
        return str(found) == str(expected) if isinstance(expected, dt.tzinfo) else bool(found == expected)

    def hint(self, found: Value, expected: Value) -> str:
        both = isinstance(found, dt.datetime) and isinstance(expected, dt.datetime)
        if both and (found.tzinfo is None) == (expected.tzinfo is None) and found == expected:
            return ": the same moment in another time zone"
        return ""

    def source(self, value: Value, depth: int) -> str:
        if isinstance(value, dt.datetime | dt.time) and hasattr(value.tzinfo, "key"):
            bare = value.replace(tzinfo=None)
            return f"{bare!r}"[:-1] + f", tzinfo=zoneinfo.ZoneInfo({value.tzinfo.key!r}))"  # type: ignore[union-attr]
        return repr(value)

    def kind(self, value: Value) -> str:
        return _KINDS.get(type(value), "a time zone" if isinstance(value, dt.tzinfo) else "")

    def label(self, value: Value, other: Value) -> str:
        if isinstance(value, dt.datetime) and isinstance(other, dt.datetime):
            return f"{'in' if value.tzinfo else 'without'} a time zone"
        return _KINDS.get(type(value), "")

    def perturb(self, value: Value, where: int, by: float) -> Value:
        if isinstance(value, dt.date | dt.timedelta):
            return another_day(value)
        return value.replace(minute=(value.minute + 1) % 60) if isinstance(value, dt.time) else value


class NumpyTimeFamily(ExactNumberFamily):
    """The family of NumPy's dates and durations."""

    types: ClassVar[tuple[type, ...]] = (np.datetime64, np.timedelta64)

    def is_exact(self, value: Value) -> bool:
        return False

    def same(self, found: Value, expected: Value) -> bool:
        try:
            return bool(found == expected or (np.isnat(found) and np.isnat(expected)))
        except (TypeError, ValueError, OverflowError):  # years and days have no common unit
            return False

    def source(self, value: Value, depth: int) -> str:
        return f"np.{value!r}".replace("np.np.", "np.").replace("np.numpy.", "np.")

    def paste(self, name: str, value: Value) -> str:
        return f"{name} = {source(value.item())}"

    def label(self, value: Value, other: Value) -> str:
        return "a number"

    def describe(self, value: Value) -> str:
        return "a single number"

    def identity(self, value: Value) -> Hashable:
        return (value.dtype.str, value.tobytes())

    def outline(self, value: Value, rules: Rules) -> Hashable:
        return ("number", None) if isinstance(value, np.timedelta64) else type(value).__name__

    schema = identity

    perturb = Family.perturb


def another_day(value: Value) -> Value:
    """Return a date or a duration one day later, or one day earlier if ``value`` is the largest possible."""
    day = dt.timedelta(days=1)
    return value - day if value == type(value).max else value + day
