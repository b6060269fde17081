"""The time that a class's unnamed mistakes may take together: what grading took sets it, and most of it goes where most gain."""

from __future__ import annotations

__all__ = ["Budget"]

_SHARE = 0.3  # of the time that grading takes, for each second of which so much is earned
_BEGINNING = 45  # times the seconds of one exercise that there are before anything is earned: for some hundred different mistakes
_PART = 8  # one student's mistake may take so small a part of what is left; each further student with the same, one part more
_LEAST = 0.1  # seconds with which a search is worth its beginning


class Budget:
    """How long one process may look for mistakes; ``seconds`` is what one exercise of one student may take at most."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._left = _BEGINNING * seconds

    def earn(self, seconds: float) -> None:
        """Note that grading took so long."""
        self._left += _SHARE * seconds

    def spend(self, seconds: float) -> None:
        """Note that a search took so long."""
        self._left -= seconds

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left, not even for a proof of what is known."""
        return self._left <= 0

    def allowance(self, students: int) -> float:
        """The seconds for a mistake that so many students have made until now; 0 where there are too few to begin."""
        seconds = min(self._seconds, self._left * students / _PART)
        return seconds if seconds >= min(_LEAST, self._seconds) else 0.0
