"""Test similar answers: what counts as the same code, and when a group is listed."""

from __future__ import annotations

import pytest

from autograder.extras.report.similarity import normal_form, similar_groups
from tests.support.graded_class import LONG_WAY, RENAMED
from tests.support.mini import CHAPTER, RIGHT, document, hand_in

SUM = "def f(x):\n    total = x + 1\n    return total"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ('def f(y: int) -> int:\n    """Adds."""\n    # one more\n    s = y + 1\n    pass\n    return s', True),
        ("def f(x):\n    total = x + 2\n    return total", False),
        ("def f(x):\n    total = x - 1\n    return total", False),
        ("def f(x):\n    total = x + 1\n    return x", False),
        ("def f(x):\n    return x + 1", False),
    ],
    ids=["names, types and comments", "a number", "an operator", "another name", "another structure"],
)
def test_the_same_code_but_for_names_and_layout(other, same):
    """Two answers are similar if only local names, types, comments and layout differ."""
    assert (normal_form(SUM) == normal_form(other)) is same


def test_what_is_no_python_is_alike_to_nothing():
    """An incomplete answer is not compared, and a deeply nested one does not stop a report."""
    assert normal_form("def f(:") is None
    assert normal_form("x = " + "-" * 15_000 + "1") is None


def test_a_number_of_any_length_is_compared():
    """Numbers are compared even if they have more digits than the 4,300 that Python converts."""
    long, other = (f"def f(x):\n    return 0x{'f' * 5_000}{digit}" for digit in "01")
    assert normal_form(long) is not None
    assert normal_form(long) != normal_form(other)
    assert normal_form("def f(x):\n    return True") != normal_form("def f(x):\n    return 1")


def groups(course, answers):
    """Return the groups of similar answers in a class that gave ``answers`` to the second exercise."""
    paths = {}
    for student, code in answers.items():
        exercise = {
            **RIGHT,
            "mean_kelvin": code,
            "to_kelvin": f"def to_kelvin(celsius):\n    return celsius + {len(paths)}.5",
        }
        paths[student] = hand_in(course, student, document(course, **exercise))
    return similar_groups(course, CHAPTER, paths)


def test_a_long_answer_that_two_share_is_listed_and_a_common_one_is_not(course):
    """Code that half of a class writes, and blank code, form no group. Two equal long answers do."""
    common = {f"s{i}": RIGHT["mean_kelvin"] for i in range(20)}
    [group] = groups(course, {**common, "ada": LONG_WAY, "ben": RENAMED, "cleo": LONG_WAY.replace("15", "16")})
    assert group.students == ("ada", "ben")
    assert group.exercises == ("mean_kelvin",)


def test_no_group_among_a_few_short_answers(course):
    """If two of four students write the same short line, they form no group, and neither do two blank stubs."""
    blank = "def mean_kelvin(celsius):\n    raise NotImplementedError"
    assert groups(course, {"a": RIGHT["mean_kelvin"], "b": RIGHT["mean_kelvin"], "c": blank, "d": blank}) == []
    assert normal_form(LONG_WAY) == normal_form(RENAMED)
