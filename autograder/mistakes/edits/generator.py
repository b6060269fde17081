"""Generate all single edits of a definition. Each edit replaces one span and keeps all other text as the student wrote it.

No code is run here, so a thousand edits cost little. Edits that do not overlap can be combined.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise, product
from math import inf

from autograder.mistakes.edits import calls, donors, methods, operators
from autograder.mistakes.edits.operators import MODULES, Operator, Scope, operators_in
from autograder.mistakes.edits.source_text import Edit, PendingEdit, Text
from autograder.mistakes.edits.statements import lines_before, statement_edits

__all__ = ["OPERATORS", "Definition", "edited", "edits_of", "overlap", "scope_of"]

OPERATORS = operators_in([operators, calls, methods, donors])
MAX_EDITS = 30_000  # the most edits of one definition that are collected
Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=1)  # a cell may have thousands of definitions
def _lines(source: str) -> list[str]:
    return source.split("\n")


@dataclass(frozen=True, slots=True)
class Definition:
    """A top-level statement of a cell: a function, a class with its methods, or an assignment of a lambda to a name.

    Attributes:
        name: the defined name.
        text: its source, from the first decorator on.
        first: the number of its first line in the cell.
        cell: the name of the cell.
        uses: the names that it reads.
    """

    name: str
    text: str
    first: int
    cell: str = ""
    uses: frozenset[str] = frozenset()

    @classmethod
    def of(cls, statement: ast.stmt, source: str, cell: str = "") -> Definition | None:
        """Return ``statement``, a part of the cell's ``source``, as a definition, or None if it does not define anything."""
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                name = statement.name
                first = min([statement.lineno, *(d.lineno for d in statement.decorator_list)])
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
                first = statement.lineno
            case _:
                return None
        lines = _lines(source)[first - 1 : statement.end_lineno]
        uses = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        return cls(name, "\n".join(lines) + "\n", first, cell, frozenset(uses))


def edits_of(
    definition: Definition,
    *,
    functions: Sequence[str] = (),
    more: Sequence[Operator] = (),
    lines: Callable[[Scope], Iterator[tuple[str, float]]] | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> Iterator[Edit]:
    """Yield the edits of a definition, cheapest first and without repeats. A definition that cannot be parsed has no edits.

    Args:
        definition: the definition to edit.
        functions: other functions of the notebook, which the student may have forgotten to call.
        more: operators in addition to the built-in ones.
        lines: returns the lines that may be missing in a scope, with their costs.
        enough: returns whether the time for collecting edits is over.
    """
    try:
        [statement] = ast.parse(definition.text).body
        text = Text(definition.text, definition.first)
        scope = scope_of(statement, functions, definition.text)
        parts = statement.body if isinstance(statement, ast.ClassDef) else [statement]
        found: list[Edit | PendingEdit] = []
        for part in parts:
            own = scope if part is statement else scope_of(part, functions, definition.text)
            if part is statement or isinstance(part, Function):
                found += islice(_all(part, text, own, more, enough), MAX_EDITS - len(found))
        if lines is not None and isinstance(statement, ast.FunctionDef):
            found += lines_before(statement, text, list(lines(scope)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    seen: set[tuple[int, int, str]] = set()
    for one in sorted(found, key=lambda edit: edit.cost):
        edit = one if isinstance(one, Edit) else text.apply(one)  # write the text of an edit only when it is needed
        key = edit.start, edit.end, edit.text
        if key not in seen and text.changes(edit):
            seen.add(key)
            yield edit


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return ``text`` with ``edits`` applied. The edits must not overlap."""
    data = text.encode()
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data.decode()


def overlap(edits: Sequence[Edit]) -> bool:
    """Return whether any two of ``edits`` overlap."""
    spans = sorted((e.start, e.end) for e in edits)
    return any(a[1] > b[0] or a == b for a, b in pairwise(spans))


def _all(
    statement: ast.stmt, text: Text, scope: Scope, more: Sequence[Operator], enough: Callable[[], bool]
) -> Iterator[Edit | PendingEdit]:
    # An edited key of an ``in`` test is usually not found, so the edit corrects the condition rather than the key.
    compared = [node for node in ast.walk(statement) if isinstance(node, ast.Compare)]
    keys = {id(n) for c in compared if isinstance(c.ops[0], ast.In | ast.NotIn) for n in ast.walk(c)}
    # An edit of such a condition may only keep wrong code from running.
    inside = {id(n) for one in ast.walk(statement) if isinstance(one, ast.If | ast.IfExp) for n in ast.walk(one.test)}
    # Another variable in a comparison may only make it always true or always false.
    sides = {id(side) for c in compared for side in (c.left, *c.comparators)}
    shapes = [
        n for n in ast.walk(statement) if isinstance(n, ast.Subscript) and getattr(n.value, "attr", "") == "shape"
    ]
    clearer = {(i, "variable"): "comparison" for i in sides} | {(id(n.slice), "number"): "shape" for n in shapes}
    if isinstance(statement, Function):
        yield from statement_edits(statement, text, scope)
    # The donors come last, because MAX_EDITS may end this.
    for group, node in product((OPERATORS, more), _expressions(statement)):
        if enough():
            return
        span = text.span(node)
        if span is None:
            continue
        changes = [change for operator in group for change in operator(node, scope)]
        for change in changes:
            if change.cost < inf:
                kind = "condition" if id(node) in keys else clearer.get((id(node), change.kind), change.kind)
                kind = "branch" if id(node) in inside and kind != "condition" else kind
                yield PendingEdit(node, span, change.replacement, kind, change.cost)
        if isinstance(statement, ast.FunctionDef):
            for change in sorted((c for c in changes if c.mutation), key=lambda change: change.mutation):
                yield PendingEdit(node, span, change.replacement, change.kind, 1.0)


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions in ``statement`` that can be replaced. Annotations, decorators and assignment targets are left out."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            continue  # before Python 3.12, the parts of an f-string have no positions
        if isinstance(node, ast.expr):
            assigned = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
            if not assigned and not isinstance(node, ast.Starred | ast.Lambda):
                yield node
        left_out = {"decorator_list", "returns", "annotation", "type_params"}
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
            left_out = left_out | {"func"}  # ``other_function`` edits the name of the function
        for field, value in ast.iter_fields(node):
            if field in left_out:
                continue
            if field == "defaults":  # a default of None comes from the stub
                waiting += [v for v in value if not (isinstance(v, ast.Constant) and v.value is None)]
                continue
            if isinstance(node, ast.Call) and field == "func" and isinstance(value, ast.Attribute):
                if not (isinstance(value.value, ast.Name) and value.value.id in MODULES):
                    waiting.append(value.value)
                continue
            waiting += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST)]


def scope_of(statement: ast.stmt, functions: Sequence[str] = (), source: str = "") -> Scope:
    """Return the scope of the expressions in ``statement``, which has the text ``source``. The notebook also has ``functions``."""
    nodes = list(ast.walk(statement))
    parameters = [n.arg for n in nodes if isinstance(n, ast.arg)]
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    called = [n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    numpy = "numpy" if "np." not in source and "numpy." in source else "np"
    variables = tuple(dict.fromkeys([*parameters, *(stored if isinstance(statement, Function) else [])]))
    given = [name for name in called if name in parameters]  # functions that are passed as arguments
    known = tuple(f for f in dict.fromkeys([*given, *functions]) if f != getattr(statement, "name", ""))
    positional = tuple(a.arg for a in statement.args.args) if isinstance(statement, Function) else ()
    texts = methods.uses_texts(statement)
    assigned = tuple(donors.assigned_once(statement).items())
    return Scope(tuple(dict.fromkeys(parameters)), variables, known, numpy, texts, positional, assigned)
