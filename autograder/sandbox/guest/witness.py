"""The arguments of a call, and which of their arrays it changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .wire import Decoder
from .wire_tables import apart, is_pandas, same_parts

__all__ = ["Witness"]

_allclose, _ndarray = np.allclose, np.ndarray  # a student's code may replace NumPy's own


class Witness:
    """Makes the arguments of a call; afterwards it names those whose arrays, also inside lists and dicts, the call changed."""

    def __init__(self, decode: Decoder) -> None:
        self._decode = decode
        self._watched: list[tuple[str, Any, list[Any]]] = []

    def arguments(self, args: list[Any], kwargs: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The positional arguments and the named ones that the trees describe."""
        positional = [self._argument(str(place), tree) for place, tree in enumerate(args)]
        return positional, {key: self._argument(key, tree) for key, tree in kwargs}

    def _argument(self, label: str, tree: Any) -> Any:
        known = len(self._decode.originals)
        value = self._decode(tree)
        if type(value) in _MAY_HOLD_ARRAYS or is_pandas(value):
            self._watched.append((label, value, self._decode.originals[known:]))
        return value

    def changed(self) -> list[str]:
        """The labels (positions or keywords) whose arrays differ from before at rtol 1e-5, atol 1e-6."""
        return [label for label, value, originals in self._watched if not _same_arrays(value, originals)]


_MAY_HOLD_ARRAYS = (_ndarray, list, tuple, dict)


def _same_arrays(value: Any, before: list[Any]) -> bool:
    now = list(_arrays_in(value))
    return len(now) == len(before) and all(map(_same_array, now, before))


def _arrays_in(value: Any) -> Any:
    if type(value) is _ndarray:
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
        return is_pandas(now) and same_parts(apart(now), before)
    if now.shape != before.shape or now.dtype != before.dtype:
        return False
    return now.tobytes() == before.tobytes() or bool(_allclose(now, before, rtol=1e-5, atol=1e-6, equal_nan=True))
