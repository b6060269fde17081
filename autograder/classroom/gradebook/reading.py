"""Read a gradebook without nbgrader, because importing nbgrader takes longer than grading an unchanged class.

SQLite is read with Python's own module, and a server is read with SQLAlchemy. The SQL works in SQLite and PostgreSQL.
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
    "DUE_DATE", "POINTS", "SQLITE", "ChapterInBook", "Query", "file_of", "parse_utc", "points_by_cell", "query",
    "query_existing", "read_chapter", "read_due_date", "student_queries",
]  # fmt: skip

SQLITE = "sqlite:///"  # prefix of the address of a gradebook in a file
Query = tuple[str, Mapping[str, str]]

# The query aggregates the tables before it joins them, because the joined columns have no index.
_ROWS = Path(__file__).with_name("rows.sql").read_text(encoding="utf-8")
_CELLS, _HAND, _EXTRA, _BY_HAND, _WAITING = 4, 8, 9, 7, 10  # indexes in a row, not counting the student
POINTS = Path(__file__).with_name("points.sql").read_text(encoding="utf-8")
DUE_DATE = "SELECT duedate FROM assignment WHERE name = :chapter"
_BY_PERSON = Path(__file__).with_name("manual_marks.sql").read_text(encoding="utf-8")
_REMARKS_BY_PERSON = Path(__file__).with_name("manual_comments.sql").read_text(encoding="utf-8")


@dataclass(frozen=True)
class ChapterInBook:
    """A chapter in a gradebook: a row for each student's submission, and the points of each graded cell.

    A row ends with a digest of the student's manual entries for all cells. Sums alone would not show a point that moved to another cell.
    """

    rows: Mapping[str, list[Any]] = field(default_factory=dict)
    points: Mapping[str, float] = field(default_factory=dict)

    def by_hand(self, student: str) -> float:
        """Return the manual points of ``student``, including extra credit."""
        row = self.rows.get(student)
        return (row[_HAND] or 0.0) + (row[_EXTRA] or 0.0) if row else 0.0

    def is_marked_by_hand(self, student: str) -> bool:
        """Return whether every mark of ``student`` was given manually."""
        row = self.rows.get(student)
        return bool(row and row[_CELLS] and row[_BY_HAND] == row[_CELLS])

    def may_be_stale(self, student: str) -> bool:
        """Return whether a manual mark of ``student`` may need another look."""
        row = self.rows.get(student)
        return bool(row and row[_BY_HAND] and row[_WAITING])


def read_chapter(url: str, chapter: str, students: Sequence[str] = ()) -> ChapterInBook | None:
    """Return ``chapter`` in the gradebook at ``url``, for all students or for ``students``.

    Return None if there is no gradebook yet, or if the database is unavailable.
    """
    questions = student_queries(chapter, students, _ROWS, _BY_PERSON, _REMARKS_BY_PERSON)
    found = query(url, [*questions, (POINTS, {"chapter": chapter})])
    if found is None:
        return None
    rows, marks, remarks, cells = found
    given: dict[str, list[Any]] = {}
    for student, *entry in chain(marks, remarks):
        given.setdefault(student, []).append(entry)
    own = {row[0]: [*map(_plain, row[1:]), _digest(given.get(row[0], []))] for row in rows}
    return ChapterInBook(own, points_by_cell(cells))


def student_queries(chapter: str, students: Sequence[str], *queries: str) -> list[Query]:
    """Return ``queries`` for all students or for ``students``. In each query, a condition on the students replaces ``{only}``."""
    names = {f"s{number}": student for number, student in enumerate(students)}
    # Only the names of parameters are inserted into the SQL.
    only = f"AND submitted.student_id IN ({','.join(f':{name}' for name in names)})" if names else ""
    return [(text.format(only=only), {"chapter": chapter, **names}) for text in queries]


def read_due_date(url: str, chapter: str) -> dt.datetime | None:
    """Return when ``chapter`` is due, in UTC without a time zone, or None if that is not known."""
    found = query(url, [(DUE_DATE, {"chapter": chapter})])
    return parse_utc(found[0][0][0]) if found and found[0] else None


def query(url: str, questions: Sequence[Query]) -> list[list[Any]] | None:
    """Return the rows of each query, or None if there is no gradebook or the database is unavailable."""
    if url.startswith(SQLITE):
        try:
            return _answers_of_file(url, questions, patience=5)
        except sqlite3.Error:
            return None
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    try:
        return _answers_of_server(url, questions)
    except (SQLAlchemyError, ImportError):  # reported when marks are written
        return None


def query_existing(url: str, questions: Sequence[Query]) -> list[list[Any]] | None:
    """Return the rows of each query, or None if there is no gradebook yet.

    If a query fails, raises ``sqlite3.Error`` for a file, or an SQLAlchemy error for a server.
    """
    if url.startswith(SQLITE):
        return _answers_of_file(url, questions, patience=20)
    return _answers_of_server(url, questions)


def _answers_of_file(url: str, questions: Sequence[Query], *, patience: float) -> list[list[Any]] | None:
    """Query a file with Python's own SQLite module, because importing SQLAlchemy takes longer than grading an unchanged class."""
    path = file_of(url)
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=patience)) as book:
        if not book.execute("SELECT 1 FROM sqlite_master").fetchone():
            return None  # nbgrader's own commands may leave a database without tables
        return [book.execute(text, values).fetchall() for text, values in questions]


def _answers_of_server(url: str, questions: Sequence[Query]) -> list[list[Any]] | None:
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
    """Return the file of an SQLite gradebook."""
    return Path(url.removeprefix(SQLITE).partition("?")[0])


def parse_utc(value: Any) -> dt.datetime | None:
    """Return a timestamp in UTC without a time zone, as nbgrader stores it. SQLite returns timestamps as text."""
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, dt.datetime):
        return None
    return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value


def points_by_cell(rows: Sequence[Any]) -> dict[str, float]:
    """Return the points of each cell from the rows of ``POINTS``. Graded cells and tasks are in different tables."""
    return {name: float(graded or task or 0.0) for name, graded, task in rows}


def _digest(entries: Sequence[Any]) -> str:
    return hashlib.sha256(repr(entries).encode("utf-8", "replace")).hexdigest()[:16] if entries else ""


def _plain(value: Any) -> Any:
    """Return ``value``, converted to a string if JSON does not support its type, as with a timestamp from a server."""
    return value if value is None or isinstance(value, str | int | float) else str(value)
