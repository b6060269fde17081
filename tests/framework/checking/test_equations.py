"""Test einsum equations as answers: an equation is judged by its result, and a message explains what is wrong with it."""

import numpy as np
import pytest

from autograder.checking.asserts import CheckFailed, assert_einsum
from autograder.checking.predicates import evaluate

Q = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
K = np.array([[3.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 4.0, 1.0], [2.0, 1.0, 5.0]])
PARAMS = {"operands": [Q.tolist(), K.tolist()], "right": (Q @ K.T).tolist()}


def reason(equation):
    """Return what is wrong with an equation that should compute the scores of Q and K, or "" if it is right."""
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
        ("ia,ja,ij", "it describes 3 arrays, but 2 arrays are passed."),
        ("ij->jb", "it describes 1 array, but 2 arrays are passed."),
        ("ia,ja->k", "output subscript 'k' which never appeared"),
    ],
    ids=["another order", "no arrow", "a letter of two sizes", "too few letters", "too many parts", "too few parts", "any other complaint of NumPy's"],
)  # fmt: skip
def test_what_is_wrong_is_told_by_shapes_rules_and_letters(equation, words):
    """For common mistakes, the message explains the shape, NumPy's rule or the letter instead of quoting NumPy."""
    assert words in reason(equation)


@pytest.mark.parametrize(
    "equation",
    [
        "i" * 101,
        "ia;ja->ij",
        "ia,ja->ij\n",
        "__import__('os')",
        "ïa,ja->ij",
        "\x00",
        "ia,ja-ij",
        "ia,ja>ij",
        "ia->ij,ja",
    ],
)
def test_what_is_no_equation_never_reaches_numpy(equation):
    """Texts that are too long or contain other characters are rejected before NumPy sees them."""
    assert reason(equation).endswith(
        "is not an einsum equation: it may contain only letters, commas, spaces, `...` and one `->` after the last comma."
    )


@pytest.mark.parametrize("answer", [None, 3, ["ia,ja->ij"], np.ones(3)])
def test_what_is_no_string_is_told(answer):
    """If the answer is missing or has the wrong type, the message says what the answer is."""
    assert reason(answer).startswith("It is ")


def test_the_failure_shows_the_operands_and_the_call():
    """A failing check names the call, and shows its inputs, the result and the expected result."""
    with pytest.raises(CheckFailed) as failed:
        assert_einsum("ia,jb->ij", Q @ K.T, call="np.einsum(SCORES_EQ, Q, K)", Q=Q, K=K)
    assert "Q = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])" in failed.value.example
    assert "np.einsum(SCORES_EQ, Q, K) gave" in failed.value.example
    assert "it should be" in failed.value.example
