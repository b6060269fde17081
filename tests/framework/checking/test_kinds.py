"""Kinds of input: what a contract allows is drawn, every kind of it, and a mistake on one kind is found and named."""

import numpy as np
import pytest

from autograder.authoring.audit import audit
from autograder.authoring.audit.category_coverage import CategoryCoverage, category_mutants
from autograder.base.errors import CourseError
from autograder.checking import (
    Contract,
    Kind,
    among,
    array,
    axis_of,
    every_kind,
    exercise,
    group,
    lengths,
    mask,
    order,
    real,
    size,
    weights,
    whole,
    whole_numbers,
)
from autograder.checking.covering import cover
from autograder.checking.kinds import kinds_of
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from tests.support.mini import change

ATTENTION = Contract({
    "Q": array("... n_q d_k"), "K": array("... n_k d_k"), "mask": mask("... n_q n_k", default=True)
})  # fmt: skip
CONTRACTS = {
    "attention": ATTENTION,
    "softmax": Contract({"x": array("... n", low=-1e4, high=1e4), "axis": axis_of("x", default=True)}),
    "heads": Contract({"X": array("... n h*d"), "h": size("h")}),
    "average": Contract({"weights": weights("n"), "X": array("n d")}),
    "entropy": Contract({"weights": weights("... n_q n_k")}),
    "positive": Contract({"A": array("n m", low=1e-3, high=1e6, tiny=1e-3)}),
    "doubles": Contract({"x": array("n", low=-3, high=3, tiny=1e-3, float32=False), "eps": real(1e-3, 1, default=True)}),
    "masked": Contract({"scores": array("... n", low=-1000, high=1000), "mask": mask("... n", empty_rows=True)}),
    "padding": Contract({"lengths": lengths("B", "n_k"), "n_k": size("n_k")}),
    "positions": Contract({"X": array("n d"), "positions": whole_numbers("n", -1000, 1000)}),
    "tokens": Contract({"tokens": whole_numbers("n", 0, 6)}),
    "order": Contract({"X": array("n d"), "perm": order("n")}),
    "counts": Contract({"n": whole(1, 300), "window": whole(1, 400)}),
    "layers": Contract({
        "X": array("n d"), "weights": group({"first": group({"W": array("d d")}), "b": array("d")}), "f": among(1, 2)
    }, sizes={"d": (2, 80)}),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_covering_set_is_of_every_kind_and_keeps_to_the_contract(name):
    """Whatever the secret, each kind is drawn, and nothing that the contract does not allow."""
    contract = CONTRACTS[name]
    allowed = {k.name for k in kinds_of(contract)}
    assert len(allowed) > 5
    for seed in range(8):
        covering = cover(contract, seed)
        assert covering.missed == ()
        assert set().union(*(drawn.kinds for drawn in covering.inputs)) == allowed
        assert len(covering.inputs) < 36, "a set that is no longer small"
        for drawn in covering.inputs:
            reading = contract.read(drawn.values)
            for path, argument in contract.leaves().items():
                if path in reading.values:
                    keeps_to(argument, reading.values[path], reading)


def keeps_to(argument, value, reading):
    """Assert that one argument is as its contract says."""
    kind = type(argument).__name__
    if kind == "ArrayArgument":
        own = [axis for axis in argument.shape if axis != "..."]
        assert value.dtype == np.float64 or (argument.float32 and value.dtype == np.float32)
        assert value.ndim == len(own) or (value.ndim > len(own) and "..." in argument.shape)
        assert 0 < value.size <= 200_000
        assert np.isfinite(value).all()
        assert value.min() >= argument.low
        assert value.max() <= argument.high
        if argument.sums_to_one:
            np.testing.assert_allclose(value.sum(-1), 1, rtol=1e-5)
        else:
            assert np.abs(value[value != 0]).min(initial=np.inf) >= min(argument.tiny, 1e-3) * 0.999
    elif kind == "MaskArgument":
        assert value.dtype == bool
        assert argument.empty_rows or value.any(-1).all()
    elif kind == "LengthsArgument":
        assert value.dtype.kind == "i"
        assert value.min() >= argument.low
        assert value.max() <= reading.sizes[argument.up_to]
    elif kind == "WholeNumbersArgument":
        assert value.dtype.kind == "i"
        assert value.min() >= argument.low
        assert value.max() <= argument.high
    elif kind == "NumberArgument":
        assert argument.low <= value <= argument.high
        assert isinstance(value, int) == argument.whole


def test_the_inputs_depend_on_the_seed_alone():
    """Every student of a course meets the same inputs, and those of another course others."""
    first, again, other = (cover(ATTENTION, seed).inputs for seed in (1, 1, 2))
    assert all(np.array_equal(a.values["Q"], b.values["Q"]) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0].values["Q"], other[0].values["Q"])


def test_a_contract_rules_kinds_out():
    """By a kind's whole name, or by what it says of any argument."""
    names = {
        k.name
        for k in kinds_of(Contract({"x": array("n"), "y": array("n")}, never={"all huge": "…", "x: all tiny": "…"}))
    }
    assert "y: all tiny" in names
    assert not names & {"x: all huge", "y: all huge", "x: all tiny"}


def test_a_kind_that_cannot_be_drawn_is_missed_and_does_not_go_on_for_ever():
    """What an author's own rule forbids in every drawing is said, so that the contract can rule it out."""
    contract = Contract({"x": array("n")}, settle=lambda values, _rng: {"x": np.abs(values["x"])})
    assert "x: all negative" in cover(contract, 3).missed


def test_sizes_are_read_from_shapes():
    """Products of sizes, batch axes and sizes that are arguments of their own."""
    reading = CONTRACTS["heads"].read({"X": np.zeros((4, 2, 7, 15)), "h": 3})
    assert dict(reading.sizes) == {"h": 3, "n": 7, "d": 5}
    assert reading.batch == (4, 2)


def test_a_check_of_every_kind_needs_a_contract():
    """The sentence says what to write."""
    with pytest.raises(
        CourseError, match=r"does not say what the exercise 'f' takes: write @exercise\(…, takes=Contract"
    ):

        @exercise("f", points=1)
        class TestF:
            test_every_kind = every_kind(points=1)


DECLARED = 'takes=Contract({"celsius": array("... n")})'


@pytest.fixture
def declared(course):
    """The mini course, whose first exercise says what it takes, and has a check of every kind of it."""
    checks = course.checks("ch1_units")
    change(checks, "import arrays_nd,", "import Contract, array, arrays_nd, every_kind,")
    change(checks, '@exercise("to_kelvin", points=2)', f'@exercise("to_kelvin", points=2, {DECLARED})')
    change(checks, "    test_care = pure(points=0.5)", "    test_every_kind = every_kind(points=0.5)")
    return course


def test_the_audit_shows_the_matrix_and_names_a_hole(declared):
    """Every kind is visited by the check of every kind; without it, release would be refused."""
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
        declared.checks("ch1_units"), "    test_every_kind = every_kind(points=0.5)", "    test_care = pure(points=0.5)"
    )
    [report] = audit(declared, ["ch1_units"], mutants=False)
    assert "to_kelvin: n: longer than 300" in report.to_json()["kinds"]["missing"]
    assert any("looks at inputs of the kind 'float32'" in problem for problem in report.problems)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return np.where(np.arange(c.shape[-1]) < 128, c, 0) + 273.15", "With n above 127: "),
        ("return np.clip(c, -700, None) + 273.15", "With all of celsius far below zero: "),
        ("return c.ravel('K').reshape(c.shape) + 273.15", "With celsius not contiguous in memory"),
        ("return c * (c.ndim < 4) + 273.15", "With three batch axes: "),
        ("return np.where(c == 0, 1, c) + 273.15", "With only zeros in celsius: "),
        ("return c - 273.15", "At index "),  # wrong on every kind: none is named
    ],
)
def test_a_mistake_on_one_kind_is_found_and_the_kind_named(declared, body, words):
    """The sentence begins with the kind, and the case shown is of that kind alone."""
    namespace = {"np": np}
    exec(f"def to_kelvin(c):\n    {body}", namespace)  # noqa: S102 - text of this test
    checks = load_checks(declared, "ch1_units")
    subject = FunctionSubject("x", {**checks.right_names(), "to_kelvin": namespace["to_kelvin"]})
    [verdict] = Judge(checks).judge(subject, only=frozenset({"to_kelvin"}))
    assert verdict.score < verdict.max_score
    failed = next(c for c in verdict.checks if c.name == "test_every_kind")
    assert failed.message.startswith(words), failed.message


def test_a_contract_speaks_of_the_parameters_that_there_are(declared):
    """The sentence says which there are, with the file."""
    change(declared.checks("ch1_units"), '{"celsius": array', '{"kelvin": array')
    with pytest.raises(CourseError, match="its contract is about the arguments kelvin; the reference takes celsius"):
        load_checks(declared, "ch1_units")


def test_kind_only_mutants_are_right_on_ordinary_input():
    """They differ from the reference on their kind, and nowhere else."""

    def double(x):
        return 2 * x

    found = {m.label: m.function for m in category_mutants(Contract({"x": array("... n")}), double, "double")}
    plain, long = np.array([[1.25, -2.5], [0.5, 3.0]]), np.ones(70)
    for label in (
        "double: x clipped to 100",
        "double: x without what lies beyond 64 along axis -1",
        "double: x cast to float32",
    ):
        np.testing.assert_array_equal(found[label](plain), double(plain))
    assert found["double: x without what lies beyond 64 along axis -1"](long)[64] == 0
    assert found["double: x clipped to 100"](np.array([500.0])) == 200
    kept = found["double: the first answer kept for arrays of the same shapes"]
    np.testing.assert_array_equal(kept(plain), kept(plain + 1))


def test_an_author_adds_a_kind():
    """It is drawn by the author's own rule, with the sizes that it needs, and known by its own look."""
    last = Kind.added(
        "x: largest last",
        "the largest number at the end",
        lambda v: len(v["x"]) > 100 and v["x"].argmax() == len(v["x"]) - 1,
        lambda values, _rng: {**values, "x": np.sort(values["x"])},
        sizes={"n": 120},
    )
    covering = cover(Contract({"x": array("n")}, kinds=[last]), 0)
    assert any(len(d.values["x"]) == 120 and (np.diff(d.values["x"]) >= 0).all() for d in covering.inputs)


def test_a_row_of_the_matrix_is_a_line():
    """What is varied, and how many of its kinds are looked at."""
    kinds = CategoryCoverage(("float32", "x: all zero", "x: all huge"), ("float32", "x: all zero"), 5, ("one",))
    assert kinds.missing == ("x: all huge",)
    assert str(kinds) == "float32 1/1, x 1/2; wrong on one kind only: 4/5 killed"
