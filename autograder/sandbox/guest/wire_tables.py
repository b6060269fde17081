"""Decompose pandas tables into built-in values and arrays, and rebuild them.

A DataFrame, a Series, an Index or a pandas scalar (a timestamp, a missing value) becomes a tuple that starts with a word
and contains arrays, strings and numbers. ``wire`` encodes it like any tuple. When a table is rebuilt, its parts are not
trusted: lengths, dtypes and counts are checked. The result is always of a pandas class, never of a student's subclass.

pandas is optional. Encoding uses pandas only if it is already loaded. Rebuilding imports it.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from types import ModuleType
from typing import Any

import numpy as np

from .wire_limits import MAX_COLLISIONS, Value
from .wire_plain import named_zone, zone_names

__all__ = [
    "MAX_CELLS", "MAX_COLUMNS", "MAX_ROWS", "TooLarge", "from_parts", "is_pandas", "kind_of_table", "levels_of",
    "plain_copy", "same_parts", "to_parts",
]  # fmt: skip

MAX_ROWS = 200_000
MAX_COLUMNS = 2_000
MAX_CELLS = 2_000_000
MAX_TEXT = 1 << 16  # characters of one string in a column of strings
MAX_LABELS = 8  # levels of a MultiIndex
MAX_LOOKED_UP = 10_000  # rows of a MultiIndex, or categories. Hostile labels could make pandas' lookups slow

_UNITS = frozenset({"s", "ms", "us", "ns"})
_MASKED = {
    **{f"{kind}{bits}": f"{kind.lower()}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)},
    "Float32": "float32", "Float64": "float64", "boolean": "bool",
}  # fmt: skip
_FREQUENCY = re.compile(r"[A-Za-z0-9-]{1,20}")
_OFFSET = re.compile(r"UTC([+-])(\d\d):(\d\d)")
_CLOSED = frozenset({"left", "right", "both", "neither"})
_ndarray, _asarray = np.ndarray, np.asarray


class TooLarge(ValueError):  # noqa: N818 - its name is shown in messages
    """Raised for a table with too many rows, columns or cells to be sent."""


def is_pandas(value: Value) -> bool:
    """Return whether ``value`` is a pandas table, column, index, extension array or scalar."""
    pandas = sys.modules.get("pandas")
    kinds = _kinds(pandas) if pandas is not None else ()
    return bool(kinds) and issubclass(type(value), kinds)


_types_by_module: dict[int, tuple[type, ...]] = {}


def _kinds(pandas: ModuleType) -> tuple[type, ...]:
    kinds = _types_by_module.get(id(pandas))
    if kinds is None:
        try:
            tables = (pandas.DataFrame, pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
            single = (pandas.Timestamp, pandas.Timedelta, pandas.Interval, pandas.Period)
            kinds = (*tables, *single, type(pandas.NaT), type(pandas.NA))
        except AttributeError:  # pandas is still being imported
            return ()
        _types_by_module[id(pandas)] = kinds
    return kinds


def kind_of_table(value: Value) -> str:
    """Return ``"DataFrame"``, ``"Series"`` or ``"Index"``, or ``""`` for anything else, including pandas scalars."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not _kinds(pandas):
        return ""
    kinds = ((pandas.DataFrame, "DataFrame"), (pandas.Series, "Series"), (pandas.Index, "Index"))
    return next((name for kind, name in kinds if issubclass(type(value), kind)), "")


def levels_of(value: Value) -> int:
    """Return how many levels of lists and tuples ``to_parts`` creates, not counting those inside cells."""
    return 7 if kind_of_table(value) else 2


def to_parts(value: Value) -> Any:
    """Decompose a pandas object into a tuple, or an extension array into a list. Raises ``TooLarge`` above a limit.

    Cells that contain objects are returned unchanged.
    """
    pandas = sys.modules["pandas"]
    kind = kind_of_table(value)
    if kind == "DataFrame":
        frame = value if type(value) is pandas.DataFrame else pandas.DataFrame(value)
        rows, columns = frame.shape
        if rows > MAX_ROWS or columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
            raise TooLarge(
                f"it is a DataFrame of {_many(rows, 'row')} and {_many(columns, 'column')}, but at most {MAX_ROWS:,} rows, "
                f"{MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells can be checked"
            )
        parts = [_column(pandas, column.array) for _name, column in frame.items()]
        return "frame", _index(pandas, frame.index), _index(pandas, frame.columns), parts
    if kind:
        if len(value) > MAX_ROWS:
            a = "an" if kind == "Index" else "a"
            raise TooLarge(f"it is {a} {kind} of {len(value):,} rows, but at most {MAX_ROWS:,} can be checked")
        if kind == "Index":
            return "index", _index(pandas, value)
        series = value if type(value) is pandas.Series else pandas.Series(value)
        return "series", series.name, _index(pandas, series.index), _column(pandas, series.array)
    if isinstance(value, pandas.api.extensions.ExtensionArray):
        if len(value) > MAX_ROWS:
            raise TooLarge(f"it is an array of {len(value):,} values, but at most {MAX_ROWS:,} can be checked")
        return [None if item is pandas.NA else item for item in value]
    return _scalar(pandas, value)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _scalar(pandas: ModuleType, value: Value) -> tuple[Any, ...]:
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


def _frequency(dtype: Value) -> str:
    return str(dtype.name).removeprefix("period[").removesuffix("]")


def _zone(zone: Value) -> str | None:
    """Return the name of a time zone, or UTC if it has no standard name. The timestamp stays correct in UTC."""
    if zone is None:
        return None
    name = str(zone)
    return name if _OFFSET.fullmatch(name) or name in zone_names() else "UTC"


def _zone_called(name: Value) -> dt.tzinfo:
    """Return the time zone called ``name``: UTC, an offset such as ``UTC+01:00``, or a known zone.

    Pass the zone itself to pandas, because pandas opens files for some names. Raises ``ValueError`` if the name is unknown.
    """
    if name == "UTC":
        return dt.UTC
    offset = _OFFSET.fullmatch(name) if type(name) is str else None
    if offset is None:
        return named_zone(name)
    sign = -1 if offset[1] == "-" else 1
    return dt.timezone(sign * dt.timedelta(hours=int(offset[2]), minutes=int(offset[3])))


def _index(pandas: ModuleType, index: Value) -> tuple[Any, ...]:
    if isinstance(index, pandas.RangeIndex):
        return "range", index.name, index.start, index.stop, index.step
    if isinstance(index, pandas.MultiIndex):
        if len(index) > MAX_LOOKED_UP:
            rows = f"{len(index):,} rows, but at most {MAX_LOOKED_UP:,} can be checked"
            raise TooLarge(f"its index has several levels and {rows}")
        levels = [_column(pandas, index.get_level_values(n).array) for n in range(index.nlevels)]
        return "levels", list(index.names), levels
    labels = _column(pandas, index.array)
    if type(labels) is tuple and labels[0] == "objects":
        labels = "objects", [item if _is_hashable(item) else f"a {type(item).__name__}" for item in labels[1]]
    return "labels", index.name, labels


def _is_hashable(item: Value) -> bool:
    try:
        hash(item)
    except Exception:  # noqa: BLE001 - a student's class may raise anything
        return False
    return True


def _column(pandas: ModuleType, array: Value) -> Any:
    """Return a column's values as an array of numbers or booleans, or as a tuple that starts with a word."""
    if type(array) is pandas.arrays.NumpyExtensionArray:  # this excludes string arrays, which are a subclass
        array = array.to_numpy()
    dtype = array.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind in "biufc":
            return _asarray(array)
        if dtype.kind == "M":
            times = pandas.DatetimeIndex(array)
            return "moments", times.unit, _asarray(times.asi8), None
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


def from_parts(parts: Value) -> Any:
    """Rebuild the value that ``parts`` describe. Raises ``ValueError`` if they are not exactly in the expected form."""
    if type(parts) is not tuple or not parts or type(parts[0]) is not str or parts[0] not in _BUILDERS:
        raise ValueError("a table has an unknown description")
    word, *rest = parts
    try:
        import pandas as pd  # noqa: PLC0415 - most courses have no tables

        return _BUILDERS[word](pd, *rest)
    except Exception as error:  # whatever pandas raises for parts that do not fit
        raise ValueError(f"a table's parts do not fit together: {type(error).__name__}") from error


def plain_copy(value: Value) -> Any:
    """Return a copy of ``value`` if it is a table of an exact pandas class and has no columns of objects, or None."""
    kind = kind_of_table(value)
    if not kind or type(value) is not getattr(sys.modules["pandas"], kind, None):
        return None
    dtypes = [*value.dtypes, value.columns.dtype] if kind == "DataFrame" else [value.dtype]
    dtypes += [value.index.dtype] if kind != "Index" else []
    return None if any(dtype.kind == "O" and str(dtype) not in ("str", "string") for dtype in dtypes) else value.copy()


def same_parts(one: Value, other: Value) -> bool:
    """Return whether the parts of two tables are equal bit for bit."""
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
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - NaN does not equal itself


def _frame(pandas: ModuleType, index: Value, columns: Value, parts: Value) -> Any:
    rows, names = _index_of(pandas, index), _index_of(pandas, columns)
    _require(type(parts) is list and len(parts) == len(names) <= MAX_COLUMNS)
    _require(len(rows) * len(names) <= MAX_CELLS)
    arrays = [_array_of(pandas, column) for column in parts]
    _require(all(len(array) == len(rows) for array in arrays))
    # Pass the dtype, because pandas would infer another dtype for objects.
    series = [pandas.Series(array, index=rows, dtype=array.dtype, copy=True) for array in arrays]
    frame = pandas.DataFrame(dict(enumerate(series)), index=rows)
    frame.columns = names
    return frame


def _series(pandas: ModuleType, name: Value, index: Value, column: Value) -> Any:
    rows, array = _index_of(pandas, index), _array_of(pandas, column)
    _require(len(rows) == len(array))
    return pandas.Series(array, index=rows, dtype=array.dtype, name=_label(name), copy=True)


def _index_of(pandas: ModuleType, parts: Value) -> Any:
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
        _require(_few_collisions(array))
        return pandas.Index(array, dtype=array.dtype, name=_label(name), copy=True, tupleize_cols=False)
    _require(word == "levels")
    names, levels = rest
    _require(type(names) is list and type(levels) is list and 1 <= len(levels) == len(names) <= MAX_LABELS)
    arrays = [_array_of(pandas, column) for column in levels]
    _require(len({len(array) for array in arrays}) == 1 and all(map(_quickly_looked_up, arrays)))
    return pandas.MultiIndex.from_arrays(arrays, names=[_label(name) for name in names])


def _quickly_looked_up(array: Value) -> bool:
    """Return whether ``array`` is short enough for lookups, and only a few objects in it have the same hash."""
    return len(array) <= MAX_LOOKED_UP and _few_collisions(array)


def _few_collisions(array: Value) -> bool:
    """Return whether only a few objects in ``array`` have the same hash. Raises ``TypeError`` if an object has no hash."""
    seen: dict[int, list[Any]] = {}
    if array.dtype == object:
        for item in array:
            same_hash = seen.setdefault(hash(item), [])
            if not any(item is other or item == other for other in same_hash):
                same_hash.append(item)
            if len(same_hash) > MAX_COLLISIONS:
                return False
    return True


def _label(name: Value) -> Any:
    hash(name)
    return name


def _array_of(pandas: ModuleType, parts: Value) -> Any:
    """Return the array that a column's parts describe. Raises ``ValueError`` if they are invalid."""
    if type(parts) is _ndarray:
        _require(parts.ndim == 1 and parts.dtype.kind in "biufc" and len(parts) <= MAX_ROWS)
        return parts.copy()
    _require(type(parts) is tuple and bool(parts) and type(parts[0]) is str)
    word, *rest = parts
    array = _COLUMNS[word](pandas, *rest)
    _require(len(array) <= MAX_ROWS)
    return array


def _objects(_pandas: ModuleType, items: Value) -> Any:
    _require(type(items) is list)
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):  # one by one, because NumPy would turn nested lists into axes
        array[place] = item
    return array


def _texts(pandas: ModuleType, dtype: Value, items: Value) -> Any:
    _require(dtype in ("str", "string") and type(items) is list)
    _require(all(item is None or (type(item) is str and len(item) <= MAX_TEXT) for item in items))
    return pandas.array(items, dtype=dtype)


def _timestamps(pandas: ModuleType, unit: Value, numbers: Value, zone: Value) -> Any:
    plain = pandas.DatetimeIndex(_whole(unit, numbers).view(f"M8[{unit}]"))
    if zone is None:
        return plain.array
    return plain.tz_localize("UTC").tz_convert(_zone_called(zone)).array


def _spans(pandas: ModuleType, unit: Value, numbers: Value) -> Any:
    return pandas.TimedeltaIndex(_whole(unit, numbers).view(f"m8[{unit}]")).array


def _whole(unit: Value, numbers: Value) -> Any:
    _require(unit in _UNITS and type(numbers) is _ndarray and numbers.ndim == 1 and numbers.dtype == np.int64)
    return numbers.copy()


def _masked(pandas: ModuleType, dtype: Value, values: Value, mask: Value) -> Any:
    _require(dtype in _MASKED and type(values) is _ndarray and type(mask) is _ndarray)
    _require(values.dtype == _MASKED[dtype] and mask.dtype == bool and values.shape == mask.shape == (len(mask),))
    kinds = pandas.arrays
    kind = {"b": kinds.BooleanArray, "f": kinds.FloatingArray}.get(values.dtype.kind, kinds.IntegerArray)
    return kind(values.copy(), mask.copy())


def _category(pandas: ModuleType, codes: Value, categories: Value, ordered: Value) -> Any:
    _require(type(codes) is _ndarray and codes.ndim == 1 and codes.dtype.kind == "i" and type(ordered) is bool)
    labels = _array_of(pandas, categories)
    _require(_quickly_looked_up(labels))
    index = pandas.Index(labels, dtype=labels.dtype)
    return pandas.Categorical.from_codes(codes.copy(), categories=index, ordered=ordered)


def _intervals(pandas: ModuleType, left: Value, right: Value, closed: Value) -> Any:
    _require(closed in _CLOSED)
    return pandas.arrays.IntervalArray.from_arrays(_array_of(pandas, left), _array_of(pandas, right), closed=closed)


def _periods(pandas: ModuleType, frequency: Value, ordinals: Value) -> Any:
    _require(type(frequency) is str and _FREQUENCY.fullmatch(frequency) is not None)
    return pandas.PeriodIndex.from_ordinals(_whole("ns", ordinals), freq=frequency).array


def _timestamp(pandas: ModuleType, unit: Value, number: Value, zone: Value) -> Any:
    _require(type(number) is int and abs(number) < 2**63)
    return pandas.Series(_timestamps(pandas, unit, np.array([number]), zone)).iloc[0]


def _span(pandas: ModuleType, unit: Value, number: Value) -> Any:
    _require(type(number) is int and abs(number) < 2**63)
    return pandas.Series(_spans(pandas, unit, np.array([number]))).iloc[0]


def _interval(pandas: ModuleType, left: Value, right: Value, closed: Value) -> Any:
    kinds = (int, float, pandas.Timestamp, pandas.Timedelta)
    _require(closed in _CLOSED and all(type(e) in kinds or issubclass(type(e), np.number) for e in (left, right)))
    return pandas.Interval(left, right, closed)


def _period(pandas: ModuleType, frequency: Value, ordinal: Value) -> Any:
    _require(type(ordinal) is int and abs(ordinal) < 2**62)
    return pandas.Series(_periods(pandas, frequency, np.array([ordinal]))).iloc[0]


def _missing(pandas: ModuleType, which: Value) -> Any:
    _require(which in ("NA", "NaT"))
    return pandas.NA if which == "NA" else pandas.NaT


def _require(fine: bool) -> None:  # noqa: FBT001 - reads like an assert statement
    if not fine:
        raise ValueError("a part of a table has an invalid form")


_COLUMNS: dict[str, Any] = {
    "objects": _objects, "texts": _texts, "moments": _timestamps, "spans": _spans, "masked": _masked,
    "category": _category, "intervals": _intervals, "periods": _periods,
}  # fmt: skip
_BUILDERS: dict[str, Any] = {
    "frame": _frame, "series": _series, "index": _index_of, "moment": _timestamp, "span": _span, "interval": _interval,
    "period": _period, "missing": _missing,
}  # fmt: skip
