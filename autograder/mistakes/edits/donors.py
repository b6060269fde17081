"""Replace a student's expressions with those of correct programs (donors). These may contain a step that the student forgot.

Parameters are matched by position. A donor's other variables are matched by value if their values are known, and otherwise
by name. Each expression is also tried with its variables replaced by the expressions assigned to them.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import product
from typing import Any, NamedTuple, TypeVar

from autograder.mistakes.edits.operators import Change, Operator, Scope, call_of, name_of, operator

__all__ = ["Donor", "assigned_once", "donor_lines", "donor_operator"]

_MAX_SIZE = 24  # the most nodes in an expression, because a larger expression would be nearly the whole solution
_SHARE = 0.6  # the largest size of an expression relative to the donor's whole solution, for the same reason
_STEP = 4  # nodes that are always allowed in an expression that contains the student's own expression
_MOST = 90  # the most expressions of each donor
_MOST_LINES = 12
HOLE = "_the_students_own_"
_HOLE = ast.dump(ast.Name(HOLE, ast.Load()))


N = TypeVar("N", bound=ast.AST)


class DonorExpression(NamedTuple):
    """An expression of a donor, its size in nodes, and its variables."""

    expression: ast.expr
    size: int
    variables: frozenset[str]


class _Fitting(NamedTuple):
    """An expression rewritten with the student's variable names, its ``ast.dump``, and its cost."""

    expression: ast.expr
    written: str
    cost: float


class Donor:
    """A correct program with its parameters and expressions. Smaller expressions come first.

    ``more`` is an extra cost for each of its expressions.
    """

    def __init__(self, text: str, *, more: float = 0.0) -> None:
        self.text, self.more = text, more

    @cached_property
    def _function(self) -> ast.FunctionDef | None:
        body = ast.parse(self.text).body
        functions = [statement for statement in body if isinstance(statement, ast.FunctionDef)]
        return functions[-1] if functions else None

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that the program calls, without built-in functions and parameters."""
        calls = (n.func for n in ast.walk(ast.parse(self.text)) if isinstance(n, ast.Call))
        names = (func.id for func in calls if isinstance(func, ast.Name))
        return tuple(n for n in dict.fromkeys(names) if not hasattr(builtins, n) and n not in self.parameters)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return tuple(a.arg for a in self._function.args.args) if self._function else ()

    @cached_property
    def expressions(self) -> list[DonorExpression]:
        """Each expression, once unchanged and once with its variables replaced by the expressions assigned to them."""
        return self._taken(lambda node: [node], least=1)

    @cached_property
    def steps(self) -> list[DonorExpression]:
        """Each operation and call with a hole in place of one operand or argument. A student's expression fills the hole."""
        return self._taken(lambda node: list(_with_a_hole(node)), least=_STEP)

    @cached_property
    def lines(self) -> list[DonorExpression]:
        """The assignments to single variables. The student's code may lack one of these assignments."""
        if self._function is None:
            return []
        found: dict[str, DonorExpression] = {}
        for node in ast.walk(self._function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                pair: ast.expr = ast.NamedExpr(node.targets[0], node.value)
                used = {n.id for n in ast.walk(pair) if isinstance(n, ast.Name)} & self._variables
                if (size := _size(node.value)) <= _MAX_SIZE:
                    found.setdefault(ast.dump(pair), DonorExpression(pair, size, frozenset(used)))
        return sorted(found.values(), key=lambda expression: expression.size)[:_MOST_LINES]

    @cached_property
    def result(self) -> str:
        """The ``ast.dump`` of an expression that computes the program's result from its parameters, or "" if no single expression does."""
        whole = self._result(assigned_once(self._function)) if self._function is not None else None
        return ast.dump(whole) if whole is not None else ""

    def _taken(self, parts: Callable[[ast.expr], list[ast.expr]], least: int) -> list[DonorExpression]:
        if self._function is None:
            return []
        assigned = assigned_once(self._function)
        whole = self._result(assigned)
        size = _size(whole) if whole is not None else sum(_size(statement) for statement in self._function.body)
        most = max(least, min(_MAX_SIZE, int(_SHARE * size)))
        found: dict[str, DonorExpression] = {}
        nodes = [n for statement in self._function.body for n in ast.walk(statement)]
        called = [n.func for n in nodes if isinstance(n, ast.Call)]
        for node in nodes:
            appends = getattr(getattr(node, "func", None), "attr", "") == "append"  # which returns None
            if appends or node in called or not isinstance(node, ast.expr) or _is_index(node):
                continue
            if isinstance(node, ast.Constant) and not isinstance(node.value, int | float):
                continue
            if isinstance(node, ast.Name | ast.Starred) or isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            for part in parts(node):
                for one in (part, _Inlined(assigned).visit(copy.deepcopy(part))):
                    if (size := _size(one)) <= most:
                        used = {n.id for n in ast.walk(one) if isinstance(n, ast.Name)} & self._variables
                        found.setdefault(ast.dump(one), DonorExpression(one, size, frozenset(used)))
        return sorted(found.values(), key=lambda expression: expression.size)[:_MOST]

    def _result(self, assigned: dict[str, ast.expr]) -> ast.expr | None:
        assert self._function is not None  # noqa: S101 - the callers check this
        returned = [n.value for n in ast.walk(self._function) if isinstance(n, ast.Return) and n.value is not None]
        if len(returned) != 1 or any(isinstance(s, ast.For | ast.While) for s in self._function.body):
            return None
        whole: ast.expr = _Inlined(assigned).visit(copy.deepcopy(returned[0]))
        return whole

    @cached_property
    def _variables(self) -> frozenset[str]:
        assert self._function is not None  # noqa: S101 - the callers check this
        stored = (n.id for n in ast.walk(self._function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        return frozenset(stored) | frozenset(self.parameters)


def donor_operator(donors: Sequence[Donor], called: Sequence[Mapping[str, str]] = ()) -> Operator:
    """Return an operator that replaces a student's expressions with those of ``donors``.

    ``called`` maps the variables of each donor to the names that the student uses for them, if known.
    """

    @cache  # the same for all expressions of a definition
    def known(scope: Scope) -> tuple[list[_Fitting], list[_Fitting]]:
        expressions = _fitting([d.expressions for d in donors], donors, called, scope)
        return list(expressions), list(_fitting([d.steps for d in donors], donors, called, scope))

    def donated(node: ast.expr, scope: Scope) -> Iterator[Change]:
        if isinstance(node, ast.Lambda) or _is_index(node):
            return
        own = ast.dump(node)
        seen = {own, *(donor.result for donor in donors)}  # never replace an expression with the whole solution
        expressions, steps = known(scope)
        for expression, key, cost in expressions:
            if key not in seen:
                seen.add(key)
                numbers = isinstance(expression, ast.Constant) and isinstance(getattr(node, "value", None), int | float)
                # Another expression in place of a variable may only repair what an earlier line computed.
                more = 1.86 if isinstance(node, ast.Name) and own not in key else 1.5
                yield Change(expression, "number" if numbers else "expression", more + cost)
        # A step added to a table of zeros computes what the code later fills in.
        if isinstance(node, ast.Constant | ast.Starred) or call_of(node)[0] in {"zeros", "empty"}:
            return
        for step, written, cost in steps:
            key = written.replace(_HOLE, own)
            if key not in seen:
                seen.add(key)
                yield Change(_filled(step, node), "missing", 1.35 + cost)

    return donated


def donor_lines(
    donors: Sequence[Donor], called: Sequence[Mapping[str, str]], scope: Scope
) -> Iterator[tuple[str, float]]:
    """Yield each assignment of ``donors`` that uses only the student's variables, rewritten with their names, and its cost."""
    seen: set[str] = set()
    for line, _, cost in _fitting([d.lines for d in donors], donors, called, scope):
        if isinstance(line, ast.NamedExpr):
            text = f"{line.target.id} = {ast.unparse(line.value)}"
            if text not in seen:
                seen.add(text)
                yield text, 1.6 + cost


def _fitting(
    offered: Sequence[Sequence[DonorExpression]],
    donors: Sequence[Donor],
    called: Sequence[Mapping[str, str]],
    scope: Scope,
) -> Iterator[_Fitting]:
    for i, (donor, expressions) in enumerate(zip(donors, offered, strict=True)):
        names = dict(called[i]) if i < len(called) else {}
        names |= zip(donor.parameters, scope.parameters, strict=False)
        same = all(a == b for a, b in names.items())
        for expression, size, variables in expressions:
            if all(names.get(v, v) in scope.variables for v in variables):
                renamed = expression if same else _Renamed(names).visit(copy.deepcopy(expression))
                yield _Fitting(renamed, ast.dump(renamed), donor.more + 0.03 * size)


def _is_index(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Slice) for part in (node, *getattr(node, "elts", ())))


def _with_a_hole(node: ast.expr) -> Iterator[ast.expr]:
    hole = ast.Name(HOLE, ast.Load())
    if isinstance(node, ast.BinOp):
        yield ast.BinOp(hole, node.op, node.right)
        yield ast.BinOp(node.left, node.op, hole)
    elif isinstance(node, ast.Call):
        for i, argument in enumerate(node.args[:2]):
            if not isinstance(argument, ast.Starred | ast.Constant):
                yield ast.Call(node.func, [*node.args[:i], hole, *node.args[i + 1 :]], node.keywords)
        if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
            yield ast.Call(ast.Attribute(hole, node.func.attr, ast.Load()), node.args, node.keywords)
    elif isinstance(node, ast.Subscript):
        yield ast.Subscript(hole, node.slice, ast.Load())


def _filled(tree: N, own: ast.expr) -> N | ast.expr:
    """Return a copy of ``tree`` in which ``own`` fills the hole. The copy shares the unchanged parts."""
    if isinstance(tree, ast.Name):
        return own if tree.id == HOLE else tree
    filled: Any = tree
    for field, value in ast.iter_fields(tree):
        if isinstance(value, list):
            new: Any = [_filled(part, own) if isinstance(part, ast.AST) else part for part in value]
            same = all(a is b for a, b in zip(new, value, strict=True))
        else:
            new = _filled(value, own) if isinstance(value, ast.AST) else value
            same = new is value
        if not same:
            filled = copy.copy(tree) if filled is tree else filled
            setattr(filled, field, new)
    return filled  # type: ignore[no-any-return]


@operator
def computed_for_another(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Compute a variable again, but from another one. For example, ``d = Q.shape[-1] // h`` becomes ``V.shape[-1] // h``."""
    value = dict(scope.assigned).get(name_of(node))
    if value is not None and _size(value) <= _MAX_SIZE:
        arrays = dict.fromkeys(name_of(n.value) for n in ast.walk(value) if isinstance(n, ast.Attribute))
        for old, new in product(arrays, scope.variables):
            if old in scope.variables and old != new:
                replaced = _Inlined({old: ast.Name(new, ast.Load())}).visit(copy.deepcopy(value))
                yield Change(replaced, "variable", 1.05)


def assigned_once(function: ast.AST) -> dict[str, ast.expr]:
    """Map each variable that ``function`` assigns only once to the assigned expression, in which such variables are replaced, too."""
    nodes = [*ast.walk(function)]
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    values: dict[str, ast.expr] = {}
    for statement in sorted((n for n in nodes if isinstance(n, ast.Assign)), key=lambda n: n.lineno):
        name = name_of(statement.targets[0])
        if stored.count(name) == 1:
            values[name] = _Inlined(values).visit(copy.deepcopy(statement.value))
    return values


class _Inlined(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = self.values.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return known if known is not None else node


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _size(node: ast.AST) -> int:
    return sum(isinstance(n, ast.expr) for n in ast.walk(node))
