"""Parameters and docstrings of a stub and of its reference, as they are held against each other."""

from __future__ import annotations

import ast

__all__ = ["first_difference", "parameters_of"]


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The parameters with their defaults; annotations are words for the reader, and may differ."""
    arguments = ast.parse(ast.unparse(function)).body[0].args  # type: ignore[attr-defined]
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(arguments)


def first_difference(one: str, other: str) -> str:
    """Where two docstrings first differ, as the end of a sentence."""
    if not one:
        return ": the stub has none"
    pairs = zip([*one.splitlines(), ""], [*other.splitlines(), ""], strict=False)
    for number, (here, there) in enumerate(pairs, start=1):
        if here.strip() != there.strip():
            return f" in line {number} (“{_short(here)}” and “{_short(there)}”)"
    return " in their layout"


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 60 else f"{text[:57]}…"
