"""The slips that a tired person makes, as changes of one place in a syntax tree.

One list for both uses: the audit makes mutants of right solutions with them, and the search for a student's mistake undoes
them. The operators are the usual ones (Offutt et al., 1996) with NumPy's own slips on top: axes, `keepdims`, transposes,
reductions taken for one another, arguments and operands swapped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from autograder.mistakes.edits.plain_slips import plain_slips
from autograder.mistakes.edits.table_slips import table_slips

__all__ = ["TAKEN_FOR", "Slip", "numeral", "slips"]

_BINARY: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.Mod: (ast.FloorDiv,),
}
_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
TAKEN_FOR = {
    "max": "min", "min": "max", "amax": "amin", "sum": "mean", "mean": "sum", "argmax": "argmin", "argmin": "argmax",
    "tril": "triu", "triu": "tril", "maximum": "minimum", "minimum": "maximum", "all": "any", "any": "all",
    "zeros": "ones", "ones": "zeros", "log": "log2", "exp": "exp2", "var": "std", "std": "var", "hstack": "vstack",
    "logical_and": "logical_or", "logical_or": "logical_and", "zeros_like": "ones_like", "ones_like": "zeros_like",
    "cumsum": "cumprod", "standard_normal": "random",
}  # fmt: skip
_SHAPE_ONLY = {
    "copy", "astype", "reshape", "array", "asarray", "ravel", "list", "tuple", "float", "int", "range", "len", "zip",
    "enumerate",
}  # fmt: skip
_KEYWORDS = {"axis": "axis", "axes": "transpose", "keepdims": "keepdims", "k": "number", "ddof": "number"}


class Slip(NamedTuple):
    """One change: what it is called, what stands there instead (None: nothing, the statement is left out), and its kind."""

    label: str
    replacement: ast.AST | None
    kind: str


def slips(node: ast.AST, definition: ast.FunctionDef) -> Iterator[Slip]:
    """Every slip at ``node``, which stands in the body of ``definition``; the labels stay the same while the source does."""
    if isinstance(node, ast.expr):
        yield from (_said(node, other, kind) for other, kind in plain_slips(node))
    if isinstance(node, ast.BinOp):
        yield from _binary(node)
    elif isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for other in _COMPARE.get(type(op), ()):
                ops: list[ast.cmpop] = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                yield _said(node, ast.Compare(node.left, ops, node.comparators), "comparison")
    elif isinstance(node, ast.UnaryOp):
        yield _said(node, node.operand, "operator")
    elif isinstance(node, ast.BoolOp):
        other_op: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _said(node, ast.BoolOp(other_op, node.values), "condition")
    elif isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.Call):
        yield from _call(node)
        yield from (_said(node, other, kind) for other, kind in table_slips(node))
    elif isinstance(node, ast.Attribute) and node.attr in {"T", "mT"} and isinstance(node.ctx, ast.Load):
        yield _said(node, node.value, "transpose")
    elif isinstance(node, ast.Slice):
        yield from _slice(node)
    elif isinstance(node, ast.If):
        swapped = ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        yield Slip(f"if {ast.unparse(node.test)} → if not", swapped, "condition")
    elif isinstance(node, ast.IfExp):
        yield _said(node, ast.IfExp(node.test, node.orelse, node.body), "condition")
    elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
        yield _said(node, ast.Tuple(node.elts[::-1], node.ctx), "order")
    elif isinstance(node, ast.Expr | ast.AugAssign) or (
        isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript)
    ):
        yield Slip(f"`{ast.unparse(node)}` left out", None, "lines")
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from _other_parameter(node, definition)


def numeral(value: complex | None) -> ast.expr:
    """The expression that a number, or None, is written as: a minus sign is no part of a literal."""
    if isinstance(value, int | float) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _binary(node: ast.BinOp) -> Iterator[Slip]:
    for other in _BINARY.get(type(node.op), ()):
        yield _said(node, ast.BinOp(node.left, other(), node.right), "operator")
    if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow | ast.FloorDiv):
        yield _said(node, ast.BinOp(node.right, node.op, node.left), "order")
    if isinstance(node.op, ast.Sub | ast.Div | ast.Mult | ast.Add):
        yield _said(node, node.left, "extra")


def _constant(node: ast.Constant) -> Iterator[Slip]:
    value = node.value
    if isinstance(value, bool):
        yield _said(node, ast.Constant(not value), "condition")
    elif isinstance(value, int):
        yield _said(node, ast.Constant(value + 1), "number")
        yield _said(node, ast.Constant(value - 1), "number")
    elif isinstance(value, float):
        yield _said(node, ast.Constant(value * 2 if value else 1.0), "number")
    elif isinstance(value, str) and "->" in value:
        left, _, right = value.partition("->")
        letters = right.strip()
        if len(letters) >= 2:
            yield _said(node, ast.Constant(f"{left}->{letters[:-2]}{letters[-1]}{letters[-2]}"), "text")


def _call(node: ast.Call) -> Iterator[Slip]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in TAKEN_FOR and isinstance(node.func, ast.Attribute):
        func = ast.Attribute(node.func.value, TAKEN_FOR[name], ast.Load())
        yield _said(node, ast.Call(func, node.args, node.keywords), "function")
    method = isinstance(node.func, ast.Attribute) and not (
        isinstance(node.func.value, ast.Name) and node.func.value.id in {"np", "numpy", "math"}
    )
    if name not in _SHAPE_ONLY:
        if method and isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Attribute):
            yield _said(node, node.func.value, "extra")
        elif node.args and not isinstance(node.args[0], ast.Starred | ast.Constant):
            yield _said(node, node.args[0], "extra")
    if len(node.args) >= 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        for i in range(len(node.args) - 1):
            args = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
            yield _said(node, ast.Call(node.func, args, node.keywords), "order")
    for i, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:i], *node.keywords[i + 1 :]]
        if keyword.arg not in {"dtype", "initial"}:
            yield _said(node, ast.Call(node.func, node.args, rest), _KEYWORDS.get(keyword.arg or "", "extra"))
        if keyword.arg == "axis":
            for value in (0, -1, -2, None):
                keywords = [*node.keywords]
                keywords[i] = ast.keyword("axis", numeral(value))
                yield _said(node, ast.Call(node.func, node.args, keywords), "axis")


def _slice(node: ast.Slice) -> Iterator[Slip]:
    if node.lower is not None:
        yield _said(node, ast.Slice(None, node.upper, node.step), "index")
        later = ast.BinOp(node.lower, ast.Add(), ast.Constant(1))
        yield _said(node, ast.Slice(later, node.upper, node.step), "index")
    if node.upper is not None:
        yield _said(node, ast.Slice(node.lower, None, node.step), "index")
        earlier = ast.BinOp(node.upper, ast.Sub(), ast.Constant(1))
        yield _said(node, ast.Slice(node.lower, earlier, node.step), "index")


def _other_parameter(node: ast.Name, definition: ast.FunctionDef) -> Iterator[Slip]:
    parameters = [a.arg for a in definition.args.args]
    if node.id in parameters and len(parameters) > 1:
        other = parameters[(parameters.index(node.id) + 1) % len(parameters)]
        yield Slip(f"`{node.id}` → `{other}` (line {node.lineno})", ast.Name(other, ast.Load()), "variable")


def _said(node: ast.AST, replacement: ast.AST, kind: str) -> Slip:
    ast.fix_missing_locations(replacement)
    return Slip(f"`{_short(node)}` → `{_short(replacement)}`", replacement, kind)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node) if not isinstance(node, ast.Slice) else ast.unparse(ast.Subscript(ast.Name("·"), node))
    return text if len(text) <= 60 else f"{text[:40]}…{text[-18:]}"
