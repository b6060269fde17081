"""What a gradebook holds, asked without nbgrader, whose import takes longer than an unchanged class.

Of SQLite by Python's own module, of a server by SQLAlchemy; in words that SQLite and PostgreSQL share.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

__all__ = [
    "ChapterInBook",
    "ClassList",
    "StaleMark",
    "ask",
    "read_chapter",
    "read_class_list",
    "read_due_date",
    "read_stale_marks",
]

Question = tuple[str, Mapping[str, str]]

# Gathered first and joined then: nothing here has an index to be looked up by.
_ROWS = """
    WITH scores AS (
        SELECT notebook_id, COUNT(*) AS cells, COUNT(auto_score) AS scored, SUM(auto_score) AS score,
            COUNT(manual_score) AS by_hand, SUM(manual_score) AS hand, SUM(extra_credit) AS extra,
            SUM(CASE WHEN needs_manual_grade THEN 1 ELSE 0 END) AS waiting
        FROM grade GROUP BY notebook_id
    ), remarks AS (SELECT notebook_id, COUNT(auto_comment) AS comments FROM comment GROUP BY notebook_id)
    SELECT submitted.student_id, assignment.duedate, submitted.timestamp, submitted.extension,
        part.late_submission_penalty, cells, scored, score, by_hand, hand, extra, waiting, comments
    FROM assignment
    JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
    JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
    LEFT JOIN scores ON scores.notebook_id = part.id
    LEFT JOIN remarks ON remarks.notebook_id = part.id
    WHERE assignment.name = :chapter {only}
"""
_HAND, _EXTRA, _BY_HAND, _WAITING = 8, 9, 7, 10  # where these stand in what a row holds besides its student
_POINTS = """
    SELECT base_cell.name, grade_cells.max_score FROM assignment
    JOIN notebook ON notebook.assignment_id = assignment.id
    JOIN base_cell ON base_cell.notebook_id = notebook.id
    JOIN grade_cells ON grade_cells.id = base_cell.id
    WHERE assignment.name = :chapter
"""
_STALE = """
    SELECT submitted.student_id, base_cell.name, grade.manual_score, grade.auto_score
    FROM grade
    JOIN base_cell ON base_cell.id = grade.cell_id
    JOIN submitted_notebook AS part ON part.id = grade.notebook_id
    JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
    JOIN assignment ON assignment.id = submitted.assignment_id
    WHERE grade.manual_score IS NOT NULL AND grade.needs_manual_grade AND assignment.name = :chapter
    ORDER BY submitted.student_id, base_cell.name
"""
_BY_PERSON = """
    SELECT submitted.student_id, base_cell.name, grade.manual_score, grade.extra_credit, grade.needs_manual_grade
    FROM grade
    JOIN base_cell ON base_cell.id = grade.cell_id
    JOIN submitted_notebook AS part ON part.id = grade.notebook_id
    JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
    JOIN assignment ON assignment.id = submitted.assignment_id
    WHERE (grade.manual_score IS NOT NULL OR grade.extra_credit IS NOT NULL OR grade.needs_manual_grade)
        AND assignment.name = :chapter {only}
    ORDER BY submitted.student_id, base_cell.name
"""
_REMARKS_BY_PERSON = """
    SELECT submitted.student_id, base_cell.name, comment.manual_comment
    FROM comment
    JOIN base_cell ON base_cell.id = comment.cell_id
    JOIN submitted_notebook AS part ON part.id = comment.notebook_id
    JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
    JOIN assignment ON assignment.id = submitted.assignment_id
    WHERE comment.manual_comment IS NOT NULL AND assignment.name = :chapter {only}
    ORDER BY submitted.student_id, base_cell.name
"""
_STUDENTS = "SELECT id, first_name, last_name, email, lms_user_id FROM student"
_SUBMISSIONS = """
    SELECT DISTINCT submitted.student_id, assignment.name FROM submitted_assignment AS submitted
    JOIN assignment ON assignment.id = submitted.assignment_id
"""


@dataclass(frozen=True)
class ChapterInBook:
    """What a gradebook holds of one chapter: of each student's submission, and the points of each graded cell.

    A row ends with the digest of what a person gave or wrote, cell by cell: sums alone would hide a point moved from one to another.
    """

    rows: Mapping[str, list[Any]] = field(default_factory=dict)
    points: Mapping[str, float] = field(default_factory=dict)

    def by_hand(self, student: str) -> float:
        """The points that a person has given ``student``, extra credit included."""
        row = self.rows.get(student)
        return (row[_HAND] or 0.0) + (row[_EXTRA] or 0.0) if row else 0.0

    def may_be_stale(self, student: str) -> bool:
        """Whether a mark that a person gave ``student`` may wait for another look."""
        row = self.rows.get(student)
        return bool(row and row[_BY_HAND] and row[_WAITING])


@dataclass(frozen=True)
class ClassList:
    """The students of a gradebook; ``is_known`` says whether they are a class, and not only those who were graded so far."""

    students: frozenset[str]
    is_known: bool


@dataclass(frozen=True)
class StaleMark:
    """A mark that a person gave before the notebook, or its score, was another; ``now`` is None where a person gives all marks."""

    cell: str
    by_hand: float
    now: float | None


def read_chapter(url: str, chapter: str, students: Sequence[str] = ()) -> ChapterInBook | None:
    """What the gradebook at ``url`` holds of ``chapter`` (of ``students`` only, if any).

    None where that is not known: there is no gradebook yet, or it does not answer.
    """
    names = {f"s{number}": student for number, student in enumerate(students)}
    only = f"AND submitted.student_id IN ({','.join(f':{name}' for name in names)})" if names else ""
    # Nothing but names of parameters is put in.
    values = {"chapter": chapter, **names}
    questions = [(query.format(only=only), values) for query in (_ROWS, _BY_PERSON, _REMARKS_BY_PERSON)]
    found = ask(url, [*questions, (_POINTS, {"chapter": chapter})])
    if found is None:
        return None
    rows, marks, remarks, cells = found
    given: dict[str, list[Any]] = {}
    for student, *entry in chain(marks, remarks):
        given.setdefault(student, []).append(entry)
    return ChapterInBook(
        {row[0]: [*map(_plain, row[1:]), _digest(given.get(row[0], []))] for row in rows},
        {n: float(p) for n, p in cells},
    )


def read_class_list(url: str, chapter: str) -> ClassList | None:
    """Who was in the gradebook at ``url``; None where that is not known.

    They are taken for a class where somebody entered them: one has a name or an address, or has handed in nothing, which
    grading alone does not bring about; or where they come from another chapter than ``chapter``.
    """
    found = ask(url, [(_STUDENTS, {}), (_SUBMISSIONS, {})])
    if found is None:
        return None
    students, submissions = found
    graded = {student for student, _chapter in submissions}
    entered = any(any(details) or student not in graded for student, *details in students)
    return ClassList(
        frozenset(student for student, *_ in students), entered or any(name != chapter for _, name in submissions)
    )


def read_stale_marks(url: str, chapter: str) -> dict[str, list[StaleMark]]:
    """By student, the marks by hand that wait for another look."""
    found: dict[str, list[StaleMark]] = {}
    for student, cell, by_hand, now in (ask(url, [(_STALE, {"chapter": chapter})]) or [[]])[0]:
        found.setdefault(student, []).append(StaleMark(cell, by_hand, now))
    return found


def read_due_date(url: str, chapter: str) -> datetime | None:
    """When ``chapter`` is due, in UTC without its zone, as nbgrader keeps it; None where nothing says."""
    found = ask(url, [("SELECT duedate FROM assignment WHERE name = :chapter", {"chapter": chapter})])
    due = found[0][0][0] if found and found[0] else None
    return due if due is None or isinstance(due, datetime) else datetime.fromisoformat(str(due))


def ask(url: str, questions: Iterable[Question]) -> list[list[Any]] | None:
    """The rows that answer each question, by one connection; None where the gradebook does not answer."""
    return _ask_sqlite(url, questions) if url.startswith("sqlite:///") else _ask_server(url, questions)


def _ask_sqlite(url: str, questions: Iterable[Question]) -> list[list[Any]] | None:
    """By Python's own module, at once: an unchanged class costs less than an import of SQLAlchemy."""
    try:
        path = Path(url.removeprefix("sqlite:///"))
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)) as book:
            return [book.execute(query, values).fetchall() for query, values in questions]
    except sqlite3.Error:
        return None


def _ask_server(url: str, questions: Iterable[Question]) -> list[list[Any]] | None:
    from sqlalchemy import create_engine, text  # noqa: PLC0415
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    try:
        with create_engine(url, poolclass=NullPool).connect() as connection:
            return [list(connection.execute(text(query), dict(values))) for query, values in questions]
    except (SQLAlchemyError, ImportError):  # what is wrong is said when marks are written
        return None


def _digest(entries: Sequence[Any]) -> str:
    return hashlib.sha256(repr(entries).encode("utf-8", "replace")).hexdigest()[:16] if entries else ""


def _plain(value: Any) -> Any:
    """A value as it stands in a line of JSON: a server gives moments, SQLite the texts of them."""
    return value if value is None or isinstance(value, str | int | float) else str(value)
