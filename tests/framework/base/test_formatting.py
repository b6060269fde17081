"""Tests of the format of numbers, points and plurals."""

from __future__ import annotations

from autograder.base.formatting import number, pluralize, points


def test_a_number_is_exact_where_it_can_be():
    """Numbers have no trailing zeros and no rounding errors, and thirds have two decimals."""
    values = (3.0, 10, 0.0, 2.5, 0.125, 0.0625, 0.1 + 0.2, 1 / 3, 0.333333, 2 / 3, 7 / 3)
    assert " ".join(map(number, values)) == "3 10 0 2.5 0.125 0.0625 0.3 0.33 0.33 0.67 2.33"


def test_one_is_singular_and_nothing_else_is():
    """One half and zero are plural."""
    counts = ", ".join(pluralize(count, "point") for count in (1, 1.0, 0, 0.5, 2))
    assert counts == "1 point, 1 point, 0 points, 0.5 points, 2 points"
    assert (points(0.5, 1), points(1 / 3, 2)) == ("0.5 of 1 point", "0.33 of 2 points")
