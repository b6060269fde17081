"""Wrong solutions of chapter 2, each one mistake away from the reference."""

import pandas as pd

from autograder.misconception import misconceptions_of
from solutions.ch2_groups import WAYS

wrong = misconceptions_of("by_class")


@wrong
def pupils_who_answered(pupils):
    """Your column "pupils" counts only the pupils whose minutes are known, because "count" leaves out missing values.
    What gives the number of rows in a group?"""
    return pupils.groupby("class")["minutes"].agg(pupils="count", mean="mean", median="median")


@wrong
def one_mean_for_all(pupils):
    """Every row of yours has the mean of the whole table, because you compute the mean once, outside the groups. Of
    which group should each row contain the mean?"""
    found = pupils.groupby("class")["minutes"].agg(pupils="size", mean="mean", median="median")
    return found.assign(mean=pupils["minutes"].mean())


@wrong
def mean_and_median_exchanged(pupils):
    """The numbers in "mean" are medians, and the numbers in "median" are means. In `agg(name="what")`, the name comes
    first."""
    return pupils.groupby("class")["minutes"].agg(pupils="size", mean="median", median="mean")


@wrong
def class_as_a_column(pupils):
    """Your classes are in a column, and the rows are labeled 0, 1, 2. You get a row by its label: what would
    `by_class(pupils).loc["5a"]` give? Which option of `groupby`, or which step after it, turns the labels into a
    column?"""
    return pupils.groupby("class")["minutes"].agg(pupils="size", mean="mean", median="median").reset_index()


@wrong
def in_the_order_of_the_table(pupils):
    """Your classes are in the order of their first rows in `pupils`. Sort them alphabetically, so that readers can find
    a class."""
    return pupils.groupby("class", sort=False)["minutes"].agg(pupils="size", mean="mean", median="median")


@wrong
def sorts_the_table_itself(pupils):
    """Your function sorts the table that it was given, so the next function that uses it finds another order. `groupby`
    needs no sorted table, and `sort_values` gives you a new table unless you pass `inplace=True`."""
    pupils.sort_values("class", inplace=True)
    return pupils.groupby("class")["minutes"].agg(pupils="size", mean="mean", median="median")


wrong = misconceptions_of("shares")


def _counts(pupils):
    return pd.crosstab(pupils["class"], pupils["travel"]).reindex(columns=WAYS, fill_value=0)


@wrong
def counts(pupils):
    """You counted pupils. To compare two classes of different size, you need shares. By which number should you divide
    each count?"""
    return _counts(pupils)


@wrong
def shares_of_the_whole_school(pupils):
    """You divided by the number of all pupils, so the whole table adds up to 1, but not each of its rows. Then a small
    class has only small numbers in its row, however its pupils come to school."""
    return _counts(pupils) / len(pupils)


@wrong
def shares_of_each_way(pupils):
    """Your columns add up to 1, but your rows do not. So you show, for example, how the bus riders are split among the
    classes. The exercise asks how each class comes to school."""
    found = _counts(pupils)
    return found / found.sum(axis=0)


@wrong
def nobody_is_missing_instead_of_0(pupils):
    """If nobody in a class uses a way to school, your table has a missing value. But the number is known: it is 0. A
    missing value would mean that nobody asked."""
    found = pupils.groupby("class")["travel"].value_counts(normalize=True).unstack()
    return found.reindex(columns=WAYS)


@wrong
def ways_of_one_class_left_out(pupils):
    """Your table has columns only for the ways to school that occur. If nobody in the whole table takes the car, there
    should still be a column "car", full of zeros."""
    return pd.crosstab(pupils["class"], pupils["travel"], normalize="index")
