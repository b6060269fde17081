"""Test that hostile tables and pictures gain no marks, get a short message, and do not affect the next notebook."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from autograder.checking.asserts import CheckFailed, assert_matches, assert_same_plot
from autograder.checking.plots import plot_probe_text
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.proxies import StudentProxy
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import Call, CodeCell, Limits

TABLE = pd.DataFrame({"g": ["a", "b", "a"], "x": [1.0, 2.0, 4.0]})
RIGHT = TABLE.groupby("g")[["x"]].mean()
IMPORTS = "import numpy as np\nimport pandas as pd\n"

TABLES = {
    "a class that equals everything": (
        """
class Mine(pd.DataFrame):
    __hash__ = None
    def __eq__(self, other): return True
    def equals(self, other): return True
    values = property(lambda self: np.array([[2.5], [2.0]]))
    dtypes = property(lambda self: {})
    def __len__(self): return 2
    def __iter__(self): return iter(["x"])
def f(table): return Mine({"wrong": [1]})
""",
        "It has a column 'wrong' instead of 'x'.",
    ),
    "cells that lie about their class": (
        """
class Liar:
    __class__ = float
    def __eq__(self, other): return True
    def __float__(self): return 2.5
    def __len__(self): return 1
def f(table): return pd.DataFrame({"x": [Liar(), Liar()]}, index=pd.Index(["a", "b"], name="g"))
""",
        "In row 'a', column 'x', there is a Liar instead of 2.5 (2 of 2 cells differ).",
    ),
    "a million rows": (
        "def f(table): return pd.DataFrame({'x': np.zeros(10**6, dtype='f4')})",
        "it is a DataFrame of 1,000,000 rows and 1 column, but at most 200,000 rows",
    ),
    "columns of unequal lengths": (
        """
def f(table):
    made = pd.DataFrame({"x": [1.0, 2.0]})
    made._mgr.axes[1] = pd.RangeIndex(10**6)
    return made
""",
        "it is a DataFrame of 1,000,000 rows and 1 column, but at most 200,000 rows",
    ),
    "a cell that is nested deep": (
        """
def f(table):
    inside = 2.5
    for _ in range(5000): inside = [inside]
    return pd.DataFrame({"x": [inside, 2.0]}, index=pd.Index(["a", "b"], name="g"))
""",
        "In row 'a', column 'x', there is [[[[[[…]]]]]] instead of 2.5.",
    ),
    "a table that holds itself": (
        """
def f(table):
    made = pd.DataFrame({"x": pd.Series([1.0, 2.0], dtype=object)}, index=pd.Index(["a", "b"], name="g"))
    made.iat[0, 0] = made
    return made
""",
        "In row 'a', column 'x', there is",
    ),
    "labels that cannot be looked up": (
        "def f(table):\n    made = pd.Series([1, 2], dtype=object)\n    made.index = pd.Index([(), ([],)], tupleize_cols=False)\n    return made",
        "It is a Series of 2 values instead of a DataFrame with the column 'x'.",
    ),
    "pandas exchanged": (
        "class Fake:\n    shape = (2, 1)\npd.DataFrame = pd.Series = Fake\ndef f(table): return Fake()",
        "",
    ),
    "methods exchanged": (
        "pd.DataFrame.iloc = property(lambda self: 1 / 0)\ndef f(table): return table",
        "",
    ),
    "a forged description": (
        """
import sys
def f(table):
    wire = sys.modules["guest.wire"]
    wire.Encoder.__call__ = lambda self, value, depth=0: ["T", ["t", "frame", ["t", "range", None, 0, 10**12, 1], 1, 2]]
    return [1]
""",
        "",
    ),
}  # fmt: skip

PLOTS = {
    "a million points": (
        "import matplotlib.pyplot as plt\ndef f(table): plt.plot(np.zeros(10**6))",
        "f draws 2,000,000 numbers, but at most 200,000 can be checked.",
    ),
    "a figure that lies": (
        """
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
class Mine(Figure):
    axes = property(lambda self: [Anything()])
class Anything:
    def __getattr__(self, name): return Anything()
    def __call__(self, *a, **k): return Anything()
    def __eq__(self, other): return True
    def __iter__(self): return iter(())
    def __len__(self): return 0
def f(table): return Mine()
""",
        "",
    ),
    "an answer that was written by hand": (
        """
import sys
def f(table):
    sys._getframe(1).f_globals["_picture"] = lambda *a: {"axes": [{"bars": [{"at": "ab", "left": 1, "width": [], "height": {}}]}], "title": 1}
""",
        "",
    ),
    "figures without end": (
        "import matplotlib.pyplot as plt\ndef f(table):\n    while True: plt.figure()",
        "",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def worker():
    """A sandboxed worker that runs all attacks, one after another."""
    limits = Limits(call_seconds=2.0, cell_seconds=2.0, submission_seconds=15.0, memory_mb=400, result_mb=16)
    with open_worker(limits, ["numpy", "pandas", "matplotlib"], confinement="bubblewrap") as worker:
        yield worker


def asked(worker, source, look):
    """Return the message with which the check ``look`` rejects the function ``f`` that ``source`` defines."""
    with closing(worker.open([CodeCell(0, "cell 1", IMPORTS + source)])) as session:
        assert session.cells[0].error is None
        student = StudentProxy(ExerciseSession(lambda: session))
        with pytest.raises(CheckFailed) as failed:
            look(student)
    with closing(worker.open([CodeCell(0, "cell 1", "def f(table): return table")])) as session:
        assert_matches(session.call(Call("f", (TABLE,))).value, TABLE)  # the next notebook works
    return failed.value.reason


@pytest.mark.parametrize(("source", "sentence"), TABLES.values(), ids=TABLES.keys())
def test_a_hostile_table_gains_nothing(worker, source, sentence):
    """A hostile table does not equal the right one, whatever its classes return."""
    reason = asked(worker, source, lambda student: assert_matches(student.f(TABLE), RIGHT))
    assert sentence in reason
    assert 0 < len(reason) < 1000


@pytest.mark.parametrize(("source", "sentence"), PLOTS.values(), ids=PLOTS.keys())
def test_a_hostile_picture_gains_nothing(worker, source, sentence):
    """A hostile figure, or forged data in place of a figure, does not equal the right picture."""
    series = {"at": ["a"], "left": np.array([0.0]), "width": np.array([1.0]), "height": np.array([2.0]), "label": ""}
    right = {
        "axes": [{"bars": [series], "lines": [], "points": [], "images": [], "wedges": [], "areas": []}],
        "title": "",
    }
    probe = plot_probe_text(texts=False)
    assert_same_plot(right, right, parts="data")
    reason = asked(
        worker, source, lambda student: assert_same_plot(student.probe(probe, "f", TABLE), right, parts="data")
    )
    assert sentence in reason
    assert 0 < len(reason) < 1000
