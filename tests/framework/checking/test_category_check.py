"""Test the check of all input categories: a mistake in one category is found and named, and the audit shows gaps."""

import numpy as np
import pytest

from autograder.authoring.audit import audit
from autograder.authoring.audit.fault_model import CategoryCoverage, category_mutants
from autograder.base.errors import CourseError
from autograder.checking import Contract, all_categories, array, exercise
from autograder.course.secret import VARIABLE
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from tests.support.mini import change


def test_a_check_of_all_categories_needs_a_contract():
    """The message says what to write."""
    with pytest.raises(
        CourseError, match=r"no contract says which inputs the exercise 'f' takes. Write @exercise\(…, takes=Contract"
    ):

        @exercise("f", points=1)
        class TestF:
            test_every_kind = all_categories(points=1)


DECLARED = 'takes=Contract({"celsius": array("... n")})'


@pytest.fixture
def declared(course, monkeypatch):
    """Return the mini course with a fixed secret. Its first exercise has a contract and a check of all categories."""
    monkeypatch.setenv(VARIABLE, "a secret for the input categories")
    checks = course.checks("ch1_units")
    change(checks, "import arrays_nd,", "import Contract, all_categories, array, arrays_nd,")
    change(checks, '@exercise("to_kelvin", points=2)', f'@exercise("to_kelvin", points=2, {DECLARED})')
    change(checks, "    test_care = pure(points=0.5)", "    test_every_kind = all_categories(points=0.5)")
    return course


def test_the_audit_shows_the_matrix_and_names_a_hole(declared):
    """The check covers every category. Without it, the audit reports a problem."""
    [report] = audit(declared, ["ch1_units"])
    kinds = report.exercises[0].kinds
    assert kinds.missing == ()
    assert {"float32", "celsius: not contiguous", "n: longer than 300", "batch: three batch axes"} <= set(kinds.allowed)
    assert kinds.mutants >= 15
    assert len(kinds.survivors) <= 1
    data = report.to_json()
    assert data["kinds"]["missing"] == []
    assert "to_kelvin: celsius: all negative" in data["kinds"]["visited"]
    assert data["exercises"][0]["kinds"]["allowed"] == list(kinds.allowed)
    change(
        declared.checks("ch1_units"),
        "    test_every_kind = all_categories(points=0.5)",
        "    test_care = pure(points=0.5)",
    )
    [report] = audit(declared, ["ch1_units"], mutants=False)
    assert "to_kelvin: n: longer than 300" in report.to_json()["kinds"]["missing"]
    assert any("uses inputs of the kind 'float32'" in problem for problem in report.problems)


@pytest.mark.parametrize("secret", ["first secret", "second secret", "third secret", "fourth secret"])
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return np.where(np.arange(c.shape[-1]) < 127, c, 0) + 273.15", "With n = 128 (n = 127 passes): "),
        (
            "return np.clip(c, -700, None) + 273.15",
            ("With all of celsius far below zero: ", "With numbers in celsius far above and far below 0: "),
        ),
        ("return (c if c.max() > -1000 else 0 * c) + 273.15", "With all of celsius below -1000: "),
        ("return c.ravel('K').reshape(c.shape) + 273.15", "With celsius not contiguous in memory"),
        ("return c * (c.ndim < 4) + 273.15", "With 4 axes: "),
        ("return np.where(c == 0, 1, c) + 273.15", "With only zeros in celsius: "),
        ("return c - 273.15", "At index "),  # wrong in every category, so none is named
        ("return np.where(np.abs(c * 1e3 % 1) < 0.01, 0, c) + 273.15", "At index "),  # wrong for a few numbers
        ("return np.where(np.arange(c.shape[-1]) < 8, c, 0) + 273.15", "With n = 9 (n = 8 passes): "),
        (
            "return np.where(np.abs(c).max() < 5.01, c, c + (len(calls.append(1) or calls) % 4 > 1)) + 273.15",
            "At index ",
        ),  # wrong by chance
    ],
)
def test_a_mistake_in_one_category_is_found_and_named(declared, monkeypatch, body, words, secret):
    """If a mistake affects only one category, the message begins with it, whatever inputs the secret draws."""
    monkeypatch.setenv(VARIABLE, secret)
    namespace = {"np": np, "calls": []}
    exec(f"def to_kelvin(c):\n    {body}", namespace)  # noqa: S102 - text of this test
    checks = load_checks(declared, "ch1_units")
    subject = FunctionSubject("x", {**checks.right_names(), "to_kelvin": namespace["to_kelvin"]})
    [verdict] = Judge(checks).judge(subject, only=frozenset({"to_kelvin"}))
    assert verdict.score < verdict.max_score
    failed = next(c for c in verdict.checks if c.name == "test_every_kind")
    assert failed.message.startswith(words), failed.message


def test_a_contract_speaks_of_the_parameters_that_there_are(declared):
    """The message names the parameters of the contract and of the reference."""
    change(declared.checks("ch1_units"), '{"celsius": array', '{"kelvin": array')
    with pytest.raises(
        CourseError, match="its contract describes the arguments kelvin, but the reference takes celsius"
    ):
        load_checks(declared, "ch1_units")


def test_category_mutants_are_right_on_ordinary_input():
    """The mutant of a category differs from the reference only for inputs in that category."""

    def double(x):
        return 2 * x

    found = {m.label: m.function for m in category_mutants(Contract({"x": array("... n")}), double, "double")}
    plain = np.array([[1.25, -2.5], [0.5, 3.0]])
    for label in ("double: x clipped to 100", "double: x cast to float32"):
        np.testing.assert_array_equal(found[label](plain), double(plain))
    assert found["double: x clipped to 100"](np.array([500.0])) == 200


def test_a_row_of_the_matrix_is_a_line():
    """The line says how many categories of each argument are covered, and how many category mutants are killed."""
    kinds = CategoryCoverage(("float32", "x: all zero", "x: all huge"), ("float32", "x: all zero"), 5, ("one",))
    assert kinds.missing == ("x: all huge",)
    assert str(kinds) == "float32 1/1, x 1/2, wrong for only one kind: 4/5 killed"
