"""Read the students of a gradebook and their marks, and enter a class list."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.base.errors import CourseError
from autograder.base.marks import CellMark, SubmissionMarks
from autograder.base.spreadsheets import read_sheet
from autograder.classroom.gradebook.database import gradebook_errors, require_answers, require_version
from autograder.classroom.gradebook.entries import UNGRADED, gradebook_url, load_nbgrader, nbgrader_config
from autograder.classroom.gradebook.reading import Query, parse_utc, query, student_queries
from autograder.course.course import Course

__all__ = [
    "PEOPLE", "ClassList", "Person", "class_list", "duplicate_students", "enter_roster",
    "known_students", "mark_queries", "marks_from_rows", "read_class_list", "read_marks", "read_roster",
]  # fmt: skip

_STUDENTS = "SELECT id, first_name, last_name, email, lms_user_id FROM student ORDER BY id"
_STUDENTS_BY_CHAPTER = """
    SELECT DISTINCT submitted.student_id, assignment.name FROM submitted_assignment AS submitted
    JOIN assignment ON assignment.id = submitted.assignment_id
"""
PEOPLE: tuple[Query, Query] = ((_STUDENTS, {}), (_STUDENTS_BY_CHAPTER, {}))  # for `class_list`

_SUBMISSIONS = Path(__file__).with_name("submissions.sql").read_text(encoding="utf-8")
_GRADES = Path(__file__).with_name("grades.sql").read_text(encoding="utf-8")
_COMMENTS = Path(__file__).with_name("comments.sql").read_text(encoding="utf-8")
_OPENING = UNGRADED.partition("{")[0]  # start of the comment on an ungradable notebook, before the reason
_COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id")
_MAX_ID = 128  # the most characters of an id in nbgrader's tables
_MAX_TOLD = 5  # the most problems in one message


@dataclass(frozen=True, slots=True)
class Person:
    """A student in nbgrader's table of students. Every field except ``id`` may be empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """The first and last name, as far as they are known."""
        return " ".join(f"{self.first_name} {self.last_name}".split())

    @property
    def sorted_name(self) -> str:
        """The last and first name with a comma, or the id if neither is known."""
        parts = (" ".join(part.split()) for part in (self.last_name, self.first_name))
        return ", ".join(filter(None, parts)) or self.id


@dataclass(frozen=True)
class ClassList:
    """The students of a gradebook, by id.

    Attributes:
        is_entered: whether an instructor entered the students. This is assumed if any of them has a name or an address, or no submission.
        is_known: whether they are the whole class, not only the students graded so far. This is assumed if they were entered, or if another chapter has submissions.
    """

    people: Mapping[str, Person] = field(default_factory=dict)
    is_known: bool = False
    is_entered: bool = False

    @property
    def students(self) -> frozenset[str]:
        """The ids of the students."""
        return frozenset(self.people)


def known_students(url: str, chapter: str) -> ClassList | None:
    """Return the students in the gradebook, for use before ``chapter`` is graded, or None if it is missing or unavailable."""
    found = query(url, PEOPLE)
    return None if found is None else class_list(found[0], found[1], chapter)


def read_class_list(url: str) -> ClassList | None:
    """Return the students in the gradebook, or None if there is no gradebook yet. Raises ``GradebookError`` if it cannot be read."""
    found = require_answers(url, PEOPLE)
    return None if found is None else class_list(found[0], found[1])


def class_list(students: Sequence[Any], submissions: Sequence[Any], chapter: str = "") -> ClassList:
    """Return the class list from the rows of ``PEOPLE``. Submissions of ``chapter`` do not show that the whole class is known."""
    people = {row[0]: Person(*(str(value or "") for value in row)) for row in students}
    graded = {student for student, _chapter in submissions}
    entered = any(p.name or p.email or p.lms_user_id or p.id not in graded for p in people.values())
    return ClassList(people, entered or any(name != chapter for _student, name in submissions), entered)


def duplicate_students(people: Iterable[Person]) -> list[str]:
    """Describe students who are probably the same person, because their ids are similar or their LMS ids are the same."""
    found: list[str] = []
    by_id: dict[str, list[str]] = {}
    by_lms: dict[str, list[str]] = {}
    for person in people:
        by_id.setdefault("".join(person.id.split()).casefold(), []).append(person.id)
        if person.lms_user_id:
            by_lms.setdefault(person.lms_user_id, []).append(person.id)
    found += [f"{' and '.join(map(repr, ids))} differ only in case or spaces" for ids in by_id.values() if len(ids) > 1]
    found += [f"{' and '.join(ids)} have the same LMS id, {lms}" for lms, ids in by_lms.items() if len(ids) > 1]
    return found


def read_marks(url: str, chapter: str, students: Sequence[str] = ()) -> dict[str, SubmissionMarks] | None:
    """Return the marks of ``chapter`` by student, for all students or for ``students``, or None if the gradebook is unavailable."""
    found = query(url, mark_queries(chapter, students))
    return None if found is None else marks_from_rows(*found)


def mark_queries(chapter: str, students: Sequence[str] = ()) -> list[Query]:
    """Return the queries whose rows are the arguments of ``marks_from_rows``."""
    asked = student_queries(chapter, students, _SUBMISSIONS, _GRADES, _COMMENTS)
    return [*asked[:2], (asked[2][0], {**asked[2][1], "ungraded": f"{_OPENING}%"})]


def marks_from_rows(
    submissions: Sequence[Any], grades: Sequence[Any], comments: Sequence[Any]
) -> dict[str, SubmissionMarks]:
    """Return the marks by student, from the rows of ``mark_queries``."""
    cells: dict[str, list[CellMark]] = {}
    for student, name, auto, by_hand, extra, waits, worth, task in grades:
        # A cell without an entry, for example from a later release, needs manual grading as well. It is not a 0.
        mark = CellMark(name, float(worth or task or 0.0), auto, by_hand, extra or None, waits is None or bool(waits))
        cells.setdefault(student, []).append(mark)
    said: dict[str, dict[str, str]] = {}
    reasons: dict[str, str] = {}
    for student, name, text, auto in comments:
        if str(text or "").strip():
            said.setdefault(student, {})[name] = str(text)
        if str(auto or "").startswith(_OPENING):
            reasons[student] = str(auto).removeprefix(_OPENING)
    penalties: dict[str, list[float]] = {}
    times: dict[str, tuple[Any, Any]] = {}
    for student, timestamp, extension, penalty in submissions:
        penalties.setdefault(student, []).append(penalty or 0.0)
        times[student] = timestamp, extension
    marks = {}
    for student, late in penalties.items():
        own, remarks, why = tuple(cells.get(student, ())), said.get(student, {}), reasons.get(student, "")
        when, extension = parse_utc(times[student][0]), _duration(times[student][1])
        marks[student] = SubmissionMarks(own, remarks, math.fsum(late), when, extension, why)
    return marks


def _duration(value: Any) -> dt.timedelta:
    """Return a duration from the gradebook. A database server returns a duration, but SQLite returns the timestamp of 1970-01-01 plus the duration."""
    if isinstance(value, dt.timedelta):
        return value
    end = parse_utc(value)
    return dt.timedelta() if end is None else end - dt.datetime(1970, 1, 1)  # noqa: DTZ001 - timestamps have no time zone here


def read_roster(path: Path) -> tuple[list[Person], tuple[str, ...]]:
    """Return the students in the CSV file ``path``, and the names of the columns that are ignored.

    The columns are those of ``nbgrader db student import``: id, and any of first_name, last_name, email, lms_user_id. Raises
    ``CourseError``, which lists the wrong lines. In this case, do not enter any student of the file.
    """
    rows = read_sheet(path, windows=True).rows
    heads = [head.strip() for head in rows[0]] if rows else []
    heads = [head.casefold() if head.casefold() in _COLUMNS else head for head in heads]
    if "id" not in heads:
        shown = ", ".join(heads[:10]) or "nothing"
        raise CourseError(
            f"{path} has no column called id. Its first line contains {shown}. It must contain id, and it may contain {', '.join(_COLUMNS[1:])}."
        )
    if twice := sorted({head for head in heads if heads.count(head) > 1 and head}):
        raise CourseError(f"{path} has the column {twice[0]} twice.")
    people: dict[int, Person] = {}  # by line
    for number, row in enumerate(rows[1:], start=2):
        if any(cell.strip() for cell in row):
            fields = dict(zip(heads, (cell.strip() for cell in row), strict=False))
            people[number] = Person(**{name: fields.get(name, "") for name in _COLUMNS})
    if not people:
        raise CourseError(f"{path} has no students: it has only a header line.")
    if mistakes := _mistakes(people):
        more = [f"and {len(mistakes) - _MAX_TOLD} more"] if len(mistakes) > _MAX_TOLD else []
        told = "; ".join([*mistakes[:_MAX_TOLD], *more])
        raise CourseError(f"{path} was not entered: {told}. Fix the file and run the command again.")
    return [*people.values()], tuple(head for head in heads if head and head not in _COLUMNS)


def _mistakes(people: Mapping[int, Person]) -> list[str]:
    found, first = [], dict[str, int]()
    for line, person in people.items():
        if not person.id:
            found.append(f"line {line} has no id")
        elif person.id in first:
            found.append(f"the id {person.id} is in line {first[person.id]} and in line {line}")
        elif len(person.id) > _MAX_ID:
            found.append(f"the id in line {line} is longer than {_MAX_ID} characters")
        elif not person.id.isprintable():
            found.append(f"the id {person.id!r} in line {line} contains a line break or another invisible character")
        elif any(sign in person.id for sign in "/\\+\0") or person.id in {".", ".."}:
            bad = f"the id {person.id} in line {line} cannot be the name of a folder (/, \\ and + are not allowed)"
            found.append(bad)
        first.setdefault(person.id, line)
    distinct = {person.id: person for person in people.values() if person.id}
    return found + duplicate_students(distinct.values())


def enter_roster(course: Course, people: Sequence[Person]) -> tuple[int, int]:
    """Enter ``people`` in the gradebook in one transaction. Return how many are new, and how many are changed.

    An empty field does not change the gradebook, and nobody is removed. Raises ``GradebookError`` if the gradebook cannot be used.
    """
    load_nbgrader()
    from nbgrader.api import Gradebook, Student  # noqa: PLC0415

    url, new, changed = gradebook_url(course), 0, 0
    require_version(url)
    course_id = nbgrader_config(course).get("CourseDirectory", {}).get("course_id") or course.course_id
    with gradebook_errors(url), Gradebook(url, str(course_id)) as book:
        known = {student.id: student for student in book.db.query(Student).all()}
        for person in people:
            student = known.get(person.id) or Student(id=person.id)
            book.db.add(student)  # does nothing if the student is already in the gradebook
            new += person.id not in known
            before = [getattr(student, name) for name in _COLUMNS[1:]]
            for name in _COLUMNS[1:]:
                if value := getattr(person, name):
                    setattr(student, name, value)
            changed += person.id in known and before != [getattr(student, name) for name in _COLUMNS[1:]]
        book.db.commit()
    return new, changed
