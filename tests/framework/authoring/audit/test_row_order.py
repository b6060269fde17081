"""Tests of mutants that only reorder the rows of a table, if the checks ignore the order of rows."""

import pytest

from autograder.authoring.audit import audit
from tests.support.chapters import course_of

SOLUTION = '''
import pandas as pd

def totals(sales):
    """Return the total of `amount` for each `shop`, as a table with these two columns."""
    return sales.groupby("shop", as_index=False)["amount"].sum()
'''
CHECKS = '''
import pandas as pd
from autograder.checking import check, exercise

SALES = pd.DataFrame({"shop": ["Ulm", "Kiel", "Ulm"], "amount": [1.0, 2.0, 4.0]})

@exercise("totals", points=1)
class TestTotals:
    @check(points=1, visible=True)
    def test_two_shops(self, agrees):
        """the totals of two shops"""
        agrees(OPTIONS).totals(SALES)
'''


@pytest.mark.parametrize("options", ["row_order=False", "index=False"])
def test_another_order_of_rows_is_right_if_rows_may_be_in_any_order(tmp_path, options):
    """A mutant that only reorders rows is equivalent if the checks ignore the order of rows. Otherwise it is killed."""
    files = {"solutions/ch1.py": SOLUTION, "tests/chapters/test_ch1.py": CHECKS.replace("OPTIONS", options)}
    [report] = audit(
        course_of(tmp_path, "ch1", files, imports="import pandas as pd", packages=("numpy", "pandas")), ["ch1"]
    )
    [found] = report.exercises
    reordered = [label for label in found.equivalent if "sort=False" in label]
    assert bool(reordered) == (options == "row_order=False")
    assert all(found.equivalent[label] == "gives the same rows in a different order, and no check compares the order" for label in reordered)  # fmt: skip
    assert not any("sort=False" in label for label in found.survivors)
