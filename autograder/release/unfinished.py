"""What an author has still to write: places marked so in a chapter's files, as `autograder new-exercise` leaves them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.notebook import load_source
from autograder.release.mistake import Mistake, SourceNotebook, relative

__all__ = ["MARK", "UNFINISHED", "unfinished_places"]

MARK = "TODO(author)"  # a plain TODO may be meant for students
UNFINISHED = ": still to be written: "  # between the place and what is to be written there
_WHAT = UNFINISHED.removeprefix(": ")
_SAID = re.compile(rf"{re.escape(MARK)}:?[ \t]*(.*)")


def unfinished_places(course: Course, chapter: str) -> list[Mistake]:
    """Every place of a chapter that is marked as still to be written; about the exercise that it belongs to, where one is known."""
    folders = [course.root / "solutions" / kind for kind in ("", "misconceptions", "alternatives")]
    files = [folder / f"{chapter}.py" for folder in folders]
    found: list[Mistake] = []
    for path in [*files, course.checks(chapter)]:
        found += _in_python(course, path)
    return [*found, *_in_notebook(course, chapter, {place.about for place in found})]


def _in_python(course: Course, path: Path) -> Iterator[Mistake]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    if MARK not in text:
        return
    owners = _owners(text)
    for number, what in _marked(text):
        about = next((name for first, last, name in owners if first <= number <= last), "")
        yield Mistake(f"{relative(course, path)}, line {number}", f"{_WHAT}{what}", about=about)


def _in_notebook(course: Course, chapter: str, unfinished: set[str]) -> Iterator[Mistake]:
    path = course.source(chapter)
    try:
        source = SourceNotebook(relative(course, path), *load_source(path))
    except CourseError:
        return  # which is told of by itself
    for cell in source.notebook.cells:
        for number, what in _marked(cell.source):
            exercise = (cell.grade_id or "") if cell.role == "stub" else ""
            if exercise in unfinished:
                break  # its text is that of the reference, which is told of
            if exercise:
                what = f"the docstring. `autograder stubs {chapter}` takes it from the reference."  # noqa: PLW2901
            yield Mistake(source.place(cell, number), f"{_WHAT}{what}", about=exercise)


def _marked(text: str) -> Iterator[tuple[int, str]]:
    """The lines of ``text`` that are marked, with what is said there, quotes and brackets around it aside."""
    for number, line in enumerate(text.splitlines(), start=1):
        for match in _SAID.finditer(line):
            what = match[1].strip().rstrip("\"')").rstrip()
            yield number, f"{what}{'' if what[-1:] in '.?!' else '.'}" if what else "what is marked there."


def _owners(text: str) -> list[tuple[int, int, str]]:
    """The lines of each function and check class, with the exercise that it is about."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    found = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            marks = [mark for mark in node.decorator_list if isinstance(mark, ast.Call) and mark.args]
            named = [mark.args[0].value for mark in marks if isinstance(mark.args[0], ast.Constant)]
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            found.append((first, node.end_lineno or first, str(named[0]) if named else node.name))
    return found
