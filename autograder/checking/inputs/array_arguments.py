"""Arguments that are arrays: floats, weights, masks, lengths, permutations, whole numbers, and the sizes and axes of arrays.

Inputs are the same for every run of a course. A change to the order of the calls of ``rng`` changes all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.inputs.argument import (
    LONG_AXES,
    Argument,
    BoundCall,
    Drawing,
    DrawRequest,
    InputCategory,
    Path,
    Style,
    length_category,
)

__all__ = [
    "ArrayArgument", "AxisArgument", "LengthsArgument", "MaskArgument", "OrderArgument", "ShapedArgument", "SizeArgument",
    "WeightsArgument", "WholeNumbersArgument", "array", "axis_of", "lengths", "mask", "order", "size", "weights",
    "whole_numbers",
]  # fmt: skip

EXP_HIGH, EXP_LOW = 709.8, -745.2  # np.exp is infinite above, and 0 below
LARGEST = 3.0  # the largest absolute value of ordinary entries


@dataclass(frozen=True)
class ShapedArgument(Argument):
    """An array, with the letters of its axes."""

    shape: tuple[str, ...]

    @property
    def fixes_sizes(self) -> bool:
        """Whether a value's shape determines the sizes of the letters."""
        return True

    def fits(self, style: Style, value: Value, call: BoundCall) -> bool:
        """Return whether an array, or a list of numbers, has the style. An empty array has no style."""
        return np.size(value) > 0 and bool(style.matches(np.asarray(value)))

    def draw(self, drawing: Drawing, path: Path) -> Value:
        return self.draw_styled(drawing, path, drawing.shape(self.shape), drawing.rng)


@dataclass(frozen=True)
class ArrayArgument(ShapedArgument):
    """An array of floats. ``array`` describes its attributes."""

    _: KW_ONLY
    low: float = -1e6
    high: float = 1e6
    tiny: float = 1e-6
    float32: bool = True
    distinct: bool = False

    def styles(self, name: str) -> Iterator[Style]:
        # fmt: off
        low, high, tiny, largest = self.low, self.high, self.tiny, self._largest
        has_zero = low <= 0 <= high and not self.distinct
        if low < 0:
            yield Style("all negative", f"only negative numbers in {name}", lambda a: _several(a) and a.max() < 0,
                        lambda shape, rng: -np.abs(rng.uniform(0.05, 1.0, size=shape)) * min(LARGEST, -low))
        if low < 0 < high:
            yield Style("all positive", f"only positive numbers in {name}", lambda a: _several(a) and a.min() > 0,
                        lambda shape, rng: np.abs(rng.uniform(0.05, 1.0, size=shape)) * min(LARGEST, high))
        if low < 1.2 * EXP_LOW:
            yield Style("far below zero", f"all of {name} far below zero", lambda a: _several(a) and a.max() < EXP_LOW,
                        lambda shape, rng: rng.uniform(-1.5, 1.5, size=shape) - min(-low * 0.9, 900.0))
            if low < -1200:
                yield Style("below -1000", f"all of {name} below -1000", lambda a: _several(a) and a.max() < -1000,
                            lambda shape, rng: rng.uniform(-1.5, 1.5, size=shape) - min(-low * 0.9, float(rng.choice([1200.0, 3000.0, 8000.0]))), optional=True)
        if low < 1.2 * EXP_LOW and high > 1.2 * EXP_HIGH:
            yield Style("beyond the range of exp", f"numbers in {name} above 709 and below -745",
                        lambda a: a.max() > EXP_HIGH and a.min() < EXP_LOW, self._beyond_exp)
        if high - low > 1 and largest >= 1000:
            yield Style("far from zero for its spread", f"the numbers in {name} close together and far from zero",
                        lambda a: _several(a) and 0 < _spread(a) < 0.01 * abs(float(a.mean())),
                        lambda shape, rng: min(largest, 9000.0) * 0.9 * (1 if high >= 1000 else -1) + rng.uniform(-1.5, 1.5, size=shape))
        if not self.distinct:
            yield Style("all equal", f"all numbers in {name} equal", lambda a: _several(a) and _spread(a) == 0 and a.flat[0] != 0,
                        lambda shape, rng: np.full(shape, self.ordinary(shape, rng).flat[0]), exclusive=True)
            yield Style("some equal", f"equal numbers in {name}", lambda a: 1 < np.unique(a).size < a.size, self._some_equal)
            yield Style("one apart", f"all numbers in {name} equal except one far away", _one_apart, self._one_apart, optional=True)
            if len(self.shape) > 1:
                yield Style("equal rows", f"equal rows in {name}", lambda a: 1 < _different_rows(a) < a.size // a.shape[-1], self._equal_rows, optional=True)
                yield Style("equal row sums", f"rows of {name} with equal sums",
                            lambda a: _different_rows(a) > 1 and np.ptp(a.sum(-1)) <= 1e-9 * np.abs(a).max(), self._equal_sums, optional=True)
        yield Style("nearly equal", f"nearly equal numbers in {name}", _nearly_equal, self._nearly_equal)
        if has_zero:
            yield Style("all zero", f"only zeros in {name}", lambda a: not a.any(), lambda shape, _rng: np.zeros(shape), exclusive=True)
            yield Style("some zeros", f"zeros in {name}", lambda a: a.any() and (a == 0).any(), self._some_zeros)
        if largest >= 1e6 * tiny:
            yield Style("tiny beside large", f"tiny numbers next to large numbers in {name}",
                        lambda a: _sizes_of(a).min() <= 1e-6 * _sizes_of(a).max() and a.any(), self._tiny_and_large)
        if tiny <= 1e-4:
            yield Style("all small", f"only numbers near 0.01 in {name}", lambda a: 1e-4 < float(_sizes_of(a).max()) <= 0.05,
                        lambda shape, rng: self._signs(shape, rng) * 10 ** rng.uniform(-3.5, -1.4, size=shape), exclusive=True)
        if tiny <= 1e-5:
            least = np.log10(max(tiny, 1e-12)) + 0.1
            yield Style("all tiny", f"only tiny numbers in {name}", lambda a: 0 < float(_sizes_of(a).max()) <= 1e-4,
                        lambda shape, rng: self._signs(shape, rng) * 10 ** rng.uniform(least, max(least, -5.05), size=shape), exclusive=True)
        if largest >= 1e5:
            yield Style("all huge", f"only huge numbers in {name}", lambda a: np.abs(a).min() >= 1e4,
                        lambda shape, rng: self._signs(shape, rng) * rng.uniform(0.1, 0.9, size=shape) * largest)
        if high - low > 1:
            yield Style("more digits than float32 has", f"numbers in {name} that float32 cannot tell apart", _lost_in_float32, self._equal_in_float32)
        # fmt: on

    def categories(self, path: Path) -> Iterator[InputCategory]:
        """Yield the categories of the styles.

        Styles about rows need several rows. If the array has no other axis for them, request a batch axis.
        """
        for category in super().categories(path):

            def configure(request: DrawRequest, rng: np.random.Generator, category: InputCategory = category) -> None:
                category.configure(request, rng)
                request.batch = request.batch or (3,)

            by_rows = self.shape[:-1] == ("...",) and category.name.endswith(("equal rows", "equal row sums"))
            yield replace(category, configure=configure) if by_rows else category

    def draw_styled(self, drawing: Drawing, path: Path, *given: object) -> np.ndarray:
        """Draw an array of the requested style and dtype. ``given`` is the shape and the generator."""
        drawn: np.ndarray = super().draw_styled(drawing, path, *given)
        if drawing.request.float32 and self.float32:
            drawn = drawn.astype(np.float32)
        return drawn

    @property
    def _largest(self) -> float:
        return max(abs(self.low), abs(self.high))

    def ordinary(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Return random numbers of ordinary size, at most a few units from 0 or from ``low``."""
        bottom = self.low if self.low >= 0 else max(self.low, -LARGEST)
        reach = 2 * LARGEST if self.low < 0 else min(LARGEST, self.high - self.low)
        drawn = rng.uniform(bottom, min(self.high, bottom + reach), size=shape)
        return np.where(np.abs(drawn) < max(self.tiny, 1e-3), max(self.tiny, 0.01), drawn)

    def _signs(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        if self.low >= 0:
            return np.ones(shape)
        return -np.ones(shape) if self.high <= 0 else rng.choice([-1.0, 1.0], size=shape)

    def _beyond_exp(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        level = min(-self.low, self.high, 9000.0) * 0.9
        rows = rng.uniform(-1.5, 1.5, size=shape)
        if len(shape) > 1 and shape[-2] > 1:  # some rows above and others below, so that each keeps its own weights
            return rows + np.where(np.arange(shape[-2]) % 2, -level, level)[:, None]
        return rows + np.where(np.arange(rows.size).reshape(shape) % 2, -level, level)

    def _some_equal(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.choice(np.unique(self.ordinary(shape, rng))[: max(2, min(3, math.prod(shape) - 1))], size=shape)

    def _one_apart(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        drawn = np.full(shape, self.ordinary(shape, rng).flat[0])
        level = float(drawn.flat[0])
        drawn.flat[int(rng.integers(drawn.size))] = float(
            np.clip(level + 100 * max(1.0, abs(level)), self.low, self.high)
        )
        return drawn

    def _equal_rows(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        drawn = self.ordinary(shape, rng)
        rows = drawn.reshape(-1, shape[-1])
        rows[-1] = rows[0]
        return drawn

    def _equal_sums(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.permuted(np.broadcast_to(self.ordinary(shape[-1:], rng), shape), axis=-1)

    def _nearly_equal(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        drawn = self.ordinary(shape, rng)
        first, second = _pairs(drawn)
        second[...] = first * (1 + 1e-7 * rng.uniform(0.5, 1, size=len(second)))
        return drawn

    def _some_zeros(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        drawn = self.ordinary(shape, rng)
        drawn.flat[int(rng.integers(drawn.size)) :: 3] = 0.0
        return drawn

    def _tiny_and_large(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        top = np.log10(self._largest)
        drawn = self._signs(shape, rng) * 10 ** rng.uniform(
            np.log10(max(self.tiny, self._largest * 1e-9, 1e-9)), top - 6, size=shape
        )
        large = np.arange(drawn.size).reshape(shape) % 2 == int(rng.integers(2))
        return np.where(large, self._signs(shape, rng) * rng.uniform(0.2, 0.9, size=shape) * self._largest, drawn)

    def _equal_in_float32(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        level = min(self._largest, 1000.0) * 0.5
        drawn = rng.uniform(0, 1, size=shape) + float(np.clip(level if self.high > 0 else -level, self.low, self.high))
        first, second = _pairs(drawn)
        second[...] = first + 1e-8 * level
        return drawn


def array(
    shape: str,
    *,
    low: float = -1e6,
    high: float = 1e6,
    tiny: float = 1e-6,
    float32: bool = True,
    distinct: bool = False,
) -> ArrayArgument:
    """Declare an array of floats from ``low`` to ``high``.

    The letters of ``shape`` are sizes: ``"... n_q d_k"``, ``"n h*d"``. ``...`` is any number of batch axes. No entry is closer
    to 0 than ``tiny``, except 0 itself. ``distinct`` means that no two entries are equal. Use ``float32=False`` if the contract
    promises float64.
    """
    return ArrayArgument(_axes(shape), low=low, high=high, tiny=tiny, float32=float32, distinct=distinct)


def _several(a: np.ndarray) -> bool:
    return a.size > 1


def _spread(a: np.ndarray) -> float:
    return float(a.max() - a.min())


def _sizes_of(a: np.ndarray) -> np.ndarray:
    """Return the absolute values of the entries that are not 0, or a single 0 if all entries are 0."""
    found = np.abs(a[a != 0])
    return found if found.size else np.zeros(1)


def _different_rows(a: np.ndarray) -> int:
    """Return the number of different rows of an array."""
    return len({row.tobytes() for row in a.reshape(-1, a.shape[-1]) + 0.0})  # -0.0 equals 0.0


def _one_apart(a: np.ndarray) -> bool:
    counts = np.unique(a, return_counts=True)[1]
    return bool(a.size > 2 and len(counts) == 2 and counts.min() == 1)


def _nearly_equal(a: np.ndarray) -> bool:
    gaps = np.diff(np.sort(a, axis=None))
    return bool(((gaps > 0) & (gaps <= 1e-5 * max(1e-300, float(np.abs(a).max())))).any())


def _lost_in_float32(a: np.ndarray) -> bool:
    if a.dtype != np.float64:
        return False
    with np.errstate(all="ignore"):
        narrow = a.astype(np.float32).astype(np.float64)
    return bool(((narrow == 0) & (a != 0)).any() or np.unique(narrow).size < np.unique(a).size)


def _pairs(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two views of a contiguous array: the first and the second entry of each pair of neighbors."""
    flat = a.reshape(-1)
    return flat[: flat.size - flat.size % 2 : 2], flat[1::2]


@dataclass(frozen=True)
class WeightsArgument(ArrayArgument):
    """An array of weights: none is negative, and those along the last axis add up to 1."""

    def styles(self, name: str) -> Iterator[Style]:
        # fmt: off
        yield Style("all on one", f"a weight of exactly 1 in {name}", lambda a: (a == 1).any() and a.shape[-1] > 1,
                    partial(self.ordinary, change=_all_on_one), exclusive=True)
        yield Style("some zeros", f"zeros in {name}", lambda a: (a == 0).any(), partial(self.ordinary, change=_some_zeros))
        yield Style("no zeros", f"no zeros in {name}", lambda a: (a > 0).all(), self.ordinary)
        yield Style("tiny beside large", f"tiny numbers next to large numbers in {name}", lambda a: ((a > 0) & (a < 1e-7)).any(),
                    partial(self.ordinary, change=_tiny_and_large))
        yield Style("small", f"numbers near 0.01 or 0.001 in {name}", lambda a: ((a > 1e-5) & (a < 1e-2)).any(),
                    partial(self.ordinary, change=_one_large(lambda rest, rng: 10 ** rng.uniform(-3.5, -2.1, size=rest.shape))))
        yield Style("near 1", f"a number just below 1 in {name}", lambda a: ((a < 1 - 3e-5) & (a > 0.99)).any(),
                    partial(self.ordinary, change=_one_large(lambda rest, _rng: rest * 3e-4)), exclusive=True)
        yield Style("all equal", f"all numbers in a row of {name} equal", lambda a: a.shape[-1] > 1 and (a.max(-1) - a.min(-1) < 1e-12).any(),
                    partial(self.ordinary, change=lambda parts, _rng: np.ones_like(parts)), exclusive=True)
        yield Style("some equal", f"equal numbers in {name}", lambda a: np.unique(a).size < a.size,
                    partial(self.ordinary, change=lambda parts, _rng: np.round(2 * parts) / 2 + 0.25))
        # fmt: on

    def ordinary(
        self, shape: tuple[int, ...], rng: np.random.Generator, change: Callable[..., np.ndarray] | None = None
    ) -> np.ndarray:
        """Return random weights: positive numbers, perhaps changed by ``change(parts, rng)``, divided by their sums."""
        parts: np.ndarray = rng.uniform(0.1, 1.0, size=shape)
        parts = change(parts, rng) if change else parts
        weights: np.ndarray = parts / parts.sum(-1, keepdims=True)
        return weights


def _all_on_one(parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    parts = np.zeros_like(parts)
    np.put_along_axis(parts, rng.integers(parts.shape[-1], size=(*parts.shape[:-1], 1)), 1.0, axis=-1)
    return parts


def _some_zeros(parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if parts.shape[-1] > 1:
        parts[..., int(rng.integers(parts.shape[-1])) :: 2] = 0.0
        parts[..., :1] += parts.sum(-1, keepdims=True) == 0
    return parts


def _tiny_and_large(parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    *rows, n = parts.shape
    if n == 1:
        return parts
    parts[..., 1:] = 10 ** rng.uniform(-11, -8, size=(*rows, n - 1))
    parts[..., : max(1, n // 2)] = rng.uniform(0.3, 1, size=(*rows, max(1, n // 2)))
    return rng.permuted(parts, axis=-1)


def _one_large(rest: Callable[[np.ndarray, np.random.Generator], np.ndarray]) -> Callable[..., np.ndarray]:
    """Return a function that keeps the first number of each row, takes the others from ``rest(others, rng)``, and shuffles them."""

    def draw(parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if parts.shape[-1] == 1:
            return parts
        parts[..., 1:] = rest(parts[..., 1:], rng)
        return rng.permuted(parts, axis=-1)

    return draw


def weights(shape: str, *, float32: bool = True) -> WeightsArgument:
    """Declare an array of weights: none is negative, and those along the last axis add up to 1."""
    return WeightsArgument(_axes(shape), low=0.0, high=1.0, tiny=1e-12, float32=float32)


@dataclass(frozen=True)
class MaskArgument(ShapedArgument):
    """A boolean mask. ``mask`` describes its attributes."""

    _: KW_ONLY
    empty_rows: bool = False
    broadcasts: bool = True

    @property
    def fixes_sizes(self) -> bool:
        return not self.broadcasts

    def styles(self, name: str) -> Iterator[Style]:
        own = len([axis for axis in self.shape if axis != "..."])
        # fmt: off
        yield Style("everything allowed", f"a {name} that allows everything", lambda m: m.all(), lambda shape, rng: rng.random(shape) < 1)
        yield Style("one allowed in a row", f"a {name} that allows one position in a row", lambda m: (m.sum(-1) == 1).any() and m.shape[-1] > 1,
                    lambda shape, rng: self.ordinary(shape, rng, share=0), exclusive=True)
        if self.shape[-2:-1] != ("1",):
            yield Style("different rows", f"a {name} with different rows", lambda m: m.ndim > 1 and (m != m[..., :1, :]).any(), self.ordinary)
        if self.empty_rows:
            yield Style("nothing allowed in a row", f"a row of {name} that allows nothing", lambda m: (~m.any(-1)).any() and m.any(), self._with_empty_row)
            yield Style("nothing allowed", f"a {name} that allows nothing", lambda m: not m.any(), lambda shape, rng: rng.random(shape) < 0, exclusive=True)
        if self.broadcasts:
            yield Style("a row for all", f"a {name} with an axis of length 1 that is longer in other arrays", lambda m: 1 in m.shape, self._with_axis_of_one)
            if "..." in self.shape:
                yield Style("fewer axes", f"a {name} with no batch axes of its own",
                            lambda m: m.ndim <= own, lambda shape, rng: self.ordinary(shape[len(shape) - own :], rng))
                if own > 1:
                    yield Style("one axis", f"a {name} with a single axis", lambda m: m.ndim == 1, lambda shape, rng: self.ordinary(shape[-1:], rng), optional=True)
                yield Style("batch axes of its own", f"a {name} for each entry of the batch", lambda m: m.ndim > own, self.ordinary)
        # fmt: on

    def ordinary(self, shape: tuple[int, ...], rng: np.random.Generator, share: float = 0.6) -> np.ndarray:
        """Return a mask that allows about ``share`` of the places, and at least one place in each row."""
        drawn = rng.random(shape) < share
        np.put_along_axis(drawn, rng.integers(shape[-1], size=(*shape[:-1], 1)), np.True_, axis=-1)
        return drawn

    def _with_empty_row(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        drawn = self.ordinary(shape, rng)
        rows = drawn.reshape(-1, shape[-1])
        rows[int(rng.integers(len(rows)))] = False
        return drawn

    def _with_axis_of_one(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        if len(shape) > 1:
            axis = int(rng.integers(len(shape) - 1))
            shape = (*shape[:axis], 1, *shape[axis + 1 :])
        return self.ordinary(shape, rng)


def mask(shape: str, *, empty_rows: bool = False, broadcasts: bool = True, default: bool = False) -> MaskArgument:
    """Declare a boolean mask, which is True at allowed places. Unless ``empty_rows``, every row has such a place.

    If it ``broadcasts``, axes may have size 1, and batch axes may be missing.
    """
    return MaskArgument(_axes(shape), empty_rows=empty_rows, broadcasts=broadcasts, default=default)


@dataclass(frozen=True)
class LengthsArgument(ShapedArgument):
    """An array of whole numbers from ``low`` to the size ``up_to``."""

    up_to: str
    _: KW_ONLY
    low: int = 0

    def styles(self, name: str) -> Iterator[Style]:
        """Yield the styles of lengths, whose tests also get the size ``up_to``."""
        # fmt: off
        yield Style("all the whole length", f"every entry of {name} at its maximum",
                    lambda a, top: (a == top).all(), lambda drawn, top, _rng: np.full_like(drawn, top))
        yield Style("one the whole length", f"an entry of {name} at its maximum", lambda a, top: (a == top).any(), _with_entry)
        yield Style("the smallest", f"an entry of {name} at its minimum",
                    lambda a, _top: (a == self.low).any(), lambda drawn, _top, rng: _with_entry(drawn, self.low, rng))
        yield Style("all different", f"different {name}", lambda a, _top: _several(a) and np.unique(a).size == a.size, self._all_different)
        yield Style("all equal", f"equal {name}", lambda a, top: _several(a) and np.unique(a).size == 1 and a.flat[0] < top,
                    lambda drawn, top, rng: np.full_like(drawn, int(rng.integers(self.low, max(self.low + 1, top)))))
        # fmt: on

    def fits(self, style: Style, value: Value, call: BoundCall) -> bool:
        """Return whether lengths have the style, given the size ``up_to`` of the call."""
        return np.size(value) > 0 and bool(style.matches(np.asarray(value), call.sizes.get(self.up_to, -1)))

    def draw(self, drawing: Drawing, path: Path) -> Value:
        top = drawing.sizes[self.up_to]
        drawn = drawing.rng.integers(self.low, top + 1, size=drawing.shape(self.shape))
        return self.draw_styled(drawing, path, drawn, top, drawing.rng)

    def ordinary(self, drawn: np.ndarray, _top: int, _rng: np.random.Generator) -> np.ndarray:
        return drawn

    def _all_different(self, drawn: np.ndarray, top: int, rng: np.random.Generator) -> np.ndarray:
        count = top - self.low + 1
        return (self.low + rng.permutation(count)[: drawn.size]).reshape(drawn.shape) if drawn.size <= count else drawn


def _with_entry(drawn: np.ndarray, entry: int, rng: np.random.Generator) -> np.ndarray:
    """Put ``entry`` into a random place."""
    drawn.flat[int(rng.integers(drawn.size))] = entry
    return drawn


def lengths(shape: str, up_to: str, *, low: int = 0) -> LengthsArgument:
    """Declare an array of whole numbers from ``low`` to the size called ``up_to``."""
    return LengthsArgument(_axes(shape), up_to, low=low)


@dataclass(frozen=True)
class OrderArgument(ShapedArgument):
    """A permutation: the whole numbers from 0 to one less than the size of an axis, in any order."""

    def styles(self, name: str) -> Iterator[Style]:
        # fmt: off
        yield Style("not undone by itself", f"a {name} that is not its own inverse", lambda a: (a[a] != np.arange(a.size)).any(), self.ordinary)
        yield Style("as it is", f"a {name} that leaves everything in its place",
                    lambda a: _several(a) and (np.diff(a) == 1).all(), lambda shape, _rng: np.arange(math.prod(shape)), exclusive=True)
        yield Style("undone by itself", f"a {name} that is its own inverse", lambda a: (np.diff(a) != 1).any() and (a[a] == np.arange(a.size)).all(),
                    lambda shape, _rng: np.arange(math.prod(shape))[::-1].copy())
        # fmt: on

    def ordinary(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Return a permutation that is a single cycle."""
        drawn = np.arange(math.prod(shape))
        places = rng.permutation(drawn.size)
        drawn[places] = np.roll(places, 1)
        return drawn


def order(shape: str) -> OrderArgument:
    """Declare a permutation: the indexes along an axis, each once, in any order."""
    return OrderArgument(_axes(shape))


@dataclass(frozen=True)
class WholeNumbersArgument(ShapedArgument):
    """An array of whole numbers from ``low`` to ``high``."""

    low: int
    high: int

    def styles(self, name: str) -> Iterator[Style]:
        # fmt: off
        low, high, largest = self.low, self.high, max(abs(self.low), abs(self.high))
        if low <= 0:
            yield Style("0, 1, 2 and so on", f"{name} that count from 0",
                        lambda a: _several(a) and (a == np.arange(a.size)).all(), lambda drawn, _rng: np.arange(drawn.size))
        yield Style("in a row from elsewhere", f"{name} that start at a number other than 0",
                    lambda a: _several(a) and (np.diff(a) == 1).all() and a[0] != 0, self._in_a_row)
        yield Style("in no order", f"{name} in no particular order", lambda a: (np.diff(a) > 0).any() and (np.diff(a) < 0).any(), self._unordered)
        yield Style("some equal", f"equal {name}", lambda a: 1 < np.unique(a).size < a.size, self._some_equal)
        yield Style("all equal", f"all {name} equal", lambda a: _several(a) and np.unique(a).size == 1,
                    lambda drawn, _rng: np.full_like(drawn, drawn[0]), exclusive=True)
        if low < 0:
            yield Style("negative", f"negative {name}", lambda a: (a < 0).any(), lambda drawn, _rng: -np.abs(drawn) - 1)
        yield Style("the largest", f"the largest number among {name}", lambda a: (a == high).any(), lambda drawn, rng: _with_entry(drawn, high, rng))
        if largest // 10 > 100:
            yield Style("far from 0", f"{name} far from 0", lambda a: (np.abs(a) >= largest // 10).all(), self._far_from_zero)
        # fmt: on

    def draw(self, drawing: Drawing, path: Path) -> np.ndarray:
        """Draw whole numbers, few of them far from 0 unless that is requested."""
        shape = drawing.shape(self.shape)
        low, high = self._near(math.prod(shape))
        drawn = drawing.rng.integers(low, high + 1, size=math.prod(shape))
        numbers: np.ndarray = np.clip(self.draw_styled(drawing, path, drawn, drawing.rng), self.low, self.high)
        return numbers.reshape(shape)

    def ordinary(self, drawn: np.ndarray, _rng: np.random.Generator) -> np.ndarray:
        return drawn

    def _near(self, size: int) -> tuple[int, int]:
        return max(self.low, -2 * size - 5), min(self.high, 2 * size + 5)

    def _in_a_row(self, drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        low, high = self._near(drawn.size)
        starts = [n for n in range(low, max(low + 1, high - drawn.size)) if n != 0]
        return np.arange(drawn.size) + int(rng.choice(starts or [1]))

    def _unordered(self, drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        low, high = self._near(drawn.size)
        found = rng.permutation(np.unique(rng.integers(low, high + 1, size=4 * drawn.size)))
        return np.resize(found[: drawn.size], drawn.size)

    def _some_equal(self, drawn: np.ndarray, _rng: np.random.Generator) -> np.ndarray:
        low, high = self._near(drawn.size)
        drawn[: drawn.size // 2 + 1] = drawn[-1]
        drawn[:1] = high if drawn[-1] != high else low
        return drawn

    def _far_from_zero(self, drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        largest = max(abs(self.low), abs(self.high))
        sizes = rng.integers(largest // 5, largest + 1, size=drawn.size)
        return np.where((rng.random(drawn.size) < 0.5) & (self.low < 0), -sizes, sizes)


def whole_numbers(shape: str, low: int, high: int) -> WholeNumbersArgument:
    """Declare an array of whole numbers from ``low`` to ``high``, such as positions or tokens. Numbers may repeat."""
    return WholeNumbersArgument(_axes(shape), low, high)


@dataclass(frozen=True)
class SizeArgument(Argument):
    """A whole number that is the size of the axis ``letter``."""

    letter: str

    def draw(self, drawing: Drawing, path: Path) -> int:
        return drawing.sizes[self.letter]


def size(letter: str, *, default: bool = False) -> SizeArgument:
    """Declare a whole number that is the size of the axis ``letter``."""
    return SizeArgument(letter, default=default)


@dataclass(frozen=True)
class AxisArgument(Argument):
    """An axis of the array ``of``, counted from either end."""

    of: str

    def categories(self, path: Path) -> Iterator[InputCategory]:
        """Yield the categories of the length along the axis, and then those of the axis itself."""
        name = path[-1]

        def length(call: BoundCall) -> int:
            shape = np.shape(call.values.get((self.of,), 0))
            axis = int(call.values.get(path, len(shape)))
            return shape[axis] if -len(shape) <= axis < len(shape) else 0

        def request_length(request: DrawRequest, length: int) -> None:
            request.along = length

        for low in LONG_AXES[::-1]:
            words = f"along {name}: longer than {low}", f"more than {low} numbers along {name}"
            yield length_category(*words, (low + 1, low + 20), length, request_length)
        words = f"along {name}: 1", f"a single number along {name}"
        yield length_category(*words, (1, 1), length, request_length, exclusive=True)
        for category in super().categories(path):

            def configure(request: DrawRequest, rng: np.random.Generator, category: InputCategory = category) -> None:
                category.configure(request, rng)
                request.batch = request.batch or (2, 3)  # an array with one axis has no axis in the middle

            yield replace(category, configure=configure)

    def styles(self, name: str) -> Iterator[Style]:
        """Yield the styles of an axis, whose tests also get the number of axes."""
        # fmt: off
        yield Style("first", f"the first {name}", lambda v, n: v % n == 0 and n > 1, lambda n, rng: self.ordinary(n, rng, lambda _: 0))
        yield Style("last", f"the last {name}", lambda v, n: v % n == n - 1 and n > 1, lambda n, rng: self.ordinary(n, rng, lambda _: n - 1))
        yield Style("in the middle", f"an {name} in the middle", lambda v, n: 0 < v % n < n - 1, lambda n, rng: self.ordinary(n, rng,
                    lambda axis: int(rng.integers(1, n - 1)) if n > 2 else axis))
        yield Style("from the front", f"an {name} counted from the front", lambda v, _n: v >= 0, lambda n, rng: int(rng.integers(n)))
        yield Style("from the end", f"an {name} counted from the end", lambda v, _n: v < 0, lambda n, rng: int(rng.integers(n)) - n)
        # fmt: on

    def fits(self, style: Style, value: Value, call: BoundCall) -> bool:
        """Return whether an axis has the style, given the number of axes of the array ``of``."""
        axes = int(np.ndim(call.values.get((self.of,), 0)))
        return axes > 0 and bool(style.matches(int(value), axes))

    def draw(self, drawing: Drawing, path: Path) -> int:
        """Draw an axis. If a length along it is requested, draw the array again with that length."""
        shape = list(np.shape(drawing.values[self.of]))
        axis: int = self.draw_styled(drawing, path, len(shape), drawing.rng)
        of = drawing.arguments[self.of]
        if drawing.request.along is not None and isinstance(of, ArrayArgument):
            shape[axis] = drawing.request.along
            drawing.values[self.of] = of.draw_styled(drawing, (self.of,), tuple(shape), drawing.rng)
        return axis

    def ordinary(self, axes: int, rng: np.random.Generator, choose: Callable[[int], int] = lambda axis: axis) -> int:
        """Return the axis that ``choose`` returns for a random one, counted from the front or from the end."""
        axis = choose(int(rng.integers(axes)))
        return axis - axes if rng.integers(2) else axis


def axis_of(name: str, *, default: bool = False) -> AxisArgument:
    """Declare an axis of the argument ``name``, counted from either end."""
    return AxisArgument(name, default=default)


def _axes(shape: str) -> tuple[str, ...]:
    return tuple(shape.replace(",", " ").strip("() ").split())
