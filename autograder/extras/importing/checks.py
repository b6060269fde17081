"""Translate a test of the original notebook into a check.

A test becomes calls of ``checking`` helpers if these are equivalent to it, and otherwise plain Python or a probe.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.extras.importing.assertions import (
    AUTOTEST,
    StudentNameRewriter,
    as_probe,
    translate_assertion,
    truth_of,
)
from autograder.extras.importing.pieces import Test
from autograder.extras.importing.program import Statement, locals_of, names_in, parsed_cell, slice_of

__all__ = [
    "Body", "NamesInTests", "Way", "assertions_in", "body_of", "references_of", "title_of", "ways",
]  # fmt: skip


Kind = Literal["words", "python", "probe"]
_ONLY_INSIDE = (ast.Try, ast.With, ast.Delete, ast.Global, ast.ClassDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class NamesInTests:
    """The objects that the names in a test can refer to: functions and variables of exercises, and everything else in the notebook.

    ``program`` contains the statements before the test. ``tests`` contains the numbers of the test cells. ``written`` contains the
    lines that students write, as pairs of cell number and line number.
    """

    functions: frozenset[str]
    classes: frozenset[str]
    variables: frozenset[str]
    program: Sequence[Statement]
    tests: frozenset[int] = frozenset()
    written: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Body:
    """The statements of a test, its title, and the reason why it cannot be imported ("" if it can)."""

    statements: tuple[ast.stmt, ...]
    title: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """One form of a check: the lines of its method, the names that it imports from the solutions, and its probe."""

    kind: Kind
    lines: tuple[str, ...]
    from_solutions: frozenset[str] = frozenset()
    probe: str = ""


def body_of(test: Test, program: Sequence[Statement], error: str = "") -> Body:
    """Return the statements of a cell of tests. If the cell defines one function and calls it, return the function's body.

    ``program`` contains the statements of the notebook, and ``error`` is the error that its own solutions cause in the test, if any.
    """
    tree = parsed_cell(test.code)
    if tree is None:
        return Body((), why_not="Python cannot read it")
    statements, title = list(tree.body), ""
    statements = [s for s in statements if not isinstance(s, ast.Pass)]
    if statements and _text(statements[0]):
        title = _text(statements.pop(0))
    functions = [s for s in statements if isinstance(s, ast.FunctionDef)]
    others = [s for s in statements if s not in functions]
    inside = len(functions) == 1 and any(_asserts(node) for node in ast.walk(functions[0]))
    called = all(_calls(s, functions[0]) for s in others) if inside else False
    if called and (others or functions[0].name.startswith("test")):
        [function] = functions
        statements = list(function.body)
        title = title or (_text(statements[0]) if statements else "")
        title = title or function.name.removeprefix("test_").replace("_", " ")
        if "env" in {a.arg for a in function.args.args}:
            statements = [_Environment().visit(s) for s in statements]
    statements = [s for s in statements if not _text(s)]
    why = f"the notebook's own solutions fail it: {error}" if error else ""
    if statements and isinstance(statements[-1], ast.Expr):
        last = _shown(statements[-1], test)
        why = why or ("" if last is not None else _PARTIAL)
        statements[-1] = last or statements[-1]
    used = {name for s in statements for name in names_in(s)}
    if (
        not why
        and not any(_asserts(node) for s in statements for node in ast.walk(s))
        and not _runs(statements, used, program)
    ):
        why = "it asserts nothing"
    return Body(tuple(statements), " ".join(title.split()), why)


_PARTIAL = "its last line returns a number of points, but a check can only pass or fail"


def _runs(statements: Sequence[ast.stmt], used: Collection[str], program: Sequence[Statement]) -> bool:
    """Return whether statements without assertions still test something: they make a call, and use names of the notebook."""
    calls = any(
        isinstance(n, ast.Call)
        for s in statements
        if not isinstance(s, ast.FunctionDef | ast.ClassDef)
        for n in ast.walk(s)
    )
    return calls and any(s.binds & set(used) for s in program)


def assertions_in(
    body: Iterable[ast.stmt], helpers: Mapping[str, Sequence[ast.stmt]], seen: frozenset[str] = frozenset()
) -> int:
    """Return how many assertions the statements in ``body`` make. A call of a helper adds the helper's assertions. A loop counts only once.

    ``helpers`` contains the bodies of the functions that the statements may call. A ``raise`` counts as an assertion.
    """
    body = list(body)
    own = {s.name: s.body for s in body if isinstance(s, ast.FunctionDef)}
    known = {**helpers, **own}
    total = 0
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Assert | ast.Raise) or (isinstance(node, ast.Call) and _asserts(node)):
                total += 1
            elif isinstance(node, ast.Call) and (called := getattr(node.func, "id", "")) in known.keys() - seen:
                total += assertions_in(known[called], known, seen | {called})
    return total


def title_of(test: Test, body: Body) -> str:
    """Return the title of a check for students: the author's own words, or the first assertion of a visible check."""
    if body.title:
        return body.title.partition("\n")[0].rstrip(".")
    if test.title:
        return test.title
    first = next((node for s in body.statements for node in ast.walk(s) if isinstance(node, ast.Assert)), None)
    if not test.hidden and first is not None:
        text = ast.unparse(first.test)
        return text if len(text) <= 90 else f"{text[:87]}…"
    return "hidden examples" if test.hidden else "the examples"


def references_of(body: Sequence[ast.stmt], names: NamesInTests) -> frozenset[str]:
    """Return the names of exercises that statements use, directly, or through other code in the notebook or an earlier test."""
    asked = names_in(ast.Module(list(body), [])) | {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)}
    targets = names.functions | names.variables
    through = slice_of(asked - targets - locals_of(body), names.program, without=targets)
    return frozenset(asked | {name for s in through for name in s.uses}) & targets


def ways(test: Test, body: Body, names: NamesInTests, answers: Sequence[str] = ()) -> list[Way]:
    """Return the possible forms of a test as a check of its exercise, best first. ``answers`` contains the exercise's variables."""
    found: list[Way] = []
    automatic = any(isinstance(n, ast.Name) and n.id == AUTOTEST for s in body.statements for n in ast.walk(s))
    before = _worked_out(body.statements, names)
    if before is not None:
        statements = [*(ast.parse(s.text).body[0] for s in before), *body.statements]
        own = locals_of(statements)
        given = (names_in(ast.Module(statements, [])) - names.functions - names.variables - own) - {AUTOTEST}
        known = frozenset(n for s in names.program for n in s.binds)
        if not own & (names.functions | names.variables):
            lines = _lines(statements, _student(names, own), plain=False, hidden=test.hidden, message=test.message)
            if lines:
                found.append(Way("words", tuple(lines), given & known))
            if not any(isinstance(node, _ONLY_INSIDE) or _prints(node) for s in statements for node in ast.walk(s)):
                lines = _lines(statements, _student(names, own), plain=True, hidden=test.hidden, message=test.message)
                found += [Way("python", tuple(lines), given & known)] if lines else []
    if not automatic:
        probe = Way(
            "probe",
            (),
            frozenset(),
            as_probe([*_of_tests(body.statements, names), *body.statements], answers, hidden=test.hidden),
        )
        # Students run visible checks in their notebook, which can replay a probe, but not plain Python.
        found.insert(len(found) if test.hidden else sum(way.kind == "words" for way in found), probe)
    return found


def _of_tests(body: Sequence[ast.stmt], names: NamesInTests) -> list[ast.stmt]:
    """Return the statements of earlier tests that a test needs, because students' notebooks do not contain these statements."""
    asked = names_in(ast.Module(list(body), [])) - locals_of(body)
    latest = {name: s.origin for s in names.program for name in s.binds}
    wanted = {name for name in asked if latest.get(name) in names.tests}
    earlier = [s for s in names.program if s.origin in names.tests]
    return [ast.parse(s.text).body[0] for s in slice_of(wanted, earlier, without=names.functions | names.variables)]


def _student(names: NamesInTests, own: frozenset[str]) -> StudentNameRewriter:
    student = StudentNameRewriter(names.functions, names.variables, own)
    student.classes = set(names.classes)
    return student


def _worked_out(body: Sequence[ast.stmt], names: NamesInTests) -> list[Statement] | None:
    """Return the earlier statements of the notebook that a test needs and that depend on exercises.

    Return None if the test also needs other code that students write, because only a probe can use that code.
    """
    targets = names.functions | names.variables
    asked = names_in(ast.Module(list(body), [])) - targets - locals_of(body)
    through = slice_of(asked, names.program, without=targets)
    leaning: set[str] = set(targets)
    kept: list[Statement] = []
    grew = True
    while grew:  # a helper may use another helper that is defined below it
        grew = False
        for statement in through:
            if statement not in kept and statement.uses & leaning:
                kept.append(statement)
                leaning |= statement.binds
                grew = True
    for statement in through:
        lines = range(statement.line, (statement.node.end_lineno or statement.line) + 1)
        if not statement.is_import and any((statement.origin, line) in names.written for line in lines):
            return None
    return [s for s in through if s in kept]


def _lines(
    statements: Sequence[ast.stmt], student: StudentNameRewriter, *, plain: bool, hidden: bool, message: str
) -> list[str] | None:
    """Return the lines of a check's method. Without ``plain``, return None if a statement has no equivalent helper."""
    lines: list[str] = []
    for node in statements:
        found = _line(node, student, plain=plain, hidden=hidden, message=message)
        if found is None:
            return None
        lines += found
    return lines


def _line(node: ast.stmt, student: StudentNameRewriter, *, plain: bool, hidden: bool, message: str) -> list[str] | None:
    words = translate_assertion(node, student)
    if words is not None:
        return words
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "print"
    ):
        return []
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and student.whole(node.value)
    ):
        return [ast.unparse(student.changed(node.value))]  # a call of an object's method
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return [] if isinstance(node, ast.Pass) else ast.unparse(node).splitlines()
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [t.id for t in targets if isinstance(t, ast.Name)]
        if student.whole(node.value) and len(names) == len(targets):
            student.answers.update(names)
            made = node.value.func if isinstance(node.value, ast.Call) else None
            if isinstance(made, ast.Name) and made.id in student.classes:
                student.objects.update(names)
        elif student.asks(node.value) and not plain:
            return None
        return ast.unparse(student.visit(ast.parse(ast.unparse(node)))).splitlines()
    if isinstance(node, ast.For) and not node.orelse:
        inner = _lines(node.body, student, plain=plain, hidden=hidden, message=message)
        if inner is None or (not plain and student.asks(node.iter)):
            return None
        head = f"for {ast.unparse(node.target)} in {ast.unparse(student.changed(node.iter))}:"
        return [head, *(f"    {line}" for line in inner or ["pass"])]
    if not plain:
        return None
    if isinstance(node, ast.Assert) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and truth_of(node.value)
    ):
        return _plain_assertion(node, student, hidden=hidden, message=message)
    if isinstance(node, ast.Raise):
        return [f"raise CheckFailed({message or 'The result is not what the task asks for.'!r})"]
    return ast.unparse(
        _Plainly(student, hidden=hidden, message=message).visit(ast.parse(ast.unparse(node)))
    ).splitlines()


def _plain_assertion(node: ast.stmt, student: StudentNameRewriter, *, hidden: bool, message: str) -> list[str]:
    if isinstance(node, ast.Assert):
        test, said = node.test, node.msg
    else:
        assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)  # noqa: S101, PT018 - as was checked above
        test, said = truth_of(node.value) or node.value, None
    text = "The result is not what a hidden test expects." if hidden else f"`{ast.unparse(test)}` is false."
    words = ast.unparse(student.changed(said)) if said is not None else repr(message or text)
    return [f"if not ({ast.unparse(student.changed(test))}):", f"    raise CheckFailed({words})"]


class _Plainly(ast.NodeTransformer):
    """A rewriter that turns a test's assertions into failures of a check and makes names refer to the student's objects."""

    def __init__(self, student: StudentNameRewriter, *, hidden: bool, message: str) -> None:
        self.student, self.hidden, self.message = student, hidden, message

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        lines = _plain_assertion(node, self.student, hidden=self.hidden, message=self.message)
        return ast.parse("\n".join(lines)).body[0]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.student.visit_Name(node)


class _Environment(ast.NodeTransformer):
    """A rewriter that replaces Otter's ``env["name"]`` with ``name``."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        named = isinstance(node.value, ast.Name) and node.value.id == "env" and isinstance(node.slice, ast.Constant)
        if named and isinstance(node.slice, ast.Constant) and str(node.slice.value).isidentifier():
            return ast.copy_location(ast.Name(str(node.slice.value), node.ctx), node)
        return node


def _calls(node: ast.stmt, function: ast.FunctionDef) -> bool:
    """Return whether a statement calls ``function`` with variables that are named like its parameters."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    call = node.value
    return getattr(call.func, "id", "") == function.name and all(
        isinstance(a, ast.Name) and a.id == p.arg for a, p in zip(call.args, function.args.args, strict=False)
    )


def _shown(last: ast.Expr, test: Test) -> ast.stmt | None:
    """Return the statement that replaces a test's last expression. In Otter, it is an assertion. Return None if it is a number of points."""
    value = last.value
    if _asserts(last):
        return last
    if test.question:  # a test of an Otter question
        expected = _expression(test.expected)
        if isinstance(value, ast.Constant) and value.value is None:
            return ast.Pass()
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "print" and len(value.args) == 1:
            printed = ast.Call(ast.Name("str", ast.Load()), value.args, [])
            return ast.Assert(
                ast.Compare(printed, [ast.Eq()], [ast.Constant((test.expected or "").rstrip("\n"))]), None
            )
        if test.expected in {"True", None}:
            return ast.Assert(value, None)
        if expected is not None:
            return ast.Assert(ast.Compare(value, [ast.Eq()], [expected]), None)
        text = ast.Call(ast.Name("repr", ast.Load()), [value], [])
        return ast.Assert(ast.Compare(text, [ast.Eq()], [ast.Constant(test.expected)]), None)
    return last if isinstance(value, ast.Call | ast.Constant) else None


def _expression(text: str | None) -> ast.expr | None:
    """Parse printed text as an expression. Return None if it is not a value such as a number, a list or ``array([1, 2])``."""
    try:
        tree = ast.parse((text or "").strip(), mode="eval").body
        if isinstance(tree, ast.Call) and getattr(tree.func, "id", "") == "array" and not tree.keywords:
            ast.literal_eval(tree.args[0])
            tree.func = ast.Attribute(ast.Name("np", ast.Load()), "array", ast.Load())
            return tree
        ast.literal_eval(tree)
    except (ValueError, SyntaxError, IndexError, RecursionError, MemoryError, TypeError):
        return None
    return tree


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert | ast.Raise):
        return True
    call = node.value if isinstance(node, ast.Expr) else node
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return bool(re.match(r"assert|eq_$|ok_$|raises$", name)) or name == AUTOTEST


def _prints(node: ast.AST) -> bool:
    """Return whether ``node`` passes a ``print`` call to a function. The printed text would mix with the grader's output."""
    return isinstance(node, ast.Call) and any(
        isinstance(a, ast.Call) and getattr(a.func, "id", "") == "print" for a in node.args
    )


def _text(node: ast.stmt) -> str:
    found = node.value if isinstance(node, ast.Expr) else None
    return found.value.strip() if isinstance(found, ast.Constant) and isinstance(found.value, str) else ""
