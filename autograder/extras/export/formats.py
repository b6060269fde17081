"""Export the marks of a gradebook as files for Canvas, Moodle and spreadsheets.

The formats are documented by Canvas (https://community.canvaslms.com, "How do I import grades in the Gradebook?") and by Moodle
(https://docs.moodle.org, "Grade import" and the grading worksheet of "Using Assignment").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.base.formatting import pluralize
from autograder.base.spreadsheets import Sheet, Table
from autograder.extras.export.gradebook import (
    BLANK,
    POINTS_POSSIBLE,
    ClassMarks,
    Policy,
    escape_formula,
    feedback_text,
    format_points,
    read_class,
    sheet_bytes,
    shown,
)
from autograder.extras.export.roster import KEYS, Scale, merged, read_roster

__all__ = ["FORMATS", "Export", "export_marks"]


def canvas(found: ClassMarks) -> Table:
    """Return a table for Canvas, with a row for each student and a column for each chapter."""
    found.require_distinct("LMS id", lambda student: student.lms_user_id)
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *found.chapters]]
    rows.append([POINTS_POSSIBLE, "", "", "", "", *(format_points(found.worth[chapter]) for chapter in found.chapters)])
    for student in found.students:
        lms = student.lms_user_id
        # Canvas's own ids are integers. Any other id comes from the school's system.
        ids = [lms, ""] if lms.isdigit() else ["", lms]
        marks = [shown(found.score(chapter, student.id)) for chapter in found.chapters]
        rows.append([*map(escape_formula, [student.sorted_name, *ids, student.id]), "", *marks])
    return rows


def moodle(found: ClassMarks) -> Table:
    """Return a table for Moodle's grade import ("Grades › Import"), which finds students by ID number or address.

    Raises ``CourseError`` if there is only one chapter. Moodle numbers participants differently in each assignment, so a single assignment
    needs a worksheet downloaded from Moodle.
    """
    if len(found.chapters) == 1:
        raise CourseError(
            "In Moodle, participants have different numbers in each assignment, so only the assignment's own grading worksheet identifies "
            "them. Nothing was written. In the assignment, choose “Download grading worksheet”, then add that file to the command: --roster FILE.csv."
        )
    found.require_distinct("LMS id", lambda student: student.lms_user_id)
    found.require_distinct("address", lambda student: student.email.casefold())
    heads = [head for chapter in found.chapters for head in (f"{chapter} (Real)", f"{chapter} (Feedback)")]
    rows = [["Full name", "ID number", "Email address", *heads]]
    for student in found.students:
        row = [escape_formula(text) for text in (student.name or student.id, student.id, student.email)]
        for chapter in found.chapters:
            marks, score = found.of(chapter, student.id), found.score(chapter, student.id)
            row += [shown(score), escape_formula(feedback_text(marks)) if marks and score is not None else ""]
        rows.append(row)
    return rows


def table(found: ClassMarks) -> Table:
    """Return a table with a row for each student and chapter, the columns of ``nbgrader export``, and the state of each mark."""
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


FORMATS: Mapping[str, Callable[[ClassMarks], Table]] = {"canvas": canvas, "moodle": moodle, "csv": table}


@dataclass(frozen=True, slots=True)
class Export:
    """An exported file: its bytes, and remarks for the instructor."""

    data: bytes
    remarks: tuple[str, ...]


def export_marks(
    url: str,
    to: str,
    chapters: Sequence[str] = (),
    *,
    students: Sequence[str] = (),
    policy: Policy = BLANK,
    roster: Path | None = None,
    columns: Mapping[str, str] | None = None,
    bom: bool = False,
    output: Path | None = None,
    scale: Scale = "",
) -> Export:
    """Export the marks in the gradebook at ``url`` in the format ``to`` ("canvas", "moodle", "csv"), and write them to ``output`` if it is given.

    ``roster`` is a downloaded file whose rows and columns are kept. ``columns`` maps a chapter to its column in that
    file. ``scale`` says what to do if the file has different points for a chapter. If the marks cannot be exported safely, raises
    ``CourseError`` or ``GradebookError`` and writes nothing.
    """
    if roster is not None and to not in KEYS:
        raise CourseError(
            f"--roster merges marks into a file downloaded from {' or '.join(KEYS)}. An export to {to} has no such file."
        )
    if columns and roster is None:
        raise CourseError("--column chooses a column of a downloaded file. Add that file with --roster FILE.")
    if roster is not None and output is not None and output.exists() and roster.exists() and output.samefile(roster):
        raise CourseError(
            f"{output} is the downloaded file. Choose another file with --output, so that the download is kept."
        )
    found = read_class(url, chapters, students, policy)
    if roster is None:
        remarks: tuple[str, ...] = ()
        data = sheet_bytes(Sheet(FORMATS[to](found), bom=bom, newline="\r\n"))
    else:
        downloaded = read_roster(roster)
        done = merged(found, downloaded, to, columns, scale)
        remarks, data = done.remarks, sheet_bytes(replace(downloaded, rows=done.rows, bom=downloaded.bom or bom))
    if output is not None:
        write_atomically(output, data)
    return Export(data, (*_of_waiting(found), *remarks))


def _of_waiting(found: ClassMarks) -> list[str]:
    waiting = found.waiting()
    if not waiting:
        return []
    shown = ", ".join(f"{student} ({chapter})" for chapter, student in waiting[:5])
    more = f" and {len(waiting) - 5} more" if len(waiting) > 5 else ""
    how = "exported with the points so far" if found.policy.partial else "left blank, not zero"
    verb = "needs" if len(waiting) == 1 else "need"
    return [
        f"{pluralize(len(waiting), 'mark')} {verb} manual grading and {'is' if len(waiting) == 1 else 'are'} {how}: {shown}{more}."
    ]
