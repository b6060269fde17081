"""What a column of a table holds, whatever its dtype says: numbers, text, dates; and when two cells are the same.

pandas is needed only where a table is met. NumPy and the standard library besides: a student's own machine runs this too.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.sandbox.guest.wire_tables import is_pandas, kind_of_table
from autograder.values.numbers import close, equal

__all__ = [
    "WORDS",
    "Cells",
    "cells_of",
    "differing",
    "is_missing",
    "label_columns",
    "same_item",
    "shown_cell",
    "shown_label",
]

WORDS = {
    "numbers": "numbers",
    "booleans": "True and False",
    "text": "text",
    "dates": "dates",
    "durations": "durations",
    "other": "other values",
}
_LONGEST = 60  # characters of a cell or a label in a sentence


@dataclass(frozen=True, slots=True)
class Cells:
    """The values of a column: ``kind`` is a key of ``WORDS`` or ``""`` where all are missing; numbers are an array."""

    kind: str
    values: Any


def cells_of(column: Any) -> Cells:
    """The cells of a Series, an index without levels, or an array of pandas's; a missing number is NaN."""
    import pandas as pd  # noqa: PLC0415 - only tables need it

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.categories.dtype == object or isinstance(dtype.categories.dtype, pd.StringDtype):
            # Each row has the very text of its category: copies could fill the memory, and pandas makes some.
            held, codes = list(dtype.categories), getattr(column, "array", column).codes
            return _of_items([held[code] if code >= 0 else None for code in codes.tolist()])
        return cells_of(pd.Series(list(column), dtype=dtype.categories.dtype if not column.isna().any() else object))
    if isinstance(dtype, np.dtype) and dtype.kind in "biufc":
        values = np.asarray(column)
        return Cells("booleans" if dtype.kind == "b" else "numbers", values)
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        return Cells("numbers", pd.Series(column).to_numpy(dtype=np.float64, na_value=np.nan))
    return _of_items(list(column))


def _of_items(items: list[Any]) -> Cells:
    there = [item for item in items if not is_missing(item)]
    kinds = {_kind_of(item) for item in there}
    if kinds == {"numbers"}:
        try:
            return Cells(
                "numbers", np.array([np.nan if is_missing(item) else item for item in items], dtype=np.float64)
            )
        except (TypeError, ValueError, OverflowError):  # complex ones, or such as no float holds
            return Cells("other", items)
    if kinds == {"booleans"} and len(there) == len(items):
        return Cells("booleans", np.array(items, dtype=bool))
    return Cells(kinds.pop() if len(kinds) == 1 else "other" if kinds else "", items)


def _kind_of(item: Any) -> str:
    if isinstance(item, bool | np.bool_):
        return "booleans"
    if isinstance(item, int | float | np.integer | np.floating):
        return "numbers"
    if isinstance(item, str):
        return "text"
    if isinstance(item, dt.date | np.datetime64):
        return "dates"
    return "durations" if isinstance(item, dt.timedelta | np.timedelta64) else "other"


def is_missing(item: Any) -> bool:
    """Whether a cell is None, NaN, ``pd.NA`` or ``pd.NaT``."""
    if item is None:
        return True
    if isinstance(item, float | np.floating):
        return bool(item != item)  # noqa: PLR0124 - NaN is not itself
    return type(item).__name__ in {"NAType", "NaTType"} and type(item).__module__.startswith("pandas")


def differing(found: Cells, expected: Cells, rtol: float, atol: float) -> Any:
    """Where two columns of one length differ, as an array of booleans."""
    if found.kind in ("numbers", "booleans") and expected.kind == "numbers":
        return ~close(found.values, expected.values, rtol, atol)
    pairs = zip(found.values, expected.values, strict=True)
    return np.array([not same_item(a, b, rtol, atol) for a, b in pairs], dtype=bool)


def same_item(found: Any, expected: Any, rtol: float, atol: float) -> bool:
    """Whether two cells are the same: missing ones are, numbers are at tolerance."""
    if is_missing(found) or is_missing(expected):
        return is_missing(found) and is_missing(expected)
    kinds = _kind_of(found), _kind_of(expected)
    if kinds == ("numbers", "numbers"):
        try:
            return bool(close(np.asarray(float(found)), np.asarray(float(expected)), rtol, atol))
        except OverflowError:  # a whole number that no float holds
            return type(found) is type(expected) and bool(found == expected)
    if kinds[0] != kinds[1]:
        return False
    if hasattr(found, "closed") and hasattr(expected, "closed"):  # intervals
        ends = same_item(found.left, expected.left, rtol, atol) and same_item(found.right, expected.right, rtol, atol)
        return bool(found.closed == expected.closed) and ends
    if kinds[0] == "other" and is_pandas(found) and not kind_of_table(found):  # a period, and nothing that holds others
        return type(found) is type(expected) and bool(found == expected)
    if kinds[0] == "other":
        return _same_object(found, expected, rtol, atol)
    return bool(found == expected)


def _same_object(found: Any, expected: Any, rtol: float, atol: float) -> bool:
    try:
        return equal(found, expected, rtol=rtol, atol=atol)
    except (TypeError, ValueError):
        return False


def label_columns(index: Any) -> list[Any]:
    """An index as columns of labels, one for each level."""
    levels = getattr(index, "nlevels", 1)
    return [index.get_level_values(level) for level in range(levels)] if levels > 1 else [index]


def shown_label(label: Any) -> str:
    """A row's or a column's label in a sentence: ``'b'``, ``3``, ``2024-05-01``, ``('a', 1)``."""
    if isinstance(label, tuple):
        return f"({', '.join(map(shown_label, label))}{',' if len(label) == 1 else ''})"
    return shown_cell(label)


def shown_cell(item: Any, digits: int = 4) -> str:
    """A cell in a sentence; a missing one is said to be that."""
    from autograder.base.sanitize import shorten  # noqa: PLC0415
    from autograder.values.arrays import show  # noqa: PLC0415 - which shows tables with what stands here

    if is_missing(item):
        return "a missing value"
    if isinstance(item, dt.date) or type(item).__name__ in {"Interval", "Period", "Timedelta"}:
        return shorten(str(item).removesuffix(" 00:00:00"), _LONGEST)
    if kind_of_table(item):
        return f"a {kind_of_table(item)}"
    return shorten(show(item, digits), _LONGEST)
