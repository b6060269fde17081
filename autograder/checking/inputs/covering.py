"""Draw a small set of inputs that covers every category of input a contract allows.

A few inputs cover each category, although not each pair of categories. This is the idea of a covering array (Cohen,
Dalal, Fredman, Patton 1997). The categories of a drawn input are found from the input itself, not from the request.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.inputs.argument import LONG_AXES, Drawing, DrawRequest, InputCategory
from autograder.checking.inputs.array_arguments import ArrayArgument, ShapedArgument
from autograder.checking.inputs.builtin_arguments import ChoiceArgument, GroupArgument
from autograder.checking.inputs.categories import categories_of
from autograder.checking.inputs.contract import Contract, replace_at
from autograder.checking.inputs.index_arguments import AxisArgument, SizeArgument
from autograder.sandbox.guest.wire import in_layout
from autograder.values import fingerprint

__all__ = ["Covering", "DrawnInput", "cover", "differing_arguments", "draw"]

_TRIES = 12  # how often one category is drawn by itself before it counts as missed
_ORDINARY = (2, 3, 4, 5, 6, 7)  # sizes of axes. Each axis gets a different size as long as there are enough
_NEXT_TO_LONG = (2, 3, 4, 5)  # sizes of the other axes if one axis is long, to keep the result small
_MANY = 1500  # an array with a long axis and more entries than this gets no batch axes


@dataclass(frozen=True)
class DrawnInput:
    """The arguments of one call by name, and the categories it belongs to."""

    values: Mapping[str, Value]
    categories: frozenset[str]


@dataclass(frozen=True)
class Covering:
    """A set of inputs that together cover every category except ``missed``, the categories for which no input could be drawn."""

    inputs: tuple[DrawnInput, ...]
    missed: tuple[str, ...]


def cover(contract: Contract, seed: int) -> Covering:
    """Return ``contract.draws`` covering sets, and pairs of inputs that differ in one argument. They depend only on ``contract`` and ``seed``."""
    rng = np.random.default_rng(seed)
    sets = [_cover_once(contract, categories_of(contract), rng) for _ in range(contract.draws)]
    missed = [name for name in sets[0].missed if all(name in s.missed for s in sets)]
    inputs = [drawn for s in sets for drawn in s.inputs]
    return Covering((*inputs, *_one_changed(contract, rng)), tuple(missed))


def _one_changed(contract: Contract, rng: np.random.Generator) -> Iterator[DrawnInput]:
    """Yield, for each argument, an input and the same input with only this argument changed.

    These inputs detect a function that recognizes an input but ignores this argument. An array argument is rearranged, which keeps
    its first entry and its total. Nothing is yielded for an argument that cannot be changed alone.
    """
    # Some arguments get several pairs, because both inputs of a pair may have the same result by chance.
    has_choice = any(isinstance(a, ChoiceArgument) for a in contract.arguments.values())
    most = 3 if contract.draws > 1 else 1 + has_choice
    sizes = {name: a.letter for name, a in contract.arguments.items() if isinstance(a, SizeArgument)}
    arrays = [a for a in contract.leaves().values() if isinstance(a, ShapedArgument)]
    axes = {part for a in arrays for axis in a.shape for part in axis.split("*")}
    fixed = {name for name, letter in sizes.items() if letter in axes}  # sizes that the shapes of arrays determine
    fixed |= {name for name, a in contract.arguments.items() if isinstance(a, AxisArgument)}
    latest: DrawnInput | None = None
    for name, argument in contract.arguments.items():
        pairs = 0
        for attempt in range(_TRIES):
            # Reuse the input of the previous argument, if this argument can be changed in it.
            drawn, other = (draw(contract, (), (), rng) for _ in range(2))
            first = drawn if attempt or latest is None else latest
            if first is None or other is None or name not in first.values or name in fixed:
                continue
            is_array = isinstance(argument, ShapedArgument | GroupArgument)
            new = _rearranged(first.values[name]) if is_array else other.values.get(name, first.values[name])
            if name in sizes and len(sizes) < len(contract.arguments):
                new = first.values[name] + 1
            values = {**first.values, name: new}
            changed = contract.constrain(values, rng) if contract.constrain is not None else values
            if changed is not None and differing_arguments(first.values, changed) == [name]:
                if first is not latest:
                    yield first
                latest = first
                yield DrawnInput(changed, frozenset())
                if (pairs := pairs + 1) == most:
                    break


def _rearranged(value: Value) -> Value:
    """Return an array, or a dictionary of arrays, with each row reversed after its first entry. Keep the first row unchanged if possible."""
    if isinstance(value, Mapping):
        return {key: _rearranged(part) for key, part in value.items()}
    found = np.array(value)
    axis = found.ndim - 1 if found.ndim and found.shape[-1] > 2 else 0
    rows = np.moveaxis(found, axis, 0) if found.ndim else found[None]
    some = rows.reshape(len(rows), -1)[:, 1:] if axis and rows[0].size > 1 else rows
    some[1:] = some[:0:-1].copy()
    return found


def differing_arguments(one: Mapping[str, Value], other: Mapping[str, Value]) -> list[str]:
    """Return the names of the arguments whose values in ``one`` and ``other`` are not bitwise equal."""
    return [name for name in one if fingerprint(one[name]) != fingerprint(other.get(name))]


def _cover_once(contract: Contract, categories: Sequence[InputCategory], rng: np.random.Generator) -> Covering:
    remaining = {category.name: category for category in categories}
    inputs: list[DrawnInput] = []
    missed: list[str] = []
    while remaining:
        requested = _compatible(list(remaining.values()))
        first = requested[0]
        drawn = draw(contract, requested, categories, rng)
        if drawn is None or first.name not in drawn.categories:  # another requested category may prevent the first
            for _ in range(_TRIES if first.optional else 5 * _TRIES):
                alone = draw(contract, [first], categories, rng)
                if alone is not None and first.name in alone.categories:
                    drawn = alone
                    break
            else:
                if not first.optional:
                    missed.append(first.name)
                del remaining[first.name]
        new = drawn.categories & remaining.keys() if drawn is not None else frozenset()
        if drawn is not None and new:
            inputs.append(drawn)
            for name in new:
                del remaining[name]
    return Covering(tuple(_needed(inputs)), tuple(missed))


def _needed(inputs: Sequence[DrawnInput]) -> list[DrawnInput]:
    """Return ``inputs`` without those whose categories are all covered by other inputs. The largest inputs are removed first."""
    counts = Counter(name for drawn in inputs for name in drawn.categories)
    unneeded = set()
    for drawn in sorted(inputs, key=lambda drawn: -len(str(fingerprint(dict(drawn.values))))):
        if all(counts[name] > 1 for name in drawn.categories):
            counts.subtract(drawn.categories)
            unneeded.add(id(drawn))
    return [drawn for drawn in inputs if id(drawn) not in unneeded]


def _compatible(categories: Sequence[InputCategory]) -> list[InputCategory]:
    """Return the first category, and as many other categories as one call can belong to, at most one for each slot.

    The slot "sizes" also excludes the slots of single axes, which are called "size n" and so on. If an axis is long, the values
    are ordinary, because special values (such as equal rows) may hide a mistake in the handling of long axes.
    """
    chosen: list[InputCategory] = []
    slots: set[str] = set()
    for category in categories:
        slot, group = category.slot, "size" if category.slot.startswith("size ") else category.slot
        excluded = {slot, {"size": "sizes", "sizes": "size"}.get(group, slot)}
        is_about_size = bool(chosen) and (chosen[0].length is not None or chosen[0].slot.startswith("size "))
        is_hidden = is_about_size and slot.startswith("value ")
        if not chosen or not (excluded & slots or is_hidden or chosen[0].exclusive or category.exclusive):
            chosen.append(category)
            slots |= {slot, group}
    return chosen


def draw(
    contract: Contract,
    requested: Sequence[InputCategory],
    categories: Sequence[InputCategory],
    rng: np.random.Generator,
) -> DrawnInput | None:
    """Draw an input that should belong to the ``requested`` categories. Return None if the contract forbids it.

    The result names all of ``categories`` to which the input belongs.
    """
    request = DrawRequest()
    for category in requested:
        category.configure(request, rng)
    values = _draw_values(contract, request, rng)
    for change in (contract.sharpen, *request.after, contract.constrain):
        if change is not None:
            changed = change(values, rng)
            if changed is None:
                return None
            values = changed
    for path, layout in request.layouts.items():  # last, because the result of arithmetic is a contiguous array
        values = replace_at(values, path, partial(in_layout, layout=layout))
    call = contract.bind(values)
    return DrawnInput(values, frozenset(c.name for c in categories if c.matches(call)))


def _draw_values(contract: Contract, request: DrawRequest, rng: np.random.Generator) -> dict[str, Value]:
    drawing = Drawing(request, rng, contract.arguments, _draw_sizes(contract, request, rng))
    if request.batch is not None:
        drawing.batch = request.batch
    elif request.alike:
        drawing.batch = (next(iter(drawing.sizes.values())),) * int(rng.integers(2))
    arrays = [a for a in contract.leaves().values() if isinstance(a, ArrayArgument)]
    is_long = max(drawing.sizes.values(), default=0) > max(_ORDINARY)
    if is_long and any(math.prod(drawing.shape(a.shape)) > _MANY for a in arrays):
        drawing.batch = ()
    for name, argument in contract.arguments.items():
        if name not in request.left_out and (not argument.default or _is_given(name, drawing)):
            drawing.values[name] = argument.draw(drawing, (name,))
    return drawing.values


def _is_given(name: str, drawing: Drawing) -> bool:
    """Return whether an optional argument is given: always if the request is about it, otherwise by chance."""
    along = drawing.request.along is not None and isinstance(drawing.arguments[name], AxisArgument)
    return along or (name,) in drawing.request.styles or bool(drawing.rng.integers(2))


def _draw_sizes(contract: Contract, request: DrawRequest, rng: np.random.Generator) -> dict[str, int]:
    letters = contract.letters()
    if request.alike:
        low = max((contract.limits_of(letter)[0] for letter in letters), default=2)
        return dict.fromkeys(letters, max(low, int(rng.integers(3, 5))))
    sizes = dict(request.sizes)
    if max(sizes.values(), default=0) >= LONG_AXES[0]:  # then all other axes are small
        sizes = {letter: size for letter, size in sizes.items() if not max(_ORDINARY) < size < LONG_AXES[0]}
    ordinary = _NEXT_TO_LONG if max(sizes.values(), default=0) > max(_ORDINARY) + len(letters) else _ORDINARY
    free = [int(n) for n in rng.permutation(ordinary)]
    for letter in letters:
        if letter not in sizes:
            low, high = contract.limits_of(letter)
            fitting = [n for n in free if low <= n <= high]
            sizes[letter] = fitting[0] if fitting else min(high, max(low, int(rng.choice(ordinary))))
            if fitting:
                free.remove(fitting[0])
    return sizes
