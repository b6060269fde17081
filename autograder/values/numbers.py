"""Single numbers, True, False and None."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from autograder.base.foreign import Value
from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire_limits import MAX_INT_BITS
from autograder.values.closeness import NumericFamily, array_differences, as_array
from autograder.values.family import MAX_TEXT, Difference, Family, Rules, builtin_differences, family_of, show, source
from autograder.values.messages import mismatch_message

__all__ = ["NoneFamily", "NumberFamily", "same_number"]

_NUMBERS = (int, float, complex, np.number)
_WHOLE = (int, np.integer)
_TOO_LARGE = "a whole number with more than 307 digits (too large to check)"


class NoneFamily(Family):
    """The family of None."""

    types: ClassVar[tuple[type, ...]] = (type(None),)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if found is None:
            return
        if rules.nested:
            yield mismatch_message(found, expected)
        else:
            yield Difference(f"{rules.subject('is')} {show(found)}, but it should be None.", "type", found)

    def pieces(self, value: Value, digits: int, depth: int) -> Iterator[str]:
        yield repr(value)


class NumberFamily(NumericFamily):
    """The family of numbers and booleans, from Python and NumPy. A boolean never equals a number."""

    types: ClassVar[tuple[type, ...]] = (bool, int, float, complex, np.number, np.bool_)
    is_number = True

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if rules.nested:
            if isinstance(expected, bool | np.bool_):
                same = isinstance(found, bool | np.bool_) and bool(found) == bool(expected)
            else:
                same = same_number(found, expected, rules)
            if not same:
                yield mismatch_message(found, expected)
        elif rules.dtype and _is_exact(found, expected):
            yield from builtin_differences(found, expected, rules)
        elif (array := as_array(expected)) is None:  # the number is too large for a float
            numbers = as_array(found)
            if numbers is None or numbers.ndim:
                yield from array_differences(found, np.asarray(expected), rules)
            else:
                yield from builtin_differences(found, expected, rules)
        else:
            if rules.of_largest:
                rules = replace(rules, atol=max(rules.atol, rules.of_largest * float(np.abs(np.nan_to_num(array)))))
            yield from array_differences(found, array, rules)

    def quickly_equal(self, found: Value, expected: Value, rules: Rules) -> bool | None:
        if type(found) is float and type(expected) is float:
            return same_number(found, expected, rules)
        return super().quickly_equal(found, expected, rules)

    def pieces(self, value: Value, digits: int, depth: int) -> Iterator[str]:
        if isinstance(value, bool | np.bool_):
            yield str(bool(value))
        elif isinstance(value, np.generic | float | complex):
            number = np.asarray(value)[()]
            # + 0.0 turns -0 into 0
            yield f"{number + 0.0:.{digits}g}" if number.dtype.kind in "fc" else str(number)
        else:
            yield shorten(repr(value), MAX_TEXT)

    def source(self, value: Value, depth: int) -> str:
        if isinstance(value, float) and not math.isfinite(value):
            return f"float({str(value)!r})"
        if isinstance(value, np.generic):
            plain = value.item()
            return str(value) if isinstance(plain, np.generic) else source(plain)
        return repr(value)

    def paste(self, name: str, value: Value) -> str:
        return f"{name} = {source(value.item() if isinstance(value, np.generic) else value)}"

    def kind(self, value: Value) -> str:
        return _TOO_LARGE if type(value) is int and value.bit_length() > MAX_INT_BITS else ""

    def label(self, value: Value, other: Value) -> str:
        return "a bool" if isinstance(value, bool | np.bool_) else "a number"

    def describe(self, value: Value) -> str:
        own_name = isinstance(value, bool | complex) and not isinstance(value, np.generic)
        return super().describe(value) if own_name else "a single number"

    def identity(self, value: Value) -> Hashable:
        if isinstance(value, np.generic):
            return (value.dtype.str, value.tobytes())
        if isinstance(value, float):
            return ("float", value.hex())
        return (type(value).__name__, value if isinstance(value, int) else repr(value))

    def match_key(self, value: Value) -> Hashable:
        return ("bool", bool(value)) if isinstance(value, bool | np.bool_) else ("number", _digits_of(value))

    def outline(self, value: Value, rules: Rules) -> Hashable:
        return bool(value) if isinstance(value, bool | np.bool_) else ("number", None)


def same_number(found: Value, expected: Value, rules: Rules) -> bool:
    """Return whether ``found`` is a number that equals the expected one within tolerance. Two integers are compared exactly."""
    if isinstance(found, np.ndarray) and not found.ndim:
        found = found[()]
    if not isinstance(found, _NUMBERS) or isinstance(found, bool | np.timedelta64):
        return False
    if isinstance(found, _WHOLE) and isinstance(expected, _WHOLE):
        return int(found) == int(expected)
    if rules.exact_type and type(found) is not type(expected) and not isinstance(found, np.generic):
        return False
    if isinstance(expected, np.number):
        expected = expected.item()
    if isinstance(found, np.number):
        found = found.item()
    try:
        if found == expected or (found != found and expected != expected):  # noqa: PLR0124 - NaN does not equal itself
            return True
        allowed = max(rules.atol, rules.of_largest * abs(expected)) + rules.rtol * abs(expected)
        return bool(math.isfinite(abs(expected)) and abs(found - expected) <= allowed)
    except OverflowError:  # an integer that is too large for a float
        return False


def _is_exact(found: Value, expected: Value) -> bool:
    """Return whether two values are compared exactly, such as two integers, a string and a number, or a boolean and a number."""
    family = family_of(found)
    if type(expected) is bool:
        return (family.is_number and isinstance(found, int | float)) or family.is_exact(found)
    if isinstance(expected, np.bool_) or (isinstance(expected, complex) and not isinstance(expected, np.number)):
        return False
    whole = isinstance(found, _WHOLE) and isinstance(expected, _WHOLE)
    return whole or family.is_exact(found) or isinstance(found, bool | np.bool_)


def _digits_of(value: Value) -> str:
    """Return a key that is equal for equal numbers. It is a string, because students could choose many numbers with the same hash."""
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, complex):
        return _digits_of(number.real) + (f" {_digits_of(number.imag)}" if number.imag else "")
    if isinstance(number, float) and not number.is_integer():
        return number.hex()
    return f"{int(number):x}" if isinstance(number, int | float) else repr(number)
