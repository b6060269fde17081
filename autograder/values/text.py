"""Plain values as people read them, and as Python that makes them again: texts, sets, dates, exact numbers.

The standard library and NumPy only: a student's own machine runs this too.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire_limits import MAX_INT_BITS
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.sandbox.guest.wire_tables import is_pandas

__all__ = ["PLAIN", "described", "label", "listed", "plain_kind", "sorted_members", "source", "text_excerpt"]

MAX_LISTED = 5
MAX_PASTED = 400  # characters of a value that is written out whole
MAX_WORD = 60  # characters of one value in a sentence
AROUND = 12  # characters shown on each side of the first that differs
MAX_DEPTH = 14

_TIMES = (dt.date, dt.time, dt.timedelta, dt.tzinfo)
# Values that are compared, shown and written by the modules of this name, wherever one is met.
PLAIN = (str, bytes, bytearray, set, frozenset, range, Decimal, Fraction, *_TIMES)

_KINDS: Mapping[Any, str] = {
    bytes: "bytes",
    bytearray: "a bytearray",
    dt.date: "a date",
    dt.time: "a time of day",
    dt.timedelta: "a timedelta",
    Decimal: "a Decimal",
    Fraction: "a Fraction",
    range: "a range",
}


def plain_kind(value: Any) -> str:
    """What a plain value is, in the middle of a sentence: ``a set of 2 members``; empty for other values."""
    if isinstance(value, set | frozenset):
        return (
            f"a {type(value).__name__} of {_count(len(value), 'member')}"
            if value
            else f"an empty {type(value).__name__}"
        )
    if isinstance(value, Iterated):
        more = "more than " if value.more else ""
        return f"a {value.type} of {more}{_count(len(value), 'item')}"
    if isinstance(value, dt.datetime):
        return "a datetime"
    if type(value) is int and value.bit_length() > MAX_INT_BITS:
        return "a whole number of more than 307 digits, which is too large"
    if isinstance(value, np.ndarray) and value.dtype.kind in "UMm":
        what = {"U": "strings", "M": "dates", "m": "time spans"}[value.dtype.kind]
        return f"an array of {what} of shape {value.shape}"
    return _KINDS.get(type(value), "a time zone" if isinstance(value, dt.tzinfo) else "")


def label(value: Any, other: Any = None) -> str:
    """The type of a value in two words, which tell it from that of an ``other``: ``a string``, ``a number``."""
    if isinstance(value, bool | np.bool_):
        return "a bool"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float | complex | np.generic):
        return "a number"
    if isinstance(value, dt.datetime):
        return f"{'in' if value.tzinfo else 'without'} a time zone" if isinstance(other, dt.datetime) else "a datetime"
    if isinstance(value, Iterated):
        return f"a {value.type}"
    names: Mapping[Any, str] = {
        list: "a list",
        tuple: "a tuple",
        dict: "a dictionary",
        set: "a set",
        frozenset: "a frozenset",
    }
    return names.get(type(value)) or _KINDS.get(type(value), "")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sorted_members(members: Collection[Any]) -> list[Any]:
    """The members of a set in an order that is the same at every run: numbers by size, others as they are written."""
    try:
        return sorted(members, key=lambda item: (not isinstance(item, int | float), item))
    except (TypeError, ArithmeticError):  # a Decimal that is NaN is neither before nor after another
        return sorted(members, key=lambda item: (type(item).__name__, source(item)))


def listed(values: Collection[Any]) -> str:
    """A few values in a sentence: ``'a', 'b' and 'c'``, ``'a', 'b' and 7 more``."""
    words = [shorten(source(value), MAX_WORD) for value in [*values][: MAX_LISTED + 1]]
    if len(values) > MAX_LISTED + 1:
        words = [*words[:MAX_LISTED], f"{len(values) - MAX_LISTED:,} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def source(value: Any, depth: int = 0) -> str:
    """Python that makes the same value, where the modules ``datetime``, ``decimal``, ``fractions`` and NumPy (``np``) are there."""
    if depth > MAX_DEPTH:
        return "…"
    if is_pandas(value):
        from autograder.values.table_text import paste_table  # noqa: PLC0415 - it compares cells by way of this module

        return paste_table("", value).removeprefix(" = ")
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, Iterated):
        return f"iter([{_items(value, depth)}])"
    if isinstance(value, list):
        return f"[{_items(value, depth)}]"
    if isinstance(value, tuple):
        return f"({_items(value, depth)}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{source(k, depth + 1)}: {source(v, depth + 1)}" for k, v in value.items()) + "}"
    if isinstance(value, set | frozenset):
        inside = f"{{{_items(sorted_members(value), depth)}}}" if value else ""
        return f"{type(value).__name__}({inside})" if isinstance(value, frozenset) or not value else inside
    if isinstance(value, Decimal):
        return f"decimal.{value!r}"
    if isinstance(value, Fraction):
        return f"fractions.{value!r}"
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return f"np.{value!r}".replace("np.np.", "np.").replace("np.numpy.", "np.")
    if isinstance(value, np.generic):
        plain = value.item()
        return str(value) if isinstance(plain, np.generic) else source(plain)
    if isinstance(value, dt.datetime | dt.time) and hasattr(value.tzinfo, "key"):
        bare = value.replace(tzinfo=None)
        return f"{bare!r}"[:-1] + f", tzinfo=zoneinfo.ZoneInfo({value.tzinfo.key!r}))"  # type: ignore[union-attr]
    if hasattr(value, "type") or hasattr(value, "text"):  # what stays in a student's process, and source text
        if hasattr(value, "text"):
            return str(value.name)
        return f"something of type {value.type}" if value.type.strip() else "something of a type without a name"
    return repr(value)


def _items(values: Collection[Any], depth: int) -> str:
    return ", ".join(source(item, depth + 1) for item in values)


def _array(value: np.ndarray) -> str:
    body = repr(value.tolist()) if value.dtype.kind not in "Mm" else repr(value.astype(str).tolist())
    if value.dtype.kind in "fc":
        body = body.replace("nan", "np.nan").replace("inf", "np.inf")
    usual = value.dtype in (np.float64, np.int64, np.bool_) or value.dtype.kind == "U"
    name = value.dtype.str[1:] if value.dtype.kind in "Mm" else value.dtype.name
    return f"np.array({body})" if usual else f"np.array({body}, dtype={name!r})"


def described(value: Any) -> str:
    """What a value is that is too long to be pasted, and how it starts; empty for any other."""
    if not isinstance(value, str | bytes | list | tuple | set | frozenset | dict) or hasattr(value, "text"):
        return ""
    if isinstance(value, dict) and any(isinstance(v, np.ndarray | dict) for v in value.values()):
        return ""  # which is written part by part
    text = source(value)
    if len(text) <= MAX_PASTED:
        return ""
    if isinstance(value, str | bytes):
        what = "a string" if isinstance(value, str) else "bytes"
        return f"{what} of {len(value):,} characters that starts {value[:MAX_WORD]!r}…".replace("bytes of", "bytes,", 1)
    name = "dictionary" if isinstance(value, dict) else type(value).__name__
    return f"a {name} of {_count(len(value), 'item')} that starts {text[:MAX_WORD]}…"


def text_excerpt(found: str, right: str) -> tuple[str, str, int]:
    """A few characters of two texts around the first that differs, as Python writes them, and its place from 1."""
    pairs = zip(found, right, strict=False)
    place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(found), len(right)))
    start = max(0, place - AROUND)

    def excerpt(text: str) -> str:
        if place >= len(text):
            return f"{'…' if start else ''}{text[start:]!r} and no more"
        piece = text[start : place + AROUND]
        return f"{'…' if start else ''}{piece!r}{'…' if place + AROUND < len(text) else ''}"

    return excerpt(found), excerpt(right), place + 1
