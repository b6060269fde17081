"""How much a child may have the trusted side work out: questions are measured by the check's own calls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from autograder.sandbox.guest.wire_tables import kind_of_table

__all__ = ["Size"]

_MAX_AXES = 6
_FLAT = (str, bytes, bytearray, set, frozenset, range)

Shape = tuple[int, ...]


class Size(NamedTuple):
    """The size of a call's arguments, those in lists, tuples and dicts among them; NumPy makes arrays of texts, too.

    ``elements`` are those of the largest argument, ``axis`` is the longest one, ``axes`` the most that one has.
    ``together`` is what the function may make of them: the elements of the array that they all broadcast to, or of the
    largest product of two last axes, for each place of the leading ones.
    """

    elements: int = 0
    axis: int = 0
    axes: int = 0
    together: int = 0

    @classmethod
    def of(cls, arguments: Sequence[Any]) -> Size:
        """The size of one call's arguments."""
        shapes = [shape for shape in map(_shape, arguments) if shape]
        broadcast = _broadcast(shapes)
        last = sorted((n for shape in shapes for n in shape[-2:]), reverse=True)
        products = math.prod(broadcast[:-2]) * math.prod(last[:2])
        return cls(
            elements=max(map(_elements, arguments), default=0),
            axis=max(broadcast, default=0),
            axes=len(broadcast),
            together=max(math.prod(broadcast), products),
        )

    @classmethod
    def largest(cls, sizes: Iterable[Size]) -> Size:
        """The most of each that any of ``sizes`` has."""
        return cls(*map(max, zip(cls(), *sizes, strict=True)))

    def allows(self, asked: Size) -> bool:
        """Whether a question of the size ``asked`` is not far larger than this, what the check itself asks."""
        return (
            asked.elements <= max(1 << 14, 16 * self.elements)
            and asked.axis <= max(512, 4 * self.axis)
            and asked.axes <= _MAX_AXES
            and asked.together <= max(1 << 20, 8 * self.together)
        )


def _shape(value: Any) -> Shape:
    """The shape of the array that NumPy would make of ``value``; no axis is shorter than 1."""
    if isinstance(value, np.ndarray):
        return tuple(max(1, n) for n in value.shape)
    if isinstance(value, list | tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        return max(1, len(value)), *_broadcast(set(map(_shape, items)))
    if isinstance(value, _FLAT):
        return (max(1, len(value)),)
    return tuple(max(1, n) for n in value.shape) if kind_of_table(value) else ()


def _broadcast(shapes: Iterable[Shape]) -> Shape:
    """The longest axis at each place, counted from the last one: what arrays of these shapes broadcast to, if they do."""
    return tuple(map(max, zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)))[::-1]


def _elements(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, list | tuple | dict):
        return sum(map(_elements, value.values() if isinstance(value, dict) else value))
    if isinstance(value, _FLAT):
        return len(value)
    return int(np.prod(value.shape)) if kind_of_table(value) else 1
