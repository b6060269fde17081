"""The checks of chapter 1."""

import numpy as np
import pandas as pd

from autograder.checking import Contract, all_categories, among, check, exercise, pure, real, table, whole
from solutions.ch1_one_column import quiz_ch1

FEW = pd.DataFrame(
    {
        "name": ["Ida", "Ben", "Tina", "Olno", "Ruke"],
        "height": [141.0, 150.5, np.nan, 139.5, 150.5],
        "minutes": [10.0, 25.0, 5.0, np.nan, 240.0],
    }
)
NAMES = among("Anna", "Benno", "Clara", "Dami", "Elke")
ANSWERS = table({"height": real(0, 250), "minutes": real(0, 300)}, missing=("height", "minutes"))
HEIGHTS = table({"name": NAMES, "height": real(0, 250)}, missing="height")


@exercise("summary", points=5, takes=Contract({"pupils": ANSWERS, "column": among("height", "minutes")}))
class TestSummary:
    """A Series knows how many values it has. What do `pupils["height"].count()` and `len(pupils)` give?

    `isna()` turns a column into True and False. What is the sum of those?

    `pd.Series({"a": 1, "b": 2})` makes a Series from a dictionary, with the keys as labels.
    """

    @check(points=1, visible=True)
    def test_heights(self, agrees):
        """the heights of five pupils, one of them missing"""
        agrees.summary(FEW, "height")

    @check(points=1, visible=True)
    def test_minutes(self, agrees):
        """minutes with one very large value, which does not move the median"""
        agrees.summary(FEW, "minutes")

    test_every_kind = all_categories(points=2, after="test_heights")

    test_care = pure(points=1, after="test_heights")


@exercise("tallest", points=5, takes=Contract({"pupils": HEIGHTS, "n": whole(1, 5)}))
class TestTallest:
    """There are three steps, in this order: keep the pupils who have a height, sort them, and take the first `n`.

    `sort_values` sorts upwards. Its option `ascending` reverses that, and `kind="stable"` keeps the order of equally
    tall pupils.

    `table[["name", "height"]]` is a table of these two columns.
    """

    @check(points=1, visible=True)
    def test_two_of_five(self, agrees):
        """the two tallest of five pupils, who are equally tall"""
        agrees.tallest(FEW, 2)

    @check(points=1, visible=True)
    def test_more_than_there_are(self, agrees):
        """the five tallest of five pupils, one of them without a height"""
        agrees.tallest(FEW, 5)

    test_every_kind = all_categories(points=1.5, after="test_two_of_five")

    @check(points=0.5, after="test_two_of_five")
    def test_many_equally_tall(self, agrees, rng):
        """a long table in which many pupils are equally tall"""
        heights = rng.choice([150.0, 151.0, 152.0], size=80)
        agrees.tallest(pd.DataFrame({"name": [f"P{n}" for n in range(80)], "height": heights}), 40)

    test_care = pure(points=1, after="test_two_of_five")


@exercise("draw_heights", points=4)
class TestDrawHeights:
    """`plt.hist(values, bins=edges)` draws one bar between every two neighbors in `edges`.

    How many edges do three bars have? `np.arange(0, 30, 10)` is 0, 10, 20, without its end.
    """

    @check(points=1.5, visible=True)
    def test_bars(self, agrees):
        """bars 10 cm wide, from 120 to 180 cm"""
        agrees.plot("draw_heights", FEW.assign(height=[141.0, 150.5, np.nan, 175.0, 159.9]), 10, parts="data")

    @check(points=1, visible=True, after="test_bars")
    def test_words(self, agrees):
        """a title, and a label on each axis"""
        agrees.plot("draw_heights", FEW, 20, parts="labels title")

    @check(points=1.5, after="test_bars")
    def test_other_widths(self, agrees, rng):
        """other pupils, and bars of other widths"""
        for width in (5, 10, 20):
            heights = np.round(rng.uniform(121, 180, size=30), 1)
            agrees.plot("draw_heights", pd.DataFrame({"name": "Ida", "height": heights}), width, parts="data")


TestQuiz = quiz_ch1.checks()
