"""The categories of input that a contract allows.

The framework derives them: sizes, batch axes, memory layouts, float32, defaults left out, and the styles of each argument.
``Contract(categories=…)`` adds an author's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from autograder.checking.inputs.argument import LONG_AXES, BoundCall, DrawRequest, InputCategory, Path, length_category
from autograder.checking.inputs.array_arguments import ArrayArgument, SizeArgument
from autograder.checking.inputs.contract import Contract

__all__ = ["categories_of"]

MANY_LETTERS = 6


def categories_of(contract: Contract) -> list[InputCategory]:
    """Return every category of input that ``contract`` allows and does not exclude."""
    found = [*_sizes(contract), *_batches(contract), *_layouts(contract), *contract.categories]
    for path, argument in contract.leaves().items():
        found += argument.categories(path)
        if argument.default and len(path) == 1:
            found.append(_left_out(path))
    return [category for category in found if not any(_is_excluded(category.name, rule) for rule in contract.exclude)]


def _is_excluded(name: str, rule: str) -> bool:
    """Return whether a rule is a category's whole name, or the part after the colon: ``"all huge"`` of every argument."""
    return rule in (name, name.partition(": ")[2])


def _sizes(contract: Contract) -> Iterator[InputCategory]:
    letters = contract.letters()
    given = {a.letter for a in contract.leaves().values() if isinstance(a, SizeArgument)}
    for letter in letters:
        size = partial(_size_of, letter), partial(_request_size, letter)
        low, high = contract.limits_of(letter)
        if low <= 1:
            yield length_category(f"{letter}: 1", f"{letter} = 1", (1, 1), *size, exclusive=letter not in given)
        for length in LONG_AXES[::-1]:  # the longest first, because an axis longer than 300 is longer than 64
            if high > length:
                words = f"{letter}: longer than {length}", f"{letter} above {length}"
                yield length_category(*words, (length + 1, min(high, length + 20)), *size)
    if len(letters) > 1:
        yield InputCategory("sizes: all alike", "all sizes alike", _all_alike, _request_alike, slot="sizes")
        yield _all_different(contract)


def _size_of(letter: str, call: BoundCall) -> int:
    return call.sizes.get(letter, 0)


def _request_size(letter: str, request: DrawRequest, size: int) -> None:
    request.sizes[letter] = size


def _request_alike(request: DrawRequest, _rng: np.random.Generator) -> None:
    request.alike = True


def _all_alike(call: BoundCall) -> bool:
    sizes = [*call.sizes.values(), *(call.batch or ())]
    return len(call.sizes) > 1 and len(set(sizes)) == 1 and sizes[0] > 1


def _all_different(contract: Contract) -> InputCategory:
    letters = contract.letters()

    def matches(call: BoundCall) -> bool:
        return len(call.sizes) > 1 and len(set(call.sizes.values())) == len(call.sizes)

    def configure(request: DrawRequest, rng: np.random.Generator) -> None:
        if len(letters) > MANY_LETTERS:  # some of them would share an ordinary size
            for letter, size in zip(letters, rng.permutation(len(letters)) + 2, strict=True):
                low, high = contract.limits_of(letter)
                request.sizes[letter] = max(low, min(high, int(size)))

    return InputCategory("sizes: all different", "all sizes different", matches, configure, slot="sizes")


def _batches(contract: Contract) -> Iterator[InputCategory]:
    if not contract.has_batch():
        return
    for count, phrase in enumerate(["no batch axis", "one batch axis", "two batch axes", "three batch axes"]):
        yield _batch(count, phrase)
    yield InputCategory(
        "batch: of 1",
        "a batch axis of length 1",
        lambda call: 1 in (call.batch or ()),
        lambda request, _rng: setattr(request, "batch", (1,)),
        slot="batch",
    )


def _batch(count: int, phrase: str) -> InputCategory:
    def matches(call: BoundCall) -> bool:
        return call.batch is not None and len(call.batch) == count

    def configure(request: DrawRequest, rng: np.random.Generator) -> None:
        request.batch = tuple(map(int, rng.permutation([2, 3, 2])[:count]))

    return InputCategory(f"batch: {phrase}", phrase, matches, configure, slot="batch")


def _layouts(contract: Contract) -> Iterator[InputCategory]:
    arrays = {p: a for p, a in contract.leaves().items() if isinstance(a, ArrayArgument) and a.shape}
    for path, argument in arrays.items():
        yield _not_contiguous(path, argument.shape)
    if arrays and all(a.float32 for a in arrays.values()):
        yield InputCategory(
            "float32",
            "float32 numbers",
            lambda call: any(call.values[p].dtype == np.float32 for p in arrays if p in call.values),
            lambda request, _rng: setattr(request, "float32", True),
            slot="dtype",
            exclusive=True,
        )


def _not_contiguous(path: Path, shape: tuple[str, ...]) -> InputCategory:
    """Return the category of arrays that are not contiguous. If they may have two axes or more, they need two to show it."""
    needed = min(2, len(shape))

    def matches(call: BoundCall) -> bool:
        value = call.values.get(path)
        if value is None or value.flags.c_contiguous:
            return False
        return bool(sum(length > 1 for length in np.shape(value)) >= needed)

    def configure(request: DrawRequest, _rng: np.random.Generator) -> None:
        request.layouts.add(path)
        if "..." in shape and len(shape) == 2 and not request.batch:
            request.batch = (3,)

    phrase = f"{path[-1]} not contiguous in memory, as a transpose or a slice with a step is"
    return InputCategory(f"{'.'.join(path)}: not contiguous", phrase, matches, configure, slot=f"layout {path}")


def _left_out(path: Path) -> InputCategory:
    return InputCategory(
        f"{path[0]}: left out",
        f"{path[0]} left out",
        lambda call: path not in call.values,
        lambda request, _rng: request.left_out.add(path[0]),
        slot=f"value {path}",
    )
