"""Compare arrays, lists and single numbers within the course's tolerances."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autograder.base.foreign import Value
from autograder.sandbox.guest.wire_plain import ObjectArray
from autograder.values.family import (
    ATOL,
    NOISE,
    RTOL,
    Difference,
    Family,
    Index,
    Rules,
    family_of,
    show_apart,
    type_difference,
)

__all__ = ["NumericFamily", "array_differences", "as_array", "close", "first_index", "shape_words", "tolerances"]

_RTOL32, _ATOL32 = 1e-3, 1e-4
_NUMBERS = (int, float, complex, np.generic, np.ndarray)
# The most entries that all arrays in a list may have together, because NumPy would convert all of them to the widest type.
MAX_NUMBERS = 1 << 24


def tolerances(*values: Value) -> tuple[float, float]:
    """Return the tolerances ``(rtol, atol)`` for results computed from ``values``, looser if any value is float32 or narrower."""
    return (_RTOL32, _ATOL32) if any(family_of(value).is_narrow(value) for value in values) else (RTOL, ATOL)


def shape_words(shape: tuple[int, ...]) -> str:
    """Return a shape as text: ``shape (2, 3)``, or ``a single number`` for ``()``."""
    return f"shape {tuple(int(n) for n in shape)}" if shape else "a single number"


def close(found: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> Value:
    """Return ``np.isclose(found, expected, rtol, atol, equal_nan=True)``, but several times faster for small arrays.

    Two boolean arrays, and two arrays of whole numbers, are compared exactly.
    """
    kinds = found.dtype.kind + expected.dtype.kind
    if kinds in _EXACT_KINDS:
        return found == expected
    if kinds[0] in "biu":
        found = found.astype(np.float64)
    if kinds[1] in "biu":
        expected = expected.astype(np.float64)
    with np.errstate(all="ignore"):
        near = (np.abs(found - expected) <= atol + rtol * np.abs(expected)) & np.isfinite(expected)
        return near | (found == expected) | ((found != found) & (expected != expected))  # noqa: PLR0124 - NaN does not equal itself


_EXACT_KINDS = frozenset({"bb", "ii", "iu", "ui", "uu"})


def as_array(value: Value, dtype: Value = None) -> np.ndarray | None:
    """Return the numbers in ``value``, which may be a list, as an array. Return None if it has other items or rows of different lengths.

    Whole numbers that are too large for NumPy's integers become floats, as in arithmetic with any array. If ``dtype`` is
    given (floats, booleans or dates), convert to it, even from strings. Only this function makes an array from a student's list.
    """
    if value is None or isinstance(value, dict | set | bytes | range) or hasattr(value, "type"):
        return None
    if isinstance(value, str) and dtype is None:
        return None
    if isinstance(value, tuple | list):
        parts = [*_parts(value)]
        # If one of thousands of items is a long string, NumPy would make every item that long.
        if dtype is None and not all(isinstance(part, _NUMBERS) for part in parts):
            return None
        if sum(part.size for part in parts if isinstance(part, np.ndarray)) > MAX_NUMBERS:
            return None
    try:
        array = np.asarray(value, dtype)
        if array.dtype.kind == "O" and all(isinstance(item, int | float) for item in array.flat):
            array = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError, MemoryError):
        return None
    return array if array.dtype.kind in "biufc" or dtype is not None else None


def _parts(value: Value) -> Iterator[Value]:
    for part in value:
        yield from _parts(part) if isinstance(part, tuple | list) else (part,)


class NumericFamily(Family):
    """The base class of the families of numbers and arrays."""

    def is_narrow(self, value: Value) -> bool:
        return isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "fc" and value.dtype.itemsize < 8

    def is_perturbable(self, value: Value) -> bool:
        return np.asarray(value).dtype.kind in "biufc"

    def perturb(self, value: Value, where: int, by: float) -> Value:
        array = np.array(value)
        if not array.size or array.dtype.kind not in "biuf":
            return value
        entry = where % array.size
        if array.dtype.kind == "b":
            array.flat[entry] = not array.flat[entry]
        elif array.dtype.kind in "iu":
            array.flat[entry] += max(1, round(by * abs(int(array.flat[entry])))) if by > 0.01 else 1
        else:
            finite = np.abs(array[np.isfinite(array)])
            largest = float(finite.max()) if finite.size else 0.0
            array.flat[entry] = np.nan_to_num(array.flat[entry]) + max(by * largest, 0.001)
        return array if isinstance(value, np.ndarray) else array[()].item()


def array_differences(found: Value, expected: np.ndarray, rules: Rules) -> Iterator[Difference]:
    """Yield the differences between the numbers in ``found`` and the ``expected`` array: first in shape, then in values."""
    array = as_array(found)
    if array is None or (not rules.lists and expected.ndim and isinstance(found, list | tuple)):
        single = "True or False" if expected.dtype.kind == "b" else "a number"
        asked = f"an array of {shape_words(expected.shape)}" if expected.ndim else single
        yield type_difference(found, asked, rules.what)
    elif isinstance(found, ObjectArray) and not (rules.lists and expected.dtype.kind != "b"):
        kind = "bool" if expected.dtype.kind == "b" else "float"
        clause = f"{rules.subject('has')} dtype object. Convert it with `.astype({kind})`, or build it from {kind} values only."
        yield Difference(clause, "dtype", array)
    elif array.shape != expected.shape:
        yield _other_shape(found, array, expected, rules)
    elif rules.dtype and expected.dtype.kind == "b" and array.dtype.kind != "b":
        clause = f"{rules.subject('has')} dtype {array.dtype}, but a mask must be boolean (True = may attend)."
        yield Difference(clause, "dtype", array)
    else:
        wrong = ~close(array, expected, rules.rtol, rules.atol)
        if wrong.any():
            yield _other_values(array, expected, wrong, rules)


def _other_shape(found: Value, array: np.ndarray, expected: np.ndarray, rules: Rules) -> Difference:
    if isinstance(found, tuple):
        asked = f"one array of {shape_words(expected.shape)}" if expected.ndim else "a single number"
        return type_difference(found, asked, rules.what)
    should = f"have {shape_words(expected.shape)}" if expected.ndim else "be a single number"
    has = f"{rules.subject('has' if array.ndim else 'is')} {shape_words(array.shape)}"
    return Difference(f"{has}, but it should {should}.", "shape", array if array.size <= 12 else None)


def _other_values(found: np.ndarray, expected: np.ndarray, wrong: np.ndarray, rules: Rules) -> Difference:
    prefix = "" if rules.what == "it" else f"{rules.what} differs: "
    if found.dtype.kind in "fc" and np.isnan(found[wrong]).any() and not np.isnan(expected).all():
        number, unwanted = int(np.isnan(found).sum()), int((wrong & np.isnan(found)).sum())
        are = "is" if number == 1 else "are"
        many = f"{number} of the {found.size} entries {are} NaN" if found.size > 1 else "it is NaN"
        should = "should be a number" if unwanted == 1 else "should be numbers"
        not_all = f", and {unwanted} of these {should}" if unwanted < number else ""  # some NaN are right
        first, text = first_index(wrong & np.isnan(found)), f"{prefix}{many} (not a number){not_all}."
        return Difference(text, "nan", found, expected, has_expected=True, first=first)
    where = first_index(wrong)
    count = int(wrong.sum())
    found, expected = _without_noise(found, expected, wrong)
    place = f"at index [{', '.join(map(str, where))}], it is" if where else "it is"
    differ = "are off by too much" if ((found != expected) & ~wrong).any() else "differ"
    more = "" if count == 1 else f" ({count} of {wrong.size} entries {differ})"
    left, right = show_apart(found[where], expected[where])
    clause = f"{prefix}{place} {left} instead of {right}{more}."
    return Difference(clause, "values", found, expected, has_expected=True, first=where)


def _without_noise(found: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both arrays as a message shows them, with 0 for numbers so small that they may be rounding errors."""
    sizes = np.abs(expected[np.isfinite(expected)])
    noise = NOISE * sizes.max() if sizes.size else 0.0
    one, two = (
        np.where(np.abs(a) <= noise, a.dtype.type(0), a) if a.dtype.kind in "fc" else a for a in (found, expected)
    )
    return (one, two) if (one != two)[wrong].all() else (found, expected)


def first_index(wrong: np.ndarray) -> Index:
    """Return the index of the first True in a boolean array."""
    return tuple(int(i) for i in np.argwhere(wrong)[0])
