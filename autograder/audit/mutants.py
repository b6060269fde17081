"""Small mistakes made by machine: each mutant is a function with one thing changed, as a tired person would change it.

The operators are the usual ones (Offutt et al., 1996) with NumPy's own slips on top: axes, `keepdims`, transposes,
reductions taken for one another, arguments and operands swapped.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Mutant", "mutants_of"]

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
_TAKEN_FOR = {
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


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with one change; ``label`` says which, and stays the same while the source does."""

    label: str
    function: Callable[..., Any]


def mutants_of(function: Callable[..., Any], name: str) -> list[Mutant]:
    """Every mutant of ``function`` that compiles and whose source differs, each once, in the order of the source."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    [definition] = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    definition.decorator_list = []
    if ast.get_docstring(definition, clean=False) is not None:
        definition.body = definition.body[1:] or [ast.Pass()]
    seen = {ast.unparse(definition)}
    found: dict[str, Mutant] = {}
    for index, node in enumerate(_inside(definition)):
        for change, replacement in _changes(node, definition):
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
                found[label] = Mutant(label, compiled)
    return list(found.values())


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


def _compiled(source: str, function: Callable[..., Any], name: str) -> Callable[..., Any] | None:
    namespace = dict(getattr(inspect.unwrap(function), "__globals__", {}))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # nonsense is what a mutant may be: it worries no author
            exec(compile(source, f"<mutant of {name}>", "exec"), namespace)  # noqa: S102 - the course's own code, changed by us
    except SyntaxError:
        return None
    return namespace[name]  # type: ignore[no-any-return]


def _changes(node: ast.AST, definition: ast.FunctionDef) -> Iterator[tuple[str, ast.AST | None]]:
    if isinstance(node, ast.BinOp):
        yield from _binary(node)
    elif isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for other in _COMPARE.get(type(op), ()):
                ops: list[ast.cmpop] = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                yield _said(node, ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.UnaryOp):
        yield _said(node, node.operand)
    elif isinstance(node, ast.BoolOp):
        other_op: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _said(node, ast.BoolOp(other_op, node.values))
    elif isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.Attribute) and node.attr in {"T", "mT"} and isinstance(node.ctx, ast.Load):
        yield _said(node, node.value)
    elif isinstance(node, ast.Slice):
        yield from _slice(node)
    elif isinstance(node, ast.If):
        swapped = ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        yield f"if {ast.unparse(node.test)} → if not", swapped
    elif isinstance(node, ast.IfExp):
        yield _said(node, ast.IfExp(node.test, node.orelse, node.body))
    elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
        yield _said(node, ast.Tuple(node.elts[::-1], node.ctx))
    elif isinstance(node, ast.Expr | ast.AugAssign) or (
        isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript)
    ):
        yield f"`{ast.unparse(node)}` left out", None
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from _other_parameter(node, definition)


def _binary(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    for other in _BINARY.get(type(node.op), ()):
        yield _said(node, ast.BinOp(node.left, other(), node.right))
    if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow | ast.FloorDiv):
        yield _said(node, ast.BinOp(node.right, node.op, node.left))
    if isinstance(node.op, ast.Sub | ast.Div | ast.Mult | ast.Add):
        yield _said(node, node.left)


def _constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield _said(node, ast.Constant(not value))
    elif isinstance(value, int):
        yield _said(node, ast.Constant(value + 1))
        yield _said(node, ast.Constant(value - 1))
    elif isinstance(value, float):
        yield _said(node, ast.Constant(value * 2 if value else 1.0))
    elif isinstance(value, str) and "->" in value:
        left, _, right = value.partition("->")
        letters = right.strip()
        if len(letters) >= 2:
            yield _said(node, ast.Constant(f"{left}->{letters[:-2]}{letters[-1]}{letters[-2]}"))


def _call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _TAKEN_FOR and isinstance(node.func, ast.Attribute):
        func = ast.Attribute(node.func.value, _TAKEN_FOR[name], ast.Load())
        yield _said(node, ast.Call(func, node.args, node.keywords))
    method = isinstance(node.func, ast.Attribute) and not (
        isinstance(node.func.value, ast.Name) and node.func.value.id in {"np", "numpy", "math"}
    )
    if name not in _SHAPE_ONLY:
        if method and isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Attribute):
            yield _said(node, node.func.value)
        elif node.args and not isinstance(node.args[0], ast.Starred | ast.Constant):
            yield _said(node, node.args[0])
    if len(node.args) >= 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        for i in range(len(node.args) - 1):
            args = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
            yield _said(node, ast.Call(node.func, args, node.keywords))
    for i, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:i], *node.keywords[i + 1 :]]
        if keyword.arg not in {"dtype", "initial"}:
            yield _said(node, ast.Call(node.func, node.args, rest))
        if keyword.arg == "axis":
            for value in (0, -1, -2, None):
                keywords = [*node.keywords]
                keywords[i] = ast.keyword("axis", _number(value))
                yield _said(node, ast.Call(node.func, node.args, keywords))


def _slice(node: ast.Slice) -> Iterator[tuple[str, ast.AST]]:
    if node.lower is not None:
        yield _said(node, ast.Slice(None, node.upper, node.step))
        later = ast.BinOp(node.lower, ast.Add(), ast.Constant(1))
        yield _said(node, ast.Slice(later, node.upper, node.step))
    if node.upper is not None:
        yield _said(node, ast.Slice(node.lower, None, node.step))
        yield _said(node, ast.Slice(node.lower, ast.BinOp(node.upper, ast.Sub(), ast.Constant(1)), node.step))


def _other_parameter(node: ast.Name, definition: ast.FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    parameters = [a.arg for a in definition.args.args]
    if node.id in parameters and len(parameters) > 1:
        other = parameters[(parameters.index(node.id) + 1) % len(parameters)]
        yield f"`{node.id}` → `{other}` (line {node.lineno})", ast.Name(other, ast.Load())


def _number(value: int | None) -> ast.expr:
    if value is not None and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _said(node: ast.AST, replacement: ast.AST) -> tuple[str, ast.AST]:
    ast.fix_missing_locations(replacement)
    return f"`{_short(node)}` → `{_short(replacement)}`", replacement


def _short(node: ast.AST) -> str:
    text = ast.unparse(node) if not isinstance(node, ast.Slice) else ast.unparse(ast.Subscript(ast.Name("·"), node))
    return text if len(text) <= 60 else f"{text[:40]}…{text[-18:]}"
