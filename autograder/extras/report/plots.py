"""Draw plots as SVG elements of a page, in the page's own colors and without external files."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from autograder.base.sanitize import sanitize

__all__ = ["MAX_ROWS", "NAMED_ROWS", "bars", "distribution", "heatmap"]

MAX_ROWS = 100  # the most rows of a heatmap. With more students, neighboring rows are averaged.
NAMED_ROWS = 50  # with at most this many rows, each row has its label
_MAX_LABEL = 44  # characters
# Placeholders for the page's own colors, which follow its theme. Nothing else is drawn in these colors.
_INK, _BAR, _PAGE = "#010203", "#040506", "#070809"
_OF_THE_PAGE = {_INK: "currentColor", _BAR: "var(--bar)", _PAGE: "var(--page)"}
# Colors from light orange (no points) to dark blue (all points), without a contrast of red and green.
_SCALE = LinearSegmentedColormap.from_list("points", ["#fee6ce", "#fdae6b", "#9ecae1", "#4292c6", "#084594"])
_NONE = "#bdbdbd"
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "font.family": "sans-serif",
    "font.size": 10,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.parse_math": False,  # a student's name may be $x$
}


def distribution(shares: Sequence[float], name: str, alt: str) -> str:
    """Draw a histogram with ten bars for ``shares``, each a share of the points from 0 to 1."""
    counts = [0] * 10
    for share in shares:
        counts[min(int(share * 10 + 1e-9), 9)] += 1
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7, 2.8))
        axes = figure.add_axes((0.09, 0.19, 0.89, 0.76))
        axes.bar([i * 10 + 5 for i in range(10)], counts, width=9.2, color=_BAR)
        for i, count in enumerate(counts):
            if count:
                axes.text(i * 10 + 5, count, str(count), ha="center", va="bottom")
        axes.set_xlim(0, 100)
        axes.set_ylim(0, max(counts) * 1.18 or 1)
        axes.set_xticks(range(0, 101, 10))
        axes.set_xlabel("percent of the points")
        axes.set_ylabel("students")
        axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
        _bare(axes)
        return _svg(figure, name, alt)


def heatmap(rows: Sequence[tuple[str, Sequence[float | None]]], columns: Sequence[str], name: str, alt: str) -> str:
    """Draw a heatmap with one row per student and one column per exercise. ``rows`` has each student's label and shares of the points.

    Above ``MAX_ROWS`` students, neighboring rows are averaged. Up to ``NAMED_ROWS`` students, each row has its label.
    """
    merged = _merged([list(values) for _, values in rows])
    named = len(rows) <= NAMED_ROWS
    height = max(len(merged) * (0.19 if named else 0.045), 0.5)
    longest = max(map(len, columns), default=0)
    top = min(longest, _MAX_LABEL) * 0.055 + 0.25
    with mpl.rc_context(_STYLE):
        total = height + top + 0.6
        figure = Figure(figsize=(7, total))
        left = 0.22 if named else 0.07
        axes = figure.add_axes((left, 0.55 / total, 0.93 - left, height / total))
        shade = _SCALE.with_extremes(bad=_NONE)
        masked = [[float("nan") if value is None else value for value in row] for row in merged]
        lines = {"edgecolors": _PAGE, "linewidth": 0.6} if named else {"antialiased": False}
        axes.pcolormesh(masked, cmap=shade, vmin=0, vmax=1, **lines)
        axes.invert_yaxis()
        axes.xaxis.tick_top()
        axes.set_xticks([i + 0.5 for i in range(len(columns))], [_label(c) for c in columns], rotation=35, ha="left")
        if named:
            axes.set_yticks([i + 0.5 for i in range(len(rows))], [_label(label) for label, _ in rows], fontsize=8)
        else:
            axes.set_yticks([])
            axes.set_ylabel(f"{len(rows)} students, highest marks first")
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        _legend(figure, left, 0.3 / total, 0.1 / total)
        return _svg(figure, name, alt)


def bars(shares: Mapping[str, float], name: str, alt: str) -> str:
    """Draw a horizontal bar for each share from 0 to 1 in ``shares``, with the label above the bar."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7, len(shares) * 0.48 + 0.1))
        axes = figure.add_axes((0.01, 0, 0.9, 1))
        most = max(shares.values(), default=1.0) or 1.0
        for i, (label, share) in enumerate(shares.items()):
            axes.barh(i + 0.68, share, height=0.3, color=_BAR)
            axes.text(0, i + 0.42, _label(label, 90), va="bottom")
            axes.text(share + most * 0.01, i + 0.68, f"{share:.0%}" if share >= 0.1 else f"{share:.1%}", va="center")
        axes.set_xlim(0, most)
        axes.set_ylim(len(shares) + 0.05, 0)
        axes.set_axis_off()
        return _svg(figure, name, alt)


def _legend(figure: Figure, left: float, bottom: float, height: float) -> None:
    """Draw the legend of the colors as rectangles, because Matplotlib draws a color bar as a raster image."""
    shades = [(_SCALE(i / 4), label) for i, label in enumerate(["no points", "", "half", "", "all"])]
    for i, (colour, label) in enumerate([*shades, (_NONE, "no mark")]):
        x = left + i * 0.07 + (0.05 if colour == _NONE else 0)
        axes = figure.add_axes((x, bottom, 0.07, height))
        axes.set_axis_off()
        axes.bar(0.5, 1, width=1, color=colour)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.text(0.5, -0.5, label, ha="center", va="top", fontsize=8)


def _merged(rows: list[list[float | None]]) -> list[list[float | None]]:
    """Average neighboring rows until there are at most ``MAX_ROWS``, in groups of nearly equal size."""
    if len(rows) <= MAX_ROWS:
        return rows
    edges = [round(i * len(rows) / MAX_ROWS) for i in range(MAX_ROWS + 1)]
    merged = []
    for start, end in pairwise(edges):
        known = [[v for v in column if v is not None] for column in zip(*rows[start:end], strict=True)]
        merged.append([sum(values) / len(values) if values else None for values in known])
    return merged


def _label(text: str, limit: int = _MAX_LABEL) -> str:
    return sanitize(text, limit)


def _bare(axes: Axes) -> None:
    axes.spines["top"].set_visible(False)
    axes.spines["right"].set_visible(False)


def _svg(figure: Figure, name: str, alt: str) -> str:
    """Return the figure as an SVG element, with ids that are unique among the page's plots."""
    file = io.StringIO()
    FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)[0]
    text = re.sub(
        r"<svg[^>]*>",
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(alt)}" style="max-width:{float(width) * 1.35:.0f}px">',
        text,
        count=1,
    )
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    text = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', text)
    text = re.sub(r"font: ([\d.]+)px[^;\"]*", r"font: \1px system-ui, sans-serif", text)
    for colour, own in _OF_THE_PAGE.items():
        text = text.replace(colour, own)
    return text.strip()
