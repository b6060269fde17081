"""Generate edits of statements, such as dropping one, swapping two or copying an array before it is changed."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from autograder.mistakes.edits.operators import Scope, call_of
from autograder.mistakes.edits.source_text import Edit, Text

__all__ = ["lines_before", "statement_edits", "statement_mutations"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ("body", "orelse", "finalbody")
_DROPPED = (
    ast.Expr, ast.AugAssign, ast.Assign, ast.AnnAssign, ast.If, ast.For, ast.Continue, ast.Break, ast.Raise, ast.Assert, ast.Return,
)  # fmt: skip


def statement_edits(function: Function, text: Text, scope: Scope) -> Iterator[Edit]:
    """Yield all edits of the statements in ``function``."""
    for block, inside in _blocks(function):
        body = _without_docstring(block)
        for statement in body:
            # The end of a special case is not dropped alone. Instead, the whole ``if`` is dropped.
            yield from _alone(statement, text, scope, drops=statement is not body[-1] or _dropped(inside) != "case")
        for one, other in pairwise(body):
            skips = isinstance(one, ast.If) and isinstance(one.body[-1], ast.Continue)
            if not (skips and other is body[-1]):  # at the end of a loop, ``continue`` would do nothing
                yield from _exchanged(one, other, text)
        for one, other in combinations(body, 2):
            yield from _into_the_loop(one, other, text)
        if body:
            yield from _end_of(body, inside, text)
    yield from _copied_first(function, text)
    yield from _new_defaults(function, text)
    yield from _returned_at_the_end(function, text, scope)


def statement_mutations(node: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    """Yield (label, mutation) pairs for the statement ``node``: with its condition negated, or with ``pass`` in its place.

    Only the audit calls this. ``statement_edits`` edits only the text of a condition, and drops more types of statements.
    """
    if isinstance(node, ast.If):
        negated = ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        yield f"if {ast.unparse(node.test)} → if not", negated
    elif isinstance(node, ast.Expr | ast.AugAssign) or (
        isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript)
    ):
        yield f"`{ast.unparse(node)}` left out", ast.Pass()


def lines_before(function: Function, text: Text, lines: Sequence[tuple[str, float]]) -> Iterator[Edit]:
    """Yield edits that each insert one of ``lines``, which are (line, cost) pairs, before a statement of ``function``."""
    for statement in _without_docstring(function.body)[1:]:
        where = text.span(statement)
        if where is not None:
            indent = " " * statement.col_offset
            for line, cost in lines:
                yield Edit(where[0], where[0], f"{line}\n{indent}", text.line(statement), "missing", cost)


def _blocks(function: Function) -> Iterator[tuple[Sequence[ast.stmt], ast.stmt | None]]:
    """Yield every block of statements with the statement that contains it, or with None for the body of ``function``."""
    for node in ast.walk(function):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block, node if isinstance(node, ast.stmt) and node is not function else None


def _without_docstring(block: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    first = block[0]
    docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return block[1:] if docstring else block


def _edit(text: Text, node: ast.stmt | ast.expr, new: str, kind: str, cost: float) -> Iterator[Edit]:
    where = text.span(node)
    if where is not None:
        yield Edit(*where, new, text.line(node), kind, cost)


def _dropped(statement: ast.stmt | None) -> str:
    """Return the kind of an edit that drops ``statement``: "case" for an ``if`` without ``else`` that has one statement or ends in ``return``."""
    match statement:
        case ast.If(body=[_] | [*_, ast.Return()], orelse=[]):
            return "case"
    return "branch" if isinstance(statement, ast.If) else "lines"


def _alone(statement: ast.stmt, text: Text, scope: Scope, *, drops: bool) -> Iterator[Edit]:
    if drops and isinstance(statement, _DROPPED):
        yield from _edit(text, statement, "pass", _dropped(statement), 1.1)
    if isinstance(statement, ast.Break | ast.Continue):
        instead = "continue" if isinstance(statement, ast.Break) else "break"
        yield from _edit(text, statement, instead, "loop", 1.0)
    match statement:
        case ast.AugAssign(target=target, op=op, value=value):
            loaded = ast.parse(ast.unparse(target), mode="eval").body
            yield from _edit(text, statement, _assigned(ast.BinOp(loaded, op, value), target), "inplace", 1.0)
            yield from _edit(text, statement, _assigned(value, target), "update", 1.2)
            for other in (ast.Add, ast.Sub, ast.Mult, ast.Div):
                if not isinstance(op, other):
                    changed = ast.unparse(ast.AugAssign(target, other(), value))
                    yield from _edit(text, statement, changed, "operator", 1.0)
        case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
            if isinstance(target, ast.Name) and isinstance(value, ast.Name):
                yield from _edit(text, statement, f"{value.id} = {target.id}", "order", 1.0)
            elif isinstance(target, ast.Name) and not isinstance(value, ast.Constant):
                for neutral in "10":  # of a factor and of a summand
                    yield from _edit(text, value, neutral, "extra", 1.5)
            for op in (ast.Add(), ast.Sub(), ast.Mult()):
                yield from _edit(text, statement, ast.unparse(ast.AugAssign(target, op, value)), "update", 1.4)
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                yield from _chosen(statement, target.value, target.slice, value, text, scope)
            if isinstance(target, ast.Subscript):
                for name in scope.variables:
                    other_name = ast.Subscript(ast.Name(name, ast.Load()), target.slice, ast.Store())
                    yield from _edit(text, statement, _assigned(value, other_name), "variable", 1.3)
                for index in _other_targets(target.slice):
                    changed_target = ast.Subscript(target.value, index, ast.Store())
                    yield from _edit(text, statement, _assigned(value, changed_target), "index", 1.1)
                    # Assign both, for example to fill both triangles of a symmetric matrix.
                    yield from _edit(text, statement, _assigned(value, target, changed_target), "missing", 1.2)
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value) if len(names) > 1:
            swapped = ast.Tuple([names[1], names[0], *names[2:]], ast.Store())
            yield from _edit(text, statement, _assigned(value, swapped), "order", 1.0)
        case ast.If(test=test, body=[*_, last], orelse=[]) if not isinstance(last, ast.Return):
            yield from _condition(test, text, scope, "always")
        case ast.If(test=test) | ast.While(test=test):
            yield from _condition(test, text, scope, "branch")
        case ast.Return(value=ast.expr() as value):
            yield from _returns(statement, value, text, scope)


def _assigned(value: ast.expr, *targets: ast.expr) -> str:
    return ast.unparse(ast.Assign([*targets], value, lineno=0))


def _chosen(
    statement: ast.stmt, array: ast.Name, mask: ast.expr, value: ast.expr, text: Text, scope: Scope
) -> Iterator[Edit]:
    """Replace ``array[mask] = value`` with a call of ``where``, which broadcasts and creates a new array."""
    if isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert):
        mask = mask.operand
    if isinstance(mask, ast.Name | ast.Compare):
        old, new, under = array.id, ast.unparse(value), ast.unparse(mask)
        for one, other in ((old, new), (new, old)):
            changed = f"{old} = {scope.numpy}.where({under}, {one}, {other})"
            yield from _edit(text, statement, changed, "expression", 1.3)


def _condition(test: ast.expr, text: Text, scope: Scope, always: str) -> Iterator[Edit]:
    whole = ast.unparse(test)
    for new, kind, cost in ((f"not ({whole})", "condition", 1.0), ("True", always, 1.2), ("False", "branch", 1.2)):
        yield from _edit(text, test, new, kind, cost)
    for name in scope.parameters:
        yield from _edit(text, test, f"({whole}) and {name} is not None", "condition", 1.6)


def _other_targets(index: ast.expr) -> Iterator[ast.expr]:
    if isinstance(index, ast.Tuple):
        for i in range(len(index.elts) - 1):
            swapped = [*index.elts[:i], index.elts[i + 1], index.elts[i], *index.elts[i + 2 :]]
            yield ast.Tuple(swapped, ast.Load())
    yield ast.Tuple([ast.Constant(...), index], ast.Load())
    yield ast.Tuple([ast.Slice(), index], ast.Load())
    yield ast.UnaryOp(ast.Invert(), index)


def _exchanged(one: ast.stmt, other: ast.stmt, text: Text) -> Iterator[Edit]:
    """Exchange two statements, or move an assignment from after a loop to the end of the loop's body."""
    spans = text.span(one), text.span(other)
    if spans[0] is None or spans[1] is None or isinstance(other, ast.Return):
        return
    if isinstance(one, ast.For | ast.While) and isinstance(other, ast.Assign | ast.AugAssign):
        inside = f"{text.of(one)}\n{' ' * one.body[0].col_offset}{text.of(other)}"
        yield Edit(spans[0][0], spans[1][1], inside, text.line(other), "place", 1.0)
    between = text.between(spans[0][1], spans[1][0])
    new = f"{text.of(other)}{between}{text.of(one)}"
    if isinstance(one, ast.Assign | ast.AugAssign | ast.Expr | ast.If | ast.For):
        yield Edit(spans[0][0], spans[1][1], new, text.line(one if hasattr(other, "body") else other), "place", 1.3)


def _into_the_loop(one: ast.stmt, loop: ast.stmt, text: Text) -> Iterator[Edit]:
    """Move an assignment from before a loop to the beginning of the loop's body."""
    if not isinstance(one, ast.Assign) or not isinstance(loop, ast.For | ast.While):
        return
    spans = text.span(one), text.span(loop), text.span(loop.body[0])
    if spans[0] is None or spans[1] is None or spans[2] is None or loop.body[0].lineno == loop.lineno:
        return
    head = text.between(spans[0][1], spans[2][0]).lstrip()
    new = f"{head}{text.of(one)}\n{' ' * loop.body[0].col_offset}"
    yield Edit(spans[0][0], spans[2][0], new, text.line(one), "place", 1.2)


def _returns(statement: ast.Return, value: ast.expr, text: Text, scope: Scope) -> Iterator[Edit]:
    """Yield edits that return a copy, one item of a tuple, a variable with or without the result, a number or another shape."""
    whole = ast.unparse(value)
    for unless, answer in (("not", False), ("", True)):  # a loop should go on unless the answer is known
        yield from _edit(text, statement, f"if {unless} ({whole}): return {answer}", "returned", 1.2)
    for part in value.elts if isinstance(value, ast.Tuple) else [value]:
        if isinstance(part, ast.Name):
            yield from _edit(text, part, f"{part.id}.copy()", "inplace", 0.9)
    if isinstance(value, ast.Tuple):
        for part in value.elts:
            yield from _edit(text, statement, f"return {ast.unparse(part)}", "returned", 1.1)
    else:
        for name in scope.variables:
            if name != whole:
                yield from _edit(text, statement, f"return ({whole}), {name}", "returned", 1.2)
                yield from _edit(text, statement, f"return {name}, ({whole})", "returned", 1.3)
                yield from _edit(text, statement, f"return {name}", "returned", 1.2)
        for form in ("float({})", "({})[0]", "({}).T", f"{scope.numpy}.array({{}})", f"{scope.numpy}.squeeze({{}})"):
            yield from _edit(text, statement, f"return {form.format(whole)}", "returned", 1.2)
    for shape in (f"{name}.shape{end}" for name in scope.parameters for end in ("", "[:-1]")):
        yield from _edit(text, statement, f"return {scope.numpy}.reshape({whole}, {shape})", "shape", 1.5)


def _end_of(body: Sequence[ast.stmt], inside: ast.stmt | None, text: Text) -> Iterator[Edit]:
    """Move the last statement of a loop or another block out of it, for example a ``return`` that comes too early."""
    last = body[-1]
    where = text.span(last)
    if where is None or inside is None or not isinstance(inside, ast.For | ast.While | ast.If | ast.With):
        return
    indent = " " * inside.col_offset
    moved = textwrap.indent(textwrap.dedent(" " * last.col_offset + text.of(last)), indent)
    early = isinstance(last, ast.Return)
    if not isinstance(inside, ast.If) or (early and len(body) > 1):  # otherwise the ``if`` would do nothing
        yield Edit(*where, f"pass\n{moved}", text.line(last), "returned" if early else "place", 1.0 if early else 1.4)


def _copied_first(function: Function, text: Text) -> Iterator[Edit]:
    """Copy a parameter that the function changes, at the start of the function."""
    parameters = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
    body = _without_docstring(function.body)
    where = text.span(body[0]) if body else None
    if where is None:
        return
    indent = " " * body[0].col_offset
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Call):
            continue
        if isinstance(node, ast.Call):
            targets = _changed_by(node)
        else:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in (part for one in targets for part in (one.elts if isinstance(one, ast.Tuple) else [one])):
            base = target
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            bare = isinstance(node, ast.Assign) and base is target
            if isinstance(base, ast.Name) and base.id in parameters and not bare:
                copy = f"{base.id} = {base.id}.copy()\n{indent}"
                yield Edit(where[0], where[0], copy, text.line(node), "inplace", 1.0)


# Methods that change their object, and functions that change their first argument.
_CHANGE_OBJECT = frozenset({
    "add", "append", "clear", "discard", "extend", "fill", "insert", "partition", "pop", "put", "remove", "resize", "reverse",
    "setdefault", "sort", "update",
})  # fmt: skip
_CHANGE_ARGUMENT = frozenset({"at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle"})


def _changed_by(call: ast.Call) -> list[ast.expr]:
    """Return the values that a call changes, judging by its name and its keyword ``out``."""
    name, is_method = call_of(call)
    changed = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
    if is_method and name in _CHANGE_OBJECT and isinstance(call.func, ast.Attribute):
        changed.append(call.func.value)
    return changed + (call.args[:1] if name in _CHANGE_ARGUMENT else [])


def _new_defaults(function: Function, text: Text) -> Iterator[Edit]:
    """Create a mutable default value in each call, so that the calls do not share one list, dictionary or set."""
    where = text.span(_without_docstring(function.body)[0]) if _without_docstring(function.body) else None
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    defaults = function.args.defaults
    for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True):
        if where is not None and isinstance(value, ast.Dict | ast.List | ast.Set | ast.Call):
            indent = " " * function.body[0].col_offset
            new = f"{name} = {ast.unparse(value)}\n{indent}"
            yield Edit(where[0], where[0], new, text.line(function), "default", 0.9)


def _returned_at_the_end(function: Function, text: Text, scope: Scope) -> Iterator[Edit]:
    """Yield edits that return the value of the last line or a variable, if the function does not end with a ``return``."""
    last = function.body[-1]
    where = text.span(last)
    if where is None or isinstance(last, ast.Return):
        return
    indent = " " * last.col_offset
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant):
        yield from _edit(text, last, f"return {text.of(last)}", "returned", 1.0)
    end = text.end_line(last)
    for name in reversed(scope.variables):
        yield Edit(where[1], where[1], f"\n{indent}return {name}", end, "returned", 1.1)
