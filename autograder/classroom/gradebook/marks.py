"""The marks of a chapter, read from a gradebook by student and cell: alone, or with the class and the chapter around them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.base.marks import CellMark, SubmissionMarks
from autograder.classroom.gradebook.entries import UNGRADED
from autograder.classroom.gradebook.errors import require_answers
from autograder.classroom.gradebook.people import PEOPLE, ClassList, class_list
from autograder.classroom.gradebook.reading import DUE_DATE, POINTS, Question, about, ask, moment, points_by_cell

__all__ = ["ChapterBook", "read_book", "read_marks"]

_SUBMISSIONS = """
    SELECT submitted.student_id, submitted.timestamp, submitted.extension, part.late_submission_penalty
    FROM assignment
    JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
    JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
    WHERE assignment.name = :chapter {only}
"""
_GRADES = """
    SELECT submitted.student_id, base_cell.name, grade.auto_score, grade.manual_score, grade.extra_credit,
        grade.needs_manual_grade, grade_cells.max_score, task_cells.max_score
    FROM assignment
    JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
    JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
    JOIN base_cell ON base_cell.notebook_id = part.notebook_id
    LEFT JOIN grade ON grade.notebook_id = part.id AND grade.cell_id = base_cell.id
    LEFT JOIN grade_cells ON grade_cells.id = base_cell.id
    LEFT JOIN task_cells ON task_cells.id = base_cell.id
    WHERE assignment.name = :chapter AND (grade_cells.id IS NOT NULL OR task_cells.id IS NOT NULL) {only}
    ORDER BY base_cell.name
"""
_COMMENTS = """
    SELECT submitted.student_id, base_cell.name, comment.manual_comment, comment.auto_comment
    FROM assignment
    JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
    JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
    JOIN comment ON comment.notebook_id = part.id
    JOIN base_cell ON base_cell.id = comment.cell_id
    WHERE assignment.name = :chapter AND (comment.manual_comment IS NOT NULL OR comment.auto_comment LIKE :ungraded) {only}
    ORDER BY base_cell.name
"""
_OPENING = UNGRADED.partition("{")[0]  # of the comment on a notebook that could not be graded; the reason follows


@dataclass(frozen=True)
class ChapterBook:
    """A chapter in a gradebook: the class, the marks of who handed in, what each cell is worth, and when it was due (UTC, no zone)."""

    class_list: ClassList = field(default_factory=ClassList)
    marks: Mapping[str, SubmissionMarks] = field(default_factory=dict)
    worth: Mapping[str, float] = field(default_factory=dict)
    due: dt.datetime | None = None


def read_marks(url: str, chapter: str, students: Sequence[str] = ()) -> dict[str, SubmissionMarks] | None:
    """The marks of ``chapter`` by student (of ``students`` only, if any) in the gradebook at ``url``; None where it does not answer."""
    found = ask(url, _questions(chapter, students))
    return None if found is None else _marks(*found)


def read_book(url: str, chapter: str) -> ChapterBook | None:
    """What the gradebook at ``url`` holds of ``chapter``; None where there is no gradebook yet.

    Raises ``GradebookError`` where there is one that cannot be read: a report must not pass for one on an empty class.
    """
    values = {"chapter": chapter}
    found = require_answers(url, [*PEOPLE, (POINTS, values), (DUE_DATE, values), *_questions(chapter)])
    if found is None:
        return None
    students, submissions, points, due, *marks = found
    return ChapterBook(
        class_list(students, submissions, chapter),
        _marks(*marks),
        points_by_cell(points),
        moment(due[0][0]) if due else None,
    )


def _questions(chapter: str, students: Sequence[str] = ()) -> list[Question]:
    asked = about(chapter, students, _SUBMISSIONS, _GRADES, _COMMENTS)
    return [*asked[:2], (asked[2][0], {**asked[2][1], "ungraded": f"{_OPENING}%"})]


def _marks(submissions: Sequence[Any], grades: Sequence[Any], comments: Sequence[Any]) -> dict[str, SubmissionMarks]:
    cells: dict[str, list[CellMark]] = {}
    for student, name, auto, by_hand, extra, waits, worth, task in grades:
        # A cell without any entry, such as one that came with a later release, waits as well: nobody gave a 0 for it.
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
    return {
        student: SubmissionMarks(
            tuple(cells.get(student, ())),
            said.get(student, {}),
            math.fsum(late),
            moment(times[student][0]),
            _duration(times[student][1]),
            reasons.get(student, ""),
        )
        for student, late in penalties.items()
    }


def _duration(value: Any) -> dt.timedelta:
    """A duration: a server gives one, SQLite the moment that is so long after 1970."""
    if isinstance(value, dt.timedelta):
        return value
    end = moment(value)
    return dt.timedelta() if end is None else end - dt.datetime(1970, 1, 1)  # noqa: DTZ001 - of a moment without a zone
