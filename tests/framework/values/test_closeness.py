"""Test when two numbers, arrays or outcomes count as equal, and with which tolerance."""

import tracemalloc

import numpy as np
import pytest

from autograder.values import as_array, close, equal, tolerances

ROWS = np.array([[0.2, 0.8], [0.5, 0.5]])


def test_float32_inputs_are_judged_more_loosely():
    """For float32 inputs, the course's float32 tolerance applies."""
    assert tolerances(np.ones(2)) == (1e-5, 1e-6)
    assert tolerances(np.ones(2, np.float32)) == (1e-3, 1e-4)
    assert tolerances({"W": [np.ones(2, np.float32)]}) == (1e-3, 1e-4)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (ROWS, ROWS.tolist(), True),
        (ROWS, (ROWS,), False),
        (np.array([np.nan]), np.array([np.nan]), True),
        (np.array([1.0]), np.array([True]), False),
        (np.array([True]), np.array([1.0]), True),
        ("a", "a", True),
        (1.0, "1.0", False),
        ((ROWS, 1.0), (ROWS, 1.0 + 1e-9), True),
    ],
)
def test_two_outcomes_are_equal_only_as_answers(left, right, same):
    """For diagnosis, equal outcomes have the same structure, shape and numbers."""
    assert equal(left, right) is same


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ([[1, 2], [3, 4.5]], [[1.0, 2.0], [3.0, 4.5]]),
        ([ROWS[0], ROWS[1]], ROWS),
        ([True, False], [True, False]),
        (2**70, 2.0**70),
        ([2**1000, 1, 0.5], [2.0**1000, 1.0, 0.5]),
        ([], []),
    ],
)
def test_numbers_are_an_array_whatever_holds_them(value, numbers):
    """Lists of numbers or of arrays are converted to arrays, and so are integers that are too large for NumPy."""
    assert as_array(value).dtype.kind in "bif"
    np.testing.assert_array_equal(as_array(value), numbers)


@pytest.mark.parametrize(
    "value", [None, "a", ["a", 1.0], [1, None], [[1], [1, 2]], {"a": 1}, [{}], [ROWS, [["a", "b"]] * 2]]
)
def test_what_is_not_all_numbers_is_no_array(value):
    """A list that contains a string, None or rows of different lengths is not converted to an array of numbers."""
    assert as_array(value) is None


def test_one_long_text_is_not_given_to_every_part():
    """One long string in a list does not take gigabytes, although NumPy would make every string as long as the longest."""
    tracemalloc.start()
    try:
        assert as_array(["x" * 65536] + [""] * 8000) is None
        assert as_array([np.zeros(1 << 22, "u1")] * 8) is None
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_closeness_is_numpys():
    """The fast comparison agrees with ``np.isclose``, even for infinities, NaN and other dtypes."""
    values = [0.0, -0.0, 1.0, 1.0 + 1e-6, 1.0 + 1e-4, -1.0, 1e300, np.inf, -np.inf, np.nan, 5e-7]
    found, expected = (a.ravel() for a in np.meshgrid(values, values))
    assert (close(found, expected, 1e-5, 1e-6) == np.isclose(found, expected, 1e-5, 1e-6, equal_nan=True)).all()
    for dtype in (np.float32, np.int64, np.uint8, np.bool_, np.complex128):
        a, b = np.array([0, 1, 3, 3], dtype), np.array([1, 0, 3, 2], dtype)
        assert (close(a, b, 1e-5, 1e-6) == np.isclose(a, b, 1e-5, 1e-6)).all()
