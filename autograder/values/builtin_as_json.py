"""Plain values as JSON, there and back without loss: sets, bytes, dates, exact numbers, what a generator gives.

They are written as the jail's wire writes them, whose decoder believes nothing: ``{"plain": ["date", 2024, 2, 29]}``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.sandbox.guest.wire import Decoder, Encoder
from autograder.sandbox.guest.wire_limits import MAX_INT_BITS, WireError
from autograder.sandbox.guest.wire_plain import Iterated, UnserializableKeyError, decode_keys, encode_key
from autograder.values.text import PLAIN

__all__ = ["decode_plain_value", "encode_plain_value"]


Code = Callable[[Any], Any]


def encode_plain_value(value: Any, encode: Code) -> dict[str, Any] | None:
    """``value`` as JSON that ``decode_plain_value`` reads back; None for a value that is written in another way.

    What it holds besides plain values, ``encode`` encodes.
    """
    if isinstance(value, Iterated):
        return {"gives": value.type, "more": value.more, "items": [encode(item) for item in value]}
    try:
        if isinstance(value, dict):
            if all(isinstance(key, str) for key in value):
                return None
            return {"pairs": [[encode_key(_encoder(), key, 1), encode(item)] for key, item in value.items()]}
        return {"plain": _encoder()(value)} if _is_written_here(value) else None
    except (UnserializableKeyError, _NoFormError):
        return None


def _is_written_here(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "UMm" and not isinstance(value, str)
    if isinstance(value, int):
        return value.bit_length() > MAX_INT_BITS
    return isinstance(value, PLAIN) and not isinstance(value, str)


def decode_plain_value(data: dict[str, Any], decode: Code) -> Any:
    """The value that was written down; raises ``ValueError`` for anything else."""
    plain = Decoder(b"", _refuse)
    try:
        if "gives" in data:
            return Iterated(map(decode, data["items"]), str(data["gives"]), more=bool(data["more"]))
        if "pairs" in data:
            keys = decode_keys(plain, [key for key, _ in data["pairs"]])
            return dict(zip(keys, [decode(item) for _, item in data["pairs"]], strict=True))
        return plain(data["plain"])
    except WireError as error:
        raise ValueError(f"This is no plain value: {data!r:.80}.") from error


def _encoder() -> Encoder:
    return Encoder(_refused, 0)


class _NoFormError(Exception):
    """A part of a value that has no tree."""


def _refused(value: Any) -> Any:
    raise _NoFormError(type(value).__name__)


def _refuse(_tag: str, _items: list[Any]) -> Any:
    raise WireError("only plain values are written so")
