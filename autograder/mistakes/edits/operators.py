"""Operators that edit one expression. Each takes a node of a syntax tree and suggests replacements for the node.

The search for a student's mistake tries every change of every operator. The audit creates its mutants from those
changes that are marked as mutations. These are the usual mutations (Offutt et al., 1996) and typical NumPy slips, such as a wrong
axis, a missing transpose, or swapped arguments. Authors can define additional operators in any file of ``solutions/``, with the
decorator ``@operator``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import inf
from types import FunctionType, ModuleType
from typing import NamedTuple, TypeVar

__all__ = ["Change", "Operator", "Scope", "call_of", "inputs_of", "name_of", "numeral", "operator", "operators_in", "size"]  # fmt: skip

MODULES = frozenset({"np", "numpy", "math"})


@dataclass(frozen=True, slots=True)
class Scope:
    """The context of the expressions of a function.

    Attributes:
        parameters: all parameters, including those of nested functions.
        variables: the parameters and all other variables.
        functions: other functions that the notebook defines.
        numpy: the name by which NumPy is imported.
        texts: whether the function works on strings or dictionaries, judging by the methods that it calls.
        positional: the function's own parameters that can be passed by position.
        assigned: the variables that are assigned only once, each with the expression that computes it.
    """

    parameters: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    numpy: str = "np"
    texts: bool = False
    positional: tuple[str, ...] = ()
    assigned: tuple[tuple[str, ast.expr], ...] = ()

    def axes(self) -> list[ast.expr]:
        """Return the axes to try in a reduction. Parameters that are named like an axis come first."""
        named = [ast.Name(name, ast.Load()) for name in self.parameters if name in {"axis", "axes", "dim"}]
        return [*named, *map(numeral, (-1, 0, -2, 1))]

    def np(self, function: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
        """Return a call of the NumPy function ``function``."""
        func = ast.Attribute(ast.Name(self.numpy, ast.Load()), function, ast.Load())
        return ast.Call(func, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


class Change(NamedTuple):
    """A replacement for an expression.

    Attributes:
        replacement: the new expression.
        kind: the kind of mistake that the change corrects (``base.edit_kinds``).
        cost: how far the new expression is from the old one. The cheapest changes cost 1 and are tried first.
        mutation: the position of the change among the mutations of its node, or empty if it is not a mutation. Every mutation
            is also tried as an edit at a cost of 1. If ``cost`` is infinite, the change is tried only at this lower cost.
    """

    replacement: ast.expr
    kind: str
    cost: float
    mutation: tuple[int, ...] = ()


Operator = Callable[[ast.expr, Scope], Iterator[Change]]
F = TypeVar("F", bound=Operator)
_MARK = "__operator__"


def operator(function: F) -> F:
    """Mark a function as an operator, so that ``operators_in`` finds it in its module."""
    setattr(function, _MARK, True)
    return function


def operators_in(modules: Iterable[ModuleType]) -> tuple[Operator, ...]:
    """Return the operators that ``modules`` contain, each once, in the order in which they are defined."""
    values = (value for module in modules for value in vars(module).values())
    found = (value for value in values if isinstance(value, FunctionType) and hasattr(value, _MARK))
    return tuple(dict.fromkeys(found))


def numeral(value: complex | None) -> ast.expr:
    """Return the expression for a number or None. A negative number becomes a minus sign and a literal."""
    if isinstance(value, int | float) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def size(array: ast.expr, axis: int) -> ast.expr:
    """Return the expression for the length of ``array`` along ``axis``."""
    return ast.Subscript(ast.Attribute(array, "shape", ast.Load()), numeral(axis), ast.Load())


def call_of(node: ast.AST) -> tuple[str, bool]:
    """Return the name that ``node`` calls and whether it is a method, or an empty name if ``node`` does not call anything by name."""
    if not isinstance(node, ast.Call):
        return "", False
    if isinstance(node.func, ast.Name):
        return node.func.id, False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr, name_of(node.func.value) not in MODULES
    return "", False


def name_of(node: ast.AST) -> str:
    """Return the name in a ``Name`` node, or "" for any other node."""
    return node.id if isinstance(node, ast.Name) else ""


_ARITHMETIC: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.FloorDiv, ast.Pow)
_BITS: tuple[type[ast.operator], ...] = (ast.BitAnd, ast.BitOr, ast.BitXor)
_NEAR = {
    (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.Mult, ast.MatMult), (ast.Mult, ast.Add),
    (ast.FloorDiv, ast.Div), (ast.FloorDiv, ast.Mod), (ast.Pow, ast.Mult),
}  # fmt: skip
_EQUAL: tuple[type[ast.cmpop], ...] = (ast.Eq, ast.NotEq)
_ORDERED: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, *_EQUAL)
# The operators that mutations put in place of each operator, likeliest first.
_MUTATED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div, ast.Add), ast.Div: (ast.Mult,), ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.MatMult: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.Mod: (ast.FloorDiv,),
}  # fmt: skip
_MUTATED_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip


@operator
def other_operator(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Use another operator, or swap the operands."""
    if isinstance(node, ast.BinOp):
        rest = () if _number(node.right) == 1 else (ast.Mod,)  # ``n % 1`` is 0, which corrects a sum only by accident
        family = _BITS if isinstance(node.op, _BITS) else (*_ARITHMETIC, *rest)
        for other in family:
            if not isinstance(node.op, other):
                near = (other, type(node.op)) in _NEAR or (type(node.op), other) in _NEAR
                mutated = _MUTATED.get(type(node.op), ())
                place = (1, mutated.index(other)) if other in mutated else ()
                yield Change(ast.BinOp(node.left, other(), node.right), "operator", 1.0 if near else 1.4, place)
        if not isinstance(node.op, ast.Add | ast.Mult):
            swaps = isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow | ast.FloorDiv)
            yield Change(ast.BinOp(node.right, node.op, node.left), "order", 1.0, (2,) if swaps else ())
    elif isinstance(node, ast.BoolOp) and len(node.values) == 2:  # ``and`` and ``or`` do not work on arrays
        op = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        yield Change(ast.BinOp(node.values[0], op, node.values[1]), "operator", 1.0)


@operator
def one_operand(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Drop one of the operands."""
    if isinstance(node, ast.BinOp):
        mutates = isinstance(node.op, ast.Sub | ast.Div | ast.Mult | ast.Add)
        yield Change(node.left, "extra", 1.1, (3,) if mutates else ())
        yield Change(node.right, "extra", 1.3)
    elif isinstance(node, ast.BoolOp):
        for i in range(len(node.values)):
            rest = node.values[:i] + node.values[i + 1 :]
            yield Change(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest), "condition", 1.2)


@operator
def other_comparison(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Use another comparison operator, or exchange ``and`` and ``or``."""
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            others: tuple[type[ast.cmpop], ...] = _ORDERED
            if isinstance(op, ast.Is | ast.IsNot):
                others = (ast.Is, ast.IsNot)
            elif isinstance(op, ast.In | ast.NotIn):
                others = (ast.In, ast.NotIn)
                # Ignore a value that an earlier call stored, because it may be wrong for this call.
                yield Change(ast.Constant(isinstance(op, ast.NotIn)), "condition", 0.9)
            for other in others:
                if not isinstance(op, other):
                    ops: list[ast.cmpop] = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                    mutated = _MUTATED_COMPARISONS[type(op)]
                    place = (i, mutated.index(other)) if other in mutated else ()
                    # Exchanging an equality and an order comparison costs more, because it may only keep a wrong branch from running.
                    cost = 1.3 if len({*_EQUAL} & {type(op), other}) == 1 else 1.0
                    yield Change(ast.Compare(node.left, ops, node.comparators), "comparison", cost, place)
        # Also exclude negative indices, which count from the end, or compare with 0 instead of a small number.
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Lt | ast.LtE):
            zero, ops = ast.Constant(0), [ast.LtE(), node.ops[0]]
            if 0 < (_number(node.comparators[0]) or 0) <= 1:
                yield Change(ast.Compare(node.left, [ast.Eq()], [zero]), "comparison", 1.2)
            yield Change(ast.Compare(zero, ops, [node.left, *node.comparators]), "condition", 1.3)
    elif isinstance(node, ast.BoolOp):
        other_op: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield Change(ast.BoolOp(other_op, node.values), "condition", 1.0, (1,))


@operator
def regrouped(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Move the parentheses."""
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.left, ast.BinOp):
        a, inner, b, c = node.left.left, node.left.op, node.left.right, node.right
        yield Change(ast.BinOp(a, inner, ast.BinOp(b, node.op, c)), "grouping", 1.0)
    rest: list[ast.BinOp] = []
    while isinstance(part := rest[-1].left if rest else node.right, ast.BinOp):
        rest.append(part)
        whole = ast.BinOp(node.left, node.op, part.left)
        for outer in reversed(rest):
            whole = ast.BinOp(whole, outer.op, outer.right)
        yield Change(whole, "grouping", 1.0)


def inputs_of(call: ast.expr) -> Iterator[tuple[ast.expr, Callable[[ast.expr], ast.expr]]]:
    """Yield the first argument of a call, and the object of a method call, each with a function that replaces it."""
    if isinstance(call, ast.Call) and call.args and not isinstance(call.args[0], ast.Starred):
        yield call.args[0], lambda new: ast.Call(call.func, [new, *call.args[1:]], call.keywords)
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call_of(call)[1]:
        own, name = call.func.value, call.func.attr
        yield own, lambda new: ast.Call(ast.Attribute(new, name, ast.Load()), call.args, call.keywords)


@operator
def step_moved_across_a_call(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Move an operation from the result of a call to its argument, or from the argument to the result."""
    if isinstance(node, ast.BinOp):
        for inner, replaced in inputs_of(node.left):
            yield Change(replaced(ast.BinOp(inner, node.op, node.right)), "grouping", 1.2)
        for inner, replaced in inputs_of(node.right):
            yield Change(replaced(ast.BinOp(node.left, node.op, inner)), "grouping", 1.2)
    for inner, replaced in inputs_of(node):
        if isinstance(inner, ast.BinOp):
            yield Change(ast.BinOp(replaced(inner.left), inner.op, inner.right), "grouping", 1.2)
            yield Change(ast.BinOp(inner.left, inner.op, replaced(inner.right)), "grouping", 1.3)


@operator
def calls_merged(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Call a function once, with the combined arguments, instead of combining the results of two calls."""
    if isinstance(node, ast.BinOp):
        for (one, replaced), (other, again) in product(inputs_of(node.left), inputs_of(node.right)):
            if ast.dump(replaced(node)) == ast.dump(again(node)):
                yield Change(replaced(ast.BinOp(one, node.op, other)), "grouping", 1.2)


@operator
def other_sign(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Remove or add a minus sign, ``not`` or ``~``."""
    if isinstance(node, ast.UnaryOp):
        # ``other_number`` edits a negative number.
        is_number = isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
        yield Change(node.operand, "operator", inf if is_number else 1.0, (1,))
    elif isinstance(node, ast.BinOp | ast.Call | ast.Name | ast.Attribute | ast.Subscript):
        yield Change(ast.UnaryOp(ast.USub(), node), "operator", 1.8)
        yield Change(ast.UnaryOp(ast.Invert(), node), "condition", 1.8)
    elif isinstance(node, ast.Compare | ast.BoolOp):
        yield Change(ast.UnaryOp(ast.Invert(), node), "condition", 1.6)
        yield Change(ast.UnaryOp(ast.Not(), node), "condition", 1.6)


@operator
def other_number(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Replace a number with a nearby, opposite, multiplied or common number or with a parameter. Exchange True and False."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield Change(ast.Constant(not node.value), "condition", 1.0, (1,))
    if (value := _number(node)) is None:
        return
    near: list[float] = [value + 1, value - 1, -value, 0, 1, -1, -2, 2, -3]
    if isinstance(value, float) and not value.is_integer():
        near = [value * 10, value / 10, -value, 1.0 / value, value / 2, value * 2, 0.0, 1.0, value**2, value + 1]
        near += [1e-12] * (abs(value) < 0.01)
    elif isinstance(value, float) or 2 < abs(value) < _MAX_HALVED:
        near += [value * 2, value / 2, value * 10, -(10.0**9), float("inf"), 1.0 / value if value else 0.5, 0.5]
    else:
        near += [0.5, value * 2, float("-inf")]
    is_int = isinstance(node, ast.Constant) and isinstance(value, int)
    mutated: set[float] = {value + 1, value - 1} if is_int else set()
    for other in dict.fromkeys(near):
        if other != value:
            cost = 1.0 if other in {value + 1, value - 1, -value} else 1.2
            yield Change(_literal(other), "number", cost, (1,) if other in mutated else ())
    if isinstance(node, ast.Constant) and isinstance(value, float):
        yield Change(ast.Constant(value * 2 or 1.0), "number", inf, (1,))  # a mutation of a float is a float
    yield from (Change(ast.Name(name, ast.Load()), "number", 1.6) for name in scope.parameters)
    lengths = [size(ast.Name(name, ast.Load()), -1) for name in scope.parameters]
    roots = [scope.np("sqrt", length) for length in lengths]
    sizes = [ast.Name(name, ast.Load()) for name, computed in scope.assigned if ".shape[" in ast.unparse(computed)]
    for number in (*roots, *lengths, *sizes) if value > 1 else ():  # the number may fit only one example
        yield Change(number, "number", 1.2)


_MAX_HALVED = 1e300  # larger integers do not fit into a float


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
    """Edit an einsum equation: reorder, add or drop letters, or add dots for the batch axes."""
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
    yield from (equation(len(terms) - 1, right + letter) for letter in letters if letter not in right)
    if "." not in node.value:
        yield Change(ast.Constant(f"{','.join('...' + t for t in terms[:-1])}->...{terms[-1]}"), "text", 1.2)
    if len(right) >= 2:
        inputs = node.value.partition("->")[0]  # a mutation keeps the spaces
        yield Change(ast.Constant(f"{inputs}->{right[:-2]}{right[-1]}{right[-2]}"), "text", inf, (1,))


@operator
def other_variable(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Use another variable of the function."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in scope.variables:
        own = scope.positional
        following = own[(own.index(node.id) + 1) % len(own)] if node.id in own else ""
        for other in scope.variables:
            if other != node.id:
                cost = 1.0 if other in scope.parameters else 1.1
                yield Change(ast.Name(other, ast.Load()), "variable", cost, (1,) if other == following else ())


@operator
def other_index(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Change an index by one, reorder the indices, index another axis, drop the index, or use a variable instead of an item."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    if name_of(node.value) and isinstance(node.slice, ast.Constant):
        yield from (Change(ast.Name(name, ast.Load()), "variable", 1.3) for name in scope.variables)

    def indexed(index: ast.expr, kind: str, cost: float) -> Change:
        return Change(ast.Subscript(node.value, index, ast.Load()), kind, cost)

    index, is_shape = node.slice, getattr(node.value, "attr", "") == "shape"  # a whole shape is rarely meant
    yield Change(node.value, "index", 1.6 if is_shape else 1.2)
    yield Change(scope.np("max", node.value), "index", 1.3)  # the first is not always the largest
    if isinstance(index, ast.Tuple):
        for i in range(len(index.elts) - 1):
            swapped = [*index.elts[:i], index.elts[i + 1], index.elts[i], *index.elts[i + 2 :]]
            yield indexed(ast.Tuple(swapped, ast.Load()), "index", 1.0)
        if len(index.elts) > 1:
            for i in range(len(index.elts)):
                yield indexed(ast.Tuple(index.elts[:i] + index.elts[i + 1 :], ast.Load()), "index", 1.2)
        if not any(isinstance(e, ast.Constant) and e.value is ... for e in index.elts):
            yield indexed(ast.Tuple([ast.Constant(...), *index.elts], ast.Load()), "index", 1.2)
    else:
        if not isinstance(index, ast.Constant | ast.UnaryOp | ast.Slice):
            for op in (ast.Add(), ast.Sub()):
                yield indexed(ast.BinOp(index, op, ast.Constant(1)), "index", 1.1)
        yield indexed(ast.Tuple([ast.Constant(...), index], ast.Load()), "index", 1.2)
        yield indexed(ast.Tuple([ast.Slice(), index], ast.Load()), "index", 1.2)
        yield indexed(ast.Tuple([ast.Constant(...), index, ast.Slice()], ast.Load()), "index", 1.2)
        if is_shape:
            for name in scope.parameters:
                shape = ast.Attribute(ast.Name(name, ast.Load()), "shape", ast.Load())
                if ast.dump(shape) != ast.dump(node.value):
                    yield Change(ast.Subscript(shape, index, ast.Load()), "shape", 1.2)


@operator
def other_bounds(index: ast.expr, scope: Scope) -> Iterator[Change]:
    """Change, drop, add or swap the bounds of a slice, count from its other end, or change its step. A bare ``:`` is not changed."""
    if not isinstance(index, ast.Slice) or not (index.lower or index.upper or index.step):
        return
    for part in ("lower", "upper"):
        bound = getattr(index, part)

        def bounded(new: ast.expr | None, cost: float, *mutation: int, part: str = part) -> Change:
            lower, upper = (new if part == side else getattr(index, side) for side in ("lower", "upper"))
            return Change(ast.Slice(lower, upper, index.step), "index", cost, mutation)

        if bound is None:
            for value in (1, -1):
                yield bounded(numeral(value), 1.2)
            for name in scope.variables:
                yield bounded(ast.Name(name, ast.Load()), 1.4)
            continue
        yield bounded(None, 1.0, 1)
        for op, narrows in ((ast.Add(), part == "lower"), (ast.Sub(), part == "upper")):
            yield bounded(ast.BinOp(bound, op, ast.Constant(1)), 1.0, *((1,) if narrows else ()))
    if index.lower is not None or index.upper is not None:
        yield Change(ast.Slice(index.upper, index.lower, index.step), "index", 1.2)
    if (index.lower is None) != (index.upper is None):  # the last entries in place of the first, or the reverse
        ends = index.upper, index.lower
        lower, upper = (e.operand if isinstance(e, ast.UnaryOp) else e and ast.UnaryOp(ast.USub(), e) for e in ends)
        yield Change(ast.Slice(lower, upper, index.step), "index", 1.2)
    if index.step is not None:
        yield Change(ast.Slice(index.lower, index.upper, None), "index", 1.2)
    else:
        yield Change(ast.Slice(index.lower, index.upper, numeral(-1)), "index", 1.4)


@operator
def other_choice(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Swap the branches of a conditional expression, or keep one branch. Reorder a tuple or list, or drop an item."""
    if isinstance(node, ast.IfExp):
        yield Change(ast.IfExp(node.test, node.orelse, node.body), "condition", 1.0, (1,))
        yield Change(node.body, "condition", 1.2)
        yield Change(node.orelse, "condition", 1.2)
    elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for i in range(len(node.elts) - 1):
            swapped = [*node.elts[:i], node.elts[i + 1], node.elts[i], *node.elts[i + 2 :]]
            is_pair = isinstance(node, ast.Tuple) and len(node.elts) == 2
            yield Change(type(node)(swapped, ast.Load()), "order", 1.0, (1,) if is_pair else ())
        for i in range(len(node.elts)):
            if len(node.elts) > 2:
                yield Change(type(node)(node.elts[:i] + node.elts[i + 1 :], ast.Load()), "extra", 1.3)


@operator
def other_attribute(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Drop ``.T``, or swap only the last two axes. Replace ``size``, ``ndim`` or ``len`` with an entry of ``shape``."""
    if isinstance(node, ast.Call) and call_of(node) == ("len", False) and node.args:
        yield from (Change(size(node.args[0], place), "shape", 1.1) for place in (-2, -1))
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    if node.attr in {"T", "mT"}:
        yield Change(node.value, "transpose", 1.0, (1,))
        yield Change(scope.np("swapaxes", node.value, numeral(-1), numeral(-2)), "transpose", 1.1)
    elif node.attr in {"size", "ndim"}:
        yield from (Change(size(node.value, place), "shape", 1.1) for place in (0, -1, -2, 1))
        other = "ndim" if node.attr == "size" else "size"
        yield Change(ast.Attribute(node.value, other, ast.Load()), "shape", 1.2)
