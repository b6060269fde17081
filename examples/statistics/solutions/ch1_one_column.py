"""Reference solutions of chapter 1: one column, its middle, its ends, and its picture."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from autograder.checking import choice, number, quiz


def summary(pupils, column):
    """Describe one column of numbers by a Series labeled "there", "missing", "mean" and "median", in this order.

    "there" is how many values are there, "missing" how many are not. The mean and the median are those of the values that are
    there, or missing if no value is there. Columns are "height" (0 to 250) and "minutes" (0 to 300).
    """
    values = pupils[column]
    return pd.Series(
        {"there": values.count(), "missing": values.isna().sum(), "mean": values.mean(), "median": values.median()}
    )


def tallest(pupils, n):
    """Return the `n` (1 to 5) tallest pupils, tallest first, as a table with the columns "name" and "height".

    Pupils who are equally tall stay in the order of `pupils`. Pupils without a height are left out. If
    fewer than `n` pupils have a height, return all of these. Each row keeps its label. Heights are from 0 to 250.
    """
    known = pupils.dropna(subset=["height"])
    return known.sort_values("height", ascending=False, kind="stable").head(n)[["name", "height"]]


def draw_heights(pupils, width):
    """Draw a histogram of the heights from 120 cm to 180 cm, with bars that are `width` cm wide.

    The picture has a title, and both of its axes have a label. `width` is 5, 10 or 20.
    """
    plt.hist(pupils["height"].dropna(), bins=np.arange(120, 181, width))
    plt.title("How tall the pupils are")
    plt.xlabel("height (cm)")
    plt.ylabel("pupils")


HINTS = """Write the twenty numbers in a row, from the smallest to the largest, and change the last number.

You cannot add up an unknown value. Can you count it?"""

quiz_ch1 = quiz("quiz_ch1", points=2, hints=HINTS, questions={
    "q1": choice("what one very large value moves", right="a", wrong={
        "b": "The median is the value in the middle of the row. Make the last value a thousand times larger, and the middle stays the same.",
        "c": "One of the two adds up all values, including the very large one. The other only looks for the value in the middle.",
    }),
    "q2": number("a mean of values with one missing", right=4.0, within=0.01, wrong={
        12.0: "This is the sum. To get the mean, divide it by the number of values. How many values are there?",
        3.0: "You divided by 4, as if the missing value were 0. But it is unknown, not 0.",
    }),
})  # fmt: skip
