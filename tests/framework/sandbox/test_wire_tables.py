"""Tests of pandas tables in frames: what is sent arrives unchanged, and an invalid description is rejected."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import pandas as pdst

from autograder.sandbox.guest import wire, wire_tables
from autograder.sandbox.protocol import Call, CodeCell, Limits, Opaque
from autograder.sandbox.worker import open_worker
from autograder.values import copy_argument, copy_value, decode_value, encode_value, fingerprint, normalize_result
from tests.framework.sandbox.test_wire import opaque, there_and_back

MOMENTS = pd.to_datetime(["2024-05-01 12:00", None])
VALUES = {
    "numbers, text, what is missing": pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [1.5, np.nan], "d": MOMENTS}),
    "nothing": pd.DataFrame(),
    "rows without columns": pd.DataFrame(index=[3, 4]),
    "columns without rows": pd.DataFrame({"a": pd.Series(dtype="int64"), "b": pd.Series(dtype="str")}),
    "two columns of one name": pd.DataFrame([[1, "x"], [2, "y"]], columns=["a", "a"]),
    "two levels of labels": pd.Series([1, 2], index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", None])),
    "two levels of columns": pd.DataFrame({"g": ["a", "b"], "x": [1, 2]}).groupby("g").agg({"x": ["mean", "sum"]}),
    "a time zone": pd.Series(MOMENTS.tz_localize("Europe/Berlin")),
    "an offset west of Greenwich": pd.Series(pd.to_datetime(["2024-05-01 12:00-03:30"])),
    "UTC": pd.Series(MOMENTS.tz_localize("UTC")),
    "an offset": pd.Series(pd.to_datetime(["2024-05-01 12:00+02:00"])),
    "durations": pd.Series(pd.to_timedelta([1, None], unit="s")),
    "categories": pd.Series(pd.Categorical(["b", "a", None], ["b", "a"], ordered=True)),
    "intervals": pd.cut(pd.Series([1, 2, 3]), 2).value_counts(),
    "whole numbers, some missing": pd.Series([1, None], dtype="Int16"),
    "booleans, some missing": pd.Series([True, None], dtype="boolean"),
    "narrow floats": pd.DataFrame({"a": pd.array([0.1, None], dtype="Float32"), "b": np.float32([0.1, 0.2])}),
    "texts of the older kind": pd.Series(["a", None], dtype="string", name="s"),
    "objects": pd.Series([1, "a", None, pd.NA, [1, {"k": 2.5}], np.ones(2)], dtype=object),
    "periods": pd.Series(pd.period_range("2024-01", periods=2, freq="M")),
    "a range": pd.RangeIndex(2, 9, 3, name="n"),
    "an index": pd.Index(["a", "b"], name="q"),
    "a moment": pd.Timestamp("2024-05-01 12:00:00.123456789", tz="Europe/Paris"),
    "a duration": pd.Timedelta("3h"),
    "nothing known": pd.NA,
    "no moment": pd.NaT,
    "an interval": pd.Interval(0, 1.5),
    "a month": pd.Period("2024-05"),
}


def same(one, other):
    """Return whether two values have the same class and the same bytes."""
    return type(one) is type(other) and wire_tables.same_parts(wire_tables.to_parts(one), wire_tables.to_parts(other))


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_what_crosses_is_what_was_there(value):
    """Tables stay the same on the wire, in an examples file, as copied arguments, and as answers of this process."""
    assert same(there_and_back({"x": [value]})["x"][0], value)
    assert same(decode_value(json.loads(json.dumps(encode_value(value)))), value)
    for copy in (copy_value(value), copy_argument(value), normalize_result(value)):
        assert same(copy, value)
        assert fingerprint(copy) == fingerprint(value)


def test_a_copy_is_a_copy():
    """Changing a copied or received table does not change the original."""
    table = VALUES["numbers, text, what is missing"]
    for other in (copy_value(table), copy_argument(table), there_and_back(table)):
        other.iloc[0, 0] = 9
        other["new"] = 1
    assert list(table["a"]) == [1, 2]
    assert list(table.columns) == ["a", "b", "c", "d"]


columns = [
    *pdst.columns(["a", "b"], dtype=float),
    pdst.column("c", elements=st.text(max_size=3), dtype=object),
    pdst.column("d", dtype="datetime64[ns]"),
    pdst.column("e", dtype=bool),
]


@given(pdst.data_frames(columns, index=pdst.range_indexes(max_size=6)))
@settings(max_examples=40, deadline=None)
def test_any_frame_crosses(frame):
    """A table whose columns have any content arrives unchanged."""
    assert same(there_and_back(frame), frame)


class _Liar(pd.DataFrame):
    __hash__ = None
    _constructor = property(lambda _self: _Liar)
    columns = property(lambda _self: pd.Index(["right"]))
    dtypes = values = shape = property(lambda _self: (10**9, 1))

    def __eq__(self, _other):
        return True

    def __len__(self):
        return 10**9


def test_a_class_of_a_students_arrives_as_pandass_own():
    """A student's subclass arrives as pandas's own class with the stored numbers, whatever the subclass's methods return."""
    honest = pd.DataFrame({"a": [1, 2]})
    assert same(there_and_back(_Liar(honest)), honest)
    assert same(normalize_result(_Liar(honest)), honest)
    held = normalize_result(pd.Series([_Liar, object()], dtype=object))
    assert list(held) == [Opaque("type"), Opaque("object")]


ARRAYS = [np.arange(3), np.ones((2, 2)), np.array([1], "i1"), np.array([True]), np.array([2**62])]
words = st.sampled_from(
    [*wire_tables._BUILDERS, *wire_tables._COLUMNS, "range", "labels", "levels", "str", "Int64", "ns"]
)
leaves = words | st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.sampled_from(ARRAYS)
parts = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.tuples(words, inner) | st.tuples(words, inner, inner, inner), max_leaves=14
)  # fmt: skip


@given(st.tuples(words, parts) | st.tuples(words, parts, parts) | st.tuples(words, parts, parts, parts) | parts)
@settings(max_examples=400, deadline=None)
def test_random_descriptions_make_a_table_or_are_refused(described):
    """A random description makes a table or raises a ``ValueError``, but never a different error."""
    try:
        found = wire_tables.from_parts(described)
    except ValueError:
        return
    assert wire_tables.is_pandas(found)


INDEX = ("range", None, 0, 3, 1)
NAMES = ("labels", None, ("texts", "str", ["a", "b"]))
UNFIT = {
    "columns of unequal lengths": ("frame", INDEX, NAMES, [np.arange(3), np.arange(2)]),
    "a column too few": ("frame", INDEX, NAMES, [np.arange(3)]),
    "too many rows": ("frame", ("range", None, 0, 10**9, 1), NAMES, [np.arange(3), np.arange(3)]),
    "a matrix for a column": ("frame", INDEX, NAMES, [np.ones((3, 3)), np.arange(3)]),
    "an index of lists": ("index", ("labels", None, ("objects", [[1], [2]]))),
    "a name that is a list": ("series", ["x"], INDEX, np.arange(3)),
    "texts that are numbers": ("series", None, INDEX, ("texts", "str", [1, 2, 3])),
    "codes of no category": ("series", None, INDEX, ("category", np.array([0, 1, 7]), np.arange(2), False)),
    "a dtype of no list": ("series", None, INDEX, ("masked", "Int128", np.arange(3), np.zeros(3, bool))),
    "a mask too short": ("series", None, INDEX, ("masked", "Int64", np.arange(3), np.zeros(2, bool))),
    "a time zone by its path": ("moment", "ns", 0, "../../etc/passwd"),
    "a time zone of another library": ("moment", "ns", 0, "dateutil/Europe/Berlin"),
    "a time zone that is a device": ("moment", "ns", 0, "dateutil//proc/kmsg"),
    "the zone of this machine": ("moment", "ns", 0, "tzlocal()"),
    "an offset of many hours": ("moment", "ns", 0, "UTC+99:00"),
    "a time zone that is no text": ("moment", "ns", 0, 3),
    "a unit of no list": ("moment", "Y", 0, None),
    "a step of 0": ("index", ("range", None, 0, 3, 0)),
    "no word": ("eval", "1"),
}


@pytest.mark.parametrize("described", UNFIT.values(), ids=UNFIT.keys())
def test_a_description_that_does_not_fit_is_refused(described):
    """An invalid description is refused before it reaches pandas."""
    with pytest.raises(ValueError, match="table"):
        wire_tables.from_parts(described)


def test_what_is_too_large_says_how_large_it_is():
    """If a table is too large, the message gives its rows and columns, and the limit."""
    encode = wire.Encoder(opaque, 1 << 26)
    with pytest.raises(
        wire.TooBig, match="it is a DataFrame of 1,000,000 rows and 2 columns, but at most 200,000 rows"
    ):
        encode(pd.DataFrame({"a": np.zeros(10**6), "b": "x"}))
    with pytest.raises(wire.TooBig, match="it is a Series of 300,000 rows, but at most 200,000 can be checked"):
        encode([pd.Series(np.zeros(300_000))])


NOTEBOOK = """import pandas as pd, numpy as np
def means(table): return table.groupby("g")["x"].mean()
def adds(table):
    table["new"] = 1
    return [table, table["x"].max()]
def groups(table): return table.groupby("g")
def roomy(megabytes): return float(np.ones(megabytes << 17)[0])
"""


@pytest.mark.parametrize("confinement", ["bubblewrap", "landlock"])
def test_tables_in_the_jail(confinement):
    """Tables are sent and returned, a change is detected, and pandas does not count as the submission's memory."""
    table = pd.DataFrame({"g": ["a", "b", "a"], "x": [1.0, 2.0, 4.0]})
    limits = Limits(call_seconds=4.0, cell_seconds=4.0, submission_seconds=30.0, memory_mb=200)
    with open_worker(limits, ["numpy", "pandas"], confinement=confinement) as worker:
        session = worker.open([CodeCell(0, "cell 1", NOTEBOOK)])
        asked = [Call("means", (table,)), Call("adds", (table,)), Call("groups", (table,)), Call("roomy", (150,))]
        means, adds, groups, roomy = session.batch(asked)
        session.close()
    assert same(means.value, table.groupby("g")["x"].mean())
    assert means.changed == ()
    assert adds.changed == ("0",)
    assert list(adds.value[0].columns) == ["g", "x", "new"]
    assert groups.value == Opaque("DataFrameGroupBy")
    assert roomy.value == 1.0
