"""Test quizzes: checks, reference, misconceptions and alternatives are created from one table."""

import shutil

import pytest

from autograder.base.errors import CourseError
from autograder.checking import choice, number, quiz
from autograder.checking.decorators import exercises_of
from autograder.judging.judge import Judge
from autograder.judging.loader import known_alternatives, known_misconceptions, load_checks, reference_functions
from tests.framework.judging.conftest import Student
from tests.support.mini import change, copy_course

TABLE = '''
from autograder.checking import choice, number, quiz

quiz_ch1 = quiz(
    "quiz_ch1",
    points=1,
    hints="""
    one,
    in two lines

    two
    """,
    questions={
        "q1": choice("who asks", right="b", wrong={"a": "A key does not ask.", ("c", "value_asks"): "A value\\nneither."}),
        "q2": number("a weight", right=0.25, within=0.005, wrong={2.5: "Ten times as much."}),
    },
)
'''


@pytest.fixture
def course(tmp_path):
    """A course with only a quiz, and without files for misconceptions and alternatives."""
    checks = "from solutions.ch1_units import quiz_ch1\n\nTestQuiz = quiz_ch1.checks()\n"
    files = {"tests/chapters/test_ch1_units.py": checks, "solutions/ch1_units.py": TABLE}
    course = copy_course(tmp_path / "quizzed", files=files)
    for solutions in ("misconceptions", "alternatives"):
        shutil.rmtree(course.root / "solutions" / solutions)
    return course


def graded(course, **answers):
    """Return the verdict on ``answers``."""
    [found] = Judge(load_checks(course, "ch1_units")).judge(Student(**answers))
    return found


def test_each_question_has_a_visible_check_and_a_hidden_one_that_waits_for_it():
    """Each question has a visible check that it is answered, and a hidden one that the answer is right. All questions share the points."""
    questions = {"who": choice("who", right="a"), "many": number("how many", right=3)}

    class Module:
        TestQuiz = quiz("quiz_ch9", points=3, hints=("a", "b", "c"), questions=questions).checks()

    [spec] = exercises_of(Module)
    assert (spec.name, spec.points, spec.answers, spec.hints) == ("quiz_ch9", 3.0, ("who", "many"), ("a", "b", "c"))
    assert [(c.name, c.title, c.points, c.visible, c.after) for c in spec.checks] == [
        ("test_question_1_is_answered", "question 1 has an answer", 0.0, True, ()),
        ("test_question_2_is_answered", "question 2 has a number", 0.0, True, ()),
        ("test_question_1", "question 1: who", 1.5, False, ("test_question_1_is_answered",)),
        ("test_question_2", "question 2: how many", 1.5, False, ("test_question_2_is_answered",)),
    ]


def test_right_answers_earn_everything_and_wrong_ones_nothing(course):
    """A letter in any common notation and a close number are right. The message about a wrong answer shows only that answer."""
    assert graded(course, q1=" (B) ", q2=0.2549).score == 1
    verdict = graded(course, q1="d", q2=0.3)
    assert (verdict.score, verdict.misconception) == (0, None)
    assert [c.message for c in verdict.checks[2:]] == ["'d' is not the answer.", "0.3 is not the answer."]


def test_a_wrong_answer_with_a_sentence_is_a_misconception_of_its_own(course):
    """A wrong answer with a message is a misconception, which is named after question and answer, or by its key."""
    verdict = graded(course, q1="a", q2=2.5)
    assert verdict.misconception == "q1_a"
    assert verdict.message == "A key does not ask.\nTen times as much."
    known = known_misconceptions(course, "ch1_units")
    assert [(m.name, m.exercise, m.message, m.function()) for m in known] == [
        ("q1_a", "quiz_ch1", "A key does not ask.", {"q1": "a"}),
        ("value_asks", "quiz_ch1", "A value\nneither.", {"q1": "c"}),
        ("q2_2.5", "quiz_ch1", "Ten times as much.", {"q2": 2.5}),
    ]


def test_a_table_is_the_reference_and_knows_how_else_right_answers_are_written(course):
    """A quiz table provides the reference and alternatives in other notations. Functions that its file imports are not solutions."""
    references = reference_functions(course, "ch1_units")
    assert list(references) == ["quiz_ch1"]
    assert references["quiz_ch1"]() == {"q1": "b", "q2": 0.25}
    assert load_checks(course, "ch1_units").specs["quiz_ch1"].hints == ("one, in two lines", "two")
    alternatives = known_alternatives(course, "ch1_units")
    assert [a.function()["q1"] for a in alternatives] == ["B", "(b)", " b "]
    assert all(graded(course, **a.function()).score == 1 for a in alternatives)


def test_an_answer_that_is_none_is_asked_for_before_it_is_judged(course):
    """If an answer is not one of the options, or is a word instead of a number, the message says what to write."""
    verdict = graded(course, q1="e", q2="a quarter")
    assert "Write one of 'a', 'b', 'c', 'd'" in verdict.checks[0].message
    assert "Write a number" in verdict.checks[1].message
    assert [c.status for c in verdict.checks[2:]] == ["not_tried", "not_tried"]


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        ({}, " has no questions."),
        ({"q1": choice("who")}, r", question q1 \(who\) has no right answer: add right=…."),
        ({"q1": number("how many")}, r", question q1 \(how many\) has no right answer: add right=…."),
        ({"q1": choice("who", right="e")}, r", question q1 \(who\) has the answer 'e', which is not one of its options: a, b, c, d."),
        ({"q1": choice("who", right="a", wrong={"f": "…"})}, "has the answer 'f', which is not one of its options"),
        ({"q1": choice("who", right="a", wrong={("a", "x"): "…"})}, "has 'a' among its wrong answers, but that is the right answer."),
        ({"q1": number("n", right=1, within=0.1, wrong={1.05: "…"})}, "has 1.05 among its wrong answers, but that is the right answer."),
        ({"q1": number("n", right="one")}, "has the answer 'one', which is not a number."),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_meant_is_refused_with_its_place(questions, sentence):
    """An inconsistent table is rejected with a message that gives file, line, quiz, question and problem."""
    with pytest.raises(CourseError, match=rf"test_quizzes\.py, line \d+: the quiz 'quiz_ch9'.*{sentence}"):
        quiz("quiz_ch9", points=1, questions=questions)


def test_a_broken_table_is_the_courses_error_in_its_own_words(course):
    """The message about a broken table is shown once, and not wrapped in another message."""
    change(course.root / "solutions" / "ch1_units.py", 'right="b", ', "")
    with pytest.raises(CourseError, match=r"^\S*solutions/ch1_units\.py, line 4: the quiz 'quiz_ch1', question q1"):
        load_checks(course, "ch1_units")
