"""Tests of equality, and of the messages about values that differ."""

import numpy as np
import pytest

from autograder.checking.findings import describe_failure, matches
from autograder.checking.predicates import evaluate
from autograder.sandbox.protocol import Opaque
from autograder.values import paste, paste_inputs, show

ROWS = np.array([[0.2, 0.8], [0.5, 0.5]])


@pytest.mark.parametrize(
    "found",
    [ROWS + 1e-9, ROWS.astype(np.float32), ROWS.tolist(), list(ROWS), ROWS.astype(complex)],
    ids=["rounding", "float32", "nested lists", "a list of rows", "complex with no imaginary part"],
)
def test_the_same_numbers_in_another_dress_are_right(found):
    """Dtype and container do not matter, but numbers and shape do."""
    assert matches(found, ROWS) is None


@pytest.mark.parametrize(
    ("found", "kind", "words"),
    [
        (None, "none", "returned None. Does it end in a `return`?"),
        ("0.2", "type", "a string instead of an array of shape (2, 2)"),
        (Opaque("generator"), "type", "of type generator"),
        (Opaque(""), "type", "of an unnamed type"),
        (Opaque("builtin_function_or_method"), "type", "a function (are parentheses missing?)"),
        (
            Opaque("coroutine"),
            "type",
            "a coroutine (is an `await` missing, or should `async def` be `def`?)",
        ),
        (ROWS[:, :1], "shape", "shape (2, 1), but it should have shape (2, 2)"),
        (ROWS[None], "shape", "shape (1, 2, 2)"),
        (ROWS * np.nan, "nan", "4 of the 4 entries are NaN"),
        (ROWS + np.array([[np.nan, 0], [0, 9]]), "nan", "1 of the 4 entries is NaN"),
        (ROWS + np.array([[0, 0], [0, 1]]), "values", "At index [1, 1], it is 1.5 instead of 0.5."),
        ((ROWS, ROWS), "type", "a tuple of 2 items instead of one array of shape (2, 2)"),
        (ROWS[::-1], "values", "(4 of 4 entries differ)"),
        (ROWS + np.array([[1, 1], [1e-9, 0]]), "values", "(2 of 4 entries are off by too much)"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(found, kind, words):
    """None, a wrong type, a wrong shape, NaN and wrong numbers get different messages."""
    finding = matches(found, ROWS)
    assert finding.kind == kind
    assert words in finding.reason


@pytest.mark.parametrize(
    ("found", "right", "words"),
    [
        ("True", np.bool_(1), "It is a string instead of True or False."),
        (np.array([-1.65002, 3.0]), np.array([-1.65049, 3.0]), "At index [0], it is -1.65002 instead of -1.65049."),
        (np.array([-2.22e-16, 3.0]), np.array([1.5, 3.0]), "At index [0], it is 0 instead of 1.5."),
        (np.array([1.0, 3.0]), np.array([5.55e-17, 3.0]), "At index [0], it is 1 instead of 0."),
        (np.array([-2.22e-16]), np.array([1e-5]), "At index [0], it is -2.22e-16 instead of 1e-05."),
        (np.array([-2.22e-10]), np.array([1.5]), "At index [0], it is -2.22e-10 instead of 1.5."),
        ([-2.22e-16, "a"], [1.5, "a"], "At position 1 of the list, there is 0 instead of 1.5."),
        (np.float64(1.00002), 1.0, "It is 1.00002 instead of 1."),
        ({"a": 1.0}, {"a": 1, "b": 2}, "The dictionary lacks 'b'. It has 'a'."),
        ((1.0,), (1.0, 2.0), "It has 1 part instead of 2."),
        ((), (1.0, 2.0), "It has 0 parts instead of 2."),
        ([1.0, 2.0], (1.0,), "It has 2 parts instead of 1."),
        ((1.0, 2.0), (1.0, 2.0, 3.0), "It has 2 parts instead of 3."),
    ],
)
def test_the_sentence_fits_what_is_asked_for(found, right, words):
    """Booleans are shown by name, numbers with enough digits, and messages name missing keys and the number of parts."""
    assert matches(found, right).reason == words


@pytest.mark.parametrize(
    ("found", "right", "kind"),
    [
        (0.5, np.full(3, 0.5), "shape"),  # broadcasting never hides a wrong shape
        (np.full((1, 3), 0.5), np.full(3, 0.5), "shape"),
        ((ROWS, ROWS[0]), (ROWS, ROWS[0]), None),
        ([ROWS, ROWS[0]], (ROWS, ROWS[0]), None),  # a list of two counts as a pair
        (np.stack([ROWS, ROWS]), (ROWS, ROWS), None),  # and so does an array with parts of the same shapes
        (ROWS, (ROWS, ROWS), "type"),  # but one array with two rows does not
        (np.array([1.0, 0.0]), np.array([True, False]), "dtype"),  # zeros and ones select other entries than booleans
        (np.array([True, False]), np.array([True, False]), None),
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), None),  # a NaN is right if it is expected
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "nan"),
        ({"a": ROWS, "b": 2, "c": 3}, {"a": ROWS, "b": 2}, None),  # an additional array is accepted
        ({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2}, "length"),  # and an additional number is not
    ],
)
def test_what_passes_for_what(found, right, kind):
    """Each value is accepted or rejected by the rules for shapes, pairs, masks, NaN and dictionaries."""
    finding = matches(found, right)
    assert (finding.kind if finding else None) == kind


def test_the_wrong_half_of_a_pair_is_named():
    """The message says which of the two parts is wrong."""
    assert matches((ROWS, ROWS[1]), (ROWS, ROWS[0])).reason.startswith("The second part differs")


def test_an_array_that_is_given_twice_is_pasted_once():
    """A function that changes K also changes Q here, so two separate arrays would show another result."""
    shared = np.ones(2)
    lines = paste_inputs({"Q": shared, "K": shared, "V": np.ones(2), "h": 1, "n": 1})
    assert lines == ["Q = np.array([1.0, 1.0])", "K = Q", "V = np.array([1.0, 1.0])", "h = 1", "n = 1"]


def test_only_wrong_entries_count_as_nan():
    """If some entries should be NaN, the message counts the others, and it names the part of a pair."""
    right = np.array([np.nan, 1.0, 2.0])
    reason = "3 of the 3 entries are NaN (not a number), and 2 of these should be numbers."
    assert matches(np.full(3, np.nan), right).reason == reason
    pair = matches((np.full(3, np.nan), 1.0), (right, 1.0))
    assert pair.reason == f"The first part differs: {reason}"


def test_the_entry_that_the_sentence_names_looks_different():
    """The values have enough digits to show the named difference, even if other entries differ within the tolerance. A part is shown as a part."""
    right = np.array([[2.6085, -1.71918]])
    finding = matches(np.array([[2.6084999, -1.71922]]), right, rtol=1e-5, atol=0)
    assert finding.reason == "At index [0, 1], it is -1.71922 instead of -1.71918."
    assert describe_failure(finding, call="f(x)", with_reason=False) == (
        "f(x) gave     [[2.6085, -1.71922]]\nit should be  [[2.6085, -1.71918]]"
    )
    part = matches((right, np.zeros(2)), (right, np.array([0.0, 1.0])))
    assert describe_failure(part, call="f(x)").split("\n")[1] == "f(x)[1] gave  [0, 0]"
    key = matches({"a": 1.0, "b": 2.0}, {"a": 3.0}, extra_keys=True)
    assert describe_failure(key, call="f(x)").split("\n")[1:] == ["f(x)['a'] gave  1", "it should be    3"]


def test_a_failure_reads_like_a_case_that_can_be_pasted():
    """A case shows the inputs as Python code, the call, the result and the expected result. Empty arrays keep their shape."""
    finding = matches(np.array([1.0, 0.0]), np.array([0.25, 0.75]))
    assert describe_failure(finding, call="softmax(x)", inputs={"x": np.array([0.0, 2.5])}, with_reason=False) == (
        "x = np.array([0.0, 2.5])\nsoftmax(x) gave  [1, 0]\nit should be     [0.25, 0.75]"
    )
    assert paste("cache", np.zeros((0, 3))) == "cache = np.zeros((0, 3))"


@pytest.mark.parametrize("right", [np.array([[17.998, 2.0]]), 17.998, np.array([1e-9]), (17.998, [0.5])])
def test_two_lines_that_differ_look_different(right):
    """Digits are added until the result and the expected result look different."""
    found = (18.0, [0.5]) if isinstance(right, tuple) else np.round(right)
    told = describe_failure(matches(found, right, atol=0.0), call="f(x)").splitlines()
    gave, should_be = (line.split("  ", 1)[1].strip() for line in told[-2:])
    assert gave != should_be


def test_more_digits_only_where_they_are_needed():
    """Four digits are shown if they are enough to tell the numbers apart."""
    told = describe_failure(matches(np.array([1 / 3]), np.array([2 / 3])), call="f(x)")
    assert "[0.3333]" in told
    assert "[0.6667]" in told


def test_what_is_shown_of_a_value_is_short():
    """Nested lists and dicts can be long, but a message shows at most about a page of a value."""
    cubes = [[["<" * 30] * 48] * 48] * 45
    assert len(show(cubes)) <= 4000
    assert len(show({str(n) + '"' * 300: cubes for n in range(25)})) <= 4000
    assert show(dict.fromkeys(range(100))) == "a dict of 100 items"
    deep = [1.0]
    for _ in range(20):
        deep = [deep]
    assert show(deep) == "[[[[[[…]]]]]]"
    assert show({"a": (1, [np.zeros(2)]), "b": {}}) == "{'a': (1, [[0, 0]]), 'b': {}}"
    assert show([]) == "[]"


def shown(found, right):
    """Return the excerpts of two arrays that a message shows."""
    lines = describe_failure(matches(found, right), call="f(x)", with_reason=False).splitlines()
    return tuple(line.split("  ", 1)[1].strip() for line in lines)


def test_long_arrays_are_shown_from_the_first_entry_beyond_tolerance_on():
    """The excerpt starts at the first entry that is not within tolerance, even if a later difference is larger."""
    right = np.arange(400.0).reshape(2, 200)
    found = right + 1e-9
    found[0, 17], found[1, 198] = 17.5, 1e6
    assert shown(found, right) == (
        "an array of shape (2, 200) with [17.5, 18, 19, 20] from index [0, 17] on",
        "an array of shape (2, 200) with [17, 18, 19, 20] from index [0, 17] on",
    )
    found[0, 0] = 7
    assert shown(found, right)[0] == "an array of shape (2, 200) that starts with [7, 1, 2, 3, …]"
    found[1, 199] = np.nan
    assert shown(found, right)[0] == "an array of shape (2, 200) with nan at index [1, 199]"
    assert shown({"a": found[1]}, {"a": right[1]})[0] == "an array of shape (200,) with nan at index [199]"


def test_two_boolean_arrays_never_look_equal():
    """A mask is shown from the first wrong entry on."""
    right = np.tril(np.ones((9, 9), dtype=bool))
    found = right.copy()
    found[7, 8] = True
    assert shown(found, right) == (
        "an array of shape (9, 9) with True at index [7, 8]",
        "an array of shape (9, 9) with False at index [7, 8]",
    )


@pytest.mark.parametrize(
    ("name", "value", "options", "words"),
    [
        ("sums_to_one", np.eye(60) * ([1.0] * 50 + [0.5] * 10), {}, "but the sums are an array of shape (60,) with [0.5, 0.5, 0.5, 0.5] from index [50] on."),
        ("within", np.arange(60.0), {"low": 0, "high": 55}, "but the value is an array of shape (60,) with [56, 57, 58, 59] from index [56] on."),
    ],
)  # fmt: skip
def test_a_property_of_a_long_array_is_shown_where_it_fails(name, value, options, words):
    """The sentence and the excerpt start at the first sum or entry that is wrong."""
    finding = evaluate(name, value, None, options)
    assert finding.reason.endswith(words)
    assert " with [" in describe_failure(finding, call="f(x)", with_reason=False)


def test_a_list_stands_for_an_array_unless_lists_are_refused():
    """With ``lists=False``, a list or a tuple instead of an array is rejected, even as a part of a pair."""
    right = np.array([1.0, 2.0])
    for found in ([1.0, 2.0], (1.0, 2.0)):
        assert matches(found, right) is None
        assert matches((found, 3.0), (right, 3.0)) is None
    assert (
        matches([1.0, 2.0], right, lists=False).reason == "It is a list of 2 items instead of an array of shape (2,)."
    )
    assert matches((1.0, 2.0), right, lists=False).kind == "type"
    pair = matches(([1.0, 2.0], 3.0), (right, 3.0), lists=False)
    assert pair.reason == "The first part is a list of 2 items instead of an array of shape (2,)."
    assert matches((right, 3), (right, 3.0), lists=False) is None
    assert matches([[1, "a"], right], [[1, "a"], right], lists=False) is None


def test_numbers_may_be_off_by_a_share_of_the_largest_beside_them():
    """With ``of_largest``, a difference that is small compared with the largest number is accepted. Each part of a pair has its own largest number."""
    right = (np.array([1e6, 1e-3]), np.array([0.5, 0.5]))
    assert matches((right[0] + 0.005, right[1]), right) is not None
    assert matches((right[0] + 0.005, right[1]), right, of_largest=1e-8) is None
    assert matches((right[0] + 0.05, right[1]), right, of_largest=1e-8) is not None
    assert "second part" in matches((right[0], right[1] + 1e-4), right, of_largest=1e-8).reason
    assert matches(right[0], right, of_largest=1e-8).kind == "type"
