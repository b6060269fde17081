"""What a gradebook holds of a whole class in one chapter, for tables and reports: people, marks, dates.

Asked as ``autograder.gradebook.reading`` asks, without nbgrader. Unlike there, a gradebook that cannot be read is an error:
a report must not pass for one on an empty class.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.gradebook.entries import UNGRADED
from autograder.gradebook.errors import GradebookError

__all__ = ["BookEntry", "ChapterBook", "GradedCell", "Person", "double_entries", "read_book"]

_SQLITE = "sqlite:///"
_PEOPLE = "SELECT id, first_name, last_name, email, lms_user_id FROM student ORDER BY id"
_ASSIGNMENT = "SELECT duedate FROM assignment WHERE name = :chapter"
_WORTH = """
    SELECT base_cell.name, grade_cells.max_score FROM assignment
    JOIN notebook ON notebook.assignment_id = assignment.id
    JOIN base_cell ON base_cell.notebook_id = notebook.id
    JOIN grade_cells ON grade_cells.id = base_cell.id
    WHERE assignment.name = :chapter
"""
_SUBMISSIONS = """
    SELECT submitted.student_id, part.id, submitted.timestamp, submitted.extension, part.late_submission_penalty
    FROM assignment
    JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
    JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
    WHERE assignment.name = :chapter
"""
_CELLS = """
    SELECT grade.notebook_id, base_cell.name, grade.auto_score, grade.manual_score, grade.extra_credit,
        grade.needs_manual_grade
    FROM grade
    JOIN base_cell ON base_cell.id = grade.cell_id
    JOIN notebook ON notebook.id = base_cell.notebook_id
    JOIN assignment ON assignment.id = notebook.assignment_id
    WHERE assignment.name = :chapter
"""
_REASONS = """
    SELECT comment.notebook_id, comment.auto_comment FROM comment
    JOIN submitted_notebook AS part ON part.id = comment.notebook_id
    JOIN notebook ON notebook.id = part.notebook_id
    JOIN assignment ON assignment.id = notebook.assignment_id
    WHERE assignment.name = :chapter AND comment.auto_comment LIKE :ungraded
"""
_ELSEWHERE = """
    SELECT DISTINCT submitted.student_id FROM submitted_assignment AS submitted
    JOIN assignment ON assignment.id = submitted.assignment_id WHERE assignment.name <> :chapter
"""
_UPGRADE = (
    "Make a copy of it and run `nbgrader db upgrade` in the course folder, with the nbgrader that is installed here."
)


@dataclass(frozen=True, slots=True)
class Person:
    """A student as the gradebook's class list has them."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """First and last name, as far as they are known."""
        return " ".join(filter(None, [self.first_name, self.last_name]))


@dataclass(frozen=True, slots=True)
class GradedCell:
    """The marks of one graded cell: the checks' (``auto``) and a person's; None where there is none."""

    auto: float | None
    manual: float | None
    extra: float = 0.0
    waits: bool = False

    @property
    def score(self) -> float | None:
        """What counts: a person's mark before the checks', and extra credit besides."""
        mark = self.auto if self.manual is None else self.manual
        return self.extra or None if mark is None else mark + self.extra


@dataclass(frozen=True, slots=True)
class BookEntry:
    """A student's submission of one chapter: the marks by the name of the cell, and how late it came.

    ``reason`` says why it could not be graded, empty where it could.
    """

    cells: Mapping[str, GradedCell]
    timestamp: dt.datetime | None = None
    extension: dt.timedelta = dt.timedelta()
    penalty: float = 0.0
    reason: str = ""

    def seconds_late(self, due: dt.datetime | None) -> float:
        """How long after ``due``, and after the student's extension, it came in; 0 where that is not known."""
        if due is None or self.timestamp is None:
            return 0.0
        return max((self.timestamp - due - self.extension).total_seconds(), 0.0)


@dataclass(frozen=True)
class ChapterBook:
    """A chapter in the gradebook.

    ``listed`` holds the class: those who were entered, and not only graded in this chapter. ``entered`` says that somebody did
    enter them, with a name or before they had handed in anything.
    """

    people: Mapping[str, Person] = field(default_factory=dict)
    entries: Mapping[str, BookEntry] = field(default_factory=dict)
    worth: Mapping[str, float] = field(default_factory=dict)
    due: dt.datetime | None = None
    listed: frozenset[str] = frozenset()
    entered: bool = False


def read_book(url: str, chapter: str) -> ChapterBook | None:
    """What the gradebook at ``url`` holds of ``chapter``; None where there is no gradebook yet.

    Raises ``GradebookError`` where there is one that cannot be read, or that another version of nbgrader has made.
    """
    asked = [_PEOPLE, _ASSIGNMENT, _WORTH, _SUBMISSIONS, _CELLS, _REASONS, _ELSEWHERE]
    opening = UNGRADED.partition("{")[0]
    found = _ask(url, asked, {"chapter": chapter, "ungraded": f"{opening}%"})
    if found is None:
        return None
    rows, due, worth, submissions, cells, comments, elsewhere = found
    reasons = {part: str(comment).removeprefix(opening) for part, comment in comments}
    people = {row[0]: Person(*(str(value or "") for value in row)) for row in rows}
    marks: dict[str, dict[str, GradedCell]] = {}
    for part, name, auto, manual, extra, waits in cells:
        marks.setdefault(part, {})[name] = GradedCell(auto, manual, extra or 0.0, bool(waits))
    entries = {
        student: BookEntry(
            marks.get(part, {}), _moment(moment), _duration(extension), penalty or 0.0, reasons.get(part, "")
        )
        for student, part, moment, extension, penalty in submissions
    }
    # As `read_class_list` has it: grading alone enters students who have no name and have handed this in.
    others = {student for (student,) in elsewhere}
    entered = any(p.name or p.email or p.lms_user_id or p.id not in entries.keys() | others for p in people.values())
    listed = frozenset(people) if entered or others else frozenset()
    return ChapterBook(
        people, entries, {n: float(w) for n, w in worth}, _moment(due[0][0]) if due else None, listed, entered
    )


def _ask(url: str, questions: Sequence[str], values: Mapping[str, str]) -> list[list[Any]] | None:
    if not url.startswith(_SQLITE):
        return _ask_server(url, questions, values)
    path = Path(url.removeprefix(_SQLITE).partition("?")[0])
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=20)) as book:
            if not book.execute("SELECT 1 FROM sqlite_master").fetchone():
                return None  # a database without tables, as nbgrader's own commands leave one that they did not need
            return [book.execute(question, dict(values)).fetchall() for question in questions]
    except sqlite3.Error as error:
        raise GradebookError(_unreadable(str(path), error)) from error


def _ask_server(url: str, questions: Sequence[str], values: Mapping[str, str]) -> list[list[Any]] | None:
    from sqlalchemy import create_engine, inspect, text  # noqa: PLC0415
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    from autograder.gradebook.errors import gradebook_errors  # noqa: PLC0415

    with gradebook_errors(url), create_engine(url, poolclass=NullPool).connect() as connection:
        if not inspect(connection).get_table_names():
            return None
        try:
            return [[tuple(row) for row in connection.execute(text(question), dict(values))] for question in questions]
        except SQLAlchemyError as error:
            said = str(error.orig if isinstance(error, DBAPIError) else error)
            if "does not exist" not in said:
                raise
            raise GradebookError(_other_version("on the server", " ".join(said.split()))) from error


def _unreadable(path: str, error: sqlite3.Error) -> str:
    said = str(error)
    if "no such table" in said or "no such column" in said:
        return _other_version(path, said)
    if "not a database" in said:
        return f"{path} is not a gradebook: {said}. Put the right file there, or move this one away and grade again."
    return f"The gradebook {path} cannot be read: {said}. Try again when nothing else uses it."


def _other_version(where: str, what: str) -> str:
    return f"The gradebook {where.removeprefix(_SQLITE)} was made by another version of nbgrader: {what}. {_UPGRADE}"


def _moment(value: Any) -> dt.datetime | None:
    """A moment without a zone, in UTC: a server gives one, SQLite its text."""
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, dt.datetime):
        return None
    return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value


def _duration(value: Any) -> dt.timedelta:
    """A duration: a server gives one, SQLite the moment that is so long after 1970."""
    if isinstance(value, dt.timedelta):
        return value
    moment = _moment(value)
    return dt.timedelta() if moment is None else moment - dt.datetime(1970, 1, 1)  # noqa: DTZ001 - of a moment without a zone


def double_entries(people: Iterable[Person]) -> list[str]:
    """A sentence on each two students who are probably one: their ids differ in case or blanks only, or an id is shared."""
    found: list[str] = []
    by_id: dict[str, list[str]] = {}
    by_lms: dict[str, list[str]] = {}
    for person in people:
        by_id.setdefault("".join(person.id.split()).casefold(), []).append(person.id)
        if person.lms_user_id:
            by_lms.setdefault(person.lms_user_id, []).append(person.id)
    found += [f"{' and '.join(map(repr, ids))} differ in case or blanks only" for ids in by_id.values() if len(ids) > 1]
    found += [f"{' and '.join(ids)} have one LMS id, {lms}" for lms, ids in by_lms.items() if len(ids) > 1]
    return found
