"""Right solutions of chapter 2, written differently."""

import numpy as np
import pandas as pd

from autograder.misconception import alternatives_of
from solutions.ch2_groups import WAYS

right = alternatives_of("by_class")


@right.worth_reading
def column_by_column(pupils):
    """Each column by itself, and all of them joined by their labels."""
    minutes = pupils.groupby("class")["minutes"]
    return pd.DataFrame({"pupils": minutes.size(), "mean": minutes.mean(), "median": minutes.median()})


@right
def class_by_class(pupils):
    """A loop over the classes."""
    rows = {}
    for name in sorted(pupils["class"].unique()):
        minutes = pupils.loc[pupils["class"] == name, "minutes"]
        rows[name] = {"pupils": len(minutes), "mean": minutes.mean(), "median": minutes.median()}
    return pd.DataFrame.from_dict(rows, orient="index")


@right
def with_two_tables(pupils):
    """How many there are comes from another table than what is known of them."""
    known = pupils.groupby("class")["minutes"].agg(["mean", "median"])
    known.insert(0, "pupils", pupils["class"].value_counts())
    return known


right = alternatives_of("shares")


@right.worth_reading
def each_way_a_column_of_yes_and_no(pupils):
    """The mean of yes and no, as 1 and 0, is the share of yes."""
    yes = pd.DataFrame({way: pupils["travel"] == way for way in WAYS})
    return yes.groupby(pupils["class"]).mean()


@right
def counted_within_each_class(pupils):
    """`value_counts` of each group, with the ways moved up into columns."""
    found = pupils.groupby("class")["travel"].value_counts(normalize=True).unstack(fill_value=0)
    return found.reindex(columns=WAYS, fill_value=0)


@right
def row_by_row(pupils):
    """A loop, and a table of what it counted."""
    classes = sorted(set(pupils["class"]))
    found = pd.DataFrame(np.zeros((len(classes), len(WAYS))), index=classes, columns=WAYS)
    for name, way in zip(pupils["class"], pupils["travel"], strict=True):
        found.loc[name, way] += 1
    return found.div(found.sum(axis=1), axis=0)
