"""Judge random results: compute how many results are needed to detect a mistake, and the bounds for right answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.asserts import judge_assertion

__all__ = ["Average", "Draws", "assert_average", "assert_drawn"]

FALSE_ALARMS = 1e-9
POWER = 0.999
_MOST_DRAWS = 2**20


@dataclass(frozen=True)
class Draws:
    """Independent draws of the numbers 0 to n - 1 with known probabilities.

    The count of each number must be within bounds, which are exact quantiles of the binomial distribution.

    Attributes:
        shares: the probability of each number. Shape (n,).
        effects: the mistakes that must be detected. Each description is mapped to the probabilities that the mistake leads to.
        false_alarms: the probability that right draws are out of bounds for at least one number.
        power: the probability with which each mistake is detected.
    """

    shares: np.ndarray
    effects: Mapping[str, np.ndarray]
    false_alarms: float = FALSE_ALARMS
    power: float = POWER

    @cached_property
    def number(self) -> int:
        """The number of draws needed to detect every mistake. Raises ``ValueError`` if it is above a million."""
        low, high = 1, 16
        while not self._detects(high):
            low, high = high, 2 * high
            if high > _MOST_DRAWS:
                raise ValueError(f"More than a million draws are needed to detect: {', '.join(self.effects)}.")
        while high - low > max(1, low // 50):
            middle = (low + high) // 2
            low, high = (low, middle) if self._detects(middle) else (middle, high)
        return high

    def _detects(self, number: int) -> bool:
        return all(self._chance(number, np.asarray(other)) >= self.power for other in self.effects.values())

    def _chance(self, number: int, other: np.ndarray) -> float:
        """Return a lower bound on the probability that draws with the probabilities ``other`` are out of bounds."""
        pairs = {(float(p), float(q)) for p, q in zip(self.shares, other, strict=True) if p != q}
        chances = [0.0]
        for p, q in pairs:
            low, high = self._count_bounds(number, p)
            at_most = np.cumsum(_binomial(number, q))
            below = at_most[low - 1] if low else 0.0
            chances.append(float(below + 1 - at_most[high]))
        return max(chances)

    def _count_bounds(self, number: int, share: float) -> tuple[int, int]:
        """Return the smallest and the largest count that a number with the given share may have."""
        chances, tail = _binomial(number, share), self.false_alarms / 2 / len(self.shares)
        low = int(np.searchsorted(np.cumsum(chances), tail, side="right"))
        high = number - int(np.searchsorted(np.cumsum(chances[::-1]), tail, side="right"))
        return low, high

    def bounds(self, number: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest count of each number in ``number`` draws, by default ``self.number``."""
        known = {p: self._count_bounds(number or self.number, p) for p in set(np.asarray(self.shares).tolist())}
        low, high = zip(*(known[p] for p in np.asarray(self.shares).tolist()), strict=True)
        return np.array(low), np.array(high)

    def __str__(self) -> str:
        return _summary(self.number, "draws", [*self.effects], self)


@dataclass(frozen=True)
class Average:
    """The average of independent random results with a known mean and standard deviation.

    The bounds come from the normal distribution, corrected for skewness (Cornish and Fisher 1938, first term).

    Attributes:
        mean: the mean of the results of a right solution.
        deviation: the standard deviation of one result.
        effect: the smallest change of the mean that must be detected.
        bias: how far the mean of a right solution may be below ``mean``, for example if a variance divides by n.
        skewness: the skewness of one result.
        false_alarms: the probability that the average of right results is out of bounds.
        power: the probability with which the effect is detected.
    """

    mean: float
    deviation: float
    effect: float
    bias: float = 0.0
    skewness: float = 0.0
    false_alarms: float = FALSE_ALARMS
    power: float = POWER

    @cached_property
    def number(self) -> int:
        """The number of results needed to detect the effect. Raises ``ValueError`` if the effect is not larger than the bias."""
        if self.effect <= self.bias:
            raise ValueError(f"An effect of {self.effect:g} cannot be distinguished from a bias of {self.bias:g}.")
        number = 1
        for _ in range(3):  # the skewness of an average falls with the number of results
            needed = self._quantile(self.false_alarms / 2, number) + self._quantile(1 - self.power, number)
            number = ceil((needed * self.deviation / (self.effect - self.bias)) ** 2)
        return number

    def _quantile(self, tail: float, number: int) -> float:
        z = NormalDist().inv_cdf(1 - tail)
        return z + (z * z - 1) / 6 * abs(self.skewness) / sqrt(number)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest average of ``number`` right results."""
        slack = self._quantile(self.false_alarms / 2, self.number) * self.deviation / sqrt(self.number)
        return self.mean - self.bias - slack, self.mean + slack

    def __str__(self) -> str:
        return _summary(
            self.number, "results", [f"an average that differs from {self.mean:g} by {self.effect:g}"], self
        )


def assert_drawn(actual: Value, test: Draws, *, call: str = "", **inputs: Value) -> None:
    """Check that each number occurs in ``actual``, of shape (m,), as often as ``test`` expects. Use ``m = test.number``."""
    number = len(actual) if isinstance(actual, np.ndarray) and actual.ndim else test.number
    low, high = test.bounds(number)
    mean = (number * np.asarray(test.shares)).tolist()
    params = {"low": low.tolist(), "high": high.tolist(), "mean": mean, "summary": str(test)}
    judge_assertion("drawn", actual, None, params, call, inputs)


def assert_average(actual: Value, test: Average, *, call: str = "", **inputs: Value) -> None:
    """Check that the results in ``actual``, of shape (test.number,), have the average that ``test`` expects."""
    low, high = test.bounds
    params = {"low": low, "high": high, "mean": test.mean, "summary": str(test)}
    judge_assertion("averages", actual, None, params, call, inputs)


def _summary(number: int, noun: str, effects: Sequence[str], test: Draws | Average) -> str:
    return (
        f"{number} {noun} detect {', '.join(effects)} with probability {test.power:g}, and reject a correct answer with "
        f"probability {test.false_alarms:g}"
    )


def _binomial(number: int, share: float) -> np.ndarray:
    """Return the probabilities of 0 to ``number`` successes in ``number`` trials, if each succeeds with probability ``share``."""
    counts = np.arange(number + 1)
    if share in (0.0, 1.0):
        return np.asarray(counts == number * share, dtype=np.float64)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, number + 1)))])
    ways = factorials[-1] - factorials - factorials[::-1]
    return np.asarray(np.exp(ways + counts * np.log(share) + (number - counts) * np.log1p(-share)))
