"""Limits on the data sent between the sandbox and its parent, and the errors raised when data exceeds a limit."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, TypeAlias

__all__ = [
    "MAX_BIG_BITS", "MAX_COLLISIONS", "MAX_DEPTH", "MAX_HEAD", "MAX_INT_BITS", "MAX_ITEMS", "MAX_NESTING",
    "MAX_NODES", "MAX_TEXT", "Json", "TooBig", "Value", "WireError", "nested_deeper",
]  # fmt: skip

Value: TypeAlias = Any  # any value that a student's or an author's code may return
Json: TypeAlias = Any  # decoded JSON that has not been checked yet

MAX_HEAD = 4 << 20  # bytes of a frame's JSON
MAX_DEPTH = 12
MAX_NESTING = 64  # levels of a frame's JSON, twice as many as a value of MAX_DEPTH needs
MAX_NODES = 200_000
MAX_TEXT = 1 << 20
MAX_INT_BITS = 1023  # bits of the largest integer that converts to a float, so that arithmetic with arrays works
MAX_BIG_BITS = 14_000  # 4,215 digits: Python refuses to print integers of more than 4,300 digits
MAX_ITEMS = 1000  # items taken from an iterator, which may be endless
MAX_COLLISIONS = 50  # keys with the same hash: the time to look them up grows with the square of their number


class WireError(ValueError):
    """Raised for bytes that are not a valid frame, or a tree that does not describe a value."""


class TooBig(ValueError):  # noqa: N818 - its name is shown in messages
    """Raised for a value with too many bytes or too many parts to be sent."""


_BRACKETS = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes({*range(256)} - {*b'[]{}"'})
_STEPS = {ord("["): 1, ord("]"): -1}
_USUAL = 8  # levels in an ordinary notebook or result: removing these first is faster than counting


def nested_deeper(text: bytes | bytearray, limit: int) -> bool:
    """Return whether the JSON ``text`` nests lists and objects more than ``limit`` (at least 8) deep, in linear time."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    # Once escaped backslashes and quotes are removed, every second part between quotes is the content of a string.
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(_BRACKETS, _OTHERS)
    brackets = b"".join(plain.split(b'"')[::2])
    for _ in range(_USUAL):
        brackets = brackets.replace(b"[]", b"")  # remove the innermost level
    return _USUAL + max(accumulate(map(_STEPS.__getitem__, brackets)), default=-_USUAL) > limit
