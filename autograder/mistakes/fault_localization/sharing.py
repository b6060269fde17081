"""What students share who wrote the same function: one search, told to each in the lines of their own cell."""

from __future__ import annotations

import ast
from dataclasses import replace

from autograder.mistakes.edits.generator import Definition
from autograder.mistakes.fault_localization.program import Program
from autograder.mistakes.fault_localization.search import Located

__all__ = ["key_of", "moved"]


def key_of(program: Program) -> str:
    """Equal for two programs that say the same, docstrings, comments and white space aside, in whatever cells and lines."""
    return "\n".join(ast.dump(_bare(definition)) for definition in program.definitions)


def moved(located: Located, old: Program, new: Program) -> Located | None:
    """What was ``located`` in ``old``, in the lines of ``new``, which says the same; None where a line has become several."""
    places: dict[tuple[str, int], tuple[str, int]] = {}
    for variant in located.variants:
        for definition, edit in variant.edits:
            i = old.definitions.index(definition)
            line = _line(definition, new.definitions[i], edit.line)
            if line is None:
                return None
            places[definition.cell, edit.line] = new.definitions[i].cell, line
    if len({*places.values()}) < len(places):
        return None
    return replace(located, places=tuple(sorted(places[place] for place in located.places)))


def _line(old: Definition, new: Definition, line: int) -> int | None:
    """The line of the cell of ``new`` that says what ``line`` of the cell of ``old`` does."""
    place = line - old.first + 1
    pairs = list(zip(ast.walk(_bare(old)), ast.walk(_bare(new)), strict=True))
    for side in ("lineno", "end_lineno"):
        found = {getattr(other, side) for node, other in pairs if getattr(node, side, None) == place}
        if found:
            return new.first + found.pop() - 1 if len(found) == 1 else None
    return None


def _bare(definition: Definition) -> ast.Module:
    """The tree of a definition without its docstrings."""
    tree = ast.parse(definition.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(node.body) > 1:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del node.body[0]
    return tree
