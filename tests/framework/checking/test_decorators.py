"""Tests of declaring check classes, and of the messages about declarations that make no sense."""

import pytest

from autograder.base.errors import CourseError
from autograder.checking import check, exercise, pure
from autograder.checking.decorators import CheckSpec
from autograder.misconception import alternatives_of, misconceptions_of


def test_an_exercise_is_read_off_its_class():
    """Points, visibility and order come from @check. Titles and hints come from docstrings."""

    @exercise("softmax", points=2, depends_on=("scores",))
    class TestSoftmax:
        """Begin with a single vector.

        Then the axis,
        in two lines.
        """

        @check(points=1, visible=True)
        def test_first(self):
            """The example worked by hand.

            This is not part of the title.
            """

        @check(points=0.5, after="test_first")
        def test_second(self):
            """Another axis."""

        test_care = pure(points=0.5, after=("test_first", test_second))

    spec = TestSoftmax.__exercise__
    assert (spec.name, spec.points, spec.depends_on) == ("softmax", 2.0, ("scores",))
    assert spec.hints == ("Begin with a single vector.", "Then the axis, in two lines.")
    assert spec.checks == (
        CheckSpec("test_first", "The example worked by hand.", 1.0, visible=True, after=()),
        CheckSpec("test_second", "Another axis.", 0.5, visible=False, after=("test_first",)),
        CheckSpec(
            "test_care",
            "leaves its inputs unchanged, and always returns the same result",
            0.5,
            visible=False,
            after=("test_first", "test_second"),
            purity=True,
        ),
    )


def test_each_function_may_be_marked_by_a_new_decorator():
    """`misconceptions_of` and `alternatives_of` also mark single functions."""
    assert misconceptions_of("softmax")(abs_of).__mark__.right is False
    assert alternatives_of("softmax")(abs_of).__mark__ == alternatives_of("softmax")


def abs_of(x):
    """Return the absolute value."""
    return abs(x)


def titled(self):
    """A title."""


def untitled(self):  # noqa: D103 - the test needs a function without a docstring
    pass


@pytest.mark.parametrize(
    ("body", "options", "sentence"),
    [
        ({"test_a": untitled}, {"points": 0}, r"TestIt\.test_a has no docstring. Write one: students see it as the check's title\."),
        ({"test_a": pure(points=1)}, {"points": 3}, r"TestIt: the checks' points add up to 1, but the exercise 'it' has 3\."),
        (
            {"test_a": titled, "test_b": pure(points=1, after="test_c")},
            {"points": 1},
            r"TestIt\.test_b has after='test_c', which is not an earlier check of its class\. Earlier checks: test_a\.",
        ),
        (
            {"test_a": pure(points=1, after="test_a")},
            {"points": 1},
            r"has after='test_a', which is not an earlier check of its class\. It is the first check, so remove after\.",
        ),
        (
            {"__doc__": "a hint", "test_a": pure(points=1)},
            {"points": 1, "hints": ("a hint",)},
            r"TestIt has hints=… and a docstring, which also contains hints\. Keep one of the two\.",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_file_and_line(body, options, sentence):
    """The message names the place of the problem, what was found, and what to do."""
    with pytest.raises(CourseError, match=rf"^\S+\.py, line \d+: .*({sentence})"):
        exercise("it", **options)(type("TestIt", (), body))


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (misconceptions_of, r"test_decorators\.py, line \d+: untitled has no docstring. .* for students"),
        (alternatives_of, "how this correct solution differs"),
    ],
)
def test_a_solution_without_a_docstring_is_refused_with_its_place(mark, words):
    """A misconception or an alternative without a docstring is rejected, with its location."""
    with pytest.raises(CourseError, match=words):
        mark("softmax")(untitled)
