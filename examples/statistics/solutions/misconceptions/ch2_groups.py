"""Wrong solutions of chapter 2, each one mistake away from the reference."""

import pandas as pd

from autograder.misconception import misconceptions_of
from solutions.ch2_groups import WAYS

wrong = misconceptions_of("by_class")


@wrong
def pupils_who_answered(pupils):
    """Your column "pupils" counts only those whose minutes are known. "count" leaves out what is missing; how many rows a group has is
    another question."""
    return pupils.groupby("class")["minutes"].agg(pupils="count", mean="mean", median="median")


@wrong
def one_mean_for_all(pupils):
    """Every row of yours has the mean of the whole table. It is worked out once, outside of the groups: which group should each
    row's mean be of?"""
    found = pupils.groupby("class")["minutes"].agg(pupils="size", mean="mean", median="median")
    return found.assign(mean=pupils["minutes"].mean())


@wrong
def mean_and_median_exchanged(pupils):
    """The numbers in "mean" are medians, and those in "median" are means. In `agg(name="what")` the name comes first."""
    return pupils.groupby("class")["minutes"].agg(pupils="size", mean="median", median="mean")


@wrong
def class_as_a_column(pupils):
    """Your classes stand in a column, and the rows are labelled 0, 1, 2. A row is asked for by its label: what would
    `by_class(pupils).loc["5a"]` give? Which option of `groupby`, or which step after it, makes a column of the labels?"""
    return pupils.groupby("class")["minutes"].agg(pupils="size", mean="mean", median="median").reset_index()


@wrong
def in_the_order_of_the_table(pupils):
    """Your classes stand in the order in which they come in `pupils`, which is nobody's order. A reader looks them up by the alphabet."""
    return pupils.groupby("class", sort=False)["minutes"].agg(pupils="size", mean="mean", median="median")


@wrong
def sorts_the_table_itself(pupils):
    """Your function sorts the table that it was given, and leaves it in another order to whoever uses it next. `groupby` needs no sorted
    table, and `sort_values` gives a new one unless it is told `inplace=True`."""
    pupils.sort_values("class", inplace=True)
    return pupils.groupby("class")["minutes"].agg(pupils="size", mean="mean", median="median")


wrong = misconceptions_of("shares")


def _counts(pupils):
    return pd.crosstab(pupils["class"], pupils["travel"]).reindex(columns=WAYS, fill_value=0)


@wrong
def counts(pupils):
    """You counted pupils. Two classes of different size can only be compared by shares: what has each count to be divided by?"""
    return _counts(pupils)


@wrong
def shares_of_the_whole_school(pupils):
    """You divided by the number of all pupils, so that the whole table adds up to 1, and not each of its rows. A small class then
    looks as if nobody in it went anywhere."""
    return _counts(pupils) / len(pupils)


@wrong
def shares_of_each_way(pupils):
    """Your columns add up to 1, and your rows do not: you found out to which class those on the bus belong. Asked is how
    each class comes to school."""
    found = _counts(pupils)
    return found / found.sum(axis=0)


@wrong
def nobody_is_missing_instead_of_0(pupils):
    """Where nobody of a class comes in some way, your table has a missing value. That is known, though: it is 0. Missing would say
    that nobody asked."""
    found = pupils.groupby("class")["travel"].value_counts(normalize=True).unstack()
    return found.reindex(columns=WAYS)


@wrong
def ways_of_one_class_left_out(pupils):
    """Your table has only the ways in which somebody comes. Where nobody takes the car in all of the table, the column "car" is
    still asked for: full of zeros."""
    return pd.crosstab(pupils["class"], pupils["travel"], normalize="index")
