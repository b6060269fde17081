"""The categories of input that a contract allows.

The framework derives categories of sizes, batch axes, memory layouts, float32, omitted defaults and the styles of arguments.
``Contract(categories=…)`` adds an author's own categories.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.inputs.argument import LONG_AXES, BoundCall, DrawRequest, InputCategory, Path, length_category
from autograder.checking.inputs.array_arguments import ArrayArgument, ShapedArgument
from autograder.checking.inputs.builtin_arguments import NumberArgument
from autograder.checking.inputs.contract import LONGEST, Contract
from autograder.checking.inputs.index_arguments import LengthsArgument, SizeArgument
from autograder.sandbox.guest.wire import LAYOUTS, layout_of

__all__ = ["categories_of", "is_excluded"]

MANY_LETTERS = 6
MOST = 1000  # a whole number that may be larger is treated as a size only if its lower limit is 1
FAR = 100  # a number is far above another if it is more than this many times as large
SQUARES = 20
_BANDS = (8, 15), (16, 31), (32, 63)  # together with LONG_AXES, these ranges cover the sizes between all powers of two


def categories_of(contract: Contract) -> list[InputCategory]:
    """Return every category of input that ``contract`` allows and does not exclude."""
    found = [*_sizes(contract), *_batches(contract), *_layouts(contract), *contract.categories]
    for path, argument in contract.leaves().items():
        found += argument.categories(path)
        if argument.default and len(path) == 1:
            found.append(_left_out(path))
        if isinstance(argument, LengthsArgument) and contract.limits_of(argument.up_to)[1] >= 300:
            found.append(_beyond_a_byte(path, argument.up_to))
    return [category for category in found if not is_excluded(contract, category.name)]


def is_excluded(contract: Contract, name: str) -> bool:
    """Return whether a contract excludes a category, by its full name or by the part after the colon, which is the same for every argument."""
    return name in contract.exclude or name.partition(": ")[2] in contract.exclude


def _sizes(contract: Contract) -> Iterator[InputCategory]:
    letters = contract.letters()
    given = {a.letter for a in contract.leaves().values() if isinstance(a, SizeArgument)}
    for letter in letters:
        size = partial(_size_of, letter), partial(_request_size, letter)
        low, high = contract.limits_of(letter)
        if low <= 1:
            yield length_category(f"{letter}: 1", f"{letter} = 1", (1, 1), *size, exclusive=letter not in given)
            if contract.has_batch():
                yield _band(contract, letter, 1, 1, batch=True)
        # The longest axis comes first, because an axis longer than 300 is also longer than 64.
        if letter in contract.sizes and 1 < high <= LONGEST:
            yield length_category(f"{letter}: the most", f"{letter} = {high}", (high, high), *size, optional=True)
        for length in LONG_AXES[::-1]:
            if high > length:
                words = f"{letter}: longer than {length}", f"{letter} above {length}"
                yield length_category(*words, (length + 1, min(high, length + 20)), *size)
        for low_end, high_end in _BANDS:
            if low <= high_end <= high:
                yield _band(contract, letter, max(low, low_end), high_end)
        if high > LONG_AXES[0] and contract.has_batch():
            yield _band(contract, letter, LONG_AXES[0] + 1, min(high, LONG_AXES[0] + 20), batch=True)
    if letters and len(given) == len(contract.arguments):
        for number in range(1, SQUARES + 1):
            yield _square(letters, number)
    yield from _relations(contract)
    if len(letters) > 1:
        alike = partial(InputCategory, "sizes: all alike", "all sizes alike", _all_alike, slot="sizes")
        yield alike(lambda request, _rng: setattr(request, "alike", True))
        yield _all_different(contract)


def _size_of(letter: str, call: BoundCall) -> int:
    return call.sizes.get(letter, 0)


def _request_size(letter: str, request: DrawRequest, size: int) -> None:
    request.sizes[letter] = size


def _band(contract: Contract, letter: str, low: int, high: int, *, batch: bool = False) -> InputCategory:
    """Return the category of calls, perhaps with a batch, in which an axis has ``low`` to ``high`` entries.

    If an array has three or more axes, or there is a batch, only one axis may be long.
    """
    arrays = [a for a in contract.leaves().values() if isinstance(a, ShapedArgument)]
    letters = [[part for axis in a.shape for part in axis.split("*") if part.isalpha() or "_" in part] for a in arrays]
    is_crowded = any(letter in some and len(some) > 2 for some in letters)

    def configure(request: DrawRequest, rng: np.random.Generator) -> None:
        request.sizes.setdefault(letter, int(rng.integers(low, high + 1)))
        request.batch = (2,) if batch else request.batch

    def matches(call: BoundCall) -> bool:
        return low <= _size_of(letter, call) <= high and bool(call.batch or not batch)

    what = " in a batch" * batch
    slot = "sizes" if batch or (is_crowded and high > _BANDS[0][1]) else f"size {letter}"
    is_ = f"from {low} to {high}" if low < high else f"= {low}"
    words = f"{letter}:{what} {low} to {high}", f"{letter} {is_}{what}"
    found = InputCategory(*words, matches, configure, slot=slot, optional=True)
    measure, change = partial(_size_of, letter), partial(_request_size, letter)
    return found if batch else replace(found, length=measure, request_length=change)


def _square(letters: list[str], number: int) -> InputCategory:
    def configure(request: DrawRequest, _rng: np.random.Generator) -> None:
        request.sizes.update(dict.fromkeys(letters, number))

    words = f"square: {number}", f"all sizes {number}"
    found = InputCategory(*words, lambda call: {*call.sizes.values()} == {number}, configure, slot="sizes")
    return replace(found, exclusive=True, optional=True)


def _relations(contract: Contract) -> Iterator[InputCategory]:
    """Yield the categories of calls in which one size is less than, equal to or greater than another.

    A size is the length of an axis, an argument that is a whole number, or the number of entries of a batch.
    """
    whole = {n: a for n, a in contract.arguments.items() if isinstance(a, NumberArgument) and a.whole}
    numbers = [n for n, a in whole.items() if a.high <= MOST or a.low == 1]
    batch = ["batch"] if numbers and contract.has_batch() else []
    for one, other in combinations([*contract.letters(), *numbers, *batch], 2):
        for sign, compare in (("<", operator.lt), ("=", operator.eq), (">", operator.gt)):
            yield _relation(one, other, sign, compare, numbers)
        if {one, other} <= {n for n in numbers if contract.arguments[n].high > 50 * FAR}:  # type: ignore[attr-defined]
            yield _relation(one, other, "far below", lambda a, b: FAR * a < b, numbers)
            yield _relation(one, other, "far above", lambda a, b: a > FAR * b, numbers)


def _relation(one: str, other: str, sign: str, holds: Callable[[int, int], bool], numbers: list[str]) -> InputCategory:
    def measure(name: str, call: BoundCall) -> int | None:
        if name == "batch":
            return math.prod(call.batch) if call.batch is not None else None
        value = call.values.get((name,)) if name in numbers else call.sizes.get(name)
        return None if value is None else int(value)

    def matches(call: BoundCall) -> bool:
        sizes = measure(one, call), measure(other, call)
        return None not in sizes and holds(*sizes)  # type: ignore[arg-type]

    def configure(request: DrawRequest, rng: np.random.Generator) -> None:
        low, high = sorted(map(int, rng.permutation([2, 3, 4, 5, 6, 7])[:2]))
        high = int(rng.integers(4, 9)) * FAR * low if sign.startswith("far") else high
        chosen = {one: high if sign in (">", "far above") else low, other: high if sign in ("<", "far below") else low}
        request.after.append(lambda values, _rng: {**values, **{n: chosen[n] for n in chosen if n in numbers}})
        for name, number in chosen.items():
            if name == "batch":
                request.batch = (number,)
            elif name not in numbers:
                request.sizes[name] = number

    words = f"sizes: {one} {sign} {other}", f"{one} {sign} {other}"
    return InputCategory(*words, matches, configure, slot="sizes", optional=True)


def _all_alike(call: BoundCall) -> bool:
    sizes = [*call.sizes.values(), *(call.batch or ())]
    return len(call.sizes) > 1 and len(set(sizes)) == 1 and sizes[0] > 1


def _all_different(contract: Contract) -> InputCategory:
    letters = contract.letters()

    def matches(call: BoundCall) -> bool:
        return len(call.sizes) > 1 and len(set(call.sizes.values())) == len(call.sizes)

    def configure(request: DrawRequest, rng: np.random.Generator) -> None:
        if len(letters) > MANY_LETTERS:  # otherwise some letters would share an ordinary size
            for letter, size in zip(letters, rng.permutation(len(letters)) + 2, strict=True):
                low, high = contract.limits_of(letter)
                request.sizes[letter] = max(low, min(high, int(size)))

    return InputCategory("sizes: all different", "all sizes different", matches, configure, slot="sizes")


def _batches(contract: Contract) -> Iterator[InputCategory]:
    if not contract.has_batch():
        return
    shapes = [a.shape for a in contract.leaves().values() if isinstance(a, ShapedArgument)]
    for count, phrase in enumerate(["no batch axis", "one batch axis", "two batch axes", "three batch axes"]):
        axes = f"{count + 1} ax{'e' if count else 'i'}s"  # a single array of any shape is no batch
        yield _batch(count, phrase, axes if len(shapes) == 1 and len(shapes[0]) == 2 else phrase)
    yield InputCategory(
        "batch: of 1",
        "a batch axis of length 1",
        lambda call: 1 in (call.batch or ()),
        lambda request, _rng: setattr(request, "batch", (1,)),
        slot="batch",
    )
    for path, argument in contract.leaves().items():
        if isinstance(argument, ShapedArgument):
            own = [axis for axis in argument.shape if axis != "..."]
            may_be_mistaken = not argument.fixes_sizes or ("..." not in argument.shape and len(own) == 1)
            if may_be_mistaken and own and own[0] in contract.letters():
                yield _as_long_as_the_batch(path, own)


def _as_long_as_the_batch(path: Path, own: list[str]) -> InputCategory:
    """Return the category of arrays that have no batch axes, but as many rows as the batch has entries."""

    def matches(call: BoundCall) -> bool:
        shape = np.shape(np.asarray(call.values.get(path)))
        return len(shape) == len(own) and shape[0] > 1 and call.batch == shape[:1]

    def configure(request: DrawRequest, _rng: np.random.Generator) -> None:
        request.batch, request.sizes[own[0]], request.styles[path] = (3,), 3, "fewer axes"

    words = f"{'.'.join(path)}: as long as the batch", f"a first axis of {path[-1]} as long as the batch"
    return InputCategory(*words, matches, configure, slot="sizes", exclusive=True, optional=True)


def _batch(count: int, name: str, phrase: str) -> InputCategory:
    def configure(request: DrawRequest, rng: np.random.Generator) -> None:
        request.batch = tuple(map(int, rng.permutation([2, 3, 2])[:count]))

    words = f"batch: {name}", phrase
    return InputCategory(
        *words, lambda call: len(call.batch or ()) == count and call.batch is not None, configure, slot="batch"
    )


_ORDERS = (
    ("v", "not contiguous", "not contiguous in memory, like a transposed slice with a step"),
    ("F", "in Fortran's order", "in Fortran order, like a transpose"),
    ("R", "with negative strides", "with negative strides, as after [::-1]"),
)


def _layouts(contract: Contract) -> Iterator[InputCategory]:
    arrays = {p: a for p, a in contract.leaves().items() if isinstance(a, ShapedArgument) and a.shape}
    for path, argument in arrays.items():
        for layout, name, phrase in _ORDERS:
            if layout != "F" or len(argument.shape) > 1:
                yield _in_order(path, argument.shape, layout, name, phrase)
    floats = [a for a in arrays.values() if isinstance(a, ArrayArgument)]
    if floats and all(a.float32 for a in floats):
        yield InputCategory(
            "float32",
            "float32 numbers",
            lambda call: any(getattr(call.values.get(p), "dtype", None) == np.float32 for p in arrays),
            lambda request, _rng: setattr(request, "float32", True),
            slot="dtype",
            exclusive=True,
        )
    alone = [(n, a) for n, a in contract.arguments.items() if isinstance(a, ArrayArgument) and not a.default]
    for (one, first), (other, second) in combinations(alone, 2):
        if replace(first, shape=second.shape) != second:
            continue
        if first.shape[-1] == second.shape[-1] and len([a for a in first.shape + second.shape if a != "..."]) > 2:
            rows = {axis for axis in first.shape[-2:-1] + second.shape[-2:-1] if axis in contract.letters()}
            yield _row_in_common(one, other, dict.fromkeys(rows, 4))
        axes = [*zip(first.shape, second.shape, strict=False)]
        alike = len(axes) == len(first.shape) == len(second.shape)
        if alike and all(a == b or not ("*" in a + b or "..." in {a, b}) for a, b in axes):
            yield _same_object(one, other, axes)


def _in_order(path: Path, shape: tuple[str, ...], layout: str, name: str, phrase: str) -> InputCategory:
    """Return the category of arrays with this memory layout. Most layouts can be recognized only if two axes are longer than 1."""
    needed = min(2, len(shape)) if layout != "R" else 1
    is_single = layout == "F" and "..." in shape and len(shape) > 2  # the parts of a batch are not in Fortran order

    def matches(call: BoundCall) -> bool:
        value = call.values.get(path)
        if not isinstance(value, np.ndarray) or layout_of(value) not in ((layout,) if layout != "v" else LAYOUTS):
            return False
        return bool(sum(length > 1 for length in np.shape(value)) >= needed) and not (is_single and call.batch)

    def configure(request: DrawRequest, _rng: np.random.Generator) -> None:
        request.layouts[path] = layout
        request.batch = () if is_single else request.batch
        if "..." in shape and len(shape) == 2 and not request.batch:
            request.batch = (3,)

    place = ".".join(path)
    return InputCategory(f"{place}: {name}", f"{path[-1]} {phrase}", matches, configure, slot=f"layout {path}")


def _same_object(one: str, other: str, axes: list[tuple[str, str]]) -> InputCategory:
    """Return the category of calls that pass the same array for two arguments."""

    def make(values: dict[str, Value], _rng: np.random.Generator) -> dict[str, Value] | None:
        return {**values, other: values[one]} if np.shape(values[one]) == np.shape(values[other]) else None

    def matches(values: dict[str, Value]) -> bool:
        return values.get(one) is not None and values.get(one) is values.get(other)

    sizes = {letter: 4 for pair in axes if pair[0] != pair[1] for letter in pair}
    words = f"{one} and {other}: one array", f"one array for both {one} and {other}"
    return replace(InputCategory.custom(*words, matches, make, sizes), optional=True)


def _beyond_a_byte(path: Path, letter: str) -> InputCategory:
    def configure(request: DrawRequest, rng: np.random.Generator) -> None:
        request.sizes[letter], request.styles[path] = int(rng.integers(280, 301)), "one the whole length"

    words = f"{'.'.join(path)}: above 255", f"{path[-1]} above 255, the largest number in a byte"
    found = InputCategory(*words, lambda call: bool(np.max(call.values.get(path, 0)) > 255), configure, slot="sizes")
    return replace(found, exclusive=True, optional=True)


def _row_in_common(one: str, other: str, sizes: Mapping[str, int]) -> InputCategory:
    """Return the category of calls in which a row of one argument is also a row of another, such as a query that equals a key."""

    def make(values: dict[str, Value], rng: np.random.Generator) -> dict[str, Value]:
        changed, rows = values[one].copy(), np.atleast_2d(values[other])
        if changed.ndim > 1:
            changed[(0,) * (changed.ndim - 1)] = rows[
                (0,) * (rows.ndim - 1)
            ]  # a shortcut may compare only the first rows
        np.atleast_2d(changed)[(-1,) * max(1, changed.ndim - 1)] = rng.choice(rows[(-1,) * (rows.ndim - 2)])
        return {**values, one: changed}

    def matches(values: dict[str, Value]) -> bool:
        arrays = [np.asarray(values[name]) for name in (one, other) if name in values]
        found = [{row.tobytes() for row in a.reshape(-1, a.shape[-1]) if row.any()} for a in arrays]
        return len(found) == 2 and bool(found[0] & found[1]) and found[0] != found[1]

    words = f"{one} and {other}: a row in common", f"a row of {one} that is also a row of {other}"
    return replace(InputCategory.custom(*words, matches, make, sizes), optional=True)


def _left_out(path: Path) -> InputCategory:
    return InputCategory(
        f"{path[0]}: left out",
        f"{path[0]} left out",
        lambda call: path not in call.values,
        lambda request, _rng: request.left_out.add(path[0]),
        slot=f"value {path}",
    )
