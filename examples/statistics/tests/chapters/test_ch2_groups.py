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
    """`pupils.groupby("class")["minutes"]` is one column of minutes for each class. Call its `mean()` and look at the
    result.

    `agg` computes several numbers at once, and names them: `agg(shortest="min", longest="max")`.

    "size" and "count" both return a number for each group. Which of them leaves out missing values?
    """

    @check(points=1, visible=True)
    def test_three_classes(self, agrees):
        """six pupils of three classes, one of them without minutes"""
        agrees.by_class(FEW)

    @check(points=1, visible=True, after="test_three_classes")
    def test_nobody_said(self, agrees):
        """a class without any known minutes"""
        agrees.by_class(pd.DataFrame({"class": ["5b", "5a", "5b"], "minutes": [3.0, np.nan, 5.0]}))

    test_every_kind = all_categories(points=2, after="test_three_classes")

    test_care = pure(points=1, after="test_three_classes")


@exercise("shares", points=5, takes=Contract({"pupils": TRAVELLERS}))
class TestShares:
    """`pd.crosstab` counts pairs: how many pupils each class has for each way to school.

    What do you divide a row by, so that it adds up to 1? `div(..., axis=0)` divides each row by its own number.

    `reindex(columns=…, fill_value=0)` gives a table all the columns that you name, and adds the missing ones.
    """

    @check(points=1, visible=True)
    def test_three_classes(self, agrees):
        """six pupils of three classes, none of whom comes by car"""
        agrees.shares(FEW)

    @check(points=1, visible=True, after="test_three_classes")
    def test_a_small_class(self, agrees):
        """a class of four: three walk, and one comes by bike"""
        agrees.shares(pd.DataFrame({"class": ["5a"] * 4, "travel": ["walk", "walk", "bike", "walk"]}))

    test_every_kind = all_categories(points=2, after="test_three_classes")

    test_care = pure(points=1, after="test_three_classes")
