"""The arguments of a call, and which of their arrays it changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .wire import Decoder, Encoder
from .wire_plain import opaque_tree
from .wire_tables import is_pandas, same_parts, to_parts

__all__ = ["ArgumentTracker"]

_allclose, _ndarray = np.allclose, np.ndarray  # a student's code may replace NumPy's own


class ArgumentTracker:
    """Makes the arguments of a call; afterwards it names those that the call changed: arrays, and what can hold items."""

    def __init__(self, decode: Decoder) -> None:
        self._decode = decode
        self._watched: list[tuple[str, Any, list[Any], Any]] = []

    def arguments(self, args: list[Any], kwargs: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The positional arguments and the named ones that the trees describe."""
        positional = [self._argument(str(place), tree) for place, tree in enumerate(args)]
        return positional, {key: self._argument(key, tree) for key, tree in kwargs}

    def _argument(self, label: str, tree: Any) -> Any:
        known = len(self._decode.originals)
        value = self._decode(tree)
        if type(value) in _MAY_CHANGE or is_pandas(value):
            self._watched.append((label, value, self._decode.originals[known:], tree))
        return value

    def changed(self) -> list[str]:
        """The labels (positions or keywords) of what differs from before: arrays at rtol 1e-5, atol 1e-6."""
        return [
            label
            for label, value, originals, tree in self._watched
            if not (_same_arrays(value, originals) and _same_parts(value, tree))
        ]


_MAY_CHANGE = (_ndarray, list, tuple, dict, set, bytearray)


def _same_parts(value: Any, tree: Any) -> bool:
    """Whether a value, its numeric arrays aside, is still what ``tree`` describes."""
    tag = tree[0] if type(tree) is list else ""
    if tag in ("a", "v", "g", "s", "r", "n"):
        return True
    if tag == "d":
        if type(value) is not dict or len(value) != len(tree) - 1:
            return False
        trees = {_key(pair[0]): pair[1] for pair in tree[1:]}
        return all(_key(_tree_of(k)) in trees and _same_parts(v, trees[_key(_tree_of(k))]) for k, v in value.items())
    if tag in ("l", "t"):
        same = type(value) is (list if tag == "l" else tuple) and len(value) == len(tree) - 1
        return same and all(map(_same_parts, value, tree[1:]))
    return _key(_tree_of(value)) == _key(tree)


def _tree_of(value: Any) -> Any:
    return Encoder(opaque_tree, 1 << 24)(value)


_key = repr  # of a tree: 1, 1.0 and True are three things, and NaN is itself


def _same_arrays(value: Any, before: list[Any]) -> bool:
    now = list(_arrays_in(value))
    return len(now) == len(before) and all(map(_same_array, now, before))


def _arrays_in(value: Any) -> Any:
    if type(value) is _ndarray:
        if value.dtype.kind in "biufcO":  # an array of texts or dates is compared as one part
            yield value
    elif type(value) in (list, tuple):
        for item in value:
            yield from _arrays_in(item)
    elif type(value) is dict:
        for item in value.values():
            yield from _arrays_in(item)
    elif is_pandas(value):
        yield value


def _same_array(now: Any, before: Any) -> bool:
    if type(before) is tuple:  # the parts of a table
        return is_pandas(now) and same_parts(to_parts(now), before)
    if now.shape != before.shape or now.dtype != before.dtype:
        return False
    return now.tobytes() == before.tobytes() or bool(_allclose(now, before, rtol=1e-5, atol=1e-6, equal_nan=True))
