"""Test einsum equations as answers: they are judged by their results, and messages explain wrong ones."""

import numpy as np
import pytest

from autograder.checking.asserts import CheckFailed, assert_einsum
from autograder.checking.predicates import evaluate

Q = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
K = np.array([[3.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 4.0, 1.0], [2.0, 1.0, 5.0]])
PARAMS = {"operands": [Q.tolist(), K.tolist()], "right": (Q @ K.T).tolist()}


def reason(equation):
    """Return what is wrong with an equation for the scores of Q and K, or ""."""
    finding = evaluate("einsum_gives", equation, None, PARAMS)
    return finding.reason if finding else ""


@pytest.mark.parametrize(
    "equation",
    ["ia,ja->ij", "qd,kd->qk", " i a , j a -> i j ", "ia,ja", "...ia,...ja->...ij", "...a,ja->...j", "Qd,Kd->QK"],
)
def test_every_spelling_of_the_right_sum_is_right(equation):
    """Letters, spaces, an ellipsis or a missing arrow do not matter if the result is right."""
    assert reason(equation) == ""


@pytest.mark.parametrize(
    ("equation", "words"),
    [
        ("ia,ja->ji", "It has shape (4, 2), but it should have shape (2, 4)."),
        ("ja,ia", "Without `->`, NumPy keeps the letters that occur once, in alphabetical order. Use `->` to choose the order yourself."),
        ("ia,aj->ij", "NumPy cannot use the equation 'ia,aj->ij': the letter a is used for an axis of size 3 and for an axis of size 4."),
        ("i,ja->ij", "NumPy cannot use the equation 'i,ja->ij': 'i' has 1 letter, but its array has 2 axes."),
        ("ia,ja->k", "output subscript 'k' which never appeared"),
    ],
    ids=["another order", "no arrow", "a letter of two sizes", "too few letters", "any other complaint of NumPy's"],
)  # fmt: skip
def test_what_is_wrong_is_told_by_shapes_rules_and_letters(equation, words):
    """Instead of NumPy's own message, students read the resulting shape, the rule for its order, or both sizes."""
    assert words in reason(equation)


@pytest.mark.parametrize("equation", ["i" * 101, "ia;ja->ij", "ia,ja->ij\n", "__import__('os')", "ïa,ja->ij", "\x00"])
def test_what_is_no_equation_never_reaches_numpy(equation):
    """Long texts and other characters are refused before NumPy sees them."""
    assert reason(equation).endswith("is not an einsum equation: it may contain only letters, commas and one `->`.")


@pytest.mark.parametrize("answer", [None, 3, ["ia,ja->ij"], np.ones(3)])
def test_what_is_no_string_is_told(answer):
    """A missing answer and an answer of another type each get their own message."""
    assert reason(answer).startswith("It is ")


def test_the_failure_shows_the_operands_and_the_call():
    """A failing check names the call, and shows its inputs, the result and the expected result."""
    with pytest.raises(CheckFailed) as failed:
        assert_einsum("ia,jb->ij", Q @ K.T, call="np.einsum(SCORES_EQ, Q, K)", Q=Q, K=K)
    assert "Q = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])" in failed.value.example
    assert "np.einsum(SCORES_EQ, Q, K) gave" in failed.value.example
    assert "it should be" in failed.value.example
