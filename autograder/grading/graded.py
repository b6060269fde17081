"""What grading hands over for one submission: its verdict and what was run, or the reason why it cannot be graded."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autograder.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.grading.submission import Job
    from autograder.notebook import Notebook
    from autograder.sandbox.protocol import CellOutcome

__all__ = ["Graded", "finished", "points_of", "ungradable"]


@dataclass(frozen=True, slots=True)
class Graded:
    """A job done: its verdict, the notebook that was run (none where it is ungradable), and what its cells put out.

    ``key`` is that of the stored verdict, where it is kept; ``settled`` is false where the same bytes may fare better
    another time.
    """

    job: Job
    verdict: Verdict
    document: dict[str, Any] = field(default_factory=dict)
    cells: tuple[CellOutcome, ...] = ()
    key: str = ""
    settled: bool = True


def finished(graded: Graded, finish: Callable[[Graded], Any] | None) -> Any:
    """What ``finish`` makes of ``graded``: itself, where there is nothing more to do."""
    return graded if finish is None else finish(graded)


def ungradable(job: Job, reason: str, chapter: str | None = None, max_score: float = 0.0) -> Verdict:
    """The verdict on a notebook that could not be judged: never a zero, always with its reason."""
    return Verdict(
        notebook=str(job.path),
        student=job.student,
        chapter=chapter or job.chapter,
        status="ungradable",
        reason=reason,
        score=0.0,
        max_score=max_score,
        sandbox=None,
    )


def points_of(released: Notebook, only: frozenset[str] | None = None) -> float:
    """What the exercises of a chapter (``only`` some of them) are worth together."""
    return math.fsum(
        cell.points or 0.0
        for cell in released.cells
        if cell.role == "check" and (only is None or (cell.grade_id or "").removeprefix("check_") in only)
    )
