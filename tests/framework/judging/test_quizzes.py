"""A quiz's checks, made from a list of its questions."""

import shutil

import pytest

from autograder.checking import choice, number, quiz
from autograder.checking.decorators import exercises_of
from autograder.course import load_course
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from tests.framework.judging.conftest import MINI, Student

CHECKS = """
from autograder.checking import choice, number, quiz

TestQuiz = quiz(
    "quiz_ch1",
    points=1,
    hints=("one", "two", "three"),
    questions=[choice("who asks"), number("a weight", within=0.005)],
)
"""
SOLUTION = '''
def quiz_ch1():
    """The answers."""
    return {"q1": "b", "q2": 0.25}
'''


@pytest.fixture
def course(tmp_path):
    """A course that is a quiz and nothing else."""
    folder = tmp_path / "quizzed"
    shutil.copytree(MINI, folder, ignore=shutil.ignore_patterns("__pycache__", ".autograder", ".course_secret"))
    (folder / "tests/chapters/test_ch1_units.py").write_text(CHECKS, encoding="utf-8")
    (folder / "solutions/ch1_units.py").write_text(SOLUTION, encoding="utf-8")
    (folder / "solutions/misconceptions/ch1_units.py").write_text("", encoding="utf-8")
    (folder / "solutions/alternatives/ch1_units.py").write_text("", encoding="utf-8")
    return load_course(folder)


def graded(course, **answers):
    """The verdict on these answers."""
    found = []
    found.extend(Judge(load_checks(course, "ch1_units")).judge(Student(**answers)))
    return found[0]


def test_each_question_has_a_visible_check_and_a_hidden_one_that_waits_for_it():
    """First whether each is answered, then whether it is right; the points are shared evenly."""

    class Module:
        TestQuiz = quiz("quiz_ch9", points=3, hints=("a", "b", "c"), questions=[choice("who"), number("how many")])

    [spec] = exercises_of(Module)
    assert (spec.name, spec.points, spec.answers, spec.hints) == ("quiz_ch9", 3.0, ("q1", "q2"), ("a", "b", "c"))
    assert [(c.name, c.title, c.points, c.visible, c.after) for c in spec.checks] == [
        ("test_question_1_is_answered", "question 1 has an answer", 0.0, True, ()),
        ("test_question_2_is_answered", "question 2 has a number", 0.0, True, ()),
        ("test_question_1", "question 1: who", 1.5, False, ("test_question_1_is_answered",)),
        ("test_question_2", "question 2: how many", 1.5, False, ("test_question_2_is_answered",)),
    ]


def test_right_answers_earn_everything(course):
    """A letter as people write it, and a number near enough."""
    assert graded(course, q1=" (B) ", q2=0.2549).score == 1


def test_wrong_answers_are_told_as_such_and_earn_nothing(course):
    """What was answered is said, and not what is right."""
    verdict = graded(course, q1="a", q2=0.3)
    assert verdict.score == 0
    assert [c.message for c in verdict.checks[2:]] == ["'a' is not the answer.", "0.3 is not the answer."]


def test_an_answer_that_is_none_is_asked_for_before_it_is_judged(course):
    """A word that is no option, and a word where a number belongs, say what to write."""
    verdict = graded(course, q1="e", q2="a quarter")
    assert "write one of 'a', 'b', 'c', 'd'" in verdict.checks[0].message
    assert "write a number" in verdict.checks[1].message
    assert [c.status for c in verdict.checks[2:]] == ["not_tried", "not_tried"]


def test_a_quiz_without_questions_is_refused():
    """There would be nothing to check."""
    with pytest.raises(TypeError, match="the quiz 'quiz_ch9' has no questions"):
        quiz("quiz_ch9", points=1, hints=(), questions=[])
