"""Edits of one expression: each operator looks at one node of a syntax tree and says what might stand there instead.

They are more than the slips that they undo: what a slip took away can be put back in several ways. An author adds an
operator of their own with ``@operator``, in any file of ``solutions/``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from autograder.mistakes.edits.slips import numeral

__all__ = ["EXPRESSIONS", "Change", "Operator", "Scope", "call_of", "name_of", "operator"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression of a function may use: its parameters, all its variables, functions that the notebook has, NumPy's name.

    ``texts``: it works on texts or dictionaries, by the methods that it calls.
    """

    parameters: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    numpy: str = "np"
    texts: bool = False

    def axes(self) -> list[ast.expr]:
        """The axes that a reduction may be meant to work along: a parameter of that name comes first."""
        named = [ast.Name(name, ast.Load()) for name in self.parameters if name in {"axis", "axes", "dim"}]
        return [*named, *map(numeral, (-1, 0, -2, 1))]

    def np(self, function: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
        """A call of a NumPy function."""
        func = ast.Attribute(ast.Name(self.numpy, ast.Load()), function, ast.Load())
        return ast.Call(func, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


class Change(NamedTuple):
    """What may stand in a node's place, the kind of mistake that it undoes, and how far it is from what stands there.

    The cheapest changes, at 1, are tried first; a change of several places of a line costs what they cost together.
    """

    replacement: ast.expr
    kind: str
    cost: float


Operator = Callable[[ast.expr, Scope], Iterator[Change]]
EXPRESSIONS: list[Operator] = []


def operator(function: Operator) -> Operator:
    """Add an operator to those that are tried for every expression, after the others."""
    if function not in EXPRESSIONS:
        EXPRESSIONS.append(function)
    return function


_ARITHMETIC: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.FloorDiv, ast.Pow)
_BITS: tuple[type[ast.operator], ...] = (ast.BitAnd, ast.BitOr, ast.BitXor)
_NEAR = {
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.Mult, ast.MatMult),
    (ast.Mult, ast.Add),
    (ast.FloorDiv, ast.Div),
    (ast.FloorDiv, ast.Mod),
    (ast.Pow, ast.Mult),
}
_ORDERED: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


@operator
def other_operator(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Another operator between the same operands, or the operands in the other order."""
    if isinstance(node, ast.BinOp):
        family = _BITS if isinstance(node.op, _BITS) else (*_ARITHMETIC, ast.Mod)
        for other in family:
            if not isinstance(node.op, other):
                near = (other, type(node.op)) in _NEAR or (type(node.op), other) in _NEAR
                yield Change(ast.BinOp(node.left, other(), node.right), "operator", 1.0 if near else 1.4)
        if not isinstance(node.op, ast.Add | ast.Mult):
            yield Change(ast.BinOp(node.right, node.op, node.left), "order", 1.0)


@operator
def one_operand(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """One of the operands alone."""
    if isinstance(node, ast.BinOp):
        yield Change(node.left, "extra", 1.1)
        yield Change(node.right, "extra", 1.3)
    elif isinstance(node, ast.BoolOp):
        for i in range(len(node.values)):
            rest = node.values[:i] + node.values[i + 1 :]
            yield Change(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest), "condition", 1.2)


@operator
def other_comparison(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Another comparison of the same things."""
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            others: tuple[type[ast.cmpop], ...] = _ORDERED
            if isinstance(op, ast.Is | ast.IsNot):
                others = (ast.Is, ast.IsNot)
            elif isinstance(op, ast.In | ast.NotIn):
                others = (ast.In, ast.NotIn)
            for other in others:
                if not isinstance(op, other):
                    ops: list[ast.cmpop] = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                    yield Change(ast.Compare(node.left, ops, node.comparators), "comparison", 1.0)
        if len(node.ops) == 1 and isinstance(
            node.ops[0], ast.Lt | ast.LtE
        ):  # and not below 0: Python counts from the end there
            zero, ops = ast.Constant(0), [ast.LtE(), node.ops[0]]
            yield Change(ast.Compare(zero, ops, [node.left, *node.comparators]), "condition", 1.3)
    elif isinstance(node, ast.BoolOp):
        other_op: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield Change(ast.BoolOp(other_op, node.values), "condition", 1.0)


@operator
def regrouped(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """The same operands and operators, with the brackets elsewhere."""
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.left, ast.BinOp):
        a, inner, b, c = node.left.left, node.left.op, node.left.right, node.right
        yield Change(ast.BinOp(a, inner, ast.BinOp(b, node.op, c)), "grouping", 1.0)
    if isinstance(node.right, ast.BinOp):
        a, b, inner, c = node.left, node.right.left, node.right.op, node.right.right
        yield Change(ast.BinOp(ast.BinOp(a, node.op, b), inner, c), "grouping", 1.0)


@operator
def step_moved_across_a_call(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """What is done to a function's result is done to its argument, or the other way round."""
    if isinstance(node, ast.BinOp):
        for side, other in (("left", node.right), ("right", node.left)):
            call = getattr(node, side)
            if isinstance(call, ast.Call) and call.args and not isinstance(call.args[0], ast.Starred):
                inner = ast.BinOp(call.args[0], node.op, other)
                if side == "right":
                    inner = ast.BinOp(other, node.op, call.args[0])
                yield Change(ast.Call(call.func, [inner, *call.args[1:]], call.keywords), "grouping", 1.2)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and side == "left":
                receiver = ast.BinOp(call.func.value, node.op, other)
                func = ast.Attribute(receiver, call.func.attr, ast.Load())
                yield Change(ast.Call(func, call.args, call.keywords), "grouping", 1.2)
    elif isinstance(node, ast.Call):
        own = node.func.value if isinstance(node.func, ast.Attribute) else None
        if node.args and isinstance(node.args[0], ast.BinOp):
            first = node.args[0]
            outer = ast.Call(node.func, [first.left, *node.args[1:]], node.keywords)
            yield Change(ast.BinOp(outer, first.op, first.right), "grouping", 1.2)
            outer = ast.Call(node.func, [first.right, *node.args[1:]], node.keywords)
            yield Change(ast.BinOp(first.left, first.op, outer), "grouping", 1.3)
        if isinstance(node.func, ast.Attribute) and isinstance(own, ast.BinOp):
            func = ast.Attribute(own.left, node.func.attr, ast.Load())
            outer = ast.Call(func, node.args, node.keywords)
            yield Change(ast.BinOp(outer, own.op, own.right), "grouping", 1.2)
            func = ast.Attribute(own.right, node.func.attr, ast.Load())
            yield Change(ast.BinOp(own.left, own.op, ast.Call(func, node.args, node.keywords)), "grouping", 1.3)


@operator
def other_sign(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """The sign, ``not`` or ``~`` taken away or put there."""
    if isinstance(node, ast.UnaryOp):
        if not (isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)):  # a negative number is one
            yield Change(node.operand, "operator", 1.0)
    elif isinstance(node, ast.BinOp | ast.Call | ast.Name | ast.Attribute | ast.Subscript):
        yield Change(ast.UnaryOp(ast.USub(), node), "operator", 1.8)
        yield Change(ast.UnaryOp(ast.Invert(), node), "condition", 1.8)
    elif isinstance(node, ast.Compare | ast.BoolOp):
        yield Change(ast.UnaryOp(ast.Invert(), node), "condition", 1.6)
        yield Change(ast.UnaryOp(ast.Not(), node), "condition", 1.6)


@operator
def other_number(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """A number off by one, with the other sign, twice or half, ten times or a tenth; 0, 1, 2, -1 or -2; True for False."""
    value = _number(node)
    if value is None:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield Change(ast.Constant(not node.value), "condition", 1.0)
        return
    near: list[float] = [value + 1, value - 1, -value, 0, 1, -1, -2, 2]
    if isinstance(value, float) and not value.is_integer():
        near = [value * 10, value / 10, -value, 1.0 / value, value / 2, value * 2, 0.0, 1.0, value**2, value + 1]
    elif isinstance(value, float) or abs(value) > 2:
        near += [value * 2, value / 2, value * 10, -(10.0**9), float("inf"), 1.0 / value if value else 0.5, 0.5]
    else:
        near += [0.5]
    kind = "number"
    for other in dict.fromkeys(near):
        if other != value:
            yield Change(_literal(other), kind, 1.0 if other in {value + 1, value - 1, -value} else 1.2)
    for name in scope.parameters:
        yield Change(ast.Name(name, ast.Load()), "variable", 1.6)


def _number(node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None or not isinstance(node.operand, ast.Constant) else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None


def _literal(value: float) -> ast.expr:
    if value in {float("inf"), float("-inf")}:
        sign = "-inf" if value < 0 else "inf"
        return ast.Call(ast.Name("float", ast.Load()), [ast.Constant(sign)], [])
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e6
    return numeral(int(value) if whole else value)


@operator
def other_text(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """In an einsum equation: letters in another order, one more or less, or the batch axes as dots."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and "->" in node.value):
        return
    left, _, right = (part.strip() for part in node.value.partition("->"))
    terms = [*(term.strip() for term in left.split(",")), right]
    letters = sorted({c for c in left if c.isalpha()})

    def equation(at: int, term: str) -> Change:
        new = [*terms[:at], term, *terms[at + 1 :]]
        return Change(ast.Constant(f"{','.join(new[:-1])}->{new[-1]}"), "text", 1.0)

    for at, term in enumerate(terms):
        for i in range(len(term) - 1):
            if term[i].isalpha() and term[i + 1].isalpha():
                yield equation(at, term[:i] + term[i + 1] + term[i] + term[i + 2 :])
        for i, old in enumerate(term):
            if old.isalpha():
                yield equation(at, term[:i] + term[i + 1 :])
                for letter in letters:
                    if letter not in term:
                        yield equation(at, term[:i] + letter + term[i + 1 :])
    missing = [c for c in letters if c not in right]
    for letter in missing:
        yield equation(len(terms) - 1, right + letter)
    if "." not in node.value:
        yield Change(ast.Constant(f"{','.join('...' + t for t in terms[:-1])}->...{terms[-1]}"), "text", 1.2)


@operator
def other_variable(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Another variable that the function has."""
    if isinstance(node, ast.Name) and node.id in scope.variables:
        for other in scope.variables:
            if other != node.id:
                yield Change(ast.Name(other, ast.Load()), "variable", 1.0 if other in scope.parameters else 1.1)


@operator
def other_index(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """An index one further or nearer, the indices in another order, a new axis elsewhere, or no index at all."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return

    def indexed(index: ast.expr, kind: str, cost: float) -> Change:
        return Change(ast.Subscript(node.value, index, ast.Load()), kind, cost)

    index = node.slice
    yield Change(node.value, "index", 1.2)
    if isinstance(index, ast.Tuple):
        for i in range(len(index.elts) - 1):
            swapped = [*index.elts[:i], index.elts[i + 1], index.elts[i], *index.elts[i + 2 :]]
            yield indexed(ast.Tuple(swapped, ast.Load()), "index", 1.0)
        if len(index.elts) > 1:
            for i in range(len(index.elts)):
                yield indexed(ast.Tuple(index.elts[:i] + index.elts[i + 1 :], ast.Load()), "index", 1.2)
        if not any(isinstance(e, ast.Constant) and e.value is ... for e in index.elts):
            yield indexed(ast.Tuple([ast.Constant(...), *index.elts], ast.Load()), "index", 1.2)
    elif isinstance(index, ast.Slice):
        yield from (indexed(other, "index", cost) for other, cost in _slices(index, scope))
        yield indexed(ast.Tuple([ast.Constant(...), index], ast.Load()), "index", 1.2)
        yield indexed(ast.Tuple([ast.Slice(), index], ast.Load()), "index", 1.2)
        yield indexed(ast.Tuple([ast.Constant(...), index, ast.Slice()], ast.Load()), "index", 1.2)
    else:
        if not isinstance(index, ast.Constant | ast.UnaryOp):
            for op in (ast.Add(), ast.Sub()):
                yield indexed(ast.BinOp(index, op, ast.Constant(1)), "index", 1.1)
        yield indexed(ast.Tuple([ast.Constant(...), index], ast.Load()), "index", 1.2)
        yield indexed(ast.Tuple([ast.Slice(), index], ast.Load()), "index", 1.2)
        yield indexed(ast.Tuple([ast.Constant(...), index, ast.Slice()], ast.Load()), "index", 1.3)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            for name in scope.parameters:
                shape = ast.Attribute(ast.Name(name, ast.Load()), "shape", ast.Load())
                if ast.dump(shape) != ast.dump(node.value):
                    yield Change(ast.Subscript(shape, index, ast.Load()), "shape", 1.2)


def _slices(index: ast.Slice, scope: Scope) -> Iterator[tuple[ast.Slice, float]]:
    for part in ("lower", "upper"):
        bound = getattr(index, part)

        def bounded(new: ast.expr | None, part: str = part) -> ast.Slice:
            lower, upper = (new if part == side else getattr(index, side) for side in ("lower", "upper"))
            return ast.Slice(lower, upper, index.step)

        if bound is None:
            for value in (1, -1):
                yield bounded(numeral(value)), 1.2
            for name in scope.variables:
                yield bounded(ast.Name(name, ast.Load())), 1.4
            continue
        yield bounded(None), 1.0
        for op in (ast.Add(), ast.Sub()):
            yield bounded(ast.BinOp(bound, op, ast.Constant(1))), 1.0
    if index.lower is not None or index.upper is not None:
        yield ast.Slice(index.upper, index.lower, index.step), 1.2
    if index.step is not None:
        yield ast.Slice(index.lower, index.upper, None), 1.2
    else:
        yield ast.Slice(index.lower, index.upper, numeral(-1)), 1.4


@operator
def other_choice(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Of a choice the other side, or one side always; a pair the other way round, or a part of it."""
    if isinstance(node, ast.IfExp):
        yield Change(ast.IfExp(node.test, node.orelse, node.body), "condition", 1.0)
        yield Change(node.body, "condition", 1.2)
        yield Change(node.orelse, "condition", 1.2)
    elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for i in range(len(node.elts) - 1):
            swapped = [*node.elts[:i], node.elts[i + 1], node.elts[i], *node.elts[i + 2 :]]
            yield Change(_like(node, swapped), "order", 1.0)
        for i in range(len(node.elts)):
            if len(node.elts) > 2:
                yield Change(_like(node, node.elts[:i] + node.elts[i + 1 :]), "extra", 1.3)


def _like(node: ast.Tuple | ast.List, parts: list[ast.expr]) -> ast.expr:
    return type(node)(parts, ast.Load())


@operator
def other_attribute(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Without ``.T``, or with the last two axes swapped instead; a size, a shape or a count of axes for one another."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    if node.attr in {"T", "mT"}:
        yield Change(node.value, "transpose", 1.0)
        yield Change(scope.np("swapaxes", node.value, numeral(-1), numeral(-2)), "transpose", 1.1)
    elif node.attr in {"size", "ndim"}:
        shape = ast.Attribute(node.value, "shape", ast.Load())
        for place in (0, -1, -2, 1):
            yield Change(ast.Subscript(shape, numeral(place), ast.Load()), "shape", 1.1)
        other = "ndim" if node.attr == "size" else "size"
        yield Change(ast.Attribute(node.value, other, ast.Load()), "shape", 1.2)


def call_of(node: ast.AST, scope: Scope) -> tuple[str, bool] | None:
    """The name of what a call calls, and whether it is a method; None for what is no call of a name."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name):
        return node.func.id, False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr, name_of(node.func.value) not in {scope.numpy, "np", "numpy", "math"}
    return None


def name_of(node: ast.AST) -> str:
    """The name that a node is; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else ""
