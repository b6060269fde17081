"""Test that `equal` agrees with the checks for every pair of values of all families."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from autograder.base.errors import CourseError
from autograder.checking.asserts import CheckFailed, assert_matches
from autograder.checking.findings import matches
from autograder.judging.diagnosis import same_answer
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.sandbox.protocol import Answer, NameReference, Opaque, Rng, Source
from autograder.values import Rules, TableOptions, copy_value, differences, equal, family_of, fingerprint, show, source

ROWS = np.array([[1.0, 2.0], [3.0, 4.5]])
FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
VALUES = {
    "None": None, "True": True, "0": 0, "1": 1, "100000": 100000, "100001.0": 100001.0, "NaN": math.nan, "infinity": math.inf, "complex": 1 + 2j,
    "a whole number beyond NumPy": math.factorial(25), "it as a float": float(math.factorial(25)), "one beyond floats": 10**400,
    "np.int64": np.int64(1), "np.float32": np.float32(1), "np.bool_": np.True_,
    "a string": "a", "digits": "1", "lines": "a\nb\n", "bytes": b"a", "a bytearray": bytearray(b"a"),
    "an array": ROWS, "an array of one number": np.array(1.0), "an empty array": np.zeros((0, 3)), "integers": np.array([100000, 3]),
    "other integers": np.array([100001, 3]), "booleans": np.array([True, False]), "ones and zeros": np.array([1, 0]), "strings": np.array(["a", "b"]),
    "dates": np.array(["2024-05-01"], "M8[D]"), "objects": np.array([1, "a"], dtype=object),
    "a list": [100000, 3], "another list": [100001, 3], "a tuple": (100000, 3), "rows": ROWS.tolist(), "a pair": (ROWS, ROWS[0]), "another pair": (ROWS, ROWS[1]), "a list of arrays": [ROWS[0], ROWS[1]],
    "ragged rows": [[1], [1, 2]], "nothing": [], "a range": range(1, 3), "an iterator": Iterated([1, 2]), "a text and a number": ["a", 1],
    "a dictionary": {"a": 1}, "one of arrays": {"a": ROWS}, "one with more": {"a": ROWS, "b": 1}, "a set": {1, 2}, "a frozenset": frozenset({1.0, 2.0}),
    "a date": dt.date(2024, 5, 1), "a moment": dt.datetime(2024, 5, 1, tzinfo=dt.UTC), "a timedelta": dt.timedelta(1), "np.datetime64": np.datetime64("2024-05-01"),
    "no time": np.datetime64("NaT"), "a Decimal": Decimal("1.10"), "a Fraction": Fraction(1, 3),
    "a DataFrame": FRAME, "its columns in another order": FRAME[["b", "a"]], "a Series": pd.Series([100000, 3]), "an Index": pd.Index([100001, 3]), "a table in a list": [FRAME],
    "a Timestamp": pd.Timestamp("2024-05-01"), "NaT": pd.NaT, "NA": pd.NA, "an Interval": pd.Interval(0, 1), "a Period": pd.Period("2024-05"), "an array of pandas": pd.array([1, None]),
    "a function": Source("def f(): pass", "f"), "a generator": Rng(3), "a name": NameReference("f"), "an object of the student's": Opaque("Thing"),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_equal_is_what_checks_say(name):
    """`equal` and the checks agree in both directions, and neither raises an error, whatever was returned."""
    for other, expected in VALUES.items():
        found, rules = VALUES[name], Rules()
        if isinstance(expected, Opaque):
            assert equal(found, expected) is (name == other)
            continue
        assert equal(found, expected) is (matches(found, expected) is None), (name, other)
        for difference in differences(found, expected, rules):
            assert difference.sentence.endswith((".", "?", ")")), (name, other)
            assert "ufunc" not in difference.sentence


@pytest.mark.parametrize("name", sorted(VALUES.keys() - {"an array of pandas"}))  # it is sent as a list
def test_a_value_is_itself(name):
    """Each value equals itself and its copy, has the same fingerprint as the copy, and can be shown."""
    value = VALUES[name]
    assert equal(value, value)
    assert equal(copy_value(value), value)
    if name != "objects":  # arrays of objects have the same fingerprint only if they contain the same objects
        assert fingerprint(copy_value(value)) == fingerprint(value)
    assert show(value)
    assert source(value)


def test_every_type_has_one_family():
    """Values of one type have the same family. A subclass has the family of its base class unless an earlier family owns it."""
    assert family_of(1.5) is family_of(np.float64(1.5)) is family_of(True)  # noqa: FBT003
    assert family_of(np.str_("a")) is family_of("a")
    assert family_of(pd.Timestamp("2024-05-01")) is not family_of(dt.datetime(2024, 5, 1))  # noqa: DTZ001
    assert family_of(object()) is family_of(print)
    assert len({family_of(value) for value in VALUES.values()}) == 16


def test_whole_numbers_are_exact_wherever_they_stand():
    """In a list, a tuple, an array of integers, a column and a pair, 100001 does not equal 100000."""
    for kind in (list, tuple, np.array, pd.Series, lambda numbers: (np.array(numbers), 1.0)):
        assert not equal(kind([100001, 3]), kind([100000, 3]))
    finding = matches(np.array([100001, 3]), np.array([100000, 3]))
    assert finding.reason == "At index [0], it is 100001 instead of 100000."
    assert (
        matches(np.array([100001, 3]), [100000, 3]).reason
        == "At position 1 of the list, there is 100001 instead of 100000."
    )


def test_an_array_of_floats_is_compared_at_tolerance():
    """An array of integers is compared within tolerance if the other array has floats."""
    assert equal(np.array([100001.0, 3]), np.array([100000, 3]))
    assert equal(np.array([100001, 3]), np.array([100000.0, 3]))
    assert not equal(np.array([100002, 3]), np.array([100000.0, 3]))


def test_a_whole_number_beyond_numpy_is_compared():
    """A float is compared within tolerance with an integer that is too large for NumPy, even in a list. A difference gets a message."""
    assert matches(float(math.factorial(25)), math.factorial(25)) is None
    assert matches([float(math.factorial(25))], [math.factorial(25)]) is None
    with pytest.raises(CheckFailed, match=r"It is 6\.204e\+23 instead of 1\.551e\+25\."):
        assert_matches(float(math.factorial(24)), math.factorial(25))
    with pytest.raises(CheckFailed, match=r"It is 1\.0 instead of 10+…0+ \(401 digits\)\."):
        assert_matches(1.0, 10**400)
    assert matches(math.factorial(25) + 1, math.factorial(25)).kind == "values"


def test_two_answers_are_the_same_whichever_is_expected():
    """Diagnosis treats two answers as the same only if each could replace the other, so True is not 1, and a Series is not an array."""
    pairs = [
        (np.array([True, False]), np.array([1, 0])),
        (pd.Series([1.0, 2.0]), np.array([1.0, 2.0])),
        ({"a": ROWS, "b": 1}, {"a": ROWS}),
        (FRAME, FRAME[["b", "a"]]),
    ]
    for one, other in pairs:
        assert equal(one, other)
        assert not same_answer(Answer(one), Answer(other))
        assert not same_answer(Answer(other), Answer(one))
    assert not equal(FRAME, FRAME[["b", "a"]], Rules(tables=TableOptions(column_order=True)))


def test_an_expected_value_that_cannot_cross_is_the_authors_error():
    """A check cannot compare anything with a value that cannot leave a student's process, but diagnosis can."""
    with pytest.raises(CourseError, match="cannot leave a student's process"):
        matches([1], [Opaque("Thing")])
    assert equal([Opaque("Thing")], [Opaque("Thing")])
