"""A fixture with a small course, and helpers that submit notebooks and read the gradebook."""

import sqlite3
from contextlib import closing

import pytest

from autograder.authoring.simulate import solved_notebook
from autograder.course.notebook import document_bytes
from autograder.misconception import misconceptions_in
from tests.support.books import with_book
from tests.support.mini import CHAPTER, RIGHT, copy_course, hand_in

# Database ids are random, so they are left out. Everything else that a gradebook stores about a class is compared.
CELLS = """
    SELECT 'grade', submitted.student_id, cell.name, grade.auto_score, grade.manual_score, grade.extra_credit,
        grade.needs_manual_grade
    FROM grade JOIN base_cell AS cell ON cell.id = grade.cell_id
    JOIN submitted_notebook AS part ON part.id = grade.notebook_id
    JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
    UNION ALL
    SELECT 'comment', submitted.student_id, cell.name, comment.auto_comment, comment.manual_comment, NULL, NULL
    FROM comment JOIN base_cell AS cell ON cell.id = comment.cell_id
    JOIN submitted_notebook AS part ON part.id = comment.notebook_id
    JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
    UNION ALL
    SELECT 'submission', submitted.student_id, notebook.name, submitted.timestamp, part.late_submission_penalty,
        submitted.extension, NULL
    FROM submitted_notebook AS part JOIN notebook ON notebook.id = part.notebook_id
    JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
"""


@pytest.fixture
def course(tmp_path):
    """Return a new copy of the mini course, with an empty gradebook."""
    return with_book(copy_course(tmp_path / "mini"))


def class_of_many(course, size):
    """Submit ``size`` different notebooks. Some are right, some have a known mistake, some are unfinished, and some are truncated."""
    wrong = misconceptions_in(course.misconceptions(CHAPTER))
    for number in range(size):
        code = dict(RIGHT)
        if number % 3 == 1:
            slip = wrong[number % len(wrong)]
            code[slip.exercise] = slip.function
        elif number % 3 == 2:
            del code["mean_kelvin"]
        if isinstance(code.get("to_kelvin"), str):
            code["to_kelvin"] = f"# student {number}\n{code['to_kelvin']}"
        data = document_bytes(solved_notebook(course, CHAPTER, code))
        data = data[: len(data) // 2] if number % 10 == 9 else data
        hand_in(course, f"s{number:03}", data, f"2026-01-{1 + number % 28:02} 10:00:00 UTC")


def cells(course):
    """Return every row that ``CELLS`` selects from the course's gradebook, sorted."""
    with closing(sqlite3.connect(course.root / "gradebook.db")) as book:
        return sorted(book.execute(CELLS).fetchall(), key=repr)


def given_back(course):
    """Return the bytes of all files that are returned to students, by path."""
    kinds = ("autograded", "feedback")
    files = [path for kind in kinds for path in (course.root / kind).rglob("*") if path.is_file()]
    return {str(path.relative_to(course.root)): path.read_bytes() for path in files}
