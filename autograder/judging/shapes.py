"""What does not fit in a product or a transposition: which sizes, and what would fit, as far as the line shows it.

Shapes are those of the names in the line that raised, as they were at that moment. NumPy-free: the standard library only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import partial

__all__ = ["fixed_axes", "product", "shapes_in", "these_shapes"]

Shape = tuple[int, ...]

_ONE = re.compile(r"(?P<name>\w+) \((?P<sizes>[\d, ]*)\)")


def shapes_in(text: str) -> dict[str, Shape]:
    """The shapes that ``StudentError.shapes`` tells, by name.

    >>> shapes_in("Q (2, 3), v (5,)")
    {'Q': (2, 3), 'v': (5,)}
    """
    return {found["name"]: tuple(map(int, re.findall(r"\d{1,9}", found["sizes"]))) for found in _ONE.finditer(text)}


def these_shapes(shapes: Mapping[str, Shape]) -> str:
    """A sentence that tells the shapes; "" where none is known."""
    told = [
        f"`{name}` has shape {shape}" if shape else f"`{name}` is a single number" for name, shape in shapes.items()
    ]
    return f" Here {' and '.join([', '.join(told[:-1]), told[-1]] if len(told) > 1 else told)}." if told else ""


def product(left: str, right: str, line: str, shapes: Mapping[str, Shape]) -> str:
    """Why ``@`` does not multiply: the two sizes, the shapes that are known, and only what would fit."""
    return (
        f"`@` sums over the last axis of its left side, here of size {left}, and the second-to-last of its right side (the only "
        f"one of a vector), here of size {right}: they must be equal.{these_shapes(shapes)} {_what_fits(line, shapes)}"
    )


def fixed_axes(line: str, shapes: Mapping[str, Shape]) -> str:
    """Why ``transpose`` refuses its list of axes, and how the two that it exchanges are called from the end."""
    text = f"`transpose` was given a list of axes that is not as long as the array has axes.{these_shapes(shapes)}"
    listed = re.search(r"transpose\(\D*((?:\d+\s*,\s*)+\d+)\s*,?\s*\)", line)
    axes = [int(axis) for axis in listed[1].split(",")] if listed else []
    moved = [place for place, axis in enumerate(axes) if place != axis]
    if sorted(axes) != list(range(len(axes))) or len(moved) != 2:
        return f"{text} Which axes does it have just before this line?"
    last, first = (place - len(axes) for place in reversed(moved))
    return (
        f"{text} Your list exchanges the axes {last} and {first}, counted from the end: `swapaxes` does that for two axes that you name, "
        "whatever stands before them. Where the array lacks one of the axes, that is to be mended first."
    )


def _what_fits(line: str, shapes: Mapping[str, Shape]) -> str:
    ask = "What does each of these two axes count: positions, or the entries of one vector?"
    sides = _sides(line, shapes)
    if sides is None:
        return ask
    (left, one), (right, other) = sides
    if (found := _turned_round(left, right, shapes)) and one[-1] != other[-2]:
        return found
    if len(one) < 2 or len(other) < 2:
        return ask
    # Each of these products would run as far as the two axes go that are summed over.
    fits = {
        f"with the last two axes of `{right}` exchanged": one[-1] == other[-1],
        f"with the last two axes of `{left}` exchanged": one[-2] == other[-2],
        "with the two sides exchanged": other[-1] == one[-2],
    }
    would = [how for how, fit in fits.items() if fit]
    if not would:
        return f"{ask} No exchange of axes or sides makes them fit."
    return f"The sizes would fit {', or '.join(would)}. {ask}"


def _turned_round(left: str, right: str, shapes: Mapping[str, Shape]) -> str:
    """What ``.T`` did, where it turned batch axes round as well and turning the last two alone would fit."""
    name = right.removesuffix(".T")
    if name == right or len(shapes[name]) < 3 or left not in shapes or shapes[left][-1:] != shapes[name][-1:]:
        return ""
    return (
        f"`.T` turns all the axes of `{name}` round, {shapes[name]} becomes {shapes[name][::-1]}; "
        "the sizes would fit with the last two exchanged and those in front left where they are."
    )


def _sides(line: str, shapes: Mapping[str, Shape]) -> tuple[tuple[str, Shape], tuple[str, Shape]] | None:
    """Both sides of the one ``@`` in the line, as they are written and with their shapes; None where that is not known."""
    try:
        tree = ast.parse(line.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    products = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult)]
    if len(products) != 1:
        return None
    found = [*filter(None, map(partial(_side, shapes=shapes), (products[0].left, products[0].right)))]
    return (found[0], found[1]) if len(found) == 2 else None


def _side(node: ast.expr, shapes: Mapping[str, Shape]) -> tuple[str, Shape] | None:
    turned = isinstance(node, ast.Attribute) and node.attr == "T"
    name = node.value if isinstance(node, ast.Attribute) and turned else node
    if not isinstance(name, ast.Name) or not shapes.get(name.id):
        return None
    shape = shapes[name.id]
    return (f"{name.id}.T", shape[::-1]) if turned else (name.id, shape)
