"""Problems that an author has to fix before a release, each as a readable message with its location."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.base import attempt
from autograder.base.errors import CourseError
from autograder.base.foreign import Json, Value
from autograder.course.course import Course
from autograder.course.notebook import Cell, Notebook, load_source

__all__ = [
    "MARK", "NOT_BLANK", "UNFINISHED", "Mistake", "SourceNotebook", "called_name", "calls_in", "did_you_mean",
    "place_of_function", "relative", "unfinished_places",
]  # fmt: skip


# Prefix of ``Mistake.about`` if a stub is not blank. Such a mistake is dropped if the trial run reports that the stub earns points.
NOT_BLANK = "not blank:"
_NEAR = 0.7  # if two names are at least this similar, one may be a misspelling of the other


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake and its location: a file and line, or a cell of the notebook.

    ``about`` is the exercise or file with the mistake. Follow-on mistakes about it are not reported.
    """

    where: str
    what: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


@dataclass(frozen=True, slots=True)
class SourceNotebook:
    """A chapter's source notebook, as JSON and parsed, with readable names for its cells."""

    label: str
    document: Mapping[str, Json]
    notebook: Notebook

    @classmethod
    def of(cls, course: Course, chapter: str) -> SourceNotebook:
        """Load the notebook of ``chapter``. Raises ``CourseError`` if it cannot be used."""
        path = course.source(chapter)
        return cls(relative(course, path), *load_source(path))

    @property
    def code(self) -> list[Cell]:
        """The code cells, in order."""
        return [cell for cell in self.notebook.cells if cell.kind == "code"]

    def marks(self, cell: Cell) -> Mapping[str, Json]:
        """Return a cell's nbgrader metadata, or an empty mapping."""
        raw = self.document["cells"][cell.index]
        metadata = raw.get("metadata") if isinstance(raw, dict) else None
        marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        return marks if isinstance(marks, dict) else {}

    def name(self, cell: Cell) -> str:
        """Return a cell's readable name: its grade id, or its number as "Restart and run all" counts cells."""
        if cell.grade_id:
            return f"cell {cell.grade_id}"
        if cell.kind != "code":
            return f"cell {cell.index + 1} (counting all cells)"
        return f"code cell {1 + sum(other.index < cell.index for other in self.code)}"

    def place(self, cell: Cell, line: int | None = None) -> str:
        """Return the location of a cell, or of one of its lines, counted from 1."""
        return f"{self.label}, {self.name(cell)}" + (f", line {line}" if line else "")


def relative(course: Course, path: Path | str) -> str:
    """Return ``path``, relative to the course folder if it is inside that folder."""
    path = Path(path)
    return str(path.relative_to(course.root)) if path.is_relative_to(course.root) else str(path)


def place_of_function(course: Course, function: Callable[..., Value]) -> str:
    """Return the file and line of one of the course's functions, or "" if it has no code of its own, as for a quiz."""
    if isinstance(function, type):
        try:
            path, (_, line) = inspect.getsourcefile(function) or "", inspect.getsourcelines(function)
        except (OSError, TypeError):
            return ""
        return f"{relative(course, path)}, line {line}"
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    return f"{relative(course, code.co_filename)}, line {code.co_firstlineno}" if code is not None else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question such as `` Did you mean x?`` if ``name`` is similar to one of ``known``, else ""."""
    near = difflib.get_close_matches(name, sorted(set(known) - {name}), 1, _NEAR)
    return f" Did you mean {near[0]}?" if near else ""


def calls_in(cell: Cell) -> Iterator[ast.Call]:
    """Yield the calls in a cell's source. Yield nothing if it has a syntax error."""
    tree = attempt.parsed(cell.source)
    yield from (node for node in ast.walk(tree or ast.Pass()) if isinstance(node, ast.Call))


def called_name(call: ast.Call) -> str:
    """Return the name of a called function or method, or "" for other expressions."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


MARK = "TODO(author)"  # a bare TODO may be meant for students
UNFINISHED = ": still to be written: "  # between the location and the description
_WHAT = UNFINISHED.removeprefix(": ")
_SAID = re.compile(rf"{re.escape(MARK)}:?[ \t]*(.*)")


def unfinished_places(course: Course, chapter: str) -> list[Mistake]:
    """Return a mistake for each part of a chapter that is marked as unfinished. It names the exercise if that is known."""
    folders = [course.root / "solutions" / kind for kind in ("", "misconceptions", "alternatives")]
    files = [folder / f"{chapter}.py" for folder in folders]
    mistakes: list[Mistake] = []
    for path in [*files, course.checks(chapter)]:
        mistakes += _in_python(course, path)
    return [*mistakes, *_in_notebook(course, chapter, {place.about for place in mistakes})]


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
    try:
        source = SourceNotebook.of(course, chapter)
    except CourseError:
        return  # reported separately
    for cell in source.notebook.cells:
        for number, what in _marked(cell.source):
            exercise = (cell.grade_id or "") if cell.role == "stub" else ""
            if exercise in unfinished:
                break  # the docstring is copied from the reference, whose marker is already reported
            if exercise:
                what = f"the docstring. `autograder stubs {chapter}` takes it from the reference."  # noqa: PLW2901
            yield Mistake(source.place(cell, number), f"{_WHAT}{what}", about=exercise)


def _marked(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the description of each marked line in ``text``, without closing quotes and brackets."""
    for number, line in enumerate(text.splitlines(), start=1):
        for match in _SAID.finditer(line):
            what = match[1].strip().rstrip("\"')").rstrip()
            yield number, f"{what}{'' if what[-1:] in '.?!' else '.'}" if what else "the marked part."


def _owners(text: str) -> list[tuple[int, int, str]]:
    """Return the first line, last line and exercise of each function and check class in ``text``."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    owners = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            marks = [mark for mark in node.decorator_list if isinstance(mark, ast.Call) and mark.args]
            named = [mark.args[0].value for mark in marks if isinstance(mark.args[0], ast.Constant)]
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            owners.append((first, node.end_lineno or first, str(named[0]) if named else node.name))
    return owners
