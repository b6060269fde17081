"""Tests of comparing pictures as data: equal pictures drawn in different ways, and messages about differences."""

# ruff: noqa: D103 - the functions' names describe their pictures
from __future__ import annotations

import inspect

import matplotlib as mpl
import numpy as np
import pytest

from autograder.checking.asserts import CheckFailed, assert_same_plot
from autograder.checking.plots import parts_of, plot_probe_text, same_plot
from autograder.sandbox.protocol import Source
from autograder.values import copy_argument

mpl.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

NAMES, HEIGHTS = ["a", "b", "c"], [3.0, 4.0, 2.0]
X = np.array([1.0, 2.0, 3.0, 4.0])
SAMPLE = np.array([1.0, 1.5, 2.0, 2.5, 3.5, 3.9])
EDGES = [1.0, 2.0, 3.0, 4.0]


def bars():
    """Draw the reference picture: named bars, with a title and labels."""
    _, ax = plt.subplots()
    ax.bar(NAMES, HEIGHTS)
    ax.set(title="Heights", xlabel="name", ylabel="height (m)")


def bars_on_the_current_axes():
    plt.bar(NAMES, HEIGHTS, color="red")
    plt.title("Something else")
    plt.xlabel("who")
    plt.ylabel("how high")
    plt.show()


def bars_that_lie():
    fig, ax = plt.subplots()
    ax.barh(NAMES[::-1], HEIGHTS[::-1])
    ax.set(title="t", ylabel="name", xlabel="height")
    return fig


def bars_one_by_one():
    figure = plt.figure()
    ax = figure.add_subplot()
    for name, height in zip(NAMES, HEIGHTS, strict=True):
        ax.bar(name, height)
    ax.set(xlabel="name", ylabel="height")
    figure.suptitle("t")
    plt.close(figure)
    return ax


def bars_of_a_table():
    return pd.DataFrame({"h": HEIGHTS}, index=NAMES).plot.bar(title="t", xlabel="n", ylabel="h", legend=False)


def bars_on_a_given_ax(ax):
    ax.bar([0, 1, 2], HEIGHTS, tick_label=NAMES)
    ax.set(title="t", xlabel="n", ylabel="h")


def line():
    plt.plot(X, X**2, label="square")
    plt.plot(X, X, label="itself")
    plt.legend()


def steps_in_another_order():
    fig, ax = plt.subplots()
    ax.plot(X, X, label="the line")
    ax.step(X, X**2, label="the square", where="mid")
    fig.legend()


def histogram():
    plt.hist(SAMPLE, bins=EDGES)


def histogram_as_an_outline():
    plt.hist(SAMPLE, bins=EDGES, histtype="step")


def histogram_of_bars():
    plt.bar([1.5, 2.5, 3.5], np.histogram(SAMPLE, EDGES)[0], width=0.9)


def histogram_as_stairs():
    plt.stairs(*np.histogram(SAMPLE, EDGES), fill=True)


def histogram_of_a_series():
    pd.Series(SAMPLE).hist(bins=EDGES)


def points():
    plt.scatter(X, X**2)


def points_as_markers():
    plt.plot(X[::-1], X[::-1] ** 2, "o")


def points_one_by_one():
    for x in X:
        plt.plot(x, x**2, "k.")


def grouped():
    pd.DataFrame({"u": HEIGHTS, "v": X[:3]}, index=NAMES).plot.bar()


def grouped_by_hand():
    places = np.arange(3)
    plt.bar(places + 0.2, X[:3], width=0.4, label="second")
    plt.bar(places - 0.2, HEIGHTS, width=0.4, label="first")
    plt.xticks(places, NAMES)
    plt.legend()


def image():
    plt.imshow(np.eye(3))
    plt.colorbar()


def image_as_an_array():
    plt.gca().matshow(np.eye(3).tolist())


def pie():
    plt.pie([1, 3])


def drawn(function, *, texts=False):
    """Return the probe's description of what ``function`` draws. No figure may stay open."""
    try:
        return copy_argument(Source(plot_probe_text(texts=texts), "probe"))(function)
    finally:
        assert plt.get_fignums() == []


ALIKE = {
    bars: [bars_on_the_current_axes, bars_that_lie, bars_one_by_one, bars_of_a_table, bars_on_a_given_ax],
    line: [steps_in_another_order],
    histogram: [histogram_as_an_outline, histogram_of_bars, histogram_as_stairs, histogram_of_a_series],
    points: [points_as_markers, points_one_by_one],
    grouped: [grouped_by_hand],
    image: [image_as_an_array],
    pie: [],
}


@pytest.mark.parametrize(
    ("right", "other"), [(right, other) for right, others in ALIKE.items() for other in (right, *others)]
)
def test_the_same_picture_made_in_another_way(right, other):
    """Two pictures are equal if a reader sees the same data, however they were drawn."""
    assert_same_plot(drawn(other), drawn(right))


def changed(**changes):
    """Return a function that draws the named bars with these changes."""
    given = {
        "names": NAMES,
        "heights": HEIGHTS,
        "title": "Heights",
        "xlabel": "name",
        "ylabel": "height (m)",
        **changes,
    }

    def draw():
        plt.bar(given["names"], given["heights"])
        plt.gca().set(**{key: given[key] for key in ("title", "xlabel", "ylabel")}, **given.get("more", {}))

    return draw


def title_too_late():
    """Set the title after `show`, so that it goes to a new figure, as in a notebook."""
    plt.bar(NAMES, HEIGHTS)
    plt.show()
    plt.title("Heights")


def one_line(**options):
    return lambda: plt.plot(X, options.get("y", X**2), label="square") and options.get("legend", plt.legend)()


WRONG = [
    (changed(heights=[3, 3, 2]), bars, {}, "The bar at 'b' has height 3 instead of 4."),
    (changed(heights=[1, 1, 1]), bars, {}, "The bar at 'a' has height 1 instead of 3 (3 of 3 bars differ)."),
    (changed(names=["a", "x", "c"]), bars, {}, "There is no bar at 'b', but one at 'x'."),
    (changed(names=["a", "b", "c", "d"], heights=[*HEIGHTS, 1]), bars, {}, "There is an extra bar at 'd'."),
    (changed(ylabel=""), bars, {}, "The y axis has no label."),
    (changed(xlabel="", ylabel=""), bars, {}, "The x axis and the y axis have no label."),
    (changed(title=""), bars, {}, "The plot has no title."),
    (title_too_late, bars, {"parts": "data title"}, "The plot has no title."),
    (changed(title="Other"), bars, {"texts": True}, "The title is 'Other' instead of 'Heights'."),
    (changed(more={"yscale": "log"}), bars, {}, "The y axis is log instead of linear."),
    (changed(more={"ylim": (0, 9)}), changed(more={"ylim": (0, 5)}), {"parts": "limits"}, "The y axis goes from 0 to 9 instead of from 0 to 5."),
    (line, bars, {}, "It draws no bars, but it should (it draws lines)."),
    (histogram, lambda: plt.hist(SAMPLE, bins=[1, 2, 4]), {}, "It draws 3 bars instead of 2."),
    (lambda: plt.hist(SAMPLE[1:], bins=EDGES), histogram, {}, "The bar from 1 to 2 has height 1 instead of 2."),
    (lambda: plt.hist(SAMPLE, bins=3), histogram, {}, "There is a bar from 1 to 1.967 instead of from 1 to 2."),
    (one_line(), line, {}, "It draws 1 line instead of 2."),
    (one_line(y=X**3), one_line(), {}, "The line is at y = 8 instead of 4, at x = 2."),
    (one_line(y=X**3), one_line(), {"texts": True}, "The line 'square' is at y = 8 instead of 4, at x = 2."),
    (lambda: plt.plot(X[:3], X[:3] ** 2), one_line(), {}, "The line has 3 points instead of 4."),
    (one_line(legend=int), one_line(), {}, "There is no legend."),
    (lambda: plt.scatter(X, [1, 4, 9, 15]), points, {}, "There is no point at x = 4, y = 16."),
    (lambda: plt.scatter(X[:2], X[:2]), points, {}, "It draws 2 points instead of 4."),
    (lambda: plt.pie([1, 1]), pie, {}, "A slice of the pie is 50.0% of the whole instead of 25.0%."),
    (lambda: plt.imshow(2 * np.eye(3)), image, {}, "The image differs: at index [0, 0], it is 2 instead of 1 (3 of 9 entries differ)."),
    (lambda: [a.plot(X, X) for a in plt.subplots(1, 2)[1]], points, {}, "It draws 2 plots (axes) instead of 1."),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "right", "options", "sentence"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_with_a_picture_is_said(wrong, right, options, sentence):
    """The difference is described in one sentence, as a reader of the picture would describe it."""
    texts = options.pop("texts", False) if "texts" in options else False
    with pytest.raises(CheckFailed) as failed:
        assert_same_plot(drawn(wrong, texts=texts), drawn(right, texts=texts), **options)
    assert failed.value.reason == sentence


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda: None, "draws nothing visible: no bar, line, point or image."),
        (plt.subplots, "draws nothing visible"),
        (lambda: plt.plot(np.zeros(10**6)), "draws 2,000,000 numbers, but at most 200,000 can be checked."),
    ],
)
def test_what_cannot_be_looked_at_says_why(function, sentence):
    """If a picture cannot be checked, the probe raises ``NotAsAsked`` with a sentence for the student."""
    with pytest.raises(Exception, match=sentence) as refused:
        drawn(function)
    assert type(refused.value).__name__ == "NotAsAsked"


HOSTILE = [
    None, 1, "axes", {}, {"axes": []}, {"axes": [1]}, {"axes": [{}]}, {"axes": [{"bars": 1}]}, {"axes": [{"bars": [1]}]},
    {"axes": [{"bars": [{"at": ["a"], "left": "x", "width": None, "height": []}]}]},
    {"axes": [{"bars": [{"at": [], "left": [], "width": [], "height": []}]}]},
    {"axes": [{"bars": [{"at": [[1]], "left": [0], "width": [1], "height": [[2]]}]}]},
]  # fmt: skip


@pytest.mark.parametrize("sent", HOSTILE, ids=range(len(HOSTILE)))
def test_a_process_that_sends_anything_gains_nothing(sent):
    """Data that the probe cannot have made is rejected."""
    for right in (bars, line, points, image, pie):
        finding = same_plot(sent, drawn(right), parts=("data",), rtol=1e-4, atol=1e-6)
        assert finding is not None
        assert finding.reason


def test_an_authors_slip_is_told():
    """An unknown part is rejected with a list of the known parts."""
    with pytest.raises(ValueError, match="A picture has no part 'colour': choose from data, labels, title, legend"):
        parts_of("data colour")
    assert "import autograder" not in plot_probe_text(texts=True)
    assert inspect.cleandoc(plot_probe_text(texts=False)).endswith("TEXTS = False")
