"""Item analysis: difficulty and discrimination of each exercise, and the reliability of all together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.base.foreign import Json
from autograder.extras.report.class_marks import ChapterMarks

__all__ = ["FEW", "ItemAnalysis", "ItemFigures", "analyse"]

FEW = 10  # students below which a correlation of marks means nothing
SOME = 30  # students below which it is rough
_HARD, _EASY = 0.4, 0.9  # shares of the points below and above which an exercise is hard and easy
_WEAK, _GOOD = 0.1, 0.3  # correlations, by the usual rules of thumb
_RELIABLE = 0.7


@dataclass(frozen=True, slots=True)
class ItemFigures:
    """The figures of one exercise.

    ``difficulty`` is the mean score divided by the points, so 1 is easy. ``discrimination`` is Pearson's correlation of the score
    with the sum of the other exercises' scores (point-biserial if the score is all or nothing). It is None if it is undefined or
    there are too few students. ``low`` and ``high`` are its 95 % confidence bounds (Fisher's z). ``sentence`` explains the figures.
    """

    name: str
    worth: float
    difficulty: float
    discrimination: float | None
    low: float | None
    high: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class ItemAnalysis:
    """The figures of a chapter's exercises, and their reliability: Cronbach's alpha, or None if it is undefined or there are too few students."""

    students: int
    items: tuple[ItemFigures, ...]
    alpha: float | None
    sentence: str

    def to_json(self) -> dict[str, Json]:
        """Return the figures as data."""
        names = ItemFigures.__slots__
        items = [{name: getattr(item, name) for name in names} for item in self.items]
        return {"students": self.students, "alpha": self.alpha, "sentence": self.sentence, "items": items}


def analyse(one: ChapterMarks) -> ItemAnalysis:
    """Analyze the students who have a mark in every exercise."""
    worth = {name: points for name, points in one.worth.items() if points > 0}
    rows = [
        [float(score) for score in scores if score is not None]
        for mark in one.of("graded")
        for scores in [[mark.exercises.get(name) for name in worth]]
        if None not in scores
    ]
    if not rows:
        return ItemAnalysis(0, (), None, "Nobody has a mark in every exercise yet, so there is nothing to compute.")
    columns = dict(zip(worth, map(list, zip(*rows, strict=True)), strict=True))
    totals = [math.fsum(row) for row in rows]
    items = tuple(_item(name, worth[name], scores, totals) for name, scores in columns.items())
    alpha = _alpha(list(columns.values()), totals) if len(rows) >= FEW else None
    return ItemAnalysis(len(rows), items, alpha, _of_alpha(alpha, len(rows), columns))


def _item(name: str, worth: float, scores: Sequence[float], totals: Sequence[float]) -> ItemFigures:
    difficulty = statistics.fmean(scores) / worth
    others = [total - score for total, score in zip(totals, scores, strict=True)]
    found = _correlation(scores, others) if len(scores) >= FEW else None
    low, high = _bounds(found, len(scores)) if found is not None else (None, None)
    return ItemFigures(name, worth, difficulty, found, low, high, _of_item(difficulty, found, low, len(scores)))


def _correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Pearson's correlation. None if one of the two is constant."""
    if max(x) - min(x) < 1e-9 or max(y) - min(y) < 1e-9:
        return None
    return statistics.correlation(x, y)


def _bounds(r: float, n: int) -> tuple[float, float]:
    z, half = math.atanh(max(min(r, 1 - 1e-9), -1 + 1e-9)), 1.96 / math.sqrt(n - 3)
    return math.tanh(z - half), math.tanh(z + half)


def _alpha(columns: Sequence[Sequence[float]], totals: Sequence[float]) -> float | None:
    """Return Cronbach's alpha: k / (k - 1) * (1 - sum of the exercises' variances / variance of the total)."""
    k, variance = len(columns), statistics.pvariance(totals)
    if k < 2 or variance < 1e-12:
        return None
    return k / (k - 1) * (1 - math.fsum(map(statistics.pvariance, columns)) / variance)


def _of_item(difficulty: float, found: float | None, low: float | None, students: int) -> str:
    if students < FEW:
        return f"With fewer than {FEW} students, its difficulty and its relation to the other exercises are unknown."
    if difficulty >= _EASY:
        first = "Nearly everybody has these points."
    elif difficulty <= _HARD:
        first = "This one is hard."
    else:
        first = "Neither hard nor easy."
    if found is None:
        return f"{first} All marks here, or in the rest, are the same, so they cannot be compared."
    if found < 0:
        second = "Students who are strong elsewhere do worse here. Read the exercise and its checks again."
    elif found < _WEAK:
        second = "It says almost nothing about which students are strong elsewhere."
    elif found < _GOOD:
        second = "It agrees a little with the other exercises."
    else:
        second = "It agrees well with the other exercises."
    rough = " With so few students, this may be chance." if low is not None and low < 0 < found else ""
    return f"{first} {second}{rough}"


def _of_alpha(alpha: float | None, students: int, columns: Mapping[str, Sequence[float]]) -> str:
    if students < FEW:
        return (
            f"Reliability and discrimination are not shown: {students} with a mark in every exercise "
            f"{'is' if students == 1 else 'are'} too few. They become meaningful from {FEW} students on."
        )
    if alpha is None:
        why = "there is only one exercise" if len(columns) < 2 else "everybody has the same total"
        return f"Cronbach's alpha is not defined here: {why}."
    what = "the exercises measure one thing, and similar exercises would rank the class in much the same way"
    if alpha < _RELIABLE:
        what = "a good part of the differences between totals is chance, or the exercises measure different things"
    rough = f" With fewer than {SOME} students, this is only a rough estimate." if students < SOME else ""
    return f"Cronbach's alpha is {alpha:.2f}: {what}.{rough}"
