"""Einsum equations as answers: judged by what they compute, with words for what they get wrong."""

import numpy as np
import pytest

from autograder.checking.asserts import CheckFailed, assert_einsum
from autograder.checking.predicates import evaluate

Q = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
K = np.array([[3.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 4.0, 1.0], [2.0, 1.0, 5.0]])
PARAMS = {"operands": [Q.tolist(), K.tolist()], "right": (Q @ K.T).tolist()}


def reason(equation):
    """What is found wrong with an equation for the scores of Q and K, "" where nothing is."""
    finding = evaluate("einsum_gives", equation, None, PARAMS)
    return finding.reason if finding else ""


@pytest.mark.parametrize(
    "equation",
    ["ia,ja->ij", "qd,kd->qk", " i a , j a -> i j ", "ia,ja", "...ia,...ja->...ij", "...a,ja->...j", "Qd,Kd->QK"],
)
def test_every_spelling_of_the_right_sum_is_right(equation):
    """Letters, spaces, an ellipsis or a missing arrow do not matter where the result is right."""
    assert reason(equation) == ""


def test_another_order_is_told_by_its_shape():
    """A result on its side is told as a wrong shape."""
    assert reason("ia,ja->ji") == "It has shape (4, 2); it should have shape (2, 4)."


def test_without_an_arrow_the_rule_is_told():
    """Where NumPy chose the order of the result, the message says by which rule."""
    assert reason("ja,ia").endswith(
        "Without `->`, NumPy keeps the letters that occur once, in alphabetical order; after `->` you choose the order."
    )


def test_a_letter_of_two_sizes_is_named():
    """A letter that stands for two lengths is named with both, in place of NumPy's own message."""
    assert reason("ia,aj->ij") == (
        "NumPy cannot use the equation 'ia,aj->ij': the letter a stands for an axis of size 3 and for one of size 4."
    )


def test_too_few_letters_are_counted():
    """An array with another number of axes than letters is told with both numbers."""
    assert reason("i,ja->ij") == "NumPy cannot use the equation 'i,ja->ij': 'i' is 1 letter for an array of 2 axes."


def test_what_numpy_says_is_passed_on():
    """Any other complaint of NumPy's comes through."""
    assert "output subscript 'k' which never appeared" in reason("ia,ja->k")


@pytest.mark.parametrize("equation", ["i" * 101, "ia;ja->ij", "ia,ja->ij\n", "__import__('os')", "ïa,ja->ij", "\x00"])
def test_what_is_no_equation_never_reaches_numpy(equation):
    """Long texts and other characters are refused before NumPy sees them."""
    assert reason(equation).endswith("is no einsum equation: letters, commas and one `->` are all that it needs.")


@pytest.mark.parametrize("answer", [None, 3, ["ia,ja->ij"], np.ones(3)])
def test_what_is_no_string_is_told(answer):
    """An answer that is missing, or of another type, is told as that."""
    assert reason(answer).startswith("It is ")


def test_the_failure_shows_the_operands_and_the_call():
    """A failing check names the call, hands over its inputs, and shows what came out and what should have."""
    with pytest.raises(CheckFailed) as failed:
        assert_einsum("ia,jb->ij", Q @ K.T, call="np.einsum(SCORES_EQ, Q, K)", Q=Q, K=K)
    assert "Q = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])" in failed.value.example
    assert "np.einsum(SCORES_EQ, Q, K) gave" in failed.value.example
    assert "it should be" in failed.value.example
