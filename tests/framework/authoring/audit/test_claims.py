"""Tests of numbers in misconception messages: each is shown by the student's answers, is part of an example, or is unsupported."""

import numpy as np
import pytest

from autograder.authoring.audit import audit
from autograder.authoring.audit.claims import constants_of, replace_constant, unsupported_numbers
from tests.support.mini import CHAPTER

CARD = "x = np.array([[1.0, 3.0]])\nf(x) gave  [0.3333, 1]\nit should be  [0.25, 0.75]"


@pytest.mark.parametrize(
    ("message", "fine"),
    [
        ("Yours gives 0.33 where 0.25 is right, and 75% of it is the other's.", True),
        ("Yours gives 0.34.", False),
        ("The step is 1e-5.", False),
        ("Rows add up to 1, along the last 2 axes, `x[5]` and chapter 7 aside.", True),
        ("Of [8, 6] yours makes 1.33.", False),
        ("Of [8, 6], for example, yours would make 1.33.", True),
        ("Such as 3 + 8 = 11. And exp(1000) is inf.", True),
        ("For example, 3 + 8 = 12.", False),
        ("A whole number is not 0.3333: 3 is there, 4 is not.", False),
        ("exp of anything above 709 is inf.", True),
    ],
)
def test_a_number_is_shown_or_an_example_or_worked_out(message, fine):
    """A message may round a number from the student's case. A calculation in the message must be right."""
    assert (unsupported_numbers(message, CARD) == []) == fine


def test_the_sentence_that_claims_too_much_is_named():
    """Only the sentence with the unsupported number is reported."""
    assert unsupported_numbers("You went down. It is 7 there! Why?", CARD) == ["It is 7 there!"]
    assert unsupported_numbers("It is 7 there.", CARD, constants=[7.0]) == []


def off_by(x):
    """Compute with two constants."""
    return x * 3 + 0.5


def test_constants_are_read_and_changed():
    """Constants in a function's body are found and can be replaced."""
    assert constants_of(off_by) == {3.0, 0.5}
    assert replace_constant(off_by, 3, 4)(1) == 4.5
    assert replace_constant(off_by, 0.5, 0.25)(np.ones(1)) == 3.25


@pytest.mark.parametrize(
    ("code", "claimed"),
    [("return celsius + 300", False), ("return celsius + 273.15 + (celsius > 1e7) * 300", True)],
    ids=["shown by the answers", "nobody could tell"],
)
def test_a_constant_that_the_answers_fix_may_be_named(course, code, claimed):
    """A message may name 300 if the answers show that 300 was added. If another number gives the same answers, the audit reports the claim."""
    wrong = course.root / f"solutions/misconceptions/{CHAPTER}.py"
    text = f'\n\n@misconceptions_of("to_kelvin")\ndef another_offset(celsius):\n    """You added 300 to it."""\n    {code}\n'
    wrong.write_text(wrong.read_text() + text)
    [report] = audit(course, [CHAPTER], mutants=False, draws=1)
    found = next(e for e in report.exercises if e.name == "to_kelvin")
    assert found.claims == ({"another_offset": "You added 300 to it."} if claimed else {})
    assert any("claims a number that its results do not show" in problem for problem in report.problems) == claimed
