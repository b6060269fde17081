"""Edits of programs that work on texts, lists and dictionaries, beside the slips: what else may stand there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.mistakes.edits.operators import Change, Scope, operator
from autograder.mistakes.edits.plain_slips import (
    GROUPS,
    TEXTS_ONLY,
    method_of,
    plain_slips,
    with_arguments,
    with_method,
)

__all__ = ["missing_text_step", "other_constant_text", "other_container", "other_plain_method"]

_STEPS = ("lower", "strip", "upper", "casefold", "split", "title")
_MARKS = ".,;:!?\"'()-"
_CONTAINERS = ("sorted", "set", "list", "tuple", "len", "sum", "reversed", "str", "int", "float", "max", "min", "dict")


@operator
def other_plain_method(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Another method of a text, a list or a dictionary, another separator, a default more or less."""
    for other, kind in plain_slips(node):
        yield Change(other, kind, 1.0)
    name, of = method_of(node)
    if of is None or not isinstance(node, ast.Call):
        return
    for group in GROUPS:
        for method in group if name in group else ():
            if method != name:
                yield Change(with_method(node, method), "function", 1.1)
    if name == "split":
        for separator in (" ", ",", "\n", "\t", ";", ":"):
            yield Change(with_arguments(node, [ast.Constant(separator)]), "text", 1.2)
    elif name in ("strip", "lstrip", "rstrip"):
        yield Change(with_arguments(node, [ast.Constant(_MARKS)]), "text", 1.2)
    elif name == "get" and node.args:
        for default in (0, 1, "", None):
            yield Change(with_arguments(node, [node.args[0], ast.Constant(default)]), "number", 1.1)
        yield Change(with_arguments(node, [node.args[0], ast.List([], ast.Load())]), "missing", 1.3)


@operator
def missing_text_step(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """A text in small letters, without white space or marks at its ends, or in words, where it is taken as it is."""
    name, of = method_of(node)
    text_call = of is not None and name in TEXTS_ONLY
    if text_call and isinstance(node, ast.Call) and of is not None and not isinstance(of, ast.Constant):
        for step in _STEPS[:4]:  # before what is done now
            inner = ast.Call(ast.Attribute(of, step, ast.Load()), [], [])
            func = ast.Attribute(inner, name, ast.Load())
            yield Change(ast.Call(func, node.args, node.keywords), "missing", 1.2)
    if text_call or (scope.texts and isinstance(node, ast.Name) and node.id in scope.variables):
        for step in _STEPS:
            yield Change(ast.Call(ast.Attribute(node, step, ast.Load()), [], []), "missing", 1.3)
        stripped = ast.Call(ast.Attribute(node, "strip", ast.Load()), [ast.Constant(_MARKS)], [])
        yield Change(stripped, "missing", 1.4)
        yield Change(
            ast.Subscript(node, ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1))), ast.Load()),
            "order",
            1.6,
        )


@operator
def other_container(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Sorted, each once, as a list, as a text: a step around a value that is missing, in a program about texts or dictionaries."""
    if not scope.texts:
        return
    if isinstance(node, ast.Name | ast.Call | ast.ListComp | ast.SetComp | ast.Subscript):
        for function in _CONTAINERS:
            yield Change(ast.Call(ast.Name(function, ast.Load()), [node], []), "missing", 1.5)
    if isinstance(node, ast.ListComp):
        yield Change(ast.SetComp(node.elt, node.generators), "expression", 1.1)
    elif isinstance(node, ast.SetComp):
        yield Change(ast.ListComp(node.elt, node.generators), "expression", 1.1)
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp) and any(part.ifs for part in node.generators):
        bare = [ast.comprehension(part.target, part.iter, [], part.is_async) for part in node.generators]
        yield Change(type(node)(node.elt, bare), "condition", 1.1)


@operator
def other_constant_text(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Another separator, and a text with a space more or less."""
    if scope.texts and isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= 20:
        text = node.value
        for other in dict.fromkeys(
            [
                text.strip(),
                f"{text} ",
                f" {text}",
                text.lower(),
                text.upper(),
                "",
                " ",
                "\n",
                ", ",
                ",",
                ".",
                "-",
                "_",
                ":",
                "; ",
            ]
        ):
            if other != text:
                yield Change(ast.Constant(other), "text", 1.1)
