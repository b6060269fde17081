"""Look up the names that a notebook defined, and replace them everywhere they are referenced."""

from __future__ import annotations

import contextlib
import unicodedata
from functools import partial
from types import FunctionType

from .wire_limits import Value

__all__ = ["look_up", "rebind", "redefine"]

_exec, _compile = exec, compile


def look_up(namespace: dict[str, Value], name: str) -> Value:
    """Return the value of a name. Raises ``NameError`` if the notebook does not define it."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)  # as Python normalizes names in source code
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined")
    return namespace[name]


def redefine(namespace: dict[str, Value], before: dict[str, Value], sources: list[list[str]]) -> None:
    """Restore the notebook's own values from ``before``, then define the names in ``sources``."""
    for name, value in list(namespace.items()):
        original = before.get(name)
        if value is not original and type(value) is FunctionType and type(original) is FunctionType:
            rebind(namespace, name, original)
    namespace.update(before)
    for name in [name for name in namespace if name not in before]:
        del namespace[name]
    for name, source in sources:
        old = namespace.get(name)
        filename = old.__code__.co_filename if type(old) is FunctionType else "<edited>"
        _exec(_compile(source, filename, "exec", dont_inherit=True), namespace)
        new, namespace[name] = namespace[name], old
        rebind(namespace, name, new)


def rebind(namespace: dict[str, Value], name: str, new: Value) -> None:
    """Bind ``name`` to ``new``. A function is also replaced in other names, defaults, ``partial`` objects and closures."""
    old = namespace.get(name)
    namespace[name] = new
    if type(old) is not FunctionType:  # a NumPy function, for example, may have other names that must stay unchanged
        return

    def replaced(value: Value) -> Value:
        if value is old:
            return new
        if type(value) is partial and value.func is old:
            return partial(new, *value.args, **value.keywords)
        return value

    for key, value in list(namespace.items()):
        namespace[key] = replaced(value)
        if type(value) is FunctionType:
            if value.__defaults__:
                value.__defaults__ = tuple(map(replaced, value.__defaults__))
            if value.__kwdefaults__:
                value.__kwdefaults__ = {word: replaced(default) for word, default in value.__kwdefaults__.items()}
            for cell in value.__closure__ or ():
                with contextlib.suppress(ValueError):  # the cell is still empty
                    cell.cell_contents = replaced(cell.cell_contents)
