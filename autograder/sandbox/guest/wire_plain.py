"""Encode and decode further built-in values: sets, bytes, dates, exact numbers and the items of iterators.

Each tree is a list that starts with a tag::

    ["set", …] ["frozenset", …]      members
    ["bytes", base64] ["bytearray", base64]
    ["int", hexadecimal]             an integer too large for a float
    ["decimal", text] ["fraction", numerator, denominator] ["range", start, stop, step]
    ["date", year, month, day] ["timedelta", days, seconds, microseconds]
    ["time", hour, …, microsecond, fold, zone] ["datetime", year, …, microsecond, fold, zone]
    ["offset", days, seconds, microseconds, name] ["zone", key]    time zones
    ["gives", type, more, …]         the items of an iterator, and whether there are more
    ["texts", shape, …] ["times", dtype, shape, …]     arrays of strings, and of dates or time spans

Only exact types of the standard library are sent. No code of a student's class runs in the parent.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import itertools
import math
import operator
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol, Self

import numpy as np

from .wire_limits import MAX_BIG_BITS, MAX_COLLISIONS, MAX_ITEMS, Json, TooBig, Value, WireError

__all__ = [
    "Iterated", "ObjectArray", "UnserializableKeyError", "decode_keys", "decode_plain", "encode_key", "encode_other_array",
    "encode_plain", "is_key", "materialize_iterators", "named_zone", "opaque_tree", "zone_names", "zone_of",
]  # fmt: skip

# Saved here because student code may replace the attributes of these modules.
_date, _datetime, _time, _timedelta = dt.date, dt.datetime, dt.time, dt.timedelta
_timezone, _ndarray = dt.timezone, np.ndarray
_islice, _deque, _sorted, _repr, _is = itertools.islice, deque, sorted, repr, operator.is_
_VIEWS = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
_BUILTIN = {
    kind.__name__: kind
    for kind in (list, tuple, dict, set, frozenset, range, str, bytes, map, filter, zip, enumerate, reversed, deque)
} | {kind.__name__: kind for kind in (*_VIEWS, _ndarray, type(_ for _ in ()))}
_KEYS = (type(None), bool, int, float, str, complex, bytes, _date, _datetime, _time, _timedelta, _timezone, range)
_DECIMAL = re.compile(r"-?(?:\d{1,2000}(?:\.\d{0,2000})?(?:E[+-]\d{1,4})?|Infinity|NaN)")
# The names that ``zone_names`` may contain. A child does not read that list, because it takes longer than most notebooks.
_ZONE = re.compile(r"(?!posix|right/|localtime)[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,3}")
_TIMES = re.compile(r"<[Mm]8(?:\[(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?")
_NAT = -(2**63)  # the integer that represents NumPy's NaT
_BITS_OF_A_LENGTH = 62  # bits of a range's ends, so that Python can compute its length
MAX_CHARACTERS = 4 << 20  # characters of an array of strings, in which each string takes as much space as the longest

Decode = Callable[..., Value]


class Encode(Protocol):
    """The interface of ``wire.Encoder``."""

    def __call__(self, value: Value, depth: int = 0, /) -> Json:
        """Return the tree of ``value``."""

    def count(self, parts: int) -> None:
        """Count ``parts`` towards the limit."""


class ObjectArray(np.ndarray):
    """The numbers of an array of dtype object, as an array of their own dtype."""


class Iterated(tuple[Value, ...]):  # noqa: SLOT001 - a subclass of tuple cannot have slots
    """The first items of an iterator, with the name of its ``type`` and whether there are ``more``.

    ``again`` returns the same iterator with far more of its items, or is None if they are not available. ``known`` is the result of ``again``.
    """

    type: str
    more: bool
    again: Callable[[], Iterated] | None = None
    known: Iterated | None = None

    def all_items(self) -> Iterated:
        """Return the iterator with as many of its items as are available."""
        if self.more and self.again is not None and self.known is None:
            self.known = self.again()
        return self.known or self

    def __new__(cls, items: Iterable[Value], type: str = "generator", *, more: bool = False) -> Self:  # noqa: A002
        """Create a tuple of the first ``items`` of an iterator with this ``type`` name."""
        self = super().__new__(cls, items)
        self.type, self.more = type, more
        return self


def opaque_tree(value: Value) -> list[Json]:
    """Return the tree of a value that cannot be sent: only the name of its type."""
    kind = type(value)
    name = kind.__name__
    if issubclass(kind, _ndarray):
        name = f"{name} of dtype {value.dtype}"
    elif issubclass(kind, (dict, set, frozenset)):
        bad_key = _bad_key_type(tuple(value))
        name = f"{name} with {bad_key} in a {'key' if issubclass(kind, dict) else 'member'}" if bad_key else name
    return ["o", name[:200]]


def _bad_key_type(keys: Iterable[Value]) -> str:
    """Return the name of the type of the first of ``keys`` that cannot be a key, or ``""`` if all can. In tuples and frozensets, search the items."""
    for key in keys:
        if not is_key(key):
            return _bad_key_type(key) if type(key) in (tuple, frozenset) else type(key).__name__
    return ""


def is_key(value: Value) -> bool:
    """Return whether ``value`` can be a dict key or a set member: an immutable built-in value, or a tuple of them."""
    kind = type(value)
    if kind is tuple or kind is frozenset:
        return all(map(is_key, value))
    return kind in _KEYS or _module_of(kind) in ("decimal", "fractions", "zoneinfo") or issubclass(kind, str)


def _module_of(kind: type) -> Any:
    """Return the module of a class. A class created in a namespace without ``__name__`` has none."""
    return getattr(kind, "__module__", "")


def materialize_iterators(value: Value, depth: int = 0) -> Value:
    """Return ``value`` with each iterator in it replaced with its items, so that reading the result runs no student code.

    The parts of a list, tuple or dict are only searched if there are at most a thousand.
    """
    kind = type(value)
    if kind is _ndarray or kind in _KEYS:
        return value
    if kind in (list, tuple) and depth < 6 and len(value) <= MAX_ITEMS:
        items = [materialize_iterators(item, depth + 1) for item in value]
        return value if all(map(_is, items, value)) else kind(items)
    if kind is dict and depth < 6 and len(value) <= MAX_ITEMS:
        items = [materialize_iterators(item, depth + 1) for item in value.values()]
        return value if all(map(_is, items, value.values())) else dict(zip(value, items))  # noqa: B905 - same length
    return value if issubclass(kind, _ndarray) else _items_of(value) or value


def _items_of(value: Value) -> Iterated | None:
    """Return the first items of an iterator, or None if ``value`` is not an iterator."""
    kind = type(value)
    name = kind.__name__[:200] if kind.__name__.isprintable() else "iterator"
    if _BUILTIN.get(name, kind) is not kind:
        name = f"class {name}"  # a student's class may be called list without being one
    if kind in _VIEWS or kind is _deque:
        return Iterated(value, name)
    if not hasattr(kind, "__next__"):
        return None
    items = list(_islice(value, MAX_ITEMS + 1))
    return Iterated(items[:MAX_ITEMS], name, more=len(items) > MAX_ITEMS)


def encode_plain(encode: Encode, value: Value, depth: int) -> Json:
    """Return the tree of ``value``, encoding its parts with ``encode``, or None if this module has no tag for it."""
    kind = type(value)
    if issubclass(kind, int):
        return ["int", f"{int(value):x}"] if int.bit_length(value) <= MAX_BIG_BITS else None
    if issubclass(kind, (set, frozenset)):
        return _encode_members(encode, value, depth)
    if kind is bytes or kind is bytearray:
        return [kind.__name__, base64.b64encode(value).decode("ascii")]
    if kind is range:
        parts = [value.start, value.stop, value.step]
        return ["range", *map(encode, parts)] if max(map(int.bit_length, parts)) <= _BITS_OF_A_LENGTH else None
    if issubclass(kind, (_date, _time, _timedelta, dt.tzinfo)):
        return _encode_time(value)
    if _module_of(kind) in ("decimal", "fractions"):
        return _encode_exact(encode, value)
    items = value if kind is Iterated else _items_of(value)
    if items is None:
        return None
    encode.count(len(items))
    return ["gives", items.type, items.more, *[encode(item, depth + 1) for item in items]]


def encode_key(encode: Encode, value: Value, depth: int) -> Json:
    """Return the tree of a dict key or set member. Raises ``UnserializableKeyError`` if the reader could not use it as a key."""
    kind = type(value)
    plain = value.item() if issubclass(kind, np.generic) else value
    if kind is not bool and issubclass(kind, int):  # such as an IntEnum member
        plain = int(value)
    elif issubclass(kind, float):
        plain = float(value)
    if plain is None or type(plain) in (bool, float):
        return plain
    tree = encode(plain, depth) if is_key(plain) else ["o"]
    if type(tree) is list and _has_opaque_part(tree):
        raise UnserializableKeyError
    return tree


class UnserializableKeyError(Exception):
    """Raised for a key that cannot be sent, so that its container cannot be sent either."""


def _has_opaque_part(tree: list[Json]) -> bool:
    return tree[0] == "o" or any(type(part) is list and _has_opaque_part(part) for part in tree)


def _encode_members(encode: Encode, value: Value, depth: int) -> Json:
    encode.count(len(value))
    try:
        trees = [encode_key(encode, item, depth + 1) for item in value]
    except UnserializableKeyError:
        return None
    # Sorted, so that equal sets give equal bytes whatever their hashes are.
    return ["frozenset" if issubclass(type(value), frozenset) else "set", *_sorted(trees, key=_repr)]


def _encode_time(value: Value) -> Json:
    kind = type(value)
    if kind is _date:
        return ["date", value.year, value.month, value.day]
    if kind is _timedelta:
        return ["timedelta", value.days, value.seconds, value.microseconds]
    if kind is _timezone or _module_of(kind) == "zoneinfo":
        return _encode_zone(value)
    if kind not in (_datetime, _time):
        return None
    zone = None if value.tzinfo is None else _encode_zone(value.tzinfo)
    if zone is None and value.tzinfo is not None:
        offset = value.utcoffset()
        if offset is None:
            return None
        # Times are compared by their offset, so the zone's name in another library is not needed
        zone = _encode_zone(_timezone(offset))
    day = [value.year, value.month, value.day] if kind is _datetime else []
    parts = [value.hour, value.minute, value.second, value.microsecond, value.fold, zone]
    return ["datetime" if day else "time", *day, *parts]


def _encode_zone(zone: Value) -> Json:
    if type(zone) is _timezone:
        offset = zone.utcoffset(None)
        return ["offset", offset.days, offset.seconds, offset.microseconds, zone.tzname(None)[:100]]
    key = getattr(zone, "key", None)
    named = _module_of(type(zone)) == "zoneinfo" and type(key) is str and _ZONE.fullmatch(key)
    return ["zone", key] if named else None


def _encode_exact(encode: Encode, value: Value) -> Json:
    kind = type(value)
    exact, fractions = sys.modules.get("decimal"), sys.modules.get("fractions")
    if exact is not None and kind is exact.Decimal:
        text = str(value)
        return ["decimal", text] if len(text) <= 2000 and _DECIMAL.fullmatch(text) else None
    if fractions is not None and kind is fractions.Fraction:
        parts = [value.numerator, value.denominator]
        return ["fraction", *map(encode, parts)] if max(map(int.bit_length, parts)) <= MAX_BIG_BITS else None
    return None


def encode_other_array(encode: Encode, value: Value) -> Json:
    """Return the tree of an array or NumPy scalar of strings, dates or time spans, or None for other values."""
    kind = value.dtype.kind
    if kind not in "UMm":
        return None
    plain = np.array(value, subok=False)
    encode.count(plain.size)
    shape = [int(n) for n in plain.shape]
    if kind == "U":
        if plain.size * plain.dtype.itemsize // 4 > MAX_CHARACTERS:
            raise TooBig("its strings are too long to be checked")
        return ["texts", shape, *plain.ravel().tolist()]
    code = plain.dtype.newbyteorder("<").str
    if not _TIMES.fullmatch(code):
        return None
    numbers = plain.astype(plain.dtype.newbyteorder("=")).view(np.int64)
    return ["times", code, None if isinstance(value, np.generic) else shape, *numbers.ravel().tolist()]


def decode_plain(decode: Decode, tag: str, items: list[Json], depth: int) -> Value:
    """Return the value of a tree with a tag of this module. Raises ``WireError`` if it is not exactly in the expected form."""
    read = _READERS.get(tag)
    if read is None:
        raise WireError("a part of the value has an unknown tag")
    try:
        return read(decode, items, depth)
    except WireError:
        raise
    except (TypeError, ValueError, OverflowError, IndexError, ArithmeticError) as error:
        raise WireError(f"a part of the value is not a {tag}") from error


def decode_keys(decode: Decode, trees: Sequence[Json]) -> list[Value]:
    """Return dict keys or set members. Raises ``WireError`` if a key is mutable, or if too many keys have the same hash."""
    keys = [decode(tree, 1) for tree in trees]
    if not all(map(is_key, keys)):
        raise WireError("a key is mutable")
    if len(keys) > MAX_COLLISIONS and max(Counter(map(hash, keys)).values()) > MAX_COLLISIONS:
        raise WireError("the keys are chosen to make lookups slow")
    return keys


def _whole(*items: Json) -> list[int]:
    if not all(type(item) is int for item in items):
        raise WireError("a part of the value is not a whole number")
    return list(items)


def _bytes(_decode: Decode, items: list[Json], _depth: int) -> bytes:
    [text] = items
    if type(text) is not str:
        raise WireError("bytes are not written as a string")
    try:
        return binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except (binascii.Error, UnicodeError) as error:
        raise WireError("bytes are not valid base64") from error


def _int(_decode: Decode, items: list[Json], _depth: int) -> int:
    [text] = items
    if type(text) is not str or not re.fullmatch(r"-?[0-9a-f]{1,3501}", text):
        raise WireError("a whole number has an invalid form")
    number = int(text, 16)
    if number.bit_length() > MAX_BIG_BITS:
        raise WireError("a whole number has too many digits to be sent")
    return number


def _ints(decode: Decode, items: list[Json]) -> list[int]:
    return _whole(*map(decode, items))


def _decimal(_decode: Decode, items: list[Json], _depth: int) -> Any:
    from decimal import Decimal  # noqa: PLC0415 - few courses use it

    [text] = items
    if type(text) is not str or len(text) > 2000 or not _DECIMAL.fullmatch(text):
        raise WireError("a decimal number has an invalid form")
    return Decimal(text)


def _fraction(decode: Decode, items: list[Json], _depth: int) -> Any:
    from fractions import Fraction  # noqa: PLC0415

    return Fraction(*_exactly(2, _ints(decode, items)))


def _exactly(count: int, items: list[Json]) -> list[Json]:
    if len(items) != count:
        raise WireError("a part of the value has too few or too many items")
    return items


def _range(decode: Decode, items: list[Json], _depth: int) -> range:
    result = range(*_exactly(3, _ints(decode, items)))
    len(result)  # raises OverflowError if it is too long
    return result


def zone_of(tree: Json) -> dt.tzinfo | None:
    """Return the time zone that a tree describes, or None if ``tree`` is None."""
    if tree is None:
        return None
    if type(tree) is not list or not tree:
        raise WireError("a time zone has an invalid form")
    if tree[0] == "offset":
        *parts, name = _exactly(4, tree[1:])
        offset = _timedelta(*_whole(*parts))
        if type(name) is not str or len(name) > 100:
            raise WireError("a time zone has no valid name")
        plain = _timezone(offset)
        return plain if plain.tzname(None) == name else _timezone(offset, name)
    if tree[0] == "zone":
        [key] = tree[1:]
        return named_zone(key)
    raise WireError("a time zone has an invalid form")


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the names of the time zones that are known here."""
    import zoneinfo  # noqa: PLC0415 - few courses use it

    return frozenset(zoneinfo.available_timezones())


def named_zone(key: Json) -> dt.tzinfo:
    """Return the time zone called ``key``. Raises ``WireError`` if it is unknown.

    Loading a zone opens a file with its name, so only names in ``zone_names`` are allowed.
    """
    if type(key) is not str or key not in zone_names():
        raise WireError("a time zone is unknown")
    import zoneinfo  # noqa: PLC0415

    try:
        return zoneinfo.ZoneInfo(key)
    except (zoneinfo.ZoneInfoNotFoundError, OSError) as error:  # removed since the list was read
        raise WireError("a time zone is unknown") from error


def _time_of_day(_decode: Decode, items: list[Json], _depth: int) -> dt.time:
    *parts, fold, zone = _exactly(6, items)
    hour, minute, second, micro, fold = _whole(*parts, fold)
    return _time(hour, minute, second, micro, zone_of(zone), fold=fold)


def _timestamp(_decode: Decode, items: list[Json], _depth: int) -> dt.datetime:
    *parts, fold, zone = _exactly(9, items)
    year, month, day, hour, minute, second, micro, fold = _whole(*parts, fold)
    return _datetime(year, month, day, hour, minute, second, micro, zone_of(zone), fold=fold)


def _gives(decode: Decode, items: list[Json], depth: int) -> Iterated:
    name, more, *parts = items
    if type(name) is not str or len(name) > 200 or not name.isprintable() or type(more) is not bool:
        raise WireError("the items of an iterator have an invalid form")
    if more and len(parts) != MAX_ITEMS:  # a longer iterator is cut after exactly this many
        raise WireError("an iterator has an invalid number of items")
    return Iterated([decode(item, depth + 1) for item in parts], name, more=more)


def _shaped(shape: Json, count: int) -> tuple[int, ...]:
    if type(shape) is not list or len(shape) > 32 or any(type(n) is not int or not 0 <= n < 2**40 for n in shape):
        raise WireError("an array has no valid shape")
    if math.prod(shape) != count:
        raise WireError("an array has no valid shape")
    return tuple(shape)


def _texts(_decode: Decode, items: list[Json], _depth: int) -> np.ndarray[Any, Any]:
    shape, *texts = items
    if not all(type(text) is str for text in texts):
        raise WireError("an array of strings contains something else")
    if len(texts) * max(map(len, texts), default=0) > MAX_CHARACTERS:
        raise WireError("the strings of an array are too long")
    return np.array(texts, dtype=str).reshape(_shaped(shape, len(texts)))


def _times(_decode: Decode, items: list[Json], _depth: int) -> Any:
    code, shape, *numbers = items
    if type(code) is not str or not _TIMES.fullmatch(code):
        raise WireError("an array of dates has no valid dtype")
    if code == "<M8" and any(number != _NAT for number in numbers):
        raise WireError("a date has no unit")
    flat = np.array(_whole(*numbers), dtype=np.int64).view(np.dtype(code).newbyteorder("="))
    return flat.reshape(_shaped(shape, len(numbers))) if shape is not None else _exactly(1, list(flat))[0]


_READERS: dict[str, Callable[[Decode, list[Json], int], Value]] = {
    "set": lambda decode, items, _depth: set(decode_keys(decode, items)),
    "frozenset": lambda decode, items, _depth: frozenset(decode_keys(decode, items)),
    "bytearray": lambda decode, items, depth: bytearray(_bytes(decode, items, depth)),
    "date": lambda _decode, items, _depth: _date(*_exactly(3, _whole(*items))),
    "timedelta": lambda _decode, items, _depth: _timedelta(*_exactly(3, _whole(*items))),
    "offset": lambda _decode, items, _depth: zone_of(["offset", *items]),
    "zone": lambda _decode, items, _depth: zone_of(["zone", *items]),
    "bytes": _bytes, "int": _int, "decimal": _decimal, "fraction": _fraction, "range": _range, "time": _time_of_day,
    "datetime": _timestamp, "gives": _gives, "texts": _texts, "times": _times,
}  # fmt: skip
