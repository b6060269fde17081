"""Show tables in messages as pandas prints them (cut if they are large), or as a line of Python to paste."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

import numpy as np

from autograder.base.foreign import Value
from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire_tables import kind_of_table
from autograder.values.messages import count
from autograder.values.table_cells import is_missing, shown_cell

__all__ = ["paste_table", "rows_around", "show_table"]

MAX_ROWS, MAX_COLUMNS = 12, 10  # the most rows and columns of a table that is shown whole
MAX_CELLS = 60  # a table with more cells is described instead of pasted
WIDTH, CELL = 110, 30  # characters of a line, and of a cell
_NUMBER = re.compile(r"\s*[-+]?[\d.]{1,20}\s*|nan|NaN|True|False|None|\s*")
STARTS = 3  # the number of rows shown of a larger table


def show_table(value: Value, digits: int = 4) -> str:
    """Return a pandas object as pandas prints it. A table takes several lines, and is cut if it is long."""
    kind = kind_of_table(value)
    if kind == "Index":
        return f"Index({shorten(_list(list(value[:MAX_ROWS])), 400)}{'' if len(value) <= MAX_ROWS else ', …'})"
    if not kind:
        return "a missing value" if is_missing(value) else f"{type(value).__name__}({str(value)!r})"
    more = len(value) - MAX_ROWS
    shown = _printed(value.iloc[:MAX_ROWS] if more > 0 else value, digits)
    return f"{shown}\n… and {more:,} more row{'s' * (more > 1)}" if more > 0 else shown


def rows_around(found: Value, expected: Value) -> Callable[[Value, int], str] | None:
    """Return a function that shows a few rows of two long tables around the first difference, or None for other values."""
    kind = kind_of_table(expected)
    if kind not in ("DataFrame", "Series") or kind_of_table(found) != kind or len(found) != len(expected) <= MAX_ROWS:
        return None
    if found.shape != expected.shape or (kind == "DataFrame" and list(found.columns) != list(expected.columns)):
        return None
    place = next((i for i in range(len(found)) if _row(found, i) != _row(expected, i)), None)
    if place is None or place < STARTS:
        return None
    first = max(0, place - 2)

    def write(value: Value, digits: int) -> str:
        rows = value.iloc[first : first + 5]
        return f"{_printed(rows, digits)}\n(rows from position {first} on, out of {len(value):,})"

    return write


def _row(value: Value, place: int) -> list[str]:
    row = value.iloc[place]
    return [shown_cell(item, 12) for item in (row if kind_of_table(value) == "DataFrame" else [row])]


def _printed(value: Value, digits: int) -> str:
    def number(item: float) -> str:
        return f"{item + 0.0:.{digits}g}"

    if kind_of_table(value) == "Series":
        if not len(value):
            return "an empty Series"
        return str(value.map(_short, na_action="ignore").to_string(float_format=number))
    if not value.shape[1] or not len(value):
        columns = f"columns {_list(list(value.columns[:MAX_COLUMNS]))}" if value.shape[1] else "no columns"
        return f"a DataFrame of {len(value):,} rows with {columns}"
    short = value.iloc[:, :MAX_COLUMNS].copy()
    text = short.map(_short, na_action="ignore").to_string(float_format=number, line_width=WIDTH, max_colwidth=CELL)
    more = value.shape[1] - MAX_COLUMNS
    return f"{text}\n… and {more:,} more column{'s' * (more > 1)}" if more > 0 else str(text)


def _short(item: Value) -> Value:
    if isinstance(item, str):
        return repr(item) if _NUMBER.fullmatch(item) else shorten(item, CELL)  # quote a string such as "1"
    plain = isinstance(item, bool | int | float | np.generic | dt.date | dt.timedelta)
    return item if plain else shown_cell(item)


def paste_table(name: str, value: Value) -> str:
    """Return ``name = pd.DataFrame(…)``, a line of Python. A large table is described instead, with its first rows."""
    kind = kind_of_table(value)
    size = int(np.prod(value.shape)) if kind else 0
    if size > MAX_CELLS:
        what = f"{kind} of {len(value):,} values"
        if kind == "DataFrame":
            what = f"DataFrame of {len(value):,} rows and {count(value.shape[1], 'column')}"
        start = "" if kind == "Index" else f" that starts with\n{_printed(value.iloc[:STARTS], 6)}"
        return f"{name} is {'an' if kind == 'Index' else 'a'} {what}{start}"
    return f"{name} = {_python(value)}"


def _python(value: Value) -> str:
    kind = kind_of_table(value)
    if kind == "DataFrame":
        return _frame(value)
    if kind == "Series":
        named = f", name={value.name!r}" if value.name is not None else ""
        return f"pd.Series({_column(value)}{_index(value.index)}{named})"
    return f"pd.Index({_column(value)})" if kind == "Index" else _item(value)


def _frame(value: Value) -> str:
    names = list(value.columns)
    has_levels = getattr(value.columns, "nlevels", 1) > 1
    if len(set(names)) < len(names) or has_levels:
        rows = "[" + ", ".join(_list(list(row)) for row in value.itertuples(index=False, name=None)) + "]"
        labels = f"pd.MultiIndex.from_tuples({_list(names)})" if has_levels else _list(names)
        return f"pd.DataFrame({rows}, columns={labels}{_index(value.index)})"
    if not names:
        return f"pd.DataFrame({_index(value.index).removeprefix(', ')})"
    columns = ", ".join(f"{_item(name)}: {_column(value[name])}" for name in names)
    return f"pd.DataFrame({{{columns}}}{_index(value.index)})"


def _index(index: Value) -> str:
    if type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1) and index.name is None:
        return ""
    if index.nlevels > 1:
        named = f", names={_list(list(index.names))}" if any(n is not None for n in index.names) else ""
        return f", index=pd.MultiIndex.from_tuples({_list(list(index))}{named})"
    labels = _column(index)
    return f", index={labels}" if index.name is None else f", index=pd.Index({labels}, name={_item(index.name)})"


def _column(column: Value) -> str:
    """Return a column as Python code, with its dtype if the values alone would give another dtype."""
    dtype, items = str(column.dtype), list(column)
    if dtype == "category":
        ordered = ", ordered=True" if column.dtype.ordered else ""
        return f"pd.Categorical({_list(items)}, categories={_list(list(column.dtype.categories))}{ordered})"
    if dtype.startswith(("datetime64", "timedelta64")):
        return _times(column, items)
    text = _list(items)
    usual = {"int64", "float64", "bool", "str", "object"}
    if dtype == "float64" and items and all(not is_missing(i) and float(i).is_integer() for i in items):
        return text  # a number such as 1.0 shows that the column is float64
    if dtype not in usual or (not items and dtype != "object"):
        return f"pd.array({text}, dtype={dtype!r})"
    return text


def _times(column: Value, items: list[Value]) -> str:
    if str(column.dtype).startswith("timedelta64"):
        texts = ["None" if is_missing(item) else repr(str(item)) for item in items]
        return f"pd.to_timedelta([{', '.join(texts)}])"
    zone = getattr(column.dtype, "tz", None)
    plain = [item if is_missing(item) or zone is None else item.tz_convert("UTC").tz_localize(None) for item in items]
    days = all(is_missing(item) or str(item).endswith(" 00:00:00") for item in plain)
    texts = ["None" if is_missing(item) else repr(str(item)[:10] if days else str(item)) for item in plain]
    mixed = len({len(text) for text in texts} - {4}) > 1
    options = f"{', format=' + repr('ISO8601') if mixed else ''}{', utc=True' if zone is not None else ''}"
    moved = f".tz_convert({str(zone)!r})" if zone is not None else ""
    return f"pd.to_datetime([{', '.join(texts)}]{options}){moved}"


def _list(items: list[Value]) -> str:
    return f"[{', '.join(map(_item, items))}]"


def _item(item: Value) -> str:
    if isinstance(item, tuple):
        return f"({', '.join(map(_item, item))}{',' if len(item) == 1 else ''})"
    if isinstance(item, np.generic):
        item = item.item()
    if isinstance(item, float):
        return "np.nan" if item != item else repr(item).replace("inf", "np.inf")  # noqa: PLR0124
    name = type(item).__name__
    if name in {"NAType", "NaTType"}:
        return f"pd.{name.removesuffix('Type')}"
    if name == "Interval":
        return f"pd.Interval({_item(item.left)}, {_item(item.right)}, closed={item.closed!r})"
    if name == "Period":
        return f"pd.Period({str(item)!r}, freq={item.freqstr!r})"
    if name in {"Timestamp", "Timedelta"}:
        return f"pd.{name}({str(item)!r})"
    return shorten(repr(item), 400)
