"""The rows of two tables, column by column: in which cells they differ, and which rows have no partner in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.values.table_cells import Cells, differing, is_missing, same_item

__all__ = ["differing_cells", "unpaired_rows"]

MAX_PAIRED = 400  # rows that are paired one by one where no order of both makes them meet

Pairs = Sequence[tuple[Cells, Cells]]


def differing_cells(pairs: Pairs, rtol: float, atol: float) -> Any:
    """Where the cells differ, as booleans: a row for each row, a column for each of ``pairs`` (found, expected)."""
    if not pairs:
        return np.zeros((0, 0), dtype=bool)
    return np.stack([differing(one, other, rtol, atol) for one, other in pairs], axis=1)


def unpaired_rows(pairs: Pairs, rtol: float, atol: float) -> tuple[list[int], list[int]]:
    """The rows that are expected and not there, and those that are there and not expected, in any order."""
    orders = [_order([pair[side] for pair in pairs]) for side in (0, 1)]
    in_order = [(_taken(one, orders[0]), _taken(other, orders[1])) for one, other in pairs]
    wrong = differing_cells(in_order, rtol, atol).any(axis=1)
    if not wrong.any():
        return [], []
    left = [[order[i] for i in np.flatnonzero(wrong)] for order in orders]
    if len(left[0]) > MAX_PAIRED:
        return left[1], left[0]
    spare, lacking = list(left[0]), []
    for row in left[1]:  # rows that are the same at tolerance need not be neighbours
        cells = [(one, other.values[row]) for one, other in pairs]
        match = next((s for s in spare if all(same_item(c.values[s], item, rtol, atol) for c, item in cells)), None)
        if match is None:
            lacking.append(row)
        else:
            spare.remove(match)
    return lacking, spare


def _order(columns: Sequence[Cells]) -> list[int]:
    count = len(columns[0].values)
    return sorted(range(count), key=lambda row: [_sort_key(column.values[row]) for column in columns])


def _sort_key(item: Any) -> tuple[str, Any]:
    if is_missing(item):
        return "", 0
    if isinstance(item, bool | int | float | np.number | np.bool_) and not isinstance(
        item, complex | np.complexfloating
    ):
        try:
            return "number", float(f"{float(item):.5g}")
        except OverflowError:  # a whole number that no float holds
            return "number", item
    return type(item).__name__, str(item)


def _taken(cells: Cells, order: list[int]) -> Cells:
    if isinstance(cells.values, np.ndarray):
        return Cells(cells.kind, cells.values[order])
    return Cells(cells.kind, [cells.values[row] for row in order])
