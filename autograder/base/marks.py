"""The marks of a student's work on a chapter, cell by cell, as stored in a gradebook."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from autograder.base.verdict import Verdict

__all__ = ["CHECK", "CellMark", "SubmissionMarks", "automatic_marks"]

CHECK = "check_"  # prefix of the grade id of an exercise's check cell


@dataclass(frozen=True, slots=True)
class CellMark:
    """The mark of one cell.

    Attributes:
        auto: the points that the checks gave, or None.
        by_hand: the points that were given manually, or None.
        extra: the extra credit, or None.
        needs_manual_grade: whether the cell has to be graded manually, for the first time or again.
    """

    name: str
    max_score: float
    auto: float | None
    by_hand: float | None
    extra: float | None
    needs_manual_grade: bool

    @property
    def is_graded(self) -> bool:
        """Whether the cell has a mark."""
        return self.auto is not None or self.by_hand is not None

    @property
    def score(self) -> float:
        """The points that count, by nbgrader's rule: manual points replace automatic ones, and extra credit is added."""
        base = self.by_hand if self.by_hand is not None else self.auto
        return 0.0 if base is None else base + (self.extra or 0.0)


@dataclass(frozen=True)
class SubmissionMarks:
    """The marks of one student's work on a chapter.

    Attributes:
        comments: manual comments by cell.
        penalty: the points taken off for a late submission.
        timestamp: when the work was submitted, as a naive datetime in UTC.
        extension: the extra time that this student had.
        reason: why the work could not be graded, or "".
    """

    cells: tuple[CellMark, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    timestamp: dt.datetime | None = None
    extension: dt.timedelta = dt.timedelta()
    reason: str = ""

    @cached_property
    def by_cell(self) -> Mapping[str, CellMark]:
        """The marks by cell name."""
        return {cell.name: cell for cell in self.cells}

    @property
    def score(self) -> float:
        """The sum of the cells' points, before any penalty."""
        return round(math.fsum(cell.score for cell in self.cells), 9)

    @property
    def max_score(self) -> float:
        """The maximum points of all cells together."""
        return round(math.fsum(cell.max_score for cell in self.cells), 9)

    @property
    def total(self) -> float:
        """The final mark: the score minus the late penalty, at least 0."""
        return max(0.0, round(self.score - self.penalty, 9))

    @property
    def is_graded(self) -> bool:
        """Whether any cell has a mark. A notebook that could not be graded has none until it is graded manually."""
        return any(cell.is_graded for cell in self.cells)

    @property
    def complete(self) -> bool:
        """Whether every cell with points has a mark. Cells with 0 points need none."""
        return bool(self.cells) and all(cell.is_graded or not cell.max_score for cell in self.cells)

    @property
    def waiting(self) -> list[CellMark]:
        """The cells that need manual grading."""
        return [cell for cell in self.cells if cell.needs_manual_grade]

    @property
    def has_manual_entries(self) -> bool:
        """Whether the mark has a part that the checks did not compute: a comment, a penalty, an extension, or manual or extra points."""
        marks = any(cell.by_hand is not None or cell.extra or cell.needs_manual_grade for cell in self.cells)
        return marks or bool(self.comments or self.penalty or self.extension)

    def seconds_late(self, due: dt.datetime | None) -> float:
        """Return how many seconds late the work was submitted, after any extension, or 0 if a time is unknown."""
        if due is None or self.timestamp is None:
            return 0.0
        return max((self.timestamp - due - self.extension).total_seconds(), 0.0)

    def equals(self, other: SubmissionMarks) -> bool:
        """Return whether ``other`` has the same marks and comments, in any order, and the same penalty and extension."""
        same_comments = dict(self.comments) == dict(other.comments)
        mine, theirs = ((one.by_cell, one.penalty, one.extension) for one in (self, other))
        return same_comments and mine == theirs


def automatic_marks(verdict: Verdict) -> SubmissionMarks:
    """Return the marks that the checks alone give."""
    scores = ((CHECK + e.name, e.max_score, e.score) for e in verdict.exercises)
    return SubmissionMarks(tuple(CellMark(*score, None, None, needs_manual_grade=False) for score in scores))
