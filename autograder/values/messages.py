"""Describe how two built-in values differ, as a clause: the place, what is there, and what is expected."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograder.base.foreign import Value
from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire_limits import MAX_INT_BITS
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.values.family import NOISE, Difference, family_of, source, write_apart

__all__ = [
    "MAX_WORD", "count", "inline_value", "label", "listed", "mismatch_message", "missing_and_extra", "paste_container", "sorted_members",
    "wrong_builtin_type",
]  # fmt: skip

MAX_LISTED = 5
MAX_PASTED = 400  # a value of at most this many characters is written out whole
MAX_WORD = 60  # characters of one value in a sentence


def count(number: int, what: str) -> str:
    """Return a number with its noun: ``1 item``, ``2 items``, ``1,000 items``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def label(value: Value, other: Value = None) -> str:
    """Return a short name of a value's type that distinguishes it from an ``other`` value: ``a string``, ``a number``."""
    return family_of(value).label(value, other)


def sorted_members(members: Collection[Value]) -> list[Value]:
    """Return the members of a set in an order that is the same in every run. Numbers come first, sorted by size."""
    try:
        return sorted(members, key=lambda item: (not isinstance(item, int | float), item))
    except (TypeError, ArithmeticError):  # a Decimal that is NaN cannot be ordered
        return sorted(members, key=lambda item: (type(item).__name__, source(item)))


def listed(values: Collection[Value]) -> str:
    """Join values for a sentence that lists at most a few of them: ``'a', 'b' and 'c'``, ``'a', 'b' and 7 more``."""
    words = [shorten(source(value), MAX_WORD) for value in [*values][: MAX_LISTED + 1]]
    if len(values) > MAX_LISTED + 1:
        words = [*words[:MAX_LISTED], f"{len(values) - MAX_LISTED:,} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def paste_container(name: str, value: Value, kind: str) -> str:
    """Return a line of Python that assigns a container to ``name``, or describes a long container."""
    text, size = source(value), count(len(value), "item")
    is_nested = not set("[({").isdisjoint(text[1:MAX_WORD])  # the text would be cut off within an item
    start = "" if is_nested else f" that starts with {text[:MAX_WORD]}…"
    return f"{name} = {text}" if len(text) <= MAX_PASTED else f"{name} is a {kind} of {size}{start}"


def inline_value(value: Value) -> str:
    """Return a value as a part of a sentence: written out if it is short, else described."""
    text = source(value)
    long = isinstance(value, str | bytes | list | tuple | dict | set | frozenset)
    if len(text) <= (MAX_WORD if long else 2 * MAX_WORD):
        return text
    if isinstance(value, int):
        return f"{text[:20]}…{text[-20:]} ({len(text):,} digits)"
    if isinstance(value, list | tuple | dict) and not isinstance(value, Iterated):
        return f"a {'dictionary' if isinstance(value, dict) else type(value).__name__} of {count(len(value), 'item')}"
    return family_of(value).kind(value) or shorten(text, MAX_WORD)


def mismatch_message(found: Value, expected: Value, hint: str = "") -> Difference:
    """Return the difference between two values. If their types differ or they look alike, the text names their types."""
    left, right = inline_value(found), inline_value(expected)
    both, kinds = (found, expected), (label(found, expected), label(expected, found))
    numbers = all(isinstance(value, int | float) for value in both) and "a bool" not in kinds
    if numbers and any(isinstance(value, float) for value in both):
        left, right = _digits(found, expected)
    if (kinds[0] != kinds[1] and all(kinds)) or left == right:
        left, right = (
            f"{text} ({kind})" if kind and kind not in text else text
            for text, kind in zip((left, right), kinds, strict=True)
        )
    clause = f"is {left} instead of {right}{hint}."
    kind = "values" if kinds[0] == kinds[1] else "type"
    return Difference(f"there {clause}", kind, found, expected, alone=f"it {clause}")


def _digits(found: float, expected: float) -> tuple[str, str]:
    """Return two numbers as text, with enough digits to tell them apart."""
    if any(isinstance(value, int) and value.bit_length() > MAX_INT_BITS for value in (found, expected)):
        return inline_value(found), inline_value(expected)
    found = 0.0 if abs(found) <= NOISE * abs(expected) else found
    left, right = write_apart(lambda value, digits: f"{value:.{digits}g}", found, expected)
    return (left, right) if left != right else (repr(found), repr(expected))


def wrong_builtin_type(found: Value, asked: str, expected: Value) -> Difference:
    """Return the difference for ``found``, a value of the wrong type. ``asked`` describes the expected type."""
    written = isinstance(found, str | bytes | int | float | None | list | tuple | set | frozenset | dict)
    what = inline_value(found) if written else ""
    name = label(found) or family_of(found).kind(found) or source(found)
    what = f", {what}," if what and what != name and len(what) <= MAX_WORD else ""
    clause = f"is {name}{what} instead of {asked}."
    return Difference(f"there {clause}", "type", found, expected, alone=f"it {clause}")


def missing_and_extra(whole: str, missing: Sequence[Value], extra: Sequence[Value], key: str, found: Value) -> str:
    """Return a clause that lists the ``missing`` and the ``extra`` parts of the container called ``whole``."""
    if not len(found):
        return f"{whole} is empty but should have {listed(missing)}."
    many = "s" if key else ""
    do = "does" if len(extra) == 1 else "do"
    besides = f"has{key}{many * (len(extra) > 1)} {listed(extra)}, which {do} not belong there" if extra else ""
    if not missing:
        return f"{whole} {besides}."
    lacks = f"{whole} lacks{key}{many * (len(missing) > 1)} {listed(missing)}"
    return f"{lacks}, and {besides}." if extra else f"{lacks}."
