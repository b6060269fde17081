"""Tests of reading a heatmap from matplotlib: only the values between the labels count, however they were drawn."""

import inspect

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.chapters import heatmap

mpl.use("Agg")

WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
ROWS, COLUMNS = ["sat", "on"], ["the", "cat", "the"]


@pytest.fixture
def ax():
    """Return empty Axes, which are closed after the test."""
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def label(ax, across=(0, 1, 2), down=(0, 1)):
    """Put the labels at these positions on the axes."""
    ax.set_xticks(across, COLUMNS)
    ax.set_yticks(down, ROWS)


def values(ax):
    """Return the values that are shown."""
    return heatmap.read(ax, WEIGHTS)["shown"]


def assert_whole(ax):
    """Assert that every label is found at its place, and every weight where its row and column meet."""
    found = heatmap.read(ax, WEIGHTS)
    assert (found["down"], found["across"]) == ("sat | on", "the | cat | the")
    assert np.array_equal(found["shown"], WEIGHTS)


def test_an_image_with_labels(ax):
    """Labels are read from top to bottom and from left to right. Equal labels stay separate, each with its values."""
    ax.imshow(WEIGHTS)
    label(ax)
    assert_whole(ax)


def test_the_same_picture_by_other_means(ax):
    """Origins, extents, meshes, inverted axes and reversed rows do not matter as long as values meet their labels."""
    ax.imshow(WEIGHTS[::-1], origin="lower", extent=(0, 3, 0, 2))
    label(ax, (0.5, 1.5, 2.5), (1.5, 0.5))
    assert np.array_equal(values(ax), WEIGHTS)
    ax.clear()
    ax.pcolormesh(WEIGHTS)
    ax.invert_yaxis()
    label(ax, (0.5, 1.5, 2.5), (0.5, 1.5))
    assert np.array_equal(values(ax), WEIGHTS)
    ax.clear()
    ax.pcolor([0, 1, 3, 7], [0, -2, -3], WEIGHTS)
    label(ax, (0.5, 2, 5), (-1, -2.5))
    assert np.array_equal(values(ax), WEIGHTS)


@pytest.mark.parametrize("scaled", [100 * WEIGHTS, -WEIGHTS, np.log(WEIGHTS + 0.01), np.float32(WEIGHTS)], ids=str)
def test_any_scale_is_as_good_as_another(ax, scaled):
    """If colors rise or fall with the weights everywhere, the picture shows the weights."""
    ax.imshow(scaled)
    label(ax)
    assert np.array_equal(values(ax), WEIGHTS)


def test_a_scale_for_each_row_is_not(ax):
    """If the drawn values do not follow the weights, they are returned as drawn."""
    ax.imshow(WEIGHTS / WEIGHTS.max(axis=1, keepdims=True))
    label(ax)
    assert np.allclose(values(ax), WEIGHTS / [[0.9], [0.5]])


@pytest.mark.parametrize(
    ("colors", "is_read"), [("twilight", False), ("hsv", False), ("viridis", True), ("RdBu", True)]
)
def test_a_color_map_whose_ends_look_the_same_shows_no_weights(ax, colors, is_read):
    """In a cyclic color map, the smallest and the largest weight have the same color."""
    ax.imshow(WEIGHTS, cmap=colors)
    label(ax)
    assert np.array_equal(values(ax), WEIGHTS) == is_read


def test_a_picture_on_its_side_shows_what_it_shows(ax):
    """Values are returned under the labels at which they are drawn, and places outside the picture are NaN."""
    ax.imshow(WEIGHTS.T, aspect="auto")
    label(ax)
    assert np.allclose(values(ax)[:, :2], WEIGHTS.T[:2])
    assert np.isnan(values(ax)[:, 2]).all()


def test_a_label_on_a_border_belongs_to_nobody(ax):
    """A label half a step off is between two places, so its values cannot be read."""
    ax.imshow(WEIGHTS)
    label(ax, (0.5, 1.5, 2.5), (0, 1))
    assert np.isnan(values(ax)).all()


def test_the_order_is_that_of_the_picture(ax):
    """If the first row is at the bottom, labels and values are still read from top to bottom."""
    ax.imshow(WEIGHTS, origin="lower")
    label(ax)
    found = heatmap.read(ax, WEIGHTS)
    assert found["down"] == "on | sat"
    assert np.allclose(found["shown"], WEIGHTS[::-1])


def test_colours_and_sizes_count_as_values(ax):
    """RGB colors, bubbles and rectangles show the weights as well as an image does."""
    ax.imshow(np.stack([1 - WEIGHTS, 1 - WEIGHTS, np.ones_like(WEIGHTS)], axis=-1))
    label(ax)
    assert np.array_equal(values(ax), WEIGHTS)
    ax.clear()
    i, j = np.indices(WEIGHTS.shape)
    ax.scatter(j.ravel(), -i.ravel(), s=300 * WEIGHTS.ravel() + 1)
    label(ax, (0, 1, 2), (0, -1))
    assert np.array_equal(values(ax), WEIGHTS)
    ax.clear()
    for (row, column), weight in np.ndenumerate(WEIGHTS):
        ax.add_patch(plt.Rectangle((column, -row), 1, 1, color="navy", alpha=weight))
    ax.set(xlim=(0, 3), ylim=(-1, 1))
    label(ax, (0.5, 1.5, 2.5), (0.5, -0.5))
    assert np.array_equal(values(ax), WEIGHTS)


def test_labels_written_beside_the_axes_count(ax):
    """Text next to the picture counts as a label, like text at ticks. Numbers at ticks and text inside the picture do not."""
    ax.imshow(WEIGHTS)
    for j, token in enumerate(COLUMNS):
        ax.text(j, -0.8, token)
    for i, token in enumerate(ROWS):
        ax.text(-0.8, i, token)
        ax.text(1, i, "inside")
    assert_whole(ax)


def test_annotations_count_as_text_does(ax):
    """An annotation is read at the place where it is drawn, in any coordinates."""
    ax.imshow(WEIGHTS)
    ax.set(xticks=[], yticks=[])
    for j, token in enumerate(COLUMNS):
        ax.annotate(token, (j, 0), xytext=(j, -0.05), textcoords=("data", "axes fraction"), ha="center", va="top")
    for i, token in enumerate(ROWS):
        ax.annotate(token, (-0.5, i), xytext=(-6, 0), textcoords="offset points", ha="right", va="center")
        ax.annotate("inside", (1, i))
    assert_whole(ax)


def test_labels_on_a_secondary_axis_count(ax):
    """A secondary axis is part of the picture. Inset Axes are another picture."""
    ax.imshow(WEIGHTS)
    ax.set_xticks([])
    above = ax.secondary_xaxis("top")
    above.set_xticks(range(3), COLUMNS)
    beside = ax.secondary_yaxis("right")
    beside.set_yticks(range(2), ROWS)
    ax.inset_axes((0.8, 0.8, 0.2, 0.2)).set_xticks((0, 1), ["no", "label"])
    assert_whole(ax)
    above.set_visible(False)
    assert not heatmap.read(ax, WEIGHTS)["across"]


def test_punctuation_is_a_label(ax):
    """A token may be a full stop. Only the text that matplotlib itself writes at ticks is ignored."""
    ax.imshow(WEIGHTS)
    ax.set_xticks((0, 1, 2), [".", "3rd", ","])
    assert heatmap.read(ax, WEIGHTS)["across"] == ". | 3rd | ,"
    assert not heatmap.read(ax, WEIGHTS)["down"]


def test_what_is_not_there_is_told(ax):
    """Empty Axes and other objects have no values."""
    assert heatmap.read(ax, WEIGHTS)["drawn"] == "nothing"
    assert heatmap.read(None, WEIGHTS)["drawn"] == "nothing"


def draw(weights, rows, columns, ax=None):
    """Draw a correct heatmap."""
    ax = plt.subplots()[1] if ax is None else ax
    ax.imshow(weights)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    return ax


def test_a_probe_leaves_no_figure_behind():
    """Figures made by a probed function are closed, and existing figures stay open."""
    mine = plt.figure()
    found = heatmap.probe(draw, WEIGHTS, ROWS, COLUMNS)
    open_now = plt.get_fignums()
    plt.close(mine)
    assert open_now == [mine.number]
    assert found["returned"] == "Axes"
    assert np.array_equal(found["shown"], WEIGHTS)


def test_a_probe_with_axes_tells_whose_axes_came_back():
    """A function must draw into the given Axes and return them. The probe detects if it uses other Axes."""

    def elsewhere(weights, rows, columns, ax=None):  # noqa: ARG001 - the mistake
        return draw(weights, rows, columns)

    def current(weights, rows, columns, ax=None):
        draw(weights, rows, columns, ax=plt.gca())
        return ax

    for function, returned, drawn in (
        (draw, "ax", "something"),
        (elsewhere, "other Axes", "nothing"),
        (current, "ax", "nothing"),
        (lambda *_, **__: None, "NoneType", "nothing"),
    ):
        found = heatmap.probe_with_axes(function, WEIGHTS, ROWS, COLUMNS)
        assert (found["returned"], found["drawn"]) == (returned, drawn)


def test_its_text_stands_by_itself():
    """Sent as text to a process that has only NumPy, the probe gives the same result."""
    namespace: dict = {"np": np}
    exec(compile(inspect.getsource(heatmap), "<probe>", "exec"), namespace)  # noqa: S102 - our own text
    assert np.array_equal(namespace["probe"](draw, WEIGHTS, ROWS, COLUMNS)["shown"], WEIGHTS)
