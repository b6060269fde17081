"""A test that the words of checks cannot say, as a probe: its own code, run beside the student's function."""

from __future__ import annotations

import ast
from collections.abc import Sequence

__all__ = ["PROBE_HEAD", "as_probe", "without_raises"]

PROBE_HEAD = """\
class NotAsAsked(Exception):
    pass


def probe(function):
    methods = list(vars(function).values()) if isinstance(function, type) else []
    names = next((f.__globals__ for f in (function, *methods) if hasattr(f, "__globals__")), None)
    if names is None:
        raise NotAsAsked("it was not written with def or class")
    before = dict(names)
    names["NotAsAsked"] = NotAsAsked
    try:
        exec(TEST, names)
    except AssertionError as error:
        raise NotAsAsked(" ".join(str(error).split()) or "a condition of its test does not hold")
    finally:
        for name in list(names):
            if name not in before:
                del names[name]
        names.update(before)
    return True
"""


def as_probe(body: Sequence[ast.stmt], *, hidden: bool) -> str:
    """The text of a probe that runs ``body`` where the student's names are; what fails is said as a sentence."""
    plain = _Said(hidden=hidden)
    code = "\n".join(ast.unparse(ast.fix_missing_locations(plain.visit(without_raises(node)))) for node in body)
    quoted = f'"""\\\n{code}\n"""' if '"""' not in code and "\\" not in code else repr(code)
    return f"TEST = {quoted}\n\n\n{PROBE_HEAD}"


def without_raises(node: ast.stmt) -> ast.stmt:
    """``with pytest.raises(E):`` and ``assert_raises(E, f, …)`` as a try statement, for which no package is needed."""
    changed = _Raises().visit(ast.parse(ast.unparse(node)).body[0])
    assert isinstance(changed, ast.stmt)  # noqa: S101 - it was one
    return ast.fix_missing_locations(changed)


class _Raises(ast.NodeTransformer):
    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        expected = _expected(node.items[0].context_expr) if len(node.items) == 1 else None
        return _try(node.body, expected) if expected is not None else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        expected = _expected(node.value)
        if expected is None or not isinstance(node.value, ast.Call) or len(node.value.args) < 2:
            return node
        _, function, *arguments = node.value.args
        return _try([ast.Expr(ast.Call(function, arguments, node.value.keywords))], expected)


def _expected(node: ast.expr) -> ast.expr | None:
    if not isinstance(node, ast.Call) or not node.args:
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return node.args[0] if name in {"raises", "assert_raises", "assertRaises"} else None


def _try(body: list[ast.stmt], expected: ast.expr) -> ast.Try:
    what = "; ".join(ast.unparse(statement) for statement in body)
    text = f"`{what}` should raise {ast.unparse(expected)}, and it raised nothing"
    failed = ast.Raise(ast.Call(ast.Name("AssertionError", ast.Load()), [ast.Constant(text)], []), None)
    handler = ast.ExceptHandler(expected, None, [ast.Pass()])
    return ast.Try(body, [handler], [failed], [])


class _Said(ast.NodeTransformer):
    """Each assertion as a sentence of its own; of a hidden one the condition is not told."""

    def __init__(self, *, hidden: bool) -> None:
        self.hidden = hidden

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        said: ast.expr = ast.Constant(
            "a condition of its test does not hold" if self.hidden else f"`{ast.unparse(node.test)}` does not hold"
        )
        said = node.msg if node.msg is not None else said
        failed = ast.Raise(ast.Call(ast.Name("AssertionError", ast.Load()), [said], []), None)
        return ast.If(ast.UnaryOp(ast.Not(), node.test), [failed], [])
