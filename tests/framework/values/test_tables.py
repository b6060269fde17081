"""Tests of comparing tables: the messages about differences, and tables that are ready to paste."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest

from autograder.checking import CheckFailed, assert_matches
from autograder.checking.findings import matches
from autograder.values import equal, paste, show

TABLE = pd.DataFrame({"name": ["b", "a", "c"], "mean": [4.0, 2.0, 1.0], "n": [3, 2, 1]})
NAMED = TABLE.set_index("name")
MEANS = NAMED["mean"]
LONG = pd.DataFrame({"a": range(100), "b": 1.5})


def put(table, row, column, value):
    """Return a copy of a table with one cell changed."""
    other = table.copy()
    other.loc[row, column] = value
    return other


SAME = {
    "columns in another order": (TABLE[["n", "mean", "name"]], TABLE, {}),
    "whole numbers as floats": (TABLE.astype({"n": float}), TABLE, {}),
    "numbers that may be missing": (TABLE.astype({"n": "Int64"}), TABLE, {}),
    "categories for text": (TABLE.astype({"name": "category"}), TABLE, {}),
    "objects for text": (TABLE.astype({"name": object, "n": object}), TABLE, {}),
    "moments of another unit": (pd.Series(pd.to_datetime(["2024-05-01"]).as_unit("s")), pd.Series(pd.to_datetime(["2024-05-01"]).as_unit("ns")), {}),
    "one kind of missing for another": (pd.Series([None, "x"], dtype=object), pd.Series([np.nan, "x"]), {}),
    "another name": (MEANS.rename("x"), MEANS, {}),
    "a range for its numbers": (TABLE.set_axis(pd.Index([0, 1, 2])), TABLE, {}),
    "float labels": (TABLE.set_axis([0.0, 1.0, 2.0]), TABLE, {}),
    "rows in any order": (TABLE.iloc[::-1], TABLE, {"row_order": False}),
    "rows in any order, with labels": (NAMED.iloc[::-1], NAMED, {"row_order": False}),
    "labels let go": (TABLE.set_axis([7, 8, 9]), TABLE, {"index": False}),
    "two columns of one name": (pd.DataFrame([[1, 2]], columns=["a", "a"]), pd.DataFrame([[1, 2]], columns=["a", "a"]), {}),
    "a Series where an array is asked for": (MEANS, np.array([4.0, 2.0, 1.0]), {}),
    "at tolerance": (MEANS + 1e-9, MEANS, {}),
    "near in any order": (pd.Series([1.0 + 1e-7, 1.0, 2.0]), pd.Series([2.0, 1.0, 1.0 + 1e-7]), {"row_order": False}),
    "nothing in both": (TABLE.iloc[:0], TABLE.iloc[:0], {}),
    "a moment": (pd.Timestamp("2024-05-01"), pd.Timestamp("2024-05-01"), {}),
}  # fmt: skip

OTHER = {
    "In row 1, column 'mean', there is 2.5 instead of 2.": (put(TABLE, 1, "mean", 2.5), TABLE, {}),
    "In row 'b', column 'n', there is 9 instead of 3 (2 of 6 cells differ).": (put(put(NAMED, "b", "n", 9), "a", "mean", 0), NAMED, {}),
    "In row 1, column 'mean', there is a missing value instead of 2.": (put(TABLE, 1, "mean", None), TABLE, {}),
    "In the row at position 1, column 'mean', there is 2.5 instead of 2.": (put(TABLE, 1, "mean", 2.5), TABLE, {"index": False}),
    "In row 'a' (at position 1), column 0, there is 3 instead of 2.": (pd.DataFrame([1, 3], ["a", "a"]), pd.DataFrame([1, 2], ["a", "a"]), {}),
    "In row ('a', 2), column 'x', there is 3 instead of 2.": (
        pd.DataFrame({"x": [1, 3]}, pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])), pd.DataFrame({"x": [1, 2]}, pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])), {}),
    "At 'b', there is 4.0001 instead of 4 (3 of 3 values differ).": (MEANS + 1e-4, MEANS, {}),
    "Column 'n' contains text instead of numbers: in row 0, there is '3' instead of 3.": (TABLE.astype({"n": str}), TABLE, {}),
    "Column 'mean' contains numbers instead of text: in row 0, there is 4 instead of '4.0'.": (TABLE, TABLE.astype({"mean": str}), {}),
    "Column 'n' has dtype float64 instead of int64.": (TABLE.astype({"n": float}), TABLE, {"dtypes": True}),
    "It lacks the column 'n'. It has the columns 'name' and 'mean'.": (TABLE.drop(columns="n"), TABLE, {}),
    "It has an extra column 'z'. It should have 'name', 'mean' and 'n'.": (TABLE.assign(z=1), TABLE, {}),
    "It has a column 'Mean' instead of 'mean'.": (TABLE.rename(columns={"mean": "Mean"}), TABLE, {}),
    "It has an extra column 'name'. 'name' should be the index (the row labels), not a column.": (TABLE, NAMED, {}),
    "It lacks the column 'name'. 'name' should be a column, but it is the index (the row labels).": (NAMED, TABLE, {}),
    "Its columns are correct, but in a different order: 'n' and 'mean' instead of 'mean' and 'n'.": (NAMED[["n", "mean"]], NAMED, {"column_order": True}),
    "Its rows are correct, but in a different order.": (NAMED.iloc[::-1], NAMED, {}),
    "Its values are correct, but in a different order.": (pd.Series([2, 1]), pd.Series([1, 2]), {}),
    "Its values are correct, but its row labels (the index) are not: at position 0, there is 5 instead of 0.": (TABLE.set_axis([5, 6, 7]), TABLE, {}),
    "Its row labels (the index) differ: at position 1, there is 'x' instead of 'a'.": (MEANS.rename({"a": "x"}), MEANS, {}),
    "Its index has 2 levels (labels for each row) instead of 1.": (TABLE.set_index(["name", "n"]), NAMED[["mean"]], {}),
    "It has 2 rows instead of 3.": (TABLE.iloc[:2], TABLE, {}),
    "It has 1 value instead of 3.": (MEANS.iloc[:1], MEANS, {}),
    "It lacks the row with 'name' = 'c', 'mean' = 1, 'n' = 1 (rows may be in any order). It has an extra row with 'name' = 'c', 'mean' = 0, 'n' = 1.": (
        put(TABLE, 2, "mean", 0).iloc[::-1], TABLE, {"row_order": False}),
    "Its name is 'x' instead of 'mean'.": (MEANS.rename("x"), MEANS, {"names": True}),
    "It is a Series of 3 values instead of a DataFrame with the columns 'name', 'mean' and 'n'.": (MEANS, TABLE, {}),
    "It is a DataFrame of 3 rows and 3 columns instead of a Series of 3 values.": (TABLE, MEANS, {}),
    "It is one array of shape (3,) instead of a Series of 3 values.": (np.ones(3), MEANS, {}),
    "It is a Series of 3 values instead of a single number.": (MEANS, 3.0, {}),
    "It is a missing value instead of 3.": (pd.NA, 3.0, {}),
    "It is 2024-05-02 instead of 2024-05-01.": (pd.Timestamp("2024-05-02"), pd.Timestamp("2024-05-01"), {}),
    "Entry 'a' differs: in row 1, column 'mean', there is 2.5 instead of 2.": ({"a": put(TABLE, 1, "mean", 2.5)}, {"a": TABLE}, {}),
    "At position 1, there is 2 instead of 3.": (pd.Index([1, 2]), pd.Index([1, 3]), {}),
    "The function returned None. Does it end in a `return`? (`print` shows a value but returns nothing. A function that changes its argument, such as `list.append`, returns None too.)": (None, TABLE, {}),
}  # fmt: skip


@pytest.mark.parametrize(("found", "right", "options"), SAME.values(), ids=SAME.keys())
def test_what_does_not_count_is_let_go(found, right, options):
    """Tables are equal if they differ only in details that do not count or that an option ignores."""
    assert_matches(found, right, **options)


@pytest.mark.parametrize(("sentence", "case"), OTHER.items(), ids=range(len(OTHER)))
def test_what_is_wrong_is_said(sentence, case):
    """The difference is described in one sentence, with the labels of the row and the column."""
    found, right, options = case
    with pytest.raises(CheckFailed) as failed:
        assert_matches(found, right, **options)
    assert failed.value.reason == sentence


def test_both_tables_are_shown_as_pandas_prints_them():
    """Tables are shown below each other. Of long tables, only the rows around the first difference are shown."""
    with pytest.raises(CheckFailed) as failed:
        assert_matches(put(NAMED, "a", "mean", 2.5), NAMED, call="f(table)", table=TABLE)
    lines = [line.rstrip() for line in failed.value.example.split("\n")]
    assert lines == [
        "table = pd.DataFrame({'name': ['b', 'a', 'c'], 'mean': [4.0, 2.0, 1.0], 'n': [3, 2, 1]})",
        "f(table) gave", "        mean  n", "  name", "  b        4  3", "  a      2.5  2", "  c        1  1",
        "it should be", "        mean  n", "  name", "  b        4  3", "  a        2  2", "  c        1  1",
    ]  # fmt: skip
    with pytest.raises(CheckFailed, match="In row 50, column 'b'") as failed:
        assert_matches(put(LONG, 50, "b", 2.0), LONG)
    assert "  50  50   2\n" in failed.value.example
    assert "(rows from position 48 on, out of 100)" in failed.value.example
    assert "90" not in failed.value.example


def test_what_is_shown_is_bounded():
    """The rows, columns and strings of a large table are cut. A string that looks like a number is quoted."""
    wide = pd.DataFrame([[0.5] * 40] * 3000).assign(text="x" * 5000)
    assert len(show(wide)) < 3000
    assert show(wide).endswith("… and 2,988 more rows")
    assert show(pd.DataFrame({"a": ["3", "x"]})).split() == ["a", "0", "'3'", "1", "x"]


PASTED = [
    TABLE, NAMED, MEANS, TABLE.iloc[:0], pd.DataFrame(), pd.DataFrame([[1, 2.5]], columns=["a", "a"]), pd.NA, pd.Timestamp("2024-05-01 12:30"),
    TABLE.assign(d=pd.to_datetime(["2024-05-01", None, "2024-05-02"]), c=pd.Categorical(list("aba")), f=np.float32([0.5, np.nan, np.inf])),
    pd.Series(pd.to_datetime(["2024-05-01 10:00", "2024-05-01 11:00:00.5"], format="ISO8601").tz_localize("Europe/Berlin")),
    pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", None])),
    pd.cut(pd.Series([1, 2]), 2), pd.Index(["a", None], name="q"), pd.Series([True, None, "x"], dtype=object),
]  # fmt: skip


@pytest.mark.parametrize("value", PASTED, ids=range(len(PASTED)))
def test_a_table_is_ready_to_paste(value):
    """The pasted line creates the same table again, including dtypes and labels."""
    names = {"pd": pd, "np": np}
    exec(paste("table", value), names)  # noqa: S102 - our own text
    assert_matches(names["table"], value, column_order=True, names=not isinstance(value, pd.Index), dtypes=False)
    assert equal(names["table"], value)


def test_a_large_table_is_described():
    """A large table is described by its size and its first rows."""
    assert paste("table", LONG).split("\n")[0] == "table is a DataFrame of 100 rows and 2 columns that starts with"
    assert len(paste("table", LONG).split("\n")) == 5


def test_cells_that_are_neither_numbers_nor_text_are_compared():
    """Periods, and integers that are too large for a float, are compared correctly."""
    months = pd.Series(pd.period_range("2024-01", periods=3, freq="M"))
    factorials = pd.Series([math.factorial(n) for n in range(200)])
    labelled = pd.DataFrame({"a": [1, 2, 3]}, index=pd.PeriodIndex(months))
    for right in (months, months[0], factorials, labelled):
        assert matches(right, right) is None
    assert matches(pd.Timestamp("2024-05-01"), dt.datetime(2024, 5, 1)) is None  # noqa: DTZ001 - neither has a time zone
    assert matches(pd.Timedelta("1s"), dt.timedelta(seconds=1)) is None
    assert matches(months + 1, months).reason.startswith("At 0, there is 2024-02 instead of 2024-01")
    for found, right in (
        (factorials, factorials + 1),
        (factorials, pd.Series(np.ones(200))),
        (pd.Series(np.ones(200)), factorials),
    ):
        assert matches(found, right).kind == "values"
