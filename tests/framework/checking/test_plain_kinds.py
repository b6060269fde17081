"""The kinds of texts, lists, sets, dictionaries and dates: each that a contract allows is drawn, and known for what it is."""

import datetime as dt

import pytest

from autograder.base.errors import CourseError
from autograder.checking import Contract, among, dates, items, mapping, members, real, text, whole
from autograder.checking.covering import cover
from autograder.checking.kinds import kinds_of

CONTRACTS = {
    "text": text(), "letters": text("ab", low=1, high=20), "bare": text(without=("unicode", "lines"), high=90), "numbers": items(whole(-100, 100)),
    "ratios": items(real(0.5, 2), low=2, high=5), "names": items(text(without="white space")), "grid": items(items(whole(0, 3))),
    "set": members(text("abc", low=1, high=4)), "counts": mapping(text(low=1), whole(1, 9)), "days": mapping(dates(), members(whole(0, 99), high=3), high=8),
    "choices": items(among("a", "b")), "day": dates(), "leap": dates(dt.date(2024, 2, 1), dt.date(2024, 3, 1)), "unique": items(whole(0, 9), distinct=True, high=6),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_kind_that_is_allowed_is_drawn(name):
    """None is missed, each is told after "with", and the same secret draws the same values."""
    contract = Contract({name: CONTRACTS[name]})
    covering = cover(contract, 7)
    assert covering.missed == ()
    assert set().union(*(drawn.kinds for drawn in covering.inputs)) == {kind.name for kind in kinds_of(contract)}
    assert all(name in kind.phrase for kind in kinds_of(contract))
    assert cover(contract, 7) == covering
    low, high = getattr(CONTRACTS[name], "low", 0), getattr(CONTRACTS[name], "high", 0)
    for drawn in covering.inputs:
        size = drawn.values[name] if isinstance(low, dt.date) else len(drawn.values[name])
        assert low <= size <= high


def test_the_kinds_of_a_text_are_those_that_a_student_reads():
    """An author rules out what the stub promises never comes."""
    named = {kind.phrase for kind in kinds_of(Contract({"text": text()}))}
    assert {"an empty text", "several spaces in a row in text", "letters beyond ASCII in text"} <= named
    left = kinds_of(Contract({"text": text(low=1, without=("white space", "unicode"))}, never={"digits": "no digits"}))
    assert not {kind.name for kind in left} & {
        "text: empty",
        "text: a tab",
        "text: letters beyond ASCII",
        "text: digits",
    }


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: text(without="spaces"), "a text may be without 'white space', 'lines'"),
        (lambda: items(whole(0, 9), low=3, high=2), "give the smallest size, and then the largest"),
        (lambda: dates(dt.date(2024, 1, 2), dt.date(2024, 1, 1)), "give the first day, and then the last"),
        (lambda: cover(Contract({"x": items(Contract)}), 1), "a set or a dictionary holds text"),
    ],
)
def test_what_cannot_be_meant_is_said(make, words):
    """A sentence, with the words that there are."""
    with pytest.raises(CourseError, match=words):
        make()
