"""Tests of review warnings: each situation is created, and its warning is repeated until the situation is resolved."""

import json

import pytest

from autograder.classroom.run import grade_class, handed_in
from autograder.cli.output import needs_review
from autograder.course.course import load_course
from tests.support import ROOT
from tests.support.books import book_of, with_book
from tests.support.commands import python
from tests.support.mini import (
    CHAPTER,
    MAX_SCORE,
    RIGHT,
    WRONG_SIGN,
    add_essay,
    cell,
    change,
    copy_course,
    document,
    hand_in,
)

OTHER_FILE = (
    "{} in the same folder also contains work on ch1_units, but only ch1_units.ipynb was graded. If that is the wrong "
    "notebook, replace it with the right one and grade again."
)
UNKNOWN = (
    "The gradebook's class list did not contain this student, so a new student was added. If the folder name is "
    "misspelled, rename the folder, grade again and remove the new student (`nbgrader db student remove`)."
)
NO_MARK = "Until you grade the notebook manually, `nbgrader export` writes {} for it into grades.csv."
STALE = "{} was manually graded with {}, but {}. The manual mark counts until you change it."
POINTS = (
    "Points have changed since ch1_units was released: to_kelvin has 2 points in the gradebook and 3 in its checks. Marks "
    "above the gradebook's maximum points are capped. Give the cells of the chapter's notebook the same points as its checks, "
    "run `nbgrader generate_assignment ch1_units --force` and grade again."
)
NEW_BOOK = (
    "The gradebook had no marks for ch1_units, although autograded/ contained a graded notebook. This gradebook lacks earlier "
    "manual marks and comments. Check whether there is another gradebook."
)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a course with a manually graded essay and four students in its class list."""
    made = with_book(add_essay(copy_course(tmp_path_factory.mktemp("doubts") / "mini")))
    with book_of(made) as book:
        for student in ("ada", "bob", "cut", "dot"):
            book.add_student(student)
    return made


def regrade(course):
    """Grade the class, and return the warnings by student and all verdicts."""
    course = load_course(course.root)
    verdicts = grade_class(course, CHAPTER, handed_in(course, CHAPTER))
    return {v.student: v.warning for v in verdicts}, verdicts


def essay(course, text, **code):
    """Return the solved notebook with ``text`` as its essay."""
    made = document(course, **{**RIGHT, **code})
    cell(made, "essay")["source"] = text
    return made


def beside(course, student, name, notebook):
    """Put another notebook next to the submission of ``student``."""
    path = course.root / "submitted" / student / CHAPTER / name
    path.write_text(json.dumps(notebook) if isinstance(notebook, dict) else notebook)


def auto(course, student, name="check_to_kelvin"):
    """Return the automatic score of a cell."""
    with book_of(course) as book:
        return book.find_grade(name, CHAPTER, CHAPTER, student).auto_score


# The tests of this file build on each other: each grades the class once more.


def test_other_files_unknown_students_and_marks_that_are_missing_are_told(course):
    """There are warnings about a second notebook with different work, an unknown student, and a mark exported as 0, but not about copies."""
    for student in ("ada", "bob", "dott"):
        hand_in(course, student, essay(course, f"{student}'s essay", to_kelvin=WRONG_SIGN))
    hand_in(course, "cut", b"{")
    beside(course, "ada", "solution.ipynb", essay(course, "Mine."))
    beside(course, "bob", "ch1_units-Copy1.ipynb", essay(course, "bob's essay", to_kelvin=WRONG_SIGN))
    beside(course, "bob", "blank.ipynb", document(course))
    beside(course, "bob", "scratch.ipynb", "{")
    told, verdicts = regrade(course)
    expected = {
        "ada": OTHER_FILE.format("solution.ipynb"),
        "bob": None,
        "cut": NO_MARK.format("0 points"),
        "dott": UNKNOWN,
    }
    assert told == expected
    listed = " ".join(needs_review(verdicts).split())
    assert f"- ada: {expected['ada']}" in listed
    assert verdicts[2].reason in listed
    assert f"{expected['cut']} - dott: {UNKNOWN}" in listed
    assert regrade(course) == (told, verdicts)


def test_another_file_that_comes_later_is_told_of_an_unchanged_class(course):
    """A new file causes a warning although the submitted notebook is unchanged. The warning disappears with the file."""
    beside(course, "bob", "later.ipynb", essay(course, "Later."))
    assert regrade(course)[0]["bob"] == OTHER_FILE.format("later.ipynb")
    (course.root / "submitted" / "bob" / CHAPTER / "later.ipynb").unlink()
    assert regrade(course)[0]["bob"] is None


def test_a_mark_by_hand_does_not_hide_what_was_handed_in_since(course):
    """If a student submits a better answer or a new essay, the manual marks stay, and a warning is repeated until they are reviewed."""
    with book_of(course) as book:
        for name, score in (("check_to_kelvin", 1.0), ("essay", 3.0)):
            grade = book.find_grade(name, CHAPTER, CHAPTER, "bob")
            grade.manual_score, grade.needs_manual_grade = score, False
        book.find_grade("essay", CHAPTER, CHAPTER, "ada").manual_score = 2.0
        book.find_grade("essay", CHAPTER, CHAPTER, "ada").needs_manual_grade = False
        book.db.commit()
    assert regrade(course)[0]["bob"] is None
    hand_in(course, "bob", essay(course, "A far better essay."))
    (course.root / "submitted" / "bob" / CHAPTER / "ch1_units-Copy1.ipynb").unlink()  # no longer a copy of the notebook
    hand_in(course, "ada", essay(course, "ada's essay", quiz_ch1_units='q1 = "b"\nq2 = 1.0'))
    stale = STALE.format("to_kelvin", "1 point", "the checks now give 2")
    stale += " " + STALE.format("essay", "3 points", "its text has changed since")
    for _ in range(2):
        told, _verdicts = regrade(course)
        assert told["bob"] == stale
        assert told["ada"] == OTHER_FILE.format("solution.ipynb")  # her essay has not changed since it was graded
    with book_of(course) as book:
        assert book.find_submission(CHAPTER, "bob").score == MAX_SCORE - 2 + 1 + 3
        for name in ("check_to_kelvin", "essay"):
            book.find_grade(name, CHAPTER, CHAPTER, "bob").needs_manual_grade = False
        book.db.commit()
    assert regrade(course)[0]["bob"] is None


def test_what_the_export_writes_for_a_notebook_without_marks_counts_those_by_hand(course):
    """The warning says how many manual points grades.csv contains for the notebook."""
    with book_of(course) as book:
        book.find_grade("essay", CHAPTER, CHAPTER, "cut").manual_score = 2.5
        book.db.commit()
    assert regrade(course)[0]["cut"] == NO_MARK.format("2.5 points")
    with book_of(course) as book:
        for grade in book.find_submission_notebook(CHAPTER, CHAPTER, "cut").grades:
            grade.manual_score = grade.manual_score or 1
        book.db.commit()
    assert regrade(course)[0]["cut"].startswith("The notebook has been graded manually: ")


def test_points_that_were_raised_after_the_release_are_told_until_they_agree(course):
    """Marks are limited to the gradebook's points, with a warning for each student, until the gradebook has the new points."""
    for test, points in (('to_kelvin", points=2)', 'to_kelvin", points=3)'), ("pure(points=0.5)", "pure(points=1.5)")):
        change(course.checks(CHAPTER), test, points)
    for _ in range(2):
        told, verdicts = regrade(course)
        assert [bool(warning) and warning.endswith(POINTS) for warning in told.values()] == [True, True, False, True]
    assert verdicts[1].exercise("to_kelvin").score == 3
    assert auto(course, "bob") == 2
    with book_of(course) as book:
        book.find_graded_cell("check_to_kelvin", CHAPTER, CHAPTER).max_score = 3
        book.db.commit()
    assert POINTS not in str(regrade(course)[0])
    assert auto(course, "bob") == 3


def test_a_gradebook_that_is_new_is_told_where_graded_notebooks_lie(course):
    """Only students with a graded notebook get the warning, because they may have had manual marks."""
    with_book(course)
    told, verdicts = regrade(course)
    lost = f"{OTHER_FILE.format('solution.ipynb')} {NEW_BOOK}"
    assert told["ada"] == f"{lost} {POINTS}"
    assert told["bob"] == told["dott"] == f"{NEW_BOOK} {POINTS}"
    assert told["cut"] == NO_MARK.format("0 points")
    assert regrade(course) == (told, verdicts)


def test_the_same_of_many_is_listed_once(course):
    """If more than three students share a warning, it names three."""
    _told, verdicts = regrade(course)
    many = [verdicts[1].relabelled(notebook="x", student=f"s{number}") for number in range(20)]
    listed = " ".join(needs_review(many).split())
    assert listed == f"Needs your review: - s0, s1, s2 and 17 more: {NEW_BOOK} {POINTS}"


def test_a_run_that_was_stopped_is_no_new_gradebook(tmp_path):
    """If marks could not be entered after notebooks were graded, the next run enters them without a warning."""
    course = with_book(copy_course(tmp_path / "mini"))
    for student in ("ada", "bob"):
        hand_in(course, student, document(course, **RIGHT), "2026-02-01 10:00:00 UTC")
    with book_of(course) as book:
        book.update_or_create_assignment(CHAPTER, duedate="2026-01-01 10:00:00 UTC")
    (course.root / "late.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\nclass Broken(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, seconds):\n        raise OSError('no space left')\n"
    )
    config = course.root / "course_config.py"
    before = config.read_text()
    config.write_text(f"{before}c.AssignLatePenalties.plugin_class = 'late.Broken'\n")
    done = python("-m", "autograder", "grade", CHAPTER, cwd=course.root, PYTHONPATH=f"{ROOT}:{course.root}")
    assert done.returncode != 0
    assert (course.root / "autograded" / "bob" / CHAPTER / f"{CHAPTER}.ipynb").exists()
    config.write_text(before)
    warnings, verdicts = regrade(course)
    assert warnings == {"ada": None, "bob": None}
    assert [verdict.score for verdict in verdicts] == [MAX_SCORE, MAX_SCORE]
