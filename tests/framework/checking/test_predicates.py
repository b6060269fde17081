"""Tests of properties of a right answer that need no reference, and of their messages."""

import numpy as np
import pytest

from autograder.checking.predicates import evaluate
from autograder.sandbox.protocol import Opaque


@pytest.mark.parametrize("written", ["b", " B ", "(b)", "b)", "b.", "'b'"])
def test_a_choice_counts_however_it_is_written(written):
    """Capitals, brackets, quotes and spaces do not change an answer."""
    assert evaluate("one_of", written, params={"choices": ["a", "b"]}) is None
    assert evaluate("chosen", written, params={"right": "b"}) is None


@pytest.mark.parametrize(("answer", "words"), [(None, "still None"), ("e", "Write one of 'a', 'b'"), (2, "It is 2")])
def test_an_answer_that_is_no_choice_is_told_so(answer, words):
    """The message says that the answer is missing, is not one of the choices, or has the wrong type."""
    assert words in evaluate("one_of", answer, params={"choices": ["a", "b"]}).reason


def test_a_property_needs_no_reference_and_says_what_it_found():
    """The message shows the sums of rows that do not sum to one, and describes a number that is too large for a float."""
    assert "the sums are [1.5, 1]" in evaluate("sums_to_one", np.array([[1.0, 0.5], [0.5, 0.5]])).reason
    assert evaluate("is_number", 10**100) is None
    found = evaluate("is_number", Opaque("int"))
    assert found.reason == "It is a whole number with more than 307 digits (too large to check). Write a number."


@pytest.mark.parametrize(
    ("actual", "shape", "words"),
    [
        (np.ones((2, 3)), [3, 2], "It has shape (2, 3), but it should have shape (3, 2)."),
        (2.0, [2], "It is a single number, but it should have shape (2,)."),
        ("no", [], "It is a string instead of a number."),
        (np.ones(2), [], "It has shape (2,), but it should be a single number."),
    ],
)
def test_a_shape_is_told_in_words(actual, shape, words):
    """A single number is not described as having a shape."""
    assert evaluate("has_shape", actual, params={"shape": shape}).reason == words
    assert evaluate("has_shape", np.ones(shape), params={"shape": shape}) is None
