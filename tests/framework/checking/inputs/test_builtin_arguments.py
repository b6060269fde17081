"""Test the categories of strings, lists, sets, dictionaries and dates: each category that a contract allows is drawn and recognized."""

import datetime as dt

import pytest

from autograder.base.errors import CourseError
from autograder.checking import Contract, among, dates, items, mapping, members, real, text, whole
from autograder.checking.inputs.categories import categories_of
from autograder.checking.inputs.covering import cover

CONTRACTS = {
    "text": text(), "letters": text("ab", low=1, high=20), "bare": text(without=("unicode", "lines"), high=90), "numbers": items(whole(-100, 100)),
    "ratios": items(real(0.5, 2), low=2, high=5), "names": items(text(without="white space")), "grid": items(items(whole(0, 3))),
    "set": members(text("abc", low=1, high=4)), "counts": mapping(text(low=1), whole(1, 9)), "days": mapping(dates(), members(whole(0, 99), high=3), high=8),
    "choices": items(among("a", "b")), "day": dates(), "leap": dates(dt.date(2024, 2, 1), dt.date(2024, 3, 1)), "unique": items(whole(0, 9), distinct=True, high=6),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_category_that_is_allowed_is_drawn(name):
    """No category is missed, each phrase names the argument, and the same seed draws the same values."""
    contract = Contract({name: CONTRACTS[name]})
    covering = cover(contract, 7)
    assert covering.missed == ()
    assert set().union(*(drawn.categories for drawn in covering.inputs)) == {
        category.name for category in categories_of(contract)
    }
    assert all(name in category.phrase for category in categories_of(contract))
    assert cover(contract, 7) == covering
    low, high = getattr(CONTRACTS[name], "low", 0), getattr(CONTRACTS[name], "high", 0)
    for drawn in covering.inputs:
        size = drawn.values[name] if isinstance(low, dt.date) else len(drawn.values[name])
        assert low <= size <= high


@pytest.mark.parametrize(("low", "high"), [(0.1, 2), (2, 5), (3, 3), (5, 10), (150, 1e6)])
def test_a_number_of_any_range_is_drawn_within_it(low, high):
    """A range may begin anywhere, even above the numbers that are usually drawn."""
    values = [drawn.values["x"] for drawn in cover(Contract({"x": real(low, high)}), 7).inputs]
    assert values
    assert all(low <= value <= high for value in values)


def test_the_categories_of_a_text_are_those_that_a_student_reads():
    """Each category has a phrase for students. An author can exclude categories that the exercise does not allow."""
    named = {category.phrase for category in categories_of(Contract({"text": text()}))}
    assert {"an empty text", "several spaces in a row in text", "non-ASCII letters in text"} <= named
    left = categories_of(
        Contract({"text": text(low=1, without=("white space", "unicode"))}, exclude={"digits": "no digits"})
    )
    assert not {category.name for category in left} & {
        "text: empty",
        "text: a tab",
        "text: letters beyond ASCII",
        "text: digits",
    }


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: text(without="spaces"), "write one of 'white space', 'lines'"),
        (lambda: items(whole(0, 9), low=3, high=2), "`low` must be at least 0, and at most `high`"),
        (lambda: dates(dt.date(2024, 1, 2), dt.date(2024, 1, 1)), "give the first day, then the last"),
        (lambda: cover(Contract({"x": items(Contract)}), 1), "a set or a dictionary must be text"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_reported(make, words):
    """The message says what is allowed."""
    with pytest.raises(CourseError, match=words):
        make()
