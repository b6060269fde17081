"""Convert what a function draws with matplotlib to data, in the process that runs the function.

The parent sends this module's source as a probe, so it imports nothing from this package, and matplotlib only when called.
A picture counts however it is drawn: on the current axes, on new ones or on a given ``ax``, returned or not, shown or closed.
Pictures that look the same give the same data, such as ``barh`` and ``bar``, points and markers without a line, or a histogram
and its bars.
"""

from __future__ import annotations

import inspect
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.container import Container
    from matplotlib.figure import Figure

__all__ = ["TEXTS", "NotAsAsked", "probe"]

TEXTS = True  # if False, record only whether titles, labels and legends exist
MOST = 200_000  # the most points, bars or pixels of one picture
_LABELS = 500  # characters of a text


class NotAsAsked(Exception):  # noqa: N818 - the parent recognizes this name
    """Raised for a picture that cannot be checked. The message says why."""


def probe(function: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return what ``function(*args, **kwargs)`` draws, as ``{"axes": [one dict per plot], "title": the figure's title}``."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    before = set(plt.get_fignums())
    figure = plt.figure()  # so that nothing is drawn on earlier figures
    if _wants_axes(function, args, kwargs):
        kwargs = {**kwargs, "ax": figure.add_subplot()}
    show, close = plt.show, plt.close

    def shown(*_args: Any, **_kwargs: Any) -> None:
        plt.figure()  # as in a notebook, later drawing uses a new figure

    plt.show, plt.close = shown, lambda *_args, **_kwargs: None  # keep figures until they have been read
    try:
        result = function(*args, **kwargs)
        new = [plt.figure(number) for number in plt.get_fignums() if number not in before]
        return _picture(_drawn(result, figure, new), getattr(function, "__name__", "the function"))
    finally:
        plt.show, plt.close = show, close
        for number in plt.get_fignums():
            if number not in before:
                plt.close(number)


def _wants_axes(function: Any, args: Any, kwargs: Any) -> bool:
    """Return whether the function has a parameter ``ax`` for which there is no argument."""
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
    return "ax" in parameters and "ax" not in kwargs and parameters.index("ax") >= len(args)


def _drawn(result: Any, own: Figure, new: list[Figure]) -> list[Axes]:
    """Return the axes to read: those in ``result``, otherwise those of the newest figure with data."""
    from matplotlib.axes import Axes  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    if isinstance(result, Figure):
        return list(result.axes)
    given = [result] if isinstance(result, Axes) else []
    if isinstance(result, list | tuple | np.ndarray) and 0 < len(result) <= 100:
        given = [item for item in np.ravel(np.array(result, dtype=object)) if isinstance(item, Axes)]
        figures = [item for item in result if isinstance(item, Figure)] if not isinstance(result, np.ndarray) else []
        if figures:
            return list(figures[0].axes)
    if given:
        return given
    drawn = [one for one in (own, *new) if one.axes]
    # A title set after `show` is on a new figure without data.
    filled = [one for one in drawn if any(axes.has_data() for axes in one.axes)]
    others = [one for one in filled or drawn if one is not own]
    return list((others or [own])[-1].axes)


def _picture(drawn: list[Axes], name: str) -> dict[str, Any]:
    axes = [_axes(one) for one in drawn if one.get_label() != "<colorbar>"]
    axes = [one for one in axes if any(one[part] for part in ("bars", "lines", "points", "images", "wedges", "areas"))]
    if not axes:
        raise NotAsAsked(f"{name} draws nothing visible: no bar, line, point or image.")
    figure: Any = drawn[0].get_figure()
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) is not None else ""  # noqa: SLF001
    if len(axes) == 1:  # a figure's title and legend belong to its only plot
        axes[0]["title"] = axes[0]["title"] or _text(title)
        for legend in figure.legends:
            axes[0]["legend"] += [_text(text.get_text()) for text in legend.get_texts()]
    size = sum(_size(part) for one in axes for part in one.values())
    if size > MOST:
        raise NotAsAsked(f"{name} draws {size:,} numbers, but at most {MOST:,} can be checked.")
    for one in [] if TEXTS else axes:
        one["legend"] = bool(one["legend"])
    return {"axes": axes, "title": _text(title)}


def _size(part: Any) -> int:
    if isinstance(part, np.ndarray):
        return part.size
    if isinstance(part, list | dict):
        return sum(map(_size, part.values() if isinstance(part, dict) else part))
    return 0


def _text(text: Any) -> Any:
    """Return the text, or only whether there is any if ``TEXTS`` is False."""
    text = str(text).strip()[:_LABELS]
    return text if TEXTS else bool(text)


def _label(artist: Artist | Container) -> str:
    label = str(artist.get_label())
    return "" if label.startswith("_") or not TEXTS else label[:_LABELS]


def _axes(axes: Axes) -> dict[str, Any]:
    bars, flat = _bars(axes)
    lines, points = _lines(axes)
    sides = {"x": axes.xaxis, "y": axes.yaxis}
    if flat:  # horizontal bars, with their values along x
        sides = {"x": axes.yaxis, "y": axes.xaxis}
    legend = axes.get_legend()
    return {
        "title": _text(axes.get_title() or axes.get_title("left") or axes.get_title("right")),
        "xlabel": _text(sides["x"].get_label_text()),
        "ylabel": _text(sides["y"].get_label_text()),
        "xscale": str(sides["x"].get_scale()),
        "yscale": str(sides["y"].get_scale()),
        "xlim": [float(n) for n in sides["x"].get_view_interval()],
        "ylim": [float(n) for n in sides["y"].get_view_interval()],
        "legend": [_text(text.get_text()) for text in legend.get_texts()] if legend is not None else [],
        "bars": bars,
        "horizontal": flat,
        "lines": lines,
        "points": points + _scattered(axes),
        "images": [np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), np.nan) for image in axes.images],
        "wedges": _wedges(axes),
        "areas": _areas(axes),
    }


def _numbers(values: Any) -> Any:
    """Return positions as floats. Dates are numbers of days, as in matplotlib."""
    return np.ma.filled(np.ma.asarray(values, dtype=float), np.nan).ravel()


def _bars(axes: Axes) -> tuple[list[dict[str, Any]], bool]:
    """Return the series of bars with their positions and heights, and whether they are horizontal."""
    import matplotlib.patches as shapes  # noqa: PLC0415
    from matplotlib.container import BarContainer  # noqa: PLC0415

    groups: list[tuple[str, list[Any], bool]] = []
    seen: set[int] = set()
    for container in axes.containers:
        if isinstance(container, BarContainer):
            groups.append((_label(container), list(container), container.orientation == "horizontal"))
            seen.update(map(id, container))
    loose = [p for p in axes.patches if type(p) is shapes.Rectangle and id(p) not in seen and p.get_visible()]
    if loose:
        groups.append(("", loose, False))
    flat = bool(groups) and all(horizontal for _label, _patches, horizontal in groups)
    bars: dict[str, list[tuple[float, float, float]]] = {}
    for label, patches, horizontal in groups:
        for patch in patches:
            low, size = (patch.get_y(), patch.get_height()) if horizontal else (patch.get_x(), patch.get_width())
            high = patch.get_width() if horizontal else patch.get_height()
            bars.setdefault(label, []).append((float(min(low, low + size)), float(abs(size)), float(high)))
    for patch in axes.patches:
        if isinstance(patch, shapes.StepPatch):
            values, edges, _base = patch.get_data()
            columns = (np.asarray(column, dtype=float).tolist() for column in (edges[:-1], np.diff(edges), values))
            bars.setdefault(_label(patch), []).extend(zip(*columns, strict=True))
        elif type(patch) is shapes.Polygon and (steps := _outline(patch.get_xy())):
            bars.setdefault(_label(patch), []).extend(steps)
    ticks = _ticks(axes.yaxis if flat else axes.xaxis)
    series = []
    for label, parts in bars.items():
        parts.sort()
        lefts, widths, heights = (np.array(column, dtype=float) for column in zip(*parts, strict=True))
        at = [_named(center, ticks) for center in (lefts + widths / 2).tolist()]
        series.append({"label": label, "at": at, "left": lefts, "width": widths, "height": heights})
    return series, flat


def _outline(corners: Any) -> list[tuple[float, float, float]]:
    """Return the bars of a histogram that was drawn as an outline, or an empty list if ``corners`` is no such outline."""
    corners = np.asarray(corners, dtype=float)
    turns = corners[:-1][1:] - corners[:-1][:-1]
    if len(corners) < 5 or not (np.isclose(turns[:, 0], 0) | np.isclose(turns[:, 1], 0)).all():
        return []
    bars: dict[float, tuple[float, float]] = {}
    for (x, y), (x2, y2) in pairwise(corners):
        if x != x2 and y == y2:
            left, width = float(min(x, x2)), float(abs(x2 - x))
            old = bars.get(left, (width, 0.0))
            bars[left] = (width, float(y) if y else old[1])
    return [(left, width, height) for left, (width, height) in bars.items()]


def _ticks(axis: Axis) -> dict[float, str]:
    """Return the names shown at an axis instead of numbers, by position."""
    from matplotlib.category import StrCategoryFormatter  # noqa: PLC0415
    from matplotlib.ticker import FixedFormatter, FuncFormatter  # noqa: PLC0415

    if not isinstance(axis.get_major_formatter(), StrCategoryFormatter | FixedFormatter | FuncFormatter):
        return {}
    places = [float(place) for place in axis.get_majorticklocs()][:2000]
    texts = [str(text) for text in axis.get_major_formatter().format_ticks(places)]
    return {place: text[:_LABELS] for place, text in zip(places, texts, strict=True) if text}


def _named(place: float, ticks: dict[float, str]) -> Any:
    """Return the name of the tick at a bar, or the bar's position if there is none."""
    near = min(ticks, key=lambda tick: abs(tick - place), default=None)
    if near is None or abs(near - place) > 0.5:
        return place
    try:
        return float(ticks[near])  # read "1990" as a number
    except ValueError:
        return ticks[near]


def _lines(axes: Axes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the lines, and the points, which are lines with only markers."""
    lines: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for line in axes.lines:
        x, y = _numbers(line.get_xdata(orig=False)), _numbers(line.get_ydata(orig=False))
        if not line.get_visible() or not len(x):
            continue
        drawn = str(line.get_linestyle()).lower() not in ("none", "", " ")
        marked = str(line.get_marker()).lower() not in ("none", "", " ")
        if drawn or marked:
            (lines if drawn else points).append({"label": _label(line), "x": x, "y": y})
    return lines, points


def _scattered(axes: Axes) -> list[dict[str, Any]]:
    from matplotlib.collections import PathCollection  # noqa: PLC0415

    found = []
    for collection in axes.collections:
        if isinstance(collection, PathCollection) and np.size(collection.get_offsets()):
            places: Any = np.ma.filled(np.ma.asarray(collection.get_offsets(), dtype=float), np.nan)
            found.append({"label": _label(collection), "x": places[:, 0].copy(), "y": places[:, 1].copy()})
    return found


def _areas(axes: Axes) -> list[dict[str, Any]]:
    """Return the corners of areas, such as those of ``fill_between``."""
    from matplotlib.collections import PolyCollection  # noqa: PLC0415

    found = []
    for collection in axes.collections:
        if isinstance(collection, PolyCollection):
            corners: list[Any] = [path.vertices for path in collection.get_paths()]
            found += [{"x": at[:, 0].copy(), "y": at[:, 1].copy()} for at in corners]
    return found


def _wedges(axes: Axes) -> list[dict[str, Any]]:
    import matplotlib.patches as shapes  # noqa: PLC0415

    parts = [patch for patch in axes.patches if isinstance(patch, shapes.Wedge)]
    return [{"label": _label(part), "share": float(abs(part.theta2 - part.theta1) / 360)} for part in parts]
