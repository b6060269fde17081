"""Small mistakes made by machine: each mutant is a function with one thing changed, as a tired person would change it.

What is changed, `edits/slips.py` says: the search for a student's mistake undoes the same slips.
"""

from __future__ import annotations

import ast
import copy
import inspect
import sys
import textwrap
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.edits.slips import slips

__all__ = ["Mutant", "mutants_of"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with one change; ``label`` says which, and stays the same while the source does.

    ``source`` is its text, and ``lines`` those of its lines that the change has touched (from 1).
    """

    label: str
    function: Callable[..., Any]
    source: str = ""
    lines: tuple[int, ...] = ()


def mutants_of(function: Callable[..., Any], name: str) -> list[Mutant]:
    """Every mutant of ``function`` that compiles and whose source differs, each once, in the order of the source."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    if isinstance(function, type):
        return _mutants_of_class(function, tree, name)
    [definition] = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    definition.decorator_list = []
    if ast.get_docstring(definition, clean=False) is not None:
        definition.body = definition.body[1:] or [ast.Pass()]
    original = ast.unparse(definition)
    seen = {original}
    found: dict[str, Mutant] = {}
    for index, node in enumerate(_inside(definition)):
        for change, replacement, _kind in slips(node, definition):
            mutated = copy.deepcopy(definition)
            _replace(mutated, index, replacement)
            ast.fix_missing_locations(mutated)
            try:
                source = ast.unparse(mutated)
            except (ValueError, AttributeError, TypeError):
                continue
            if source in seen:
                continue
            seen.add(source)
            compiled = _compiled(source, function, definition.name)
            if compiled is not None:
                label, number = f"{name}: {change}", 2
                while label in found:
                    label, number = f"{name}: {change} (#{number})", number + 1
                found[label] = Mutant(label, compiled, source, _touched(original, source))
    return list(found.values())


def _mutants_of_class(cls: type, tree: ast.Module, name: str) -> list[Mutant]:
    """The class with a mutant of one of its methods in that one's place."""
    [definition] = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    definition.decorator_list = [mark for mark in definition.decorator_list if "dataclass" in ast.unparse(mark)]
    names = vars(sys.modules[cls.__module__])
    original = ast.unparse(definition)
    seen = {original}
    found: dict[str, Mutant] = {}
    for place, method in enumerate(definition.body):
        if not isinstance(method, ast.FunctionDef):
            continue
        if ast.get_docstring(method, clean=False) is not None:
            method.body = method.body[1:] or [ast.Pass()]
        for index, node in enumerate(_inside(method)):
            for change, replacement, _kind in slips(node, method):
                mutated = copy.deepcopy(definition)
                _replace(mutated.body[place], index, replacement)  # type: ignore[arg-type]
                ast.fix_missing_locations(mutated)
                try:
                    source = ast.unparse(mutated)
                except (ValueError, AttributeError, TypeError):
                    continue
                if source in seen:
                    continue
                seen.add(source)
                compiled = _compiled(source, cls, definition.name, names)
                if compiled is not None:
                    label, number = f"{name}: {method.name}: {change}", 2
                    while label in found:
                        label, number = f"{name}: {method.name}: {change} (#{number})", number + 1
                    found[label] = Mutant(label, compiled, source, _touched(original, source))
    return list(found.values())


def _touched(before: str, after: str) -> tuple[int, ...]:
    """The lines of ``after`` that differ from those of ``before``: one change leaves what stands above and below alone."""
    old, new = before.splitlines(), after.splitlines()
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    return tuple(range(first + 1, max(len(new) - same, first + 1) + 1))


def _inside(definition: ast.FunctionDef) -> list[ast.AST]:
    return [n for statement in definition.body for n in ast.walk(statement)]


def _replace(definition: ast.FunctionDef, index: int, replacement: ast.AST | None) -> None:
    target = _inside(definition)[index]

    class Swap(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if node is target:
                return replacement if replacement is not None else ast.Pass()
            return self.generic_visit(node)

    definition.body = [Swap().visit(s) for s in definition.body]


def _compiled(
    source: str, function: Callable[..., Any], name: str, names: Mapping[str, Any] | None = None
) -> Callable[..., Any] | None:
    namespace = dict(getattr(inspect.unwrap(function), "__globals__", {}) if names is None else names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # nonsense is what a mutant may be: it worries no author
            exec(compile(source, f"<mutant of {name}>", "exec"), namespace)  # noqa: S102 - the course's own code, changed by us
    except SyntaxError:
        return None
    return namespace[name]  # type: ignore[no-any-return]
