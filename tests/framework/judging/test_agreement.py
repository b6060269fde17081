"""Test the fixture ``agrees``, and how an assertion finds the call that returned its value."""

import inspect

import numpy as np
import pytest

from autograder.checking import assert_finite, assert_matches, assert_shape, assert_sums_to_one, assert_within
from autograder.checking.agreement import ReferenceComparison
from autograder.checking.asserts import CheckFailed, observing
from autograder.checking.call_source import expression_for, track_answers
from autograder.checking.predicates import evaluate
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.functions import FunctionSession
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.sandbox.protocol import Rng, Source


def softmax(x, axis=-1):
    """Return the softmax of ``x`` along ``axis``. This is the reference."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def pair(x, *, f=None, rng=None):
    """Return several results from an array, a function and a generator."""
    return x + 1, {"twice": 2 * x, "drawn": 0.0 if rng is None else rng.normal(), "f": 0.0 if f is None else f(x).sum()}


REFERENCES = {"softmax": softmax, "pair": pair, "flag": lambda x: bool(x > 0)}


def fixtures(**functions):
    """Return ``student`` and ``agrees`` for a student who wrote ``functions``. All other functions are right."""
    session = FunctionSession({**REFERENCES, **functions})
    conversation = ExerciseSession(
        lambda: session,
        limited=lambda _mb: session,
        signature=lambda name: inspect.signature(REFERENCES[name]),
        right=ReferenceProxy(REFERENCES).answer,
    )
    student = StudentProxy(conversation)
    return student, ReferenceComparison(student, ReferenceProxy(REFERENCES))


@pytest.fixture(autouse=True)
def _noting():
    with track_answers():
        yield


def test_both_are_asked_the_same_and_the_students_answer_comes_back():
    """If the student's function agrees with the reference, no error is raised and its value is returned."""
    _, agrees = fixtures()
    x = np.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_allclose(agrees.softmax(x, axis=0), softmax(x, axis=0))
    np.testing.assert_allclose(agrees.within(memory_mb=64).softmax(x), softmax(x))
    look = "def probe(function, x):\n    return function(x).shape\n"
    assert agrees.probe(look, "softmax", x) == (2, 2)


def test_a_failure_spells_the_call_by_the_references_parameters():
    """A failure shows arrays above the call, ready to paste, and small values in the call itself."""
    _, agrees = fixtures(softmax=lambda x, axis: softmax(x))  # noqa: ARG005 - that is the mistake
    scores = np.array([[0.0, 1.0], [0.0, 0.0]])
    with pytest.raises(CheckFailed) as failed:
        agrees.softmax(scores, axis=np.int64(0))
    assert "x = np.array([[0.0, 1.0], [0.0, 0.0]])" in failed.value.example
    assert "softmax(x, axis=0) gave" in failed.value.example


def test_options_are_those_of_assert_matches():
    """Tolerances, dtype and the call to display are options of ``agrees``, not arguments of the student's function."""
    _, agrees = fixtures(softmax=lambda x: 1.004 * softmax(x), flag=lambda x: int(x > 0))
    x = np.array([1.0, 2.0])
    agrees(rtol=0.01).softmax(x)
    agrees(dtype=False).flag(3)
    with pytest.raises(CheckFailed, match=r"softmax\(x \+ shift\) gave") as failed:
        agrees(call="softmax(x + shift)", shift=5.0).softmax(x + 5.0)
    assert failed.value.example.startswith("shift = 5.0")


def test_every_assertion_finds_the_call_that_returned_its_value():
    """A value computed from a result is compared too, but the message shows a call only for a value that the call returned."""
    student, _ = fixtures(softmax=lambda x: x)
    x = np.array([1.0, 2.0])
    found = student.softmax(x)
    with pytest.raises(CheckFailed, match=r"^softmax\(x\) has shape \(2,\), but it should have shape \(3,\)\."):
        assert_shape(found, (3,))
    with pytest.raises(CheckFailed, match=r"softmax\(x\) gave"):
        assert_sums_to_one(found)
    with pytest.raises(CheckFailed, match=r"(?m)^found "):
        assert_matches(found + 1, x)


EMPTY = {
    "sums_to_one": assert_sums_to_one,
    "within": lambda found: assert_within(found, low=0.0, high=1.0),
    "finite": assert_finite,
}


@pytest.mark.parametrize("ask", EMPTY.values(), ids=EMPTY)
def test_an_empty_result_fails_if_the_right_one_is_not_empty(ask):
    """Any property is true of an array without entries, so an empty result is rejected unless the right result is empty."""
    x = np.array([[1.0, 2.0], [3.0, 5.0]])
    student, _ = fixtures(softmax=lambda x: x[:0])
    with pytest.raises(
        CheckFailed, match=r"^softmax\(x\) is an empty array of shape \(0, 2\), but it should not be empty\."
    ):
        ask(student.softmax(x))
    ask(student.softmax(x[:0]))
    student, _ = fixtures(pair=lambda x: (x + 1, {"twice": [], "drawn": 0.0, "f": 0.0}))
    with pytest.raises(CheckFailed, match=r"^pair\(x\)\[1\]\['twice'\] is an empty array of shape \(0,\)"):
        ask(student.pair(x)[1]["twice"])
    ask(np.ones((0, 2)))  # the right result is unknown here


def test_a_recorded_assertion_says_whether_a_right_result_is_empty():
    """A recorded assertion says if the right result is not empty, so `check()` can reject an empty one without a right solution."""
    noted = []
    student, _ = fixtures()
    with observing(lambda name, _actual, _expected, params, *_: noted.append((name, dict(params)))):
        assert_finite(student.softmax(np.ones((1, 2))))
        assert_finite(student.pair(np.ones((0, 2)))[0])
    assert noted == [("finite", {"filled": True}), ("finite", {})]
    assert "not be empty" in evaluate("finite", np.ones(0), params={"filled": True}).reason
    assert evaluate("finite", np.ones(0)) is None


def test_the_spelling_of_parts_functions_generators_and_variables():
    """A part of a result is shown with its index, a function by its parameter's name, and a generator by the call that creates it."""
    student, _ = fixtures(q1=7)
    x = np.array([1.0])
    first, others = student.pair(x, rng=Rng(3), f=Source("def f(x):\n    return x\n", "f"))
    text, inputs = expression_for(others["twice"])
    assert text == "pair(x, rng=np.random.default_rng(3), f=f)[1]['twice']"
    assert list(inputs) == ["x", "f"]
    assert expression_for(first)[0].endswith("[0]")
    assert expression_for(first.copy()) == ("", {})
    assert expression_for(student["q1"]) == ("q1", {})


def test_a_tolerance_follows_from_the_inputs_that_are_found():
    """If an input is float32, the answer is compared with float32's tolerance."""
    student, agrees = fixtures(softmax=lambda x: softmax(x) * np.float32(1.0005))
    x = np.array([1.0, 2.0], np.float32)
    agrees.softmax(x)
    assert_matches(student.softmax(x), softmax(x.astype(np.float64)))
    with pytest.raises(CheckFailed):
        agrees.softmax(x.astype(np.float64))
