"""Tests of the preview: it shows whose marks would change, by how much and because of which check, and changes nothing."""

import json
import os
from pathlib import Path

import pytest

from autograder.classroom.incremental import hold_run_lock
from autograder.classroom.preview import preview_class
from autograder.classroom.run import grade_class, handed_in
from autograder.cli.output import preview_text
from autograder.course.course import load_course
from autograder.grading.submission import Submission
from autograder.judging.validated import mark_validated
from tests.support.books import book_of, with_book
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, change, copy_course, document, hand_in

ONE_ROW = {**RIGHT, "to_kelvin": "def to_kelvin(celsius):\n    return celsius + 273.15 * (np.ndim(celsius) == 1)"}
TABLE, ROW = "np.array([[17.25, -40.0], [3.5, 451.0]])", "np.array([17.25, -40.0])"
WHY = "the checks, the solutions or the settings of the course changed"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a course with three graded students. The functions of cyd and dot are right for a single row only, and dot's has a manual mark."""
    made = with_book(copy_course(tmp_path_factory.mktemp("preview") / "mini"))
    for student in ("ada", "cyd", "dot"):
        hand_in(made, student, document(made, **(RIGHT if student == "ada" else ONE_ROW)))
    grade(made)
    with book_of(made) as book:
        mark = book.find_grade("check_to_kelvin", CHAPTER, CHAPTER, "dot")
        mark.manual_score, mark.needs_manual_grade = 2.0, False
        book.db.commit()
    grade(made)
    mark_validated(made, CHAPTER)
    return made


def grade(course):
    """Grade the class, and return the mark of each student."""
    course = load_course(course.root)
    grade_class(course, CHAPTER, handed_in(course, CHAPTER))
    with book_of(course) as book:
        return {s.student_id: s.score for s in book.assignment_submissions(CHAPTER)}


def preview(course):
    """Return what grading would change."""
    course = load_course(course.root)
    return preview_class(course, CHAPTER, handed_in(course, CHAPTER))


def everything(course):
    """Return the bytes and times of all files in the course folder."""
    files = (Path(folder) / name for folder, _, names in os.walk(course.root) for name in names)
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_an_unchanged_class_moves_nobody_and_runs_nothing(course, monkeypatch):
    """Verdicts that are still valid come from the cache."""
    monkeypatch.setattr(Submission, "open", lambda *_args, **_more: pytest.fail("a notebook was run"))
    before = everything(course)
    found = preview(course)
    assert (found.moves, found.run, found.unchanged, found.unproven) == ((), 0, 3, ())
    assert everything(course) == before
    assert "No mark would change." in preview_text(found)
    assert "Every check is validated" in preview_text(found)


def test_a_changed_check_is_told_with_whom_it_moves_and_then_does_just_that(course):
    """The preview shows changed points and checks, manual marks and a first submission, and changes no byte in the course folder."""
    change(course.checks(CHAPTER), TABLE, ROW)
    hand_in(course, "new", document(course, **RIGHT))
    before = everything(course)
    found = preview(course)
    assert everything(course) == before
    moved = {move.student: (move.before, move.after, move.why) for move in found.moves}
    assert moved == {"cyd": (4.5, 3.0, WHY), "dot": (6.0, 3.0, WHY)}  # dot's manual mark for to_kelvin stays
    assert found.by_exercise == {"mean_kelvin": (2, -6.0), "to_kelvin": (1, 1.5)}
    assert found.first == ("new",)
    assert found.unproven == (("to_kelvin", "any shape"),)
    text = " ".join(preview_text(found).split())
    assert "2 marks would change (2 would fall): - cyd: 4.5 → 3 of 6 points" in text
    assert "to_kelvin: 1 student, +1.5 points in total “any shape”: failed → passed (2)" in text
    assert "These checks have not been validated since the last release: to_kelvin, “any shape”." in text
    with hold_run_lock(course, CHAPTER):
        assert "Another run is grading ch1_units now" in preview_text(preview(course))
    assert grade(course) == {"ada": 6.0, "cyd": 3.0, "dot": 3.0, "new": 6.0}


def test_a_changed_misconception_is_told_though_no_mark_moves(course):
    """The preview counts the students whose mistake would get a different name."""
    known = course.root / "solutions" / "misconceptions" / f"{CHAPTER}.py"
    code = "\n\n@misconceptions_of('to_kelvin')\ndef one_row_alone(celsius):\n"
    code += (
        '    """A table of several rows is left as it was."""\n    return celsius + 273.15 * (np.ndim(celsius) == 1)\n'
    )
    change(course.checks(CHAPTER), ROW, TABLE)
    grade(course)
    known.write_text(known.read_text() + code)
    done = python("-m", "autograder", "grade", CHAPTER, "--preview", cwd=course.root, status=0).stdout
    assert "No mark would change." in done
    assert "These mistakes would get another name:\n  to_kelvin: none → one_row_alone (2 students)" in done


def test_the_command_prints_one_json_object_and_makes_nothing_for_a_course_without_anything(tmp_path):
    """The preview creates no secret, gradebook or folder, and says that nothing was released."""
    course = copy_course(tmp_path / "mini")
    hand_in(course, "ada", document(course, **RIGHT))
    before = everything(course)
    done = python("-m", "autograder", "grade", CHAPTER, "--preview", "--json", cwd=course.root, status=0)
    assert everything(course) == before
    found = json.loads(done.stdout)
    assert (found["first_marks"], found["moves"], found["unproven"], found["run"]) == (["ada"], [], None, 1)
    assert done.stderr == ""


def test_layout_and_comments_unprove_nothing_and_what_a_check_mentions_does(course):
    """A check stays validated if only comments change, but not if the decorator of its class changes."""
    checks = course.checks(CHAPTER)
    mark_validated(load_course(course.root), CHAPTER)
    checks.write_text(checks.read_text() + "\n\n# a remark\n")
    assert preview(course).unproven == ()
    change(checks, 'mean_kelvin", points=3, depends_on=("to_kelvin",)', 'mean_kelvin", points=3, depends_on=()')
    assert {exercise for exercise, _title in preview(course).unproven} == {"mean_kelvin"}
