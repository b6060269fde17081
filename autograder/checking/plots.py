"""Compare the picture that a function draws with the expected picture. Both are given as data (see ``plot_probe``).

Only what a reader of the picture needs is compared: the data, the scales, and whether there are axis labels, a title and a legend.
Colors, sizes and the drawing order are ignored. This module needs only NumPy and the standard library, because it also runs on
students' machines.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeVar

import numpy as np

from autograder.base.foreign import Value
from autograder.base.formatting import join_words, pluralize
from autograder.checking.findings import Finding, matches
from autograder.sandbox.guest import plot_probe
from autograder.values import as_array, close, show, show_apart

__all__ = ["PARTS", "USUAL", "parts_of", "plot_probe_text", "same_plot"]

Axes = Mapping[str, Value]  # one plot, or a part of it, as the probe describes it
Bar = tuple[str | float, float, float, float]  # name or position, left side, width, height
Line = tuple[np.ndarray, np.ndarray, str]  # x, y, label
T = TypeVar("T")

PARTS = ("data", "labels", "title", "legend", "scales", "limits")
USUAL = ("data", "labels", "title", "legend", "scales")
_NOUNS = {"bars": "bar", "lines": "line", "points": "point", "images": "image", "wedges": "piece", "areas": "area"}
_MISSING = _NOUNS | {"bars": "bars", "points": "points", "wedges": "pie"}  # the words after "It draws no"
_MAX_MATCHED = 200  # at most this many wrong points are compared one by one


@cache
def plot_probe_text(*, texts: bool) -> str:
    """Return the source of the probe for pictures. Without ``texts``, it only reports which texts are present."""
    text = inspect.getsource(plot_probe)
    return text if texts else f"{text}\n\nTEXTS = False\n"


def parts_of(parts: str | Sequence[str]) -> tuple[str, ...]:
    """Return the named parts of a picture. Raises ``ValueError`` for an unknown part."""
    named = tuple(parts.replace(",", " ").split()) if isinstance(parts, str) else tuple(parts)
    unknown = [part for part in named if part not in PARTS]
    if unknown or not named:
        what = f"has no part {unknown[0]!r}" if unknown else "needs at least one part to compare"
        raise ValueError(f"A picture {what}: choose from {', '.join(PARTS)}.")
    return named


def same_plot(actual: Value, expected: Value, *, parts: Sequence[str], rtol: float, atol: float) -> Finding | None:
    """Return what is wrong with a picture, considering only ``parts``."""
    found, right = _axes_of(actual), _axes_of(expected)
    if found is None or right is None:
        return Finding("Its drawing cannot be checked. It should use matplotlib axes.", "type")
    if len(found) != len(right):
        return Finding(f"It draws {pluralize(len(found), 'plot')} (axes) instead of {len(right)}.", "length")
    for place, (one, other) in enumerate(zip(found, right, strict=True)):
        where = f"In plot {place + 1}: " if len(right) > 1 else ""
        reason = _PlotComparison(one, other, rtol, atol).wrong(parts)
        if reason:
            return Finding(f"{where}{reason[0].lower() + reason[1:] if where else reason}", "plot")
    return None


def _axes_of(drawn: Value) -> list[Axes] | None:
    """Return the list of axes in ``drawn``, or None if it is not in the probe's format. A student's process may send anything."""
    axes = drawn.get("axes") if isinstance(drawn, dict) else None
    if not isinstance(axes, list) or not axes or not all(isinstance(one, dict) for one in axes):
        return None
    return axes


class _PlotComparison:
    """A comparison of the axes that a student drew with the expected axes."""

    def __init__(self, found: Axes, right: Axes, rtol: float, atol: float) -> None:
        self.found, self.right, self.rtol, self.atol = found, right, rtol, atol

    def wrong(self, parts: Sequence[str]) -> str:
        """Return a sentence about the first wrong part, or ""."""
        looks = {
            "data": self._data, "labels": self._labels, "title": self._title, "legend": self._legend, "scales": self._scales, "limits": self._limits,
        }  # fmt: skip
        try:
            return next(filter(None, (looks[part]() for part in parts)), "")
        except (TypeError, ValueError, KeyError, AttributeError, IndexError):  # the data is not in the probe's format
            return "Its drawing cannot be checked."

    def _data(self) -> str:
        kinds = [kind for kind in _NOUNS if self.right.get(kind)]
        for kind in kinds:
            if not self.found.get(kind):
                instead = [_NOUNS[other] + "s" for other in _NOUNS if self.found.get(other)]
                has = f" (it draws {join_words(instead)})" if instead else ""
                return f"It draws no {_MISSING[kind]}, but it should{has}."
        compare: dict[str, Callable[[], str]] = {
            "bars": self._bars, "lines": self._lines, "points": self._points, "images": self._images, "wedges": self._wedges, "areas": self._areas,
        }  # fmt: skip
        return next(filter(None, (compare[kind]() for kind in kinds)), "")

    def _close(self, one: Value, other: Value) -> Value:
        return close(_numbers(one), _numbers(other), self.rtol, self.atol)

    # bars

    def _bars(self) -> str:
        found, right = ([list(_of_bars(series)) for series in side["bars"]] for side in (self.found, self.right))
        if len(found) != len(right):  # bars from several calls without a label may count as one series
            found, right = ([[bar for series in side for bar in series]] for side in (found, right))
        pairs = self._paired(found, right, self._wrong_bars)
        return next(filter(None, (self._wrong_bars(one, other) for one, other in pairs)), "")

    def _paired(self, found: list[T], right: list[T], wrong: Callable[[T, T], str]) -> list[tuple[T, T]]:
        """Return the series in ``found`` and ``right`` that have no equal counterpart, paired in their order."""
        left, alone, pairs = list(found), [], []
        for other in right:
            same = next((place for place, one in enumerate(left) if not wrong(one, other)), None)
            if same is None:
                alone.append(other)
            else:
                left.pop(same)
        pairs += list(zip(left, alone, strict=False))
        return pairs

    def _wrong_bars(self, found: list[Bar], right: list[Bar]) -> str:
        names = [bar[0] for bar in right]
        if any(isinstance(name, str) for name in names):
            lacking = [name for name in names if name not in [bar[0] for bar in found]]
            spare = [bar[0] for bar in found if bar[0] not in names]
            if lacking:
                return f"There is no bar at {show(lacking[0])}{f', but one at {show(spare[0])}' if spare else ''}."
            if spare:
                return f"There is an extra bar at {show(spare[0])}."
        if len(found) != len(right):
            return f"It draws {pluralize(len(found), 'bar')} instead of {len(right)}."
        pairs = list(zip(sorted(found, key=_bar_key), sorted(right, key=_bar_key), strict=True))
        if not any(isinstance(name, str) for name in names):
            reach = max(bar[1] + bar[2] for bar in right) - min(bar[1] for bar in right)
            for one, other in pairs:
                middles = one[1] + one[2] / 2, other[1] + other[2] / 2
                if abs(middles[0] - middles[1]) > 1e-3 * reach + self.atol:
                    return f"There is a bar {_span(one)} instead of {_span(other)}."
        wrong = [(one, other) for one, other in pairs if not self._close(one[3], other[3])]
        if not wrong:
            return ""
        one, other = wrong[0]
        many = f" ({len(wrong)} of {len(right)} bars differ)" if len(wrong) > 1 else ""
        where = f"at {show(other[0])}" if isinstance(other[0], str) else _span(other)
        high, asked = show_apart(float(one[3]), float(other[3]))
        return f"The bar {where} has height {high} instead of {asked}{many}."

    # lines and points

    def _lines(self) -> str:
        found, right = ([_of_line(line) for line in side["lines"]] for side in (self.found, self.right))
        if len(found) < len(right):
            return f"It draws {pluralize(len(found), 'line')} instead of {len(right)}."
        pairs = self._paired(found, right, self._wrong_line)
        wrong = next(filter(None, (self._wrong_line(one, other) for one, other in pairs)), "")
        if not wrong and len(found) > len(right):
            return f"It draws {pluralize(len(found), 'line')} instead of {len(right)}."
        return wrong

    def _wrong_line(self, found: Line, right: Line) -> str:
        name = f"The line {right[2]!r}" if right[2] else "The line"
        if len(found[0]) != len(right[0]):
            return f"{name} has {pluralize(len(found[0]), 'point')} instead of {len(right[0])}."
        both = self._close(found[0], right[0]) & self._close(found[1], right[1])
        if both.all():
            return ""
        place = int((~both).argmax())
        (x, right_x), (y, right_y) = (show_apart(float(found[a][place]), float(right[a][place])) for a in (0, 1))
        if not self._close(found[0][place], right[0][place]):
            return f"{name} has point {place + 1} at x = {x} instead of {right_x}."
        return f"{name} is at y = {y} instead of {right_y}, at x = {right_x}."

    def _points(self) -> str:
        found, right = (
            np.concatenate([np.stack(_of_line(p)[:2], axis=1) for p in side["points"]])
            for side in (self.found, self.right)
        )
        if len(found) != len(right):
            return f"It draws {pluralize(len(found), 'point')} instead of {len(right)}."
        found, right = (side[np.lexsort((np.round(side[:, 1], 6), np.round(side[:, 0], 6)))] for side in (found, right))
        wrong = ~self._close(found, right).all(axis=1)
        if not wrong.any():
            return ""
        left = [*found[wrong][:_MAX_MATCHED]]
        for point in right[wrong][:_MAX_MATCHED]:
            near = next((i for i, other in enumerate(left) if self._close(other, point).all()), None)
            if near is None:
                (x, y), many = map(show, point), int(wrong.sum())
                more = (
                    f". In total, {many} of {pluralize(len(right), 'point')} are in the wrong place" if many > 1 else ""
                )
                return f"There is no point at x = {x}, y = {y}{more}."
            left.pop(near)
        return ""

    # images, areas and pies

    def _images(self) -> str:
        for one, other in zip(self.found["images"], self.right["images"], strict=False):
            finding = matches(_numbers(one), _numbers(other), rtol=self.rtol, atol=self.atol)
            if finding is not None:
                return f"The image differs: {finding.reason[0].lower()}{finding.reason[1:]}"
        return self._as_many("images")

    def _areas(self) -> str:
        for one, other in zip(map(_of_line, self.found["areas"]), map(_of_line, self.right["areas"]), strict=False):
            if self._wrong_line(one, other):
                return "The filled area is wrong."
        return self._as_many("areas")

    def _wedges(self) -> str:
        if wrong := self._as_many("wedges"):
            return wrong
        found, right = (sorted(float(piece["share"]) for piece in side["wedges"]) for side in (self.found, self.right))
        for one, other in zip(found, right, strict=True):
            if not self._close(one, other):
                return f"A slice of the pie is {one:.1%} of the whole instead of {other:.1%}."
        return ""

    def _as_many(self, kind: str) -> str:
        many, right = len(self.found[kind]), len(self.right[kind])
        return "" if many == right else f"It draws {pluralize(many, _NOUNS[kind])} instead of {right}."

    # texts and axes

    def _labels(self) -> str:
        sides = [side for side in ("x", "y") if self.right.get(f"{side}label")]
        lacking = [f"the {self._side(side)} axis" for side in sides if not self.found.get(f"{side}label")]
        if lacking:
            return f"{join_words(lacking)[0].upper()}{join_words(lacking)[1:]} {'have' if len(lacking) > 1 else 'has'} no label."
        wrong = (self._worded(f"{side}label", f"The label of the {self._side(side)} axis") for side in sides)
        return next(filter(None, wrong), "")

    def _side(self, side: str) -> str:
        """Return the student's letter for the axis ``side``. If the bars are horizontal, x and y are swapped."""
        return {"x": "y", "y": "x"}[side] if self.found.get("horizontal") is True else side

    def _title(self) -> str:
        if self.right.get("title") and not self.found.get("title"):
            return "The plot has no title."
        return self._worded("title", "The title")

    def _worded(self, key: str, what: str) -> str:
        found, right = self.found.get(key), self.right.get(key)
        if not isinstance(right, str) or found == right:
            return ""
        return f"{what} is {show(found)} instead of {show(right)}."

    def _legend(self) -> str:
        found, right = self.found.get("legend"), self.right.get("legend")
        if right and not found:
            return "There is no legend."
        if not isinstance(right, list) or not isinstance(found, list):
            return ""
        if sorted(map(str, found)) == sorted(map(str, right)):
            return ""
        return f"The legend names {join_words([show(text) for text in found])} instead of {join_words([show(text) for text in right])}."

    def _scales(self) -> str:
        for side in ("x", "y"):
            found, right = self.found.get(f"{side}scale"), self.right.get(f"{side}scale")
            if found != right:
                return f"The {self._side(side)} axis is {str(found)[:20]} instead of {right}."
        return ""

    def _limits(self) -> str:
        for side in ("x", "y"):
            found, right = self.found[f"{side}lim"], self.right[f"{side}lim"]
            if not self._close(found, right).all():
                return f"The {self._side(side)} axis goes from {show(found[0])} to {show(found[1])} instead of from {show(right[0])} to {show(right[1])}."
        return ""


def _numbers(value: Value) -> np.ndarray:
    """Return floats as an array. Raises ``ValueError`` if there are none."""
    array = as_array(value, np.float64)
    if array is None:
        raise ValueError("the probe returns numbers here")
    return array


def _of_bars(series: Axes) -> Iterator[Bar]:
    """Yield each bar: its name or position, left side, width and height."""
    sides = (_numbers(series[key]).tolist() for key in ("left", "width", "height"))
    for name, left, width, height in zip(series["at"], *sides, strict=True):
        yield name if isinstance(name, str) else float(name), left, width, height


def _of_line(line: Axes) -> Line:
    x, y = _numbers(line["x"]), _numbers(line["y"])
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError("a line has as many x as y")
    return x, y, str(line.get("label", ""))


def _bar_key(bar: Bar) -> tuple[str, float, float]:
    return (bar[0], 0.0, bar[3]) if isinstance(bar[0], str) else ("", bar[1] + bar[2] / 2, bar[3])


def _span(bar: Bar) -> str:
    return f"from {show(bar[1])} to {show(bar[1] + bar[2])}"
