"""Arrays as people read them: short where long would not help, and ready to paste.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.sandbox.guest.wire_tables import is_pandas
from autograder.values.table_text import paste_table, rows_around, show_table
from autograder.values.text import PLAIN, described, source, text_excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["difference", "paste", "shape_words", "show", "show_apart"]

MAX_ITEMS = 48
MAX_TEXT = 400  # characters of one text
MAX_SHOWN = 4000  # and of a value in all: lists of lists multiply
MAX_DEPTH = 6


def shape_words(shape: tuple[int, ...]) -> str:
    """``(2, 3)`` as it is said: ``shape (2, 3)``; a single number has none."""
    return f"shape {tuple(int(n) for n in shape)}" if shape else "a single number"


def show(value: Any, digits: int = 4) -> str:
    """A value as a student reads it in a message: rounded to ``digits`` significant digits, cut when long."""
    shown = ""
    for piece in _pieces(value, digits, 0):
        shown += piece
        if len(shown) > MAX_SHOWN:
            return shorten(shown, MAX_SHOWN)
    return shown


def _pieces(value: Any, digits: int, depth: int) -> Iterator[str]:
    if is_pandas(value):
        yield show_table(value, digits)
    elif isinstance(value, tuple | list | dict):
        if len(value) > MAX_ITEMS:
            yield f"a {getattr(value, 'type', type(value).__name__)} of {len(value)} items"
        elif depth >= MAX_DEPTH:
            yield "…"
        else:
            opening, closing = "{}" if isinstance(value, dict) else "()" if isinstance(value, tuple) else "[]"
            if isinstance(value, Iterated):
                opening, closing = f"a {value.type} that gives [", ", …]" if value.more else "]"
            yield opening
            for place, key in enumerate(value):
                yield ", " if place else ""
                yield f"{shorten(repr(key), MAX_TEXT)}: " if isinstance(value, dict) else ""
                yield from _pieces(value[key] if isinstance(value, dict) else key, digits, depth + 1)
            yield closing
    else:
        yield _leaf(value, digits)


def _leaf(value: Any, digits: int) -> str:
    if isinstance(value, (*PLAIN, np.datetime64, np.timedelta64)):
        return shorten(source(value), MAX_TEXT)
    if isinstance(value, np.ndarray) and value.ndim:
        if value.size > MAX_ITEMS:
            return f"an array of {shape_words(value.shape)} that starts {_numbers(value.ravel()[:4], digits)[:-1]}, …]"
        return _numbers(value, digits)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, np.ndarray | np.generic | float | complex):
        number = np.asarray(value)[()]
        return f"{number + 0.0:.{digits}g}" if number.dtype.kind in "fc" else str(number)  # + 0.0 turns -0 into 0
    if isinstance(value, str | int) or value is None:
        return shorten(repr(value), MAX_TEXT)
    kind = value.type if hasattr(value, "type") else type(value).__name__
    return f"a {kind}" if kind.strip() else "a value of a type without a name"


def show_apart(found: Any, expected: Any) -> tuple[str, str]:
    """Both as ``show`` has them, with as many digits as it takes to tell them apart: what looks the same is no difference."""
    written = _around_the_difference(found, expected) or rows_around(found, expected) or show
    pairs = ((written(found, digits), written(expected, digits)) for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (written(found, 4), written(expected, 4)))


def _around_the_difference(found: Any, expected: Any) -> Callable[[Any, int], str] | None:
    """What writes four numbers of a long array, where it is furthest from another; None where the first four tell the two apart.

    Of two long texts, a few characters where they first differ.
    """
    if isinstance(found, str) and isinstance(expected, str) and max(len(found), len(expected)) > MAX_TEXT:
        first, second, begin = text_excerpt(found, expected)
        return lambda value, _digits: f"{first if value is found else second} (from character {max(1, begin - 12)} on)"
    both = isinstance(found, np.ndarray) and isinstance(expected, np.ndarray) and found.shape == expected.shape
    if not both or found.size <= MAX_ITEMS or found.dtype.kind not in "iuf" or expected.dtype.kind not in "iuf":
        return None
    if not np.array_equal(found.ravel()[:4], expected.ravel()[:4]):
        return None
    with np.errstate(all="ignore"):
        apart = np.abs(found.astype(np.float64) - expected)
    *rows, column = map(int, np.unravel_index(np.nan_to_num(apart, nan=np.inf).argmax(), found.shape))
    first = max(0, min(column - 1, found.shape[-1] - 4))
    place = ", ".join(map(str, [*rows, first]))

    def write(value: Any, digits: int) -> str:
        some = _numbers(value[(*rows, slice(first, first + 4))], digits)
        return f"an array of {shape_words(value.shape)} that has {some} from index [{place}] on"

    return write


def paste(name: str, value: Any) -> str:
    """``name = …`` as a line of Python that a student can paste; large arrays are described instead.

    >>> paste("x", np.array([1.0, 2.5]))
    'x = np.array([1.0, 2.5])'
    """
    if isinstance(value, np.ndarray):
        if value.size > MAX_ITEMS:
            return f"{name} is an array of {shape_words(value.shape)}"
        dtype = "" if value.dtype in (np.float64, np.int64, np.bool_) else f", dtype=np.{value.dtype.name}"
        if value.dtype.kind in "UMm":
            return f"{name} = {source(value)}"
        if not value.size:
            return f"{name} = np.zeros({value.shape}{dtype})"  # brackets alone would not tell (0, 3) from (0, 5)
        body = repr(value.tolist())
        if value.dtype.kind in "fc":
            body = body.replace("nan", "np.nan").replace("inf", "np.inf")
        return f"{name} = np.array({body}{dtype})"
    if is_pandas(value):
        return paste_table(name, value)
    if (plain := described(value)) or isinstance(value, PLAIN):
        return f"{name} is {plain}" if plain else f"{name} = {source(value)}"
    if isinstance(value, dict) and any(isinstance(v, np.ndarray | dict) for v in value.values()):
        parts = ", ".join(f"{k!r}: {paste('', v).removeprefix(' = ').removeprefix(' is ')}" for k, v in value.items())
        return f"{name} = {{{parts}}}"
    if hasattr(value, "text") and hasattr(value, "name"):
        if not value.name:
            return str(value.text)  # lines as they are
        return value.text.strip() if value.text.lstrip().startswith("def") else f"{name} = {value.name}"
    if isinstance(value, np.generic):
        value = value.item()
    return f"{name} = {source(value)}"


def difference(found: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> str:
    """Where two arrays of equal shape first differ: ``at [1, 0]: 0.5 where 0.25 was expected``."""
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    count = int(wrong.sum())
    place = f"at index [{', '.join(map(str, where))}] it is" if where else "it is"
    more = "" if count == 1 else f" ({count} of {wrong.size} entries differ)"
    left, right = show_apart(found[where], expected[where])
    return f"{place} {left} where {right} is right{more}"


def _numbers(value: np.ndarray, digits: int) -> str:
    if value.dtype.kind == "b":
        return str(value.tolist())
    if value.dtype.kind not in "iufc":
        return shorten(str((value.astype(str) if value.dtype.kind in "Mm" else value).tolist()), MAX_TEXT)

    def write(items: Any) -> str:
        if isinstance(items, list):
            return "[" + ", ".join(write(i) for i in items) + "]"
        return f"{items + 0.0:.{digits}g}" if isinstance(items, float | complex) else str(items)

    return write(value.tolist())
