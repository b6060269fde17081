"""Encode and decode the values sent between the sandbox and its parent: JSON for structure, raw bytes for arrays, no pickle.

Both processes use this module, and neither trusts the other. Every length is checked before it is used. A value
becomes a JSON tree in which scalars represent themselves and every list starts with a tag::

    ["l", …] list   ["t", …] tuple   ["d", [key, value], …] dict   ["c", real, imag] complex
    ["a", dtype, shape] array   ["g", dtype] NumPy scalar   (their bytes follow in the frame, in order)
    ["O", dtype, shape] the numbers of an array of objects
    ["v" or "F" or "R", dtype, shape] array to rebuild with another memory order (see ``in_layout``)
    ["o", type] a value that is not sent, only the name of its type
    ["s", text, name] source text that defines a function
    ["r", seed] a seeded random generator   ["r", state, increment, has_uint32, uinteger] its state
    ["n", name] the notebook's variable of that name
    ["T", parts] a pandas table, column or scalar, decomposed by ``wire_tables``

Longer tags, such as ``["set", …]``, are defined in ``wire_plain``.
A frame is ``<json length: uint32><bytes length: uint64><json><bytes>``.
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
    Json,
    TooBig,
    Value,
    WireError,
    nested_deeper,
)
from .wire_plain import (
    Iterated,
    ObjectArray,
    UnserializableKeyError,
    decode_keys,
    decode_plain,
    encode_key,
    encode_other_array,
    encode_plain,
)
from .wire_tables import TooLarge, from_parts, is_pandas, levels_of, to_parts

__all__ = [
    "ALIGN", "HEADER", "LAYOUTS", "MAX_HEAD", "Decoder", "Encoder", "TooBig", "WireError", "in_layout", "layout_of", "pack",
    "pack_array", "parse_head", "rng_state", "set_rng_state",
]  # fmt: skip

HEADER = struct.Struct("<IQ")
ALIGN = 16
DTYPES = frozenset(np.dtype(code).str for code in "?bBhHiIlLqQefdgFDG")

# Saved here because student code may replace the attributes of these modules.
_dumps = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_loads = json.JSONDecoder().decode
_array, _ndarray, _generic, _frombuffer, _empty = np.array, np.ndarray, np.generic, np.frombuffer, np.empty
_dtype = np.dtype


class Encoder:
    """A callable that converts values to trees and collects the bytes of arrays in ``blobs``.

    A value of an unsupported type is passed to ``special``, which returns its tree, such as ``["o", type]``. With ``layouts``,
    the trees of arrays that are not contiguous record their memory order. Raises ``TooBig`` above ``max_bytes`` or 200,000 parts.
    """

    def __init__(self, special: Callable[[Value], list[Json]], max_bytes: int, *, layouts: bool = False) -> None:
        self.blobs: list[bytes] = []
        self._special, self._layouts = special, layouts
        self._bytes_left, self._parts_left = max_bytes, MAX_NODES

    def __call__(self, value: Value, depth: int = 0) -> Json:
        """Return the tree of ``value``."""
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if issubclass(kind, str):  # including NumPy strings
            return str.__str__(value) if len(value) <= MAX_TEXT else self._special(value)
        if issubclass(kind, (_ndarray, _generic)):
            content = objects_of(value) if value.dtype.kind == "O" and value.size <= MAX_NODES else None
            if content is None:
                return self._encode_array(value, kind)
            if type(content) is not _ndarray:
                return self(content, depth)
            tree = self._encode_array(content, _ndarray)
            return ["O", *tree[1:]] if content.ndim and tree[0] == "a" else tree
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
        """Count ``parts`` towards the limit. Raises ``TooBig`` above 200,000."""
        self._parts_left -= parts
        if self._parts_left < 0:
            raise TooBig(f"it has more than {MAX_NODES:,} parts")

    def _encode_table(self, value: Value, depth: int) -> Json:
        try:
            parts = to_parts(value)
        except TooLarge as error:
            raise TooBig(str(error)) from error
        tree = self(parts, depth + 1)
        return tree if type(parts) is list else ["T", tree]

    def _encode_array(self, value: Value, kind: type) -> Json:
        if value.dtype.kind not in "biufc":
            return encode_other_array(self, value) or self._special(value)
        plain = value
        if kind is not _ndarray or not value.dtype.isnative or not value.flags.c_contiguous:
            # ``subok=False`` takes the base array of a matrix, a masked array or a subclass.
            plain = _array(value, dtype=value.dtype.newbyteorder("="), subok=False, order="C", copy=None)
        code = plain.dtype.str
        if code not in DTYPES:
            return self._special(value)
        self._bytes_left -= plain.nbytes
        if self._bytes_left < 0:
            raise TooBig(f"its arrays are too large in total (this array alone: {plain.nbytes / 2**20:.0f} MiB)")
        raw = plain.tobytes()
        self.blobs.append(raw)
        if padding := -len(raw) % ALIGN:
            self.blobs.append(b"\0" * padding)
        if issubclass(kind, _generic):
            return ["g", code]
        return [(self._layouts and layout_of(value)) or "a", code, list(plain.shape)]


class Decoder:
    """A callable that converts trees back to values, taking the bytes of arrays from ``blob`` in order.

    ``special(tag, items)`` returns the value for the tags ``"o"``, ``"s"``, ``"n"`` and ``"r"``. Arrays are views of ``blob``,
    and writable if ``blob`` is. With ``copy``, every array owns its memory, and ``originals`` lists the copied arrays
    in order (for a table, its parts). Raises ``WireError`` for anything that is not exactly in the expected form.
    """

    def __init__(
        self, blob: bytes | bytearray, special: Callable[[str, list[Json]], Value], *, copy: bool = False
    ) -> None:
        self._blob, self._special, self._copy = blob, special, copy
        self._offset = 0
        self.originals: list[Value] = []

    def __call__(self, tree: Json, depth: int = 0) -> Value:
        """Return the value that ``tree`` describes."""
        if tree is None or type(tree) in (bool, int, float, str):
            if type(tree) is int and tree.bit_length() > MAX_INT_BITS:
                raise WireError("a whole number has too many digits to be sent")
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
        if tag == "O" and len(items) == 2:
            return self._decode_array(*items).view(ObjectArray)
        if tag in LAYOUTS and len(items) == 2 and self._copy:
            self.originals.append(self._decode_array(*items))
            return in_layout(self.originals[-1], tag)
        if tag == "g" and len(items) == 1:
            return self._decode_array(items[0], [])[()]
        if tag == "T" and len(items) == 1:
            return self._decode_table(items[0], depth)
        if tag in ("o", "s", "n") and items and all(type(item) is str for item in items):
            return self._special(tag, items)
        if tag == "r" and len(items) in (1, 4) and all(type(item) is int for item in items):
            return self._special(tag, items)
        if len(tag) > 1:
            return decode_plain(self, tag, items, depth)
        raise WireError("a part of the value has an unknown tag")

    def _decode_dict(self, items: list[Json], depth: int) -> dict[Value, Value]:
        if any(type(pair) is not list or len(pair) != 2 for pair in items):
            raise WireError("a part of a dict is not a pair")
        keys = decode_keys(self, [pair[0] for pair in items])
        return {key: self(tree, depth + 1) for key, (_, tree) in zip(keys, items)}  # noqa: B905 - same length

    def _decode_table(self, tree: Json, depth: int) -> Value:
        known = len(self.originals)
        parts = self(tree, depth + 1)
        try:
            table = from_parts(parts)
            # Record the rebuilt table, not ``parts``, because the parent's pandas may use another dtype for strings.
            self.originals[known:] = [to_parts(table)] if self._copy else []
        except ValueError as error:
            raise WireError(str(error)) from error
        return table

    def _decode_array(self, code: Json, shape: Json) -> Value:
        if type(code) is not str or type(shape) is not list or len(shape) > 32:
            raise WireError("an array has no valid dtype and shape")
        try:
            dtype, sides, count = _form(code, *shape)
        except TypeError as error:  # a side that is not hashable
            raise WireError("an array has no valid shape") from error
        end = self._offset + count * dtype.itemsize
        if end > len(self._blob):
            raise WireError("an array needs more bytes than were sent with it")
        try:
            flat = _frombuffer(self._blob, dtype, count=count, offset=self._offset) if count else _empty(0, dtype)
            result = flat.reshape(sides)
        except (ValueError, OverflowError) as error:
            raise WireError("an array has no valid shape") from error
        self._offset = end + -end % ALIGN
        if dtype.kind == "b":  # bytes other than 0 and 1 would make invalid bools
            return result.view("u1") != 0
        return result


def rng_state(value: Value) -> list[int]:
    """Return the state of a generator of ``np.random.default_rng``, or an empty list for any other value."""
    if type(value) is not np.random.Generator or type(value.bit_generator) is not np.random.PCG64:
        return []
    state: Any = value.bit_generator.state
    return [*state["state"].values(), state["has_uint32"], state["uinteger"]]


def set_rng_state(rng: np.random.Generator, state: list[int]) -> None:
    """Set ``rng`` to a state that ``rng_state`` returned. Raises ``WireError`` for integers that are not such a state."""
    proper = len(state) == 4 and all(type(n) is int and 0 <= n < 2**bits for n, bits in zip(state, (128, 128, 1, 32)))  # noqa: B905
    if not proper or not state[1] & 1:  # with an even increment the numbers soon repeat, so a draw may never end
        raise WireError("the state of a generator is not valid")
    numbers = {"state": state[0], "inc": state[1]}
    rng.bit_generator.state = {"bit_generator": "PCG64", "state": numbers, "has_uint32": state[2], "uinteger": state[3]}


LAYOUTS = ("v", "F", "R")


def layout_of(array: Any) -> str:
    """Return "" for a contiguous array, else how its elements are ordered in memory: one of ``LAYOUTS``."""
    if array.flags.c_contiguous:
        return ""
    return "F" if array.flags.f_contiguous else "R" if min(array.strides) < 0 else "v"


def in_layout(array: Any, layout: str) -> Any:
    """Return a copy of ``array`` with the memory order ``layout``. A value that is not an array is returned as it is.

    "F" is Fortran's order, as in a transpose. "R" has negative strides, as after ``[::-1]``. "v" reverses the axes and leaves gaps
    between the elements, as in a transposed slice with a step.
    """
    if not isinstance(array, np.ndarray):
        return array
    shape, code, backwards = array.shape, array.dtype, slice(None, None, -1)
    if layout == "R":
        result = _empty(shape, code)[(backwards,) * len(shape)]
    elif layout == "F" or not shape:
        result = _empty(shape[::-1], code).T
    else:
        result = _empty((*shape[:0:-1], 2 * shape[0]), code)[..., ::2].T
    result[...] = array
    return result


def objects_of(array: Any) -> Any:
    """Return the content of an array of objects in a form that can be sent, or None if there is no such form.

    Numbers become a numeric array, and a row of arrays becomes a list. Strings and None, with or without numbers, become
    nested lists. Student code often creates such arrays, with ``np.frompyfunc`` or ``np.array([a, b], dtype=object)``.
    """
    items = _array(array, subok=False).ravel().tolist()
    if all(map(_is_number, items)):
        numbers = _array(items) if items else _empty(0)
        return numbers.reshape(array.shape) if numbers.dtype.kind in "biufc" else None
    if array.ndim == 1 and all(type(item) is _ndarray or _is_number(item) for item in items):
        return items
    if array.ndim and all(item is None or type(item) is str or _is_number(item) for item in items):
        return _array(array, subok=False).tolist()
    return None


def _is_number(item: Value) -> bool:
    kind = type(item)
    return kind in (bool, int, float, complex) or (issubclass(kind, _generic) and item.dtype.kind in "biufc")


@lru_cache(maxsize=1024, typed=True)  # typed: 1, 1.0 and True are different here
def _form(code: str, *shape: Json) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Return the dtype, shape and number of elements of an array. Raises ``WireError`` if they are not allowed."""
    if code not in DTYPES:
        raise WireError("an array has a dtype that is not allowed")
    if any(type(n) is not int or not 0 <= n < 2**40 for n in shape):
        raise WireError("an array has no valid shape")
    return _dtype(code), shape, math.prod(shape)


def pack(head: Json, blobs: Sequence[bytes] = ()) -> bytes:
    """Return the frame with ``head``, which must be valid JSON, and ``blobs``. Raises ``TooBig`` above the reader's limit."""
    text = _dumps(head).encode("ascii", "replace")
    if len(text) > MAX_HEAD:
        raise TooBig("its text is too long to be sent")
    return b"".join((HEADER.pack(len(text), sum(map(len, blobs))), text, *blobs))


def pack_array(value: Value, max_bytes: int) -> bytes:
    """Return the same as ``pack({"value": …, "changed": []})`` for an ordinary array, five times as fast, or empty bytes for other values."""
    if type(value) is not _ndarray or not value.flags.c_contiguous or value.nbytes > max_bytes:
        return b""
    code = value.dtype.str
    if code not in DTYPES:
        return b""
    raw = value.tobytes()
    return _array_start(code, value.shape) + raw + b"\0" * (-len(raw) % ALIGN)


@lru_cache(maxsize=256)
def _array_start(code: str, shape: tuple[int, ...]) -> bytes:
    """Return the header and JSON of a frame that returns an array of this dtype and shape."""
    size = math.prod(shape) * _dtype(code).itemsize
    text = _dumps({"value": ["a", code, list(shape)], "changed": []}).encode("ascii")
    return HEADER.pack(len(text), size + -size % ALIGN) + text


def parse_head(raw: bytes | bytearray) -> dict[str, Json]:
    """Return the JSON object of a frame. Raises ``WireError`` if it is invalid, or so large that it would exhaust the reader."""
    if raw.count(b"[") + raw.count(b"{") > 2 * MAX_NODES or raw.count(b",") > 4 * MAX_NODES:
        raise WireError("a frame has too many parts")
    if nested_deeper(raw, MAX_NESTING):
        raise WireError("a frame is nested too deeply")
    try:
        head = _loads(raw.decode("ascii"))
    except ValueError as error:
        raise WireError("a frame is not JSON") from error
    if type(head) is not dict:
        raise WireError("a frame is not an object")
    return head
