"""Test packages that start threads in a sandbox that allows few threads: scikit-learn, PyArrow, and pandas with PyArrow."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from autograder.sandbox import open_worker
from autograder.sandbox.protocol import Call, Limits
from tests.framework.sandbox.conftest import cells

LIMITS = Limits(call_seconds=20.0, cell_seconds=20.0, submission_seconds=60.0)
LEARNS = """
import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

model = LogisticRegression().fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])

def learned(x, y):
    groups = KMeans(2, n_init=2, random_state=0).fit(x).labels_
    trees = RandomForestClassifier(20, n_jobs=-1, random_state=0).fit(x, y)
    own = sum(Parallel(n_jobs=8, prefer="threads")(delayed(abs)(-i) for i in range(10)))
    return LogisticRegression().fit(x, y).score(x, y), trees.score(x, y), int(len(set(groups))), own
"""
COUNTS = """
import io
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

words = pd.Series(["b", "a", "b"], dtype="string[pyarrow]")

def counted(n):
    table = pa.table({"n": range(n), "word": ["x", "y"] * (n // 2)})
    sums = table.group_by("word").aggregate([("n", "sum")]).sort_by("word")["n_sum"].to_pylist()
    read = pd.read_csv(io.StringIO("a,b\\n1,2\\n3,4"), engine="pyarrow")
    return sums, pc.max(table["n"]).as_py(), int(read["b"].sum()), sorted(words.str.upper().value_counts().to_dict().items())
"""


@pytest.mark.parametrize("confinement", ["bubblewrap", "landlock"])
def test_they_work_at_import_and_in_a_call(confinement):
    """Each package works in a fork of a process that may have imported it, and causes no warning on a student's page."""
    packages = ["numpy", "scikit-learn", "pandas", "pyarrow"]
    x = np.vstack([np.eye(3), np.eye(3) + 5.0, np.eye(3) + 5.5])
    y = np.array([0] * 3 + [1] * 6)
    with open_worker(LIMITS, packages, confinement=confinement) as worker:
        worker.prepare(cells(COUNTS))
        for source, call, right in (
            (LEARNS, Call("learned", (x, y)), (1.0, 1.0, 2, 45)),
            (COUNTS, Call("counted", (1000,)), ([249500, 250000], 999, 6, [("A", 1), ("B", 2)])),
        ):
            with closing(worker.open(cells(source))) as session:
                [cell] = session.cells
                assert (cell.error, cell.stopped, cell.outputs) == (None, "", ())
                for _ in range(2):
                    answer = session.call(call)
                    assert (answer.error, answer.stopped) == (None, "")
                    assert _plain(answer.value) == _plain(right)


def _plain(value):
    """Convert tuples to lists, because the difference does not matter here."""
    return [_plain(v) for v in value] if isinstance(value, tuple | list) else value
