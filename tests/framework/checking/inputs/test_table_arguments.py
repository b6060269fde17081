"""Test the helper ``table`` of a contract, and mutations of programs that work on tables."""

from __future__ import annotations

import ast

import pandas as pd
import pytest

from autograder.base.errors import CourseError
from autograder.checking import Contract, among, array, real, table, whole
from autograder.checking.inputs.covering import cover
from autograder.mistakes.edits.generator import Definition, edited, edits_of
from autograder.mistakes.edits.methods import other_join_or_summary, other_table_method
from autograder.mistakes.edits.operators import Scope
from autograder.values import equal, family_of

CONTRACT = Contract(
    {
        "people": table(
            {"town": among("Ulm", "Kiel"), "height": real(150, 200), "age": whole(0, 99)}, missing="height"
        ),
        "n": whole(1, 5),
    }
)


def given(drawn, name):
    """Return the table that was drawn for an argument."""
    return drawn.values[name]  # noqa: PD011 - an attribute of DrawnInput


@pytest.mark.parametrize("seed", range(5))
def test_every_category_of_table_is_drawn(seed):
    """No category is missed, each table keeps to the contract, and the same seed draws the same tables."""
    found = cover(CONTRACT, seed)
    assert found.missed == ()
    categories = {category.removeprefix("people: ") for drawn in found.inputs for category in drawn.categories}
    assert categories >= {
        "no rows", "one row", "many rows", "equal rows", "labels of its own", "labels in no order", "columns in another order",
        "a column more", "missing in height", "nothing in height", "one value in town", "ties in height", "ties in age",
        "whole numbers in height",
    }  # fmt: skip
    for drawn in found.inputs:
        people = given(drawn, "people")
        assert set(people["town"]) <= {"Ulm", "Kiel"}
        assert people["height"].dropna().between(150, 200).all()
        assert people["age"].between(0, 99).all()
        assert people["age"].dtype.kind == "i"
    again = cover(CONTRACT, seed)
    assert all(equal(given(a, "people"), given(b, "people")) for a, b in zip(found.inputs, again.inputs, strict=True))


def test_what_a_table_may_not_be_is_not_drawn():
    """A restricted table has the allowed number of rows, the default row labels and no extra columns."""
    strict = table({"x": whole(0, 9)}, rows=(2, 10), labels=False, others=False)
    for drawn in cover(Contract({"t": strict}), 1).inputs:
        assert 2 <= len(given(drawn, "t")) <= 10
        assert list(given(drawn, "t").columns) == ["x"]
        assert isinstance(given(drawn, "t").index, pd.RangeIndex)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: table({"x": whole(0, 9)}, missing="y"),
            "values may be missing in 'y', but it has no such column",
        ),
        (lambda: table({}), "it has no columns"),
        (lambda: table({"x": array("n")}), "a column must be real(…), whole(…) or among(…), not ArrayArgument"),
        (lambda: table({"x": whole(0, 9)}, rows=(5, 2)), "the first number must be at least 0, and at most the second"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(make, sentence):
    """The message says what is wrong."""
    with pytest.raises(CourseError) as refused:
        make()
    assert sentence in str(refused.value)


SPOILT = [
    pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), pd.Series([True, False]), pd.Series([1.5, None]), pd.Series(["x", None]),
    pd.DataFrame(), pd.DataFrame({"a": []}), pd.Series([], dtype=float), pd.Series(pd.to_datetime(["2024-05-01", "2024-05-02"])),
]  # fmt: skip


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("value", SPOILT, ids=range(len(SPOILT)))
def test_a_spoilt_table_is_another(value, number):
    """The audit corrupts a table to find out whether a category is covered, so the corrupted table must differ from the original."""
    assert not equal(family_of(value).perturb(value, number, 0.01), value)


SLIPS = {
    "t.nlargest(3, 'x')": "t.nsmallest(3, 'x')",
    "t['x'].median()": "t['x'].mean()",
    "t['x'].std()": "t['x'].std(ddof=0)",
    "t.sort_values('x')": "t.sort_values('x', ascending=False)",
    "t.groupby('g')": "t.groupby('g', dropna=False)",
    "t.merge(u, how='inner')": "t.merge(u, how='left')",
    "t.agg(m=('x', 'mean'))": "t.agg(m=('x', 'median'))",
    "t['x'].isna()": "t['x'].notna()",
    "t.reset_index()": "t.reset_index(drop=True)",
}


def text_of(own, edit):
    """Return the edited definition in standard formatting, or "nothing" if the edit makes invalid Python."""
    try:
        return ast.unparse(ast.parse(edited(own.text, [edit])))
    except SyntaxError:
        return "nothing"


def table_mutations(node):
    """Return the source of every table mutation of ``node``."""
    changes = [change for tried in (other_table_method, other_join_or_summary) for change in tried(node, Scope())]
    return [ast.unparse(change.replacement) for change in changes if change.mutation]


@pytest.mark.parametrize(("right", "wrong"), SLIPS.items())
def test_slips_of_tables(right, wrong):
    """The audit creates each of these mistakes, and the search for a student's wrong line undoes it."""
    [statement] = ast.parse(right).body
    assert wrong in table_mutations(statement.value)
    source = f"def f(t, u):\n    return {wrong}\n"
    own = Definition.of(ast.parse(source).body[0], source)
    assert f"return {right}" in {text_of(own, edit).splitlines()[-1].strip() for edit in edits_of(own)}


@pytest.mark.parametrize("arrays", ["np.median(x)", "x.std()", "x.sum(axis=0)", "x.max()", "w.mean(-1)"])
def test_programs_of_arrays_get_no_slips_of_tables(arrays):
    """Programs of arrays get no mutations of tables."""
    [statement] = ast.parse(arrays).body
    assert table_mutations(statement.value) == []
