"""A small set of inputs that is of every kind that a contract allows, each kind at least once.

A set that covers every single choice, with few pairs, needs few rows: the idea of a covering array (Cohen, Dalal,
Fredman, Patton 1997). Which kinds a drawn input is of is looked up in the input itself, never believed of the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checking.contract import (
    Argument,
    ArrayArgument,
    AxisArgument,
    ChoiceArgument,
    Contract,
    GroupArgument,
    LengthsArgument,
    MaskArgument,
    NumberArgument,
    OrderArgument,
    Reading,
    SizeArgument,
)
from autograder.checking.kinds import Kind, Wish, kinds_of
from autograder.sandbox.guest.wire import strided

__all__ = ["Covering", "DrawnInput", "cover", "draw"]

_TRIES = 12  # of drawing one kind alone, until the kind is never met
_ORDINARY = (2, 3, 4, 5, 6, 7)  # sizes of axes, all different while they last,
_BESIDE_LONG = (2, 3, 4, 5)  # and beside a long one: a small answer is read once for a whole class
_MANY = 2000  # entries of an array from which on it gets no batch axes besides
_LARGEST = 3.0


@dataclass(frozen=True)
class DrawnInput:
    """The arguments of one call, by name, and the kinds that they are of."""

    values: Mapping[str, Any]
    kinds: frozenset[str]


@dataclass(frozen=True)
class Covering:
    """Inputs that together are of every kind but those ``missed``, which no drawing gave."""

    inputs: tuple[DrawnInput, ...]
    missed: tuple[str, ...]


def cover(contract: Contract, seed: int) -> Covering:
    """A covering set of inputs; the same for the same contract and seed."""
    rng = np.random.default_rng(seed)
    kinds = kinds_of(contract)
    left = dict.fromkeys(k.name for k in kinds)
    by_name = {k.name: k for k in kinds}
    found: list[DrawnInput] = []
    missed: list[str] = []
    while left:
        wanted = _compatible([by_name[n] for n in left])
        drawn = draw(contract, wanted, kinds, rng)
        new = drawn.kinds & left.keys() if drawn is not None else frozenset()
        if wanted[0].name not in new:  # what was wished for beside it may stand in its way
            for _ in range(_TRIES):
                alone = draw(contract, wanted[:1], kinds, rng)
                if alone is not None and wanted[0].name in alone.kinds:
                    drawn, new = alone, alone.kinds & left.keys()
                    break
            else:
                missed.append(wanted[0].name)
                del left[wanted[0].name]
        if drawn is not None and new:
            found.append(drawn)
            for name in new:
                del left[name]
    return Covering(tuple(found), tuple(missed))


def _compatible(kinds: Sequence[Kind]) -> list[Kind]:
    """The first kind, and of the others as many as one call can be of beside it: one of each slot."""
    chosen = [kinds[0]]
    slots = {kinds[0].slot}
    for kind in kinds[1:]:
        hides = (kind.alone or chosen[0].alone) and not _of_form(kind)
        if kind.slot not in slots and not hides and not (kind.alone and not _of_form(kind)):
            chosen.append(kind)
            slots.add(kind.slot)
    return chosen


def _of_form(kind: Kind) -> bool:
    """Whether a kind is about the form of arrays, and not what they hold: it hides nothing."""
    return (kind.slot in {"sizes", "batch"} and not kind.alone) or kind.slot.startswith("layout")


def draw(
    contract: Contract, wanted: Sequence[Kind], kinds: Sequence[Kind], rng: np.random.Generator
) -> DrawnInput | None:
    """An input that is wished to be of the ``wanted`` kinds, with the kinds that it is of; None where the contract forbids it."""
    wish = Wish()
    for kind in wanted:
        kind.wish(wish, rng)
    values = _Drawing(contract, wish, rng).values()
    for change in (*wish.after, *([contract.settle] if contract.settle else ())):
        settled = change(values, rng)
        if settled is None:
            return None
        values = settled
    reading = Reading.of(contract, values)
    return DrawnInput(values, frozenset(k.name for k in kinds if k.holds(reading)))


class _Drawing:
    """One input, drawn as it was wished for."""

    def __init__(self, contract: Contract, wish: Wish, rng: np.random.Generator) -> None:
        self.contract, self.wish, self.rng = contract, wish, rng
        self.sizes = self._sizes()
        self.batch: tuple[int, ...] = ()
        if (
            max(
                (math.prod(self._shape(a.shape)) for a in contract.leaves().values() if isinstance(a, ArrayArgument)),
                default=0,
            )
            < _MANY
        ):
            self.batch = wish.batch if wish.batch is not None else self._batch()
        self.drawn: dict[str, Any] = {}

    def values(self) -> dict[str, Any]:
        """The arguments, by name."""
        for name, argument in self.contract.arguments.items():
            if name not in self.wish.left_out and not (argument.default and not self._wished(name)):
                self.drawn[name] = self._value((name,), argument)
        return self.drawn

    def _wished(self, name: str) -> bool:
        """Whether an argument that may be left out is given: where something is wished of it, else by chance."""
        along = self.wish.along is not None and isinstance(self.contract.arguments[name], AxisArgument)
        return along or (name,) in self.wish.styles or bool(self.rng.integers(2))

    def _sizes(self) -> dict[str, int]:
        letters = self.contract.letters()
        if self.wish.alike:
            low = max((self.contract.limits_of(letter)[0] for letter in letters), default=2)
            return dict.fromkeys(letters, max(low, int(self.rng.integers(3, 5))))
        found: dict[str, int] = dict(self.wish.sizes)
        ordinary = _BESIDE_LONG if max(found.values(), default=0) > max(_ORDINARY) else _ORDINARY
        free = [int(n) for n in self.rng.permutation(ordinary)]
        for letter in letters:
            if letter not in found:
                low, high = self.contract.limits_of(letter)
                fitting = [n for n in free if low <= n <= high]
                found[letter] = fitting[0] if fitting else min(high, low + len(free))
                if fitting:
                    free.remove(fitting[0])
        return found

    def _batch(self) -> tuple[int, ...]:
        if self.wish.alike:
            return (next(iter(self.sizes.values())),) * int(self.rng.integers(2))
        return ()

    def _shape(self, letters: tuple[str, ...]) -> tuple[int, ...]:
        found: list[int] = []
        for axis in letters:
            if axis == "...":
                found.extend(self.batch)
            else:
                found.append(math.prod(int(p) if p.isdigit() else self.sizes[p] for p in axis.split("*")))
        return tuple(found)

    def _value(self, path: tuple[str, ...], argument: Argument) -> Any:
        style = self.wish.styles.get(path, "")
        if isinstance(argument, GroupArgument):
            return {key: self._value((*path, key), part) for key, part in argument.parts.items()}
        if isinstance(argument, ArrayArgument):
            return self._array(path, argument, self._shape(argument.shape))
        if isinstance(argument, MaskArgument):
            return _mask(self._shape(argument.shape), argument, style, self.rng)
        if isinstance(argument, LengthsArgument):
            return _lengths(self._shape(argument.shape), argument.low, self.sizes[argument.up_to], style, self.rng)
        if isinstance(argument, OrderArgument):
            return _order(*self._shape(argument.shape), style, self.rng)
        if isinstance(argument, NumberArgument):
            return _number(argument, style, self.rng)
        if isinstance(argument, SizeArgument):
            return self.sizes[argument.letter]
        if isinstance(argument, AxisArgument):
            axis = _axis(np.ndim(self.drawn[argument.of]), style, self.rng)
            if self.wish.along is not None:
                shape = list(np.shape(self.drawn[argument.of]))
                shape[axis] = self.wish.along
                self.drawn[argument.of] = self._array(
                    (argument.of,), self.contract.arguments[argument.of], tuple(shape)
                )
            return axis
        if isinstance(argument, ChoiceArgument):
            return argument.values[int(self.rng.integers(len(argument.values)))]
        raise TypeError(f"no way is known to draw {argument!r}")

    def _array(self, path: tuple[str, ...], argument: Any, shape: tuple[int, ...]) -> np.ndarray:
        style = self.wish.styles.get(path, "")
        if argument.sums_to_one:
            found = _weights(shape, style, self.rng)
        else:
            found = _entries(shape, argument, style, self.rng)
        if self.wish.float32 and argument.float32:
            found = found.astype(np.float32)
        return strided(found) if path in self.wish.layouts else found


def _entries(shape: tuple[int, ...], argument: ArrayArgument, style: str, rng: np.random.Generator) -> np.ndarray:
    """Floats of a range, of one style; ordinary ones are a few units in size."""
    low, high, tiny = argument.low, argument.high, argument.tiny
    reach = min(_LARGEST, high - low)
    count = math.prod(shape)

    def ordinary() -> np.ndarray:
        bottom = low if low >= 0 else max(low, -_LARGEST)
        top = min(high, bottom + 2 * _LARGEST if low < 0 else bottom + reach)
        found = rng.uniform(bottom, top, size=shape)
        return np.where(np.abs(found) < max(tiny, 1e-3), max(tiny, 0.01), found)

    def signs() -> np.ndarray:
        if low >= 0:
            return np.ones(shape)
        return -np.ones(shape) if high <= 0 else rng.choice([-1.0, 1.0], size=shape)

    largest = max(abs(low), abs(high))
    if style == "all negative":
        return -np.abs(rng.uniform(0.05, 1.0, size=shape)) * min(_LARGEST, -low)
    if style == "all positive":
        return np.abs(rng.uniform(0.05, 1.0, size=shape)) * min(_LARGEST, high)
    if style == "far below zero":
        return -min(-low * 0.9, rng.choice([900.0, 3000.0, 8000.0])) + rng.uniform(-1.5, 1.5, size=shape)
    if style == "beyond the range of exp":
        level = min(-low, high, 9000.0) * 0.9
        rows = rng.uniform(-1.5, 1.5, size=shape)
        if len(shape) > 1 and shape[-2] > 1:  # some rows above and others below, so that each keeps its own weights
            return rows + np.where(np.arange(shape[-2]) % 2, -level, level)[:, None]
        return rows + np.where(np.arange(count).reshape(shape) % 2, -level, level)
    if style == "far from zero for its spread":
        level = min(largest, 9000.0) * 0.9 * (1 if high >= 1000 else -1)
        return level + rng.uniform(-1.5, 1.5, size=shape)
    if style == "all equal":
        return np.full(shape, ordinary().flat[0])
    if style == "some equal":
        return rng.choice(np.unique(ordinary())[: max(2, min(3, count - 1))], size=shape)
    if style == "nearly equal":
        found = ordinary()
        flat = found.reshape(-1)
        flat[1::2] = flat[: count - count % 2 : 2][: len(flat[1::2])] * (
            1 + 1e-7 * rng.uniform(0.5, 1, size=len(flat[1::2]))
        )
        return found
    if style == "all zero":
        return np.zeros(shape)
    if style == "some zeros":
        found = ordinary()
        found.flat[int(rng.integers(count)) :: 3] = 0.0
        return found
    if style == "tiny beside large":
        found = signs() * 10 ** rng.uniform(
            np.log10(max(tiny, largest * 1e-9, 1e-9)), np.log10(largest) - 6, size=shape
        )
        where = np.arange(count).reshape(shape) % 2 == int(rng.integers(2))
        return np.where(where, signs() * rng.uniform(0.2, 0.9, size=shape) * largest, found)
    if style == "all small":
        return signs() * 10 ** rng.uniform(-3.5, -1.4, size=shape)
    if style == "all tiny":
        return signs() * 10 ** rng.uniform(np.log10(max(tiny, 1e-12)) + 0.1, -4.1, size=shape)
    if style == "all huge":
        return signs() * rng.uniform(0.1, 0.9, size=shape) * largest
    if style == "more digits than float32 has":
        level = min(largest, 1000.0) * 0.5
        found = np.clip(level if high > 0 else -level, low, high) + rng.uniform(0, 1, size=shape)
        flat = found.reshape(-1)
        flat[1::2] = flat[: count - count % 2 : 2][: len(flat[1::2])] + 1e-6
        return found
    return ordinary()


def _weights(shape: tuple[int, ...], style: str, rng: np.random.Generator) -> np.ndarray:
    """Rows of probabilities."""
    n = shape[-1]
    parts = rng.uniform(0.1, 1.0, size=shape)
    if style == "all on one":
        parts = np.zeros(shape)
        np.put_along_axis(parts, rng.integers(n, size=(*shape[:-1], 1)), 1.0, axis=-1)
    elif style == "some zeros" and n > 1:
        parts[..., int(rng.integers(n)) :: 2] = 0.0
        parts[..., :1] += parts.sum(-1, keepdims=True) == 0
    elif style == "tiny beside large" and n > 1:
        parts[..., 1:] = 10 ** rng.uniform(-11, -8, size=(*shape[:-1], n - 1))
        parts[..., : max(1, n // 2)] = rng.uniform(0.3, 1, size=(*shape[:-1], max(1, n // 2)))
        parts = rng.permuted(parts, axis=-1)
    elif style == "small" and n > 1:
        parts[..., 1:] = 10 ** rng.uniform(-3.5, -2.1, size=(*shape[:-1], n - 1))
        parts = rng.permuted(parts, axis=-1)
    elif style == "near 1" and n > 1:
        parts[..., 1:] *= 1e-4
        parts = rng.permuted(parts, axis=-1)
    elif style == "all equal":
        parts = np.ones(shape)
    elif style == "some equal":
        parts = np.round(2 * parts) / 2 + 0.25
    found: np.ndarray = parts / parts.sum(-1, keepdims=True)
    return found


def _mask(shape: tuple[int, ...], argument: MaskArgument, style: str, rng: np.random.Generator) -> np.ndarray:
    own = len([a for a in argument.shape if a != "..."])
    if style == "fewer axes":
        shape = shape[len(shape) - own :]
    if style == "a row for all" and len(shape) > 1:
        axis = int(rng.integers(len(shape) - 1))
        shape = (*shape[:axis], 1, *shape[axis + 1 :])
    found = rng.random(shape) < 0.6
    if style == "everything allowed":
        return np.ones(shape, dtype=bool)
    if style == "nothing allowed":
        return np.zeros(shape, dtype=bool)
    always = rng.integers(shape[-1], size=(*shape[:-1], 1))
    np.put_along_axis(found, always, True, axis=-1)  # noqa: FBT003 - a value, no switch
    if style == "one allowed in a row":
        found[...] = False
        np.put_along_axis(found, always, True, axis=-1)  # noqa: FBT003
    if style == "nothing allowed in a row":
        rows = found.reshape(-1, shape[-1])
        rows[int(rng.integers(len(rows)))] = False
    return found


def _lengths(shape: tuple[int, ...], low: int, top: int, style: str, rng: np.random.Generator) -> np.ndarray:
    found = rng.integers(low, top + 1, size=shape)
    if style == "all the whole length":
        found[...] = top
    elif style == "one the whole length":
        found.flat[int(rng.integers(found.size))] = top
    elif style == "the smallest":
        found.flat[int(rng.integers(found.size))] = low
    elif style == "all different" and found.size <= top - low + 1:
        found = (low + rng.permutation(top - low + 1)[: found.size]).reshape(shape)
    elif style == "all equal":
        found[...] = int(rng.integers(low, max(low + 1, top)))
    return found


def _order(size: int, style: str, rng: np.random.Generator) -> np.ndarray:
    found = np.arange(size)
    if style == "undone by itself":
        found = found[::-1].copy()
    elif style != "as it is":
        places = rng.permutation(size)
        found[places] = np.roll(places, 1)  # one round through all places
    return found


def _number(argument: NumberArgument, style: str, rng: np.random.Generator) -> int | float:
    low, high = argument.low, argument.high
    if argument.whole:
        middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
        if style == "smallest":
            return int(low)
        if style == "large":
            return int(rng.integers(math.ceil(max(middle, 0.5 * high)), int(high) + 1))
        return (
            int(rng.integers(int(low) + 1, max(int(low) + 2, min(int(middle), int(low) + 8)) + 1))
            if high > low
            else int(low)
        )
    if style == "smallest":
        return float(low * rng.uniform(1, 1.8) if low > 0 else low)
    if style == "large":
        return float(rng.uniform(0.5, 1) * high)
    return (
        float(10 ** rng.uniform(np.log10(max(low, 0.05 * min(high, 1))), np.log10(min(high, 3))))
        if low > 0
        else float(rng.uniform(low, high))
    )


def _axis(ndim: int, style: str, rng: np.random.Generator) -> int:
    axis = int(rng.integers(ndim))
    if style == "first":
        axis = 0
    elif style == "last":
        axis = ndim - 1
    elif style == "in the middle" and ndim > 2:
        axis = int(rng.integers(1, ndim - 1))
    back = style == "from the end" or (style != "from the front" and bool(rng.integers(2)))
    return axis - ndim if back else axis
