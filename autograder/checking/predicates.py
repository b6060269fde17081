"""Assertions by name: equality with an expected value, and the properties that a right answer has whatever the reference says.

A recorded example names its assertions in the same way, so a student's own machine judges as the grader does. NumPy and
the standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.checking.arrays import shape_words, show
from autograder.checking.closeness import ATOL, RTOL, as_array, close
from autograder.checking.compare import RETURNED_NONE, Finding, kind_of, matches, wrong_type
from autograder.checking.counting import does_little
from autograder.checking.outcome_findings import prints_lines, should_raise
from autograder.checking.plots import same_plot
from autograder.checking.scripts import gives_an_object, raises_an_error
from autograder.checking.tables import with_table_options

__all__ = ["choice_of", "evaluate"]

_UNANSWERED = Finding("It is still None: write your answer there.", "none")
MAX_EQUATION = 100
_EQUATION = re.compile(r"[A-Za-z.,> -]*")


def evaluate(name: str, actual: Any, expected: Any = None, params: Mapping[str, Any] | None = None) -> Finding | None:
    """What is wrong with ``actual`` under the assertion called ``name``; ``None`` when nothing is."""
    params = dict(params or {})
    if name == "matches":
        options = params.pop("table", None)
        if options is None:
            return matches(actual, expected, **params)
        with with_table_options(options):
            return matches(actual, expected, **params)
    if name == "same_plot":
        return _same_plot(actual, right=expected, **params)
    return _PROPERTIES[name](actual, **params)


def choice_of(answer: str) -> str:
    """A choice as it was meant: ``" (B) "``, ``"b)"`` and ``"b."`` are all ``"b"``."""
    return answer.strip().strip("()[].:'\" ").lower()


def _sums_to_one(actual: Any, *, axis: int = -1, rtol: float = RTOL, atol: float = ATOL) -> Finding | None:
    found = as_array(actual)
    if found is None or not found.ndim:
        return wrong_type(actual, "an array")
    sums = found.sum(axis=axis)
    if close(np.asarray(sums), np.ones_like(sums), max(rtol, 1e-5), max(atol, 1e-6)).all():
        return None
    where = "The weights" if found.ndim == 1 else "Each row" if axis == -1 else f"Each slice along axis {axis}"
    return Finding(f"{where} should sum to 1; found {show(np.asarray(sums))}.", "property", found)


def _lets_through(actual: Any, *, bug: str, function: str) -> Finding | None:
    """A student's tests let a right function through, and none with a bug."""
    if bug and actual is not False:
        return Finding(f"Your tests let through a {function} that {bug}.", "values")
    if not bug and actual is not True:
        return Finding(f"Your tests refuse a {function} that is right: do they ask for more than was said?", "values")
    return None


def _within(actual: Any, *, low: float | None = None, high: float | None = None, atol: float = ATOL) -> Finding | None:
    found = as_array(actual)
    if found is None:
        return wrong_type(actual, "an array")
    fine = np.isfinite(found)
    if low is not None:
        fine &= found >= low - atol
    if high is not None:
        fine &= found <= high + atol
    if fine.all():
        return None
    bounds = f"at most {high:g}" if low is None else f"at least {low:g}"
    if low is not None and high is not None:
        bounds = f"between {low:g} and {high:g}"
    what = "Every entry" if found.ndim else "It"
    return Finding(f"{what} should be {bounds}; found {show(found)}.", "property", found)


def _finite(actual: Any) -> Finding | None:
    found = as_array(actual)
    if found is None:
        return wrong_type(actual, "an array")
    if np.isfinite(found).all():
        return None
    return Finding("Some entries are NaN or infinite; every one should be a finite number.", "nan", found)


def _has_shape(actual: Any, *, shape: Any) -> Finding | None:
    if actual is None:
        return RETURNED_NONE
    found = as_array(actual)
    if found is None:
        return wrong_type(actual, f"an array of {shape_words(tuple(shape))}" if shape else "a number")
    if found.shape == tuple(shape):
        return None
    is_, be = ("has" if found.shape else "is"), ("have" if shape else "be")
    return Finding(f"It {is_} {shape_words(found.shape)}; it should {be} {shape_words(tuple(shape))}.", "shape", None)


def _one_of(actual: Any, *, choices: Any) -> Finding | None:
    if actual is None:
        return _UNANSWERED
    if isinstance(actual, str) and choice_of(actual) in [choice_of(c) for c in choices]:
        return None
    return Finding(f"It is {show(actual)}; write one of {', '.join(repr(c) for c in choices)}.", "type")


def _chosen(actual: Any, *, right: str) -> Finding | None:
    if actual is None:
        return Finding("There is no answer.", "none")
    if isinstance(actual, str) and choice_of(actual) == choice_of(right):
        return None
    return Finding(f"{show(actual)} is not the answer.", "values")


def _number_is(actual: Any, *, right: float, within: float) -> Finding | None:
    """A single number, which is there and finite, is ``right`` to ``within``."""
    answer = np.asarray(actual).item()
    return None if abs(answer - right) <= within else Finding(f"{answer:g} is not the answer.", "values")


def _is_number(actual: Any) -> Finding | None:
    if actual is None:
        return _UNANSWERED
    found = as_array(actual)
    if found is not None and found.size == 1 and found.dtype.kind in "iuf" and np.isfinite(found).all():
        return None
    what = kind_of(actual) if hasattr(actual, "type") else show(actual)
    return Finding(f"It is {what}; write a number.", "type")


def _is_string(actual: Any) -> Finding | None:
    if actual is None:
        return _UNANSWERED
    return None if isinstance(actual, str) else Finding(f"It is {kind_of(actual)}; write a string in quotes.", "type")


def _einsum_gives(actual: Any, *, operands: Any, right: Any) -> Finding | None:
    """An einsum equation is judged by what it computes from ``operands`` (nested lists), however it is spelled."""
    if (finding := _is_string(actual)) is not None:
        return finding
    if len(actual) > MAX_EQUATION or not _EQUATION.fullmatch(actual):
        needs = "letters, commas and one `->` are all that it needs"
        return Finding(f"{show(actual)} is no einsum equation: {needs}.", "type")
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


def _same_plot(actual: Any, *, right: Any, parts: Sequence[str], rtol: float, atol: float) -> Finding | None:
    return RETURNED_NONE if actual is None else same_plot(actual, right, parts=parts, rtol=rtol, atol=atol)


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


_PROPERTIES: dict[str, Callable[..., Finding | None]] = {
    "sums_to_one": _sums_to_one,
    "within": _within,
    "finite": _finite,
    "has_shape": _has_shape,
    "one_of": _one_of,
    "chosen": _chosen,
    "number_is": _number_is,
    "is_number": _is_number,
    "is_string": _is_string,
    "einsum_gives": _einsum_gives,
    "is_a": gives_an_object,
    "raises": raises_an_error,
    "lets_through": _lets_through,
    "does_little": does_little,
    "should_raise": should_raise,
    "prints": prints_lines,
}
