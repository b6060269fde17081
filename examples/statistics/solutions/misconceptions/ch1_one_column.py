"""Wrong solutions of chapter 1, each one mistake away from the reference."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from autograder.misconception import misconceptions_of

wrong = misconceptions_of("summary")


def _described(values, **other):
    found = {"there": values.count(), "missing": values.isna().sum(), "mean": values.mean(), "median": values.median()}
    return pd.Series({**found, **other})


@wrong
def counts_every_row(pupils, column):
    """You counted every row as a value that is there, those with nothing in them too. `len` counts rows; which method of a Series
    counts only the values that are there?"""
    return _described(pupils[column], there=len(pupils))


@wrong
def missing_taken_for_zero(pupils, column):
    """Your mean takes a missing value for a 0. A pupil whose height nobody noted is not 0 cm tall: what is not known can only be
    left out, of the sum and of the number that it is divided by."""
    return _described(pupils[column], mean=pupils[column].fillna(0).mean())


@wrong
def mean_and_median_exchanged(pupils, column):
    """Your mean is the median, and your median is the mean. Which of the two adds everything up, and which looks for the one in
    the middle?"""
    return _described(pupils[column], mean=pupils[column].median(), median=pupils[column].mean())


@wrong
def halfway_between_the_ends(pupils, column):
    """Your median is halfway between the smallest and the largest value. The median has as many values below it as above it,
    wherever the ends are: one giant would move yours."""
    return _described(pupils[column], median=(pupils[column].min() + pupils[column].max()) / 2)


wrong = misconceptions_of("tallest")


@wrong
def smallest_first(pupils, n):
    """Your table begins with the smallest pupils. `sort_values` goes upwards unless it is told otherwise: which word turns it round?"""
    return pupils.dropna(subset=["height"]).sort_values("height", kind="stable").head(n)[["name", "height"]]


@wrong
def cut_before_sorted(pupils, n):
    """You took the first `n` rows and sorted these. The tallest may stand anywhere in the table: sort all of it, and cut then."""
    known = pupils.dropna(subset=["height"]).head(n)
    return known.sort_values("height", ascending=False, kind="stable")[["name", "height"]]


@wrong
def labels_counted_anew(pupils, n):
    """Your rows are the right ones, and you numbered them anew: their labels no longer say where in `pupils` they stand. Which step
    does that, and is it asked for?"""
    known = pupils.dropna(subset=["height"]).sort_values("height", ascending=False, kind="stable")
    return known.head(n)[["name", "height"]].reset_index(drop=True)


@wrong
def without_a_height_too(pupils, n):
    """Where fewer pupils than `n` have a height, your table goes on with pupils who have none. `sort_values` puts what is missing
    at the end: when do those have to leave?"""
    return pupils.sort_values("height", ascending=False, kind="stable").head(n)[["name", "height"]]


@wrong
def the_later_of_equals_first(pupils, n):
    """Of two pupils who are equally tall, your table has the one first who stands further down. Turning a sorted table round turns
    those round as well who are equal."""
    known = pupils.dropna(subset=["height"]).sort_values("height", kind="stable")
    return known.iloc[::-1].head(n)[["name", "height"]]


@wrong
def drops_from_the_table_itself(pupils, n):
    """Your function throws pupils out of the table that it was given: after the call they are gone for everybody else, too. What does
    `inplace=True` do, and what comes back without it?"""
    pupils.dropna(subset=["height"], inplace=True)
    return pupils.sort_values("height", ascending=False, kind="stable").head(n)[["name", "height"]]


wrong = misconceptions_of("draw_heights")


def _histogram(values, bins, **options):
    plt.hist(values, bins=bins, **options)
    plt.title("Heights")
    plt.xlabel("height (cm)")
    plt.ylabel("pupils")


@wrong
def as_many_bars_as_wide(pupils, width):
    """You drew `width` bars. `bins` with a single number says how many bars there are, and not how wide they are: it takes a list of
    edges as well."""
    _histogram(pupils["height"].dropna(), width, range=(120, 180))


@wrong
def the_last_bar_forgotten(pupils, width):
    """Your bars end one too early: the tallest pupils are in none of them. An end that `range` or `np.arange` is given does not
    come itself, and n bars have n + 1 edges."""
    _histogram(pupils["height"].dropna(), np.arange(120, 180, width))


@wrong
def from_the_smallest_pupil_on(pupils, width):
    """Your bars begin at the smallest pupil instead of at 120 cm. Two such pictures, of two classes, could not be laid beside each
    other: their bars stand for different heights."""
    low = pupils["height"].min()
    _histogram(pupils["height"].dropna(), low + np.arange(0, 61, width))


@wrong
def each_bar_holds_those_before(pupils, width):
    """Each of your bars counts the pupils of all the bars to its left, too, so that they only ever grow. A histogram's bar counts
    those between its own two edges."""
    _histogram(pupils["height"].dropna(), np.arange(120, 181, width), cumulative=True)


@wrong
def shares_instead_of_counts(pupils, width):
    """Your bars are as high as the density, so that their areas add up to 1. What is asked for is how many pupils there are."""
    _histogram(pupils["height"].dropna(), np.arange(120, 181, width), density=True)
