"""What became of one notebook: its verdict and what was run, or the reason why it cannot be graded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.base.verdict import Verdict, crash
from autograder.course.notebook import Notebook
from autograder.grading.submission import Job
from autograder.sandbox.protocol import CellOutcome

__all__ = ["Deliver", "Outcome", "crash", "delivered", "points_of", "ungradable", "verdict_only"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one job, from the process that graded it to the gradebook.

    ``document`` is the notebook that was run (none where it is ungradable), ``cells`` what its cells put out. Delivering
    writes both into what the student gets back: then ``cells`` is empty, ``document`` holds only the cells that a person
    marks, ``timestamp`` is the text of nbgrader's ``timestamp.txt``, if there is one, and ``rewritten`` names those of the cells
    that a person marks whose text is another than when they were graded before; ``page_kept`` says that a page stands there which
    somebody else made. ``contested`` means that an earlier notebook counts where that has the better mark, and ``lost`` that it has:
    then ``verdict`` is the earlier one's.
    ``key`` is that of the stored verdict ("" where none is stored); ``settled`` is false where the same bytes may fare
    better another time.
    """

    job: Job
    verdict: Verdict
    document: dict[str, Any] = field(default_factory=dict)
    cells: tuple[CellOutcome, ...] = ()
    key: str = ""
    settled: bool = True
    timestamp: str | None = None
    rewritten: frozenset[str] = frozenset()
    page_kept: bool = False
    contested: bool = False
    lost: bool = False


Deliver = Callable[[Outcome], Outcome]


def delivered(outcome: Outcome, deliver: Deliver | None) -> Outcome:
    """What ``deliver`` makes of ``outcome``; the same where there is nothing to deliver.

    Where it fails over what stands in this notebook, that one is ungradable, and delivered as such: no student's text may
    end a class's run. An ``OSError`` is about our own disk, and raised.
    """
    if deliver is None:
        return outcome
    try:
        return deliver(outcome)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is about this one notebook
        verdict, job = outcome.verdict, outcome.job
        reason = crash("Writing what the student gets back", error)
        return deliver(Outcome(job, ungradable(job, reason, verdict.chapter, verdict.max_score), settled=False))


def verdict_only(outcome: Outcome) -> Outcome:
    """The outcome without the notebook, which nobody will look at: a ``Deliver``."""
    return replace(outcome, document={}, cells=())


def ungradable(job: Job, reason: str, chapter: str | None = None, max_score: float = 0.0) -> Verdict:
    """The verdict on a notebook that could not be judged: never a zero, always with its reason."""
    return Verdict.ungradable(str(job.path), reason, job.student, chapter or job.chapter, max_score)


def points_of(released: Notebook, only: frozenset[str] | None = None) -> float:
    """What the exercises of a chapter (``only`` some of them) are worth together."""
    return math.fsum(
        cell.points or 0.0
        for cell in released.cells
        if cell.role == "check" and (only is None or (cell.grade_id or "").removeprefix("check_") in only)
    )
