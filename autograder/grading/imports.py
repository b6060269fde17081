"""Find imports of modules that are not available in the sandbox, in the course's notebook and in students' code."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import PurePosixPath

from autograder.base import attempt
from autograder.base.errors import CourseError
from autograder.base.formatting import join_words
from autograder.course.course import CONFIG_NAME, Course
from autograder.course.notebook import MAY_FAIL, Cell
from autograder.grading.document import ReleasedNotebook
from autograder.grading.submission import Submission
from autograder.sandbox.packages import top_level_paths

__all__ = ["AllowedImports", "modules_of"]

_ALWAYS = frozenset({"autograder", "IPython"})  # always available in the sandbox
_MISSING = re.compile(r"No module named '(\w+)")
COURSE = (
    "{places} in {chapter}'s own notebook {imports} {modules}, which notebooks cannot import during grading: "
    "c.Course.packages in {config} lists {listed}. To avoid zeros for students, nothing was graded. Add {quoted} there, "
    "install the package on this machine, and grade again."
)
ITS_OWN = (
    "{place} in the course's own notebook failed because {module} is missing during grading, so no mark was given. Add its "
    "package to c.Course.packages in {config}, install it on this machine, and grade again."
)
STUDENTS = (
    "The notebook imports {modules}, but c.Course.packages in {config} does not list {it}. So the notebook was graded "
    "without {it}. If students may use {it}, add {quoted} there and grade again."
)


def modules_of(course: Course) -> frozenset[str]:
    """Return the names of the modules that a notebook can import in the sandbox.

    Raises ``PackageMissing`` if a package that the course lists is not installed.
    """
    there = {name.removesuffix(".py").partition(".")[0] for name in top_level_paths(list(course.packages))}
    return frozenset(there | _ALWAYS | sys.stdlib_module_names | set(course.packages))


@dataclass(frozen=True)
class AllowedImports:
    """The modules that a chapter's notebooks can import, and the messages about all other modules."""

    course: Course
    chapter: str
    names: frozenset[str]
    may_fail: frozenset[str]  # the sources of cells that raise an error on purpose

    @classmethod
    def of(cls, course: Course, chapter: str, released: ReleasedNotebook) -> AllowedImports:
        """Return the allowed imports of a chapter. Raises ``CourseError`` if a cell of the course imports anything else."""
        beside = {PurePosixPath(path).stem for path in released.files if path.endswith(".py")}
        may_fail = frozenset(cell.source for cell in released.notebook.cells if MAY_FAIL in cell.tags)
        found = cls(course, chapter, modules_of(course) | beside, may_fail)
        given: dict[str, list[str]] = {}
        for number, cell in enumerate((c for c in released.notebook.cells if c.kind == "code"), 1):
            for module in found._unlisted(cell.source) if cell.role is None and cell.source not in may_fail else ():
                given.setdefault(module, []).append(_place(cell, number))
        if given:
            places = join_words(list(dict.fromkeys(place for cells in given.values() for place in cells)))
            parts = {
                "places": places[:1].upper() + places[1:],
                "imports": "import" if " and " in places else "imports",
                "modules": join_words(list(given)),
                "listed": ", ".join(course.packages) or "nothing",
                "quoted": join_words([f'"{module}"' for module in given]),
            }
            raise CourseError(COURSE.format(chapter=chapter, config=CONFIG_NAME, **parts))
        return found

    def failed_cell(self, submission: Submission) -> str:
        """Return why a submission gets no mark: an import failed in one of the course's own cells. Return "" if none failed."""
        code = [cell for cell in submission.notebook.cells if cell.kind == "code"]
        numbered = ((number, c) for number, c in enumerate(code, 1) if c.source not in self.may_fail)
        given = {c.index: _place(c, number) for number, c in numbered if submission.is_handed_out(c)}
        for outcome in submission.cells:
            error = outcome.error
            if error is None or error.type != "ModuleNotFoundError" or outcome.index not in given:
                continue
            if missing := _MISSING.search(error.message):
                place = given[outcome.index]
                return ITS_OWN.format(place=place[:1].upper() + place[1:], module=missing[1], config=CONFIG_NAME)
        return ""

    def of_students(self, submission: Submission) -> str:
        """Return a warning about a student's own imports, or "" if all are available."""
        found = list(dict.fromkeys(m for _, source in submission.own_cells() for m in self._unlisted(source)))
        if not found:
            return ""
        names = found[:3]
        it = "it" if len(names) == 1 else "them"
        quoted = join_words([f'"{name}"' for name in names])
        return STUDENTS.format(modules=join_words(names), config=CONFIG_NAME, it=it, quoted=quoted)

    def _unlisted(self, source: str) -> list[str]:
        return sorted({module for _, module in attempt.imported(source)} - self.names)


def _place(cell: Cell, number: int) -> str:
    return f"cell {cell.grade_id}" if cell.grade_id else f"code cell {number}"
