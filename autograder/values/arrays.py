"""NumPy arrays. Numbers are compared within a tolerance, strings and dates exactly."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from autograder.base.foreign import Value
from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire import in_layout, layout_of
from autograder.values.closeness import NumericFamily, array_differences, as_array, close, shape_words
from autograder.values.family import (
    MAX_ITEMS,
    MAX_TEXT,
    Difference,
    Index,
    Rules,
    describe,
    differences,
    outline,
    show,
    source,
)
from autograder.values.messages import mismatch_message, wrong_builtin_type

__all__ = ["ArrayFamily"]

_NUMBERS = "biufc"
# Pairs of dtype kinds whose comparison depends on no option of `Rules` except the tolerances.
_COMPARED = frozenset({"bb", "ff", "ii", "fi", "if", "iu", "ui", "uu", "cc"})
_BUILTIN = {"U": "strings", "M": "dates", "m": "time spans"}
# A second line of Python that gives the pasted array ``@`` its memory order (see ``in_layout``).
_ORDERS = {
    "": "",
    "F": "@ = np.asfortranarray(@)",
    "R": "@ = np.flip(np.flip(@).copy())  # reversed in memory",
    "v": "@ = np.repeat(@.T, 2, axis=-1)[..., ::2].T  # not contiguous in memory",
}


class ArrayFamily(NumericFamily):
    """The family of NumPy arrays."""

    types: ClassVar[tuple[type, ...]] = (np.ndarray,)
    has_cells = True

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if rules.nested:
            yield from _exact_differences(found, expected)
        elif expected.dtype.kind not in _NUMBERS:  # an array of objects, compared as a list
            items = found.tolist() if isinstance(found, np.ndarray) else found
            yield from differences(items, expected.tolist(), rules)
        else:
            if rules.of_largest:
                largest = float(np.abs(np.nan_to_num(expected)).max(initial=0.0))
                rules = replace(rules, atol=max(rules.atol, rules.of_largest * largest))
            yield from array_differences(found, expected, rules)

    def quickly_equal(self, found: Value, expected: Value, rules: Rules) -> bool | None:
        if type(found) is not np.ndarray or rules.nested or found.dtype.kind + expected.dtype.kind not in _COMPARED:
            return None
        if found.shape != expected.shape:
            return False
        same = bool(close(found, expected, rules.rtol, rules.atol).all())
        return same if same or not rules.of_largest else None

    def is_builtin(self, value: Value) -> bool:
        return value.dtype.kind in _BUILTIN

    def holds_array(self, value: Value) -> bool:
        return value.dtype.kind not in _BUILTIN and value.ndim > 0

    def pieces(self, value: Value, digits: int, depth: int) -> Iterator[str]:
        if not value.ndim:
            yield show(value[()], digits) if value.dtype.kind in _NUMBERS else str(value[()])
        elif value.size > MAX_ITEMS:
            start = numbers_text(value.ravel()[:4], digits)[:-1]
            yield f"an array of {shape_words(value.shape)} that starts with {start}, …]"
        else:
            yield numbers_text(value, digits)

    def excerpt(self, found: Value, expected: Value, first: Index) -> Callable[[Value, int], str] | None:
        if not any(first) or expected.size <= MAX_ITEMS:
            return None
        *rows, column = first
        place = ", ".join(map(str, first))

        def write(value: Value, digits: int) -> str:
            some = value[(*rows, slice(column, column + 4))]
            text, many = numbers_text(some, digits), some.size > 1
            where = f"{text} from index [{place}] on" if many else f"{text[1:-1]} at index [{place}]"
            return f"an array of {shape_words(value.shape)} with {where}"

        return write

    def source(self, value: Value, depth: int) -> str:
        body = _items_source(value)
        usual = value.dtype in (np.float64, np.int64, np.bool_) or value.dtype.kind == "U"
        name = value.dtype.str[1:] if value.dtype.kind in "Mm" else value.dtype.name
        return f"np.array({body})" if usual else f"np.array({body}, dtype={name!r})"

    def paste(self, name: str, value: Value) -> str:
        if value.size > MAX_ITEMS:
            return f"{name} is an array of {shape_words(value.shape)}"
        dtype = "" if value.dtype in (np.float64, np.int64, np.bool_) else f", dtype=np.{value.dtype.name}"
        if value.dtype.kind in _BUILTIN:
            return f"{name} = {source(value)}"
        if not value.size:
            return f"{name} = np.zeros({value.shape}{dtype})"  # brackets alone do not distinguish (0, 3) from (0, 5)
        order = _ORDERS[layout_of(value)].replace("@", name)
        return f"{name} = np.array({_items_source(value)}{dtype})\n{order}".rstrip()

    def kind(self, value: Value) -> str:
        what = _BUILTIN.get(value.dtype.kind)
        return f"an array of {what} of shape {value.shape}" if what else ""

    def describe(self, value: Value) -> str:
        return f"one array of {shape_words(value.shape)}"

    def copy(self, value: Value, leaf: Callable[[Value], Value]) -> Value:
        return value.copy() if value.flags.c_contiguous else in_layout(value, layout_of(value))

    def identity(self, value: Value) -> Hashable:
        return (value.dtype.str, value.shape, value.tobytes(), layout_of(value))

    def outline(self, value: Value, rules: Rules) -> Hashable:
        return outline(value.tolist(), rules)

    def schema(self, value: Value) -> Hashable:
        return (value.dtype.str, value.shape)

    def backwards(self, value: Value) -> Value:
        return np.flip(value).copy() if value.dtype.kind == "f" else value


def _items_source(value: np.ndarray) -> str:
    text = repr((value.astype(str) if value.dtype.kind in "Mm" else value).tolist())
    return text.replace("nan", "np.nan").replace("inf", "np.inf") if value.dtype.kind in "fc" else text


def _exact_differences(found: Value, expected: np.ndarray) -> Iterator[Difference]:
    """Yield the differences of ``found`` from an array of strings or dates. ``found`` may be a list of strings or dates."""
    if isinstance(found, list | tuple):
        if expected.dtype.kind == "U":
            yield from _differing_texts(found, expected)
            return
        found = as_array(found, expected.dtype)
    if not isinstance(found, np.ndarray) or found.dtype.kind != expected.dtype.kind:
        yield wrong_builtin_type(found, describe(expected), expected)
        return
    if found.shape != expected.shape:
        yield _other_shape(found.shape, expected)
        return
    try:
        same = found == expected
    except (TypeError, ValueError, OverflowError):  # years and days have no common unit
        same = np.zeros(expected.shape, dtype=bool)
    if expected.dtype.kind in "Mm":
        same |= np.isnat(found) & np.isnat(expected)
    if not same.all():
        place = tuple(int(i) for i in np.argwhere(~same)[0])
        yield mismatch_message(found[place], expected[place]).within("array", place)


def _differing_texts(found: Value, expected: np.ndarray) -> Iterator[Difference]:
    """Yield the first difference between nested lists and an array of strings.

    The lists are not converted to an array, because each string would take as much memory as the longest.
    """
    shape: list[int] = []
    level: list[Value] = [found]
    while len(shape) < expected.ndim and level and all(map(_has_texts, level)):
        if len({len(items) for items in level}) > 1:
            break
        shape.append(len(level[0]))
        level = [item for items in level for item in items]
    if not all(isinstance(item, str) for item in level):
        yield wrong_builtin_type(found, describe(expected), expected)
    elif tuple(shape) != expected.shape:
        yield _other_shape(tuple(shape), expected)
    else:
        for place, item in zip(np.ndindex(*expected.shape), level, strict=True):
            if item != expected[place]:
                yield mismatch_message(item, expected[place]).within("array", place)
                return


def _has_texts(items: Value) -> bool:
    return isinstance(items, list | tuple) or (
        isinstance(items, np.ndarray) and items.ndim > 0 and items.dtype.kind == "U"
    )


def _other_shape(shape: tuple[int, ...], expected: np.ndarray) -> Difference:
    clause = f"has shape {shape}, but it should have shape {expected.shape}."
    return Difference(f"the array {clause}", "shape", alone=f"it {clause}")


def numbers_text(value: np.ndarray, digits: int) -> str:
    """Return an array as text: nested brackets with numbers rounded to ``digits`` significant digits."""
    if value.dtype.kind == "b":
        return str(value.tolist())
    if value.dtype.kind not in _NUMBERS:
        return shorten(str((value.astype(str) if value.dtype.kind in "Mm" else value).tolist()), MAX_TEXT)

    def write(items: Value) -> str:
        if isinstance(items, list):
            return "[" + ", ".join(write(i) for i in items) + "]"
        return f"{items + 0.0:.{digits}g}" if isinstance(items, float | complex) else str(items)

    return write(value.tolist())
