"""Create empty gradebooks, write to them, and return their content in a form that can be compared."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from nbgrader.api import Course as Row
from nbgrader.api import Gradebook

from autograder.base.verdict import Verdict
from autograder.classroom.gradebook.entries import load_nbgrader
from autograder.course.course import Course
from autograder.grading.submission import Job, Outcome


def outcome(verdict: Verdict, timestamp: str | None = None) -> Outcome:
    """Return a verdict as the outcome that is entered in the gradebook."""
    job = Job(Path(verdict.notebook), verdict.student, verdict.chapter)
    return Outcome(job, verdict, timestamp=timestamp)


def with_book(course: Course) -> Course:
    """Return ``course`` with an empty gradebook. A copy takes a millisecond, while a new one starts a process."""
    (course.root / "gradebook.db").write_bytes(empty_book())
    return course


@cache
def empty_book() -> bytes:
    """Return an empty SQLite gradebook as nbgrader creates it. Each test process creates it once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gradebook.db"
        make_empty(f"sqlite:///{path}")
        return path.read_bytes()


def make_empty(url: str) -> None:
    """Let nbgrader create its tables in the database at ``url``."""
    load_nbgrader()
    with Gradebook(url) as book:
        book.db.query(Row).delete()
        book.db.commit()


def book_of(course: Course) -> Gradebook:
    """Open the gradebook of the mini course ``course``."""
    return Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "mini")


def marks(url: str, chapter: str) -> dict[str, Any]:
    """Return everything in the gradebook at ``url`` about ``chapter``, by student. Duplicate rows are kept."""
    with Gradebook(url, "mini") as book:
        found = {}
        for submission in book.assignment_submissions(chapter):
            [notebook] = submission.notebooks
            assert submission.student_id not in found
            grades = [(g.name, g.auto_score, g.manual_score, bool(g.needs_manual_grade)) for g in notebook.grades]
            found[submission.student_id] = {
                "timestamp": submission.timestamp,
                "score": submission.score,
                "penalty": notebook.late_submission_penalty,
                "grades": sorted(grades),
                "comments": sorted((comment.name, comment.comment) for comment in notebook.comments),
            }
        assert sorted(found) == sorted(student.id for student in book.students)
        return found
