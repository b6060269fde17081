"""Reads a heatmap back from matplotlib's Axes: what is drawn where, and which label stands beside it.

A probe, for `plot_attention` of chapter 5: the text of this file goes to where a student's function draws, into the jail
or into the student's notebook. So it stands by itself and imports nothing but NumPy and matplotlib. A check sends
``inspect.getsource`` of it.
"""

import re
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

__all__ = ["probe", "probe_with_axes", "read"]

_NUMBER = re.compile(r"[−+-]?\d[\d.,]*|\$\\mathdefault\{.*\}\$")  # what matplotlib itself writes at ticks
_NEAR = 0.15  # of the distance between two labels: a label has to stand well inside its place, not on a border


def probe(function, weights, rows, columns):
    """What ``function(weights, rows, columns)`` draws, as ``read`` tells it; ``"returned"`` is the type of what it returns."""
    from matplotlib.axes import Axes  # noqa: PLC0415 - only where something is drawn

    with _closing_figures():
        found = function(weights, rows, columns)
        return {"returned": "Axes" if isinstance(found, Axes) else type(found).__name__, **read(found, weights)}


def probe_with_axes(function, weights, rows, columns):
    """The same for ``function(weights, rows, columns, ax=ax)``, with Axes that are not pyplot's current ones.

    ``"returned"`` is "ax" when these came back; what is told is what they hold.
    """
    import matplotlib.pyplot as plt  # noqa: PLC0415
    from matplotlib.axes import Axes  # noqa: PLC0415

    with _closing_figures():
        _, ax = plt.subplots()
        plt.figure()  # the current one from now on, and empty
        found = function(weights, rows, columns, ax=ax)
        kind = "ax" if found is ax else "other Axes" if isinstance(found, Axes) else type(found).__name__
        return {"returned": kind, **read(ax, weights)}


def read(ax, weights):
    """What a reader of the picture sees, as plain data.

    ``"drawn"``: whether there is "something" or "nothing" but the Axes themselves. ``"down"`` and ``"across"``: the
    labels from the top and from the left, with " | " between them. ``"shown"``, one number for each pair of
    them: what is drawn where the two meet, NaN where nothing is or where it is a border. Any scale is as good as another:
    a picture whose numbers, sizes or colours rise (or fall) with ``weights`` shows these.
    """
    from matplotlib.axes import Axes  # noqa: PLC0415

    if not isinstance(ax, Axes):
        return {"drawn": "nothing", "down": "", "across": "", "shown": np.zeros((0, 0))}
    _settle(ax)
    down, across = _labels(ax, 1)[::-1], _labels(ax, 0)
    near = _spacing(across, ax.bbox.width) * _NEAR, _spacing(down, ax.bbox.height) * _NEAR
    pieces = _pieces(ax)
    found = [[_seen(ax, pieces, (x, y), near) for x, _ in across] for y, _ in down]
    return {
        "drawn": "something" if pieces else "nothing",
        "down": " | ".join(t for _, t in down),
        "across": " | ".join(t for _, t in across),
        "shown": _as_weights(found, np.asarray(weights, dtype=np.float64)),
    }


def _settle(ax):
    """Have everything stand where it will be seen: annotations and secondary axes get their places when they are drawn."""
    from matplotlib.text import Annotation  # noqa: PLC0415

    if ax.child_axes or any(isinstance(text, Annotation) for text in ax.texts):
        ax.figure.canvas.figure.draw_without_rendering()  # 20 ms, so only where it matters
    ax.apply_aspect()


@contextmanager
def _closing_figures():
    """Leaves the figures open that were open before, and no others."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    before = set(plt.get_fignums())
    try:
        yield
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)


def _labels(ax, which):
    """The labels along x (0) or y (1) as (place in pixels, text), in rising order: at ticks, or written beside the Axes."""
    found = set()
    for one in (ax, *(child for child in ax.child_axes if type(child).__name__ == "SecondaryAxis")):
        axis = (one.xaxis, one.yaxis)[which]
        transform = (one.get_xaxis_transform, one.get_yaxis_transform)[which]()
        shown = one.axison and one.get_visible() and axis.get_visible()
        for label in [*axis.get_majorticklabels(), *axis.get_minorticklabels()] if shown else []:
            found.add((float(transform.transform(label.get_position())[which]), label.get_text().strip()))
    edges = [(ax.bbox.x0, ax.bbox.x1), (ax.bbox.y0, ax.bbox.y1)]
    for text in ax.texts:
        place = text.get_transform().transform(text.get_position())
        low, high = edges[1 - which]
        if not low + 1 < place[1 - which] < high - 1:
            found.add((float(place[which]), text.get_text().strip()))
    low, high = edges[which]
    kept = {(round(p, 3), t) for p, t in found if t and not _NUMBER.fullmatch(t) and low - 1 <= p <= high + 1}
    return sorted(kept)


def _spacing(labels, whole):
    """The smallest distance between two labels that do not stand in one place; the whole width where there is none."""
    gaps = np.abs(np.diff([place for place, _ in labels]))
    gaps = gaps[gaps > 1]
    return float(gaps.min()) if gaps.size else float(whole)


def _pieces(ax):
    """What was drawn, uppermost first: each tells what it shows at a place (in pixels), ``None`` where it is not."""
    from matplotlib.collections import Collection, LineCollection, PathCollection  # noqa: PLC0415

    artists = [a for a in (*ax.patches, *ax.collections, *ax.images) if a.get_visible()]
    pieces = []
    for artist in sorted(artists, key=lambda a: -float(a.get_zorder())):
        if isinstance(artist, PathCollection):
            pieces.append(_dots(artist))
        elif isinstance(artist, Collection) and not isinstance(artist, LineCollection):
            paths = [path.transformed(artist.get_transform()) for path in artist.get_paths()]
            pieces.append(_areas(paths, artist.get_array(), artist.get_facecolor()))
        elif hasattr(artist, "get_path"):
            path = artist.get_path().transformed(artist.get_transform())
            pieces.append(_areas([path], None, [artist.get_facecolor()]))
        elif hasattr(artist, "get_extent"):
            pieces.append(_image(artist))
    return pieces


def _image(image):
    def at(place, _near):
        value = image.get_cursor_data(SimpleNamespace(x=place[0], y=place[1]))
        return None if value is None else _plain(value)

    return at


def _dots(dots):
    centres = dots.get_offset_transform().transform(dots.get_offsets())
    sizes, colours = dots.get_sizes(), dots.get_facecolor()

    def at(place, near):
        if not len(centres):
            return None
        far = np.abs(centres - place)
        k = int(np.argmin(far.sum(axis=1)))
        if (far[k] > 2 * np.array(near) + 0.5).any():
            return None
        if dots.get_array() is not None:
            return _plain(np.ravel(dots.get_array())[k])
        return _plain(sizes[k] if len(sizes) > 1 else colours[k % len(colours)])

    return at


def _areas(paths, values, colours):
    def at(place, _near):
        for k, path in enumerate(paths):
            if path.contains_point(place):
                return _plain(np.ravel(values)[k] if values is not None else colours[k % len(colours)])
        return None

    return at


def _plain(value):
    """A number as a tuple of one; a colour, laid over white, as its red, green and blue between 0 and 1."""
    value = np.ma.filled(np.ma.asarray(value), np.nan) if np.ma.is_masked(value) else np.asarray(value)
    if value.ndim == 0:
        return (float(value),)
    colour = value / 255 if value.dtype.kind in "iu" else value
    alpha = float(colour[3]) if len(colour) > 3 else 1.0
    return tuple(round(alpha * float(c) + 1 - alpha, 6) for c in colour[:3])


def _seen(ax, pieces, place, near):
    """What is shown around a place; ``None`` where that is nothing, or not the same on both sides of it."""
    if not ax.bbox.padded(1).contains(*place):
        return None
    found = set()
    for side in (-1, 1):  # two opposite corners: whatever border runs through the place lies between them
        point = place[0] + side * near[0], place[1] + side * near[1]
        values = (piece(point, near) for piece in pieces)
        found.add(next((v for v in values if v is not None), None))
    return found.pop() if len(found) == 1 else None


def _as_weights(found, weights):
    """The numbers that a picture shows: the weights themselves where all that is shown goes with them, on any scale."""
    shape = (len(found), len(found[0]) if found else 0)
    kinds = {len(value) for row in found for value in row if value is not None}
    shown = np.full((*shape, max(kinds, default=1)), np.nan)
    if len(kinds) == 1:
        for i, j in np.ndindex(shape):
            shown[i, j] = np.nan if found[i][j] is None else found[i][j]
    # Colours come in 256 steps; brightness is what rises in most scales, one of its parts in many of the others.
    scales = [shown[..., 0]] if shown.shape[-1] == 1 else [shown @ [0.299, 0.587, 0.114], *np.moveaxis(shown, -1, 0)]
    smallest = 1e-9 if shown.shape[-1] == 1 else 0.02 * float(np.ptp(weights)) + 1e-9
    if shape == weights.shape and any(_goes_with(scale, weights, smallest) for scale in scales):
        return weights
    return np.array(scales[0])


def _goes_with(scale, weights, smallest):
    """Whether ``scale`` rises wherever ``weights`` rise by more than ``smallest``, or falls wherever they do."""
    if not np.isfinite(scale).all():
        return False
    more = np.subtract.outer(weights.ravel(), weights.ravel())
    larger = np.subtract.outer(scale.ravel(), scale.ravel())
    equal = np.abs(more) <= 1e-9
    slack = 1e-6 * (float(np.ptp(scale)) + 1e-9)
    same = bool((np.abs(larger[equal]) <= slack).all())
    return same and any(bool((sign * larger[more > smallest] > 0).all()) for sign in (1, -1))
