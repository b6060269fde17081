"""Create stubs from references, with the same parameters, defaults and docstring but without the solution."""

from __future__ import annotations

import ast
import builtins
import copy
import textwrap
from dataclasses import dataclass

from autograder.authoring.release.problems import MARK
from autograder.authoring.release.stubs import Definition, class_header, definition_of, parameters_of
from autograder.authoring.scaffold.writing import read, same_formatting, set_source, write_all
from autograder.base.attempt import parsed
from autograder.course.course import Course
from autograder.course.notebook import load_source
from autograder.judging.loader import load_checks

__all__ = ["StubUpdate", "stub_of", "update_stubs"]

_BLANK = "raise NotImplementedError"


@dataclass(frozen=True)
class StubUpdate:
    """The names of the updated stubs, and a message for each stub that could not be updated."""

    changed: tuple[str, ...]
    left: tuple[str, ...]


def update_stubs(course: Course, chapter: str) -> StubUpdate:
    """Update the parameters and docstring of each stub of ``chapter`` that differs from its reference.

    Code below the docstring, other cells, outputs and the file's formatting do not change. Raises ``CourseError`` if the
    chapter's notebook or solutions cannot be read.
    """
    path = course.source(chapter)
    document, notebook = load_source(path)
    before = read(path)
    changed, left = [], []
    checks = load_checks(course, chapter)
    for name, spec in checks.specs.items():
        cell = notebook.stub(name)
        reference = definition_of(checks.references[name])
        if spec.answers or reference is None:
            continue
        if cell is None or cell.kind != "code":
            command = f"autograder new-exercise {name} --chapter {chapter}"
            left.append(f"{name} has no stub in {path}: `{command}` adds its cells.")
            continue
        source = _updated(name, cell.source, *reference)
        if source is None:
            definition = f"class {name}:" if isinstance(reference[0], ast.ClassDef) else f"def {name}(…):"
            left.append(
                f"The stub of {name} in {path} has no `{definition}`, or a syntax error, so it was not changed. Fix the stub, or "
                "delete its two cells and run `autograder new-exercise` to create them again."
            )
        elif source != cell.source:
            set_source(document["cells"][cell.index], source)
            changed.append(name)
    if changed:
        write_all({path: same_formatting(before, document)})
    return StubUpdate(tuple(changed), tuple(left))


def stub_of(node: Definition, source: str) -> str:
    """Return the source of a blank stub for the definition ``node`` in ``source``."""
    docstring = _docstring(node, source)
    inside = [f"    {docstring}"] if docstring else []
    if isinstance(node, ast.FunctionDef):
        return "\n".join([_header(node), *inside, f"    {_BLANK}"])
    methods = [textwrap.indent(_blank_method(method, source), "    ") for method in _methods(node)]
    parts = [*(["\n".join(inside)] if inside else []), *methods]
    return f"{class_header(node)}\n" + "\n\n".join(parts or ["    pass"])


def _blank_method(node: ast.FunctionDef, source: str) -> str:
    marks = [f"@{ast.unparse(mark)}" for mark in node.decorator_list]
    first, *others = (_docstring(node, source) or "").split("\n")
    docstring = [f"    {first}"] * bool(first) + [line.removeprefix("    ") for line in others]
    return "\n".join([*marks, _header(node), *docstring, f"    {_BLANK}"])


def _docstring(node: Definition, source: str) -> str | None:
    """Return the docstring of a definition as written in ``source``, including quotes, or None if it has none."""
    if ast.get_docstring(node, clean=False) is None:
        return None
    return ast.get_source_segment(source, node.body[0])


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Return the methods that students write. Private methods of the reference are left out."""
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    special = {m.name for m in methods if m.name.startswith("__") and (ast.get_docstring(m) or m.name == "__init__")}
    return [m for m in methods if not m.name.startswith("_") or m.name in special]


def _updated(name: str, source: str, node: Definition, reference: str) -> str | None:
    """Return a stub cell's source with the reference's headers and docstrings, or None if the cell does not define ``name``."""
    tree = parsed(source)
    kinds = (ast.ClassDef,) if isinstance(node, ast.ClassDef) else (ast.FunctionDef, ast.AsyncFunctionDef)
    stubs = [n for n in tree.body if isinstance(n, kinds) and n.name == name] if tree is not None else []
    if not stubs:
        return None
    stub = stubs[-1]
    changed = _with_top(source, stub, node, reference)
    theirs = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    lines, shift = changed.split("\n"), changed.count("\n") - source.count("\n")
    for method in reversed(_methods(stub) if isinstance(stub, ast.ClassDef) else []):
        if method.name not in theirs and MARK in ast.unparse(method):  # a method left over from the template
            del lines[method.lineno - 1 + shift : (method.end_lineno or 0) + shift + 1]
    changed = "\n".join(lines).rstrip("\n")
    for method in _methods(node) if isinstance(node, ast.ClassDef) else ():
        body = ast.parse(changed).body
        cls = next(n for n in reversed(body) if isinstance(n, ast.ClassDef) and n.name == name)
        own = next((n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == method.name), None)
        if own is not None:
            changed = _with_top(changed, own, method, reference)
        else:
            lines = changed.split("\n")
            text = textwrap.indent(_blank_method(method, reference), "    ").split("\n")
            changed = "\n".join([*lines[: cls.end_lineno], "", *text, *lines[cls.end_lineno or 0 :]])
    return changed


def _with_top(source: str, stub: Definition | ast.AsyncFunctionDef, node: Definition, reference: str) -> str:
    """Return ``source`` with the header and docstring of ``stub`` replaced by those of ``node`` if they differ."""
    docstring, own = _docstring(node, reference), ast.get_docstring(stub)
    wanted = ast.get_docstring(node) if docstring else None
    # Keep the author's formatting of whatever is already right.
    new_docstring = docstring if wanted not in {None, own} else None
    header_of_it = _header(node) if isinstance(node, ast.FunctionDef) else ""
    new_header = None
    if isinstance(node, ast.ClassDef) and isinstance(stub, ast.ClassDef) and class_header(stub) != class_header(node):
        new_header = class_header(node)
    if isinstance(node, ast.FunctionDef) and not isinstance(stub, ast.ClassDef):
        new_header = header_of_it if parameters_of(stub) != parameters_of(node) else None
    if new_docstring is None and new_header is None:
        return source
    lines = source.split("\n")
    above, below = lines[: stub.lineno - 1], lines[stub.end_lineno or stub.lineno :]
    end, first, outside = _header_end(source, stub), stub.body[0], " " * stub.col_offset
    if header_of_it and first.lineno <= end:  # the body begins on the header's line
        rest = stub.body[1:] if own is not None else stub.body
        text = docstring or (ast.unparse(stub.body[0]) if own is not None else "")
        inside = [text] * bool(text) + [ast.unparse(one) for one in rest]
        return "\n".join([*above, f"{outside}{header_of_it}", *(f"{outside}    {line}" for line in inside), *below])
    header = [f"{outside}{new_header}"] if new_header else lines[stub.lineno - 1 : end]
    docstring_end = (first.end_lineno or first.lineno) if own is not None else end
    docstring_lines = lines[end:docstring_end]
    if new_docstring:
        before = lines[end : first.lineno - 1] if own is not None else []
        docstring_lines = [*before, f"{' ' * first.col_offset}{new_docstring}"]
    return "\n".join([*above, *header, *docstring_lines, *lines[docstring_end:]])


def _header_end(source: str, stub: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    """Return the number of the line with the colon that ends a definition's header."""
    first: int = stub.lineno
    for last in range(first, stub.body[0].lineno):
        text = textwrap.dedent("\n".join(source.split("\n")[first - 1 : last]))
        try:
            ast.parse(f"{text}\n    pass")
        except SyntaxError:
            continue
        return last
    return first


def _header(node: ast.FunctionDef) -> str:
    """Return ``def name(parameters):`` with only the annotations that need no import."""
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
