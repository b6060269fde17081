"""Compare strings and bytes, and show their first difference, with a hint if the difference is hard to see."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterator
from typing import ClassVar

from autograder.base.foreign import Value
from autograder.values.family import MAX_TEXT, Difference, ExactFamily, Index, Rules, source
from autograder.values.messages import MAX_PASTED, MAX_WORD, inline_value, mismatch_message

__all__ = ["BytesFamily", "TextFamily", "text_difference"]

AROUND = 12  # characters shown on each side of the first difference
_MAX_HINTED = 10_000  # longer texts get no hint, because normalizing them takes quadratic time


class TextFamily(ExactFamily):
    """The family of strings, which are compared exactly."""

    types: ClassVar[tuple[type, ...]] = (str,)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        expected = str(expected)
        if not isinstance(found, str):
            yield mismatch_message(found, expected)
        elif found != expected:
            yield (lines_difference if "\n" in expected or "\n" in found else line_difference)(found, expected)

    def excerpt(self, found: Value, expected: Value, first: Index) -> Callable[[Value, int], str] | None:
        if not isinstance(found, str) or max(len(found), len(expected)) <= MAX_TEXT:
            return None
        left, right, begin = text_excerpt(found, expected)
        return lambda value, _digits: f"{left if value is found else right} (from character {max(1, begin - 12)} on)"

    def source(self, value: Value, depth: int) -> str:
        return repr(value.item() if hasattr(value, "item") else value)

    def paste(self, name: str, value: Value) -> str:
        if len(source(value)) <= MAX_PASTED:
            return f"{name} = {source(value)}"
        return f"{name} is a string of {len(value):,} characters that starts with {value[:MAX_WORD]!r}…"

    def label(self, value: Value, other: Value) -> str:
        return "a string"

    def describe(self, value: Value) -> str:
        return "a string"

    def identity(self, value: Value) -> Hashable:
        return (value.dtype.str, value.tobytes()) if hasattr(value, "dtype") else (type(value).__name__, value)

    def match_key(self, value: Value) -> Hashable:
        return (type(value).__name__, value)

    def outline(self, value: Value, rules: Rules) -> Hashable:
        return value  # type: ignore[no-any-return]

    def perturb(self, value: Value, where: int, by: float) -> Value:
        at = where % len(value) if value else 0
        return f"{value[:at]}{'?' if value[at : at + 1] != '?' else '!'}{value[at + 1 :]}"


class BytesFamily(ExactFamily):
    """The family of bytes and bytearrays."""

    types: ClassVar[tuple[type, ...]] = (bytes, bytearray)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if type(found) is not type(expected) or found != expected:
            yield mismatch_message(found, expected)

    def paste(self, name: str, value: Value) -> str:
        if isinstance(value, bytearray) or len(source(value)) <= MAX_PASTED:
            return f"{name} = {source(value)}"
        return f"{name} is a bytes object of {len(value):,} bytes that starts with {value[:MAX_WORD]!r}…"

    def kind(self, value: Value) -> str:
        return "a bytearray" if isinstance(value, bytearray) else "bytes"

    def copy(self, value: Value, leaf: Callable[[Value], Value]) -> Value:
        return value.copy() if isinstance(value, bytearray) else leaf(value)

    def outline(self, value: Value, rules: Rules) -> Hashable:
        return value if isinstance(value, bytes) else type(value).__name__

    def perturb(self, value: Value, where: int, by: float) -> Value:
        return value[:-1] if value else value + b"?"


def line_difference(found: str, expected: str) -> Difference:
    """Return the first difference between two strings, with a hint if the difference is hard to see."""
    hint = _how_texts_differ(found, expected)
    if max(len(found), len(expected)) <= MAX_WORD:
        return mismatch_message(found, expected, hint)
    left, right, place = text_excerpt(found, expected)
    clause = f"the string differs starting at character {place:,}: {left} instead of {right}{hint}."
    return Difference(clause, "values", found, expected)


def text_difference(found: str, expected: str) -> tuple[str, str, str]:
    """Return both lines as Python code, and a hint. Long lines are cut to the text around their first difference."""
    hint = _how_texts_differ(found, expected)
    if max(len(found), len(expected)) <= MAX_WORD:
        return source(found), source(expected), hint
    return (*text_excerpt(found, expected)[:2], hint)


def lines_difference(found: str, expected: str) -> Difference:
    """Return the first difference between two strings of several lines."""
    own, lines = found.splitlines(keepends=True), expected.splitlines(keepends=True)
    place = next((i for i, (a, b) in enumerate(zip(own, lines, strict=False)) if a != b), None)
    if place is None:
        counts = f"the string has {len(own)} line{'' if len(own) == 1 else 's'} instead of {len(lines)}"
        longer, what = (lines, "is missing") if len(own) < len(lines) else (own, "should not be there")
        place = min(len(own), len(lines))
        clause = f"{counts}: line {place + 1}, {inline_value(longer[place])}, {what}."
        return Difference(clause, "length", found, expected)
    bare = own[place].rstrip("\r\n"), lines[place].rstrip("\r\n")
    left, right = bare if bare[0] != bare[1] else (own[place], lines[place])
    clause = line_difference(left, right).clause.replace("the string", "it", 1)
    return Difference(f"in line {place + 1} of the string, {clause}", "values", found, expected)


def text_excerpt(found: str, expected: str) -> tuple[str, str, int]:
    """Return the text around the first difference in both strings, as Python code, and the position of the difference, from 1."""
    pairs = zip(found, expected, strict=False)
    place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(found), len(expected)))
    start = max(0, place - AROUND)

    def excerpt(text: str) -> str:
        if place >= len(text):
            return f"{'…' if start else ''}{text[start:]!r} (it ends there)"
        piece = text[start : place + AROUND]
        return f"{'…' if start else ''}{piece!r}{'…' if place + AROUND < len(text) else ''}"

    return excerpt(found), excerpt(expected), place + 1


def _how_texts_differ(found: str, expected: str) -> str:
    """Return a hint if two texts differ only in something that is hard to see, such as whitespace, else ""."""
    if max(len(found), len(expected)) > _MAX_HINTED:
        return ""
    if found.strip() == expected.strip():
        return ": only the whitespace at the start or end differs"
    if found.split() == expected.split():
        return ": only whitespace differs"
    if found.casefold() == expected.casefold():
        return ": they differ only in upper and lower case"
    if unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", expected):
        return ": the letters look alike but have different character codes (see unicodedata.normalize)"
    return ""
