"""A new exercise: its reference, checks, a first misconception, stub and check cell, each in its place, the rest to be written."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.problems import MARK
from autograder.authoring.scaffold import exercise_texts
from autograder.authoring.scaffold.configuration import (
    require_chapter_name,
    require_exercise_name,
    require_parameters,
    require_points,
    with_chapter,
)
from autograder.authoring.scaffold.stubs import Defined, stub_of
from autograder.authoring.scaffold.writing import (
    check_cell,
    code_cell,
    new_notebook,
    prose_cell,
    read,
    same_formatting,
    stub_cell,
    write_all,
)
from autograder.base.errors import CourseError
from autograder.course.course import CONFIG_NAME, Course
from autograder.course.notebook import NotebookError, cell_of, load_document, load_source, notebook_of

__all__ = ["POINTS", "ScaffoldResult", "new_exercise"]

POINTS = 4.0
_CHECKING = "autograder.checking"


@dataclass(frozen=True)
class ScaffoldResult:
    """What was written for an exercise: the files, what is still to be written in each, and whether the chapter is new."""

    files: tuple[Path, ...]
    todo: Mapping[Path, int]
    new_chapter: bool
    from_reference: bool


@dataclass
class _Chapter:
    """The files of a chapter as they are, and as they are to be."""

    course: Course
    name: str
    before: dict[Path, str | None] = field(default_factory=dict)
    after: dict[Path, str] = field(default_factory=dict)

    def text(self, path: Path) -> str | None:
        """The text of a file, with what is to be written into it already."""
        if path in self.after:
            return self.after[path]
        self.before.setdefault(path, read(path))
        return self.before[path]

    def solutions(self, kind: str = "") -> Path:
        """The file of references, or of ``kind`` among the solutions."""
        return self.course.root / "solutions" / kind / f"{self.name}.py"


def new_exercise(
    course: Course, name: str, chapter: str, *, signature: str | None = None, points: float | None = None
) -> ScaffoldResult:
    """Begin the exercise ``name`` of ``chapter``, which is added to the course where it is new.

    A reference of that name that is there already gives the signature and the docstring; a class of checks that is there stays, and
    so does a stub: what is missing is written. Without a reference the parameters are those of ``signature``, by default ``x``.

    Raises ``CourseError``, with nothing written, for a name that cannot be one, where all of it is there already or in another
    chapter, and where a file of the chapter is not what Python or Jupyter can read.
    """
    require_exercise_name(name)
    new_chapter = chapter not in course.chapters
    if new_chapter:
        require_chapter_name(course, chapter)
    if points is not None:
        require_points(points)
    _refuse_elsewhere(course, name, chapter)
    files = _Chapter(course, chapter)
    found, written_in = _reference(files, name, signature)
    from_reference = files.solutions() not in files.after
    checks_are_there = name in [exercise for exercise, _ in CheckFile(course, chapter).exercises]
    worth = _worth_in_the_checks(course, chapter, name) if checks_are_there else None
    if worth is not None and points is not None and worth != points:
        raise CourseError(
            f"The checks of {name} in {course.checks(chapter)} are worth {worth:g} points, and --points says {points:g}. Leave "
            "--points out, or change it there first."
        )
    worth = worth or points or POINTS
    wrote_cells = _notebook(files, name, stub_of(found, written_in), worth)
    if not checks_are_there:
        _checks(files, name, found, worth)
    if not wrote_cells and checks_are_there and from_reference:
        raise CourseError(
            f"{name} is there already: its reference, checks and cells are those of {chapter}. `autograder stubs {chapter}` brings its "
            "stub in line with the reference."
        )
    if not checks_are_there:
        _misconception(files, name, found)
    if new_chapter:
        path = course.root / CONFIG_NAME
        files.after[path] = with_chapter(course, path, files.text(path) or "", chapter)
    # The configuration last: until it is written, the course does not know of the chapter.
    order = sorted(files.after, key=lambda path: path.name == CONFIG_NAME)
    write_all({path: files.after[path] for path in order})
    todo = {path: files.after[path].count(MARK) - (files.before.get(path) or "").count(MARK) for path in order}
    return ScaffoldResult(
        tuple(order), {path: count for path, count in todo.items() if count}, new_chapter, from_reference
    )


def _refuse_elsewhere(course: Course, name: str, chapter: str) -> None:
    """Refuse an exercise that another chapter has."""
    for other in course.chapters:
        if other == chapter:
            continue
        try:
            there = set(load_source(course.source(other))[1].exercises())
        except CourseError:
            there = set()
        if name in there or name in [exercise for exercise, _ in CheckFile(course, other).exercises]:
            raise CourseError(
                f"{name} is an exercise of {other} already, and an exercise has one chapter. Call this one something else."
            )


def _reference(files: _Chapter, name: str, signature: str | None) -> tuple[Defined, str]:
    """The definition of the reference, a function or a class, and the text that it stands in; begun where there is none."""
    path = files.solutions()
    text = files.text(path)
    tree = _tree(path, text)
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            given = _parameters(node) if isinstance(node, ast.FunctionDef) else ""
            if signature is not None and require_parameters(name, signature) != given:
                there = f"{name}{given}" if given else f"a class {name}"
                raise CourseError(
                    f"{path}, line {node.lineno} has {there} already, and --signature says "
                    f"{name}{require_parameters(name, signature)}. Leave --signature out: the stub is made from the reference."
                )
            return node, (text or "").replace("\r\n", "\n")
        if name in _bound_by(node):
            raise CourseError(
                f"{name} in {path}, line {node.lineno}, is no function and no class: stubs are made of these."
            )
    parameters = require_parameters(name, signature) if signature is not None else "(x)"
    begun = exercise_texts.reference(name, parameters)
    if text is None:
        files.after[path] = f'"""Reference solutions."""\n\nimport numpy as np\n\n\n{begun}'
    else:
        files.after[path] = _appended(text, begun)
    [made] = ast.parse(begun).body
    assert isinstance(made, ast.FunctionDef)  # noqa: S101 - which is what was begun
    return made, begun


def _bound_by(node: ast.stmt) -> set[str]:
    """The names that a statement binds otherwise than by ``def`` or ``class``."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    stored = [n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    here = not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return {n.id for n in stored if here} | ({node.name} if isinstance(node, ast.AsyncFunctionDef) else set())


def _worth_in_the_checks(course: Course, chapter: str, name: str) -> float:
    """The points that the class of an exercise says it is worth; those of a new one where it says so in another way."""
    for exercise, node in CheckFile(course, chapter).exercises:
        for mark in node.decorator_list:
            if exercise == name and isinstance(mark, ast.Call):
                given = next((k.value for k in mark.keywords if k.arg == "points"), None)
                if isinstance(given, ast.Constant) and isinstance(given.value, int | float):
                    return float(given.value)
    return POINTS


def _checks(files: _Chapter, name: str, node: Defined, points: float) -> None:
    """Begin the class of checks."""
    path = files.course.checks(files.name)
    text = files.text(path)
    begun = exercise_texts.check_class(name, node, points)
    wanted = {"np": "numpy", "check": _CHECKING, "exercise": _CHECKING, "pure": _CHECKING}
    _add(files, path, text, '"""The checks, hidden and visible."""', wanted, begun)


def _misconception(files: _Chapter, name: str, node: Defined) -> None:
    """Begin a first misconception, where the exercise has none."""
    path = files.solutions("misconceptions")
    text = files.text(path)
    if text is not None and re.search(rf"misconceptions?_of\(\s*['\"]{name}['\"]", text):
        return
    wanted = {"misconceptions_of": "autograder.misconception"} | ({"np": "numpy"} if text is None else {})
    if isinstance(node, ast.ClassDef):
        begun = exercise_texts.class_misconception(name)
    else:
        begun = exercise_texts.misconception(name, _parameters(node))
    title = '"""Wrong solutions, one mistake each, with what a student who makes it should read."""'
    _add(files, path, text, title, wanted, begun)


def _add(files: _Chapter, path: Path, text: str | None, title: str, wanted: dict[str, str], begun: str) -> None:
    """Write ``begun`` below what a file holds, and what it imports below the file's own imports."""
    tree = _tree(path, text)
    if text is None:
        files.after[path] = f"{title}\n\n{exercise_texts.import_lines(wanted, frozenset())}\n\n{begun}"
        return
    bound = frozenset(alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names)  # fmt: skip
    lines = exercise_texts.import_lines(wanted, bound)
    if lines and "*" not in bound:
        imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        opening = tree.body[:1] if tree.body and ast.get_docstring(tree) is not None else []
        last = max([n.end_lineno or 0 for n in (*imports, *opening)], default=0)
        kept = text.splitlines(keepends=True)
        head = "".join(kept[:last])
        blank = "\n" if opening and not imports else ""
        text = f"{head}{'' if not head or head.endswith(chr(10)) else chr(10)}{blank}{lines}{''.join(kept[last:])}"
    files.after[path] = _appended(text, begun)


def _appended(text: str, more: str) -> str:
    """``more`` two empty lines below ``text``, whose own lines stay as they are, in its ends of lines."""
    newline = "\r\n" if "\r\n" in text else "\n"
    stripped = text.rstrip()
    kept = text[: len(stripped)]
    if not kept:
        return more.replace("\n", newline)
    return (
        f"{kept}\n\n\n{more}".replace("\r\n", "\n").replace("\n", newline)
        if newline == "\r\n"
        else f"{kept}\n\n\n{more}"
    )


def _notebook(files: _Chapter, name: str, stub: str, points: float) -> bool:
    """Add the exercise's cells at the end of the notebook, those that are missing; whether there were any."""
    path = files.course.source(files.name)
    text = files.text(path)
    if text is None:
        imports = code_cell("imports", "import numpy as np\nfrom autograder import check, hint", locked=True)
        cells = [prose_cell("title", exercise_texts.notebook_title(files.name)), imports]
        document = new_notebook(*cells, *_cells(name, stub, points))
        files.after[path] = same_formatting(None, document)
        return True
    try:
        document = load_document(text.encode(), path)
        notebook = notebook_of(document, path) if document["cells"] else None
    except NotebookError as error:
        raise CourseError(f"{path} cannot be added to: {str(error).partition('. ')[0].rstrip('.')}.") from error
    there = {cell.grade_id for cell in notebook.cells} if notebook is not None else set()
    missing = [name not in there, f"check_{name}" not in there]
    if not any(missing):
        return False
    prose, stub_, check = _cells(name, stub, points)
    if all(missing):
        document["cells"] += _fitting(document, [prose, stub_, check])
    else:
        # One of the two is there: the other has its place beside it.
        grade_ids = [cell_of(i, cell).grade_id for i, cell in enumerate(document["cells"])]
        at = grade_ids.index(f"check_{name}") if missing[0] else grade_ids.index(name) + 1
        document["cells"][at:at] = _fitting(document, [stub_ if missing[0] else check])
    files.after[path] = same_formatting(text, document)
    return True


def _cells(name: str, stub: str, points: float) -> list[dict[str, Any]]:
    return [prose_cell(f"about_{name}", exercise_texts.task(name)), stub_cell(name, stub), check_cell(name, points)]


def _fitting(document: Mapping[str, Any], cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cells with ids that no other cell of the notebook has, or without where its format knows of none."""
    taken = {cell.get("id") for cell in document["cells"] if isinstance(cell, dict)}
    if (document.get("nbformat", 4), document.get("nbformat_minor", 0)) < (4, 5):
        return [{key: value for key, value in cell.items() if key != "id"} for cell in cells]
    found = []
    for cell in cells:
        name, count = cell["id"], 1
        while name in taken:
            count += 1
            name = f"{cell['id'][:58]}-{count}"
        taken.add(name)
        found.append({**cell, "id": name})
    return found


def _tree(path: Path, text: str | None) -> ast.Module:
    try:
        return ast.parse(text or "")
    except (SyntaxError, ValueError) as error:
        line = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        raise CourseError(f"{path} cannot be added to, as Python cannot read it: {line}. Mend it first.") from error


def _parameters(node: ast.FunctionDef) -> str:
    """The parameters in brackets, without annotations."""
    plain = ast.parse(ast.unparse(node.args).join(["def f(", "): pass"])).body[0]
    assert isinstance(plain, ast.FunctionDef)  # noqa: S101 - which is what was written
    for one in ast.walk(plain.args):
        if isinstance(one, ast.arg):
            one.annotation = None
    return f"({ast.unparse(plain.args)})"
