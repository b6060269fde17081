"""Treat a notebook's code as one program, and find the statements that a name depends on."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autograder.sandbox.guest.magics import parse

__all__ = [
    "AsItIs",
    "Statement",
    "locals_of",
    "names_in",
    "parsed_cell",
    "slice_of",
    "statement_names",
    "statements_of",
    "text_of_node",
]

_MAGIC = re.compile(r"^([^\S\n]*)[%!?][^\n]*$", re.MULTILINE)
_BUILTINS = frozenset(dir(builtins))
_MUTATORS = frozenset(
    {
        "append",
        "add",
        "update",
        "extend",
        "insert",
        "pop",
        "remove",
        "sort",
        "reverse",
        "setdefault",
        "clear",
        "seed",
        "shuffle",
        "filterwarnings",
    }
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement at the top level of a cell: the names that it binds, changes and uses.

    ``origin`` is the number of its cell, and ``line`` its line in the cell, from 1.
    """

    node: ast.stmt = field(compare=False)
    text: str
    binds: frozenset[str]
    changes: frozenset[str]
    uses: frozenset[str]
    origin: int
    line: int
    is_import: bool = False


Place = tuple[int, int]  # the number of a cell, and a line in it


@dataclass(frozen=True)
class AsItIs:
    """The result of running the notebook unchanged, with its solutions and all its tests.

    ``failed`` gives the error of each statement that failed or was skipped after an error. ``stars`` gives the names that each star
    import binds.
    """

    failed: dict[Place, str] = field(default_factory=dict)
    stars: Mapping[Place, Sequence[str]] = field(default_factory=dict)

    def error_in(self, origin: int) -> str:
        """Return the first error in a cell, or "" if there is none."""
        return next((error for place, error in sorted(self.failed.items()) if place[0] == origin), "")


def parsed_cell(source: str) -> ast.Module | None:
    """Return the syntax tree of a cell without its magics, or None if it is not valid Python. Line numbers do not change."""
    try:
        return ast.parse(_MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    try:
        return parse(source, "<cell>")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statements_of(source: str, origin: int, ran: AsItIs | None = None) -> list[Statement]:
    """Return the statements of a cell, except statements that failed when the notebook ran. The result is empty if the cell is not valid Python."""
    tree = parsed_cell(source)
    lines = source.splitlines()
    ran = ran or AsItIs()
    found = []
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.Pass) or (origin, node.lineno) in ran.failed:
            continue  # a ``pass`` usually replaces a magic
        text = text_of_node(node, lines)
        binds, changes = _bound(node)
        imports = isinstance(node, ast.Import | ast.ImportFrom)
        found.append(Statement(node, text, binds, changes, names_in(node), origin, _first(node), imports))
        if "*" in binds:
            names = frozenset(ran.stars.get((origin, node.lineno), ()))
            found[-1] = replace(found[-1], binds=names)
    return found


def text_of_node(node: ast.stmt, lines: Sequence[str]) -> str:
    """Return the source of a statement with its decorators and comments, as the author wrote it."""
    rest = "\n".join(lines[_first(node) - 1 : node.end_lineno])
    if node.col_offset or ";" in lines[(node.end_lineno or 1) - 1]:
        return ast.unparse(node)  # one of several statements on a line
    return re.sub(_MAGIC, r"\1pass", rest)


def names_in(node: ast.AST) -> frozenset[str]:
    """Return the names that code uses but does not define itself."""
    inner: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner |= {a.arg for a in (*child.args.posonlyargs, *child.args.args, *child.args.kwonlyargs)}
            inner |= {a.arg for a in (child.args.vararg, child.args.kwarg) if a}
        elif isinstance(child, ast.comprehension):
            inner |= {n.id for n in ast.walk(child.target) if isinstance(n, ast.Name)}
    asked = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load | ast.Del)}
    asked |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    own = locals_of(node.body) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else frozenset()
    return frozenset(asked - inner - own - _BUILTINS)


def locals_of(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Return the names that the statements in ``body`` bind."""
    found: set[str] = set()
    for statement in body:
        found |= _bound(statement)[0]
    return frozenset(found)


def slice_of(
    wanted: Collection[str], program: Sequence[Statement], *, without: Collection[str] = ()
) -> list[Statement]:
    """Return the statements that the names ``wanted`` depend on, in order. Names in ``without`` are not followed."""
    need = set(wanted) - set(without)
    taken: set[int] = set()
    grew = True
    while grew:
        grew = False
        for number, statement in enumerate(program):
            if number in taken or not ((statement.binds | statement.changes) & need):
                continue
            if statement.is_import and not statement.binds & need:
                continue
            if not statement.binds & need and not any(
                program[i].binds & statement.changes and not program[i].is_import for i in range(number)
            ):
                continue
            taken.add(number)
            need |= statement.uses - set(without)
            grew = True
    return [program[i] for i in sorted(taken)]


def statement_names(node: ast.stmt) -> frozenset[str]:
    """Return the names that a statement binds. A star import binds ``*``."""
    return _bound(node)[0]


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _bound(node: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a statement binds, and the names that it changes in place."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return frozenset({node.name}), frozenset()
    if isinstance(node, ast.Import | ast.ImportFrom):
        return frozenset(a.asname or a.name.partition(".")[0] for a in node.names), frozenset()
    binds, changes = set(), set()
    for child in _outside_functions(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            binds.add(child.id)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            binds.add(child.name)
        elif isinstance(child, ast.Subscript | ast.Attribute) and isinstance(child.ctx, ast.Store):
            changes |= _root(child)
        elif isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr in _MUTATORS:
            changes |= _root(child.func)
        elif isinstance(child, ast.Import | ast.ImportFrom):
            binds |= {a.asname or a.name.partition(".")[0] for a in child.names}
    return frozenset(binds), frozenset(changes)


def _outside_functions(node: ast.AST) -> Iterable[ast.AST]:
    waiting = [node]
    while waiting:
        child = waiting.pop()
        yield child
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(child, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            continue
        waiting += ast.iter_child_nodes(child)


def _root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()
