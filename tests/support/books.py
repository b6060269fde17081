"""What goes into a gradebook, and what one holds, in a form in which two of them can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.grading.outcome import Outcome
from autograder.grading.submission import Job
from autograder.verdict import Verdict


def outcome(verdict: Verdict, timestamp: str | None = None) -> Outcome:
    """A verdict on its way to the gradebook."""
    job = Job(Path(verdict.notebook), verdict.student, verdict.chapter)
    return Outcome(job, verdict, timestamp=timestamp)


def marks(url: str, chapter: str) -> dict[str, Any]:
    """Everything that ``chapter`` has in the gradebook at ``url``, by student: no row of it may be lost or doubled."""
    with Gradebook(url, "mini") as book:
        found = {}
        for submission in book.assignment_submissions(chapter):
            [notebook] = submission.notebooks
            assert submission.student_id not in found
            found[submission.student_id] = {
                "timestamp": submission.timestamp,
                "score": submission.score,
                "penalty": notebook.late_submission_penalty,
                "grades": sorted(
                    (grade.name, grade.auto_score, grade.manual_score, bool(grade.needs_manual_grade))
                    for grade in notebook.grades
                ),
                "comments": sorted((comment.name, comment.comment) for comment in notebook.comments),
            }
        assert sorted(found) == sorted(student.id for student in book.students)
        return found
