"""The mark of a student's work on a chapter as a gradebook has it: cell by cell, given by checks or by a person, and what counts."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from autograder.base.verdict import Verdict

__all__ = ["CHECK", "CellMark", "SubmissionMarks", "automatic_marks"]

CHECK = "check_"  # what the name of an exercise's graded cell begins with


@dataclass(frozen=True, slots=True)
class CellMark:
    """The mark of one cell: what checks gave (``auto``), what a person gave (``by_hand``), and extra credit; each None where not given.

    ``waits`` says that a person has to look at it, for the first time or again.
    """

    name: str
    max_score: float
    auto: float | None
    by_hand: float | None
    extra: float | None
    waits: bool

    @property
    def given(self) -> bool:
        """Whether there is a mark at all."""
        return self.auto is not None or self.by_hand is not None

    @property
    def score(self) -> float:
        """What counts, by nbgrader's rule: the mark by hand before that of the checks, and extra credit on top of either."""
        base = self.by_hand if self.by_hand is not None else self.auto
        return 0.0 if base is None else base + (self.extra or 0.0)


@dataclass(frozen=True)
class SubmissionMarks:
    """What a gradebook holds of one student's work on a chapter.

    ``comments`` are those that a person wrote, by cell. ``timestamp`` says when it came in, in UTC without its zone, and ``extension``
    how much longer this student had. ``reason`` says why it could not be graded, empty where it could.
    """

    cells: tuple[CellMark, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    timestamp: dt.datetime | None = None
    extension: dt.timedelta = dt.timedelta()
    reason: str = ""

    @cached_property
    def by_cell(self) -> Mapping[str, CellMark]:
        """The marks by the names of their cells."""
        return {cell.name: cell for cell in self.cells}

    @property
    def score(self) -> float:
        """The sum of its cells, before any penalty."""
        return round(math.fsum(cell.score for cell in self.cells), 9)

    @property
    def max_score(self) -> float:
        """What its cells are worth."""
        return round(math.fsum(cell.max_score for cell in self.cells), 9)

    @property
    def total(self) -> float:
        """What counts in the end: the sum without the late penalty, and never less than nothing."""
        return max(0.0, round(self.score - self.penalty, 9))

    @property
    def given(self) -> bool:
        """Whether it has any mark: a notebook that could not be graded has none until a person gives one."""
        return any(cell.given for cell in self.cells)

    @property
    def complete(self) -> bool:
        """Whether every cell that is worth something has a mark; one worth 0 points keeps nobody's mark back."""
        return bool(self.cells) and all(cell.given or not cell.max_score for cell in self.cells)

    @property
    def waiting(self) -> list[CellMark]:
        """The cells that a person has to look at."""
        return [cell for cell in self.cells if cell.waits]

    @property
    def has_more(self) -> bool:
        """Whether it holds anything that the checks did not give."""
        return bool(self.comments or self.penalty) or any(
            cell.by_hand is not None or cell.extra or cell.waits for cell in self.cells
        )

    def seconds_late(self, due: dt.datetime | None) -> float:
        """How long after ``due``, and after the student's extension, it came in; 0 where that is not known."""
        if due is None or self.timestamp is None:
            return 0.0
        return max((self.timestamp - due - self.extension).total_seconds(), 0.0)

    def same_as(self, other: SubmissionMarks) -> bool:
        """Whether the two say the same of every cell, in whatever order."""
        mine, theirs = (
            (self.by_cell, dict(self.comments), self.penalty),
            (other.by_cell, dict(other.comments), other.penalty),
        )
        return mine == theirs


def automatic_marks(verdict: Verdict) -> SubmissionMarks:
    """The marks that the checks alone give."""
    return SubmissionMarks(
        tuple(CellMark(CHECK + e.name, e.max_score, e.score, None, None, waits=False) for e in verdict.exercises)
    )
