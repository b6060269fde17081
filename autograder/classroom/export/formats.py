"""The files that Canvas, Moodle and spreadsheets take, made from a gradebook alone.

Canvas: https://community.canvaslms.com, "How do I import grades in the Gradebook?". Moodle: https://docs.moodle.org, "Grade import" and
the grading worksheet of "Using Assignment".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autograder.base.formatting import number, points
from autograder.base.marks import CHECK, SubmissionMarks
from autograder.base.spreadsheets import Table, escape_formula, format_points
from autograder.classroom.export.gradebook import ClassMarks
from autograder.classroom.gradebook.people import Person

__all__ = ["FORMATS", "POINTS_POSSIBLE", "feedback_text", "shown"]

POINTS_POSSIBLE = "    Points Possible"  # as Canvas itself writes it


def canvas(found: ClassMarks) -> Table:
    """A gradebook to import into Canvas: a row for each student, a column for each chapter."""
    found.require_distinct("LMS id", lambda student: student.lms_user_id)
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *found.chapters]]
    rows.append([POINTS_POSSIBLE, "", "", "", "", *(format_points(found.worth[chapter]) for chapter in found.chapters)])
    for student in found.students:
        lms = student.lms_user_id
        # Canvas's own ids are whole numbers; what is none is the id that the school's system gave.
        ids = [lms, ""] if lms.isdigit() else ["", lms]
        marks = [shown(found.score(chapter, student.id)) for chapter in found.chapters]
        rows.append([*map(escape_formula, [student.sorted_name, *ids, student.id]), "", *marks])
    return rows


def moodle(found: ClassMarks) -> Table:
    """The grading worksheet of one Moodle assignment; for several chapters, a table for Moodle's import of grades."""
    found.require_distinct("LMS id", lambda student: student.lms_user_id)
    found.require_distinct("address", lambda student: student.email.casefold())
    return _worksheet(found, found.chapters[0]) if len(found.chapters) == 1 else _many(found)


def _worksheet(found: ClassMarks, chapter: str) -> Table:
    rows = [
        [
            "Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum grade", "Grade can be changed",
            "Last modified (submission)", "Last modified (grade)", "Feedback comments",
        ]
    ]  # fmt: skip
    words = {"graded": "Submitted for grading", "waits": "Submitted for grading", "missing": "No submission"}
    for student in found.students:
        marks, score = found.of(chapter, student.id), found.score(chapter, student.id)
        handed_in = str((marks and marks.timestamp) or "-")
        status = words[found.state(chapter, student.id)]
        said = escape_formula(feedback_text(marks)) if marks and score is not None else ""
        worth = format_points(found.worth[chapter])
        rows.append(
            [_participant(student), *_person(student), status, shown(score), worth, "Yes", handed_in, "-", said]
        )
    return rows


def _many(found: ClassMarks) -> Table:
    heads = [head for chapter in found.chapters for head in (f"{chapter} (Real)", f"{chapter} (Feedback)")]
    rows = [["Identifier", "Full name", "ID number", "Email address", *heads]]
    for student in found.students:
        row = [_participant(student), *_person(student)]
        for chapter in found.chapters:
            marks, score = found.of(chapter, student.id), found.score(chapter, student.id)
            row += [shown(score), escape_formula(feedback_text(marks)) if marks and score is not None else ""]
        rows.append(row)
    return rows


def _participant(student: Person) -> str:
    """How a Moodle worksheet calls a student: by a number that only Moodle knows."""
    return (
        f"Participant {student.lms_user_id}" if student.lms_user_id.isdigit() else escape_formula(student.lms_user_id)
    )


def _person(student: Person) -> list[str]:
    return [escape_formula(text) for text in (student.name or student.id, student.id, student.email)]


def table(found: ClassMarks) -> Table:
    """A row for each student and chapter: the columns of ``nbgrader export``, and after them what the blank cells mean."""
    heads = ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score"]
    rows = [[*heads, "late_submission_penalty", "score", "max_score", "lms_user_id", "state"]]
    for chapter in found.chapters:
        for student in found.students:
            marks, score = found.of(chapter, student.id), found.score(chapter, student.id)
            stamp = str((marks and marks.timestamp) or "")
            person = [escape_formula(t) for t in (student.id, student.last_name, student.first_name, student.email)]
            raw = (
                [format_points(marks.score), format_points(marks.penalty)] if marks and score is not None else ["", ""]
            )
            rest = [shown(score), format_points(found.worth[chapter]), escape_formula(student.lms_user_id)]
            rows.append([chapter, found.due[chapter], stamp, *person, *raw, *rest, found.state(chapter, student.id)])
    return rows


def shown(score: float | None) -> str:
    """A mark, or a blank cell where there is none to send."""
    return "" if score is None else format_points(score)


def feedback_text(marks: SubmissionMarks) -> str:
    """The marks in a sentence for each cell, with a person's comments: what fits into a field of another system."""
    parts = []
    for cell in marks.cells:
        name = cell.name.removeprefix(CHECK)
        said = marks.comments.get(name) or marks.comments.get(cell.name) or ""
        parts.append(f"{name}: {points(cell.score, cell.max_score)}." + (f" {' '.join(said.split())}" if said else ""))
    late = [f"Late: {number(marks.penalty)} taken off."] if marks.penalty else []
    return " ".join([*parts, *late])


FORMATS: Mapping[str, Callable[[ClassMarks], Table]] = {"canvas": canvas, "moodle": moodle, "csv": table}
