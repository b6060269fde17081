"""All single edits of one definition, as changes of its text: the lines stay the student's own.

Nothing is run here. An edit is a piece of the text and what is to stand in its place, so a thousand of them cost little,
and two that do not overlap can be made together.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from autograder.mistakes.edits import calls, plain_operators, table_operators
from autograder.mistakes.edits.operators import EXPRESSIONS, Operator, Scope
from autograder.mistakes.edits.plain_slips import TEXTS_ONLY, method_of
from autograder.mistakes.edits.slips import slips
from autograder.mistakes.edits.statements import lines_before, statement_edits
from autograder.mistakes.edits.text import Draft, Edit, Text

__all__ = ["Definition", "edited", "edits_of", "overlap"]

assert calls.REDUCTIONS  # its operators are known from here on  # noqa: S101
assert plain_operators.__all__ + table_operators.__all__  # and those of tables after them  # noqa: S101

MAX_EDITS = 30_000  # of one definition
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A statement at the top of a cell that defines a function: ``def``, or a name bound to a lambda; or a class with its methods.

    ``text`` is its own source, from the first decorator on, and ``first`` the line of the cell that it begins in. ``calls``
    are the names that it uses.
    """

    name: str
    text: str
    first: int
    cell: str = ""
    uses: frozenset[str] = frozenset()

    @classmethod
    def of(cls, statement: ast.stmt, source: str, cell: str = "") -> Definition | None:
        """The definition that ``statement`` of the cell ``source`` is; None where it is none."""
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                name = statement.name
                first = min([statement.lineno, *(d.lineno for d in statement.decorator_list)])
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
                first = statement.lineno
            case _:
                return None
        lines = source.split("\n")[first - 1 : statement.end_lineno]
        uses = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        return cls(name, "\n".join(lines) + "\n", first, cell, frozenset(uses))


def edits_of(
    definition: Definition,
    *,
    functions: Sequence[str] = (),
    more: Sequence[Operator] = (),
    lines: Callable[[Scope], Iterator[tuple[str, float]]] | None = None,
    most: int = MAX_EDITS,
    enough: Callable[[], bool] = lambda: False,
) -> Iterator[Edit]:
    """The edits of a definition, the smallest first, each result once; none where its text does not parse.

    Args:
        definition: what is edited.
        functions: other functions that the notebook has: one call of them may be missing.
        more: operators besides those that are known to all.
        lines: statements that may be missing, with what each costs, in the names of a scope.
        most: how many are weighed at most.
        enough: whether the time for collecting them is over; what was found by then is all.
    """
    try:
        [statement] = ast.parse(definition.text).body
        text = Text(definition.text, definition.first)
        scope = _scope(statement, functions, definition.text)
        methods = statement.body if isinstance(statement, ast.ClassDef) else [statement]
        found: list[Edit | Draft] = []
        for one in methods:
            own = scope if one is statement else _scope(one, functions, definition.text)
            if one is statement or isinstance(one, Function):
                found += islice(_all(one, text, own, more, enough), most - len(found))
        if lines is not None and isinstance(statement, ast.FunctionDef):
            found += lines_before(statement, text, list(lines(scope)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    seen: set[tuple[int, int, str]] = set()
    for draft in sorted(found, key=lambda draft: draft.cost):
        edit = draft if isinstance(draft, Edit) else text.made(draft)  # written down only when it is asked for
        key = edit.start, edit.end, edit.text
        if key not in seen and text.changes(edit):
            seen.add(key)
            yield edit


def edited(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with ``edits`` made in it, none of which may overlap another."""
    data = text.encode()
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data.decode()


def overlap(edits: Sequence[Edit]) -> bool:
    """Whether two of ``edits`` touch the same piece of text."""
    spans = sorted((e.start, e.end) for e in edits)
    return any(a[1] > b[0] or a == b for a, b in pairwise(spans))


def _all(
    statement: ast.stmt, text: Text, scope: Scope, more: Sequence[Operator], enough: Callable[[], bool]
) -> Iterator[Edit | Draft]:
    function = statement if isinstance(statement, Function) else None
    for node in _expressions(statement):
        if enough():
            return
        where = text.span(node)
        if where is None:
            continue
        for operator in (*EXPRESSIONS, *more):
            for change in operator(node, scope):
                yield Draft(node, where, change.replacement, change.kind, change.cost)
        if isinstance(function, ast.FunctionDef):
            for slip in slips(node, function):
                if isinstance(slip.replacement, ast.expr):
                    yield Draft(node, where, slip.replacement, slip.kind, 1.0)
    if function is not None:
        yield from statement_edits(function, text, scope)


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a definition whose text can be exchanged: no annotation, no decorator, nothing that is assigned to."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            continue  # what stands in it cannot be told apart by its place before Python 3.12
        if isinstance(node, ast.expr):
            assigned = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
            if not assigned and not isinstance(node, ast.Starred | ast.Lambda):
                yield node
        left_out = {"decorator_list", "returns", "annotation", "type_params"}
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
            left_out = left_out | {"func"}  # another function is an operator of its own
        for field, value in ast.iter_fields(node):
            if field in left_out:
                continue
            if isinstance(node, ast.Call) and field == "func" and isinstance(value, ast.Attribute):
                if not (isinstance(value.value, ast.Name) and value.value.id in _MODULES):
                    waiting.append(value.value)
                continue
            waiting += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST)]


_MODULES = frozenset({"np", "numpy", "math"})


def _scope(statement: ast.stmt, functions: Sequence[str], source: str) -> Scope:
    parameters: list[str] = []
    stored: list[str] = []
    called: list[str] = []
    numpy = "numpy" if "np." not in source and "numpy." in source else "np"
    for node in ast.walk(statement):
        if isinstance(node, ast.arg):
            parameters.append(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.append(node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.append(node.func.id)
    own = getattr(statement, "name", "")
    if not isinstance(statement, Function):
        stored = []
    variables = tuple(dict.fromkeys([*parameters, *stored]))
    given = [name for name in called if name in parameters]  # a function that is handed over, and called
    known = tuple(f for f in dict.fromkeys([*given, *functions]) if f != own)
    texts = any(
        method_of(node)[0] in TEXTS_ONLY | {"items", "get"}
        for node in ast.walk(statement)
        if isinstance(node, ast.expr)
    )
    return Scope(tuple(dict.fromkeys(parameters)), variables, known, numpy, texts)
