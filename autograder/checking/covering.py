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

from autograder.checking import drawn_values as drawn
from autograder.checking.arguments import (
    Argument,
    ArrayArgument,
    AxisArgument,
    ChoiceArgument,
    GroupArgument,
    LengthsArgument,
    MaskArgument,
    NumberArgument,
    OrderArgument,
    SizeArgument,
    WholeNumbersArgument,
)
from autograder.checking.contract import Contract
from autograder.checking.kind import Kind, Wish
from autograder.checking.kinds import kinds_of
from autograder.checking.plain_kinds import PlainArgument
from autograder.checking.table_kinds import TableArgument, draw_table
from autograder.sandbox.guest.wire import strided

__all__ = ["Covering", "DrawnInput", "cover", "draw"]

_TRIES = 12  # of drawing one kind alone, until the kind is never met
_ORDINARY = (2, 3, 4, 5, 6, 7)  # sizes of axes, all different while they last,
_BESIDE_LONG = (2, 3, 4, 5)  # and beside a long one: a small answer is read once for a whole class
_MANY = 400  # entries of an array with a long axis beyond which it gets no batch axes


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
    """A covering set of inputs, or as many of them as the contract asks for; the same for the same contract and seed."""
    rng = np.random.default_rng(seed)
    sets = [_cover_once(contract, kinds_of(contract), rng) for _ in range(contract.draws)]
    missed = [name for name in sets[0].missed if all(name in s.missed for s in sets)]
    return Covering(tuple(drawn for s in sets for drawn in s.inputs), tuple(missed))


def _cover_once(contract: Contract, kinds: Sequence[Kind], rng: np.random.Generator) -> Covering:
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
        if kind.slot not in slots and not (chosen[0].alone or kind.alone):
            chosen.append(kind)
            slots.add(kind.slot)
    return chosen


def draw(
    contract: Contract, wanted: Sequence[Kind], kinds: Sequence[Kind], rng: np.random.Generator
) -> DrawnInput | None:
    """An input that is wished to be of the ``wanted`` kinds, with the kinds that it is of; None where the contract forbids it."""
    wish = Wish()
    for kind in wanted:
        kind.wish(wish, rng)
    values = _Drawing(contract, wish, rng).values()
    for change in (contract.tame, *wish.after, contract.settle):
        if change is not None:
            settled = change(values, rng)
            if settled is None:
                return None
            values = settled
    reading = contract.read(values)
    return DrawnInput(values, frozenset(k.name for k in kinds if k.holds(reading)))


class _Drawing:
    """One input, drawn as it was wished for."""

    def __init__(self, contract: Contract, wish: Wish, rng: np.random.Generator) -> None:
        self.contract, self.wish, self.rng = contract, wish, rng
        self.sizes = self._sizes()
        self.batch = wish.batch if wish.batch is not None else self._batch()
        arrays = [a for a in contract.leaves().values() if isinstance(a, ArrayArgument)]
        long = max(self.sizes.values(), default=0) > max(_ORDINARY)
        if long and any(math.prod(self._shape(a.shape)) > _MANY for a in arrays):
            self.batch = ()
        self.found: dict[str, Any] = {}

    def values(self) -> dict[str, Any]:
        """The arguments, by name."""
        for name, argument in self.contract.arguments.items():
            if name not in self.wish.left_out and not (argument.default and not self._wished(name)):
                self.found[name] = self._value((name,), argument)
        return self.found

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
        ordinary = _BESIDE_LONG if max(found.values(), default=0) > max(_ORDINARY) + len(letters) else _ORDINARY
        free = [int(n) for n in self.rng.permutation(ordinary)]
        for letter in letters:
            if letter not in found:
                low, high = self.contract.limits_of(letter)
                fitting = [n for n in free if low <= n <= high]
                found[letter] = fitting[0] if fitting else min(high, max(low, int(self.rng.choice(ordinary))))
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
            return drawn.mask(self._shape(argument.shape), argument, style, self.rng)
        if isinstance(argument, LengthsArgument):
            return drawn.lengths(self._shape(argument.shape), argument.low, self.sizes[argument.up_to], style, self.rng)
        if isinstance(argument, OrderArgument):
            return drawn.permutation(math.prod(self._shape(argument.shape)), style, self.rng)
        if isinstance(argument, WholeNumbersArgument):
            return drawn.whole_numbers(self._shape(argument.shape), argument.low, argument.high, style, self.rng)
        if isinstance(argument, NumberArgument):
            return drawn.number(argument, style, self.rng)
        if isinstance(argument, SizeArgument):
            return self.sizes[argument.letter]
        if isinstance(argument, AxisArgument):
            axis = drawn.axis(np.ndim(self.found[argument.of]), style, self.rng)
            if self.wish.along is not None:
                shape = list(np.shape(self.found[argument.of]))
                shape[axis] = self.wish.along
                self.found[argument.of] = self._array(
                    (argument.of,), self.contract.arguments[argument.of], tuple(shape)
                )
            return axis
        if isinstance(argument, PlainArgument):
            return argument.drawn(style, self.rng)
        if isinstance(argument, TableArgument):
            return draw_table(argument, style, self.rng)
        if isinstance(argument, ChoiceArgument):
            return argument.values[int(self.rng.integers(len(argument.values)))]
        raise TypeError(f"no way is known to draw {argument!r}")

    def _array(self, path: tuple[str, ...], argument: Any, shape: tuple[int, ...]) -> np.ndarray:
        style = self.wish.styles.get(path, "")
        if argument.sums_to_one:
            found: np.ndarray = drawn.weights(shape, style, self.rng)
        else:
            found = drawn.entries(shape, argument, style, self.rng)
        if self.wish.float32 and argument.float32:
            found = found.astype(np.float32)
        return strided(found) if path in self.wish.layouts else found
