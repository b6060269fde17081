"""Slips in programs that work on texts, lists and dictionaries: another method, another separator, a default left out.

They are looked for where a program calls a method that arrays do not have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["GROUPS", "TEXTS_ONLY", "method_of", "plain_slips", "with_arguments", "with_method"]

_TAKEN_FOR = {
    "lower": "upper", "upper": "lower", "lstrip": "rstrip", "rstrip": "lstrip", "strip": "lstrip", "startswith": "endswith",
    "endswith": "startswith", "isalpha": "isalnum", "isalnum": "isalpha", "isdigit": "isalnum", "capitalize": "title",
    "title": "capitalize", "append": "extend", "extend": "append", "keys": "values", "rfind": "find", "rsplit": "split",
    "removeprefix": "removesuffix", "removesuffix": "removeprefix", "union": "intersection", "intersection": "union",
    "issubset": "issuperset", "issuperset": "issubset", "casefold": "upper",
}  # fmt: skip
GROUPS = (
    ("lower", "upper", "casefold", "title", "capitalize", "swapcase"), ("strip", "lstrip", "rstrip"), ("find", "rfind", "index"),
    ("startswith", "endswith"), ("isalpha", "isalnum", "isdigit", "isspace", "isupper", "islower"), ("append", "extend"),
    ("keys", "values", "items"), ("split", "rsplit", "splitlines"), ("removeprefix", "removesuffix", "strip"), ("remove", "discard", "pop"),
    ("union", "intersection", "difference", "symmetric_difference"), ("issubset", "issuperset", "isdisjoint"), ("get", "setdefault", "pop"),
    ("ljust", "rjust", "center"), ("replace", "strip"), ("count", "find"), ("isoformat", "strftime"), ("weekday", "isoweekday"),
)  # fmt: skip
TEXTS_ONLY = frozenset(
    {
        "lower",
        "upper",
        "casefold",
        "title",
        "capitalize",
        "swapcase",
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "rsplit",
        "splitlines",
        "join",
    }
    | {
        "startswith",
        "endswith",
        "isalpha",
        "isalnum",
        "isdigit",
        "isspace",
        "isupper",
        "islower",
        "replace",
        "removeprefix",
        "removesuffix",
    }
)
_SEPARATORS = {"": " ", " ": "", ", ": ",", ",": ", ", "\n": " "}


def plain_slips(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """What a tired person may write in a node's place, and the kind of slip that it is."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            if isinstance(op, ast.In | ast.NotIn):
                other: ast.cmpop = ast.NotIn() if isinstance(op, ast.In) else ast.In()
                ops = [*node.ops[:place], other, *node.ops[place + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators), "comparison"
    elif isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        yield ast.FormattedValue(node.value, node.conversion, None), "text"
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name) and node.func.id == "sorted" and all(k.arg != "reverse" for k in node.keywords):
        yield (
            ast.Call(node.func, node.args, [*node.keywords, ast.keyword("reverse", ast.Constant(value=True))]),
            "order",
        )
    name, of = method_of(node)
    if of is None:
        return
    if name in _TAKEN_FOR:
        yield with_method(node, _TAKEN_FOR[name]), "function"
    if name in ("split", "rsplit") and not node.args and not node.keywords:
        yield with_arguments(node, [ast.Constant(" ")]), "text"
    elif name in ("split", "rsplit", "strip", "lstrip", "rstrip") and len(node.args) == 1:
        yield with_arguments(node, []), "text"
    if name == "get" and len(node.args) == 2:
        yield with_arguments(node, node.args[:1]), "missing"
    if name == "join" and isinstance(of, ast.Constant) and isinstance(of.value, str):
        yield (
            ast.Call(ast.Attribute(ast.Constant(_SEPARATORS.get(of.value, "")), "join", ast.Load()), node.args, []),
            "text",
        )


def method_of(node: ast.expr) -> tuple[str, ast.expr | None]:
    """The name of a method that is called, and what it is called on; None where ``node`` is no such call, or one of NumPy's."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return "", None
    of = node.func.value
    is_module = isinstance(of, ast.Name) and of.id in {"np", "numpy", "math"}
    return (node.func.attr, None) if is_module else (node.func.attr, of)


def with_method(node: ast.Call, name: str) -> ast.Call:
    """The call of another method of the same thing."""
    assert isinstance(node.func, ast.Attribute)  # noqa: S101 - as its callers have seen
    return ast.Call(ast.Attribute(node.func.value, name, ast.Load()), node.args, node.keywords)


def with_arguments(node: ast.Call, args: list[ast.expr]) -> ast.Call:
    """The same call with other arguments."""
    return ast.Call(node.func, args, [])
