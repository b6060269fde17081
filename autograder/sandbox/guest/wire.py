"""How values cross between the two sides: JSON for structure, raw bytes for arrays, never pickle.

Both sides use this module, and neither believes the other: every length is checked before it is used. A value
becomes a JSON tree in which scalars stand for themselves and every list starts with a tag::

    ["l", …] list   ["t", …] tuple   ["d", [key, value], …] dict   ["c", real, imag] complex
    ["a", dtype, shape] array   ["g", dtype] NumPy scalar   (their bytes follow in the frame, in order)
    ["v", dtype, shape] array that is to lie apart in memory, as a transpose or a slice with a step does
    ["o", type] a value that stays where it is
    ["s", text, name] source text that defines a function   ["r", seed] a seeded random generator
    ["n", name] what the notebook has under that name
    ["T", parts] a table, a column, or a single value of pandas, taken apart (see ``wire_tables``)

and every tag that is a word, such as ``["set", …]``, is one of ``wire_plain``. A frame is ``<json length: uint32><bytes length: uint64><json><bytes>``.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .wire_limits import (
    MAX_DEPTH,
    MAX_HEAD,
    MAX_INT_BITS,
    MAX_NESTING,
    MAX_NODES,
    MAX_TEXT,
    TooBig,
    WireError,
    nested_deeper,
)
from .wire_plain import (
    Iterated,
    UnserializableKeyError,
    decode_keys,
    decode_plain,
    encode_key,
    encode_other_array,
    encode_plain,
)
from .wire_tables import TooLarge, from_parts, is_pandas, levels_of, to_parts

__all__ = [
    "ALIGN", "HEADER", "MAX_HEAD", "Decoder", "Encoder", "TooBig", "WireError", "pack", "pack_array", "parse_head",
    "strided",
]  # fmt: skip

HEADER = struct.Struct("<IQ")
ALIGN = 16
DTYPES = frozenset(np.dtype(code).str for code in "?bBhHiIlLqQefdgFDG")

# Kept here under names of our own: a student's code may replace the attributes of these modules.
_dumps = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_loads = json.JSONDecoder().decode
_array, _ndarray, _generic, _frombuffer, _empty = np.array, np.ndarray, np.generic, np.frombuffer, np.empty
_dtype = np.dtype


class Encoder:
    """Turns values into trees, gathering the bytes of arrays in ``blobs``.

    ``special`` gets what has no tree of its own and returns one, ``["o", type]`` for instance. With ``layouts`` an array
    that is not contiguous arrives as one that is not either.
    Raises ``TooBig`` past ``max_bytes`` or past 200,000 parts.
    """

    def __init__(self, special: Callable[[Any], list[Any]], max_bytes: int, *, layouts: bool = False) -> None:
        self.blobs: list[Any] = []
        self._special = special
        self._layouts = layouts
        self._room = max_bytes
        self._nodes = MAX_NODES

    def __call__(self, value: Any, depth: int = 0) -> Any:
        """The tree of ``value``."""
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if issubclass(kind, str):  # NumPy's own texts too
            return str.__str__(value) if len(value) <= MAX_TEXT else self._special(value)
        if issubclass(kind, (_ndarray, _generic)):
            held = objects_of(value) if value.dtype.kind == "O" and value.size <= MAX_NODES else None
            if held is None:
                return self._encode_array(value, kind)
            return self._encode_array(held, _ndarray) if type(held) is _ndarray else self(held, depth)
        if issubclass(kind, int):
            if int.bit_length(value) <= MAX_INT_BITS:
                return int(value)
            return encode_plain(self, value, depth) or self._special(value)
        if issubclass(kind, float):
            return float(value)
        if issubclass(kind, complex):
            return ["c", value.real, value.imag]
        if kind not in (list, tuple, dict) and is_pandas(value) and depth + levels_of(value) <= MAX_DEPTH:
            return self._encode_table(value, depth)
        if depth >= MAX_DEPTH:
            return self._special(value)
        if not issubclass(kind, (list, tuple, dict)) or kind is Iterated:
            return encode_plain(self, value, depth) or self._special(value)
        self.count(len(value))
        if issubclass(kind, dict):
            try:
                return ["d", *[[encode_key(self, key, 1), self(item, depth + 1)] for key, item in value.items()]]
            except UnserializableKeyError:
                return self._special(value)
        return ["l" if issubclass(kind, list) else "t", *[self(item, depth + 1) for item in value]]

    def count(self, parts: int) -> None:
        """Note that so many parts are written down; raises ``TooBig`` past 200,000."""
        self._nodes -= parts
        if self._nodes < 0:
            raise TooBig(f"it has more than {MAX_NODES:,} parts")

    def _encode_table(self, value: Any, depth: int) -> Any:
        try:
            parts = to_parts(value)
        except TooLarge as error:
            raise TooBig(str(error)) from error
        tree = self(parts, depth + 1)
        return tree if type(parts) is list else ["T", tree]

    def _encode_array(self, value: Any, kind: type) -> Any:
        if value.dtype.kind not in "biufc":
            return encode_other_array(self, value) or self._special(value)
        plain = value
        if kind is not _ndarray or not value.dtype.isnative or not value.flags.c_contiguous:
            # ``subok=False`` takes the plain array that lies under a matrix, a masked array or a subclass.
            plain = _array(value, dtype=value.dtype.newbyteorder("="), subok=False, order="C", copy=None)
        code = plain.dtype.str
        if code not in DTYPES:
            return self._special(value)
        self._room -= plain.nbytes
        if self._room < 0:
            raise TooBig(f"its arrays hold more than may be looked at (this one: {plain.nbytes / 2**20:.0f} MiB)")
        raw = plain.tobytes()
        self.blobs.append(raw)
        if short := -len(raw) % ALIGN:
            self.blobs.append(b"\0" * short)
        if issubclass(kind, _generic):
            return ["g", code]
        return ["v" if self._layouts and not value.flags.c_contiguous else "a", code, list(plain.shape)]


class Decoder:
    """Turns trees back into values, taking the bytes of arrays from ``blob`` in order.

    ``special(tag, items)`` answers for the tags ``"o"``, ``"s"``, ``"n"`` and ``"r"``; with ``copy`` every array owns its memory,
    and ``originals`` holds what each was copied from, in order (of a table, its parts); else arrays are views of ``blob``, and as writable as it is. Raises ``WireError`` for anything that is not exactly as it should be.
    """

    def __init__(
        self, blob: bytes | bytearray, special: Callable[[str, list[Any]], Any], *, copy: bool = False
    ) -> None:
        self._blob = blob
        self._special = special
        self._copy = copy
        self._at = 0
        self.originals: list[Any] = []

    def __call__(self, tree: Any, depth: int = 0) -> Any:
        """The value that ``tree`` describes."""
        if tree is None or type(tree) in (bool, int, float, str):
            if type(tree) is int and tree.bit_length() > MAX_INT_BITS:
                raise WireError("a whole number has more digits than may cross")
            return tree
        if type(tree) is not list or not tree or type(tree[0]) is not str or depth > MAX_DEPTH:
            raise WireError("a part of the value is not a tagged list")
        tag, items = tree[0], tree[1:]
        if tag == "l":
            return [self(item, depth + 1) for item in items]
        if tag == "t":
            return tuple(self(item, depth + 1) for item in items)
        if tag == "d":
            return self._decode_dict(items, depth)
        if tag == "c" and len(items) == 2 and all(type(part) in (int, float) for part in items):
            return complex(*map(self, items))
        if tag == "a" and len(items) == 2:
            array = self._decode_array(*items)
            if not self._copy:
                return array
            self.originals.append(array)
            return array.copy()
        if tag == "v" and len(items) == 2 and self._copy:
            self.originals.append(self._decode_array(*items))
            return strided(self.originals[-1])
        if tag == "g" and len(items) == 1:
            return self._decode_array(items[0], [])[()]
        if tag == "T" and len(items) == 1:
            return self._decode_table(items[0], depth)
        if tag in ("o", "s", "n") and items and all(type(item) is str for item in items):
            return self._special(tag, items)
        if tag == "r" and len(items) == 1 and type(items[0]) is int:
            return self._special(tag, items)
        if len(tag) > 1:
            return decode_plain(self, tag, items, depth)
        raise WireError("a part of the value has an unknown tag")

    def _decode_dict(self, items: list[Any], depth: int) -> dict[Any, Any]:
        result = {}
        for pair in items:
            if type(pair) is not list or len(pair) != 2:
                raise WireError("a part of a dict is not a pair")
        for key, (_, tree) in zip(decode_keys(self, [pair[0] for pair in items]), items):  # noqa: B905 - as many
            result[key] = self(tree, depth + 1)
        return result

    def _decode_table(self, tree: Any, depth: int) -> Any:
        known = len(self.originals)
        parts = self(tree, depth + 1)
        try:
            table = from_parts(parts)
            # A table is one thing that a call may change. Another pandas may make another dtype of its texts than was sent.
            self.originals[known:] = [to_parts(table)] if self._copy else []
        except ValueError as error:
            raise WireError(str(error)) from error
        return table

    def _decode_array(self, code: Any, shape: Any) -> Any:
        if type(code) is not str or type(shape) is not list or len(shape) > 32:
            raise WireError("an array has no proper dtype and shape")
        try:
            dtype, sides, count = _form(code, *shape)
        except TypeError as error:  # a side that cannot even be looked up
            raise WireError("an array has no proper shape") from error
        end = self._at + count * dtype.itemsize
        if end > len(self._blob):
            raise WireError("an array is longer than the bytes that came with it")
        try:
            flat = _frombuffer(self._blob, dtype, count=count, offset=self._at) if count else _empty(0, dtype)
            result = flat.reshape(sides)
        except (ValueError, OverflowError) as error:
            raise WireError("an array has no proper shape") from error
        self._at = end + -end % ALIGN
        if dtype.kind == "b":  # a byte that is neither 0 nor 1 would make a bool that is neither
            return result.view("u1") != 0
        return result


def strided(array: Any) -> Any:
    """The same numbers in an array that is not contiguous: its axes lie in the opposite order, and with gaps between them."""
    if array.ndim == 0:
        return array.copy()
    turned = array.T
    apart = _empty((*turned.shape[:-1], 2 * turned.shape[-1]), array.dtype)[..., ::2].T
    apart[...] = array
    return apart


def objects_of(array: Any) -> Any:
    """What an array of objects comes to: numbers are the array of them, a row of arrays is their list; else ``None``.

    Texts and None, numbers among them or not, are lists of them. ``np.frompyfunc`` and ``np.array([a, b], dtype=object)`` make
    such arrays out of honest values.
    """
    items = _array(array, subok=False).ravel().tolist()
    if all(map(_is_number, items)):
        held = _array(items) if items else _empty(0)
        return held.reshape(array.shape) if held.dtype.kind in "biufc" else None
    if array.ndim == 1 and all(type(item) is _ndarray or _is_number(item) for item in items):
        return items
    if array.ndim and all(item is None or type(item) is str or _is_number(item) for item in items):
        return _array(array, subok=False).tolist()
    return None


def _is_number(item: Any) -> bool:
    kind = type(item)
    return kind in (bool, int, float, complex) or (issubclass(kind, _generic) and item.dtype.kind in "biufc")


@lru_cache(maxsize=1024, typed=True)  # typed: 1, 1.0 and True are three things here
def _form(code: str, *shape: Any) -> tuple[Any, tuple[int, ...], int]:
    """The dtype, shape and number of elements of an array, checked."""
    if code not in DTYPES:
        raise WireError("an array has a dtype that may not cross")
    if any(type(n) is not int or not 0 <= n < 2**40 for n in shape):
        raise WireError("an array has no proper shape")
    return _dtype(code), shape, math.prod(shape)


def pack(head: Any, blobs: Sequence[Any] = ()) -> bytes:
    """The frame of a JSON-able ``head`` and the bytes that belong to it; raises ``TooBig`` over the readers' cap."""
    text = _dumps(head).encode("ascii", "replace")
    if len(text) > MAX_HEAD:
        raise TooBig("it takes more text to write down than may be sent")
    return b"".join((HEADER.pack(len(text), sum(map(len, blobs))), text, *blobs))


def pack_array(value: Any, max_bytes: int) -> bytes:
    """``pack({"value": …, "changed": []})`` of a plain array, which most answers are, in a fifth of the time; empty for others."""
    if type(value) is not _ndarray or not value.flags.c_contiguous or value.nbytes > max_bytes:
        return b""
    code = value.dtype.str
    if code not in DTYPES:
        return b""
    raw = value.tobytes()
    return _array_start(code, value.shape) + raw + b"\0" * (-len(raw) % ALIGN)


@lru_cache(maxsize=256)
def _array_start(code: str, shape: tuple[int, ...]) -> bytes:
    """What a frame that answers with such an array begins with."""
    size = math.prod(shape) * _dtype(code).itemsize
    text = _dumps({"value": ["a", code, list(shape)], "changed": []}).encode("ascii")
    return HEADER.pack(len(text), size + -size % ALIGN) + text


def parse_head(raw: bytes | bytearray) -> dict[str, Any]:
    """The JSON object of a frame; raises ``WireError`` where it is none, or one made to exhaust the reader."""
    if raw.count(b"[") + raw.count(b"{") > 2 * MAX_NODES or raw.count(b",") > 4 * MAX_NODES:
        raise WireError("a frame has too many parts")
    if nested_deeper(raw, MAX_NESTING):
        raise WireError("a frame is nested too deep")
    try:
        head = _loads(raw.decode("ascii"))
    except ValueError as error:
        raise WireError("a frame is not JSON") from error
    if type(head) is not dict:
        raise WireError("a frame is not an object")
    return head
