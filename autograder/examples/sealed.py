"""What lies in an examples file but is not to be read by accident: a solution, before the exercise is done.

This is a courtesy and no wall: whoever reads this module can open everything that it closes. What must not be read in any
case, such as a solution before a class has handed in, is not put into the file at all. The standard library only.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

__all__ = ["opened", "seal"]

_BLOCK = 32  # bytes of a SHA-256
_LARGEST = 2**22  # bytes that what is sealed may unpack to


def seal(value: Any, name: str) -> str:
    """``value``, anything that JSON can hold, as a text in which nothing of it can be read; ``name`` is what it belongs to."""
    packed = zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 9)
    return base64.b85encode(_covered(packed, name)).decode()


def opened(text: str, name: str) -> Any:
    """What was sealed; raises ``ValueError`` for a text that is damaged or belongs to something else."""
    try:
        unpacking = zlib.decompressobj()
        return json.loads(unpacking.decompress(_covered(base64.b85decode(text), name), _LARGEST))
    except zlib.error as error:
        raise ValueError(f"what is sealed for {name} is damaged") from error


def _covered(data: bytes, name: str) -> bytes:
    """``data`` with a stream of bytes that follows from ``name`` over it; done twice, it is what it was."""
    blocks = range(-(-len(data) // _BLOCK))
    stream = b"".join(hashlib.sha256(f"{name}/{block}".encode()).digest() for block in blocks)
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))
