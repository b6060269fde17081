"""The students of a gradebook: who they are, and whether they are a class that somebody entered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.classroom.gradebook.errors import require_answers
from autograder.classroom.gradebook.reading import Question, ask

__all__ = ["PEOPLE", "ClassList", "Person", "class_list", "double_entries", "known_students", "read_class_list"]

_STUDENTS = "SELECT id, first_name, last_name, email, lms_user_id FROM student ORDER BY id"
_SUBMISSIONS = """
    SELECT DISTINCT submitted.student_id, assignment.name FROM submitted_assignment AS submitted
    JOIN assignment ON assignment.id = submitted.assignment_id
"""
PEOPLE: tuple[Question, Question] = ((_STUDENTS, {}), (_SUBMISSIONS, {}))  # `class_list` takes the answers


@dataclass(frozen=True, slots=True)
class Person:
    """A student as nbgrader's table of students has them; every text may be empty but ``id``."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """First and last name, as far as they are known, on one line."""
        return " ".join(f"{self.first_name} {self.last_name}".split())

    @property
    def sorted_name(self) -> str:
        """Last and first name with a comma between, or the id where neither is known."""
        parts = (" ".join(part.split()) for part in (self.last_name, self.first_name))
        return ", ".join(filter(None, parts)) or self.id


@dataclass(frozen=True)
class ClassList:
    """The students of a gradebook, by id.

    ``is_entered`` says that somebody entered them: one has a name or an address, or has handed in nothing, which grading alone does
    not bring about. ``is_known`` says whether they are a class, and not only those who were graded so far: they were entered, or
    come from another chapter.
    """

    people: Mapping[str, Person] = field(default_factory=dict)
    is_known: bool = False
    is_entered: bool = False

    @property
    def students(self) -> frozenset[str]:
        """Their ids."""
        return frozenset(self.people)


def known_students(url: str, chapter: str) -> ClassList | None:
    """Who is in the gradebook at ``url``, before ``chapter`` is graded; None where it is not there or does not answer."""
    found = ask(url, PEOPLE)
    return None if found is None else class_list(found[0], found[1], chapter)


def read_class_list(url: str) -> ClassList | None:
    """Who is in the gradebook at ``url``; None where there is none yet. Raises ``GradebookError`` where it cannot be read."""
    found = require_answers(url, PEOPLE)
    return None if found is None else class_list(found[0], found[1])


def class_list(students: Sequence[Any], submissions: Sequence[Any], chapter: str = "") -> ClassList:
    """The class by the answers to ``PEOPLE``, as seen from ``chapter``."""
    people = {row[0]: Person(*(str(value or "") for value in row)) for row in students}
    graded = {student for student, _chapter in submissions}
    entered = any(p.name or p.email or p.lms_user_id or p.id not in graded for p in people.values())
    return ClassList(people, entered or any(name != chapter for _student, name in submissions), entered)


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
