"""Tables on their way between the two sides: taken apart into plain values and arrays, and put together again.

A DataFrame, a Series, an Index, or one value of pandas's own (a moment, a missing one) becomes a tuple that starts with a
word and holds arrays, texts and numbers; ``wire`` writes that down as it does any tuple. Nothing of what comes back is
believed: lengths, dtypes and counts are checked, and a table of pandas's own is built, never one of a student's class.

pandas is optional: it is looked up where a value may be of it, and imported where one is put together.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np

from .wire_limits import MAX_COLLISIONS

__all__ = [
    "MAX_CELLS",
    "MAX_COLUMNS",
    "MAX_ROWS",
    "TooLarge",
    "from_parts",
    "is_pandas",
    "kind_of_table",
    "levels_of",
    "plain_copy",
    "same_parts",
    "to_parts",
]  # fmt: skip

MAX_ROWS = 200_000
MAX_COLUMNS = 2_000
MAX_CELLS = 2_000_000
MAX_TEXT = 1 << 16  # characters of one text in a column of texts
MAX_LABELS = 8  # that one row may have in an index of several levels
MAX_LOOKED_UP = (
    10_000  # rows of such an index, and categories: pandas looks each of them up, and numbers can be made to be slow
)

_UNITS = frozenset({"s", "ms", "us", "ns"})
_MASKED = {
    **{f"{kind}{bits}": f"{kind.lower()}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)},
    "Float32": "float32", "Float64": "float64", "boolean": "bool",
}  # fmt: skip
_FREQUENCY = re.compile(r"[A-Za-z0-9-]{1,20}")
_ZONE = re.compile(r"[A-Za-z0-9_+/-]{1,60}|UTC[+-]\d\d:\d\d")
_CLOSED = frozenset({"left", "right", "both", "neither"})
_ndarray, _asarray = np.ndarray, np.asarray


class TooLarge(ValueError):  # noqa: N818 - people read it in a message, where it says what it is
    """A table of more rows, columns or cells than may cross."""


def is_pandas(value: Any) -> bool:
    """Whether a value is of pandas: a table, a column, an index, an array of its own kind, a moment, a missing value."""
    pandas = sys.modules.get("pandas")
    kinds = _kinds(pandas) if pandas is not None else ()
    return bool(kinds) and issubclass(type(value), kinds)


_known: dict[int, tuple[type, ...]] = {}


def _kinds(pandas: Any) -> tuple[type, ...]:
    found = _known.get(id(pandas))
    if found is None:
        try:
            tables = (pandas.DataFrame, pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
            single = (pandas.Timestamp, pandas.Timedelta, pandas.Interval, pandas.Period)
            found = (*tables, *single, type(pandas.NaT), type(pandas.NA))
        except AttributeError:  # while it is being imported
            return ()
        _known[id(pandas)] = found
    return found


def kind_of_table(value: Any) -> str:
    """``"DataFrame"``, ``"Series"`` or ``"Index"``; ``""`` for anything else, a single value of pandas's among it."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not _kinds(pandas):
        return ""
    kinds = ((pandas.DataFrame, "DataFrame"), (pandas.Series, "Series"), (pandas.Index, "Index"))
    return next((name for kind, name in kinds if issubclass(type(value), kind)), "")


def levels_of(value: Any) -> int:
    """How many levels of lists and tuples the parts of a value take, as far as pandas's own go."""
    return 7 if kind_of_table(value) else 2


def to_parts(value: Any) -> Any:
    """What a value of pandas's is made of: a tuple, or of an array of its own the list; raises ``TooLarge``.

    Cells that are objects are left as they are.
    """
    pandas = sys.modules["pandas"]
    kind = kind_of_table(value)
    if kind == "DataFrame":
        frame = value if type(value) is pandas.DataFrame else pandas.DataFrame(value)
        rows, columns = frame.shape
        if rows > MAX_ROWS or columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
            raise TooLarge(
                f"it is a DataFrame of {_many(rows, 'row')} and {_many(columns, 'column')}, and at most {MAX_ROWS:,} rows, "
                f"{MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells are looked at"
            )
        held = [_column(pandas, column.array) for _name, column in frame.items()]
        return "frame", _index(pandas, frame.index), _index(pandas, frame.columns), held
    if kind:
        if len(value) > MAX_ROWS:
            raise TooLarge(f"it is {_article(kind)} of {len(value):,} rows, and at most {MAX_ROWS:,} are looked at")
        if kind == "Index":
            return "index", _index(pandas, value)
        series = value if type(value) is pandas.Series else pandas.Series(value)
        return "series", series.name, _index(pandas, series.index), _column(pandas, series.array)
    if isinstance(value, pandas.api.extensions.ExtensionArray):
        if len(value) > MAX_ROWS:
            raise TooLarge(f"it is an array of {len(value):,} values, and at most {MAX_ROWS:,} are looked at")
        return [None if item is pandas.NA else item for item in value]
    return _single(pandas, value)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _article(kind: str) -> str:
    return f"an {kind}" if kind == "Index" else f"a {kind}"


def _single(pandas: Any, value: Any) -> tuple[Any, ...]:
    if value is pandas.NA or value is pandas.NaT:
        return ("missing", "NA" if value is pandas.NA else "NaT")
    if isinstance(value, pandas.Timestamp):
        zone = _zone(value.tz)
        plain = value if value.tz is None else value.tz_convert("UTC").tz_localize(None)
        return "moment", value.unit, int(plain.asm8.astype(np.int64)), zone
    if isinstance(value, pandas.Timedelta):
        return "span", value.unit, int(value.asm8.astype(np.int64))
    if isinstance(value, pandas.Interval):
        return "interval", value.left, value.right, value.closed
    return "period", _frequency(pandas.PeriodDtype(value.freq)), int(value.ordinal)


def _frequency(dtype: Any) -> str:
    return str(dtype.name).removeprefix("period[").removesuffix("]")


def _zone(zone: Any) -> str | None:
    """The name of a time zone; one without a name that all know is told as UTC, in which a moment stays the same."""
    if zone is None:
        return None
    return str(zone) if _ZONE.fullmatch(str(zone)) else "UTC"


def _index(pandas: Any, index: Any) -> tuple[Any, ...]:
    if isinstance(index, pandas.RangeIndex):
        return "range", index.name, index.start, index.stop, index.step
    if isinstance(index, pandas.MultiIndex):
        if len(index) > MAX_LOOKED_UP:
            raise TooLarge(
                f"its index has several levels and {len(index):,} rows, and at most {MAX_LOOKED_UP:,} are looked at"
            )
        levels = [_column(pandas, index.get_level_values(n).array) for n in range(index.nlevels)]
        return "levels", list(index.names), levels
    labels = _column(pandas, index.array)
    if type(labels) is tuple and labels[0] == "objects":
        labels = "objects", [item if _can_be_a_label(item) else f"a {type(item).__name__}" for item in labels[1]]
    return "labels", index.name, labels


def _can_be_a_label(item: Any) -> bool:
    """Whether an item can be looked up: a list, or a tuple with one in it, cannot."""
    try:
        hash(item)
    except Exception:  # noqa: BLE001 - a student's class may raise anything
        return False
    return True


def _column(pandas: Any, array: Any) -> Any:
    """A column's values: an array of numbers or booleans, or a tuple that starts with what they are."""
    if type(array) is pandas.arrays.NumpyExtensionArray:  # texts have a class below it
        array = array.to_numpy()
    dtype = array.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind in "biufc":
            return _asarray(array)
        if dtype.kind == "M":
            moments = pandas.DatetimeIndex(array)
            return "moments", moments.unit, _asarray(moments.asi8), None
        if dtype.kind == "m":
            spans = pandas.TimedeltaIndex(array)
            return "spans", spans.unit, _asarray(spans.asi8)
        return "objects", list(array)
    if isinstance(dtype, pandas.CategoricalDtype) and len(array.categories) <= MAX_LOOKED_UP:
        return "category", _asarray(array.codes), _column(pandas, array.categories.array), bool(array.ordered)
    if isinstance(dtype, pandas.StringDtype):
        texts = [None if item is pandas.NA or type(item) is float else str(item) for item in array]
        if any(text is not None and len(text) > MAX_TEXT for text in texts):
            return "objects", texts
        return "texts", "string" if dtype.na_value is pandas.NA else "str", texts
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return "moments", dtype.unit, _asarray(pandas.DatetimeIndex(array).asi8), _zone(dtype.tz)
    if dtype.name in _MASKED:
        mask = _asarray(array.isna())
        return "masked", dtype.name, _asarray(array.to_numpy(dtype=_MASKED[dtype.name], na_value=0)), mask
    if isinstance(dtype, pandas.IntervalDtype):
        return "intervals", _column(pandas, array.left.array), _column(pandas, array.right.array), array.closed
    if isinstance(dtype, pandas.PeriodDtype):
        return "periods", _frequency(dtype), _asarray(array.asi8)
    if isinstance(dtype, pandas.SparseDtype):
        return _column(pandas, pandas.Series(_asarray(array)).array)
    return "objects", list(array)


def from_parts(parts: Any) -> Any:
    """The value that ``parts`` describe; raises ``ValueError`` for any that are not exactly as they should be."""
    if type(parts) is not tuple or not parts or type(parts[0]) is not str or parts[0] not in _BUILDERS:
        raise ValueError("a table is described by no word that is known")
    word, *rest = parts
    try:
        import pandas as pd  # noqa: PLC0415 - most courses have no tables

        return _BUILDERS[word](pd, *rest)
    except Exception as error:  # whatever pandas says of parts that do not fit
        raise ValueError(f"a table's parts do not fit together: {type(error).__name__}") from error


def plain_copy(value: Any) -> Any:
    """A copy of a table of pandas's own class in which nothing is an object; None for any other value."""
    kind = kind_of_table(value)
    if not kind or type(value) is not getattr(sys.modules["pandas"], kind, None):
        return None
    dtypes = list(value.dtypes) if kind == "DataFrame" else [value.dtype]
    if kind != "Index":
        dtypes.append(value.index.dtype)
    if kind == "DataFrame":
        dtypes.append(value.columns.dtype)
    return None if any(dtype.kind == "O" and str(dtype) not in ("str", "string") for dtype in dtypes) else value.copy()


def same_parts(one: Any, other: Any) -> bool:
    """Whether two tables are the same to the last byte, by their parts."""
    if type(one) is not type(other):
        return False
    if type(one) is _ndarray:
        return bool(one.dtype == other.dtype and one.shape == other.shape) and one.tobytes() == other.tobytes()
    if type(one) in (tuple, list):
        return len(one) == len(other) and all(map(same_parts, one, other))
    if type(one) is dict:
        return one.keys() == other.keys() and all(same_parts(one[key], other[key]) for key in one)
    if is_pandas(one):
        return same_parts(to_parts(one), to_parts(other))
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - NaN is not itself


def _frame(pandas: Any, index: Any, columns: Any, held: Any) -> Any:
    rows, names = _index_of(pandas, index), _index_of(pandas, columns)
    _require(type(held) is list and len(held) == len(names) <= MAX_COLUMNS)
    _require(len(rows) * len(names) <= MAX_CELLS)
    arrays = [_array_of(pandas, column) for column in held]
    _require(all(len(array) == len(rows) for array in arrays))
    # The dtype is given: pandas would guess that of objects.
    held = [pandas.Series(array, index=rows, dtype=array.dtype, copy=True) for array in arrays]
    frame = pandas.DataFrame(dict(enumerate(held)), index=rows)
    frame.columns = names
    return frame


def _series(pandas: Any, name: Any, index: Any, column: Any) -> Any:
    rows, array = _index_of(pandas, index), _array_of(pandas, column)
    _require(len(rows) == len(array))
    return pandas.Series(array, index=rows, dtype=array.dtype, name=_label(name), copy=True)


def _index_of(pandas: Any, parts: Any) -> Any:
    _require(type(parts) is tuple and len(parts) >= 3)
    word, *rest = parts
    if word == "range":
        name, start, stop, step = rest
        _require(all(type(n) is int and abs(n) < 2**62 for n in (start, stop, step)) and step != 0)
        _require(len(range(start, stop, step)) <= MAX_ROWS)
        return pandas.RangeIndex(start, stop, step, name=_label(name))
    if word == "labels":
        name, column = rest
        array = _array_of(pandas, column)
        for label in column[1] if type(column) is tuple and column[0] == "objects" else ():
            hash(label)
        return pandas.Index(array, dtype=array.dtype, name=_label(name), copy=True, tupleize_cols=False)
    _require(word == "levels")
    names, levels = rest
    _require(type(names) is list and type(levels) is list and 1 <= len(levels) == len(names) <= MAX_LABELS)
    arrays = [_array_of(pandas, column) for column in levels]
    _require(len({len(array) for array in arrays}) == 1 and all(map(_quickly_looked_up, arrays)))
    return pandas.MultiIndex.from_arrays(arrays, names=[_label(name) for name in names])


def _quickly_looked_up(array: Any) -> bool:
    """Whether an array is short enough to be made a table of, and no more than a few objects in it share one hash."""
    seen: dict[int, list[Any]] = {}
    if len(array) > MAX_LOOKED_UP:
        return False
    if array.dtype == object:
        for item in array:
            alike = seen.setdefault(hash(item), [])
            if not any(item is other or item == other for other in alike):
                alike.append(item)
            if len(alike) > MAX_COLLISIONS:
                return False
    return True


def _label(name: Any) -> Any:
    hash(name)
    return name


def _array_of(pandas: Any, parts: Any) -> Any:
    """The array that a column's parts describe, checked."""
    if type(parts) is _ndarray:
        _require(parts.ndim == 1 and parts.dtype.kind in "biufc" and len(parts) <= MAX_ROWS)
        return parts.copy()
    _require(type(parts) is tuple and bool(parts) and type(parts[0]) is str)
    word, *rest = parts
    array = _COLUMNS[word](pandas, *rest)
    _require(len(array) <= MAX_ROWS)
    return array


def _objects(_pandas: Any, items: Any) -> Any:
    _require(type(items) is list)
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):  # at once, NumPy would look into what they hold
        array[place] = item
    return array


def _texts(pandas: Any, dtype: Any, items: Any) -> Any:
    _require(dtype in ("str", "string") and type(items) is list)
    _require(all(item is None or (type(item) is str and len(item) <= MAX_TEXT) for item in items))
    return pandas.array(items, dtype=dtype)


def _moments(pandas: Any, unit: Any, numbers: Any, zone: Any) -> Any:
    plain = pandas.DatetimeIndex(_whole(unit, numbers).view(f"M8[{unit}]"))
    if zone is None:
        return plain.array
    _require(type(zone) is str and _ZONE.fullmatch(zone) is not None)
    return plain.tz_localize("UTC").tz_convert(zone).array


def _spans(pandas: Any, unit: Any, numbers: Any) -> Any:
    return pandas.TimedeltaIndex(_whole(unit, numbers).view(f"m8[{unit}]")).array


def _whole(unit: Any, numbers: Any) -> Any:
    _require(unit in _UNITS and type(numbers) is _ndarray and numbers.ndim == 1 and numbers.dtype == np.int64)
    return numbers.copy()


def _masked(pandas: Any, dtype: Any, values: Any, mask: Any) -> Any:
    _require(dtype in _MASKED and type(values) is _ndarray and type(mask) is _ndarray)
    _require(values.dtype == _MASKED[dtype] and mask.dtype == bool and values.shape == mask.shape == (len(mask),))
    kinds = pandas.arrays
    kind = {"b": kinds.BooleanArray, "f": kinds.FloatingArray}.get(values.dtype.kind, kinds.IntegerArray)
    return kind(values.copy(), mask.copy())


def _category(pandas: Any, codes: Any, categories: Any, ordered: Any) -> Any:
    _require(type(codes) is _ndarray and codes.ndim == 1 and codes.dtype.kind == "i" and type(ordered) is bool)
    held = _array_of(pandas, categories)
    _require(_quickly_looked_up(held))
    known = pandas.Index(held, dtype=held.dtype)
    return pandas.Categorical.from_codes(codes.copy(), categories=known, ordered=ordered)


def _intervals(pandas: Any, left: Any, right: Any, closed: Any) -> Any:
    _require(closed in _CLOSED)
    return pandas.arrays.IntervalArray.from_arrays(_array_of(pandas, left), _array_of(pandas, right), closed=closed)


def _periods(pandas: Any, frequency: Any, ordinals: Any) -> Any:
    _require(type(frequency) is str and _FREQUENCY.fullmatch(frequency) is not None)
    return pandas.PeriodIndex.from_ordinals(_whole("ns", ordinals), freq=frequency).array


def _moment(pandas: Any, unit: Any, number: Any, zone: Any) -> Any:
    _require(type(number) is int and abs(number) < 2**63)
    return pandas.Series(_moments(pandas, unit, np.array([number]), zone)).iloc[0]


def _span(pandas: Any, unit: Any, number: Any) -> Any:
    _require(type(number) is int and abs(number) < 2**63)
    return pandas.Series(_spans(pandas, unit, np.array([number]))).iloc[0]


def _interval(pandas: Any, left: Any, right: Any, closed: Any) -> Any:
    _require(closed in _CLOSED and all(_is_end(pandas, end) for end in (left, right)))
    return pandas.Interval(left, right, closed)


def _is_end(pandas: Any, end: Any) -> bool:
    return type(end) in (int, float, pandas.Timestamp, pandas.Timedelta) or issubclass(type(end), np.number)


def _period(pandas: Any, frequency: Any, ordinal: Any) -> Any:
    _require(type(ordinal) is int and abs(ordinal) < 2**62)
    return pandas.Series(_periods(pandas, frequency, np.array([ordinal]))).iloc[0]


def _missing(pandas: Any, which: Any) -> Any:
    _require(which in ("NA", "NaT"))
    return pandas.NA if which == "NA" else pandas.NaT


def _require(fine: bool) -> None:  # noqa: FBT001 - it says what has to hold
    if not fine:
        raise ValueError("a part of a table is not as it should be")


_COLUMNS: dict[str, Any] = {
    "objects": _objects,
    "texts": _texts,
    "moments": _moments,
    "spans": _spans,
    "masked": _masked,
    "category": _category,
    "intervals": _intervals,
    "periods": _periods,
}
_BUILDERS: dict[str, Any] = {
    "frame": _frame,
    "series": _series,
    "index": _index_of,
    "moment": _moment,
    "span": _span,
    "interval": _interval,
    "period": _period,
    "missing": _missing,
}
