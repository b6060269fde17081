"""What is asked to see that a function has no side effects and no memory: calls, and the same again after others.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.checking.plain_text import PLAIN
from autograder.checking.tables import form_of
from autograder.judging.values import fingerprint, key_of
from autograder.sandbox.guest.wire_tables import is_pandas, kind_of_table
from autograder.sandbox.protocol import Call

__all__ = ["PurityProbe", "how_to_leave", "pairs_of"]

_ARRAYS = "Work on a new array; operations such as `x -= 1`, `x[...] = …`, `x.shape = …` and `out=` change the old one."
_CONTAINERS: dict[Any, str] = {
    list: "`list(x)` or `sorted(x)`; methods such as `x.sort()`, `x.append(…)` and `x.pop()`, `x += …`",
    dict: "`dict(x)`; methods such as `x.pop(…)`, `x.update(…)` and `x.setdefault(…)`, `del x[…]`",
    set: "`set(x)` or `x | …`; methods such as `x.add(…)`, `x.remove(…)` and `x.update(…)`, `x |= …`",
    bytearray: "`bytearray(x)`; methods such as `x.append(…)` and `x.extend(…)`, `x += …`",
}


def how_to_leave(changed: Sequence[Any]) -> str:
    """What a function does instead of changing these arguments: of a list, which methods change it."""
    kinds = {type(value) for value in changed}
    if len(kinds) == 1 and not any(map(_holds_arrays, changed)) and (text := _CONTAINERS.get(*kinds)):
        return f"Work on a new one, as from {text} and `x[…] = …` change the old one."
    return _ARRAYS


def _holds_arrays(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_arrays, value.values()))
    return isinstance(value, np.ndarray) or (isinstance(value, list | tuple) and any(map(_holds_arrays, value)))


@dataclass(frozen=True, slots=True)
class PurityProbe:
    """Two questions of one shape, and in which order they are asked after ``first``.

    ``apart``: the right answers to the two differ.
    """

    first: Call
    other: Call
    questions: Sequence[Call]
    apart: bool = False


def pairs_of(exercise: str, plan: list[Call], other: list[Call]) -> list[tuple[Call, Call]]:
    """Calls of one shape and different numbers: from the plan and its second drawing, the largest inputs first."""
    shapes: dict[Any, list[Call]] = {}
    for call in [*plan, *other]:
        if call.function == exercise and call.args and not call.measured:
            shapes.setdefault((call.probe, _form((call.args, dict(call.kwargs)))), []).append(call)
    pairs = []
    for calls in shapes.values():
        second = next((c for c in calls[1:] if key_of(c) != key_of(calls[0])), None)
        if second is not None:
            pairs.append((calls[0], second))
    pairs.sort(key=lambda pair: -len(str(fingerprint(pair[0].args))))
    if not pairs:
        # Nothing of one shape was drawn twice: the same arrays backwards serve, since answers are compared with themselves.
        # Where there are no arrays to turn, only whole numbers, some other call of the plan comes in between.
        own = [call for call in plan if call.function == exercise and not call.measured]
        pairs = [(call, _another(call, own)) for call in own]
    # What a probe looks at is dear to make: there, one small pair.
    return pairs[-1:] if pairs and pairs[0][0].probe else pairs[:3]


def _another(call: Call, calls: Sequence[Call]) -> Call:
    """A question other than ``call``: its arrays backwards, or else one of ``calls``; itself where there is none."""
    others = (c for c in (_backwards(call), *calls) if key_of(c) != key_of(call))
    return next(others, call)


def _backwards(call: Call) -> Call:
    def flipped(value: Any) -> Any:
        if kind_of_table(value) in ("DataFrame", "Series"):
            return value.iloc[::-1]
        return np.flip(value).copy() if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value

    return replace(call, args=tuple(map(flipped, call.args)), kwargs={k: flipped(v) for k, v in call.kwargs.items()})


def _form(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape)
    if isinstance(value, dict):
        return tuple((k, _form(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(_form(v) for v in value)
    if is_pandas(value):
        return form_of(value)
    # Another text, set or date may stand in the place of one; not another number, which may be a size or an axis.
    return type(value).__name__ if isinstance(value, PLAIN) else fingerprint(value)
