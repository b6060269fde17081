"""Read a class's marks from the gradebook for an export, and write cells and CSV files that every system can read."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from autograder.base.errors import CourseError
from autograder.base.formatting import number, points
from autograder.base.marks import CHECK, SubmissionMarks
from autograder.base.sanitize import sanitize
from autograder.base.spreadsheets import BOM, Sheet
from autograder.classroom.gradebook.database import GradebookError, require_answers, require_version
from autograder.classroom.gradebook.people import (
    PEOPLE,
    ClassList,
    Person,
    class_list,
    mark_queries,
    marks_from_rows,
    read_class_list,
)
from autograder.classroom.gradebook.reading import DUE_DATE, POINTS, parse_utc, points_by_cell, query

__all__ = [
    "BLANK", "POINTS_POSSIBLE", "ChapterBook", "ClassMarks", "Policy", "chapters_in", "escape_formula", "feedback_text", "format_points",
    "read_book", "read_class", "sheet_bytes", "shown",
]  # fmt: skip

_CHAPTERS = """
    SELECT DISTINCT assignment.name FROM assignment
    JOIN notebook ON notebook.assignment_id = assignment.id
    JOIN base_cell ON base_cell.notebook_id = notebook.id
    ORDER BY assignment.name
"""

POINTS_POSSIBLE = "    Points Possible"  # spelled as in Canvas's own files

# Characters that start a formula, including their full-width forms. Spaces may precede them.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?\Z")

State = Literal["graded", "waits", "missing"]


@dataclass(frozen=True)
class ChapterBook:
    """A chapter in a gradebook: the class list, the marks, the points of each cell, and the due date (UTC, as a naive datetime)."""

    class_list: ClassList = field(default_factory=ClassList)
    marks: Mapping[str, SubmissionMarks] = field(default_factory=dict)
    worth: Mapping[str, float] = field(default_factory=dict)
    due: dt.datetime | None = None


def read_book(url: str, chapter: str) -> ChapterBook | None:
    """Return ``chapter`` in the gradebook at ``url``, or None if there is no gradebook yet.

    Raises ``GradebookError`` if the gradebook cannot be read, because a report would otherwise show an empty class.
    """
    values = {"chapter": chapter}
    found = require_answers(url, [*PEOPLE, (POINTS, values), (DUE_DATE, values), *mark_queries(chapter)])
    if found is None:
        return None
    students, submissions, points, due, *marks = found
    return ChapterBook(
        class_list(students, submissions, chapter),
        marks_from_rows(*marks),
        points_by_cell(points),
        parse_utc(due[0][0]) if due else None,
    )


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules for exporting incomplete marks. ``missing`` is the mark if there is no submission. With ``partial``, export the points so far."""

    missing: Literal["blank", "zero"] = "blank"
    partial: bool = False


BLANK = Policy()


@dataclass(frozen=True)
class ClassMarks:
    """The marks of a class. ``worth`` and ``due`` give the points and due date of each chapter. ``marks`` maps chapters to students' marks."""

    chapters: tuple[str, ...]
    students: tuple[Person, ...]
    worth: Mapping[str, float]
    due: Mapping[str, str]
    marks: Mapping[str, Mapping[str, SubmissionMarks]]
    policy: Policy = BLANK

    def of(self, chapter: str, student: str) -> SubmissionMarks | None:
        """Return the marks of a student in a chapter, or None if there is no submission."""
        return self.marks[chapter].get(student)

    def state(self, chapter: str, student: str) -> State:
        """Return whether a mark is complete, needs manual grading ("waits"), or is missing."""
        marks = self.of(chapter, student)
        if marks is None:
            return "missing"
        return "graded" if marks.complete else "waits"

    def score(self, chapter: str, student: str) -> float | None:
        """Return the mark to export, or None for a blank cell. A missing mark is 0 only if the policy says so."""
        marks = self.of(chapter, student)
        if marks is None:
            return 0.0 if self.policy.missing == "zero" else None
        return marks.total if marks.complete or (self.policy.partial and marks.is_graded) else None

    def waiting(self) -> list[tuple[str, str]]:
        """Return the chapter and the student of every mark that needs manual grading."""
        return [(c, s.id) for c in self.chapters for s in self.students if self.state(c, s.id) == "waits"]

    def require_distinct(self, what: str, key: Callable[[Person], str]) -> None:
        """Raise ``CourseError`` if two students have the same ``key``. ``what`` is the name of the key in the message."""
        by_key: dict[str, list[str]] = defaultdict(list)
        for student in self.students:
            if found := key(student):
                by_key[found].append(student.id)
        for found, students in by_key.items():
            if len(students) > 1:
                raise CourseError(
                    f"{' and '.join(students)} have the same {what} in the gradebook, {found!r}, so it is unclear whose mark is whose. "
                    "Nothing was written. Give each student a different one (`nbgrader db student add ID --lms-user-id=… --email=…` changes it)."
                )


def chapters_in(url: str) -> list[str]:
    """Return the chapters in the gradebook at ``url``, or an empty list if the gradebook is unavailable."""
    return [str(name) for rows in query(url, [(_CHAPTERS, {})]) or [] for (name,) in rows]


def read_class(url: str, chapters: Sequence[str], students: Sequence[str] = (), policy: Policy = BLANK) -> ClassMarks:
    """Return the marks in the gradebook at ``url``. If ``chapters`` or ``students`` is empty, include all.

    Raises ``CourseError`` for an unknown student or chapter, or if there is no student at all. Raises ``GradebookError`` if the
    gradebook is missing or cannot be read.
    """
    require_version(url)
    known = read_class_list(url)
    if known is None:
        raise GradebookError(
            "There is no gradebook yet, so there are no marks. `autograder grade CHAPTER` creates one."
        )
    if not known.people:
        raise CourseError("The gradebook has no students yet, so there is nothing to export.")
    unknown = [student for student in students if student not in known.people]
    if unknown:
        raise CourseError(f"The gradebook has no student {', '.join(unknown)}.")
    there = chapters_in(url)
    wanted = tuple(chapters or there)
    ungraded = [chapter for chapter in wanted if chapter not in there]
    if ungraded or not wanted:
        raise CourseError(
            f"The gradebook does not contain {', '.join(ungraded) or 'any chapter'} yet. Release the chapter or grade its submissions first."
        )
    books = {chapter: read_book(url, chapter) or ChapterBook() for chapter in wanted}
    return ClassMarks(
        wanted,
        tuple(person for person in known.people.values() if not students or person.id in students),
        {chapter: math.fsum(book.worth.values()) for chapter, book in books.items()},
        {chapter: str(book.due or "") for chapter, book in books.items()},
        {chapter: book.marks for chapter, book in books.items()},
        policy,
    )


def shown(score: float | None) -> str:
    """Format a mark as text. The text is empty if ``score`` is None."""
    return "" if score is None else format_points(score)


def feedback_text(marks: SubmissionMarks) -> str:
    """Return text for another system's comment field, with each cell's mark and manual comment, and the late penalty."""
    parts = []
    for cell in marks.cells:
        name = cell.name.removeprefix(CHECK)
        said = marks.comments.get(name) or marks.comments.get(cell.name) or ""
        parts.append(f"{name}: {points(cell.score, cell.max_score)}." + (f" {' '.join(said.split())}" if said else ""))
    late = [f"Late: {number(marks.penalty)} subtracted."] if marks.penalty else []
    return " ".join([*parts, *late])


def format_points(value: float) -> str:
    """Format a number of points with a decimal point and without trailing zeros, such as ``4.5``."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def escape_formula(text: str) -> str:
    """Return ``text`` for a cell. If a spreadsheet would read it as a formula, put an apostrophe in front. Numbers are not changed."""
    text = sanitize(text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


def sheet_bytes(sheet: Sheet) -> bytes:
    """Return ``sheet`` as the bytes of a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sheet.delimiter, lineterminator=sheet.newline).writerows(sheet.rows)
    return ((BOM if sheet.bom else "") + text.getvalue()).encode("utf-8", "replace")
