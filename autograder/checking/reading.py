"""A call as its contract sees it: what was given for each argument, and the sizes that the shapes spell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checking.arguments import (
    Argument,
    ArrayArgument,
    LengthsArgument,
    MaskArgument,
    OrderArgument,
    SizeArgument,
    WholeNumbersArgument,
)

__all__ = ["Reading"]


@dataclass(frozen=True)
class Reading:
    """A call as its contract sees it: the leaves that were given, and the sizes that their shapes spell."""

    values: Mapping[tuple[str, ...], Any]
    sizes: Mapping[str, int]
    batch: tuple[int, ...] | None

    @classmethod
    def of(cls, leaves: Mapping[tuple[str, ...], Argument], given: Mapping[str, Any]) -> Reading:
        """Read arguments that are given by the names of their parameters, of which a contract has these ``leaves``."""
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
        return cls(values, sizes, batch)


def _spells(argument: Argument) -> bool:
    """Whether the shape of an argument says what its letters stand for; a mask that broadcasts may have 1 in their place."""
    return isinstance(argument, ArrayArgument | LengthsArgument | OrderArgument | WholeNumbersArgument) or (
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
