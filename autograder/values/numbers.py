"""When two numbers, arrays or whole outcomes are the same: the course's tolerances, and comparison at them.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.sandbox.guest.wire_tables import is_pandas
from autograder.values.containers import Comparison, is_builtin

__all__ = ["ATOL", "RTOL", "as_array", "close", "equal", "tolerances"]

RTOL, ATOL = 1e-5, 1e-6
_RTOL32, _ATOL32 = 1e-3, 1e-4
_REAL = (int, float, np.generic, np.ndarray)
_NUMBERS = (*_REAL, complex)
# Numbers that the arrays in one list may have together: NumPy would give all of them the widest type among them.
MAX_NUMBERS = 1 << 24


def tolerances(*values: Any) -> tuple[float, float]:
    """``(rtol, atol)`` for inputs like these: looser where any array among them is float32 (or narrower)."""
    narrow = any(_has_narrow_float(v) for v in values)
    return (_RTOL32, _ATOL32) if narrow else (RTOL, ATOL)


def close(found: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> Any:
    """``np.isclose(found, expected, rtol, atol, equal_nan=True)``, several times as fast for the small arrays of checks.

    Two boolean arrays are compared as they are: no tolerance makes True of False.
    """
    if found.dtype.kind == "b" and expected.dtype.kind == "b":
        return found == expected
    if found.dtype.kind in "biu":
        found = found.astype(np.float64)
    if expected.dtype.kind in "biu":
        expected = expected.astype(np.float64)
    with np.errstate(all="ignore"):
        near = (np.abs(found - expected) <= atol + rtol * np.abs(expected)) & np.isfinite(expected)
        return near | (found == expected) | ((found != found) & (expected != expected))  # noqa: PLR0124 - NaN is not itself


def equal(left: Any, right: Any, *, rtol: float = RTOL, atol: float = ATOL) -> bool:
    """Whether two outcomes are the same answer: same structure, shape and values at tolerance, NaN equal to NaN."""
    if is_builtin(left) and is_builtin(right):
        return Comparison(rtol, atol).difference(left, right) is None
    if type(left) is int and type(right) is int:
        return left == right
    if isinstance(left, _REAL) and isinstance(right, _REAL):
        a, b = as_array(left), as_array(right)
        if a is None or b is None or a.shape != b.shape or (a.dtype.kind == "b") != (b.dtype.kind == "b"):
            return False
        return bool(close(a, b, rtol, atol).all())
    if {type(left), type(right)} == {list, np.ndarray}:  # rows in a list are the array of those rows
        a, b = as_array(left), as_array(right)
        return a is not None and b is not None and equal(a, b, rtol=rtol, atol=atol)
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        return len(left) == len(right) and all(
            equal(a, b, rtol=rtol, atol=atol) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[k], right[k], rtol=rtol, atol=atol) for k in left)
    if is_pandas(left) or is_pandas(right):
        from autograder.values.tables import same_table  # noqa: PLC0415 - which compares numbers with what stands here

        return same_table(left, right, rtol, atol)
    return type(left) is type(right) and bool(left == right)


def as_array(value: Any) -> np.ndarray | None:
    """The numbers in ``value`` as an array, whatever holds them; ``None`` where there are none, or rows of several lengths.

    Whole numbers that no NumPy integer holds are floats there, as in arithmetic with any array.
    """
    if value is None or isinstance(value, str | dict | set | bytes | range) or hasattr(value, "type"):
        return None
    if isinstance(value, tuple | list):
        parts = [*_parts(value)]
        # One text among thousands of parts, and NumPy would make each of them as long as that.
        if not all(isinstance(part, _NUMBERS) for part in parts):
            return None
        if sum(part.size for part in parts if isinstance(part, np.ndarray)) > MAX_NUMBERS:
            return None
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and all(isinstance(item, int | float) for item in array.flat):
            array = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError, MemoryError):
        return None
    return array if array.dtype.kind in "biufc" else None


def _parts(value: Any) -> Iterator[Any]:
    """What the lists and tuples of ``value`` hold, one inside another."""
    for part in value:
        if isinstance(part, tuple | list):
            yield from _parts(part)
        else:
            yield part


def _has_narrow_float(value: Any) -> bool:
    if isinstance(value, tuple | list | dict):
        return any(map(_has_narrow_float, value.values() if isinstance(value, dict) else value))
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc" and value.dtype.itemsize < 8
    if not is_pandas(value):
        return False
    from autograder.values.tables import is_narrow  # noqa: PLC0415 - as above

    return is_narrow(value)
