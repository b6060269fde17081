"""Arguments that select or count positions in arrays: masks, lengths, orders, whole numbers, sizes and axes.

Every run of a course draws the same inputs. Reordering the calls of ``rng`` would change all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace

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
from autograder.checking.inputs.array_arguments import ArrayArgument, ShapedArgument, axes_of, is_several

__all__ = [
    "AxisArgument", "LengthsArgument", "MaskArgument", "OrderArgument", "SizeArgument", "WholeNumbersArgument",
    "axis_of", "lengths", "mask", "order", "size", "whole_numbers",
]  # fmt: skip


@dataclass(frozen=True)
class MaskArgument(ShapedArgument):
    """A boolean mask. The function ``mask`` describes the attributes."""

    _: KW_ONLY
    empty_rows: bool = False
    broadcasts: bool = True

    @property
    def fixes_sizes(self) -> bool:
        return not self.broadcasts

    def styles(self, name: str) -> Iterator[Style]:
        own = len([axis for axis in self.shape if axis != "..."])
        one = f"a {name}" if name.endswith("mask") else f"a mask `{name}`"
        # fmt: off
        yield Style("everything allowed", f"{one} that allows everything", lambda m: m.all(), lambda shape, rng: rng.random(shape) < 1)
        yield Style("one allowed in a row", f"{one} with a row that allows only one position", lambda m: (m.sum(-1) == 1).any() and m.shape[-1] > 1,
                    lambda shape, rng: self.ordinary(shape, rng, share=0), exclusive=True)
        if self.shape[-2:-1] != ("1",):
            yield Style("different rows", f"{one} with different rows", lambda m: m.ndim > 1 and (m != m[..., :1, :]).any(), self.ordinary)
        if self.empty_rows:
            yield Style("nothing allowed in a row", f"a row of {name} that allows nothing", lambda m: (~m.any(-1)).any() and m.any(), self._with_empty_row)
            yield Style("nothing allowed", f"{one} that allows nothing", lambda m: not m.any(), lambda shape, rng: rng.random(shape) < 0, exclusive=True)
        if self.broadcasts:
            yield Style("a row for all", f"{one} with an axis of length 1 that is longer in other arrays", lambda m: 1 in m.shape, self._with_axis_of_one)
            if "..." in self.shape:
                yield Style("fewer axes", f"{one} with no batch axes of its own",
                            lambda m: m.ndim <= own, lambda shape, rng: self.ordinary(shape[len(shape) - own :], rng))
                if own > 1:
                    yield Style("one axis", f"{one} with a single axis", lambda m: m.ndim == 1, lambda shape, rng: self.ordinary(shape[-1:], rng), optional=True)
                yield Style("batch axes of its own", f"{one} for each entry of the batch", lambda m: m.ndim > own, self.ordinary)
        # fmt: on

    def ordinary(self, shape: tuple[int, ...], rng: np.random.Generator, share: float = 0.6) -> np.ndarray:
        """Return a mask that allows about ``share`` of the positions, at least one in each row, and not all if there are several."""
        drawn = rng.random(shape) < share
        np.put_along_axis(drawn, rng.integers(shape[-1], size=(*shape[:-1], 1)), np.True_, axis=-1)
        drawn.flat[int(rng.integers(drawn.size))] &= not (drawn.all() and shape[-1] > 1)
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
    """Declare a boolean mask that is True at allowed positions. Every row allows a position unless ``empty_rows`` is set.

    If ``broadcasts`` is set, axes may have size 1, and batch axes may be missing.
    """
    return MaskArgument(axes_of(shape), empty_rows=empty_rows, broadcasts=broadcasts, default=default)


@dataclass(frozen=True)
class LengthsArgument(ShapedArgument):
    """An array of whole numbers from ``low`` to the size of the axis ``up_to``."""

    up_to: str
    _: KW_ONLY
    low: int = 0

    def styles(self, name: str) -> Iterator[Style]:
        """Yield the styles that an array of lengths may have. The test of each style also gets the size of the axis ``up_to``."""
        # fmt: off
        yield Style("all the whole length", f"every entry of {name} at its maximum",
                    lambda a, top: is_several(a) and (a == top).all(), lambda drawn, top, _rng: np.full_like(drawn, top))
        yield Style("one the whole length", f"an entry of {name} at its maximum", lambda a, top: (a == top).any(), _with_entry)
        yield Style("the smallest", f"an entry of {name} at its minimum",
                    lambda a, _top: (a == self.low).any(), lambda drawn, _top, rng: _with_entry(drawn, self.low, rng))
        yield Style("all different", f"different {name}", lambda a, _top: is_several(a) and np.unique(a).size == a.size, self._all_different)
        yield Style("all equal", f"equal {name}", lambda a, top: is_several(a) and np.unique(a).size == 1 and a.flat[0] < top,
                    lambda drawn, top, rng: np.full_like(drawn, int(rng.integers(self.low, max(self.low + 1, top)))))
        # fmt: on

    def fits(self, style: Style, value: Value, call: BoundCall) -> bool:
        """Return whether lengths have the style, given the size of the axis ``up_to`` in the call."""
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
    """Replace a random entry of ``drawn`` with ``entry``."""
    drawn.flat[int(rng.integers(drawn.size))] = entry
    return drawn


def lengths(shape: str, up_to: str, *, low: int = 0) -> LengthsArgument:
    """Declare an array of whole numbers from ``low`` to the size of the axis ``up_to``."""
    return LengthsArgument(axes_of(shape), up_to, low=low)


@dataclass(frozen=True)
class OrderArgument(ShapedArgument):
    """A permutation: the whole numbers from 0 to one less than the size of an axis, in any order."""

    def styles(self, name: str) -> Iterator[Style]:
        # fmt: off
        yield Style("not undone by itself", f"a {name} that is not its own inverse", lambda a: (a[a] != np.arange(a.size)).any(), self.ordinary)
        yield Style("as it is", f"a {name} that leaves everything in its place",
                    lambda a: is_several(a) and (np.diff(a) == 1).all(), lambda shape, _rng: np.arange(math.prod(shape)), exclusive=True)
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
    return OrderArgument(axes_of(shape))


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
                        lambda a: is_several(a) and (a == np.arange(a.size)).all(), lambda drawn, _rng: np.arange(drawn.size))
        yield Style("in a row from elsewhere", f"{name} that start at a number other than 0",
                    lambda a: is_several(a) and (np.diff(a) == 1).all() and a[0] != 0, self._in_a_row)
        yield Style("in no order", f"{name} in no particular order", lambda a: (np.diff(a) > 0).any() and (np.diff(a) < 0).any(), self._unordered)
        yield Style("some equal", f"equal {name}", lambda a: 1 < np.unique(a).size < a.size, self._some_equal)
        yield Style("all equal", f"all {name} equal", lambda a: is_several(a) and np.unique(a).size == 1,
                    lambda drawn, _rng: np.full_like(drawn, drawn[0]), exclusive=True)
        if low < 0:
            yield Style("negative", f"negative {name}", lambda a: (a < 0).any(), lambda drawn, _rng: -np.abs(drawn) - 1)
        yield Style("the largest", f"the largest number among {name}", lambda a: (a == high).any(), lambda drawn, rng: _with_entry(drawn, high, rng))
        if largest // 10 > 100:
            yield Style("far from 0", f"{name} far from 0", lambda a: (np.abs(a) >= largest // 10).all(), self._far_from_zero)
        # fmt: on

    def draw(self, drawing: Drawing, path: Path) -> np.ndarray:
        """Draw whole numbers, which are near 0 unless a style with large numbers is requested."""
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
    return WholeNumbersArgument(axes_of(shape), low, high)


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
        """Yield the categories of the length along the axis, then the categories of the axis itself."""
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
        """Yield the styles of an axis. The test of each style also gets the number of axes."""
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
        """Draw an axis. If a length along this axis is requested, draw the array again with that length."""
        shape = list(np.shape(drawing.values[self.of]))
        axis: int = self.draw_styled(drawing, path, len(shape), drawing.rng)
        of = drawing.arguments[self.of]
        if drawing.request.along is not None and isinstance(of, ArrayArgument):
            shape[axis] = drawing.request.along
            drawing.values[self.of] = of.draw_styled(drawing, (self.of,), tuple(shape), drawing.rng)
        return axis

    def ordinary(self, axes: int, rng: np.random.Generator, choose: Callable[[int], int] = lambda axis: axis) -> int:
        """Return ``choose(axis)`` for a random axis, counted from the front or from the end."""
        axis = choose(int(rng.integers(axes)))
        return axis - axes if rng.integers(2) else axis


def axis_of(name: str, *, default: bool = False) -> AxisArgument:
    """Declare an axis of the argument ``name``, counted from either end."""
    return AxisArgument(name, default=default)
