"""Reference solutions of chapter 2: groups side by side."""

import pandas as pd

WAYS = ["walk", "bike", "bus", "car"]


def by_class(pupils):
    """Compare the classes: a table with a row for each class, labeled with its name, in alphabetical order.

    Its columns are "pupils" (how many pupils the class has), "mean" and "median" (of the minutes to school that are known,
    missing if none is known). Minutes are from 0 to 300.
    """
    return pupils.groupby("class")["minutes"].agg(pupils="size", mean="mean", median="median")


def shares(pupils):
    """Show how each class comes to school, in a table with a row for each class, labeled with its name, in alphabetical order.

    Its columns are the four `WAYS`, and each entry is the share of the class that comes that way: a row adds up to 1. If
    nobody in a class comes in a certain way, its share is 0.
    """
    counts = pd.crosstab(pupils["class"], pupils["travel"]).reindex(columns=WAYS, fill_value=0)
    return counts.div(counts.sum(axis=1), axis=0)
