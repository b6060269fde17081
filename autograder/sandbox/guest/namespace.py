"""The names that a notebook made: looked up, and exchanged for others wherever they were kept."""

from __future__ import annotations

import contextlib
import unicodedata
from functools import partial
from types import FunctionType
from typing import Any

__all__ = ["look_up", "rebind", "redefine"]

_exec, _compile = exec, compile


def look_up(namespace: dict[str, Any], name: str) -> Any:
    """The value of a name; raises ``NameError`` where the notebook has none."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)  # as Python reads the names in source text
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined")
    return namespace[name]


def redefine(namespace: dict[str, Any], before: dict[str, Any], sources: list[list[str]]) -> None:
    """Let names be what the notebook made them, which ``before`` holds, and then those in ``sources`` what they define."""
    for name, now in list(namespace.items()):
        was = before.get(name)
        if now is not was and type(now) is FunctionType and type(was) is FunctionType:
            rebind(namespace, name, was)
    namespace.update(before)
    for name in [name for name in namespace if name not in before]:
        del namespace[name]
    for name, source in sources:
        old = namespace.get(name)
        place = old.__code__.co_filename if type(old) is FunctionType else "<edited>"
        _exec(_compile(source, place, "exec", dont_inherit=True), namespace)
        new, namespace[name] = namespace[name], old
        rebind(namespace, name, new)


def rebind(namespace: dict[str, Any], name: str, new: Any) -> None:
    """Let ``name`` be ``new``, also where the old one was kept under another name, as a default, in a ``partial``, or enclosed."""
    old = namespace.get(name)
    namespace[name] = new
    if type(old) is not FunctionType:  # NumPy's own, say, may be meant for something else elsewhere
        return

    def swapped(value: Any) -> Any:
        if value is old:
            return new
        if type(value) is partial and value.func is old:
            return partial(new, *value.args, **value.keywords)
        return value

    for key, value in list(namespace.items()):
        namespace[key] = swapped(value)
        if type(value) is FunctionType:
            if value.__defaults__:
                value.__defaults__ = tuple(map(swapped, value.__defaults__))
            if value.__kwdefaults__:
                value.__kwdefaults__ = {word: swapped(default) for word, default in value.__kwdefaults__.items()}
            for cell in value.__closure__ or ():
                with contextlib.suppress(ValueError):  # nothing has been put into that cell yet
                    cell.cell_contents = swapped(cell.cell_contents)
