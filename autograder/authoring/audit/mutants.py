"""Create mutants: functions with one small change each, like the slips of a tired programmer.

The changes are the mutations in `edits/operators.py`. The search for a student's mistake can undo each of them.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.mistakes.edits.generator import OPERATORS, scope_of
from autograder.mistakes.edits.operators import Scope
from autograder.mistakes.edits.statements import statement_mutations
from autograder.sandbox.protocol import Call

__all__ = ["Mutant", "compiled", "mutants_of"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with one change.

    Attributes:
        label: a description of the change. It changes only if the source changes.
        function: the changed function or class.
        source: the source of the changed function or class.
        lines: the numbers of its changed lines, from 1.
        affects: returns whether the mutant changes the inputs of a call. None if only running the mutant can show a difference.
    """

    label: str
    function: Callable[..., Any]
    source: str = ""
    lines: tuple[int, ...] = ()
    affects: Callable[[Call], bool] | None = None


Changes = Callable[[ast.AST, Scope], Iterator[tuple[str, ast.AST]]]


def mutants_of(function: Callable[..., Any], name: str, changes: Changes | None = None) -> list[Mutant]:
    """Return every mutant of ``function`` that compiles, in source order and without duplicates.

    A mutant of a class has a change in one of its methods. ``changes`` yields a label and a replacement for each change of a
    node. By default, it yields all mutations.
    """
    changes = changes or _mutations
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    if isinstance(function, type):
        [cls] = [n for n in tree.body if isinstance(n, ast.ClassDef)]
        cls.decorator_list = [mark for mark in cls.decorator_list if "dataclass" in ast.unparse(mark)]
        methods = [(f"{method.name}: ", method) for method in cls.body if isinstance(method, ast.FunctionDef)]
        return _mutants(cls, methods, name, vars(sys.modules[function.__module__]), changes)
    [definition] = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    definition.decorator_list = []
    names = getattr(inspect.unwrap(function), "__globals__", {})
    return _mutants(definition, [("", definition)], name, names, changes)


def _mutants(
    definition: ast.FunctionDef | ast.ClassDef,
    edited: Sequence[tuple[str, ast.FunctionDef]],
    name: str,
    names: Mapping[str, Any],
    changes: Changes,
) -> list[Mutant]:
    """Return the mutants of ``definition`` that change a function in ``edited``, which has (label prefix, function) pairs."""
    for _, function in edited:
        if ast.get_docstring(function, clean=False) is not None:
            function.body = function.body[1:] or [ast.Pass()]
    original = ast.unparse(definition)
    seen = {original}
    found: dict[str, Mutant] = {}
    for where, function in edited:
        scope, places = scope_of(function), _places_in(function)
        for node in [n for statement in function.body for n in ast.walk(statement)]:
            for change, replacement in changes(node, scope):
                _put(places[id(node)], replacement)
                try:
                    source = ast.unparse(definition)
                except (ValueError, AttributeError, TypeError):
                    continue
                finally:
                    _put(places[id(node)], node)
                if source in seen:
                    continue
                seen.add(source)
                image = compiled(source, definition.name, names)
                if image is not None:
                    label, number = f"{name}: {where}{change}", 2
                    while label in found:
                        label, number = f"{name}: {where}{change} (#{number})", number + 1
                    found[label] = Mutant(label, image, source, _touched(original, source))
    return list(found.values())


def _mutations(node: ast.AST, scope: Scope) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.expr):
        changes = [change for operator in OPERATORS for change in operator(node, scope) if change.mutation]
        for change in sorted(changes, key=lambda change: change.mutation):
            ast.fix_missing_locations(change.replacement)
            line = f" (line {node.lineno})" if isinstance(node, ast.Name) else ""
            yield f"`{_short(node)}` → `{_short(change.replacement)}`{line}", change.replacement
    yield from statement_mutations(node)


def _short(node: ast.expr) -> str:
    text = ast.unparse(node if not isinstance(node, ast.Slice) else ast.Subscript(ast.Name("·"), node))
    return text if len(text) <= 60 else f"{text[:40]}…{text[-18:]}"


def _touched(before: str, after: str) -> tuple[int, ...]:
    """Return the line numbers of the smallest block of ``after`` that contains every difference from ``before``."""
    old, new = before.splitlines(), after.splitlines()
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    return tuple(range(first + 1, max(len(new) - same, first + 1) + 1))


def _places_in(function: ast.FunctionDef) -> dict[int, list[tuple[ast.AST, str, int | None]]]:
    """Return the places of each node in ``function`` by the node's id: the parent, the field, and the index if the field is a list.

    The parser shares some nodes, such as operators, so a node may be in several places.
    """
    places: dict[int, list[tuple[ast.AST, str, int | None]]] = {}
    for parent in ast.walk(function):
        for field, value in ast.iter_fields(parent):
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    places.setdefault(id(child), []).append((parent, field, index))
    return places


def _put(places: Sequence[tuple[ast.AST, str, int | None]], node: ast.AST) -> None:
    for parent, field, index in places:
        if index is None:
            setattr(parent, field, node)
        else:
            getattr(parent, field)[index] = node


def compiled(source: str, name: str, names: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Return the object that ``source`` defines as ``name``, with ``names`` as its globals, or None if ``source`` is not valid Python."""
    namespace = dict(names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # a mutant may be nonsense
            exec(compile(source, f"<mutant of {name}>", "exec"), namespace)  # noqa: S102 - the course's own code, changed by us
    except SyntaxError:
        return None
    return namespace[name]  # type: ignore[no-any-return]
