"""What an exercise's contract allows each argument to be: its shape, its range, and what is special about it.

>>> Contract({"Q": array("... n_q d_k"), "K": array("... n_k d_k"), "scale": real(0.1, 10, default=True)})  # doctest: +SKIP

From a contract the framework derives the kinds of input that it allows (``kinds``), and draws inputs of each (``covering``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import CourseError

if TYPE_CHECKING:
    from autograder.checking.kind import Kind

__all__ = [
    "Argument", "ArrayArgument", "AxisArgument", "ChoiceArgument", "Contract", "GroupArgument", "LengthsArgument",
    "MaskArgument", "NumberArgument", "OrderArgument", "SizeArgument", "among", "array", "axis_of", "group",
    "lengths", "mask", "order", "real", "size", "weights", "whole",
]  # fmt: skip

LONGEST = 330  # an axis that the contract does not limit is drawn up to this length
# Of drawn values and a numpy.random.Generator, which nothing here loads: a student's machine imports this module too.
Settle = Callable[[dict[str, Any], Any], dict[str, Any] | None]


@dataclass(frozen=True)
class Argument:
    """One argument; ``default`` says that a call may leave it out."""

    _: KW_ONLY
    default: bool = False


@dataclass(frozen=True)
class ArrayArgument(Argument):
    """An array of floats: the letters of its axes, and the range of its entries.

    ``tiny`` is the smallest size of an entry, 0 aside. ``sums_to_one``: along the last axis, none negative.
    """

    shape: tuple[str, ...] = ()
    _: KW_ONLY
    low: float = -1e6
    high: float = 1e6
    tiny: float = 1e-6
    sums_to_one: bool = False
    float32: bool = True
    distinct: bool = False


@dataclass(frozen=True)
class MaskArgument(Argument):
    """A boolean mask; ``empty_rows`` says that a row may allow nothing, ``broadcasts`` that axes may be 1 or absent."""

    shape: tuple[str, ...] = ()
    _: KW_ONLY
    empty_rows: bool = False
    broadcasts: bool = True


@dataclass(frozen=True)
class LengthsArgument(Argument):
    """Whole numbers from ``low`` to the size ``up_to``, in an array."""

    shape: tuple[str, ...] = ()
    up_to: str = ""
    _: KW_ONLY
    low: int = 0


@dataclass(frozen=True)
class OrderArgument(Argument):
    """The whole numbers from 0 to one less than the size of an axis, in some order."""

    shape: tuple[str, ...] = ()


@dataclass(frozen=True)
class NumberArgument(Argument):
    """A number from ``low`` to ``high``, both included; ``whole`` numbers are ints."""

    low: float = 0.0
    high: float = 1.0
    _: KW_ONLY
    whole: bool = False


@dataclass(frozen=True)
class SizeArgument(Argument):
    """A whole number that is the size of an axis, by its letter."""

    letter: str = ""


@dataclass(frozen=True)
class AxisArgument(Argument):
    """An axis of the array ``of``, counted from either end."""

    of: str = ""


@dataclass(frozen=True)
class ChoiceArgument(Argument):
    """One of a few values, such as functions that are handed over as source."""

    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class GroupArgument(Argument):
    """A dictionary of arguments."""

    parts: Mapping[str, Argument] = field(default_factory=dict)


def array(
    shape: str,
    *,
    low: float = -1e6,
    high: float = 1e6,
    tiny: float = 1e-6,
    float32: bool = True,
    distinct: bool = False,
) -> ArrayArgument:
    """Floats of ``shape``, whose letters stand for sizes: ``"... n_q d_k"``, ``"n h*d"``; ``...`` for any number of batch axes.

    Entries lie between ``low`` and ``high``, and no closer to 0 than ``tiny``, but for 0 itself. ``distinct``: no two entries
    are equal. ``float32=False`` where the contract promises float64.
    """
    return ArrayArgument(_letters(shape), low=low, high=high, tiny=tiny, float32=float32, distinct=distinct)


def weights(shape: str, *, float32: bool = True) -> ArrayArgument:
    """Probabilities: none negative, adding up to 1 along the last axis."""
    return ArrayArgument(_letters(shape), low=0.0, high=1.0, tiny=1e-12, sums_to_one=True, float32=float32)


def mask(shape: str, *, empty_rows: bool = False, broadcasts: bool = True, default: bool = False) -> MaskArgument:
    """A boolean mask of ``shape``, True where something is allowed; unless ``empty_rows``, every row allows something."""
    return MaskArgument(_letters(shape), empty_rows=empty_rows, broadcasts=broadcasts, default=default)


def lengths(shape: str, up_to: str, *, low: int = 0) -> LengthsArgument:
    """Whole numbers from ``low`` to the size called ``up_to``."""
    return LengthsArgument(_letters(shape), up_to, low=low)


def order(shape: str) -> OrderArgument:
    """Every place along an axis once, as whole numbers in some order: a permutation."""
    return OrderArgument(_letters(shape))


def whole(low: int, high: int, *, default: bool = False) -> NumberArgument:
    """A whole number."""
    return NumberArgument(low, high, whole=True, default=default)


def real(low: float, high: float, *, default: bool = False) -> NumberArgument:
    """A number with a fraction."""
    return NumberArgument(low, high, default=default)


def size(letter: str, *, default: bool = False) -> SizeArgument:
    """A whole number that is the size of the axis ``letter``."""
    return SizeArgument(letter, default=default)


def axis_of(name: str, *, default: bool = False) -> AxisArgument:
    """An axis of the argument ``name``, from either end."""
    return AxisArgument(name, default=default)


def among(*values: Any, default: bool = False) -> ChoiceArgument:
    """One of ``values``."""
    return ChoiceArgument(values, default=default)


def group(parts: Mapping[str, Argument]) -> GroupArgument:
    """A dictionary with these arguments as its items."""
    return GroupArgument(dict(parts))


@dataclass(frozen=True)
class Contract:
    """What may be handed to a function, argument by argument, in the order of its parameters.

    ``sizes`` limits the letters of the shapes (else 1 to 330). ``settle(values, rng)`` makes drawn values keep to what no
    single argument can say, and returns them; None where they cannot be kept. ``tame(values, rng)`` comes first, before what a
    kind of the author's own changes: it may make drawn values such that a mistake in them shows. ``kinds`` adds kinds of the author's own,
    ``never`` rules kinds out, each with the limit that forbids it, which the stub has to state. ``spoil`` is how far one
    entry of the right answer is moved, as a share of the largest, when the audit looks whether a kind is looked at. ``draws``
    says how often each kind is drawn: more than once where a wrong answer may well be right by chance, as a choice among few.
    """

    arguments: Mapping[str, Argument]
    _: KW_ONLY
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    settle: Settle | None = None
    tame: Settle | None = None
    kinds: Sequence[Kind] = ()
    never: Mapping[str, str] = field(default_factory=dict)
    spoil: float = 0.01
    draws: int = 1

    def leaves(self) -> dict[tuple[str, ...], Argument]:
        """Every argument that is no dictionary, by its path: ``("weights", "self", "W_Q")``."""
        return dict(_leaves(self.arguments, ()))

    def letters(self) -> list[str]:
        """The letters of all shapes, each once, in the order met."""
        found: dict[str, None] = {}
        for argument in self.leaves().values():
            for axis in getattr(argument, "shape", ()):
                found.update(dict.fromkeys(part for part in axis.split("*") if part != "..." and not part.isdigit()))
            if isinstance(argument, SizeArgument):
                found[argument.letter] = None
        return list(found)

    def limits_of(self, letter: str) -> tuple[int, int]:
        """The smallest and the largest size of an axis."""
        return self.sizes.get(letter, (1, LONGEST))

    def has_batch(self) -> bool:
        """Whether some shape has batch axes."""
        return any("..." in getattr(a, "shape", ()) for a in self.leaves().values())

    def check_arguments(self, parameters: Sequence[str], where: str) -> None:
        """Raise ``CourseError`` where the contract speaks of other arguments than the function has."""
        if list(self.arguments) != list(parameters):
            raise CourseError(
                f"{where}: its contract is about the arguments {', '.join(self.arguments)}; the reference takes "
                f"{', '.join(parameters)}. Give each parameter one line, in this order."
            )


@dataclass(frozen=True)
class Reading:
    """A call as its contract sees it: the leaves that were given, and the sizes that their shapes spell."""

    contract: Contract
    values: Mapping[tuple[str, ...], Any]
    sizes: Mapping[str, int]
    batch: tuple[int, ...] | None

    @classmethod
    def of(cls, contract: Contract, given: Mapping[str, Any]) -> Reading:
        """Read arguments that are given by the names of their parameters."""
        leaves = contract.leaves()
        values: dict[tuple[str, ...], Any] = {}
        for path in leaves:
            value: Any = given
            for key in path:
                value = value.get(key) if isinstance(value, Mapping) else None
            if value is not None:
                values[path] = value
        sizes = {a.letter: int(values[p]) for p, a in leaves.items() if isinstance(a, SizeArgument) and p in values}
        batch: tuple[int, ...] | None = None
        for _ in range(2):  # a product of two sizes is read once one of them is known
            for path, argument in leaves.items():
                if _spells(argument) and path in values:
                    found = _read_shape(getattr(argument, "shape", ()), np.shape(values[path]), sizes)
                    batch = found if found is not None else batch
        return cls(contract, values, sizes, batch)

    def array(self, name: str) -> np.ndarray | None:
        """The array given for the argument ``name``; None where there is none."""
        value = self.values.get((name,))
        return value if isinstance(value, np.ndarray) else None


def _spells(argument: Argument) -> bool:
    """Whether the shape of an argument says what its letters stand for; a mask that broadcasts may have 1 in their place."""
    return isinstance(argument, ArrayArgument | LengthsArgument | OrderArgument) or (
        isinstance(argument, MaskArgument) and not argument.broadcasts
    )


def _read_shape(letters: tuple[str, ...], shape: tuple[int, ...], sizes: dict[str, int]) -> tuple[int, ...] | None:
    """Note the sizes that ``shape`` gives to its letters; returns the batch axes, None where there are none to have."""
    own = [a for a in letters if a != "..."]
    lead = len(shape) - len(own)
    if lead < 0:
        return None
    for axis, length in zip(own, shape[lead:], strict=True):
        parts = axis.split("*")
        unknown = [p for p in parts if not p.isdigit() and p not in sizes]
        known = math.prod(int(p) if p.isdigit() else sizes.get(p, 1) for p in parts)
        if len(unknown) == 1 and known and length % known == 0:
            sizes[unknown[0]] = length // known
    return tuple(shape[:lead]) if "..." in letters else None


def _leaves(arguments: Mapping[str, Argument], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Argument]]:
    for name, argument in arguments.items():
        if isinstance(argument, GroupArgument):
            yield from _leaves(argument.parts, (*path, name))
        else:
            yield (*path, name), argument


def _letters(shape: str) -> tuple[str, ...]:
    return tuple(shape.replace(",", " ").strip("() ").split())
