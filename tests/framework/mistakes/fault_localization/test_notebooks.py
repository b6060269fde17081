"""Test located lines in submitted notebooks: they are in the verdict, on the page and in the comment, and change no marks."""

import json
from dataclasses import replace

import pytest

from autograder.base.errors import CourseError
from autograder.base.verdict import ExerciseVerdict, LocatedMistake, Verdict, redact_verdict
from autograder.classroom.delivery import FeedbackWriter
from autograder.classroom.gradebook.entries import comment_on
from autograder.course.course import load_course
from autograder.grading.batch import grade, grade_notebooks
from autograder.grading.submission import Job
from autograder.mistakes.fault_localization import notebooks
from autograder.mistakes.fault_localization.search import search
from autograder.pages.card import location_text
from tests.support.mini import CHAPTER, RIGHT, copy_course, document, hand_in

PATIENT = "c.Course.locate_seconds = 30\n"
SCALED = "# My own way\ndef to_kelvin(celsius):\n    offset = 273.15\n    return celsius * offset"
HELPED = "def mean_kelvin(celsius):\n    return row_means(to_kelvin(celsius))"
HELPER = "def row_means(table):\n    return np.mean(table, axis=0)"


def hand_in_all(course, **students):
    """Submit a right notebook for each student, except for the given code, and return the jobs."""
    return [Job(hand_in(course, s, document(course, **{**RIGHT, **own})), s, CHAPTER) for s, own in students.items()]


@pytest.fixture
def patient(tmp_path):
    """Return the mini course with enough time for searches, even on a busy machine."""
    return copy_course(tmp_path / "mini", config=PATIENT)


def test_an_unnamed_mistake_gets_its_line_and_everything_else_stays(patient, tmp_path):
    """Located lines change only the key ``located`` of a verdict, which can be stored and loaded. Equal answers get the same line."""
    lower = SCALED.replace("    return", "\n    # lower down\n    return")
    students = {"ada": {"to_kelvin": SCALED}, "bob": {"to_kelvin": SCALED}, "eve": {}, "cy": {"to_kelvin": lower}}
    found = grade_notebooks(patient, hand_in_all(patient, **students))
    side_by_side = grade_notebooks(patient, hand_in_all(patient, **students), workers=2)
    assert [v.to_json() for v in side_by_side] == [v.to_json() for v in found]
    without = copy_course(tmp_path / "without")
    before = grade_notebooks(without, hand_in_all(without, **students))
    for verdict, was in zip(found, before, strict=True):
        bare = [replace(e, located=None) for e in verdict.exercises]
        assert [e.to_json() for e in bare] == [e.to_json() for e in was.exercises]
        assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict
    for verdict in found[:2]:
        here = {"cell": "to_kelvin", "lines": [4], "kind": "operator", "edits": 1}
        assert verdict.exercise("to_kelvin").to_json()["located"] == here
        assert "located" not in verdict.exercise("mean_kelvin").to_json()
    assert "located" not in found[2].exercise("to_kelvin").to_json()
    assert found[3].exercise("to_kelvin").located.lines == (6,), "each as its own cell counts its lines"


def test_a_helper_in_a_cell_of_its_own_below_a_wrong_earlier_exercise(patient):
    """The reported line is in the helper's cell. During the search, the reference replaces the earlier exercise's wrong function."""
    code = {"to_kelvin": "def to_kelvin(celsius):\n    return celsius / 7", "mean_kelvin": HELPED}
    [job] = hand_in_all(patient, ada=code)
    notebook = json.loads(job.path.read_text())
    own = {"cell_type": "code", "metadata": {}, "source": f"import numpy as np\n\n{HELPER}", "outputs": []}
    notebook["cells"].insert(1, own)
    job.path.write_text(json.dumps(notebook))
    [verdict] = grade_notebooks(patient, [job])
    located = verdict.exercise("mean_kelvin").located
    assert (located.cell, located.lines, located.kind) == ("cell 1", (4,), "axis")


def test_one_search_for_students_whose_earlier_exercises_are_wrong_in_different_ways(patient, monkeypatch):
    """The reference replaces the earlier functions, so it does not matter how they are wrong. Without a replacement, the student's own is used."""
    searched = []

    def noted(program, *rest):
        searched.append(program.exercise)
        return search(program, *rest)

    monkeypatch.setattr(notebooks, "search", noted)
    wrong = {"mean_kelvin": "def mean_kelvin(celsius):\n    return np.mean(to_kelvin(celsius), axis=0)"}
    codes = {f"s{i}": {**wrong, "to_kelvin": f"def to_kelvin(celsius):\n    return celsius / {i}"} for i in (7, 8, 9)}
    found = grade_notebooks(patient, hand_in_all(patient, **codes, eve=wrong))
    assert [v.exercise("mean_kelvin").located.lines for v in found] == [(2,)] * 4
    assert searched.count("mean_kelvin") == 2


def test_the_page_marks_the_line_and_the_comment_names_it(patient):
    """The student's own code is shown with the wrong line marked. The edit, right values and hidden inputs are not revealed."""
    [outcome] = grade(
        patient, hand_in_all(patient, ada={"to_kelvin": SCALED}), deliver=FeedbackWriter.of(patient, CHAPTER)
    )
    page = (patient.root / "feedback" / "ada" / CHAPTER / f"{CHAPTER}.html").read_text()
    assert '<mark class="here" title="Look at this line">    return celsius * offset</mark>' in page
    sentence = "A change in line 4 of your cell makes all checks pass: look, for example, at which operator is used."
    comment = comment_on(outcome.verdict.exercise("to_kelvin"), "message")
    assert sentence in page
    assert sentence in comment.replace("\\", "")
    for text in (page, comment):
        assert "+ offset" not in text
        assert "hidden_input_marker" not in text


def test_how_much_is_told_is_a_setting(patient):
    """A setting decides whether the line is shown, and whether the message says what to look at. With titles only, a visible check must fail too."""
    exercise = ExerciseVerdict("f", 0.0, 1.0, "failed", located=LocatedMistake("f", (3,), "axis"))
    verdict = Verdict("n", None, None, "graded", None, 0.0, 1.0, None, (exercise,))

    def told(*settings):
        return location_text(redact_verdict(verdict, *settings).exercises[0])

    assert told("message", "nothing") == ""
    assert told("message", "line") == "A change in line 3 of your cell makes all checks pass."
    assert "look, for example, at the axis" in told("message", "kind")
    assert told("title", "kind") == ""
    with (patient.root / "course_config.py").open("a") as config:
        config.write("c.Course.locate_seconds = -1\n")
    with pytest.raises(
        CourseError, match=r"locate_seconds in .* is -1.0. It must be a number of seconds from 0 \(off\)"
    ):
        load_course(patient.root)


def test_two_lines_or_two_edits_are_said_as_what_they_are():
    """If an edit of either of two lines is enough, both lines are named. The message also says if two edits are needed, and in which cell."""
    exercise = ExerciseVerdict("f", 0.0, 1.0, "failed")
    either = location_text(replace(exercise, located=LocatedMistake("f", (3, 5))))
    assert either == "A change in line 3 or in line 5 of your cell makes all checks pass."
    both = location_text(replace(exercise, located=LocatedMistake("cell 7", (2,), "number", 2)))
    assert both == "Two changes in line 2 of cell 7 make all checks pass: look, for example, at the number."
    three = location_text(replace(exercise, located=LocatedMistake("f", (2, 3), "", 3)))
    assert three == "Several changes in lines 2 and 3 of your cell make all checks pass."


def test_of_two_mistakes_the_one_that_has_a_name_is_told(patient):
    """If the code behaves like a misconception after one of two edits, the misconception's message and both lines are shown."""
    two = "def to_kelvin(celsius):\n    celsius = celsius * 7\n    return celsius - 273.15"
    other = two.replace("    celsius =", "    # warmer\n    celsius =")
    both = two.replace("- 273.15", "+ 274.15")
    codes = {"ada": {"to_kelvin": two}, "bob": {"to_kelvin": other}, "cy": {"to_kelvin": both}}
    ada, bob, cy = (v.exercise("to_kelvin") for v in grade_notebooks(patient, hand_in_all(patient, **codes)))
    assert (ada.located.lines, bob.located.lines) == ((2, 3), (3, 4)), "one search, told in the lines of each"
    assert ada.misconception == bob.misconception == "wrong_sign"
    assert ada.message.startswith("Two changes correct your code. After one of them, this mistake remains:\n")
    assert "You subtracted the offset." in ada.message
    assert ada.score == cy.score
    assert (cy.misconception, cy.located.lines) == (None, (2, 3))


SEVENFOLD = '''
wrong = misconceptions_of("to_kelvin")

@wrong
def sevenfold(celsius):
    """You multiply by 7."""
    return celsius * 7 + 273.15
'''


def test_two_mistakes_are_both_reported_if_an_edit_of_each_leaves_the_other(patient, tmp_path):
    """If each of two edits leaves one misconception, both misconceptions are named. If one edit is enough, only one is named."""
    path = "solutions/misconceptions/ch1_units.py"
    known = (patient.root / path).read_text() + SEVENFOLD
    course = copy_course(tmp_path / "seven", config=PATIENT, files={path: known})
    two = "def to_kelvin(celsius):\n    celsius = celsius * 7\n    return celsius - 273.15"
    students = {"ada": {"to_kelvin": two}, "bob": {"to_kelvin": two.replace("-", "+")}}
    ada, bob = (v.exercise("to_kelvin") for v in grade_notebooks(course, hand_in_all(course, **students)))
    assert sorted(ada.misconception.split("+")) == ["sevenfold", "wrong_sign"]
    assert ada.message.startswith(
        "Two changes correct your code. After either one, one of these mistakes remains:\n1. "
    )
    assert all(f"{number}. You " in ada.message for number in (1, 2))
    assert (bob.misconception, bob.message) == ("sevenfold", "You multiply by 7.")


def test_a_classmates_right_answer_lends_an_expression(patient):
    """Expressions from classmates' right programs are tried in the sandbox, even if no solution of the course contains them."""
    right = "def mean_kelvin(celsius):\n    kelvin = to_kelvin(celsius)\n    return np.einsum('...t->...', kelvin) / np.shape(kelvin)[-1]"
    wrong = right.replace("np.shape(kelvin)[-1]", "len(str(kelvin))")
    students = {"ada": {"mean_kelvin": wrong}, "bob": {"mean_kelvin": right}, "cy": {"mean_kelvin": f"# Mine\n{wrong}"}}
    ada, _, cy = (v.exercise("mean_kelvin") for v in grade_notebooks(patient, hand_in_all(patient, **students)))
    assert ada.located is None
    assert cy.located.lines == (4,)
