"""The kinds of input that a contract allows: how each is recognised in a call, and how a call of that kind is drawn.

The list is the framework's: sizes and batch axes, signs and magnitudes, equal and nearly equal entries, narrow floats,
memory layouts, masks, scalars at their ends, defaults. ``Contract(kinds=…)`` adds an author's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.checking.arguments import (
    ArrayArgument,
    AxisArgument,
    LengthsArgument,
    MaskArgument,
    NumberArgument,
    OrderArgument,
    SizeArgument,
    WholeNumbersArgument,
)
from autograder.checking.contract import Contract
from autograder.checking.kind import Kind, Path, Test, Wish, styled
from autograder.checking.plain_kinds import PlainArgument, of_plain
from autograder.checking.reading import Reading
from autograder.checking.table_kinds import TableArgument, of_table
from autograder.checking.value_kinds import of_array, of_lengths, of_mask, of_number, of_order, of_whole_numbers

__all__ = ["kinds_of"]

MANY_LETTERS = 6
LONG_AXES = (64, 127, 300)


def kinds_of(contract: Contract) -> list[Kind]:
    """Every kind of input that ``contract`` allows, but for those that it rules out."""
    found = [*_of_sizes(contract), *_of_batches(contract), *_of_layout(contract), *contract.kinds]
    for path, argument in contract.leaves().items():
        name = path[-1]
        if isinstance(argument, ArrayArgument):
            found += of_array(path, name, argument)
        elif isinstance(argument, MaskArgument):
            found += of_mask(path, name, argument)
        elif isinstance(argument, LengthsArgument):
            found += of_lengths(path, name, argument)
        elif isinstance(argument, OrderArgument):
            found += of_order(path, name)
        elif isinstance(argument, WholeNumbersArgument):
            found += of_whole_numbers(path, name, argument)
        elif isinstance(argument, NumberArgument):
            found += of_number(path, name, argument)
        elif isinstance(argument, AxisArgument):
            found += _of_axis(path, name, argument)
        elif isinstance(argument, PlainArgument):
            found += of_plain(path, name, argument)
        elif isinstance(argument, TableArgument):
            found += of_table(path, name, argument)
        if argument.default and len(path) == 1:
            found.append(_left_out(path))
    return [kind for kind in found if not any(_is_never(kind.name, rule) for rule in contract.never)]


def _is_never(name: str, rule: str) -> bool:
    """A rule is a kind's whole name, or the part after the colon, for every argument: ``"all huge"``."""
    return rule in (name, name.partition(": ")[2])


# sizes and batch axes


def _of_sizes(contract: Contract) -> Iterator[Kind]:
    letters = contract.letters()
    whole = {a.letter for a in contract.leaves().values() if isinstance(a, SizeArgument)}
    for letter in letters:
        low, high = contract.limits_of(letter)
        if low <= 1:
            yield _sized(f"{letter}: 1", f"{letter} = 1", letter, (1, 1), alone=letter not in whole)
        for length in LONG_AXES[::-1]:  # what is longer than 300 is longer than 64
            if high > length:
                top = min(high, length + 20)
                yield _sized(f"{letter}: longer than {length}", f"{letter} above {length}", letter, (length + 1, top))
    if len(letters) > 1:
        yield Kind("sizes: all alike", "all sizes alike", _alike, _wish_alike, slot="sizes")
        yield Kind(
            "sizes: all different",
            "all sizes different",
            lambda r: len(r.sizes) > 1 and len(set(r.sizes.values())) == len(r.sizes),
            functools.partial(_wish_different, contract),
            slot="sizes",
        )


def _sized(name: str, phrase: str, letter: str, sizes: tuple[int, int], *, alone: bool = False) -> Kind:
    """An axis of a size between two, or above the first where they differ."""
    low, high = sizes

    def holds(reading: Reading) -> bool:
        size = reading.sizes.get(letter, 0)
        return size == low if low == high else size >= low

    def wish(asked: Wish, rng: np.random.Generator) -> None:
        asked.sizes[letter] = int(rng.integers(low, high + 1))

    return Kind(name, phrase, holds, wish, slot="sizes", alone=alone)


def _alike(reading: Reading) -> bool:
    sizes = [*reading.sizes.values(), *(reading.batch or ())]
    return len(reading.sizes) > 1 and len(set(sizes)) == 1 and sizes[0] > 1


def _wish_alike(wish: Wish, _rng: np.random.Generator) -> None:
    wish.alike = True


def _wish_different(contract: Contract, wish: Wish, rng: np.random.Generator) -> None:
    """More letters than there are ordinary sizes would share some: each is given one of its own."""
    letters = contract.letters()
    if len(letters) > MANY_LETTERS:
        for letter, size in zip(letters, rng.permutation(len(letters)) + 2, strict=True):
            low, high = contract.limits_of(letter)
            wish.sizes[letter] = max(low, min(high, int(size)))


def _of_batches(contract: Contract) -> Iterator[Kind]:
    if not contract.has_batch():
        return
    words = {0: "no batch axis", 1: "one batch axis", 2: "two batch axes", 3: "three batch axes"}
    for count, phrase in words.items():
        yield _batch(count, phrase)
    yield Kind(
        "batch: of 1",
        "a batch axis of length 1",
        lambda r: 1 in (r.batch or ()),
        lambda wish, _rng: setattr(wish, "batch", (1,)),
        slot="batch",
    )


def _batch(count: int, phrase: str) -> Kind:
    def holds(reading: Reading) -> bool:
        return reading.batch is not None and len(reading.batch) == count

    def wish(asked: Wish, rng: np.random.Generator) -> None:
        asked.batch = tuple(map(int, rng.permutation([2, 3, 2])[:count]))

    return Kind(f"batch: {phrase}", phrase, holds, wish, slot="batch")


# layout, narrow floats, defaults


def _of_layout(contract: Contract) -> Iterator[Kind]:
    arrays = {p: a for p, a in contract.leaves().items() if isinstance(a, ArrayArgument) and a.shape}
    for path, argument in arrays.items():
        yield _apart(path, argument.shape)
    if arrays and all(a.float32 for a in arrays.values()):
        yield Kind(
            "float32",
            "float32 numbers",
            lambda r: any(r.values[p].dtype == np.float32 for p in arrays if p in r.values),
            lambda wish, _rng: setattr(wish, "float32", True),
            slot="dtype",
            alone=True,
        )


def _apart(path: Path, shape: tuple[str, ...]) -> Kind:
    """An array that lies apart in memory: of two axes or more where it may have them, as only there their order shows."""
    several = min(2, len(shape))

    def holds(reading: Reading) -> bool:
        value = reading.values.get(path)
        if value is None or value.flags.c_contiguous:
            return False
        return bool(sum(length > 1 for length in np.shape(value)) >= several)

    def wish(asked: Wish, _rng: np.random.Generator) -> None:
        asked.layouts.add(path)
        if "..." in shape and len(shape) == 2 and not asked.batch:
            asked.batch = (3,)

    phrase = f"{path[-1]} not contiguous in memory, as a transpose or a slice with a step is"
    return Kind(f"{'.'.join(path)}: not contiguous", phrase, holds, wish, slot=f"layout {path}")


def _left_out(path: Path) -> Kind:
    return Kind(
        f"{path[0]}: left out",
        f"{path[0]} left out",
        lambda r: path not in r.values,
        lambda wish, _rng: wish.left_out.add(path[0]),
        slot=f"value {path}",
    )


def _of_axis(path: Path, name: str, argument: AxisArgument) -> Iterator[Kind]:
    def along(reading: Reading) -> int:
        shape = np.shape(reading.values.get((argument.of,), 0))
        axis = int(reading.values.get(path, -1))
        return shape[axis] if -len(shape) <= axis < len(shape) else 0

    def long(name: str, phrase: str, sizes: tuple[int, int]) -> Kind:
        low, high = sizes

        def holds(reading: Reading) -> bool:
            length = along(reading) if path in reading.values else 0
            return length == low if low == high else length >= low

        def wish(asked: Wish, rng: np.random.Generator) -> None:
            asked.along = int(rng.integers(low, high + 1))

        return Kind(name, phrase, holds, wish, slot="sizes", alone=low == high)

    for length in LONG_AXES[::-1]:
        ends = (length + 1, length + 20)
        yield long(f"along {name}: longer than {length}", f"more than {length} numbers along {name}", ends)
    yield long(f"along {name}: 1", f"a single number along {name}", (1, 1))

    def given(test: Callable[[int, int], bool]) -> Test:
        def known(value: Any, reading: Reading) -> bool:
            axes = int(np.ndim(reading.values.get((argument.of,), 0)))
            return axes > 0 and test(int(value), axes)

        return known

    styles: list[tuple[str, str, Callable[[int, int], bool]]] = [
        ("first", f"the first {name}", lambda v, n: v % n == 0 and n > 1),
        ("last", f"the last {name}", lambda v, n: v % n == n - 1 and n > 1),
        ("in the middle", f"an {name} in the middle", lambda v, n: 0 < v % n < n - 1),
        ("from the front", f"an {name} counted from the front", lambda v, _n: v >= 0),
        ("from the end", f"an {name} counted from the end", lambda v, _n: v < 0),
    ]
    for style, phrase, test in styles:
        plain = styled(path, style, phrase, given(test))

        def wish(asked: Wish, rng: np.random.Generator, plain: Kind = plain) -> None:
            plain.wish(asked, rng)
            asked.batch = asked.batch or (2, 3)  # an array of one axis has none in the middle

        yield replace(plain, wish=wish)
