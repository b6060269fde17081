"""Create the arguments of a call, and report which of them the call changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .wire import Decoder, Encoder
from .wire_limits import Json, Value
from .wire_plain import opaque_tree
from .wire_tables import is_pandas, same_parts, to_parts

__all__ = ["ArgumentTracker"]

_allclose, _ndarray = np.allclose, np.ndarray  # saved here, because student code may replace them in NumPy


class ArgumentTracker:
    """The arguments of one call, and a record of the arrays and containers in them to detect changes."""

    def __init__(self, decode: Decoder) -> None:
        self._decode = decode
        self._watched: list[tuple[str, Value, list[Value], Json]] = []

    def arguments(self, args: list[Json], kwargs: list[Json]) -> tuple[list[Value], dict[str, Value]]:
        """Return the positional and keyword arguments that the trees describe. ``["=", 0]`` means the first argument itself."""
        positional: list[Value] = []
        for place, tree in enumerate(args):
            if type(tree) is list and tree[0] == "=":
                positional.append(positional[tree[1]])
                self._watched += [(str(place), *watched) for label, *watched in self._watched if label == str(tree[1])]
            else:
                positional.append(self._argument(str(place), tree))
        return positional, {key: self._argument(key, tree) for key, tree in kwargs}

    def _argument(self, label: str, tree: Json) -> Value:
        known = len(self._decode.originals)
        value = self._decode(tree)
        if type(value) in _MAY_CHANGE or is_pandas(value):
            self._watched.append((label, value, self._decode.originals[known:], tree))
        return value

    def changed(self, result: Value) -> list[str]:
        """Return the positions or keywords of changed arguments. Arrays that are the result or one of its parts follow, with "=" in front.

        Rounding in the last digits of an array does not count as a change.
        """
        changed = [label for label, *watched in self._watched if not _same(*watched)]
        parts = result if type(result) is tuple else (result,)
        arrays = ((label, value) for label, value, *_ in self._watched if type(value) is _ndarray)
        same = [label for label, value in arrays if any(value is part for part in parts)]
        return [*changed, *("=" + label for label in same)]


_MAY_CHANGE = (_ndarray, list, tuple, dict, set, bytearray)


def _same_parts(value: Value, tree: Json) -> bool:
    """Return whether ``value`` still matches ``tree``. Numeric arrays are not compared."""
    tag = tree[0] if type(tree) is list else ""
    if tag in ("a", "v", "F", "R", "g", "s", "r", "n"):
        return True
    if tag == "d":
        if type(value) is not dict or len(value) != len(tree) - 1:
            return False
        # The order of the keys counts, too.
        pairs = zip(value.items(), tree[1:], strict=True)
        return all(_key(_tree_of(k)) == _key(pair[0]) and _same_parts(v, pair[1]) for (k, v), pair in pairs)
    if tag in ("l", "t"):
        same = type(value) is (list if tag == "l" else tuple) and len(value) == len(tree) - 1
        return same and all(map(_same_parts, value, tree[1:]))
    return _key(_tree_of(value)) == _key(tree)


def _tree_of(value: Value) -> Json:
    return Encoder(opaque_tree, 1 << 24)(value)


_key = repr  # the key of a tree: 1, 1.0 and True have different keys, and NaN always has the same


def _same(value: Value, before: list[Value], tree: Json) -> bool:
    now = list(_arrays_in(value))
    return len(now) == len(before) and all(map(_same_array, now, before)) and _same_parts(value, tree)


def _arrays_in(value: Value) -> Iterator[Value]:
    if type(value) is _ndarray:
        if value.dtype.kind in "biufcO":  # arrays of strings or dates are compared as a whole
            yield value
    elif type(value) in (list, tuple, dict):
        for item in value.values() if type(value) is dict else value:
            yield from _arrays_in(item)
    elif is_pandas(value):
        yield value


def _same_array(now: Value, before: Value) -> bool:
    if type(before) is tuple:  # the parts of a table
        return is_pandas(now) and same_parts(to_parts(now), before)
    if now.shape != before.shape or now.dtype != before.dtype:
        return False
    return now.tobytes() == before.tobytes() or bool(_allclose(now, before, rtol=1e-12, atol=1e-15, equal_nan=True))
