"""A class list from a file into the gradebook: read whole and checked before anything is entered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.spreadsheets import read_sheet
from autograder.classroom.gradebook.entries import gradebook_url, load_nbgrader, nbgrader_config, own_commands
from autograder.classroom.gradebook.errors import gradebook_errors, require_version
from autograder.classroom.gradebook.people import Person, double_entries
from autograder.course.course import Course

__all__ = ["enter_roster", "read_roster"]

_COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id")
_MAX_ID = 128  # characters, in nbgrader's tables
_MAX_TOLD = 5  # mistakes that are told at once


def read_roster(path: Path) -> tuple[list[Person], tuple[str, ...]]:
    """The students in the CSV file ``path``, and the names of the columns that nothing reads.

    The columns are those of ``nbgrader db student import``: id, and any of first_name, last_name, email, lms_user_id. Raises
    ``CourseError`` with the lines that are wrong: nothing of such a file is to be entered.
    """
    rows = read_sheet(path, windows=True).rows
    heads = [head.strip() for head in rows[0]] if rows else []
    heads = [head.casefold() if head.casefold() in _COLUMNS else head for head in heads]
    if "id" not in heads:
        shown = ", ".join(heads[:10]) or "nothing"
        raise CourseError(
            f"{path} has no column called id. Its first line holds {shown}; it should hold id and any of {', '.join(_COLUMNS[1:])}."
        )
    if twice := sorted({head for head in heads if heads.count(head) > 1 and head}):
        raise CourseError(f"{path} has the column {twice[0]} twice.")
    people, lines = [], []
    for number, row in enumerate(rows[1:], start=2):
        if any(cell.strip() for cell in row):
            fields = dict(zip(heads, (cell.strip() for cell in row), strict=False))
            people.append(Person(**{name: fields.get(name, "") for name in _COLUMNS}))
            lines.append(number)
    if not people:
        raise CourseError(f"{path} holds no student: there is no line below its first.")
    mistakes = _mistakes(people, lines)
    if mistakes:
        told = "; ".join(mistakes[:_MAX_TOLD]) + (
            f"; and {len(mistakes) - _MAX_TOLD} more" if len(mistakes) > _MAX_TOLD else ""
        )
        raise CourseError(f"{path} is not entered: {told}. Mend the file and give the same command again.")
    return people, tuple(head for head in heads if head and head not in _COLUMNS)


def _mistakes(people: Sequence[Person], lines: Sequence[int]) -> list[str]:
    found, first = [], dict[str, int]()
    for person, line in zip(people, lines, strict=True):
        if not person.id:
            found.append(f"line {line} has no id")
        elif person.id in first:
            found.append(f"the id {person.id} stands in line {first[person.id]} and in line {line}")
        elif len(person.id) > _MAX_ID:
            found.append(f"the id in line {line} is longer than {_MAX_ID} characters")
        elif not person.id.isprintable():
            found.append(f"the id {person.id!r} in line {line} holds a line break or another sign that nobody sees")
        elif any(sign in person.id for sign in "/\\+\0") or person.id in {".", ".."}:
            found.append(
                f"the id {person.id} in line {line} cannot be the name of a folder (/, \\ and + are not allowed)"
            )
        first.setdefault(person.id, line)
    distinct = {person.id: person for person in people if person.id}
    return found + double_entries(distinct.values())


def enter_roster(course: Course, people: Sequence[Person]) -> tuple[int, int]:
    """Enter ``people`` in the gradebook, in one transaction; returns how many are new, and how many are changed.

    A field that is empty here stays what it is there, and nobody is removed. Raises ``GradebookError``.
    """
    load_nbgrader()
    from nbgrader.api import Gradebook, Student  # noqa: PLC0415

    url, new, changed = gradebook_url(course), 0, 0
    require_version(url)
    course_id = nbgrader_config(course).get("CourseDirectory", {}).get("course_id") or course.course_id
    with gradebook_errors(url), own_commands(), Gradebook(url, str(course_id)) as book:
        known = {student.id: student for student in book.db.query(Student).all()}
        for person in people:
            student = known.get(person.id)
            if student is None:
                student = Student(id=person.id)
                book.db.add(student)
                new += 1
            before = [getattr(student, name) for name in _COLUMNS[1:]]
            for name in _COLUMNS[1:]:
                if value := getattr(person, name):
                    setattr(student, name, value)
            changed += person.id in known and before != [getattr(student, name) for name in _COLUMNS[1:]]
        book.db.commit()
    return new, changed
