"""Right solutions of chapter 1, written differently."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from autograder.misconception import alternatives_of

right = alternatives_of("summary")


@right.worth_reading
def by_their_names(pupils, column):
    """`agg` computes several values at once, each by its name."""
    values = pupils[column]
    found = values.agg(["count", "mean", "median"]).rename({"count": "there"})
    found["missing"] = len(values) - found["there"]
    return found[["there", "missing", "mean", "median"]]


@right
def what_is_there_first(pupils, column):
    """The missing ones leave first."""
    there = pupils[column].dropna()
    numbers = [len(there), len(pupils) - len(there), there.mean(), there.median()]
    return pd.Series(numbers, index=["there", "missing", "mean", "median"])


@right
def by_hand(pupils, column):
    """With nothing but a sorted list."""
    values = sorted(float(v) for v in pupils[column] if not pd.isna(v))
    n = len(values)
    mean = sum(values) / n if n else np.nan
    median = (values[(n - 1) // 2] + values[n // 2]) / 2 if n else np.nan
    return pd.Series({"there": n, "missing": len(pupils) - n, "mean": mean, "median": median})


right = alternatives_of("tallest")


@right.worth_reading
def the_n_largest(pupils, n):
    """`nlargest` sorts and cuts in one step, and keeps the first of equal rows first."""
    return pupils.dropna(subset=["height"]).nlargest(n, "height")[["name", "height"]]


@right
def by_places(pupils, n):
    """The places of the rows, sorted by height."""
    known = pupils[pupils["height"].notna()]
    order = np.argsort(-known["height"].to_numpy(), kind="stable")
    return known.iloc[order[:n]][["name", "height"]]


@right
def by_rank(pupils, n):
    """Each pupil's rank, first."""
    ranks = pupils["height"].rank(ascending=False, method="first").dropna().sort_values()
    return pupils.loc[ranks.index[:n], ["name", "height"]]


right = alternatives_of("draw_heights")


@right
def on_axes_of_its_own(pupils, width):
    """With a figure and axes, handed back."""
    figure, axes = plt.subplots()
    axes.hist(pupils["height"], bins=range(120, 181, width), color="grey", edgecolor="white")
    axes.set(title="Heights", xlabel="cm", ylabel="how many")
    return figure


@right
def counted_first(pupils, width):
    """The counts are worked out, and drawn as bars."""
    edges = np.arange(120, 180 + width, width)
    counts, _ = np.histogram(pupils["height"].dropna(), edges)
    plt.bar(edges[:-1], counts, width=width, align="edge")
    plt.title("Heights of the pupils")
    plt.xlabel("height in cm")
    plt.ylabel("number of pupils")
    plt.show()


@right.worth_reading
def by_the_tables_own_method(pupils, width):
    """pandas can draw too, and returns the axes."""
    axes = pupils["height"].plot.hist(bins=range(120, 181, width), title="Heights")
    axes.set(xlabel="height (cm)", ylabel="pupils")
    return axes
