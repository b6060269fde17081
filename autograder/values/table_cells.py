"""Compare the cells of tables, whatever their dtypes, and find the rows that differ.

pandas is imported only if a table is compared.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autograder.base.foreign import Value
from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire_tables import is_pandas, kind_of_table
from autograder.values.closeness import as_array, close
from autograder.values.family import Rules, equal, show

__all__ = [
    "WORDS", "Cells", "cells_of", "differing_cells", "is_missing", "label_columns", "same_item", "shown_cell", "shown_label",
    "unpaired_rows",
]  # fmt: skip

WORDS = {kind: kind for kind in ("numbers", "text", "dates", "durations")}
WORDS |= {"booleans": "True and False", "other": "other values"}
_LONGEST = 60  # characters of a cell or a label in a sentence
MAX_PAIRED = 400  # if at most this many rows differ after sorting, they are compared pair by pair


@dataclass(frozen=True, slots=True)
class Cells:
    """The values of a column. ``kind`` is a key of ``WORDS``, or ``""`` if all values are missing. Numbers are stored as an array."""

    kind: str
    entries: Value


def cells_of(column: Value) -> Cells:
    """Return the cells of a Series, an Index without several levels, or a pandas array. A missing number is NaN."""
    import pandas as pd  # noqa: PLC0415 - only tables need it

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.categories.dtype == object or isinstance(dtype.categories.dtype, pd.StringDtype):
            # Let all rows of a category share one string. pandas would copy some strings, which could fill the memory.
            held, codes = list(dtype.categories), (column.array if hasattr(column, "array") else column).codes
            return _of_items([held[code] if code >= 0 else None for code in codes.tolist()])
        return cells_of(pd.Series(list(column), dtype=dtype.categories.dtype if not column.isna().any() else object))
    if isinstance(dtype, np.dtype) and dtype.kind in "biufc":
        values = np.asarray(column)
        return Cells("booleans" if dtype.kind == "b" else "numbers", values)
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        return Cells("numbers", pd.Series(column).to_numpy(dtype=np.float64, na_value=np.nan))
    return _of_items(list(column))


def _of_items(items: list[Value]) -> Cells:
    there = [item for item in items if not is_missing(item)]
    kinds = {_kind_of(item) for item in there}
    if kinds == {"numbers"}:
        numbers = [np.nan if is_missing(item) else item for item in items]
        array = as_array(numbers, np.float64)
        # Complex numbers, and whole numbers too large for a float, cannot be converted.
        return Cells("other", items) if array is None else Cells("numbers", array)
    if kinds == {"booleans"} and len(there) == len(items):
        return Cells("booleans", as_array(items, np.bool_))
    return Cells(kinds.pop() if len(kinds) == 1 else "other" if kinds else "", items)


def _kind_of(item: Value) -> str:
    if isinstance(item, bool | np.bool_):
        return "booleans"
    if isinstance(item, int | float | np.integer | np.floating):
        return "numbers"
    if isinstance(item, str):
        return "text"
    if isinstance(item, dt.date | np.datetime64):
        return "dates"
    return "durations" if isinstance(item, dt.timedelta | np.timedelta64) else "other"


def is_missing(item: Value) -> bool:
    """Return whether a cell is None, NaN, ``pd.NA`` or ``pd.NaT``."""
    if item is None:
        return True
    if isinstance(item, float | np.floating):
        return bool(item != item)  # noqa: PLR0124 - NaN does not equal itself
    return type(item).__name__ in {"NAType", "NaTType"} and type(item).__module__.startswith("pandas")


def _differing(found: Cells, expected: Cells, rules: Rules) -> Value:
    """Return a boolean array that is True at each row in which two columns of equal length differ."""
    if found.kind in ("numbers", "booleans") and expected.kind == "numbers":
        return ~close(found.entries, expected.entries, rules.rtol, rules.atol)
    pairs = zip(found.entries, expected.entries, strict=True)
    return np.array([not same_item(a, b, rules) for a, b in pairs], dtype=bool)


def same_item(found: Value, expected: Value, rules: Rules) -> bool:
    """Return whether two cells are equal. Numbers are compared within tolerance, and all missing values are equal."""
    if is_missing(found) or is_missing(expected):
        return is_missing(found) and is_missing(expected)
    kinds = _kind_of(found), _kind_of(expected)
    if kinds == ("numbers", "numbers"):
        if isinstance(found, int | np.integer) and isinstance(expected, int | np.integer):
            return int(found) == int(expected)
        try:
            return bool(close(np.asarray(float(found)), np.asarray(float(expected)), rules.rtol, rules.atol))
        except OverflowError:  # a whole number that does not fit into a float
            return False
    if kinds[0] != kinds[1]:
        return False
    if hasattr(found, "closed") and hasattr(expected, "closed"):  # both are intervals
        ends = same_item(found.left, expected.left, rules) and same_item(found.right, expected.right, rules)
        return bool(found.closed == expected.closed) and ends
    if kinds[0] != "other":
        try:
            return bool(found == expected)
        except TypeError:  # a pandas timestamp and a missing NumPy date
            return False
    if any(is_pandas(item) and not kind_of_table(item) for item in (found, expected)):
        if type(found) is not type(expected):
            return False
        return bool(found.equals(expected) if hasattr(found, "equals") else found == expected)
    return equal(found, expected, rules.of_part("it"))


def label_columns(index: Value) -> list[Value]:
    """Return an index as columns of labels, one for each level."""
    levels = getattr(index, "nlevels", 1)
    return [index.get_level_values(level) for level in range(levels)] if levels > 1 else [index]


def shown_label(label: Value) -> str:
    """Return the label of a row or column as text: ``'b'``, ``3``, ``2024-05-01``, ``('a', 1)``."""
    if isinstance(label, tuple):
        return f"({', '.join(map(shown_label, label))}{',' if len(label) == 1 else ''})"
    return shown_cell(label)


def shown_cell(item: Value, digits: int = 4) -> str:
    """Return a cell as text."""
    if is_missing(item):
        return "a missing value"
    if isinstance(item, dt.date) or type(item).__name__ in {"Interval", "Period", "Timedelta"}:
        return shorten(str(item).removesuffix(" 00:00:00"), _LONGEST)
    if kind_of_table(item):
        return f"a {kind_of_table(item)}"
    return shorten(show(item, digits), _LONGEST)


Pairs = Sequence[tuple[Cells, Cells]]


def differing_cells(pairs: Pairs, rules: Rules) -> Value:
    """Return a boolean array (rows, columns) that is True at cells that differ. ``pairs`` contains (found, expected) for each column."""
    if not pairs:
        return np.zeros((0, 0), dtype=bool)
    return np.stack([_differing(one, other, rules) for one, other in pairs], axis=1)


def unpaired_rows(pairs: Pairs, rules: Rules) -> tuple[list[int], list[int]]:
    """Return the positions of the missing and the extra rows, regardless of the order of rows."""
    orders = [_order([pair[side] for pair in pairs]) for side in (0, 1)]
    sorted_pairs = [(_taken(one, orders[0]), _taken(other, orders[1])) for one, other in pairs]
    wrong = differing_cells(sorted_pairs, rules).any(axis=1)
    if not wrong.any():
        return [], []
    left = [[order[i] for i in np.flatnonzero(wrong)] for order in orders]
    if len(left[0]) > MAX_PAIRED:
        return left[1], left[0]
    spare, lacking = list(left[0]), []
    for row in left[1]:  # sorting may separate rows that are equal within tolerance
        cells = [(one, other.entries[row]) for one, other in pairs]
        match = next((s for s in spare if all(same_item(c.entries[s], item, rules) for c, item in cells)), None)
        if match is None:
            lacking.append(row)
        else:
            spare.remove(match)
    return lacking, spare


def _order(columns: Sequence[Cells]) -> list[int]:
    count = len(columns[0].entries)
    return sorted(range(count), key=lambda row: [_sort_key(column.entries[row]) for column in columns])


def _sort_key(item: Value) -> tuple[str, Value]:
    if is_missing(item):
        return "", 0
    if isinstance(item, int | float | np.integer | np.floating | np.bool_):
        try:
            return "number", float(f"{float(item):.5g}")
        except OverflowError:  # a whole number that does not fit into a float
            return "number", item
    return type(item).__name__, str(item)


def _taken(cells: Cells, order: list[int]) -> Cells:
    if isinstance(cells.entries, np.ndarray):
        return Cells(cells.kind, cells.entries[order])
    return Cells(cells.kind, [cells.entries[row] for row in order])
