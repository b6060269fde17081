"""A notebook that was handed in again where the better one counts: what was given back before stays until the marks are compared."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.base.formatting import number, pluralize
from autograder.base.sanitize import sanitize
from autograder.classroom.delivery import Pages
from autograder.classroom.uptodate import UpToDateFile
from autograder.course.course import Course
from autograder.grading.outcome import Outcome
from autograder.grading.submission import Job

__all__ = ["Resubmissions"]

BETTER = (
    "Another notebook was handed in{when}. It would have {new}, and the one before it has {old}, so the one before it still counts "
    '(c.Course.resubmissions = "best").'
)
BROKEN = (
    "Another notebook was handed in{when}, and could not be graded: {reason} The one before it still counts "
    '(c.Course.resubmissions = "best").'
)


class Resubmissions:
    """Those of one run; without the policy ``"best"``, or without a gradebook, there are none."""

    def __init__(self, course: Course, pages: Pages, uptodate: UpToDateFile, url: str | None) -> None:
        self._on = course.resubmissions == "best" and url is not None
        self._pages, self._uptodate = pages, uptodate
        self._folder = course.state("earlier", pages.chapter)
        self._contested: frozenset[str] = frozenset()

    def keep(self, jobs: Sequence[Job]) -> None:
        """Put aside what was given back for those of ``jobs`` that were handed in again, before it is overwritten."""
        contested = [job for job in jobs if self._on and self._uptodate.is_another(job)]
        for job in contested:
            folder = self._folder / str(job.student)
            if folder.is_dir():  # of a run that was stopped: what lies in its place now is the newer one's
                continue
            part = folder.with_name(f".{folder.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            for number_, path in enumerate(self._pages.files(job)):
                if path.is_file():
                    shutil.copy2(path, part / str(number_))
            part.rename(folder)
        self._contested = frozenset(str(job.student) for job in contested)

    def noted(self, outcome: Outcome) -> Outcome:
        """The outcome, which says whether it may lose against the one before."""
        return replace(outcome, contested=str(outcome.job.student) in self._contested)

    def settle(self, outcomes: Sequence[Outcome], kept: Mapping[str, tuple[float, float]]) -> list[Outcome]:
        """The outcomes that count, once marks are entered; ``kept`` has, by student, the two marks where the earlier one was better."""
        return [self._settled(one, kept.get(str(one.job.student))) for one in outcomes]

    def _settled(self, outcome: Outcome, marks: tuple[float, float] | None) -> Outcome:
        if not outcome.contested:
            return outcome
        folder = self._folder / str(outcome.job.student)
        earlier = self._uptodate.last(str(outcome.job.student)) if marks is not None else None
        if earlier is not None and marks is not None:
            for number_, path in enumerate(self._pages.files(outcome.job)):
                _put_back(folder / str(number_), path)
            verdict = replace(earlier, warning=_sentence(outcome, *marks))
            outcome = replace(outcome, verdict=verdict, lost=True)
        shutil.rmtree(folder, ignore_errors=True)
        return outcome


def _put_back(kept: Path, path: Path) -> None:
    if kept.is_file():
        kept.replace(path)
    else:
        path.unlink(missing_ok=True)


def _sentence(outcome: Outcome, new: float, old: float) -> str:
    stamp = sanitize(" ".join((outcome.timestamp or "").split()), 40)
    when = f" ({stamp})" if stamp else ""
    if outcome.verdict.status == "ungradable":
        return BROKEN.format(when=when, reason=outcome.verdict.reason)
    return BETTER.format(when=when, new=pluralize(new, "point"), old=number(old))
