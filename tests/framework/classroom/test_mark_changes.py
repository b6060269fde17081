"""Tests of mark changes: each is logged with its reason, a drop is reported, and an earlier mark stays if the better notebook counts."""

import getpass
import json
import platform
import shutil

import pytest

from autograder.classroom.mark_changes import read_changes
from autograder.classroom.run import grade_class, handed_in
from autograder.classroom.watchers import _drop_warning
from autograder.course.course import load_course
from tests.framework.classroom.conftest import cells, given_back
from tests.support.books import book_of, with_book
from tests.support.commands import python
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, WRONG_SIGN, change, copy_course, document, hand_in

ONE_ROW = {**RIGHT, "to_kelvin": "def to_kelvin(celsius):\n    return celsius + 273.15 * (np.ndim(celsius) == 1)"}
HALF = {"to_kelvin": RIGHT["to_kelvin"]}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a course with three graded students. cyd's notebook is right for a single row only."""
    made = with_book(copy_course(tmp_path_factory.mktemp("moves") / "mini"))
    for student in ("ada", "bob", "cyd"):
        work = document(made, **(ONE_ROW if student == "cyd" else RIGHT))
        hand_in(made, student, work, "2026-01-01 10:00:00 UTC")
    regrade(made)
    return made


def regrade(course):
    """Grade the class once more, and return the verdicts by student."""
    course = load_course(course.root)
    return {v.student: v for v in grade_class(course, CHAPTER, handed_in(course, CHAPTER))}


def moves(course):
    """Return the student, both marks and the reason of each entry in the log."""
    return [(m.student, m.before, m.after, m.why) for m in read_changes(course)]


def score(course, student):
    """Return the student's mark in the gradebook, minus the late penalty."""
    with book_of(course) as book:
        submission = book.find_submission(CHAPTER, student)
        return submission.score - (submission.late_submission_penalty or 0)


# The tests of this file build on each other.


def test_first_marks_are_no_moves_and_a_mark_that_falls_is_said_once(course):
    """If a resubmission is worse, the log has the student, both marks, the reason and the checks. `autograder log` shows them."""
    assert moves(course) == []
    hand_in(course, "bob", document(course, **HALF))
    told = regrade(course)
    assert told["bob"].warning == "The mark fell from 6 to 2 points: submitted again."
    assert regrade(course)["bob"].warning is None
    assert moves(course) == [("bob", 6.0, 2.0, "submitted again")]
    shown = python("-m", "autograder", "log", CHAPTER, cwd=course.root, status=0).stdout
    assert "ch1_units  bob: 6 → 2 of 6 points: submitted again" in shown
    assert "mean_kelvin, “one station”: passed" in " ".join(shown.split())
    assert json.loads(python("-m", "autograder", "log", "--json", cwd=course.root).stdout)[0]["from"] == 6


def test_falls_by_the_dozen_are_said_in_one_sentence(course):
    """If many marks drop, every student gets the same warning, so that the command lists it only once. The log has the marks."""
    [move] = read_changes(course)
    said = _drop_warning(move, many=True)
    assert said == "The mark fell: submitted again. `autograder log ch1_units` shows the old and new marks."


def test_a_person_a_changed_check_and_a_penalty_are_told_apart(course):
    """The log distinguishes manual changes from changed checks, and its earlier lines stay unchanged."""
    log = course.root / "moved_marks.jsonl"
    before = log.read_bytes()
    with book_of(course) as book:
        grade = book.find_grade("check_to_kelvin", CHAPTER, CHAPTER, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.db.commit()
    regrade(course)
    checks, table, row = course.checks(CHAPTER), "np.array([[17.25, -40.0], [3.5, 451.0]])", "np.array([17.25, -40.0])"
    change(checks, table, row)
    regrade(course)
    change(checks, row, table)
    told = regrade(course)
    course_changed = "the checks, the solutions or the settings of the course changed"
    found = moves(course)[1:]
    assert found[0] == ("ada", 6.0, 5.5, "changed manually in the gradebook")
    # ada's manual mark for to_kelvin stays, whatever the checks find.
    some = told["cyd"].score
    less = some - 1.5  # to_kelvin now passes, so it no longer explains the mistake in mean_kelvin
    assert [move for move in found[1:] if move[0] == "cyd"] == [
        ("cyd", some, less, course_changed),
        ("cyd", less, some, course_changed),
    ]
    assert not any(move[0] == "ada" for move in found[1:])
    assert told["cyd"].warning is None
    moved = next(m for m in read_changes(course, students=["cyd"]))
    assert next((check.exercise, check.title, check.before, check.after) for check in moved.checks) == (
        "to_kelvin", "any shape", "failed", "passed",
    )  # fmt: skip
    assert log.read_bytes().startswith(before)


def test_the_better_notebook_counts_where_the_course_says_so(course):
    """The better notebook's marks, comments, graded notebook and page stay until a better notebook is submitted."""
    (course.root / "course_config.py").write_text(
        (course.root / "course_config.py").read_text() + '\nc.Course.resubmissions = "best"\n'
    )
    regrade(course)
    some = score(course, "cyd")
    book, back, log = cells(course), given_back(course), moves(course)
    hand_in(course, "ada", b"{", "2026-02-01 10:00:00 UTC")
    hand_in(course, "cyd", document(course, to_kelvin=WRONG_SIGN), "2026-02-01 10:00:00 UTC")
    for _ in range(2):
        told = regrade(course)
        assert (cells(course), given_back(course), moves(course)) == (book, back, log)
        assert told["cyd"].score == some
        assert told["cyd"].warning == (
            f"Another notebook was submitted (2026-02-01 10:00:00 UTC). It would get 0 points, but the earlier notebook has {some:g}, "
            'so the earlier notebook still counts (c.Course.resubmissions = "best").'
        )
        assert "could not be graded: ch1_units.ipynb is not a valid notebook" in told["ada"].warning
        assert told["ada"].status == "graded"
    hand_in(course, "bob", document(course, **RIGHT))
    assert regrade(course)["bob"].warning is None
    assert score(course, "bob") == MAX_SCORE
    assert moves(course)[len(log) :] == [("bob", 2.0, 6.0, "submitted again")]
    assert not list((course.root / ".autograder" / "earlier" / CHAPTER).iterdir())


def test_a_run_that_was_stopped_loses_no_better_notebook(course, monkeypatch):
    """If a run stops before it enters the mark, the next run still restores the files that were returned before."""
    back = given_back(course)
    hand_in(course, "bob", document(course, **HALF))
    with monkeypatch.context() as patch:
        patch.setattr("autograder.classroom.gradebook.entries.write_entries", lambda *_args, **_more: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            regrade(course)
    assert given_back(course) != back
    assert regrade(course)["bob"].score == MAX_SCORE
    assert given_back(course) == back


def test_without_a_record_the_reason_is_not_invented(course):
    """If .autograder/ was deleted, the log says that the reason is not known. It also says who ran which command."""
    before = len(moves(course))
    hand_in(course, "ada", document(course, **HALF))
    shutil.rmtree(course.root / ".autograder")
    regrade(course)
    [why] = [why for student, _, _, why in moves(course)[before:] if student == "ada"]
    assert why == "graded again, but .autograder/ has no record of the previous grading, so the reason is unknown"
    by = read_changes(course)[-1].by
    assert by.startswith(f"{getpass.getuser()}@{platform.node()}: ")
    shown = python("-m", "autograder", "log", "--student", "ada", cwd=course.root, status=0).stdout
    assert f"By {getpass.getuser()}@" in " ".join(shown.split())
