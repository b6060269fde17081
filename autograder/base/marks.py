"""The marks of one submission, cell by cell: automatic marks, manual marks, and the score that counts."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from autograder.base.verdict import Verdict

__all__ = ["CHECK", "CellMark", "SubmissionMarks", "automatic_marks"]

CHECK = "check_"  # prefix of the names of the exercises' graded cells


@dataclass(frozen=True, slots=True)
class CellMark:
    """The mark of one cell.

    Attributes:
        auto: the mark from the checks, or None.
        by_hand: the manual mark, or None.
        extra: the extra credit, or None.
        waits: whether an instructor has to grade the cell, for the first time or again.
    """

    name: str
    max_score: float
    auto: float | None
    by_hand: float | None
    extra: float | None
    waits: bool

    @property
    def given(self) -> bool:
        """Whether the cell has a mark."""
        return self.auto is not None or self.by_hand is not None

    @property
    def score(self) -> float:
        """The score that counts. As in nbgrader, a manual mark replaces the automatic one, and extra credit is added."""
        base = self.by_hand if self.by_hand is not None else self.auto
        return 0.0 if base is None else base + (self.extra or 0.0)


@dataclass(frozen=True)
class SubmissionMarks:
    """The gradebook's entries for one student's work on a chapter.

    Attributes:
        cells: the marks of the cells.
        comments: the graders' comments, by cell.
        penalty: the late penalty, in points.
        timestamp: the time of submission, in UTC and without a time zone.
        extension: extra time granted to this student.
        reason: why the submission could not be graded. Empty if it was graded.
    """

    cells: tuple[CellMark, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    timestamp: dt.datetime | None = None
    extension: dt.timedelta = dt.timedelta()
    reason: str = ""

    @cached_property
    def by_cell(self) -> Mapping[str, CellMark]:
        """The marks, by cell name."""
        return {cell.name: cell for cell in self.cells}

    @property
    def score(self) -> float:
        """The sum of all cells, before any penalty."""
        return round(math.fsum(cell.score for cell in self.cells), 9)

    @property
    def max_score(self) -> float:
        """The maximum score of all cells."""
        return round(math.fsum(cell.max_score for cell in self.cells), 9)

    @property
    def total(self) -> float:
        """The final score: the sum minus the late penalty, but at least 0."""
        return max(0.0, round(self.score - self.penalty, 9))

    @property
    def given(self) -> bool:
        """Whether any cell has a mark. An ungradable notebook has none until it is graded manually."""
        return any(cell.given for cell in self.cells)

    @property
    def complete(self) -> bool:
        """Whether every cell with points has a mark. Cells worth 0 points do not matter."""
        return bool(self.cells) and all(cell.given or not cell.max_score for cell in self.cells)

    @property
    def waiting(self) -> list[CellMark]:
        """The cells that need manual grading."""
        return [cell for cell in self.cells if cell.waits]

    @property
    def has_more(self) -> bool:
        """Whether there is anything that did not come from the checks."""
        return bool(self.comments or self.penalty) or any(
            cell.by_hand is not None or cell.extra or cell.waits for cell in self.cells
        )

    def seconds_late(self, due: dt.datetime | None) -> float:
        """Return the seconds between the due date plus extension and the submission, or 0 if either is unknown."""
        if due is None or self.timestamp is None:
            return 0.0
        return max((self.timestamp - due - self.extension).total_seconds(), 0.0)

    def same_as(self, other: SubmissionMarks) -> bool:
        """Return whether both have the same marks, comments and penalty. The order of cells does not matter."""
        mine, theirs = (
            (self.by_cell, dict(self.comments), self.penalty),
            (other.by_cell, dict(other.comments), other.penalty),
        )
        return mine == theirs


def automatic_marks(verdict: Verdict) -> SubmissionMarks:
    """Return the marks that the checks alone give."""
    return SubmissionMarks(
        tuple(CellMark(CHECK + e.name, e.max_score, e.score, None, None, waits=False) for e in verdict.exercises)
    )
