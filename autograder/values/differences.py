"""How two plain values differ, as a sentence: the place, what is there, and what is right."""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire_limits import MAX_INT_BITS
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.values.text import MAX_WORD, label, listed, plain_kind, source, text_excerpt

__all__ = [
    "Difference",
    "inline_value",
    "line_difference",
    "lines_difference",
    "mismatch_message",
    "missing_and_extra",
    "text_difference",
    "wrong_plain_type",
]  # fmt: skip

Path = tuple[tuple[str, Any], ...]

_MAX_TOLD = 10_000  # characters of a text of which more is told than where it differs: putting accents in order takes the square


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two values first differ: the ``path`` to that part, what is wrong there, and the two parts.

    ``clause`` completes the sentence that the path begins; ``alone`` stands in its place where the whole value is meant.
    """

    clause: str
    kind: str
    found: Any
    right: Any
    path: Path = ()
    alone: str = ""

    def within(self, kind: str, key: Any) -> Difference:
        """The same, of a value that holds this one at ``key``."""
        return replace(self, path=((kind, key), *self.path))

    def sentence(self, what: str = "it") -> str:
        """What is wrong, as a student reads it."""
        places = [_place(kind, key) for kind, key in self.path]
        text = " ".join([", ".join(places), self.clause]) if places else self.alone or self.clause
        if what != "it":
            text = f"{what}: {text}" if places or not self.alone else f"{what} {text.removeprefix('it ')}"
        return text[0].upper() + text[1:]

    def subscripts(self) -> str:
        """The path as Python writes it: ``[2]['be']``; empty where it leads through what has no places."""
        if any(kind not in {"list", "tuple", "dictionary"} for kind, _ in self.path):
            return ""
        return "".join(f"[{source(key)}]" for _, key in self.path)


def _place(kind: str, key: Any) -> str:
    if kind == "dictionary":
        return f"at the key {shorten(source(key), MAX_WORD)}"
    return f"at place {key + 1} of the {kind}" if kind != "array" else f"at index {list(key)}"


def line_difference(found: str, right: str) -> Difference:
    """Where two texts first differ, and what alone does where that is hard to see."""
    hint = _how_texts_differ(found, right) if max(len(found), len(right)) <= _MAX_TOLD else ""
    if max(len(found), len(right)) <= MAX_WORD:
        return mismatch_message(found, right, hint)
    left, should, place = text_excerpt(found, right)
    clause = f"the string differs from character {place:,} on: {left} where {should} is right{hint}."
    return Difference(clause, "values", found, right)


def text_difference(found: str, right: str) -> tuple[str, str, str]:
    """Two lines as a sentence has them: whole or, where they are long, around the first difference; and what alone differs."""
    hint = _how_texts_differ(found, right)
    if max(len(found), len(right)) <= MAX_WORD:
        return source(found), source(right), hint
    return (*text_excerpt(found, right)[:2], hint)


def lines_difference(found: str, right: str) -> Difference:
    """Where two texts of several lines first differ."""
    own, lines = found.splitlines(keepends=True), right.splitlines(keepends=True)
    place = next((i for i, (a, b) in enumerate(zip(own, lines, strict=False)) if a != b), None)
    if place is None:
        counts = f"the string has {len(own)} line{'' if len(own) == 1 else 's'} where {len(lines)} {'is' if len(lines) == 1 else 'are'} right"
        longer, what = (lines, "is missing") if len(own) < len(lines) else (own, "is too many")
        place = min(len(own), len(lines))
        return Difference(f"{counts}: line {place + 1}, {inline_value(longer[place])}, {what}.", "length", found, right)
    bare = own[place].rstrip("\r\n"), lines[place].rstrip("\r\n")
    left, should = bare if bare[0] != bare[1] else (own[place], lines[place])
    clause = line_difference(left, should).clause.replace("the string", "it", 1)
    return Difference(f"in line {place + 1} of the string {clause}", "values", found, right)


def inline_value(value: Any) -> str:
    """A value in the middle of a sentence: written out where it is short, else what it is."""
    text = source(value)
    if len(text) <= (
        MAX_WORD if isinstance(value, str | bytes | list | tuple | dict | set | frozenset) else 2 * MAX_WORD
    ):
        return text
    if isinstance(value, int):
        return f"{text[:20]}…{text[-20:]} ({len(text):,} digits)"
    if isinstance(value, list | tuple | dict) and not isinstance(value, Iterated):
        return f"a {'dictionary' if isinstance(value, dict) else type(value).__name__} of {len(value):,} item{'' if len(value) == 1 else 's'}"
    return plain_kind(value) or shorten(text, MAX_WORD)


def mismatch_message(found: Any, right: Any, hint: str = "") -> Difference:
    """One value where another is right; where the two look alike, or are of different types, these are said."""
    left, should = inline_value(found), inline_value(right)
    if all(isinstance(value, int | float) for value in (found, right)) and any(
        isinstance(value, float) for value in (found, right)
    ):
        left, should = _digits(found, right)
    kinds = label(found, right), label(right, found)
    if isinstance(found, dt.datetime) and isinstance(right, dt.datetime) and kinds[0] == kinds[1] and found == right:
        hint = ": the same moment in another time zone"
    if (kinds[0] != kinds[1] and all(kinds)) or left == should:
        left, should = (
            f"{text} ({kind})" if kind and kind not in text else text
            for text, kind in zip((left, should), kinds, strict=True)
        )
    clause = f"is {left} where {should} is right{hint}."
    return Difference(
        f"there {clause}", "values" if kinds[0] == kinds[1] else "type", found, right, alone=f"it {clause}"
    )


def _digits(found: float, right: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart."""
    if any(isinstance(value, int) and value.bit_length() > MAX_INT_BITS for value in (found, right)):
        return inline_value(found), inline_value(right)
    pairs = ((f"{found:.{digits}g}", f"{right:.{digits}g}") for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (repr(found), repr(right)))


def wrong_plain_type(found: Any, asked: str, right: Any) -> Difference:
    """One value of another type than what is ``asked`` for."""
    what = (
        inline_value(found)
        if isinstance(found, str | bytes | int | float | None | list | tuple | set | frozenset | dict)
        else ""
    )
    name = label(found) or plain_kind(found) or source(found)
    what = f", {what}" if what and what != name and len(what) <= MAX_WORD else ""
    clause = f"is {name}{what}; {asked} is asked for."
    return Difference(f"there {clause}", "type", found, right, alone=f"it {clause}")


def missing_and_extra(whole: str, missing: Sequence[Any], extra: Sequence[Any], key: str, found: Any) -> str:
    """Which parts a whole lacks, and which it has besides, as the rest of a sentence."""
    if not len(found):
        return f"{whole} is empty; it should have {listed(missing)}."
    many = "s" if key else ""
    besides = (
        f"has{key}{many * (len(extra) > 1)} {listed(extra)}, which {'does' if len(extra) == 1 else 'do'} not belong there"
        if extra
        else ""
    )
    if not missing:
        return f"{whole} {besides}."
    lacks = f"{whole} lacks{key}{many * (len(missing) > 1)} {listed(missing)}"
    return f"{lacks}, and {besides}." if extra else f"{lacks}."


def _how_texts_differ(found: str, right: str) -> str:
    """What alone tells two texts apart, where that is hard to see."""
    if found.strip() == right.strip():
        return ": only the white space at the start or the end differs"
    if found.split() == right.split():
        return ": only white space differs"
    if found.casefold() == right.casefold():
        return ": only capital and small letters differ"
    if unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", right):
        return ": the letters look alike, and are put together in another way (see unicodedata.normalize)"
    return ""
