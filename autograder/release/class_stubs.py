"""The stub of a class, held against the reference: its methods, their parameters and docstrings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator

from autograder.course import Course
from autograder.notebook import Cell
from autograder.release.mistake import Mistake, SourceNotebook, did_you_mean, place_of_function
from autograder.release.stub_texts import first_difference, parameters_of
from autograder.release.worked_examples import wrong_examples

__all__ = ["class_mistakes"]

Methods = dict[str, ast.FunctionDef]


def class_mistakes(
    source: SourceNotebook, cell: Cell, tree: ast.Module, reference: type, course: Course
) -> Iterator[Mistake]:
    """What is wrong with the stub of a class in ``cell``, whose right solution is ``reference``."""
    name = cell.grade_id or ""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    stub = next((node for node in reversed(classes) if node.name == name), None)
    where = place_of_function(course, reference)
    if stub is None:
        defined = [node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        said = f"it defines {', '.join(defined)}" if defined else "it defines no class"
        line = tree.body[0].lineno if tree.body else None
        yield Mistake(
            source.place(cell, line),
            f"{said}, and its checks ask for the class {name}, as in {where}: write class {name}.{did_you_mean(name, defined)}",
            about=name,
        )
        return
    right = _definition(reference)
    if right is None:
        return
    if (text := ast.get_docstring(stub)) != (told := ast.get_docstring(right)) and told:
        yield Mistake(
            source.place(cell, stub.body[0].lineno),
            f"the stub's docstring and that of the reference in {where} differ{first_difference(text or '', told)}. Make them equal: "
            "`autograder stubs` gives the stub the reference's.",
            about=name,
        )
    ours, theirs = _methods(stub), _methods(right)
    for method, node in theirs.items():
        if method.startswith("_") and not method.startswith("__"):
            continue  # a help of the reference's own
        if method not in ours:
            if ast.get_docstring(node) or not method.startswith("__"):
                near = did_you_mean(method, ours.keys() - theirs.keys())
                yield Mistake(
                    source.place(cell, stub.lineno),
                    f"the stub has no method {method}, and the reference in {where} has: write def {method}({parameters_of(node)}) "
                    f"with its docstring and raise NotImplementedError, or let its name begin with an underscore there.{near}",
                    about=name,
                )
            continue
        yield from _method(source, cell, (name, where), ours[method], node)
    for method, node in ours.items():
        if method not in theirs and not hasattr(reference, method):
            near = did_you_mean(method, theirs.keys() - ours.keys())
            yield Mistake(
                source.place(cell, node.lineno),
                f"the stub has a method {method}, and the reference in {where} has none.{near}",
                about=name,
            )
    for line, why in wrong_examples(name, text or told or "", reference, course.limits.call_seconds):
        first = stub.body[0].lineno if text else None
        yield Mistake(source.place(cell, first + line - 1) if first else where, why, about=name)


def _method(
    source: SourceNotebook, cell: Cell, about: tuple[str, str], stub: ast.FunctionDef, right: ast.FunctionDef
) -> Iterator[Mistake]:
    name, where = about
    label = f"{name}.{stub.name}"
    if parameters_of(stub) != parameters_of(right):
        yield Mistake(
            source.place(cell, stub.lineno),
            f"the stub is {label}({parameters_of(stub)}), and the reference in {where} is {label}({parameters_of(right)}). "
            "Give both the same parameters and defaults: `autograder stubs` gives the stub the reference's.",
            about=name,
        )
    if [ast.unparse(mark) for mark in stub.decorator_list] != [ast.unparse(mark) for mark in right.decorator_list]:
        marks = [f"@{ast.unparse(mark)}" for mark in right.decorator_list] or ["nothing"]
        yield Mistake(
            source.place(cell, stub.lineno),
            f"above {label} stands {', '.join(marks)} in the reference in {where}, and something else in the stub.",
            about=name,
        )
    text, told = ast.get_docstring(stub), ast.get_docstring(right)
    if told and text != told:
        yield Mistake(
            source.place(cell, stub.body[0].lineno),
            f"the docstring of {label} and that of the reference in {where} differ{first_difference(text or '', told)}. "
            "Make them equal: `autograder stubs` gives the stub the reference's.",
            about=name,
        )


def _definition(reference: type) -> ast.ClassDef | None:
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(reference))).body
    except (OSError, TypeError, SyntaxError):
        return None
    return body[0] if body and isinstance(body[0], ast.ClassDef) else None


def _methods(cls: ast.ClassDef) -> Methods:
    return {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
