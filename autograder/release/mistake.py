"""A mistake of a chapter's author, as a sentence with its place."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.notebook import Cell, Notebook, load_source

__all__ = ["NOT_BLANK", "Mistake", "SourceNotebook", "did_you_mean", "place_of_function", "relative"]

NOT_BLANK = "not blank:"  # before the exercise that a mistake is about: the stub that earns points is told of instead
_NEAR = 0.7  # the likeness of two names, of 1, from which one may be the other misspelt


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong, and where: a file and a line of it, or a cell of the notebook.

    ``about`` names the exercise, or the file, that the mistake belongs to: what follows from it is not told again.
    """

    where: str
    what: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


@dataclass(frozen=True, slots=True)
class SourceNotebook:
    """A chapter's own notebook with its JSON, and words for the places in it."""

    label: str
    document: Mapping[str, Any]
    notebook: Notebook

    @classmethod
    def of(cls, course: Course, chapter: str) -> SourceNotebook:
        """The notebook of ``chapter``; raises ``CourseError`` where it cannot be used."""
        path = course.source(chapter)
        return cls(relative(course, path), *load_source(path))

    @property
    def code(self) -> list[Cell]:
        """The code cells, in order."""
        return [cell for cell in self.notebook.cells if cell.kind == "code"]

    def marks(self, cell: Cell) -> Mapping[str, Any]:
        """What nbgrader's metadata says of a cell; empty where it says nothing."""
        raw = self.document["cells"][cell.index]
        metadata = raw.get("metadata") if isinstance(raw, dict) else None
        found = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        return found if isinstance(found, dict) else {}

    def name(self, cell: Cell) -> str:
        """What to call a cell: its grade id, or its number, as "Restart and run all" counts them."""
        if cell.grade_id:
            return f"cell {cell.grade_id}"
        if cell.kind != "code":
            return f"cell {cell.index + 1} of all"
        return f"code cell {1 + sum(other.index < cell.index for other in self.code)}"

    def place(self, cell: Cell, line: int | None = None) -> str:
        """Where a cell stands, or a line of it, from 1."""
        return f"{self.label}, {self.name(cell)}" + (f", line {line}" if line else "")


def relative(course: Course, path: Path | str) -> str:
    """A file of the course as it is found from the course's folder."""
    path = Path(path)
    return str(path.relative_to(course.root)) if path.is_relative_to(course.root) else str(path)


def place_of_function(course: Course, function: Callable[..., Any]) -> str:
    """The file and line of a function of the course; empty where it has none, as a quiz has."""
    if isinstance(function, type):
        try:
            path, (_, line) = inspect.getsourcefile(function) or "", inspect.getsourcelines(function)
        except (OSError, TypeError):
            return ""
        return f"{relative(course, path)}, line {line}"
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    return f"{relative(course, code.co_filename)}, line {code.co_firstlineno}" if code is not None else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` Is it x misspelt?`` where ``name`` is close to one of ``known``; empty where it is close to none."""
    near = difflib.get_close_matches(name, sorted(set(known) - {name}), 1, _NEAR)
    return f" Is it {near[0]} misspelt?" if near else ""
