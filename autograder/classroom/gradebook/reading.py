"""What a gradebook holds, asked without nbgrader, whose import takes longer than an unchanged class.

Of SQLite by Python's own module, of a server by SQLAlchemy; in words that SQLite and PostgreSQL share.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

__all__ = [
    "DUE_DATE",
    "POINTS",
    "SQLITE",
    "ChapterInBook",
    "Question",
    "about",
    "answers",
    "ask",
    "file_of",
    "moment",
    "points_by_cell",
    "read_chapter",
    "read_due_date",
]

SQLITE = "sqlite:///"  # what the address of a gradebook in a file begins with
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
_CELLS, _HAND, _EXTRA, _BY_HAND, _WAITING = 4, 8, 9, 7, 10  # where these stand in what a row holds besides its student
POINTS = """
    SELECT base_cell.name, grade_cells.max_score, task_cells.max_score FROM assignment
    JOIN notebook ON notebook.assignment_id = assignment.id
    JOIN base_cell ON base_cell.notebook_id = notebook.id
    LEFT JOIN grade_cells ON grade_cells.id = base_cell.id
    LEFT JOIN task_cells ON task_cells.id = base_cell.id
    WHERE assignment.name = :chapter AND (grade_cells.id IS NOT NULL OR task_cells.id IS NOT NULL)
"""
DUE_DATE = "SELECT duedate FROM assignment WHERE name = :chapter"
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

    def is_marked_by_hand(self, student: str) -> bool:
        """Whether a person has given every mark of ``student``'s."""
        row = self.rows.get(student)
        return bool(row and row[_CELLS] and row[_BY_HAND] == row[_CELLS])

    def may_be_stale(self, student: str) -> bool:
        """Whether a mark that a person gave ``student`` may wait for another look."""
        row = self.rows.get(student)
        return bool(row and row[_BY_HAND] and row[_WAITING])


def read_chapter(url: str, chapter: str, students: Sequence[str] = ()) -> ChapterInBook | None:
    """What the gradebook at ``url`` holds of ``chapter`` (of ``students`` only, if any).

    None where that is not known: there is no gradebook yet, or it does not answer.
    """
    questions = about(chapter, students, _ROWS, _BY_PERSON, _REMARKS_BY_PERSON)
    found = ask(url, [*questions, (POINTS, {"chapter": chapter})])
    if found is None:
        return None
    rows, marks, remarks, cells = found
    given: dict[str, list[Any]] = {}
    for student, *entry in chain(marks, remarks):
        given.setdefault(student, []).append(entry)
    return ChapterInBook(
        {row[0]: [*map(_plain, row[1:]), _digest(given.get(row[0], []))] for row in rows},
        points_by_cell(cells),
    )


def about(chapter: str, students: Sequence[str], *queries: str) -> list[Question]:
    """Questions with ``{only}`` in their texts, about ``students`` only, if any."""
    names = {f"s{number}": student for number, student in enumerate(students)}
    # Nothing but names of parameters is put in.
    only = f"AND submitted.student_id IN ({','.join(f':{name}' for name in names)})" if names else ""
    return [(query.format(only=only), {"chapter": chapter, **names}) for query in queries]


def read_due_date(url: str, chapter: str) -> dt.datetime | None:
    """When ``chapter`` is due, in UTC without its zone, as nbgrader keeps it; None where nothing says."""
    found = ask(url, [(DUE_DATE, {"chapter": chapter})])
    return moment(found[0][0][0]) if found and found[0] else None


def ask(url: str, questions: Sequence[Question]) -> list[list[Any]] | None:
    """The rows that answer each question, by one connection; None where the gradebook is not there or does not answer."""
    if url.startswith(SQLITE):
        try:
            return _answers_of_file(url, questions, patience=5)
        except sqlite3.Error:
            return None
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    try:
        return _answers_of_server(url, questions)
    except (SQLAlchemyError, ImportError):  # what is wrong is said when marks are written
        return None


def answers(url: str, questions: Sequence[Question]) -> list[list[Any]] | None:
    """As ``ask``, but None only where there is no gradebook yet.

    Raises what the database says: ``sqlite3.Error`` of a file, an error of SQLAlchemy's of a server.
    """
    if url.startswith(SQLITE):
        return _answers_of_file(url, questions, patience=20)
    return _answers_of_server(url, questions)


def _answers_of_file(url: str, questions: Sequence[Question], *, patience: float) -> list[list[Any]] | None:
    """By Python's own module, at once: an unchanged class costs less than an import of SQLAlchemy."""
    path = file_of(url)
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=patience)) as book:
        if not book.execute("SELECT 1 FROM sqlite_master").fetchone():
            return None  # a database without tables, as nbgrader's own commands leave one that they did not need
        return [book.execute(query, values).fetchall() for query, values in questions]


def _answers_of_server(url: str, questions: Sequence[Question]) -> list[list[Any]] | None:
    from sqlalchemy import create_engine, inspect, text  # noqa: PLC0415
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    with create_engine(url, poolclass=NullPool).connect() as connection:
        try:
            return [[tuple(row) for row in connection.execute(text(q), dict(values))] for q, values in questions]
        except SQLAlchemyError:
            connection.rollback()
            if not inspect(connection).get_table_names():
                return None
            raise


def file_of(url: str) -> Path:
    """The file of an SQLite gradebook."""
    return Path(url.removeprefix(SQLITE).partition("?")[0])


def moment(value: Any) -> dt.datetime | None:
    """A moment in UTC without its zone, as nbgrader keeps it: a server gives one, SQLite its text."""
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, dt.datetime):
        return None
    return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value


def points_by_cell(rows: Sequence[Any]) -> dict[str, float]:
    """What each cell is worth, of the answer to ``POINTS``: a graded cell and a task have their points in different tables."""
    return {name: float(graded or task or 0.0) for name, graded, task in rows}


def _digest(entries: Sequence[Any]) -> str:
    return hashlib.sha256(repr(entries).encode("utf-8", "replace")).hexdigest()[:16] if entries else ""


def _plain(value: Any) -> Any:
    """A value as it stands in a line of JSON: a server gives moments, SQLite the texts of them."""
    return value if value is None or isinstance(value, str | int | float) else str(value)
