"""Assertions by name: equality with an expected value, and properties that every right answer has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from autograder.base.foreign import Value
from autograder.base.formatting import with_article
from autograder.base.sanitize import shorten
from autograder.checking.findings import RETURNED_NONE, Finding, matches, wrong_type
from autograder.checking.plots import same_plot
from autograder.checking.step_counter import grows_slowly, stays_within
from autograder.checking.student_objects import gives_an_object, raises_an_error
from autograder.values import (
    ATOL,
    RTOL,
    Rules,
    as_array,
    close,
    describe,
    equal,
    first_index,
    shape_words,
    show,
    show_apart,
    source,
    text_difference,
)
from autograder.values.messages import count

__all__ = ["choice_of", "evaluate", "lines_of", "prints_lines", "same_choice", "should_raise"]


MAX_SHOWN = 200  # characters of a value or of an error's text in a message


def should_raise(actual: Value, *, errors: Sequence[str], says: str = "") -> Finding | None:
    """Return what is wrong if a call raised none of ``errors``. ``actual`` is the value of ``ExpectedError.outcome``."""
    how = actual if isinstance(actual, dict) else {}
    wanted = " or ".join(errors)
    if not isinstance(how.get("raised"), list):
        gave = shorten(show(how.get("gave")), MAX_SHOWN)
        instead = "it returned None" if how.get("gave") is None else f"it returned {gave}"
        return Finding(f"It should raise {with_article(wanted)}, but {instead}.", "values")
    text = how.get("text")
    if not isinstance(text, str) or not says:
        return None
    said = f"its message is {source(shorten(text, MAX_SHOWN))}" if text else "it has no message"
    return Finding(
        f"It should raise {with_article(wanted)} whose message contains {source(says)}, but {said}.", "values"
    )


def prints_lines(actual: Value, *, right: str, exactly: bool = False) -> Finding | None:
    """Compare the output of a call with ``right``, line by line.

    ``actual`` is ``{"printed": text}``. If the call printed nothing and returned a string, the key ``"gave"`` contains it.
    """
    how = actual if isinstance(actual, dict) else {}
    printed = how.get("printed")
    text = printed if isinstance(printed, str) else ""
    own, lines = lines_of(text, exactly=exactly), lines_of(right, exactly=exactly)
    if own == lines:
        return None
    if not own:
        gave, first = how.get("gave"), _word(lines[0])
        if len(lines) > 1:
            first = f"{len(lines)} lines, starting with {first}"
        instead = f" It returns {_word(gave)} but does not print it: use `print`." if isinstance(gave, str) else ""
        return Finding(f"It prints nothing instead of {first}.{instead}", "none")
    if not lines:
        return Finding(f"It prints {_word(own[0])} but should print nothing.", "values")
    place = next((i for i, (a, b) in enumerate(zip(own, lines, strict=False)) if a != b), None)
    if place is not None:
        at = f" in line {place + 1}" if max(len(own), len(lines)) > 1 else ""
        left, should, hint = text_difference(own[place], lines[place])
        return Finding(f"It prints {left}{at} instead of {should}{hint}.", "values")
    place = min(len(own), len(lines))
    counts = f"It prints {count(len(own), 'line')} instead of {len(lines)}"
    longer, what = (lines, "is missing") if len(own) < len(lines) else (own, "should not be there")
    return Finding(f"{counts}: line {place + 1}, {_word(longer[place])}, {what}.", "length")


def lines_of(text: str, *, exactly: bool) -> list[str]:
    """Return the lines of printed text. Unless ``exactly`` is set, remove white space at line ends and empty lines at the end."""
    if exactly:
        return text.splitlines(keepends=True)
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _word(line: str) -> str:
    return source(shorten(line, MAX_SHOWN))


_UNANSWERED = Finding("It is still None: assign your answer to it.", "none")
MAX_EQUATION = 100
_EQUATION = re.compile(r"[A-Za-z., ]*(->[A-Za-z. ]*)?")


def evaluate(
    name: str, actual: Value, expected: Value = None, params: Mapping[str, Value] | None = None
) -> Finding | None:
    """Return what is wrong with ``actual`` under the assertion called ``name``, or None."""
    params = dict(params or {})
    if params.pop("filled", False) and (found := as_array(actual)) is not None and not found.size:
        return Finding(f"It is an empty array of shape {found.shape}, but it should not be empty.", "shape", found)
    if name == "matches":
        return matches(actual, expected, **params)
    if name == "same_plot":
        return RETURNED_NONE if actual is None else same_plot(actual, expected, **params)
    return _PROPERTIES[name](actual, **params)


def choice_of(answer: str) -> str:
    """Normalize a choice: ``" (B) "``, ``"b)"`` and ``"b."`` are all ``"b"``."""
    return answer.strip().strip("()[].:'\" ").lower()


def _sums_to_one(actual: Value, *, axis: int = -1, rtol: float = RTOL, atol: float = ATOL) -> Finding | None:
    found = as_array(actual)
    if found is None or not found.ndim:
        return wrong_type(actual, "an array")
    sums = found.sum(axis=axis)
    wrong = ~close(sums, np.ones_like(sums), max(rtol, 1e-5), max(atol, 1e-6))
    if not wrong.any():
        return None
    first = first_index(wrong)
    where = "The weights" if found.ndim == 1 else "Each row" if axis == -1 else f"Each slice along axis {axis}"
    slice_start = list(first)
    slice_start.insert(axis % found.ndim, 0)
    text, sums_are = show_apart(sums, sums, first)[0], "sums are" if sums.ndim else "sum is"
    reason = f"{where} should sum to 1, but the {sums_are} {text}."
    return Finding(reason, "property", found, first=tuple(slice_start))


def _lets_through(actual: Value, *, bug: str, function: str) -> Finding | None:
    """Return what is wrong if a student's tests rejected a right function or accepted one with a bug."""
    a = "an" if function[:1].lower() in "aeiou" else "a"
    if bug and actual is not False:
        return Finding(f"Your tests accept {a} {function} that {bug}.", "values")
    if not bug and actual is not True:
        return Finding(
            f"Your tests reject {a} {function} that is correct. Do they require more than the task says?", "values"
        )
    return None


def _within(
    actual: Value, *, low: float | None = None, high: float | None = None, atol: float = ATOL
) -> Finding | None:
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
    what, is_ = ("Every entry", "the value is") if found.ndim else ("It", "it is")
    first = first_index(~fine)
    text = show_apart(found, found, first)[0]
    return Finding(f"{what} should be {bounds}, but {is_} {text}.", "property", found, first=first)


def _finite(actual: Value) -> Finding | None:
    found = as_array(actual)
    if found is None:
        return wrong_type(actual, "an array")
    fine = np.isfinite(found)
    if fine.all():
        return None
    reason = "Some entries are NaN or infinite. Every entry should be a finite number."
    return Finding(reason, "nan", found, first=first_index(~fine))


def _has_shape(actual: Value, *, shape: Value) -> Finding | None:
    if actual is None:
        return RETURNED_NONE
    found = as_array(actual)
    if found is None:
        return wrong_type(actual, f"an array of {shape_words(tuple(shape))}" if shape else "a number")
    if found.shape == tuple(shape):
        return None
    is_, be = ("has" if found.shape else "is"), ("have" if shape else "be")
    return Finding(f"It {is_} {shape_words(found.shape)}, but it should {be} {shape_words(tuple(shape))}.", "shape")


def _one_of(actual: Value, *, choices: Value) -> Finding | None:
    if actual is None:
        return _UNANSWERED
    if isinstance(actual, str) and choice_of(actual) in [choice_of(c) for c in choices]:
        return None
    return Finding(f"It is {show(actual)}. Write one of {', '.join(repr(c) for c in choices)}.", "type")


def _chosen(actual: Value, *, right: str) -> Finding | None:
    if actual is None:
        return Finding("There is no answer.", "none")
    if isinstance(actual, str) and choice_of(actual) == choice_of(right):
        return None
    return Finding(f"{show(actual)} is not the answer.", "values")


def _number_is(actual: Value, *, right: float, within: float) -> Finding | None:
    """Compare a single finite number with ``right``, allowing an error of ``within``."""
    found = as_array(actual)
    if found is None or found.size != 1:
        return _is_number(actual)
    answer = found.item()
    return None if abs(answer - right) <= within else Finding(f"{answer:g} is not the answer.", "values")


def _drawn(actual: Value, *, low: Value, high: Value, mean: Value, summary: str) -> Finding | None:  # noqa: ARG001
    """Check that the count of each number from 0 to n - 1 in ``actual`` is within its bounds, ``low`` and ``high``."""
    draws = as_array(actual)
    if draws is None or draws.dtype.kind not in "iuf" or (draws != np.round(draws)).any():
        return Finding("Every draw should be a whole number.", "type")
    outside = draws[(draws < 0) | (draws >= len(low))]
    if outside.size:
        return Finding(f"It gave {outside[0]:g}, but only the numbers 0 to {len(low) - 1} can be drawn.", "values")
    counts = np.bincount(draws.astype(int).ravel(), minlength=len(low))
    off = np.maximum(np.subtract(low, counts), np.subtract(counts, high))
    worst = int(off.argmax())
    if off[worst] <= 0:
        return None
    return Finding(f"It gave {worst} in {counts[worst]} of {draws.size} draws, not about {mean[worst]:.0f}.", "values")


def _averages(actual: Value, *, low: float, high: float, mean: float, summary: str) -> Finding | None:  # noqa: ARG001
    found = as_array(actual)
    if found is None or not found.size:
        return wrong_type(actual, "an array")
    average = float(found.mean())
    if low <= average <= high:
        return None
    return Finding(
        f"The average of {found.size} results is {average:.4g}, but it should be between {low:.4g} and {high:.4g}, near {mean:g}.",
        "values",
    )


def _is_number(actual: Value) -> Finding | None:
    if actual is None:
        return _UNANSWERED
    found = as_array(actual)
    if found is not None and found.size == 1 and found.dtype.kind in "iuf" and np.isfinite(found).all():
        return None
    what = describe(actual) if hasattr(actual, "type") else show(actual)
    return Finding(f"It is {what}. Write a number.", "type")


def _is_string(actual: Value) -> Finding | None:
    if actual is None:
        return _UNANSWERED
    return None if isinstance(actual, str) else Finding(f"It is {describe(actual)}. Write a string in quotes.", "type")


def _einsum_gives(actual: Value, *, operands: Value, right: Value) -> Finding | None:
    """Judge an einsum equation by its result for ``operands`` (nested lists), whatever letters it uses."""
    if (finding := _is_string(actual)) is not None:
        return finding
    if len(actual) > MAX_EQUATION or not _EQUATION.fullmatch(actual):
        needs = "it may contain only letters, commas, spaces, `...` and one `->` after the last comma"
        return Finding(f"{show(actual)} is not an einsum equation: {needs}.", "type")
    arrays = [np.asarray(o, dtype=np.float64) for o in operands]
    try:
        found = np.einsum(actual, *arrays)
    except Exception as error:  # noqa: BLE001 - every error that NumPy raises is reported
        why = _wrong_letters(actual, arrays) or str(error)[:200].rstrip(". ")
        return Finding(f"NumPy cannot use the equation {show(actual)}: {why}.", "type")
    finding = matches(found, np.asarray(right, dtype=np.float64))
    if finding is None or "->" in actual:
        return finding
    rule = "Without `->`, NumPy keeps the letters that occur once, in alphabetical order. Use `->` to choose the order yourself."
    return replace(finding, reason=f"{finding.reason} {rule}")


def _wrong_letters(equation: str, arrays: Sequence[np.ndarray]) -> str:
    terms = equation.split("->", maxsplit=1)[0].replace(" ", "").split(",")
    if len(terms) != len(arrays):
        passed = f"{count(len(arrays), 'array')} {'is' if len(arrays) == 1 else 'are'} passed"
        return f"it describes {count(len(terms), 'array')}, but {passed}"
    sizes: dict[str, int] = {}
    for term, array in zip(terms, arrays, strict=False):
        if len(term) != array.ndim:
            letters, axes = count(len(term), "letter"), "1 axis" if array.ndim == 1 else f"{array.ndim} axes"
            return f"{term!r} has {letters}, but its array has {axes}" if "." not in term else ""
        for letter, size in zip(term, array.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                return f"the letter {letter} is used for an axis of size {sizes[letter]} and for an axis of size {size}"
    return ""


_PROPERTIES: dict[str, Callable[..., Finding | None]] = {
    "sums_to_one": _sums_to_one, "within": _within, "finite": _finite, "has_shape": _has_shape, "one_of": _one_of,
    "chosen": _chosen, "number_is": _number_is, "drawn": _drawn, "averages": _averages, "is_number": _is_number,
    "is_string": _is_string, "einsum_gives": _einsum_gives, "is_a": gives_an_object, "raises": raises_an_error,
    "lets_through": _lets_through, "does_little": stays_within, "grows_slowly": grows_slowly,
    "should_raise": should_raise, "prints": prints_lines,
}  # fmt: skip


def same_choice(given: Value, wrong: Value) -> bool:
    """Return whether ``given`` is the answer ``wrong``: the same letter, equal number or equivalent equation."""
    if isinstance(given, str) and isinstance(wrong, str):
        plain = _canonical if "," in wrong else choice_of
        return plain(given) == plain(wrong)
    if isinstance(given, str) or isinstance(wrong, str):
        return False
    return given is not None and equal(given, wrong, Rules(rtol=1e-2, atol=5e-4))


def _canonical(equation: str) -> str:
    """Rename the letters of an einsum equation in order of appearance: ``"nd,md->nm"`` becomes ``"ia,ja->ij"``."""
    letters: dict[str, str] = {}
    text = "".join(equation.split())
    if "->" not in text:  # the alphabetical order of the letters sets the order of the result's axes
        text += f"={''.join(sorted(c for c in text if text.count(c) == 1 and c.isalpha()))}"
    return re.sub("[A-Za-z]", lambda m: letters.setdefault(m[0], chr(ord("a") + len(letters) % 26)), text)
