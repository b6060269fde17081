"""The kinds of input that differ in what arguments hold: entries of arrays, masks, lengths, numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from autograder.checking.arguments import (
    ArrayArgument,
    LengthsArgument,
    MaskArgument,
    NumberArgument,
    WholeNumbersArgument,
)
from autograder.checking.kind import Kind, Path, Test, styled

__all__ = ["of_array", "of_lengths", "of_mask", "of_number", "of_order", "of_whole_numbers"]

EXP_HIGH, EXP_LOW = 709.8, -745.2  # np.exp is infinite above, and 0 below


def _filled(test: Callable[[np.ndarray], bool]) -> Test:
    return lambda a, _reading: a.size > 0 and test(a)


def _several(a: np.ndarray) -> bool:
    return a.size > 1


def _sizes_of(a: np.ndarray) -> np.ndarray:
    """The sizes of the entries that are not 0; a single 0 where all are."""
    found = np.abs(a[a != 0])
    return found if found.size else np.zeros(1)


def _ptp(a: np.ndarray) -> float:
    return float(a.max() - a.min())


def _nearly_equal(a: np.ndarray) -> bool:
    gaps = np.diff(np.sort(a, axis=None))
    return bool(((gaps > 0) & (gaps <= 1e-5 * max(1e-300, float(np.abs(a).max())))).any())


def _lost_in_float32(a: np.ndarray) -> bool:
    if a.dtype != np.float64:
        return False
    with np.errstate(all="ignore"):
        narrow = a.astype(np.float32).astype(np.float64)
    return bool(((narrow == 0) & (a != 0)).any() or np.unique(narrow).size < np.unique(a).size)


# Name, phrase, how an array of that kind is known, whether a range (low, high, tiny) allows it, and whether it hides
# what the other arguments are like.
_ENTRIES: tuple[
    tuple[str, str, Callable[[np.ndarray], bool], Callable[[float, float, float], bool], bool], ...
] = (
    ("all negative", "only negative numbers in {}", lambda a: _several(a) and bool(a.max() < 0), lambda lo, _hi, _t: lo < 0, False),
    ("all positive", "only positive numbers in {}", lambda a: _several(a) and bool(a.min() > 0), lambda lo, hi, _t: lo < 0 < hi, False),
    ("far below zero", "all of {} far below zero", lambda a: _several(a) and bool(a.max() < EXP_LOW), lambda lo, _hi, _t: lo < 1.2 * EXP_LOW, False),
    ("beyond the range of exp", "numbers in {} above 709 and below -745", lambda a: bool(a.max() > EXP_HIGH and a.min() < EXP_LOW), lambda lo, hi, _t: lo < 1.2 * EXP_LOW and hi > 1.2 * EXP_HIGH, False),
    ("far from zero for its spread", "the numbers in {} close together and far from zero", lambda a: _several(a) and 0 < _ptp(a) < 0.01 * abs(float(a.mean())), lambda lo, hi, _t: hi - lo > 1 and max(abs(lo), abs(hi)) >= 1000, False),
    ("all equal", "all numbers in {} equal", lambda a: _several(a) and _ptp(a) == 0 and bool(a.flat[0] != 0), lambda _lo, _hi, _t: True, True),
    ("some equal", "equal numbers in {}", lambda a: 1 < np.unique(a).size < a.size, lambda _lo, _hi, _t: True, False),
    ("nearly equal", "nearly equal numbers in {}", _nearly_equal, lambda _lo, _hi, _t: True, False),
    ("all zero", "only zeros in {}", lambda a: not a.any(), lambda lo, hi, _t: lo <= 0 <= hi, True),
    ("some zeros", "zeros in {}", lambda a: bool(a.any() and (a == 0).any()), lambda lo, hi, _t: lo <= 0 <= hi, False),
    ("tiny beside large", "tiny numbers beside large ones in {}", lambda a: bool(_sizes_of(a).min() <= 1e-6 * _sizes_of(a).max() and a.any()), lambda lo, hi, t: max(abs(lo), hi) >= 1e6 * t, False),
    ("all small", "only numbers of about a hundredth in {}", lambda a: 1e-4 < float(_sizes_of(a).max()) <= 0.05, lambda _lo, _hi, t: t <= 1e-4, True),
    ("all tiny", "only tiny numbers in {}", lambda a: 0 < float(_sizes_of(a).max()) <= 1e-4, lambda _lo, _hi, t: t <= 1e-5, True),
    ("all huge", "only huge numbers in {}", lambda a: float(np.abs(a).min()) >= 1e4, lambda lo, hi, _t: max(abs(lo), hi) >= 1e5, False),
    ("more digits than float32 has", "numbers in {} that float32 cannot tell apart", _lost_in_float32, lambda lo, hi, _t: hi - lo > 1, False),
)  # fmt: skip
# What needs distinct entries cannot have equal ones.
_EQUAL = {"all equal", "some equal", "all zero", "some zeros"}

_WEIGHTS: tuple[tuple[str, str, Callable[[np.ndarray], bool], bool], ...] = (
    ("all on one", "a weight of exactly 1 in {}", lambda a: bool((a == 1).any()) and a.shape[-1] > 1, True),
    ("some zeros", "zeros in {}", lambda a: bool((a == 0).any()), False),
    ("no zeros", "no zeros in {}", lambda a: bool((a > 0).all()), False),
    ("tiny beside large", "tiny numbers beside large ones in {}", lambda a: bool(((a > 0) & (a < 1e-7)).any()), False),
    ("small", "numbers of about a hundredth or a thousandth in {}", lambda a: bool(((a > 1e-5) & (a < 1e-2)).any()), False),
    ("near 1", "a number just below 1 in {}", lambda a: bool(((a < 1) & (a > 0.99)).any()), False),
    ("all equal", "all numbers in a row of {} equal", lambda a: a.shape[-1] > 1 and bool((a.max(-1) - a.min(-1) < 1e-12).any()), True),
    ("some equal", "equal numbers in {}", lambda a: np.unique(a).size < a.size, False),
)  # fmt: skip


def of_array(path: Path, name: str, argument: ArrayArgument) -> Iterator[Kind]:
    """The kinds of what an array of floats may hold."""
    for style, phrase, known, alone in _array_styles(argument):
        yield styled(path, style, phrase.format(name), _filled(known), alone=alone)


def _array_styles(argument: ArrayArgument) -> Iterator[tuple[str, str, Callable[[np.ndarray], bool], bool]]:
    if argument.sums_to_one:
        yield from _WEIGHTS
        return
    for style, phrase, known, allowed, alone in _ENTRIES:
        if allowed(argument.low, argument.high, argument.tiny) and not (argument.distinct and style in _EQUAL):
            yield style, phrase, known, alone


# masks and lengths


def of_mask(path: Path, name: str, argument: MaskArgument) -> Iterator[Kind]:
    """The kinds of a mask."""
    full = len([a for a in argument.shape if a != "..."])
    styles: list[tuple[str, str, Callable[[np.ndarray], bool]]] = [
        ("everything allowed", f"a {name} that allows everything", lambda m: bool(m.all())),
        ("one allowed in a row", f"a {name} with one place allowed in a row", lambda m: bool((m.sum(-1) == 1).any()) and m.shape[-1] > 1),
    ]  # fmt: skip
    if argument.shape[-2:-1] != ("1",):
        styles.append(("different rows", f"a {name} with a row for each", lambda m: m.ndim > 1 and bool((m != m[..., :1, :]).any())))  # fmt: skip
    if argument.empty_rows:
        styles += [
            ("nothing allowed in a row", f"a row of {name} that allows nothing", lambda m: bool((~m.any(-1)).any() and m.any())),
            ("nothing allowed", f"a {name} that allows nothing", lambda m: not m.any()),
        ]  # fmt: skip
    if argument.broadcasts:
        styles.append(("a row for all", f"a {name} with an axis of 1 where others have more", lambda m: 1 in m.shape))
        if "..." in argument.shape:
            styles.append(("fewer axes", f"a {name} with no batch axes of its own", lambda m: m.ndim <= full))
            styles.append(("batch axes of its own", f"a {name} for each entry of the batch", lambda m: m.ndim > full))
    for style, phrase, test in styles:
        yield styled(path, style, phrase, _filled(test), alone=style in {"nothing allowed", "one allowed in a row"})


def of_lengths(path: Path, name: str, argument: LengthsArgument) -> Iterator[Kind]:
    """The kinds of an array of lengths."""

    def given(test: Callable[[np.ndarray, int], bool]) -> Test:
        return lambda a, reading: np.size(a) > 0 and test(np.asarray(a), reading.sizes.get(argument.up_to, -1))

    styles: list[tuple[str, str, Callable[[np.ndarray, int], bool]]] = [
        ("all the whole length", f"every entry of {name} as large as it may be", lambda a, n: bool((a == n).all())),
        ("one the whole length", f"an entry of {name} as large as it may be", lambda a, n: bool((a == n).any())),
        ("the smallest", f"an entry of {name} as small as it may be", lambda a, _n: bool((a == argument.low).any())),
        ("all different", f"different {name}", lambda a, _n: a.size > 1 and np.unique(a).size == a.size),
        ("all equal", f"equal {name}", lambda a, n: a.size > 1 and np.unique(a).size == 1 and bool(a.flat[0] < n)),
    ]  # fmt: skip
    for style, phrase, test in styles:
        yield styled(path, style, phrase, given(test))


def of_order(path: Path, name: str) -> Iterator[Kind]:
    """The kinds of a permutation."""
    styles: list[tuple[str, str, Callable[[np.ndarray], bool]]] = [
        ("not undone by itself", f"a {name} that does not undo itself", lambda a: bool((a[a] != np.arange(a.size)).any())),
        ("as it is", f"a {name} that leaves everything in its place", lambda a: a.size > 1 and bool((np.diff(a) == 1).all())),
        ("undone by itself", f"a {name} that undoes itself", lambda a: bool((np.diff(a) != 1).any() and (a[a] == np.arange(a.size)).all())),
    ]  # fmt: skip
    for style, phrase, test in styles:
        yield styled(path, style, phrase, _filled(test), alone=style == "as it is")


def of_whole_numbers(path: Path, name: str, argument: WholeNumbersArgument) -> Iterator[Kind]:
    """The kinds of an array of whole numbers."""
    low, high = argument.low, argument.high
    far = _far(low, high)
    styles: list[tuple[str, str, Callable[[np.ndarray], bool], bool]] = [
        ("0, 1, 2 and so on", f"{name} that count from 0", lambda a: _several(a) and bool((a == np.arange(a.size)).all()), low <= 0),
        ("in a row from elsewhere", f"{name} that count from another number than 0", lambda a: _several(a) and bool((np.diff(a) == 1).all() and a[0] != 0), True),
        ("in no order", f"{name} in no order", lambda a: bool((np.diff(a) > 0).any() and (np.diff(a) < 0).any()), True),
        ("some equal", f"equal {name}", lambda a: 1 < np.unique(a).size < a.size, True),
        ("all equal", f"all {name} equal", lambda a: _several(a) and np.unique(a).size == 1, True),
        ("negative", f"negative {name}", lambda a: bool((a < 0).any()), low < 0),
        ("the largest", f"the largest number among {name}", lambda a: bool((a == high).any()), True),
        ("far from 0", f"{name} far from 0", lambda a: bool((np.abs(a) >= far).all()), far > 100),
    ]  # fmt: skip

    def known(test: Callable[[np.ndarray], bool]) -> Test:
        return lambda value, _reading: np.size(value) > 0 and test(np.asarray(value))  # perhaps in a list

    for style, phrase, test, allowed in styles:
        if allowed:
            yield styled(path, style, phrase, known(test), alone=style == "all equal")


def _far(low: int, high: int) -> int:
    """From where on a whole number is far from 0 for its range."""
    return max(abs(low), abs(high)) // 10


# scalars


def of_number(path: Path, name: str, argument: NumberArgument) -> Iterator[Kind]:
    """The kinds of a number."""
    low, high = argument.low, argument.high

    def given(test: Callable[[float], bool]) -> Test:
        return lambda value, _reading: test(float(value))

    styles: list[tuple[str, str, Callable[[float], bool]]] = [
        ("smallest", f"the smallest {name}", lambda v: v <= low + 1e-9 if argument.whole else v <= _near(low, high)),
        ("large", f"a large {name}", lambda v: v >= _large(low, high)),
        ("in between", f"an ordinary {name}", lambda v: low < v < _large(low, high)),
    ]
    if argument.whole and high - low < 2:
        styles.pop()
    for style, phrase, test in styles:
        yield styled(path, style, phrase, given(test))


def _near(low: float, high: float) -> float:
    """How small a number with a fraction is to be near its lower end."""
    return low * 2 if low > 0 else low + 0.01 * (high - low)


def _large(low: float, high: float) -> float:
    """From where on a number is large for its range."""
    return math.sqrt(low * high) if low > 0 else low + 0.5 * (high - low)
