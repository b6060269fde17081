"""Plain values beyond numbers, texts, lists and dicts, as trees: sets, bytes, dates, exact numbers, what a generator gives.

Each tree is a list that starts with a word::

    ["set", …] ["frozenset", …]      members
    ["bytes", base64] ["bytearray", base64]
    ["int", hexadecimal]             a whole number that no float holds
    ["decimal", text] ["fraction", numerator, denominator] ["range", start, stop, step]
    ["date", year, month, day] ["timedelta", days, seconds, microseconds]
    ["time", hour, …, microsecond, fold, zone] ["datetime", year, …, microsecond, fold, zone]
    ["offset", days, seconds, microseconds, name] ["zone", key]    time zones
    ["gives", type, more, …]         the items that an iterator gave; whether there are more of them
    ["texts", shape, …] ["times", dtype, shape, …]     arrays of texts, of dates and of time spans

Only exact types of the standard library cross: what a class made of them says of itself is never asked on the other side.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import itertools
import math
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np

from .wire_limits import MAX_BIG_BITS, MAX_COLLISIONS, MAX_ITEMS, TooBig, WireError

__all__ = [
    "Iterated",
    "UnserializableKeyError",
    "decode_keys",
    "decode_plain",
    "encode_key",
    "encode_other_array",
    "encode_plain",
    "is_key",
    "materialize_iterators",
    "opaque_tree",
    "zone_of",
]  # fmt: skip

# A student's code may replace the attributes of these modules.
_date, _datetime, _time, _timedelta = dt.date, dt.datetime, dt.time, dt.timedelta
_timezone, _ndarray = dt.timezone, np.ndarray
_islice, _deque, _sorted, _repr = itertools.islice, deque, sorted, repr
_VIEWS = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
_KEYS = (type(None), bool, int, float, str, complex, bytes, _date, _datetime, _time, _timedelta, _timezone, range)
_DECIMAL = re.compile(r"-?(?:\d{1,2000}(?:\.\d{0,2000})?(?:E[+-]\d{1,4})?|Infinity|NaN)")
_ZONE = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,3}")
_TIMES = re.compile(r"<[Mm]8(?:\[(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?")
_NAT = -(2**63)  # what NumPy writes for a date that is none
_BITS_OF_A_LENGTH = 62  # of numbers between which there are no more than Python can count
MAX_CHARACTERS = 4 << 20  # of an array of texts: each takes as many as the longest

Encode = Callable[..., Any]


class Iterated(tuple[Any, ...]):  # noqa: SLOT001 - a tuple cannot have slots that hold something
    """The items that an iterator gave, ``type`` its type's name; ``more`` says that it was asked for no more than these."""

    type: str
    more: bool

    def __new__(cls, items: Iterable[Any], type: str = "generator", *, more: bool = False) -> Self:  # noqa: A002
        """The items of an iterator of that type."""
        made = super().__new__(cls, items)
        made.type, made.more = type, more
        return made


def opaque_tree(value: Any) -> list[Any]:
    """The tree of a value that cannot cross: its type's name is all that is told."""
    kind = type(value)
    name = kind.__name__
    if issubclass(kind, _ndarray):
        name = f"{name} of dtype {value.dtype}"
    elif issubclass(kind, (dict, set, frozenset)):
        strange = _no_key(tuple(value))
        name = f"{name} with {strange} in a {'key' if issubclass(kind, dict) else 'member'}" if strange else name
    return ["o", name[:200]]


def _no_key(keys: Iterable[Any]) -> str:
    """The type of the first among ``keys``, or inside of one, that is no key; empty where all are."""
    for key in keys:
        if not is_key(key):
            return _no_key(key) if type(key) in (tuple, frozenset) else type(key).__name__
    return ""


def is_key(value: Any) -> bool:
    """Whether ``value`` may be the member of a set, or a key: a plain value that never changes, or a tuple of them."""
    kind = type(value)
    if kind is tuple or kind is frozenset:
        return all(map(is_key, value))
    return kind in _KEYS or _home(kind) in ("decimal", "fractions", "zoneinfo") or issubclass(kind, str)


def _home(kind: type) -> Any:
    """The module of a class; a class that was made where none has a name has none."""
    return getattr(kind, "__module__", "")


def materialize_iterators(value: Any, depth: int = 0) -> Any:
    """``value`` with the items that iterators in it give in their places, so that no code runs when it is looked at."""
    kind = type(value)
    if kind is _ndarray or kind in _KEYS:
        return value
    if kind in (list, tuple) and depth < 6:
        items = [materialize_iterators(item, depth + 1) for item in value]
        return value if all(map(_is, items, value)) else kind(items)
    if kind is dict and depth < 6:
        items = [materialize_iterators(item, depth + 1) for item in value.values()]
        return value if all(map(_is, items, value.values())) else dict(zip(value, items))  # noqa: B905 - as many
    return value if issubclass(kind, _ndarray) else _given_by(value) or value


def _is(one: Any, other: Any) -> bool:
    return one is other


def _given_by(value: Any) -> Iterated | None:
    """What an iterator gives, as far as it is asked; None for what is none."""
    kind = type(value)
    name = kind.__name__[:200] if kind.__name__.isprintable() else "iterator"
    if kind in _VIEWS or kind is _deque:
        return Iterated(value, name)
    if not hasattr(kind, "__next__"):
        return None
    items = list(_islice(value, MAX_ITEMS + 1))
    return Iterated(items[:MAX_ITEMS], name, more=len(items) > MAX_ITEMS)


def encode_plain(encode: Encode, value: Any, depth: int) -> Any:
    """The tree of ``value``, whose parts ``encode`` encodes; None for what has none of these."""
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
    if _home(kind) in ("decimal", "fractions"):
        return _encode_exact(encode, value)
    given = value if kind is Iterated else _given_by(value)
    if given is None:
        return None
    encode.count(len(given))  # type: ignore[attr-defined]
    return ["gives", given.type, given.more, *[encode(item, depth + 1) for item in given]]


def encode_key(encode: Encode, value: Any, depth: int) -> Any:
    """The tree of a key, or of the member of a set; raises ``KeyStaysError`` for what cannot be one on the other side."""
    kind = type(value)
    plain = value.item() if issubclass(kind, np.generic) else value
    if kind is not bool and issubclass(kind, int):  # such as a member of an IntEnum
        plain = int(value)
    elif issubclass(kind, float):
        plain = float(value)
    if plain is None or type(plain) in (bool, float):
        return plain
    tree = encode(plain, depth) if is_key(plain) else ["o"]
    if type(tree) is list and _stays(tree):
        raise UnserializableKeyError
    return tree


class UnserializableKeyError(Exception):
    """A key that has no tree: what it belongs to has none either."""


def _stays(tree: list[Any]) -> bool:
    return tree[0] == "o" or any(type(part) is list and _stays(part) for part in tree)


def _encode_members(encode: Encode, value: Any, depth: int) -> Any:
    encode.count(len(value))  # type: ignore[attr-defined]
    try:
        trees = [encode_key(encode, item, depth + 1) for item in value]
    except UnserializableKeyError:
        return None
    # In one order, whatever their hashes were: equal sets are equal bytes.
    return ["frozenset" if issubclass(type(value), frozenset) else "set", *_sorted(trees, key=_repr)]


def _encode_time(value: Any) -> Any:
    kind = type(value)
    if kind is _date:
        return ["date", value.year, value.month, value.day]
    if kind is _timedelta:
        return ["timedelta", value.days, value.seconds, value.microseconds]
    if kind is _timezone or _home(kind) == "zoneinfo":
        return _encode_zone(value)
    if kind not in (_datetime, _time):
        return None
    zone = None if value.tzinfo is None else _encode_zone(value.tzinfo)
    if zone is None and value.tzinfo is not None:
        return None
    day = [value.year, value.month, value.day] if kind is _datetime else []
    parts = [value.hour, value.minute, value.second, value.microsecond, value.fold, zone]
    return ["datetime" if day else "time", *day, *parts]


def _encode_zone(zone: Any) -> Any:
    if type(zone) is _timezone:
        offset = zone.utcoffset(None)
        return ["offset", offset.days, offset.seconds, offset.microseconds, zone.tzname(None)[:100]]
    key = getattr(zone, "key", None)
    return ["zone", key] if _home(type(zone)) == "zoneinfo" and type(key) is str else None


def _encode_exact(encode: Encode, value: Any) -> Any:
    kind = type(value)
    exact, fractions = sys.modules.get("decimal"), sys.modules.get("fractions")
    if exact is not None and kind is exact.Decimal:
        text = str(value)
        return ["decimal", text] if len(text) <= 2000 and _DECIMAL.fullmatch(text) else None
    if fractions is not None and kind is fractions.Fraction:
        parts = [value.numerator, value.denominator]
        return ["fraction", *map(encode, parts)] if max(map(int.bit_length, parts)) <= MAX_BIG_BITS else None
    return None


def encode_other_array(encode: Encode, value: Any) -> Any:
    """The tree of an array of texts, dates or time spans, or of one such scalar; None for any other."""
    kind = value.dtype.kind
    if kind not in "UMm":
        return None
    plain = np.array(value, subok=False)
    encode.count(plain.size)  # type: ignore[attr-defined]
    shape = [int(n) for n in plain.shape]
    if kind == "U":
        if plain.size * plain.dtype.itemsize // 4 > MAX_CHARACTERS:
            raise TooBig("its texts are longer than may be looked at")
        return ["texts", shape, *plain.ravel().tolist()]
    code = plain.dtype.newbyteorder("<").str
    if not _TIMES.fullmatch(code):
        return None
    numbers = plain.astype(plain.dtype.newbyteorder("=")).view(np.int64)
    shape_of = None if isinstance(value, np.generic) else shape
    return ["times", code, shape_of, *numbers.ravel().tolist()]


def decode_plain(decode: Encode, tag: str, items: list[Any], depth: int) -> Any:
    """The value of a tree whose tag is a word; raises ``WireError`` for anything that is not exactly as it should be."""
    read = _READERS.get(tag)
    if read is None:
        raise WireError("a part of the value has an unknown tag")
    try:
        return read(decode, items, depth)
    except WireError:
        raise
    except (TypeError, ValueError, OverflowError, IndexError, ArithmeticError) as error:
        raise WireError(f"a part of the value is no {tag}") from error


def decode_keys(decode: Encode, trees: Sequence[Any]) -> list[Any]:
    """The keys of a dict, or the members of a set; raises ``WireError`` where one is none, or too many share one hash."""
    keys = [decode(tree, 1) for tree in trees]
    if not all(map(is_key, keys)):
        raise WireError("a key can change")
    if len(keys) > MAX_COLLISIONS and max(Counter(map(hash, keys)).values()) > MAX_COLLISIONS:
        raise WireError("the keys are made to be slow")
    return keys


def _members(decode: Encode, items: list[Any], _depth: int) -> Any:
    return decode_keys(decode, items)


def _whole(*items: Any) -> list[int]:
    if not all(type(item) is int for item in items):
        raise WireError("a part of the value is no whole number")
    return list(items)


def _bytes(_decode: Encode, items: list[Any], _depth: int) -> bytes:
    [text] = items
    if type(text) is not str:
        raise WireError("bytes are not written as a text")
    try:
        return binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except (binascii.Error, UnicodeError) as error:
        raise WireError("bytes are not written as agreed") from error


def _int(_decode: Encode, items: list[Any], _depth: int) -> int:
    [text] = items
    if type(text) is not str or not re.fullmatch(r"-?[0-9a-f]{1,3501}", text):
        raise WireError("a whole number is not written as agreed")
    number = int(text, 16)
    if number.bit_length() > MAX_BIG_BITS:
        raise WireError("a whole number has more digits than may cross")
    return number


def _ints(decode: Encode, items: list[Any]) -> list[int]:
    return _whole(*map(decode, items))


def _decimal(_decode: Encode, items: list[Any], _depth: int) -> Any:
    from decimal import Decimal  # noqa: PLC0415 - hardly a course has them

    [text] = items
    if type(text) is not str or len(text) > 2000 or not _DECIMAL.fullmatch(text):
        raise WireError("a decimal number is not written as agreed")
    return Decimal(text)


def _fraction(decode: Encode, items: list[Any], _depth: int) -> Any:
    from fractions import Fraction  # noqa: PLC0415

    return Fraction(*_exactly(2, _ints(decode, items)))


def _exactly(count: int, items: list[Any]) -> list[Any]:
    if len(items) != count:
        raise WireError("a part of the value has too few or too many items")
    return items


def _range(decode: Encode, items: list[Any], _depth: int) -> range:
    made = range(*_exactly(3, _ints(decode, items)))
    len(made)  # one that no machine can count is refused
    return made


def zone_of(tree: Any) -> Any:
    """The time zone that a tree describes, ``None`` for none."""
    if tree is None:
        return None
    if type(tree) is not list or not tree:
        raise WireError("a time zone is not described as agreed")
    if tree[0] == "offset":
        *parts, name = _exactly(4, tree[1:])
        offset = _timedelta(*_whole(*parts))
        if type(name) is not str or len(name) > 100:
            raise WireError("a time zone has no proper name")
        plain = _timezone(offset)
        return plain if plain.tzname(None) == name else _timezone(offset, name)
    if tree[0] == "zone":
        [key] = tree[1:]
        if type(key) is not str or len(key) > 60 or not _ZONE.fullmatch(key):
            raise WireError("a time zone has no proper name")
        import zoneinfo  # noqa: PLC0415

        try:
            return zoneinfo.ZoneInfo(key)
        except (zoneinfo.ZoneInfoNotFoundError, OSError) as error:
            raise WireError("a time zone is not known here") from error
    raise WireError("a time zone is not described as agreed")


def _time_of_day(_decode: Encode, items: list[Any], _depth: int) -> Any:
    *parts, fold, zone = _exactly(6, items)
    hour, minute, second, micro, fold = _whole(*parts, fold)
    return _time(hour, minute, second, micro, zone_of(zone), fold=fold)


def _moment(_decode: Encode, items: list[Any], _depth: int) -> Any:
    *parts, fold, zone = _exactly(9, items)
    year, month, day, hour, minute, second, micro, fold = _whole(*parts, fold)
    return _datetime(year, month, day, hour, minute, second, micro, zone_of(zone), fold=fold)


def _gives(decode: Encode, items: list[Any], depth: int) -> Iterated:
    name, more, *parts = items
    if type(name) is not str or len(name) > 200 or not name.isprintable() or type(more) is not bool:
        raise WireError("what an iterator gave is not described as agreed")
    if more and len(parts) != MAX_ITEMS:  # only what was asked for all of them is held against no more than these
        raise WireError("an iterator was not asked for as much as agreed")
    return Iterated([decode(item, depth + 1) for item in parts], name, more=more)


def _shaped(shape: Any, count: int) -> tuple[int, ...]:
    if type(shape) is not list or len(shape) > 32 or any(type(n) is not int or not 0 <= n < 2**40 for n in shape):
        raise WireError("an array has no proper shape")
    if math.prod(shape) != count:
        raise WireError("an array has no proper shape")
    return tuple(shape)


def _texts(_decode: Encode, items: list[Any], _depth: int) -> Any:
    shape, *texts = items
    if not all(type(text) is str for text in texts):
        raise WireError("an array of texts holds something else")
    if len(texts) * max(map(len, texts), default=0) > MAX_CHARACTERS:
        raise WireError("the texts of an array are too long")
    return np.array(texts, dtype=str).reshape(_shaped(shape, len(texts)))


def _times(_decode: Encode, items: list[Any], _depth: int) -> Any:
    code, shape, *numbers = items
    if type(code) is not str or not _TIMES.fullmatch(code):
        raise WireError("an array of dates has no proper dtype")
    if code == "<M8" and any(number != _NAT for number in numbers):
        raise WireError("a date has no unit")
    flat = np.array(_whole(*numbers), dtype=np.int64).view(np.dtype(code).newbyteorder("="))
    return flat.reshape(_shaped(shape, len(numbers))) if shape is not None else _exactly(1, list(flat))[0]


_READERS: dict[str, Callable[[Encode, list[Any], int], Any]] = {
    "set": lambda decode, items, depth: set(_members(decode, items, depth)),
    "frozenset": lambda decode, items, depth: frozenset(_members(decode, items, depth)),
    "bytes": _bytes,
    "bytearray": lambda decode, items, depth: bytearray(_bytes(decode, items, depth)),
    "int": _int,
    "decimal": _decimal,
    "fraction": _fraction,
    "range": _range,
    "date": lambda _decode, items, _depth: _date(*_exactly(3, _whole(*items))),
    "timedelta": lambda _decode, items, _depth: _timedelta(*_exactly(3, _whole(*items))),
    "offset": lambda _decode, items, _depth: zone_of(["offset", *items]),
    "zone": lambda _decode, items, _depth: zone_of(["zone", *items]),
    "time": _time_of_day,
    "datetime": _moment,
    "gives": _gives,
    "texts": _texts,
    "times": _times,
}
