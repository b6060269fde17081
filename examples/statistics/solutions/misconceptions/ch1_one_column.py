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
    """You counted every row as a value, including rows without a value. `len` counts rows. Which method of a Series
    counts only the values that are there?"""
    return _described(pupils[column], there=len(pupils))


@wrong
def missing_taken_for_zero(pupils, column):
    """Your mean treats a missing value as 0. A pupil of unknown height is not 0 cm tall. Leave unknown values out of
    both the sum and the number that you divide by."""
    return _described(pupils[column], mean=pupils[column].fillna(0).mean())


@wrong
def mean_and_median_exchanged(pupils, column):
    """Your mean is the median, and your median is the mean. Which of the two adds everything up, and which looks for
    the value in the middle?"""
    return _described(pupils[column], mean=pupils[column].median(), median=pupils[column].mean())


@wrong
def halfway_between_the_ends(pupils, column):
    """Your median is halfway between the smallest and the largest value. The median has as many values below it as
    above it, wherever the ends are. A single very tall pupil would change your answer."""
    return _described(pupils[column], median=(pupils[column].min() + pupils[column].max()) / 2)


wrong = misconceptions_of("tallest")


@wrong
def smallest_first(pupils, n):
    """Your table begins with the smallest pupils. `sort_values` sorts upwards by default. Which option reverses
    that?"""
    return pupils.dropna(subset=["height"]).sort_values("height", kind="stable").head(n)[["name", "height"]]


@wrong
def cut_before_sorted(pupils, n):
    """You took the first `n` rows and then sorted them. The tallest pupils can be anywhere in the table, so sort the
    whole table before you cut it."""
    known = pupils.dropna(subset=["height"]).head(n)
    return known.sort_values("height", ascending=False, kind="stable")[["name", "height"]]


@wrong
def labels_counted_anew(pupils, n):
    """You have the right rows, but you gave them new labels, which no longer say where each row is in `pupils`. Which
    step makes new labels, and does the exercise ask for it?"""
    known = pupils.dropna(subset=["height"]).sort_values("height", ascending=False, kind="stable")
    return known.head(n)[["name", "height"]].reset_index(drop=True)


@wrong
def without_a_height_too(pupils, n):
    """If fewer than `n` pupils have a height, your table goes on with pupils who have none. `sort_values` puts missing
    values at the end. When should you remove them?"""
    return pupils.sort_values("height", ascending=False, kind="stable").head(n)[["name", "height"]]


@wrong
def the_later_of_equals_first(pupils, n):
    """If two pupils are equally tall, your table puts the later one first. Reversing a sorted table also reverses the
    order of equally tall pupils."""
    known = pupils.dropna(subset=["height"]).sort_values("height", kind="stable")
    return known.iloc[::-1].head(n)[["name", "height"]]


@wrong
def drops_from_the_table_itself(pupils, n):
    """Your function removes pupils from the table that it was given, so after the call they are gone for everybody else
    too. What does `inplace=True` do, and what do you get back without it?"""
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
    """You drew `width` bars. If `bins` is a single number, it sets how many bars there are, not how wide they are. But
    `bins` can also be a list of edges."""
    _histogram(pupils["height"].dropna(), width, range=(120, 180))


@wrong
def the_last_bar_forgotten(pupils, width):
    """Your bars end one bar too early, so the tallest pupils are in none of them. `range` and `np.arange` leave out
    their end, and n bars need n + 1 edges."""
    _histogram(pupils["height"].dropna(), np.arange(120, 180, width))


@wrong
def from_the_smallest_pupil_on(pupils, width):
    """Your bars begin at the smallest pupil instead of at 120 cm. You could not compare the pictures of two classes
    this way, because their bars would be for different heights."""
    low = pupils["height"].min()
    _histogram(pupils["height"].dropna(), low + np.arange(0, 61, width))


@wrong
def each_bar_holds_those_before(pupils, width):
    """Each of your bars also counts the pupils of all the bars to its left, so the bars only grow. A bar of a histogram
    counts the pupils between its own two edges."""
    _histogram(pupils["height"].dropna(), np.arange(120, 181, width), cumulative=True)


@wrong
def shares_instead_of_counts(pupils, width):
    """The height of your bars is the density, so their areas add up to 1. Show the number of pupils instead."""
    _histogram(pupils["height"].dropna(), np.arange(120, 181, width), density=True)
