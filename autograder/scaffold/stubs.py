"""Stubs made from their references: the same parameters, defaults and docstring, and nothing of the answer."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.attempt import parsed
from autograder.course import Course
from autograder.judging.loader import load_checks
from autograder.notebook import load_source
from autograder.release.stubs import definition_of, parameters_of
from autograder.scaffold.cells import set_source, written_alike
from autograder.scaffold.writing import read, write_all

__all__ = ["Renewed", "reference_of", "renew_stubs", "stub_of"]

_BLANK = "raise NotImplementedError"


@dataclass(frozen=True)
class Renewed:
    """What came of the stubs of a chapter: which were written anew, and sentences about those that could not be."""

    changed: tuple[str, ...]
    left: tuple[str, ...]


def renew_stubs(course: Course, chapter: str) -> Renewed:
    """Give each stub of ``chapter`` the parameters and the docstring of its reference, where the two differ.

    What stands below a docstring, other cells, outputs and the file's layout stay as they are. Raises ``CourseError`` where the
    chapter's notebook or solutions cannot be read.
    """
    path = course.source(chapter)
    document, notebook = load_source(path)
    before = read(path)
    changed, left = [], []
    checks = load_checks(course, chapter)
    for name, spec in checks.specs.items():
        cell = notebook.stub(name)
        reference = reference_of(checks.references[name])
        if spec.answers or reference is None:
            continue
        if cell is None or cell.kind != "code":
            left.append(
                f"{name} has no stub in {path}: `autograder new-exercise {name} --chapter {chapter}` adds its cells."
            )
            continue
        source = _renewed(name, cell.source, *reference)
        if source is None:
            left.append(
                f"The stub of {name} in {path} is no cell in which Python finds `def {name}(…):`, so it was left as it is. Mend it, "
                "or delete its two cells and let `autograder new-exercise` make them anew."
            )
        elif source != cell.source:
            set_source(document["cells"][cell.index], source)
            changed.append(name)
    if changed:
        write_all({path: written_alike(before, document)})
    return Renewed(tuple(changed), tuple(left))


def reference_of(function: Callable[..., Any]) -> tuple[ast.FunctionDef, str | None] | None:
    """The definition of a reference, and its docstring as it is written there; None for what is no plain function."""
    node = definition_of(function)
    if node is None:
        return None
    return node, docstring_of(node, textwrap.dedent(inspect.getsource(inspect.unwrap(function))))


def docstring_of(node: ast.FunctionDef | ast.AsyncFunctionDef, source: str) -> str | None:
    """The docstring of a definition in ``source`` as it is written, quotes and all; None where it has none."""
    if ast.get_docstring(node, clean=False) is None:
        return None
    return ast.get_source_segment(source, node.body[0])


def stub_of(node: ast.FunctionDef, docstring: str | None) -> str:
    """The text of a blank stub."""
    inside = f"    {docstring}\n" if docstring else ""
    return f"{_header(node)}\n{inside}    {_BLANK}"


def _renewed(name: str, source: str, node: ast.FunctionDef, docstring: str | None) -> str | None:
    """The text of a stub's cell with the first lines of its function as the reference has them; None where it has no such function."""
    tree = parsed(source)
    if tree is None:
        return None
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == name]
    if not functions:
        return None
    stub = functions[-1]
    own = ast.get_docstring(stub)
    wanted = ast.get_docstring(node) if docstring else None
    # What is right already stays as its author laid it out.
    new_docstring = docstring if wanted not in {None, own} else None
    new_header = _header(node) if parameters_of(stub) != parameters_of(node) else None
    if new_docstring is None and new_header is None:
        return source
    lines = source.split("\n")
    above, below = lines[: stub.lineno - 1], lines[stub.end_lineno or stub.lineno :]
    end, first = _header_end(source, stub), stub.body[0]
    if first.lineno <= end:  # its body begins in the line of the def
        rest = stub.body[1:] if own is not None else stub.body
        told = (
            [f"    {new_docstring or docstring}"]
            if docstring
            else [f"    {ast.unparse(stub.body[0])}"]
            if own is not None
            else []
        )
        return "\n".join(
            [*above, new_header or _header(node), *told, *(f"    {ast.unparse(one)}" for one in rest), *below]
        )
    header = [new_header] if new_header else lines[stub.lineno - 1 : end]
    told_until = (first.end_lineno or first.lineno) if own is not None else end
    told = lines[end:told_until]
    if new_docstring:
        told = [*(lines[end : first.lineno - 1] if own is not None else ()), f"{' ' * first.col_offset}{new_docstring}"]
    return "\n".join([*above, *header, *told, *lines[told_until:]])


def _header_end(source: str, stub: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The number of the line in which the first line of a function ends, that with its colon."""
    first = stub.lineno
    for last in range(first, stub.body[0].lineno):
        text = textwrap.dedent("\n".join(source.split("\n")[first - 1 : last]))
        try:
            ast.parse(f"{text}\n    pass")
        except SyntaxError:
            continue
        return last
    return first


def _header(node: ast.FunctionDef) -> str:
    """``def name(parameters):``, with those annotations that a notebook can read without importing anything."""
    plain = copy.deepcopy(node)
    plain.decorator_list, plain.body = [], [ast.Pass()]
    for one in ast.walk(plain.args):
        if isinstance(one, ast.arg) and not _is_known(one.annotation):
            one.annotation = None
    if not _is_known(plain.returns):
        plain.returns = None
    return ast.unparse(ast.fix_missing_locations(plain)).rpartition("\n")[0]


def _is_known(annotation: ast.expr | None) -> bool:
    names = (n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)) if annotation is not None else ()
    return all(hasattr(builtins, name) for name in names)
