"""Add an exercise: outlines of its reference, checks and first misconception, and its stub and check cells."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.problems import MARK
from autograder.authoring.release.stubs import Definition, parameters_of
from autograder.authoring.scaffold import writing
from autograder.base.attempt import bound_names
from autograder.base.errors import CourseError
from autograder.base.foreign import Json
from autograder.course.course import CONFIG_NAME, Course
from autograder.course.notebook import NotebookError, cell_of, load_document, notebook_of
from autograder.extras.new_exercise import configuration, exercise_texts
from autograder.extras.new_exercise.stub_cells import stub_of

__all__ = ["POINTS", "ScaffoldResult", "new_exercise"]

POINTS = 4.0
_CHECKING = "autograder.checking"


@dataclass(frozen=True)
class ScaffoldResult:
    """The result of adding an exercise.

    Attributes:
        files: the files that were written.
        todo: the number of new TODO marks in each file.
        new_chapter: whether the chapter is new.
        from_reference: whether the reference already existed.
    """

    files: tuple[Path, ...]
    todo: Mapping[Path, int]
    new_chapter: bool
    from_reference: bool


@dataclass
class _Chapter:
    """The current and the new texts of a chapter's files."""

    course: Course
    name: str
    before: dict[Path, str | None] = field(default_factory=dict)
    after: dict[Path, str] = field(default_factory=dict)

    def text(self, path: Path) -> str | None:
        """Return the new text of a file. If there is none, return its current text, or None if the file does not exist."""
        if path in self.after:
            return self.after[path]
        self.before.setdefault(path, writing.read(path))
        return self.before[path]

    def solutions(self, kind: str = "") -> Path:
        """Return the chapter's file of references, or its file in the subfolder ``kind`` of ``solutions``."""
        return self.course.root / "solutions" / kind / f"{self.name}.py"


def new_exercise(
    course: Course, name: str, chapter: str, *, signature: str | None = None, points: float | None = None
) -> ScaffoldResult:
    """Write the missing parts of the exercise ``name``. Add ``chapter`` to the course if it is new.

    An existing reference provides the signature and the docstring. Existing checks and stubs are kept. Without a reference,
    the parameters come from ``signature`` and default to ``x``.

    Raises ``CourseError``, before anything is written, if the name is invalid, if the exercise is complete, or if a file
    of the chapter cannot be read or parsed.
    """
    configuration.require_exercise_name(name)
    new_chapter = chapter not in course.chapters
    if new_chapter:
        configuration.require_chapter_name(course, chapter)
    if points is not None:
        configuration.require_points(points)
    files = _Chapter(course, chapter)
    reference, reference_text = _reference(files, name, signature)
    from_reference = files.solutions() not in files.after
    checks_are_there = name in [exercise for exercise, _ in CheckFile(course, chapter).exercises]
    worth = _worth_in_the_checks(course, chapter, name) if checks_are_there else None
    if worth is not None and points is not None and worth != points:
        raise CourseError(
            f"The checks of {name} in {course.checks(chapter)} have {worth:g} points, but --points is {points:g}. Omit "
            "--points, or change the points in that file first."
        )
    worth = worth or points or POINTS
    wrote_cells = _notebook(files, name, stub_of(reference, reference_text), worth)
    if not checks_are_there:
        _checks(files, name, reference, worth)
    if not wrote_cells and checks_are_there and from_reference:
        raise CourseError(
            f"{name} already has a reference, checks and cells in {chapter}. `autograder stubs {chapter}` updates its "
            "stub from the reference."
        )
    if not checks_are_there:
        _misconception(files, name, reference)
    if new_chapter:
        path = course.root / CONFIG_NAME
        files.after[path] = configuration.with_chapter(course, path, files.text(path) or "", chapter)
    # Write the configuration last, because it adds the chapter to the course.
    order = sorted(files.after, key=lambda path: path.name == CONFIG_NAME)
    writing.write_all({path: files.after[path] for path in order})
    todo = {path: files.after[path].count(MARK) - (files.before.get(path) or "").count(MARK) for path in order}
    todo = {path: count for path, count in todo.items() if count}
    return ScaffoldResult(tuple(order), todo, new_chapter, from_reference)


def _reference(files: _Chapter, name: str, signature: str | None) -> tuple[Definition, str]:
    """Return the definition of the reference (a function or class) and the source that contains it. If there is none, add an outline."""
    path = files.solutions()
    text = files.text(path)
    tree = _tree(path, text)
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            given = f"({parameters_of(node)})" if isinstance(node, ast.FunctionDef) else ""
            if signature is not None and configuration.require_parameters(name, signature) != given:
                there = f"{name}{given}" if given else f"a class {name}"
                raise CourseError(
                    f"{path}, line {node.lineno} already defines {there}, but --signature is "
                    f"{name}{configuration.require_parameters(name, signature)}. Omit --signature: the stub is created from the reference."
                )
            return node, (text or "").replace("\r\n", "\n")
        if name in bound_names(node):
            why = "is neither a function nor a class, so it cannot have a stub"
            raise CourseError(f"{name} in {path}, line {node.lineno}, {why}.")
    parameters = configuration.require_parameters(name, signature) if signature is not None else "(x)"
    kind, inside = ("class_reference", parameters[1:-1]) if name[:1].isupper() else ("reference", parameters)
    outline = exercise_texts.outline(kind, name, parameters=inside)
    if text is None:
        files.after[path] = f'"""Reference solutions."""\n\nimport numpy as np\n\n\n{outline}'
    else:
        files.after[path] = _appended(text, outline)
    [definition] = ast.parse(outline).body
    assert isinstance(definition, ast.FunctionDef | ast.ClassDef)  # noqa: S101 - the templates contain nothing else
    return definition, outline


def _worth_in_the_checks(course: Course, chapter: str, name: str) -> float:
    """Return the points in an exercise's decorator, or the default if they are not a number literal."""
    for exercise, node in CheckFile(course, chapter).exercises:
        for mark in node.decorator_list:
            if exercise == name and isinstance(mark, ast.Call):
                given = next((k.value for k in mark.keywords if k.arg == "points"), None)
                if isinstance(given, ast.Constant) and isinstance(given.value, int | float):
                    return float(given.value)
    return POINTS


def _checks(files: _Chapter, name: str, node: Definition, points: float) -> None:
    path = files.course.checks(files.name)
    text = files.text(path)
    outline = exercise_texts.check_class(name, node, points)
    wanted = {"np": "numpy", "check": _CHECKING, "exercise": _CHECKING, "pure": _CHECKING}
    _add(files, path, text, '"""The checks, hidden and visible."""', wanted, outline)


def _misconception(files: _Chapter, name: str, node: Definition) -> None:
    path = files.solutions("misconceptions")
    text = files.text(path)
    if text is not None and re.search(rf"misconceptions?_of\(\s*['\"]{name}['\"]", text):
        return
    wanted = {"misconceptions_of": "autograder.misconception"} | ({"np": "numpy"} if text is None else {})
    if isinstance(node, ast.ClassDef):
        outline = exercise_texts.outline("class_misconception", name, title=name[:1].upper() + name[1:])
    else:
        outline = exercise_texts.outline("misconception", name, parameters=f"({parameters_of(node)})")
    title = '"""Wrong solutions, one mistake each, with the message for a student who makes it."""'
    _add(files, path, text, title, wanted, outline)


def _add(files: _Chapter, path: Path, text: str | None, title: str, wanted: dict[str, str], outline: str) -> None:
    """Append ``outline`` to a file, and add the ``wanted`` imports below the file's own imports."""
    tree = _tree(path, text)
    if text is None:
        files.after[path] = f"{title}\n\n{exercise_texts.import_lines(wanted, frozenset())}\n\n{outline}"
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
    files.after[path] = _appended(text, outline)


def _appended(text: str, more: str) -> str:
    """Return ``text``, two empty lines, and ``more`` with the line endings of ``text``."""
    newline = "\r\n" if "\r\n" in text else "\n"
    stripped = text.rstrip()
    kept = text[: len(stripped)]
    if not kept:
        return more.replace("\n", newline)
    appended = f"{kept}\n\n\n{more}"
    return appended.replace("\r\n", "\n").replace("\n", newline) if newline == "\r\n" else appended


def _notebook(files: _Chapter, name: str, stub: str, points: float) -> bool:
    """Add the exercise's missing cells to the notebook. Return whether any were missing."""
    path = files.course.source(files.name)
    text = files.text(path)
    if text is None:
        imports = writing.code_cell("imports", "import numpy as np\nfrom autograder import check, hint", locked=True)
        cells = [writing.prose_cell("title", exercise_texts.notebook_title(files.name)), imports]
        document = writing.new_notebook(*cells, *_cells(name, stub, points))
        files.after[path] = writing.same_formatting(None, document)
        return True
    try:
        document = load_document(text.encode(), path)
        notebook = notebook_of(document, path) if document["cells"] else None
    except NotebookError as error:
        raise CourseError(f"Cannot add to {path}: {str(error).partition('. ')[0].rstrip('.')}.") from error
    there = {cell.grade_id for cell in notebook.cells} if notebook is not None else set()
    missing = [name not in there, f"check_{name}" not in there]
    if not any(missing):
        return False
    prose, stub_, check = _cells(name, stub, points)
    if all(missing):
        document["cells"] += _fitting(document, [prose, stub_, check])
    else:
        # If only one of the stub and check cells exists, add the other next to it.
        grade_ids = [cell_of(i, cell).grade_id for i, cell in enumerate(document["cells"])]
        at = grade_ids.index(f"check_{name}") if missing[0] else grade_ids.index(name) + 1
        document["cells"][at:at] = _fitting(document, [stub_ if missing[0] else check])
    files.after[path] = writing.same_formatting(text, document)
    return True


def _cells(name: str, stub: str, points: float) -> list[dict[str, Json]]:
    text = writing.prose_cell(f"about_{name}", exercise_texts.outline("task", name).rstrip())
    return [text, writing.stub_cell(name, stub), writing.check_cell(name, points)]


def _fitting(document: Mapping[str, Json], cells: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Return the cells with unique ids, or without ids if the notebook's format has none."""
    taken = {cell.get("id") for cell in document["cells"] if isinstance(cell, dict)}
    if (document.get("nbformat", 4), document.get("nbformat_minor", 0)) < (4, 5):
        return [{key: value for key, value in cell.items() if key != "id"} for cell in cells]
    unique = []
    for cell in cells:
        name, count = cell["id"], 1
        while name in taken:
            count += 1
            name = f"{cell['id'][:58]}-{count}"
        taken.add(name)
        unique.append({**cell, "id": name})
    return unique


def _tree(path: Path, text: str | None) -> ast.Module:
    try:
        return ast.parse(text or "")
    except (SyntaxError, ValueError) as error:
        line = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        raise CourseError(f"Cannot add to {path}, because Python cannot read it: {line}. Fix it first.") from error
