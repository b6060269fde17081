"""Read a heatmap back from matplotlib's Axes: the values and their labels.

A probe for `plot_attention` of chapter 5. A check sends ``inspect.getsource`` of this file to the process in which the
student's function draws, in the sandbox or in the student's notebook. So it imports only NumPy and matplotlib.
"""

import re
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

__all__ = ["probe", "probe_again", "probe_with_axes", "read"]

_NUMBER = re.compile(r"[−+-]?\d[\d.,]*|\$\\mathdefault\{.*\}\$")  # text that matplotlib itself writes at ticks
_NEAR = 0.15  # a share of the distance between two labels: a label must be well inside its cell, not on a border


def probe(function, weights, rows, columns):
    """Return what ``function(weights, rows, columns)`` draws, as ``read`` describes it. ``"returned"`` is the type of its result."""
    from matplotlib.axes import Axes  # noqa: PLC0415 - only where something is drawn

    given = np.array(weights)  # the function may change its argument, which is reported separately
    with _closing_figures():
        found = function(weights, rows, columns)
        return {"returned": "Axes" if isinstance(found, Axes) else type(found).__name__, **read(found, given)}


def probe_again(function, weights, rows, columns):
    """Call ``function`` twice, while another picture is open, and describe the second call's result as ``probe`` does. ``"returned"`` is "the Axes of another picture" if these were returned."""
    import matplotlib.pyplot as plt  # noqa: PLC0415
    from matplotlib.axes import Axes  # noqa: PLC0415

    given = np.array(weights)
    with _closing_figures():
        others = plt.subplots()[1], function(weights, rows, columns)
        found = function(weights, rows, columns)
        kind = "new Axes" if isinstance(found, Axes) else type(found).__name__
        is_old = any(found is other for other in others)
        return {"returned": "the Axes of another picture" if is_old else kind, **read(found, given)}


def probe_with_axes(function, weights, rows, columns):
    """Do the same as ``probe`` for ``function(weights, rows, columns, ax=ax)``, with Axes that are not pyplot's current Axes.

    ``"returned"`` is "ax" if the function returned these Axes. The other entries describe their contents.
    """
    import matplotlib.pyplot as plt  # noqa: PLC0415
    from matplotlib.axes import Axes  # noqa: PLC0415

    given = np.array(weights)
    with _closing_figures():
        _, ax = plt.subplots()
        plt.figure()  # from now on, this empty figure is pyplot's current figure
        found = function(weights, rows, columns, ax=ax)
        kind = "ax" if found is ax else "other Axes" if isinstance(found, Axes) else type(found).__name__
        return {"returned": kind, **read(ax, given)}


def read(ax, weights):
    """Return the contents of the picture as built-in data.

    ``"drawn"``: "something" if the Axes contain anything, otherwise "nothing". ``"down"`` and ``"across"``: the labels
    from top to bottom and from left to right, with " | " between them. ``"shown"``: the number drawn where
    a row and a column meet, for each pair of labels. NaN means an empty place, or one near a border. ``"empty"`` is the number of these. The scale does not matter: a picture whose numbers,
    sizes or colors rise (or fall) with ``weights`` shows the weights.
    """
    from matplotlib.axes import Axes  # noqa: PLC0415

    if not isinstance(ax, Axes):
        return {"drawn": "nothing", "down": "", "across": "", "empty": 0, "shown": np.zeros((0, 0))}
    _settle(ax)
    down, across = _labels(ax, 1)[::-1], _labels(ax, 0)
    near = _spacing(across, ax.bbox.width) * _NEAR, _spacing(down, ax.bbox.height) * _NEAR
    pieces = _pieces(ax)
    found = _seen(ax, pieces, [(x, y) for y, _ in down for x, _ in across], np.array(near))
    shown = _as_weights(found, (len(down), len(across)), np.asarray(weights, dtype=np.float64))
    return {
        "drawn": "something" if pieces else "nothing",
        "down": " | ".join(t for _, t in down),
        "across": " | ".join(t for _, t in across),
        "empty": int(np.isnan(shown).sum()),
        "shown": shown,
    }


def _settle(ax):
    """Lay out the Axes, because annotations and secondary axes get their positions only when they are drawn."""
    from matplotlib.text import Annotation  # noqa: PLC0415

    if ax.child_axes or any(isinstance(text, Annotation) for text in ax.texts):
        ax.figure.canvas.figure.draw_without_rendering()  # takes 20 ms, so it is done only if it matters
    ax.apply_aspect()


@contextmanager
def _closing_figures():
    """Close all figures that are opened inside the ``with`` block, and no others."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    before = set(plt.get_fignums())
    try:
        yield
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)


def _labels(ax, which):
    """Return the labels along x (0) or y (1), at ticks or next to the Axes, as (position in pixels, text) in ascending order."""
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
    """Return the smallest distance between two labels at different positions, or ``whole`` if there are no two such labels."""
    gaps = np.abs(np.diff([place for place, _ in labels]))
    gaps = gaps[gaps > 1]
    return float(gaps.min()) if gaps.size else float(whole)


def _pieces(ax):
    """Return a function for each artist, the uppermost first, from positions in pixels to the values there, or ``None`` outside."""
    from matplotlib.collections import Collection, LineCollection, PathCollection  # noqa: PLC0415

    artists = [a for a in (*ax.patches, *ax.collections, *ax.images) if a.get_visible()]
    pieces = []
    for artist in sorted(artists, key=lambda a: float(a.get_zorder()))[::-1]:
        if isinstance(artist, PathCollection):
            pieces.append(_dots(artist))
        elif isinstance(artist, Collection) and not isinstance(artist, LineCollection):
            paths = [path.transformed(artist.get_transform()) for path in artist.get_paths()]
            pieces.append(_areas(paths, _shown_values(artist), artist.get_facecolor()))
        elif hasattr(artist, "get_path"):
            path = artist.get_path().transformed(artist.get_transform())
            pieces.append(_areas([path], None, [artist.get_facecolor()]))
        elif hasattr(artist, "get_extent"):
            pieces.append(_image(artist))
    return pieces


def _shown_values(artist):
    """Return the values that an artist turns into colors. Values beyond the ends of its color map look like the ends."""
    values = artist.get_array()
    if values is None or np.size(values) == 0 or np.ndim(values) == 3:  # nothing, or red, green and blue
        return values
    artist.norm.autoscale_None(values)
    ends = sorted((artist.norm.vmin, artist.norm.vmax))
    if np.allclose(artist.cmap(0.0), artist.cmap(1.0), atol=0.1):  # a cyclic color map, whose ends look the same
        return np.abs(artist.norm(values) - 0.5)
    # A logarithmic scale has no color for 0, so 0 looks different from the smallest number.
    return np.where(np.ma.getmaskarray(artist.norm(values)), values, np.ma.clip(values, *ends))


def _image(image):
    from matplotlib.image import AxesImage  # noqa: PLC0415

    array, to_data, (left, right, *ends) = _shown_values(image), image.get_transform().inverted(), image.get_extent()
    first, last = ends if image.origin == "lower" else ends[::-1]
    rows, columns = array.shape[:2]

    def at(places, _near):
        x, y = to_data.transform(places).T
        cells = zip(rows * (y - first) / (last - first), columns * (x - left) / (right - left), strict=True)
        return [_plain(array[int(i), int(j)]) if 0 <= i < rows and 0 <= j < columns else None for i, j in cells]

    def at_uneven(places, _near):
        values = [image.get_cursor_data(SimpleNamespace(x=x, y=y)) for x, y in places]
        return [None if value is None else _plain(value) for value in values]

    # In a plain image, all cells have the same size. One transform for all of them is ten times as fast.
    return at if type(image).get_cursor_data is AxesImage.get_cursor_data else at_uneven


def _dots(dots):
    centres = dots.get_offset_transform().transform(dots.get_offsets())
    sizes, colours, values = dots.get_sizes(), dots.get_facecolor(), _shown_values(dots)

    def nearest(place, near):
        far = np.abs(centres - place)
        k = int(np.argmin(far.sum(axis=1)))
        if (far[k] > 2 * near + 0.5).any():
            return None
        if values is not None:
            return _plain(np.ravel(values)[k])
        return _plain(sizes[k] if len(sizes) > 1 else colours[k % len(colours)])

    return lambda places, near: [nearest(place, near) if len(centres) else None for place in places]


def _areas(paths, values, colours):
    def shown(k):
        return _plain(np.ravel(values)[k] if values is not None else colours[k % len(colours)])

    def at(places, _near):
        inside = [path.contains_points(places) for path in paths]
        first = np.argmax([np.zeros(len(places), dtype=bool), *inside], axis=0)  # 0 if no path contains the place
        return [shown(k - 1) if k else None for k in first]

    return at


def _plain(value):
    """Return a number as a tuple of one number. Return a color, laid over white, as its red, green and blue between 0 and 1."""
    value = np.ma.filled(np.ma.asarray(value), np.nan) if np.ma.is_masked(value) else np.asarray(value)
    if value.ndim == 0:
        return (float(value),)
    colour = value / 255 if value.dtype.kind in "iu" else value
    alpha = float(colour[3]) if len(colour) > 3 else 1.0
    return tuple(round(alpha * float(c) + 1 - alpha, 6) for c in colour[:3])


def _seen(ax, pieces, places, near):
    """Return the value shown around each place, or ``None`` if there is no value or the values on both sides of the place differ."""
    box, sides = ax.bbox.padded(1), []
    for side in (-1, 1):  # two opposite corners: any border through the place is between them
        points, values = np.reshape(places, (-1, 2)) + side * near, [None] * len(places)
        for piece in pieces:
            missing = [k for k, value in enumerate(values) if value is None]
            for k, value in zip(missing, piece(points[missing], near) if missing else (), strict=True):
                values[k] = value
        sides.append(values)
    return [a if a == b and box.contains(*place) else None for place, a, b in zip(places, *sides, strict=True)]


def _as_weights(found, shape, weights):
    """Return the numbers that a picture shows, or the weights themselves if all shown numbers rise or fall with them."""
    kinds = {len(value) for value in found if value is not None}
    shown = np.full((*shape, max(kinds, default=1)), np.nan)
    if len(kinds) == 1:
        for place, value in zip(np.ndindex(shape), found, strict=True):
            shown[place] = np.nan if value is None else value
    # Colors have 256 steps. In most color maps the brightness rises, and in many others red, green or blue does.
    scales = [shown[..., 0]] if shown.shape[-1] == 1 else [shown @ [0.299, 0.587, 0.114], *np.moveaxis(shown, -1, 0)]
    smallest = 1e-9 if shown.shape[-1] == 1 else 0.02 * float(np.ptp(weights)) + 1e-9
    if shape == weights.shape and any(_goes_with(scale, weights, smallest) for scale in scales):
        return weights
    return np.array(scales[0])


def _goes_with(scale, weights, smallest):
    """Return whether ``scale`` always rises if ``weights`` rise by more than ``smallest``, or always falls."""
    if not np.isfinite(scale).all():
        return False
    more = np.subtract.outer(weights.ravel(), weights.ravel())
    larger = np.subtract.outer(scale.ravel(), scale.ravel())
    equal = np.abs(more) <= 1e-9
    slack = 1e-6 * (float(np.ptp(scale)) + 1e-9)
    same = bool((np.abs(larger[equal]) <= slack).all())
    return same and any(bool((sign * larger[more > smallest] > 0).all()) for sign in (1, -1))
