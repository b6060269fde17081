"""Arguments that are arrays of floats, such as data and weights.

Every run of a course draws the same inputs. Reordering the calls of ``rng`` would change all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.inputs.argument import Argument, BoundCall, Drawing, DrawRequest, InputCategory, Path, Style

__all__ = ["ArrayArgument", "ShapedArgument", "WeightsArgument", "array", "axes_of", "is_several", "weights"]

EXP_HIGH, EXP_LOW = 709.8, -745.2  # np.exp is infinite above EXP_HIGH, and 0 below EXP_LOW
LARGEST = 3.0  # the largest absolute value of ordinary entries


@dataclass(frozen=True)
class ShapedArgument(Argument):
    """An argument that is an array. ``shape`` contains the letters of its axes."""

    shape: tuple[str, ...]

    @property
    def fixes_sizes(self) -> bool:
        """Whether the shape of a value determines the sizes of the axes."""
        return True

    def fits(self, style: Style, value: Value, call: BoundCall) -> bool:
        """Return whether an array, or a list of numbers, has the style. An empty array has no style."""
        return np.size(value) > 0 and bool(style.matches(np.asarray(value)))

    def draw(self, drawing: Drawing, path: Path) -> Value:
        return self.draw_styled(drawing, path, drawing.shape(self.shape), drawing.rng)


@dataclass(frozen=True)
class ArrayArgument(ShapedArgument):
    """An array of floats. The function ``array`` describes the attributes."""

    _: KW_ONLY
    low: float = -1e6
    high: float = 1e6
    tiny: float = 1e-6
    float32: bool = True
    distinct: bool = False
    rounds: ClassVar[bool] = True  # whether entries may be rounded to three decimals

    def styles(self, name: str) -> Iterator[Style]:
        # fmt: off
        low, high, tiny, largest = self.low, self.high, self.tiny, self._largest
        has_zero = low <= 0 <= high and not self.distinct
        if low < 0:
            yield Style("all negative", f"only negative numbers in {name}", lambda a: is_several(a) and a.max() < 0,
                        lambda shape, rng: -np.abs(rng.uniform(0.05, 1.0, size=shape)) * min(LARGEST, -low))
        if low < 0 < high:
            yield Style("all positive", f"only positive numbers in {name}", lambda a: is_several(a) and a.min() > 0,
                        lambda shape, rng: np.abs(rng.uniform(0.05, 1.0, size=shape)) * min(LARGEST, high))
        if low < 1.2 * EXP_LOW:
            yield Style("far below zero", f"all of {name} far below zero", lambda a: is_several(a) and a.max() < EXP_LOW,
                        lambda shape, rng: rng.uniform(-1.5, 1.5, size=shape) - min(-low * 0.9, 900.0))
            if low < -1200:
                yield Style("below -1000", f"all of {name} below -1000", lambda a: is_several(a) and a.max() < -1000,
                            lambda shape, rng: rng.uniform(-1.5, 1.5, size=shape) - min(-low * 0.9, float(rng.choice([1200.0, 3000.0, 8000.0]))), optional=True)
        if low < 1.2 * EXP_LOW and high > 1.2 * EXP_HIGH:
            yield Style("beyond the range of exp", f"numbers in {name} far above and far below 0",
                        lambda a: self._by_rows(a).min(-1).max() > EXP_HIGH and self._by_rows(a).max(-1).min() < EXP_LOW, self._beyond_exp)
        if high - low > 1 and largest >= 1000:
            yield Style("far from zero for its spread", f"the numbers in {name} close together and far from zero",
                        lambda a: is_several(a) and 0 < _spread(a) < 0.01 * abs(float(a.mean())),
                        lambda shape, rng: min(largest, 9000.0) * 0.9 * (1 if high >= 1000 else -1) + rng.uniform(-1.5, 1.5, size=shape))
        if not self.distinct:
            yield Style("all equal", f"all numbers in {name} equal", lambda a: is_several(a) and _spread(a) == 0 and a.flat[0] != 0,
                        lambda shape, rng: np.full(shape, self.ordinary(shape, rng).flat[0]), exclusive=True)
            if low <= 1 <= high:
                yield Style("all 1", f"only ones in {name}", lambda a: is_several(a) and (a == 1).all(), lambda shape, _rng: np.ones(shape), exclusive=True, optional=True)
            yield Style("some equal", f"equal numbers in {name}", lambda a: 1 < np.unique(a).size < a.size, self._some_equal)
            yield Style("one apart", f"all numbers in {name} equal except one far away", _one_apart, self._one_apart, optional=True)
            if low < 0 < high:
                yield Style("sum of 0", f"a row of {name} that adds up to exactly 0", lambda a: (a.any(-1) & (a.sum(-1) == 0)).any(), self._sum_of_zero, optional=True)
            if "..." in self.shape:
                yield Style("repeated in the batch", f"the same {name} in every entry of the batch",
                            lambda a: a.ndim >= len(self.shape) and len(a) > 1 and (a == a[:1]).all() and np.unique(a).size > 2,
                            lambda shape, rng: np.repeat(self.ordinary((1, *shape[1:]), rng), shape[0], axis=0), exclusive=True, optional=True)
            if len(self.shape) > 1:
                yield Style("equal rows", f"equal rows in {name}", lambda a: 1 < _different_rows(a) < a.size // a.shape[-1], self._equal_rows, optional=True)
                if largest >= 1e9 * tiny:
                    yield Style("rows far apart in size", f"rows of {name} with numbers of very different sizes",
                                lambda a: 0 < np.abs(a).max(-1).min() < 1e-8 * np.abs(a).max(-1).max(), self._sizes_by_row, optional=True)
                yield Style("equal row sums", f"rows of {name} with equal sums",
                            lambda a: _different_rows(a) > 1 and np.ptp(a.sum(-1)) <= 1e-9 * np.abs(a).max(), self._equal_sums, optional=True)
        yield Style("nearly equal", f"nearly equal numbers in {name}", _nearly_equal, self._nearly_equal)
        if has_zero:
            yield Style("all zero", f"only zeros in {name}", lambda a: not a.any(), lambda shape, _rng: np.zeros(shape), exclusive=True)
            yield Style("some zeros", f"zeros in {name}", lambda a: a.any() and (a == 0).any(), self._some_zeros)
            if len(self.shape) > 1 and not self.distinct:
                yield Style("zero row", f"a row of zeros in {name}", lambda a: a.any() and not a.any(-1).all(),
                            lambda shape, rng: self.ordinary(shape, rng) * (rng.permutation(math.prod(shape[:-1])) > 0).reshape(*shape[:-1], 1) + 0.0, optional=True)
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

        Styles about rows need several rows. If the array has no axis before the last except batch axes, request a batch axis.
        """
        for category in super().categories(path):

            def configure(request: DrawRequest, rng: np.random.Generator, category: InputCategory = category) -> None:
                category.configure(request, rng)
                request.batch = request.batch or (3,)

            in_rows = ("equal rows", "equal row sums", "zero row", "of exp", "in size")
            in_batch = self.shape[:1] == ("...",) and category.name.endswith(("all zero", "repeated in the batch"))
            needs_batch = in_batch or (self.shape[:-1] == ("...",) and category.name.endswith(in_rows))
            yield replace(category, configure=configure) if needs_batch else category

    def draw_styled(self, drawing: Drawing, path: Path, *given: object) -> np.ndarray:
        """Draw an array of the requested style and dtype. ``given`` contains the shape and the generator."""
        drawn: np.ndarray = super().draw_styled(drawing, path, *given)
        short, name = drawn.round(3), drawing.request.styles.get(path)  # a student may read the entries
        if self.rounds and not self.distinct and (np.abs(short - drawn) <= 0.05 * np.abs(drawn)).all():
            style = next((s for s in self.styles(path[-1]) if s.name == name), None) if name else None
            drawn = short if style is None or style.matches(short) else drawn
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
        rows = self._by_rows(rng.uniform(-1.5, 1.5, size=shape))
        return (rows + np.where(np.arange(len(rows)) % 2, -level, level)[:, None]).reshape(shape)

    def _by_rows(self, a: np.ndarray) -> np.ndarray:
        """Return an array with its rows along axis 0. If the contract's shape has only one axis, each entry becomes a row."""
        return a.reshape(-1, a.shape[-1] if len(self.shape) > 1 else 1)

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

    def _sum_of_zero(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        drawn = np.round(self.ordinary(shape, rng) * 8 / shape[-1]) / 8  # eighths add up exactly
        drawn[..., -1] = 0.0 - drawn[..., :-1].sum(axis=-1)
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

    def _sizes_by_row(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        rows = self._by_rows(self._signs(shape, rng) * rng.uniform(0.2, 0.9, size=shape) * self._largest)
        rows[1::2] *= 10 * max(self.tiny, 1e-9) / self._largest
        return rows.reshape(shape)

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
    return ArrayArgument(axes_of(shape), low=low, high=high, tiny=tiny, float32=float32, distinct=distinct)


def is_several(a: np.ndarray) -> bool:
    """Return whether an array has more than one entry."""
    return a.size > 1


def _spread(a: np.ndarray) -> float:
    return float(a.max() - a.min())


def _sizes_of(a: np.ndarray) -> np.ndarray:
    """Return the absolute values of the entries that are not 0, or a single 0 if all entries are 0."""
    found = np.abs(a[a != 0])
    return found if found.size else np.zeros(1)


def _different_rows(a: np.ndarray) -> int:
    """Return the number of different rows of an array."""
    return len({row.tobytes() for row in a.reshape(-1, a.shape[-1]) + 0.0})  # + 0.0 turns -0.0 into 0.0


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
    """An array of weights: no entry is negative, and the entries along the last axis add up to 1."""

    rounds: ClassVar[bool] = False

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
                    partial(self.ordinary, change=_one_large(lambda rest, _rng: rest * 1e-4)), exclusive=True)
        yield Style("all equal", f"all numbers in a row of {name} equal", lambda a: a.shape[-1] > 1 and (a.max(-1) - a.min(-1) < 1e-12).any(),
                    partial(self.ordinary, change=lambda parts, _rng: np.ones_like(parts)), exclusive=True)
        yield Style("some equal", f"equal numbers in {name}", lambda a: np.unique(a).size < a.size,
                    partial(self.ordinary, change=lambda parts, _rng: np.round(2 * parts) / 2 + 0.25))
        # fmt: on

    def ordinary(
        self, shape: tuple[int, ...], rng: np.random.Generator, change: Callable[..., np.ndarray] | None = None
    ) -> np.ndarray:
        """Return random weights. Positive numbers are changed by ``change(parts, rng)`` if given, then divided by the sum of their row."""
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
    """Return a function that keeps the first number of each row, replaces the others with ``rest(others, rng)``, and shuffles each row."""

    def draw(parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if parts.shape[-1] == 1:
            return parts
        parts[..., 1:] = rest(parts[..., 1:], rng)
        return rng.permuted(parts, axis=-1)

    return draw


def weights(shape: str, *, float32: bool = True) -> WeightsArgument:
    """Declare an array of weights: no entry is negative, and the entries along the last axis add up to 1."""
    return WeightsArgument(axes_of(shape), low=0.0, high=1.0, tiny=1e-12, float32=float32)


def axes_of(shape: str) -> tuple[str, ...]:
    """Return the letters of a shape such as "n_q d", from left to right."""
    return tuple(shape.replace(",", " ").strip("() ").split())
