"""Tests of comparing strings, sets, dictionaries, dates and lists of these: which are equal, and the message if two differ."""

import datetime as dt
import enum
import importlib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from autograder.base.errors import CourseError
from autograder.checking.findings import describe_failure, matches
from autograder.sandbox.guest.wire import LAYOUTS, in_layout, layout_of
from autograder.sandbox.protocol import Opaque
from autograder.values import equal, normalize_result, paste, show

Colour = enum.IntEnum("Colour", ["RED"])

NOON = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
LATER = NOON.astimezone(dt.timezone(dt.timedelta(hours=1)))
LINES = "to be\nor not\n"


@pytest.mark.parametrize(
    ("found", "right", "words"),
    [
        (["whether", "to", "be,"], ["whether", "to", "be"], "At position 3 of the list, there is 'be,' instead of 'be'."),
        ("be,", "be", "It is 'be,' instead of 'be'."),
        ("Be", "be", "It is 'Be' instead of 'be': they differ only in upper and lower case."),
        ("be\t", "be\xa0", r"It is 'be\t' instead of 'be\xa0': only the whitespace at the start or end differs."),
        ("x" * 90 + "\tfox", "x" * 90 + "\xa0fox", r"The string differs starting at character 91: …'xxxxxxxxxxxx\tfox' instead of …'xxxxxxxxxxxx\xa0fox': only whitespace differs."),
        (LINES, "to be\nor so\n", "In line 2 of the string, there is 'or not' instead of 'or so'."),
        (LINES, "to be\r\nor not\n", r"In line 1 of the string, there is 'to be\n' instead of 'to be\r\n': only the whitespace at the start or end differs."),
        (LINES, "to be\n", r"The string has 2 lines instead of 1: line 2, 'or not\n', should not be there."),
        ("cafe\u0301", "café", "It is 'cafe\u0301' instead of 'café': the letters look alike but have different character codes (see unicodedata.normalize)."),
        ("3", 3, "It is '3' (a string) instead of 3 (a number)."),
        (True, 1, "It is True (a bool) instead of 1 (a number)."),
        (True, 1.0, "It is True (a bool) instead of 1.0 (a number)."),
        (1, True, "It is 1 (a number) instead of True (a bool)."),
        (b"be", "be", "It is b'be' (bytes) instead of 'be' (a string)."),
        (100_000, 100_001, "It is 100000 instead of 100001."),
        (2**2000, 2**2000 + 1, f"It is {2**2000 // 10**583}…{2**2000 % 10**20} (603 digits) instead of {2**2000 // 10**583}…{2**2000 % 10**20 + 1} (603 digits)."),
        ([1, 2], [1, 2, 3], "The list has 2 items instead of 3: 3 is missing at its end."),
        ([1, 2, 3], [1, 2], "The list has 3 items instead of 2: 3 at position 3 should not be there."),
        ([1, 3], [1, 2, 3], "The list has 2 items instead of 3. The first difference: at position 2 of the list, there is 3 instead of 2."),
        ([], ["a"], "The list is empty but should have 1 item, starting with 'a'."),
        (["b", "a"], ["a", "b"], "The list has the correct items in a different order: at position 1 of the list, there is 'b' instead of 'a'."),
        ({dt: 1}, {"a": 1}, "It is of type dict with module in a key instead of a dictionary."),
        (["a"], {"a"}, "It is a list, ['a'], instead of a set."),
        ("a", ["a"], "It is a string, 'a', instead of a list."),
        (Opaque("Stack"), {"a"}, "It is of type Stack instead of a set of 1 member."),
        (Opaque("set"), {"a"}, "It is a set that contains something other than built-in values instead of a set of 1 member."),
        ([Opaque("Stack")], ["a"], "At position 1 of the list, there is something of type Stack instead of 'a'."),
        ({"a", "b"}, {"a", "c", "d"}, "The set lacks 'c' and 'd', and has 'b', which does not belong there."),
        (set(), {"a"}, "The set is empty but should have 'a'."),
        (set(range(20)), {0}, "The set has 1, 2, 3, 4, 5 and 14 more, which do not belong there."),
        ({"a": 1, "b": 1}, {"a": 1}, "The dictionary has the key 'b', which does not belong there."),
        ({"3": 1}, {3: 1}, "The dictionary lacks the key 3, and has the key '3', which does not belong there."),
        ({True: 1}, {1: 1}, "The dictionary lacks the key 1, and has the key True, which does not belong there."),
        ({"a": [1, {2: "u"}]}, {"a": [1, {2: "v"}]}, "At the key 'a', at position 2 of the list, at the key 2, there is 'u' instead of 'v'."),
        (dt.date(2024, 2, 28), dt.date(2024, 2, 29), "It is datetime.date(2024, 2, 28) instead of datetime.date(2024, 2, 29)."),
        ("2024-02-29", dt.date(2024, 2, 29), "It is '2024-02-29' (a string) instead of datetime.date(2024, 2, 29) (a date)."),
        (NOON.replace(hour=0, tzinfo=None), dt.date(2024, 2, 29), "It is datetime.datetime(2024, 2, 29, 0, 0) (a datetime) instead of datetime.date(2024, 2, 29) (a date)."),
        (NOON.replace(tzinfo=None), NOON, "It is datetime.datetime(2024, 2, 29, 12, 0) (without a time zone) instead of datetime.datetime(2024, 2, 29, 12, 0, tzinfo=datetime.timezone.utc) (in a time zone)."),
        (LATER, NOON, ": the same moment in another time zone."),
        (0.1, Decimal("0.1"), "It is 0.1 (a number) instead of decimal.Decimal('0.1') (a Decimal)."),
        (Fraction(1, 3), Fraction(2, 3), "It is fractions.Fraction(1, 3) instead of fractions.Fraction(2, 3)."),
        (np.array(["a", "b"]), np.array(["a", "c"]), "At index [1], there is 'b' instead of 'c'."),
        (np.array(["2024-03-01"], "M8[D]"), np.array(["2024-02-29"], "M8[D]"), "At index [0], there is np.datetime64('2024-03-01') instead of np.datetime64('2024-02-29')."),
        ((c for c in "abc"), ["a", "b"], "The generator has 3 items instead of 2: 'c' at position 3 should not be there."),
        (iter(range(10**9)), [0, 1], "The range_iterator has more than 1,000 items instead of 2: 2 at position 3 should not be there."),
        (iter(int, 1), [0] * 5000, "Only the first 1,000 items of the callable_iterator can be checked, but 5,000 are expected. Return all of them in a list."),
        (iter(int, 1), [0] * 1000, "The callable_iterator continues after 1,000 items, but the correct one ends there."),
        ([0] * 5000, iter(int, 1), "The list ends after 5,000 items, but the correct one continues."),
        ([1.0, float("nan")], [1.0, 2.0], "At position 2 of the list, there is nan instead of 2."),
    ],
    ids=lambda value: paste("x", value) if not hasattr(value, "__next__") else "iterator",
)  # fmt: skip
def test_where_two_values_first_differ_is_said(found, right, words):
    """Depending on the difference, a message gives the position and both values, the missing or extra items, or the types."""
    found = found if "Opaque" in repr(found) else normalize_result(found)
    finding = matches(found, normalize_result(right))
    assert finding.reason.endswith(words) if words.startswith(":") else finding.reason == words
    assert not equal(found, normalize_result(right))
    assert describe_failure(finding, call="f(x)", with_reason=False).startswith("f(x)")


@pytest.mark.parametrize(
    ("found", "right", "options"),
    [
        (("a", "b"), ["a", "b"], {}),
        (["a", 1], ("a", 1), {}),
        (range(3), [0, 1, 2], {}),
        ((c for c in "ab"), ["a", "b"], {}),
        (["a", "b"], (c for c in "ab"), {}),
        ({"a": 1}.keys(), ["a"], {}),
        (iter(int, 1), iter(float, 1.0), {}),  # two endless iterators are compared as far as their items are known
        ({1.0, 0.1 + 0.2}, {1, 0.3}, {}),
        ({Colour.RED: {Colour.RED}}, {1: {1}}, {}),
        ({0.1 + 0.2: "a"}, {0.3: "a"}, {}),
        ([0.1 + 0.2, {"x": 1 / 3}], [0.3, {"x": 0.33333333333}], {}),
        ([float("nan"), float("inf")], [float("nan"), float("inf")], {}),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}, {}),
        ([3, np.int64(3), 3.0], [3.0, 3, np.float32(3)], {}),
        (type("Word", (str,), {})("be"), "be", {}),
        (frozenset("ab"), {"a", "b"}, {}),
        (Decimal("1.10"), Decimal("1.1"), {}),
        (["a", "b"], np.array(["a", "b"]), {}),
        (NOON.astimezone(dt.timezone(dt.timedelta(0), "GMT")), NOON, {}),
        ([["b", 1.0], ["a"]], [["a"], [1.0 + 1e-9, "b"]], {"order": False}),
        ([1.0, 2], [1, 2], {"of_largest": 1e-7}),
        ({"a": 1, "b": 2}, {"a": 1}, {"extra_keys": True}),
    ],
    ids=lambda value: paste("x", value) if not hasattr(value, "__next__") else "iterator",
)
def test_the_same_value_in_another_dress_is_right(found, right, options):
    """All sequences count as the same type, numbers have a tolerance, and the order of a dictionary is ignored."""
    assert matches(normalize_result(found), normalize_result(right), **options) is None


@pytest.mark.parametrize(
    ("found", "right", "options", "words"),
    [
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}, {"order": True}, "The keys of the dictionary are in a different order: 'b' is at position 1 instead of 'a'."),
        (["a", "a"], ["a", "b"], {"order": False}, "The list lacks 'b', and has 'a', which does not belong there."),
        (("a",), ["a"], {"exact_type": True}, "It is a tuple, ('a',), instead of a list."),
        (["a"], (c for c in "a"), {"exact_type": True}, "It is a list, ['a'], instead of a generator."),
        (type("list", (), {"__iter__": lambda self: self, "__next__": lambda self: next(self.it), "it": iter("a")})(), ["a"], {"exact_type": True}, "It is a class list, iter(['a']), instead of a list."),
        (iter(int, 1), [0] * 5000, {"order": False}, "Only the first 1,000 items of the callable_iterator can be checked, but 5,000 are expected. Return all of them in a list."),
        ([3], [3.0], {"exact_type": True}, "At position 1 of the list, there is 3 instead of 3.0."),
    ],
    ids=lambda value: paste("x", value) if not hasattr(value, "__next__") else "iterator",
)  # fmt: skip
def test_order_and_type_count_where_they_are_asked_for(found, right, options, words):
    """The option ``order=`` decides whether the order counts, and with ``exact_type=True`` the type counts."""
    assert matches(normalize_result(found), normalize_result(right), **options).reason == words


@pytest.mark.parametrize(
    "value",
    ["to\tbe", {"b", "a"}, set(), frozenset({1}), dt.date(2024, 2, 29), NOON, Decimal("1.50"), Fraction(1, 3), b"a\0", {1: {2}, (3, "c"): [None]},
     ("a",), float("inf"), range(3), [dt.timedelta(days=1)], bytearray(b"x"), np.array(["a", "b"]), np.array(["2024-02"], "M8[M]"), {"k": np.eye(2)}],
    ids=lambda value: paste("x", value),
)  # fmt: skip
def test_what_is_pasted_makes_the_same_value(value):
    """A pasted line creates the argument of the case. Sets are always written in the same order."""
    names = {"np": np, **{name: importlib.import_module(name) for name in ("datetime", "decimal", "fractions")}}
    exec(paste("x", value), names)  # noqa: S102 - our own text
    assert type(names["x"]) is type(value)
    np.testing.assert_equal(names["x"], value)


@pytest.mark.parametrize("layout", ["", *LAYOUTS])
def test_a_pasted_array_has_the_same_order_in_memory(layout):
    """A function may be wrong only for a transposed array or a slice. A second line gives the pasted array the same order."""
    value = in_layout(np.arange(24.0).reshape(2, 3, 4), layout) if layout else np.arange(24.0).reshape(2, 3, 4)
    names = {"np": np}
    exec(paste("X", value), names)  # noqa: S102 - our own text
    assert layout_of(names["X"]) == layout
    assert names["X"].strides == value.strides
    np.testing.assert_equal(names["X"], value)


def test_long_values_are_described_and_shown_where_they_differ():
    """A value that is too long to paste is described. If long values differ, only one item of a list or a few characters of a string are shown."""
    assert paste("x", "ab" * 300) == f"x is a string of 600 characters that starts with '{'ab' * 30}'…"
    model = {"W": np.eye(2)[::-1], "blocks": ["b"] * 300, "h": 2}
    start = "['b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b',…"
    assert (
        paste("m", model)
        == f"m = {{'W': np.array([[0.0, 1.0], [1.0, 0.0]]), 'blocks': (a list of 300 items that starts with {start}), 'h': 2}}"
    )
    assert paste("x", list(range(300))).startswith("x is a list of 300 items that starts with [0, 1, 2,")
    assert paste("x", [{"W": n} for n in range(300)]) == "x is a list of 300 items"  # no item is cut off
    right = {n: [n] for n in range(100)}
    finding = matches({**right, 50: [51]}, right)
    assert describe_failure(finding, call="f(x)", with_reason=False) == "f(x)[50][0] gave  51\nit should be      50"
    finding = matches("a" * 600 + "b", "a" * 600 + "c")
    assert "…'aaaaaaaaaaaab'" in describe_failure(finding, call="f(x)", with_reason=False).splitlines()[0]
    assert show({"b", "a"}) == "{'a', 'b'}"
    assert show(normalize_result(iter("ab"))) == "a str_ascii_iterator that yields ['a', 'b']"


@pytest.mark.parametrize("right", [Opaque("Stack"), ["a", Opaque("Stack")], {"a": Opaque("Stack")}])
def test_a_right_answer_that_cannot_cross_is_said_to_the_author(right):
    """A check cannot compare any value with an answer that cannot leave a student's process. Diagnosis, which only distinguishes answers, can."""
    with pytest.raises(
        CourseError, match="The correct answer is of type Stack, which cannot leave a student's process"
    ):
        matches(right, right)
    assert equal(right, right)  # as diagnosis compares answers
