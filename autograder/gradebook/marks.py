"""The marks of a chapter, read from a gradebook by student and cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from autograder.gradebook.reading import ask
from autograder.marks import CellMark, SubmissionMarks

__all__ = ["read_marks"]

_SUBMISSIONS = """
    SELECT submitted.student_id, submitted.timestamp, part.late_submission_penalty
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
    JOIN grade ON grade.notebook_id = part.id
    JOIN base_cell ON base_cell.id = grade.cell_id
    LEFT JOIN grade_cells ON grade_cells.id = base_cell.id
    LEFT JOIN task_cells ON task_cells.id = base_cell.id
    WHERE assignment.name = :chapter {only}
    ORDER BY base_cell.name
"""
_COMMENTS = """
    SELECT submitted.student_id, base_cell.name, comment.manual_comment
    FROM assignment
    JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
    JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
    JOIN comment ON comment.notebook_id = part.id
    JOIN base_cell ON base_cell.id = comment.cell_id
    WHERE assignment.name = :chapter AND comment.manual_comment IS NOT NULL {only}
    ORDER BY base_cell.name
"""


def read_marks(url: str, chapter: str, students: Sequence[str] = ()) -> dict[str, SubmissionMarks] | None:
    """The marks of ``chapter`` by student (of ``students`` only, if any) in the gradebook at ``url``; None where it does not answer."""
    names = {f"s{number}": student for number, student in enumerate(students)}
    only = f"AND submitted.student_id IN ({','.join(f':{name}' for name in names)})" if names else ""
    values = {"chapter": chapter, **names}
    # Nothing but names of parameters is put in.
    found = ask(url, [(question.format(only=only), values) for question in (_SUBMISSIONS, _GRADES, _COMMENTS)])
    if found is None:
        return None
    submissions, grades, comments = found
    cells: dict[str, list[CellMark]] = {}
    for student, name, auto, by_hand, extra, waits, worth, task in grades:
        mark = CellMark(name, float(worth or task or 0.0), auto, by_hand, extra or None, bool(waits))
        cells.setdefault(student, []).append(mark)
    said: dict[str, dict[str, str]] = {}
    for student, name, text in comments:
        if str(text).strip():
            said.setdefault(student, {})[name] = str(text)
    penalties: dict[str, list[float]] = {}
    stamps: dict[str, str | None] = {}
    for student, timestamp, penalty in submissions:
        penalties.setdefault(student, []).append(penalty or 0.0)
        stamps[student] = None if timestamp is None else str(timestamp)
    return {
        student: SubmissionMarks(tuple(cells.get(student, ())), said.get(student, {}), math.fsum(late), stamps[student])
        for student, late in penalties.items()
    }
