"""A contract: the arguments that an exercise's function may be given, with their shapes, ranges and special cases.

>>> Contract({"Q": array("... n_q d_k"), "K": array("... n_k d_k"), "scale": real(0.1, 10, default=True)})  # doctest: +SKIP

From a contract, the framework derives the categories of input (``categories``), and draws inputs of each category (``covering``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.checking.inputs.argument import Argument, BoundCall, Change, InputCategory, Path
from autograder.checking.inputs.array_arguments import ShapedArgument
from autograder.checking.inputs.builtin_arguments import GroupArgument
from autograder.checking.inputs.index_arguments import SizeArgument

__all__ = ["Contract", "replace_at"]

LONGEST = 330  # an axis that the contract does not limit is drawn up to this length


@dataclass(frozen=True)
class Contract:
    """The arguments that a function may be given, in the order of its parameters.

    Attributes:
        arguments: The arguments by name.
        sizes: The smallest and largest size for letters of the shapes. By default, sizes are from 1 to 330.
        sharpen: ``sharpen(values, rng)`` changes drawn values so that mistakes become visible. It is called before custom
            categories change the values.
        constrain: ``constrain(values, rng)`` returns drawn values that meet conditions on several arguments, or None if
            these values cannot be used. It is called last.
        categories: The author's own categories of input.
        exclude: The names of categories that are not allowed, each with the limit that the stub states.
        corrupt: How much the audit changes one entry of the right result, as a share of the largest entry, to see whether a category is
            checked.
        lists: Whether ``agrees`` accepts a list of numbers for an array.
        draws: How often each category is drawn. Draw it more than once if a wrong function may be right by chance.
    """

    arguments: Mapping[str, Argument]
    _: KW_ONLY
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    constrain: Change | None = None
    sharpen: Change | None = None
    categories: Sequence[InputCategory] = ()
    exclude: Mapping[str, str] = field(default_factory=dict)
    corrupt: float = 0.01
    lists: bool = True
    draws: int = 1

    def leaves(self) -> dict[Path, Argument]:
        """Return every argument that is not a dictionary, keyed by its path, such as ``("weights", "self", "W_Q")``."""
        return dict(_flatten_arguments(self.arguments, ()))

    def bind(self, given: Mapping[str, Value]) -> BoundCall:
        """Bind the arguments of a call, given by name, and determine the sizes of axes from their shapes."""
        leaves = self.leaves()
        values = {path: value for path in leaves if (value := _value_at(given, path)) is not None}
        sizes = {a.letter: int(values[p]) for p, a in leaves.items() if isinstance(a, SizeArgument) and p in values}
        batch: tuple[int, ...] | None = None
        for _ in range(2):  # the second round may divide a product of two sizes by a size that the first round found
            for path, argument in leaves.items():
                if isinstance(argument, ShapedArgument) and argument.fixes_sizes and path in values:
                    lead = _read_shape(argument.shape, np.shape(values[path]), sizes)
                    batch = lead if lead is not None else batch
        return BoundCall(values, sizes, batch)

    def letters(self) -> list[str]:
        """Return the letters of all shapes, each once, in order of appearance."""
        letters: dict[str, None] = {}
        for argument in self.leaves().values():
            if isinstance(argument, ShapedArgument):
                for axis in argument.shape:
                    letters |= dict.fromkeys(p for p in axis.split("*") if p != "..." and not p.isdigit())
            elif isinstance(argument, SizeArgument):
                letters[argument.letter] = None
        return list(letters)

    def limits_of(self, letter: str) -> tuple[int, int]:
        """Return the smallest and the largest size of the axis ``letter``."""
        return self.sizes.get(letter, (1, LONGEST))

    def has_batch(self) -> bool:
        """Return whether the shape of any argument has batch axes."""
        return any("..." in a.shape for a in self.leaves().values() if isinstance(a, ShapedArgument))

    def check_arguments(self, parameters: Sequence[str], where: str) -> None:
        """Raise ``CourseError`` if ``parameters`` are not the contract's arguments in the same order."""
        if list(self.arguments) != list(parameters):
            raise CourseError(
                f"{where}: its contract describes the arguments {', '.join(self.arguments)}, but the reference takes "
                f"{', '.join(parameters)}. Write one line for each parameter, in this order."
            )


def _flatten_arguments(arguments: Mapping[str, Argument], path: Path) -> Iterator[tuple[Path, Argument]]:
    for name, argument in arguments.items():
        if isinstance(argument, GroupArgument):
            yield from _flatten_arguments(argument.parts, (*path, name))
        else:
            yield (*path, name), argument


def _value_at(given: Mapping[str, Value], path: Path) -> Value:
    value: Value = given
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def replace_at(given: Mapping[str, Value], path: Path, change: Callable[[Value], Value]) -> dict[str, Value]:
    """Return ``given`` with ``change`` applied to the argument at ``path``, if ``given`` has that argument."""
    key, *rest = path
    if key not in given:
        return dict(given)
    return {**given, key: replace_at(given[key], tuple(rest), change) if rest else change(given[key])}


def _read_shape(axes: tuple[str, ...], shape: tuple[int, ...], sizes: dict[str, int]) -> tuple[int, ...] | None:
    """Read the sizes of the letters in ``axes`` from ``shape`` into ``sizes``. Return the batch axes, or None if there are none."""
    own = [axis for axis in axes if axis != "..."]
    lead = len(shape) - len(own)
    if lead < 0:
        return None
    for axis, length in zip(own, shape[lead:], strict=True):
        parts = axis.split("*")
        unknown = [p for p in parts if not p.isdigit() and p not in sizes]
        known = math.prod(int(p) if p.isdigit() else sizes.get(p, 1) for p in parts)
        if len(unknown) == 1 and known and length % known == 0:
            sizes[unknown[0]] = length // known
    return tuple(shape[:lead]) if "..." in axes else None
