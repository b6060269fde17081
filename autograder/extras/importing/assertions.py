"""Translate a test's assertions into calls of ``checking`` helpers, or a whole test into a probe."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Sequence

__all__ = [
    "AUTOTEST", "PROBE_HEAD", "StudentNameRewriter", "as_probe", "translate_assertion", "truth_of", "without_raises",
]  # fmt: skip

_TESTING = {
    "assert_equal": "equal", "assert_equals": "equal", "eq_": "equal", "assert_array_equal": "equal", "assertEqual": "equal",
    "assert_allclose": "allclose", "assert_almost_equal": "almost", "assert_array_almost_equal": "almost",
    "assert_true": "true", "assert_false": "false", "ok_": "true",
}  # fmt: skip
_DECIMALS = {"assert_almost_equal": 7, "assert_array_almost_equal": 6}
_EQUAL = frozenset({"array_equal", "array_equiv"})
_CLOSE = {"isclose": (1e-05, 1e-08), "allclose": (1e-05, 1e-08)}
AUTOTEST = "__autotest__"


class StudentNameRewriter(ast.NodeTransformer):
    """A rewriter that makes test code use the student's functions and variables: ``f(2)`` becomes ``student.f(2)``.

    ``functions`` and ``variables`` contain the names of exercises. ``own`` contains names that the test binds itself, which do not change.
    """

    def __init__(
        self, functions: Collection[str], variables: Collection[str], own: Collection[str], who: str = "student"
    ) -> None:
        self.functions = set(functions) - set(own)
        self.variables = set(variables) - set(own)
        self.who = who
        self.answers: set[str] = set()  # local names that hold an unchanged return value of a student's function
        self.classes: set[str] = set()  # the names in ``functions`` that are classes
        self.objects: set[str] = set()  # local names of objects of these classes

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Rewrite a name that is read."""
        if isinstance(node.ctx, ast.Load) and node.id in self.functions:
            return ast.copy_location(ast.Attribute(ast.Name(self.who, ast.Load()), node.id, ast.Load()), node)
        if isinstance(node.ctx, ast.Load) and node.id in self.variables:
            return ast.copy_location(
                ast.Subscript(ast.Name(self.who, ast.Load()), ast.Constant(node.id), ast.Load()), node
            )
        return node

    def asks(self, node: ast.AST) -> bool:
        """Return whether ``node`` uses a function or variable of the student."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return bool(names & (self.functions | self.variables | self.answers))

    def whole(self, node: ast.AST) -> bool:
        """Return whether ``node`` is just a student's variable or return value, or an attribute, method call or length of an object."""
        if isinstance(node, ast.Name):
            return node.id in self.variables or node.id in self.answers
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
            return isinstance(node.args[0], ast.Name) and node.args[0].id in self.objects
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func  # a method of an object
        if isinstance(node, ast.Attribute):
            return isinstance(node.value, ast.Name) and node.value.id in self.objects
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.functions

    def changed(self, node: ast.expr) -> ast.expr:
        """Return ``node`` with the student's names rewritten."""
        changed = self.visit(ast.parse(ast.unparse(node), mode="eval").body)
        assert isinstance(changed, ast.expr)  # noqa: S101 - rewriting keeps the type
        return changed


def translate_assertion(node: ast.stmt, student: StudentNameRewriter) -> list[str] | None:
    """Return lines of a check that are equivalent to an assertion, or None if no helper is equivalent to the assertion."""
    if isinstance(node, ast.Assert):
        return _condition(node.test, student)
    tried = without_raises(node)
    if isinstance(tried, ast.Try):
        return _raised(tried, student)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _called(node.value, student)
    return None


def truth_of(call: ast.Call) -> ast.expr | None:
    """Return the condition that a call such as ``assert_true(a)`` asserts, or None for any other call."""
    kind = _TESTING.get(_name(call))
    if kind in {"true", "false"} and call.args:
        return call.args[0] if kind == "true" else ast.UnaryOp(ast.Not(), call.args[0])
    return None


def _raised(node: ast.Try, student: StudentNameRewriter) -> list[str] | None:
    """Translate a ``try`` statement in which ``f(0)`` has to raise an error into ``student.raises(ValueError).f(0)``."""
    call = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], ast.Expr) else None
    fails = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.Raise | ast.Assert)
    if call is None or not fails or len(node.handlers) != 1 or node.finalbody:
        return None
    caught = node.handlers[0]
    if not all(isinstance(statement, ast.Pass) for statement in caught.body) or caught.type is None:
        return None
    errors = caught.type.elts if isinstance(caught.type, ast.Tuple) else [caught.type]
    names = [error.id for error in errors if isinstance(error, ast.Name)]
    plain = (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in student.functions - student.classes
    )
    if len(names) != len(errors) or not plain:
        return None
    wanted = ", ".join(name if hasattr(builtins, name) else repr(name) for name in names)
    return [ast.unparse(student.changed(call)).replace("student.", f"student.raises({wanted}).", 1)]


def _condition(test: ast.expr, student: StudentNameRewriter) -> list[str] | None:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        parts = [_condition(part, student) for part in test.values]
        return None if None in parts else [line for part in parts for line in part or ()]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and student.whole(test.operand):
        return _matches(test.operand, ast.Constant(value=False), student)
    if isinstance(test, ast.Compare):
        return _compared(test, student)
    if isinstance(test, ast.Call):
        found = _close(test, student)
        if found is not None:
            return found
    return _matches(test, ast.Constant(value=True), student) if student.whole(test) else None


def _compared(test: ast.Compare, student: StudentNameRewriter) -> list[str] | None:
    if len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        return _equal(test.left, test.comparators[0], student)
    if len(test.ops) == 1 and isinstance(test.ops[0], ast.Is) and isinstance(test.comparators[0], ast.Constant):
        return _equal(test.left, test.comparators[0], student)
    if len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt | ast.LtE):
        distance = test.left
        if isinstance(distance, ast.Call) and _name(distance) in {"abs", "fabs"} and len(distance.args) == 1:
            inner, bound = distance.args[0], test.comparators[0]
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub) and not student.asks(bound):
                return _either(inner.left, inner.right, student, "rtol=0", f"atol={ast.unparse(bound)}", "dtype=False")
    return _bounds(test, student)


def _bounds(test: ast.Compare, student: StudentNameRewriter) -> list[str] | None:
    """Translate ``low <= value <= high`` into ``assert_within``. Return None for strict bounds and other comparisons."""
    sides = [test.left, *test.comparators]
    wholes = [i for i, side in enumerate(sides) if student.whole(side)]
    if len(wholes) != 1 or len(sides) > 3 or any(student.asks(s) for i, s in enumerate(sides) if i != wholes[0]):
        return None
    place, bounds = wholes[0], []
    for i, op in enumerate(test.ops):
        other = sides[i] if i + 1 == place else sides[i + 1] if i == place else None
        if other is None or not isinstance(op, ast.LtE | ast.GtE):
            return None
        above = isinstance(op, ast.LtE) == (i == place)
        bounds.append(f"{'high' if above else 'low'}={ast.unparse(other)}")
    return [f"assert_within({ast.unparse(student.changed(sides[place]))}, {', '.join(sorted(bounds, reverse=True))})"]


def _equal(left: ast.expr, right: ast.expr, student: StudentNameRewriter) -> list[str] | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(other, ast.Call) and _name(other) == "approx" and other.args:
            how = {k.arg: ast.unparse(k.value) for k in other.keywords}
            rtol, atol = how.get("rel", "0" if "abs" in how else "1e-06"), how.get("abs", "1e-12")
            return _either(one, other.args[0], student, f"rtol={rtol}", f"atol={atol}", "dtype=False")
        shape = isinstance(one, ast.Attribute) and one.attr == "shape" and student.whole(one.value)
        if shape and isinstance(one, ast.Attribute) and not student.asks(other):
            return [f"assert_shape({ast.unparse(student.changed(one.value))}, {ast.unparse(other)})"]
    return _either(left, right, student)


def _close(test: ast.Call, student: StudentNameRewriter) -> list[str] | None:
    name = _name(test)
    if name == "all":
        inner = (
            test.func.value if isinstance(test.func, ast.Attribute) and not test.args else next(iter(test.args), None)
        )
        if isinstance(inner, ast.Compare) and len(inner.ops) == 1 and isinstance(inner.ops[0], ast.Eq):
            return _either(inner.left, inner.comparators[0], student)
        return _close(inner, student) if isinstance(inner, ast.Call) else None
    if name in _EQUAL and len(test.args) == 2:
        return _either(test.args[0], test.args[1], student)
    if name in _CLOSE and len(test.args) >= 2:
        how = {k.arg: ast.unparse(k.value) for k in test.keywords}
        owner = ast.unparse(test.func).partition(".")[0]
        rtol, atol = ("1e-09", "0") if owner == "math" else map(repr, _CLOSE[name])
        positional = [ast.unparse(a) for a in test.args[2:4]]
        rtol = how.get("rtol", how.get("rel_tol", positional[0] if positional else rtol))
        atol = how.get("atol", how.get("abs_tol", positional[1] if positional[1:] else atol))
        return _either(test.args[0], test.args[1], student, f"rtol={rtol}", f"atol={atol}", "dtype=False")
    return None


def _called(call: ast.Call, student: StudentNameRewriter) -> list[str] | None:
    name = _name(call)
    if name == AUTOTEST:
        return _autotest(call.args[0], student) if call.args else None
    kind = _TESTING.get(name)
    if kind is None or not call.args:
        return None
    if kind in {"true", "false"}:
        condition = truth_of(call)
        return _condition(condition, student) if condition is not None else None
    if len(call.args) < 2:
        return None
    how = {k.arg: ast.unparse(k.value) for k in call.keywords}
    if kind == "equal":
        return _either(call.args[0], call.args[1], student)
    if kind == "allclose":
        extra = [f"rtol={how.get('rtol', '1e-07')}", f"atol={how.get('atol', '0')}"]
    else:
        extra = ["rtol=0", f"atol=1.5 * 10 ** -{how.get('decimal', how.get('places', _DECIMALS[name]))}"]
        extra = ["rtol=0", f"atol=1.5 * 10 ** -{ast.unparse(call.args[2])}"] if len(call.args) > 2 else extra
    return _either(call.args[0], call.args[1], student, *extra, "dtype=False")


def _autotest(asked: ast.expr, student: StudentNameRewriter) -> list[str] | None:
    """Translate an nbgrader autotest. nbgrader computes the expected value at release, but the check calls the reference instead."""
    if student.whole(asked) and isinstance(asked, ast.Call):
        return [ast.unparse(student.changed(asked)).replace("student.", "agrees.", 1)]
    if not student.asks(asked):
        return None
    reference = StudentNameRewriter(student.functions, student.variables, (), who="reference")
    return [
        f"assert_matches({ast.unparse(student.changed(asked))}, {ast.unparse(reference.changed(asked))}, call={ast.unparse(asked)!r})"
    ]


def _either(left: ast.expr, right: ast.expr, student: StudentNameRewriter, *how: str) -> list[str] | None:
    if student.whole(left):
        return _matches(left, right, student, *how)
    return _matches(right, left, student, *how) if student.whole(right) else None


def _matches(found: ast.expr, right: ast.expr, student: StudentNameRewriter, *how: str) -> list[str]:
    said = ", ".join([ast.unparse(student.changed(found)), ast.unparse(student.changed(right)), *how])
    return [f"assert_matches({said})"]


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


# --- probes -----------------------------------------------------------------------------------------------------------


PROBE_HEAD = """\
from contextlib import redirect_stdout
from io import StringIO


class NotAsAsked(Exception):
    pass


def probe(function, *values):
    if ANSWERS and all(value is None or value is ... for value in values):
        raise NameError("there is no answer yet")
    methods = list(vars(function).values()) if isinstance(function, type) else []
    names = next((f.__globals__ for f in (function, *methods) if hasattr(f, "__globals__")), None)
    if names is None:
        raise NotAsAsked("it was not written with def or class")
    before = dict(names)
    names.update(zip(ANSWERS, values), NotAsAsked=NotAsAsked)
    try:
        with redirect_stdout(StringIO()):
            exec(TEST, names)
    except AssertionError as error:
        raise NotAsAsked(" ".join(str(error).split()) or "a condition of its test is false")
    finally:
        for name in list(names):
            if name not in before:
                del names[name]
        names.update(before)
    return True
"""


def as_probe(body: Sequence[ast.stmt], answers: Sequence[str], *, hidden: bool) -> str:
    """Return the source of a probe that runs ``body`` next to the student's code and reports failures as readable messages.

    If ``answers`` are given, the probe runs ``body`` only if at least one of these variables has a value.
    """
    plain = _Said(hidden=hidden)
    code = "\n".join(ast.unparse(ast.fix_missing_locations(plain.visit(without_raises(node)))) for node in body)
    quoted = f'"""\\\n{code}\n"""' if '"""' not in code and "\\" not in code else repr(code)
    return f"ANSWERS = {list(answers)!r}\nTEST = {quoted}\n\n\n{PROBE_HEAD}"


def without_raises(node: ast.stmt) -> ast.stmt:
    """Rewrite ``with pytest.raises(E):`` and ``assert_raises(E, f, …)`` as a try statement, which needs no package."""
    changed = _Raises().visit(ast.parse(ast.unparse(node)).body[0])
    assert isinstance(changed, ast.stmt)  # noqa: S101 - rewriting keeps the type
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
    text = f"`{what}` should raise {ast.unparse(expected)}, but it raised no error"
    failed = ast.Raise(ast.Call(ast.Name("AssertionError", ast.Load()), [ast.Constant(text)], []), None)
    handler = ast.ExceptHandler(expected, None, [ast.Pass()])
    return ast.Try(body, [handler], [failed], [])


class _Said(ast.NodeTransformer):
    """A rewriter that gives each assertion a message. The message of a hidden assertion does not show the condition."""

    def __init__(self, *, hidden: bool) -> None:
        self.hidden = hidden

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        said: ast.expr = ast.Constant(
            "a condition of its test is false" if self.hidden else f"`{ast.unparse(node.test)}` is false"
        )
        said = node.msg if node.msg is not None else said
        failed = ast.Raise(ast.Call(ast.Name("AssertionError", ast.Load()), [said], []), None)
        return ast.If(ast.UnaryOp(ast.Not(), node.test), [failed], [])
