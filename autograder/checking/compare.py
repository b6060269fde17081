"""Is this value right? Assertions as data: a name, the value found, what it is held against, and what was found wrong.

The same functions judge on the grader's side and, from recorded examples, on the student's. NumPy and the standard
library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.checking.arrays import difference, paste, shape_words, show

__all__ = [
    "ATOL",
    "RTOL",
    "Finding",
    "close",
    "describe_failure",
    "equal",
    "evaluate",
    "named",
    "property_names",
    "tolerances",
]

RTOL, ATOL = 1e-5, 1e-6
_RTOL32, _ATOL32 = 1e-3, 1e-4
_LONGEST_EQUATION = 100
_EQUATION = re.compile(r"[A-Za-z.,> -]*")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a value: a sentence, its kind, and the values to show (where showing them helps).

    ``kind`` is one of ``"none"``, ``"type"``, ``"length"``, ``"shape"``, ``"dtype"``, ``"nan"``, ``"values"``, ``"property"``.
    """

    reason: str
    kind: str
    found: Any = None
    expected: Any = None
    has_expected: bool = False


def tolerances(*values: Any) -> tuple[float, float]:
    """``(rtol, atol)`` for inputs like these: looser where any array among them is float32 (or narrower)."""
    narrow = any(_has_narrow_float(v) for v in values)
    return (_RTOL32, _ATOL32) if narrow else (RTOL, ATOL)


def evaluate(name: str, actual: Any, expected: Any = None, params: Mapping[str, Any] | None = None) -> Finding | None:
    """What is wrong with ``actual`` under the assertion called ``name``; ``None`` when nothing is."""
    params = dict(params or {})
    if name == "matches":
        return matches(actual, expected, **params)
    return _PROPERTIES[name](actual, **params)


def property_names() -> frozenset[str]:
    """The assertions that need no expected value."""
    return frozenset(_PROPERTIES)


def matches(
    actual: Any, expected: Any, *, rtol: float = RTOL, atol: float = ATOL, what: str = "it", dtype: bool = True
) -> Finding | None:
    """Shape first and exactly, then values at tolerance; pairs item by item, dictionaries key by key.

    A boolean array is expected to be boolean (``dtype=False`` lets 0/1 pass); no other dtype is judged.
    """
    if actual is None and expected is not None:
        return Finding(
            f"{_subject(what)} returned None. Does it end in a `return`? (`print` shows a value, and hands nothing back.)"
            if what == "it"
            else f"{what} is None.",
            "none",
        )
    if isinstance(expected, dict):
        return _matches_dict(actual, expected, rtol, atol, what)
    if isinstance(expected, tuple | list):
        return _matches_sequence(actual, expected, rtol, atol, what)
    if isinstance(expected, str):
        if isinstance(actual, str) and actual == expected:
            return None
        return Finding(f"{_is(what)} {show(actual)}.", "values", actual, expected, has_expected=True)
    if expected is None:
        return (
            None
            if actual is None
            else Finding(f"{_is(what)} {show(actual)}, where nothing was expected.", "type", actual)
        )
    return _matches_array(actual, np.asarray(expected), rtol, atol, what, dtype=dtype)


def equal(left: Any, right: Any, *, rtol: float = RTOL, atol: float = ATOL) -> bool:
    """Whether two outcomes are the same answer: same structure, shape and values at tolerance, NaN equal to NaN."""
    if isinstance(left, np.ndarray | np.generic | float | int | bool) and isinstance(
        right, np.ndarray | np.generic | float | int | bool
    ):
        a, b = np.asarray(left), np.asarray(right)
        if a.shape != b.shape or (a.dtype.kind == "b") != (b.dtype.kind == "b"):
            return False
        return bool(_close(a, b, rtol, atol).all())
    if isinstance(left, list) != isinstance(right, list) and isinstance(
        left if isinstance(right, list) else right, np.ndarray
    ):
        a_list, b_list = _as_array(left), _as_array(right)  # rows in a list are the array of those rows
        return a_list is not None and b_list is not None and equal(a_list, b_list, rtol=rtol, atol=atol)
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        return len(left) == len(right) and all(
            equal(a, b, rtol=rtol, atol=atol) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[k], right[k], rtol=rtol, atol=atol) for k in left)
    return type(left) is type(right) and bool(left == right)


def describe_failure(
    finding: Finding, *, call: str = "", inputs: Mapping[str, Any] | None = None, with_reason: bool = True
) -> str:
    """A finding as a student reads it: the sentence, the inputs ready to paste, what came back and what should have."""
    lines = [finding.reason] if with_reason else []
    lines += [paste(name, value) for name, value in (inputs or {}).items()]
    if finding.found is not None or finding.has_expected:
        subject = f"{call} gave" if call else "found"
        found, right = show(finding.found), show(finding.expected)
        width = max(len(subject), len("it should be"))
        lines.append(f"{subject:<{width}}  {found}")
        if finding.has_expected:
            lines.append(f"{'it should be':<{width}}  {right}")
    elif call and inputs:
        lines.append(call)
    return "\n".join(lines)


def named(reason: str, call: str) -> str:
    """A reason that starts with "It" or "The function", with the call in its place."""
    if not call:
        return reason
    for start in ("It is ", "It has ", "The function returned "):
        if reason.startswith(start):
            return f"{call} {reason.removeprefix('The function ').removeprefix('It ')}"
    return reason


def _matches_dict(actual: Any, expected: Mapping[str, Any], rtol: float, atol: float, what: str) -> Finding | None:
    if not isinstance(actual, dict):
        return Finding(
            f"{_is(what)} {_a(actual)}; a dictionary with the keys {_keys(expected)} is asked for.", "type", actual
        )
    missing = [k for k in expected if k not in actual]
    if missing:
        return Finding(f"The dictionary lacks {_keys(missing)}; it has {_keys(actual) or 'no keys'}.", "length", actual)
    for key, value in expected.items():
        finding = matches(actual[key], value, rtol=rtol, atol=atol, what=f"The entry {key!r}")
        if finding:
            return finding
    return None


def _matches_sequence(actual: Any, expected: Any, rtol: float, atol: float, what: str) -> Finding | None:
    count = len(expected)
    asked = (
        f"{'a pair' if count == 2 else f'{count} values'} is asked for"
        if count == 2
        else f"{count} values are asked for"
    )
    if isinstance(actual, np.ndarray) and actual.ndim and len(actual) == count and _plausible(actual, expected):
        actual = list(actual)
    if not isinstance(actual, tuple | list):
        return Finding(f"{_is(what)} {_a(actual)}; {asked}.", "type", None)
    if len(actual) != count:
        return Finding(f"It has {len(actual)} parts; {asked}.", "length", None)
    names = {2: ("first", "second"), 3: ("first", "second", "third")}.get(
        count, tuple(f"{i + 1}." for i in range(count))
    )
    for name, found, right in zip(names, actual, expected, strict=True):
        finding = matches(found, right, rtol=rtol, atol=atol, what=f"The {name} part")
        if finding:
            return finding
    return None


def _plausible(actual: np.ndarray, expected: Any) -> bool:
    # A stack of two arrays of one shape is a sequence of two; an output with two rows alone is not.
    return all(np.shape(a) == np.shape(e) for a, e in zip(actual, expected, strict=True))


def _matches_array(
    actual: Any, expected: np.ndarray, rtol: float, atol: float, what: str, *, dtype: bool
) -> Finding | None:
    found = _as_array(actual)
    if found is None:
        single = "True or False" if expected.dtype.kind == "b" else "a number"
        asked = single if not expected.ndim else f"an array of {shape_words(expected.shape)}"
        return Finding(f"{_is(what)} {_a(actual)}; {asked} is asked for.", "type", None)
    if found.shape != expected.shape and isinstance(actual, tuple):
        asked = f"one array of {shape_words(expected.shape)}" if expected.ndim else "a single number"
        return Finding(f"{_is(what)} {_a(actual)}; {asked} is asked for.", "type", None)
    if found.shape != expected.shape:
        should = f"have {shape_words(expected.shape)}" if expected.ndim else "be a single number"
        reason = f"{_has(what)} {shape_words(found.shape)}" if found.ndim else f"{_is(what)} a single number"
        return Finding(
            f"{reason}; it should {should}.",
            "shape",
            found if found.size <= 12 else None,
        )
    if dtype and expected.dtype.kind == "b" and found.dtype.kind != "b":
        return Finding(f"{_has(what)} dtype {found.dtype}; a mask is boolean (True = may attend).", "dtype", found)
    wrong = ~_close(found, expected, rtol, atol)
    if not wrong.any():
        return None
    if found.dtype.kind in "fc" and np.isnan(found[wrong]).any() and not np.isnan(expected).all():
        number = int(np.isnan(found).sum())
        many = f"{number} of its {found.size} entries are NaN" if found.size > 1 else "it is NaN"
        return Finding(f"{many[0].upper()}{many[1:]} (not a number).", "nan", found, expected, has_expected=True)
    reason = difference(found, expected, wrong)
    lead = "" if what == "it" else f"{what} differs: "
    text = f"{lead}{reason}."
    return Finding(text[0].upper() + text[1:], "values", found, expected, has_expected=True)


def _close(found: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> Any:
    if found.dtype.kind == "b" and expected.dtype.kind == "b":
        return found == expected
    return close(found, expected, rtol, atol)


def close(found: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> Any:
    """``np.isclose(found, expected, rtol, atol, equal_nan=True)``, several times as fast for the small arrays of checks."""
    if found.dtype.kind in "biu":
        found = found.astype(np.float64)
    if expected.dtype.kind in "biu":
        expected = expected.astype(np.float64)
    with np.errstate(all="ignore"):
        near = (np.abs(found - expected) <= atol + rtol * np.abs(expected)) & np.isfinite(expected)
        return near | (found == expected) | ((found != found) & (expected != expected))  # noqa: PLR0124 - NaN is not itself


def _as_array(value: Any) -> np.ndarray | None:
    if isinstance(value, str | dict) or hasattr(value, "type"):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    return array if array.dtype.kind in "biufc" else None


def _has_narrow_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_narrow_float(v) for v in value.values())
    if isinstance(value, tuple | list):
        return any(_has_narrow_float(v) for v in value)
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc" and value.dtype.itemsize < 8


def _subject(what: str) -> str:
    return "The function" if what == "it" else what


def _is(what: str) -> str:
    return "It is" if what == "it" else f"{what} is"


def _has(what: str) -> str:
    return "It has" if what == "it" else f"{what} has"


def _a(value: Any) -> str:
    names = {"str": "a string", "dict": "a dictionary", "tuple": "a tuple", "list": "a list", "bool": "a bool"}
    kind = getattr(value, "type", None) or type(value).__name__
    if kind in {"builtin_function_or_method", "function", "method"}:
        return "a function, and not what it gives back (are parentheses missing?)"
    if isinstance(value, np.ndarray):
        return f"one array of {shape_words(value.shape)}"
    if isinstance(value, int | float | np.generic) and not isinstance(value, bool):
        return "a single number"
    if isinstance(value, tuple | list):
        return f"{names[kind if kind in names else 'tuple']} of {len(value)} items"
    return names.get(kind, f"of type {kind}")


def _keys(keys: Any) -> str:
    return ", ".join(repr(k) for k in keys)


# Properties: what holds of a right answer whatever the reference says.


def _sums_to_one(actual: Any, *, axis: int = -1, rtol: float = RTOL, atol: float = ATOL) -> Finding | None:
    found = _as_array(actual)
    if found is None or not found.ndim:
        return Finding(f"It is {_a(actual)}; an array is asked for.", "type", None)
    sums = found.sum(axis=axis)
    if _close(np.asarray(sums), np.ones_like(sums), max(rtol, 1e-5), max(atol, 1e-6)).all():
        return None
    where = (
        "each row"
        if axis == -1 and found.ndim > 1
        else ("the weights" if found.ndim == 1 else f"each slice along axis {axis}")
    )
    return Finding(f"{where[0].upper()}{where[1:]} should sum to 1; found {show(np.asarray(sums))}.", "property", found)


def _within(actual: Any, *, low: float | None = None, high: float | None = None, atol: float = ATOL) -> Finding | None:
    found = _as_array(actual)
    if found is None:
        return Finding(f"It is {_a(actual)}; an array is asked for.", "type", None)
    bounds = (
        f"between {low:g} and {high:g}"
        if low is not None and high is not None
        else (f"at least {low:g}" if low is not None else f"at most {high:g}")
    )
    fine = np.isfinite(found)
    if low is not None:
        fine &= found >= low - atol
    if high is not None:
        fine &= found <= high + atol
    return (
        None
        if fine.all()
        else Finding(
            f"{'Every entry' if found.ndim else 'It'} should be {bounds}; found {show(found)}.", "property", found
        )
    )


def _finite(actual: Any) -> Finding | None:
    found = _as_array(actual)
    if found is None:
        return Finding(f"It is {_a(actual)}; an array is asked for.", "type", None)
    if np.isfinite(found).all():
        return None
    return Finding("Some entries are NaN or infinite; every one should be a finite number.", "nan", found)


def _has_shape(actual: Any, *, shape: Any) -> Finding | None:
    if actual is None:
        return Finding(
            "The function returned None. Does it end in a `return`? (`print` shows a value, and hands nothing back.)",
            "none",
        )
    found = _as_array(actual)
    if found is None:
        return Finding(f"It is {_a(actual)}; an array of {shape_words(tuple(shape))} is asked for.", "type", None)
    if found.shape == tuple(shape):
        return None
    return Finding(f"It has {shape_words(found.shape)}; it should have {shape_words(tuple(shape))}.", "shape", None)


def _one_of(actual: Any, *, choices: Any) -> Finding | None:
    if actual is None:
        return Finding("It is still None: write your answer there.", "none")
    if isinstance(actual, str) and choice_of(actual) in [choice_of(c) for c in choices]:
        return None
    return Finding(f"It is {show(actual)}; write one of {', '.join(repr(c) for c in choices)}.", "type")


def _chosen(actual: Any, *, right: str) -> Finding | None:
    if actual is None:
        return Finding("There is no answer.", "none")
    return (
        None
        if isinstance(actual, str) and choice_of(actual) == choice_of(right)
        else Finding(f"{show(actual)} is not the answer.", "values")
    )


def _is_number(actual: Any) -> Finding | None:
    if actual is None:
        return Finding("It is still None: write your answer there.", "none")
    found = _as_array(actual)
    if found is not None and found.size == 1 and found.dtype.kind in "iuf" and np.isfinite(found).all():
        return None
    return Finding(f"It is {show(actual)}; write a number.", "type")


def _is_string(actual: Any) -> Finding | None:
    if actual is None:
        return Finding("It is still None: write your answer there.", "none")
    return None if isinstance(actual, str) else Finding(f"It is {_a(actual)}; write a string in quotes.", "type")


def _einsum_gives(actual: Any, *, operands: Any, right: Any) -> Finding | None:
    """An einsum equation is judged by what it computes from ``operands`` (nested lists), however it is spelled."""
    if (finding := _is_string(actual)) is not None:
        return finding
    if len(actual) > _LONGEST_EQUATION or not _EQUATION.fullmatch(actual):
        return Finding(
            f"{show(actual)} is no einsum equation: letters, commas and one `->` are all that it needs.", "type"
        )
    arrays = [np.asarray(o, dtype=np.float64) for o in operands]
    try:
        found = np.einsum(actual, *arrays)
    except Exception as error:  # noqa: BLE001 - whatever NumPy says of the equation is the finding
        why = _letter_of_two_sizes(actual, arrays) or str(error)[:200].rstrip(". ")
        return Finding(f"NumPy cannot use the equation {show(actual)}: {why}.", "type")
    finding = matches(found, np.asarray(right, dtype=np.float64))
    if finding is None or "->" in actual:
        return finding
    rule = (
        "Without `->`, NumPy keeps the letters that occur once, in alphabetical order; after `->` you choose the order."
    )
    return replace(finding, reason=f"{finding.reason} {rule}")


def _letter_of_two_sizes(equation: str, arrays: Sequence[np.ndarray]) -> str:
    terms = equation.split("->", maxsplit=1)[0].replace(" ", "").split(",")
    sizes: dict[str, int] = {}
    for term, array in zip(terms, arrays, strict=False):
        if len(term) != array.ndim:
            letters = f"{len(term)} letter{'s' * (len(term) != 1)}"
            return f"{term!r} is {letters} for an array of {array.ndim} axes" if "." not in term else ""
        for letter, size in zip(term, array.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                return f"the letter {letter} stands for an axis of size {sizes[letter]} and for one of size {size}"
    return ""


def choice_of(answer: str) -> str:
    """A choice as it was meant: ``" (B) "``, ``"b)"`` and ``"b."`` are all ``"b"``."""
    return answer.strip().strip("()[].:'\" ").lower()


_PROPERTIES: dict[str, Callable[..., Finding | None]] = {
    "sums_to_one": _sums_to_one,
    "within": _within,
    "finite": _finite,
    "has_shape": _has_shape,
    "one_of": _one_of,
    "chosen": _chosen,
    "is_number": _is_number,
    "is_string": _is_string,
    "einsum_gives": _einsum_gives,
}
