"""Is a value the expected one? What is wrong with it as data, and the words in which a student reads that.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.base.formatting import pluralize
from autograder.sandbox.guest.wire_tables import is_pandas, kind_of_table
from autograder.sandbox.protocol import Opaque
from autograder.values.arrays import difference, paste, shape_words, show, show_apart
from autograder.values.containers import Comparison, is_builtin, reject_opaque
from autograder.values.numbers import ATOL, RTOL, as_array, close
from autograder.values.tables import described, matches_table
from autograder.values.text import PLAIN, plain_kind, source

__all__ = [
    "RETURNED_NONE",
    "Finding",
    "describe",
    "describe_failure",
    "matches",
    "named",
    "wrong_structure",
    "wrong_type",
]  # fmt: skip

MAX_WHOLE = 140  # characters of a value that is shown whole, where one part of it is wrong


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a value: a sentence, its kind, and the values to show (where showing them helps).

    ``kind`` is one of ``"none"``, ``"type"``, ``"length"``, ``"shape"``, ``"dtype"``, ``"nan"``, ``"values"``, ``"property"``;
    of tables also ``"columns"``, ``"index"``, ``"order"``.
    """

    reason: str
    kind: str
    found: Any = None
    expected: Any = None
    has_expected: bool = False
    path: str = ""  # from the whole value to ``found``, as Python writes it


RETURNED_NONE = Finding(
    "The function returned None. Does it end in a `return`? (`print` shows a value, and hands nothing back.)", "none"
)


def matches(
    actual: Any,
    expected: Any,
    *,
    rtol: float = RTOL,
    atol: float = ATOL,
    what: str = "it",
    dtype: bool = True,
    of_largest: float = 0.0,
    order: bool | None = None,
    exact_type: bool = False,
    extra_keys: bool = False,
) -> Finding | None:
    """Shape first and exactly, then values at tolerance; pairs item by item, dictionaries key by key.

    Texts, sets, dates and lists and dicts of such are compared by ``checking.plain``, whose ``order``, ``exact_type`` and ``extra_keys`` these are.

    A boolean array is expected to be boolean (``dtype=False`` lets 0/1 pass); no other dtype is judged. Numbers of an array may
    also be off by ``of_largest`` times the largest number expected in it: where large ones cancel, that is rounding.
    """
    if type(expected) is np.ndarray and type(actual) is np.ndarray and expected.dtype.kind in "biufc":
        if of_largest:  # most of all that is compared, so nothing else is looked for first
            atol = max(atol, of_largest * float(np.abs(np.nan_to_num(expected)).max(initial=0.0)))
        return _matches_array(actual, expected, rtol, atol, what, dtype=dtype)
    if is_pandas(expected) or (is_pandas(actual) and not _holds_numbers(actual, expected)):
        if actual is None:
            return RETURNED_NONE if what == "it" else Finding(f"{what} is None.", "none")
        return matches_table(actual, expected, rtol, atol, what)
    if is_builtin(expected) or (dtype and _is_plain_number(actual, expected)):
        comparison = Comparison(
            rtol, atol, order=order, exact_type=exact_type, extra_keys=extra_keys, of_largest=of_largest, refuses=True
        )
        return _matches_plain(actual, expected, comparison, what)
    reject_opaque(expected)
    if of_largest and isinstance(expected, dict | tuple | list):
        return _matches_parts(actual, expected, rtol, atol, what, of_largest)
    if of_largest:
        atol = max(atol, of_largest * float(np.abs(np.nan_to_num(expected)).max(initial=0.0)))
    if actual is None and expected is not None:
        return RETURNED_NONE if what == "it" else Finding(f"{what} is None.", "none")
    if isinstance(expected, dict):
        return _matches_dict(actual, expected, rtol, atol, what)
    if isinstance(expected, tuple | list):
        return _matches_sequence(actual, expected, rtol, atol, what)
    if expected is None:
        nothing = f"{_it(what, 'is')} {show(actual)}, where nothing was expected."
        return None if actual is None else Finding(nothing, "type", actual)
    return _matches_array(actual, np.asarray(expected), rtol, atol, what, dtype=dtype)


def describe_failure(
    finding: Finding, *, call: str = "", inputs: Mapping[str, Any] | None = None, with_reason: bool = True
) -> str:
    """A finding as a student reads it: the sentence, the inputs ready to paste, what came back and what should have."""
    lines = [finding.reason] if with_reason else []
    lines += [paste(name, value) for name, value in (inputs or {}).items()]
    if finding.found is not None or finding.has_expected:
        subject = f"{call}{finding.path} gave" if call else "found"
        found, right = show_apart(finding.found, finding.expected)
        if "\n" in found + right:  # a table has lines of its own, which keep their columns
            lines += [f"{subject}\n{_indented(found)}"]
            lines += [f"it should be\n{_indented(right)}"] if finding.has_expected else []
            return "\n".join(lines)
        width = max(len(subject), len("it should be"))
        lines.append(f"{subject:<{width}}  {found}")
        if finding.has_expected:
            lines.append(f"{'it should be':<{width}}  {right}")
    elif call and inputs:
        lines.append(call)
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def named(reason: str, call: str) -> str:
    """A reason that starts with "It" or "The function", with the call in its place."""
    if not call:
        return reason
    for start in ("It is ", "It has ", "The function returned ", "It prints ", "It should raise "):
        if reason.startswith(start):
            return f"{call} {reason.removeprefix('The function ').removeprefix('It ')}"
    return reason


def wrong_type(actual: Any, asked: str, what: str = "it") -> Finding:
    """The finding that ``actual`` is something else than ``asked``, both named: a list of items, an array."""
    return Finding(f"{_it(what, 'is')} {describe(actual)}; {asked} is asked for.", "type")


def describe(value: Any) -> str:
    """What a value is, in the middle of a sentence: ``a tuple of 2 items``, ``one array of shape (2, 3)``."""
    if is_pandas(value):
        return described(value)
    if named := plain_kind(value):
        return named
    names = {"str": "a string", "dict": "a dictionary", "tuple": "a tuple", "list": "a list", "bool": "a bool"}
    names["int"] = "a whole number of more than 307 digits, which is too large"  # any other is a single number
    kind = value.type if hasattr(value, "type") else type(value).__name__
    if kind in {"builtin_function_or_method", "function", "method"}:
        return "a function, and not what it gives back (are parentheses missing?)"
    if kind in {"DataFrameGroupBy", "SeriesGroupBy"}:
        return "groups that were not summarised yet (what is to be worked out of each of them?)"
    if isinstance(value, Opaque) and kind in {"set", "frozenset", "list", "tuple", "dict"}:
        return f"{names.get(kind, f'a {kind}')} that holds something other than plain values"
    if kind in {"coroutine", "async_generator"}:
        return (
            "a coroutine, which gives nothing back until it is awaited (does `async def` stand where `def` is meant?)"
        )
    if isinstance(value, np.ndarray):
        return f"one array of {shape_words(value.shape)}"
    if isinstance(value, int | float | np.generic) and not isinstance(value, bool):
        return "a single number"
    if isinstance(value, tuple | list):
        return f"{names[kind if kind in names else 'tuple']} of {pluralize(len(value), 'item')}"
    # A class may have a name of no letters: then there is nothing to call its values by.
    return names.get(kind, f"of type {kind}" if kind.strip() else "of a type without a name")


def wrong_structure(actual: Any, expected: Any) -> Finding | None:
    """What is wrong with the parts that a value consists of; ``None`` where they are as many, or named, as expected."""
    if actual is None and expected is not None:
        return RETURNED_NONE
    if isinstance(expected, dict):
        return _wrong_keys(actual, expected)
    if isinstance(expected, tuple | list):
        return _wrong_count(actual, len(expected))
    return None


def _is_plain_number(actual: Any, expected: Any) -> bool:
    """Whether a number, or True, is held against what no tolerance makes the same: another whole number, a text, a bool."""
    if type(expected) is bool:
        return isinstance(actual, (*PLAIN, int, float))
    if not isinstance(expected, int | float | np.number):
        return False
    whole = isinstance(actual, int | np.integer) and isinstance(expected, int | np.integer)
    return whole or isinstance(actual, (*PLAIN, bool, np.bool_))


def _matches_plain(actual: Any, expected: Any, comparison: Comparison, what: str) -> Finding | None:
    if actual is None:
        return RETURNED_NONE if what == "it" else Finding(f"{what} is None.", "none")
    found = comparison.difference(actual, expected)
    if found is None:
        return None
    if isinstance(found.found, Opaque) and not found.path:
        return replace(wrong_type(actual, describe(expected), what), found=actual)
    whole = max(len(source(actual)), len(source(expected))) <= MAX_WHOLE
    path = "" if whole else found.subscripts()
    shown = (found.found, found.right) if path else (actual, expected)
    return Finding(found.sentence(what), found.kind, *shown, has_expected=True, path=path)


def _holds_numbers(actual: Any, expected: Any) -> bool:
    """Whether a Series or an Index stands where an array is asked for: the numbers in it are looked at then."""
    return isinstance(expected, np.ndarray) and kind_of_table(actual) in ("Series", "Index")


def _matches_parts(
    actual: Any, expected: Any, rtol: float, atol: float, what: str, of_largest: float
) -> Finding | None:
    """Each part at a tolerance of its own: the weights' does not grow with the output's numbers."""
    if wrong_structure(actual, expected) is None:
        keys = list(expected) if isinstance(expected, dict) else range(len(expected))
        alike = (matches(actual[k], expected[k], rtol=rtol, atol=atol, of_largest=of_largest) is None for k in keys)
        if all(alike):
            return None
    return matches(actual, expected, rtol=rtol, atol=atol, what=what)


def _matches_dict(actual: Any, expected: Mapping[str, Any], rtol: float, atol: float, what: str) -> Finding | None:
    wrong = _wrong_keys(actual, expected, what)
    if wrong is not None:
        return wrong
    findings = (matches(actual[k], v, rtol=rtol, atol=atol, what=f"The entry {k!r}") for k, v in expected.items())
    return next(filter(None, findings), None)


def _wrong_keys(actual: Any, expected: Mapping[str, Any], what: str = "it") -> Finding | None:
    if not isinstance(actual, dict):
        return replace(wrong_type(actual, f"a dictionary with the keys {_keys(expected)}", what), found=actual)
    missing = [k for k in expected if k not in actual]
    if missing:
        return Finding(f"The dictionary lacks {_keys(missing)}; it has {_keys(actual) or 'no keys'}.", "length", actual)
    return None


def _matches_sequence(actual: Any, expected: Any, rtol: float, atol: float, what: str) -> Finding | None:
    count = len(expected)
    if isinstance(actual, np.ndarray) and actual.ndim and len(actual) == count and _plausible(actual, expected):
        actual = list(actual)
    wrong = _wrong_count(actual, count, what)
    if wrong is not None:
        return wrong
    names = ["first", "second", "third"][:count] if 2 <= count <= 3 else [f"{i + 1}." for i in range(count)]
    parts = zip(names, actual, expected, strict=True)
    findings = (matches(a, e, rtol=rtol, atol=atol, what=f"The {name} part") for name, a, e in parts)
    return next(filter(None, findings), None)


def _wrong_count(actual: Any, count: int, what: str = "it") -> Finding | None:
    asked = {1: "one value is asked for", 2: "a pair is asked for"}.get(count, f"{count} values are asked for")
    if not isinstance(actual, tuple | list):
        return Finding(f"{_it(what, 'is')} {describe(actual)}; {asked}.", "type")
    if len(actual) != count:
        return Finding(f"It has {len(actual)} part{'' if len(actual) == 1 else 's'}; {asked}.", "length", None)
    return None


def _plausible(actual: np.ndarray, expected: Any) -> bool:
    # A stack of two arrays of one shape is a sequence of two; an output with two rows alone is not.
    return all(np.shape(a) == np.shape(e) for a, e in zip(actual, expected, strict=True))


def _matches_array(
    actual: Any, expected: np.ndarray, rtol: float, atol: float, what: str, *, dtype: bool
) -> Finding | None:
    found = as_array(actual)
    if found is None:
        single = "True or False" if expected.dtype.kind == "b" else "a number"
        asked = single if not expected.ndim else f"an array of {shape_words(expected.shape)}"
        return wrong_type(actual, asked, what)
    if found.shape != expected.shape and isinstance(actual, tuple):
        asked = f"one array of {shape_words(expected.shape)}" if expected.ndim else "a single number"
        return wrong_type(actual, asked, what)
    if found.shape != expected.shape:
        should = f"have {shape_words(expected.shape)}" if expected.ndim else "be a single number"
        reason = (
            f"{_it(what, 'has')} {shape_words(found.shape)}" if found.ndim else f"{_it(what, 'is')} a single number"
        )
        return Finding(f"{reason}; it should {should}.", "shape", found if found.size <= 12 else None)
    if dtype and expected.dtype.kind == "b" and found.dtype.kind != "b":
        return Finding(
            f"{_it(what, 'has')} dtype {found.dtype}; a mask is boolean (True = may attend).", "dtype", found
        )
    wrong = ~close(found, expected, rtol, atol)
    if not wrong.any():
        return None
    if found.dtype.kind in "fc" and np.isnan(found[wrong]).any() and not np.isnan(expected).all():
        number = int(np.isnan(found).sum())
        are = "is" if number == 1 else "are"
        many = f"{number} of its {found.size} entries {are} NaN" if found.size > 1 else "it is NaN"
        return Finding(f"{many[0].upper()}{many[1:]} (not a number).", "nan", found, expected, has_expected=True)
    text = f"{'' if what == 'it' else f'{what} differs: '}{difference(found, expected, wrong)}."
    return Finding(text[0].upper() + text[1:], "values", found, expected, has_expected=True)


def _it(what: str, verb: str) -> str:
    return f"{'It' if what == 'it' else what} {verb}"


def _keys(keys: Any) -> str:
    return ", ".join(repr(k) for k in keys)
