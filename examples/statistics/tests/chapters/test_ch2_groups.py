"""The checks of chapter 2."""

import numpy as np
import pandas as pd

from autograder.checking import Contract, all_categories, among, check, exercise, pure, real, table

FEW = pd.DataFrame(
    {
        "class": ["6a", "5a", "5b", "5a", "5b", "5a"],
        "travel": ["bus", "walk", "bike", "bus", "walk", "walk"],
        "minutes": [30.0, 10.0, 12.0, 40.0, np.nan, 7.0],
    }
)
CLASSES, TRAVEL = among("5a", "5b", "6a"), among("walk", "bike", "bus", "car")


TRAVELLERS = table({"class": CLASSES, "travel": TRAVEL}, rows=(1, 50))
MINUTES = table({"class": CLASSES, "minutes": real(0, 300)}, rows=(1, 50), missing="minutes")


@exercise("by_class", points=5, takes=Contract({"pupils": MINUTES}))
class TestByClass:
    """`pupils.groupby("class")["minutes"]` is one column of minutes for each class. Ask it for its `mean()` and look at what comes.

    `agg` asks several things at once, and names them: `agg(shortest="min", longest="max")`.

    "size" and "count" are two different questions about a group. Which of them leaves out what is missing?
    """

    @check(points=1, visible=True)
    def test_three_classes(self, agrees):
        """six pupils of three classes, of whom one did not say how long it takes"""
        agrees.by_class(FEW)

    @check(points=1, visible=True, after="test_three_classes")
    def test_nobody_said(self, agrees):
        """a class of which nobody is known to need any minutes"""
        agrees.by_class(pd.DataFrame({"class": ["5b", "5a", "5b"], "minutes": [3.0, np.nan, 5.0]}))

    test_every_kind = all_categories(points=2, after="test_three_classes")

    test_care = pure(points=1, after="test_three_classes")


@exercise("shares", points=5, takes=Contract({"pupils": TRAVELLERS}))
class TestShares:
    """`pd.crosstab` counts pairs: how many pupils there are of each class and each way to school.

    What does a row have to be divided by, so that it adds up to 1? `div(..., axis=0)` divides each row by a number of its own.

    `reindex(columns=…, fill_value=0)` gives a table the columns that you name, also those that it did not have.
    """

    @check(points=1, visible=True)
    def test_three_classes(self, agrees):
        """six pupils of three classes; nobody comes by car"""
        agrees.shares(FEW)

    @check(points=1, visible=True, after="test_three_classes")
    def test_a_small_class(self, agrees):
        """the class of four beside it, of whom three walk and one cycles"""
        agrees.shares(pd.DataFrame({"class": ["5a"] * 4, "travel": ["walk", "walk", "bike", "walk"]}))

    test_every_kind = all_categories(points=2, after="test_three_classes")

    test_care = pure(points=1, after="test_three_classes")
