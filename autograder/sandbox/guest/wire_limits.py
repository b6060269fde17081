"""Limits of what crosses between the two sides, and the errors raised when something exceeds one."""

from __future__ import annotations

from itertools import accumulate

__all__ = [
    "MAX_BIG_BITS", "MAX_COLLISIONS", "MAX_DEPTH", "MAX_HEAD", "MAX_INT_BITS", "MAX_ITEMS", "MAX_NESTING",
    "MAX_NODES", "MAX_TEXT", "TooBig", "WireError", "nested_deeper",
]  # fmt: skip


MAX_HEAD = 4 << 20
MAX_DEPTH = 12
MAX_NESTING = 64  # of a frame's JSON: a value of the depth above takes half of it
MAX_NODES = 200_000
MAX_TEXT = 1 << 20
MAX_INT_BITS = 1023  # what a float can hold as well: any larger one fails wherever it meets an array
MAX_BIG_BITS = 14_000  # of the largest whole number: 4,215 digits, as Python by itself writes out no more than 4,300
MAX_ITEMS = 1000  # that are asked of a generator: it may have no end
MAX_COLLISIONS = 50  # keys of one hash: looking them up takes the square of their number


class WireError(ValueError):
    """Bytes that are no frame, or a tree that describes no value."""


class TooBig(ValueError):  # noqa: N818 - people read it in a message, where it says what it is
    """A value with more bytes or more parts than may cross."""


_BRACKETS = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes({*range(256)} - {*b'[]{}"'})
_STEPS = {ord("["): 1, ord("]"): -1}
_USUAL = 8  # levels of an honest notebook or answer: so many are peeled off, which is faster than counting


def nested_deeper(text: bytes | bytearray, limit: int) -> bool:
    """Whether the JSON ``text`` nests lists and objects more than ``limit`` (at least 8) deep; takes time in proportion to it."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    # Without escaped backslashes and quotes, every second part between quotes is a string's content.
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(_BRACKETS, _OTHERS)
    brackets = b"".join(plain.split(b'"')[::2])
    for _ in range(_USUAL):
        brackets = brackets.replace(b"[]", b"")  # the innermost level
    return _USUAL + max(accumulate(map(_STEPS.__getitem__, brackets)), default=-_USUAL) > limit
