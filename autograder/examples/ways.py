"""Solutions as a student reads them: the source of a function under the exercise's own name, its docstring left out."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from textwrap import dedent
from typing import Any

__all__ = ["as_written"]


def as_written(function: Callable[..., Any], exercise: str) -> str:
    """The source of ``function`` as the solution of ``exercise``; empty where it has none."""
    try:
        source = dedent(inspect.getsource(function))
        [node] = ast.parse(source).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return ""
    if isinstance(node, ast.ClassDef):
        return _class_as_written(function, node, exercise)
    if not isinstance(node, ast.FunctionDef):
        return ""
    lines = source.splitlines()
    first, *rest = node.body
    gone = (
        range(first.lineno - 1, first.end_lineno or first.lineno)
        if ast.get_docstring(node) is not None and rest
        else range(0)
    )
    kept = [line for number, line in enumerate(lines) if number >= node.lineno - 1 and number not in gone]
    while len(kept) > 1 and not kept[1].strip():  # an empty line below the docstring
        del kept[1]
    # A function of an earlier chapter is known to a student by its own name.
    for name in function.__code__.co_names:
        meant = function.__globals__.get(name)
        if inspect.isfunction(meant) and meant.__module__.startswith("solutions.") and meant.__name__ != name:
            kept = [re.sub(rf"\b{name}\b(?=\()", meant.__name__, line) for line in kept]
    # The name stands once on the line of the def; a function that calls itself does so by the exercise's name.
    renamed = [_named(line, function.__name__, exercise) for line in kept]
    return "\n".join(renamed).rstrip()


def _class_as_written(cls: Callable[..., Any], node: ast.ClassDef, exercise: str) -> str:
    """The source of a class, its own docstring left out; those of its methods say what each is for."""
    if any(str(base.__module__).startswith("solutions") for base in getattr(cls, "__bases__", ())):
        return ""  # written as a change of another class, which a student does not have
    node.decorator_list = [mark for mark in node.decorator_list if ast.unparse(mark).startswith("dataclass")]
    if ast.get_docstring(node) is not None and len(node.body) > 1:
        node.body = node.body[1:]
    renamed = re.sub(rf"\b{re.escape(node.name)}\b", exercise, ast.unparse(node))
    return renamed.replace(":\n\n    def ", ":\n    def ", 1)


def _named(line: str, name: str, exercise: str) -> str:
    return line.replace(f"{name}(", f"{exercise}(") if name != exercise else line
