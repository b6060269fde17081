"""How deep lists and objects are nested in JSON, found before it is read.

Readers of JSON call themselves once a level, and how many levels that bears differs between versions of Python: what comes
from a student is held to a limit of our own, far below that of any interpreter.
"""

from __future__ import annotations

from itertools import accumulate

__all__ = ["nested_deeper"]

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
