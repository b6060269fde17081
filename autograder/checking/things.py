"""Objects of a student's classes as a check has them: whatever is asked of one is a step, taken where the object lives.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from autograder.sandbox.protocol import Opaque

__all__ = ["Asked", "Thing", "asked_of", "change", "holds_things", "is_mutable", "plainly", "state_of"]


class Asked(Protocol):
    """Who takes the steps of a ``Thing``."""

    @property
    def opaque(self) -> Opaque:
        """What is known of the object itself: the name of its type."""

    @property
    def is_new(self) -> bool:
        """Whether the check has made it by the name of its class."""

    def step(
        self,
        do: str,
        name: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        swapped: bool = False,
    ) -> Any:
        """What one step gives; raises where it fails. ``swapped``: the object is the right operand."""

    def is_method(self, name: str) -> bool:
        """Whether a right object has a method called ``name``, and no attribute that is a value."""


class Thing:
    """An object of a student's class: methods, attributes and operators of it are asked of the student.

    It is compared, indexed and looped over as the object itself; only ``is`` and ``isinstance`` tell the two apart.
    """

    __slots__ = ("__asked", "__weakref__")
    __hash__ = object.__hash__
    __array_ufunc__ = None  # an array on the left leaves an operator to this class

    def __init__(self, asked: Asked) -> None:
        object.__setattr__(self, "_Thing__asked", asked)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)  # of protocols such as NumPy's and copy's, which look for themselves
        asked = asked_of(self)
        if asked.is_method(name):
            return lambda *args, **kwargs: asked.step("call", name, args, kwargs)
        return asked.step("get", name)

    def __setattr__(self, name: str, value: Any) -> None:
        asked_of(self).step("set", name, (value,))

    def __iter__(self) -> Iterator[Any]:
        items = asked_of(self).step("use", "list")
        _looped[0] = (id(self), *_instruction(), len(items))
        return iter(items)

    def __len__(self) -> int:
        *at, count = _looped[0] or (0, 0, 0, 0)
        if at == [id(self), *_instruction()]:
            return int(
                count
            )  # `list(thing)` asks how long it will be once it has looped: that is no step of the check's
        return asked_of(self).step("use", "len")  # type: ignore[no-any-return]

    def __reversed__(self) -> Iterator[Any]:
        return iter(asked_of(self).step("use", "reversed"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the object gives where it is called as a function."""
        return asked_of(self).step("use", "call", args, kwargs)

    def __enter__(self) -> Any:
        return asked_of(self).step("use", "with")

    def __exit__(self, *_error: object) -> None:
        asked_of(self).step("use", "leave")


_looped: list[Any] = [None]


def _instruction() -> tuple[int, int]:
    """Where the check is that a method of a ``Thing`` was called by."""
    frame = sys._getframe(2)  # noqa: SLF001 - nothing else tells an operator's caller
    return id(frame), frame.f_lasti


def asked_of(thing: Thing) -> Asked:
    """Who takes the steps of ``thing``."""
    return object.__getattribute__(thing, "_Thing__asked")  # type: ignore[no-any-return]


def plainly(value: Any) -> Any:
    """``value``, or where it is an object of a student's class, what is known of it without asking."""
    return asked_of(value).opaque if isinstance(value, Thing) else value


def holds_things(values: Iterable[Any]) -> bool:
    """Whether an object is among ``values``, or in a list or a tuple that is."""
    return any(isinstance(v, Thing) or (isinstance(v, list | tuple) and holds_things(v)) for v in values)


def is_mutable(value: Any) -> bool:
    """Whether a caller can change ``value`` after it was given: a list, a dict, a set or an array, and no object in it."""
    return isinstance(value, list | dict | set | np.ndarray) and not holds_things([value])


def state_of(value: Any) -> Any:
    """What a value holds: equal only for two that hold the same."""
    if isinstance(value, list | tuple):
        return type(value), tuple(map(state_of, value))
    if isinstance(value, dict):
        return dict, tuple((key, state_of(part)) for key, part in value.items())
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return type(value), frozenset(value) if isinstance(value, set) else repr(value)


def change(value: Any, new: Any) -> None:
    """Let ``value`` hold what ``new`` holds."""
    if isinstance(value, list):
        value[:] = new
    elif isinstance(value, np.ndarray):
        value[...] = new
    else:
        value.clear()
        value.update(new)


def _operator(name: str, *, swapped: bool = False) -> Callable[..., Any]:
    def ask(self: Thing, *args: Any) -> Any:
        return asked_of(self).step("use", name, args, swapped=swapped)

    return ask


_ALONE = {
    "str": "str", "repr": "repr", "bool": "bool", "int": "int", "float": "float", "next": "next", "neg": "-x",
    "pos": "+x", "invert": "~x", "abs": "abs", "contains": "in", "getitem": "[]", "setitem": "[]=", "delitem": "del[]",
    "format": "format", "round": "round", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ior": "|=", "iand": "&=",
}  # fmt: skip
_EITHER = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "and": "&",
    "or": "|", "xor": "^", "divmod": "divmod",
}  # fmt: skip
for _word, _sign in _ALONE.items():
    setattr(Thing, f"__{_word}__", _operator(_sign))
for _word, _sign in _EITHER.items():
    setattr(Thing, f"__{_word}__", _operator(_sign))
    setattr(Thing, f"__r{_word}__", _operator(_sign, swapped=True))
