"""Tables that are wrong in one cell, for the audit: would a check notice?"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.sandbox.guest.wire_tables import kind_of_table

__all__ = ["spoilt_table"]


def spoilt_table(value: Any, share: float, number: int) -> Any:
    """A table, a Series or an index with one cell changed; which one depends on ``number``. An empty one gets something more."""
    kind = kind_of_table(value)
    if kind == "Index":
        return value[:-1] if len(value) else value.append(value.__class__([0]))
    other = value.copy()
    if not value.size:
        if kind == "DataFrame":
            other["spoilt"] = 0.0
        else:
            other.loc["spoilt"] = 0.0
        return other
    columns = 1 if kind == "Series" else value.shape[1]
    row, column = number // columns % len(value), number % columns
    held = value if kind == "Series" else value.iloc[:, column]
    items = held.tolist()
    items[row] = _other(items[row], items, share)
    changed = held.__class__(items, index=held.index, name=held.name)
    if kind == "Series":
        return changed
    other.isetitem(column, changed)
    return other


def _other(item: Any, items: list[Any], share: float) -> Any:
    """Something else of the kind, further from it than any tolerance."""
    if isinstance(item, bool | np.bool_):
        return not item
    if isinstance(item, int | float) and item == item:  # noqa: PLR0124 - NaN is not itself
        numbers = [abs(n) for n in items if isinstance(n, int | float) and abs(n) < np.inf]
        step = max(share * max(numbers, default=0.0), 0.001)
        return item + max(1, round(step)) if isinstance(item, int) else item + step
    if isinstance(item, str):
        return f"{item}?"
    return next((n for n in items if n is not item and str(n) != str(item)), 0.0 if item != item else None)  # noqa: PLR0124
