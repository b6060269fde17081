"""What grading hands over for one submission: its verdict and what was run, or the reason why it cannot be graded."""

from __future__ import annotations

import math
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.sanitize import sanitize
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.grading.submission import Job
    from autograder.notebook import Notebook
    from autograder.sandbox.protocol import CellOutcome

__all__ = ["Graded", "crash", "finished", "points_of", "ungradable"]

LONGEST_REASON = 4000  # characters
_FRAMEWORK = Path(__file__).parents[1]


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
    """What ``finish`` makes of ``graded``: itself, where there is nothing more to do.

    Where it fails over what stands in this notebook, that one is ungradable, and finished as such: no student's text may
    end a class's run. An ``OSError`` is about our own disk, and raised.
    """
    if finish is None:
        return graded
    try:
        return finish(graded)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is about this one notebook
        verdict = graded.verdict
        reason = crash("Writing what the student gets back", error)
        return finish(
            Graded(graded.job, ungradable(graded.job, reason, verdict.chapter, verdict.max_score), settled=False)
        )


def crash(doing: str, error: BaseException) -> str:
    """The reason why a notebook over which ``doing`` something raised ``error`` is ungradable, for whoever looks into it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_FRAMEWORK)] or frames
    where = f" ({Path(ours[-1].filename).name}, line {ours[-1].lineno})" if ours else ""
    return (
        f"{doing} failed: {type(error).__name__}: {sanitize(str(error), 1000)}{where}. "
        "This is not the student's fault; grade it again, or by hand."
    )


def ungradable(job: Job, reason: str, chapter: str | None = None, max_score: float = 0.0) -> Verdict:
    """The verdict on a notebook that could not be judged: never a zero, always with its reason."""
    return Verdict(
        notebook=str(job.path),
        student=job.student,
        chapter=chapter or job.chapter,
        status="ungradable",
        reason=sanitize(reason, LONGEST_REASON),
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
