"""The words by which a contract says what an argument may be: its shape, its range, and what is special about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

__all__ = [
    "Argument", "ArrayArgument", "AxisArgument", "ChoiceArgument", "GroupArgument", "LengthsArgument", "MaskArgument",
    "NumberArgument", "OrderArgument", "SizeArgument", "WholeNumbersArgument", "among", "array", "axis_of", "group",
    "leaves_of", "lengths", "mask", "order", "real", "size", "weights", "whole", "whole_numbers",
]  # fmt: skip


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
class WholeNumbersArgument(Argument):
    """Whole numbers from ``low`` to ``high``, in an array."""

    shape: tuple[str, ...] = ()
    low: int = 0
    high: int = 1


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


def whole_numbers(shape: str, low: int, high: int) -> WholeNumbersArgument:
    """Whole numbers of a range, both ends included, in any order and perhaps more than once: positions, tokens."""
    return WholeNumbersArgument(_letters(shape), low, high)


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


def leaves_of(arguments: Mapping[str, Argument]) -> dict[tuple[str, ...], Argument]:
    """Every argument that is no dictionary, by its path: ``("weights", "self", "W_Q")``."""
    return dict(_leaves(arguments, ()))


def _leaves(arguments: Mapping[str, Argument], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Argument]]:
    for name, argument in arguments.items():
        if isinstance(argument, GroupArgument):
            yield from _leaves(argument.parts, (*path, name))
        else:
            yield (*path, name), argument


def _letters(shape: str) -> tuple[str, ...]:
    return tuple(shape.replace(",", " ").strip("() ").split())
