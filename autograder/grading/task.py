"""The options and tasks for grading a chapter's notebooks, and the interface of the executors that grade them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from autograder.course.course import Course
from autograder.grading.submission import Deliver, Job, Outcome, delivered, ungradable
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox.confinement import Confinement

__all__ = ["Executor", "GradingOptions", "Task"]


@dataclass(frozen=True, slots=True)
class GradingOptions:
    """Options for grading the notebooks of a run, the same in every process.

    Attributes:
        only: the exercises that are graded, or None for all.
        visible_only: whether to run only the checks that students can run themselves.
        again: the exercises that are graded again if their checks have changed, or None for all. All others keep their stored results.
        pictures: whether the course's picture cells are run. No mark depends on them, so they are skipped if nobody will look at
            the notebooks.
    """

    confinement: Confinement = "auto"
    only: frozenset[str] | None = None
    visible_only: bool = False
    again: frozenset[str] | None = None
    pictures: bool = True

    @property
    def cache_inputs(self) -> tuple[object, ...]:
        """The options that a stored verdict depends on."""
        return (self.confinement, sorted(self.only or ()), self.only is None, self.visible_only)


@dataclass(frozen=True, slots=True)
class Task:
    """The task of grading one chapter. It can be sent to another process if ``deliver`` can be pickled.

    Attributes:
        chapter: the chapter, or "" if each notebook itself says which chapter it belongs to.
        max_score: the points of the exercises that are graded.
        cache: the store of verdicts, or None if they are not stored.
        deliver: the function that is applied to each outcome in the process that graded it, or None.
    """

    chapter: str
    max_score: float
    options: GradingOptions
    cache: VerdictCache | None = None
    deliver: Deliver | None = None

    def finish(self, outcome: Outcome, data: bytes, known: Collection[str] = ()) -> Outcome:
        """Store the verdict on the notebook whose bytes are ``data``, and return the delivered outcome.

        The results of the exercises in ``known`` are from an earlier run.
        """

        def keep_and_deliver(one: Outcome) -> Outcome:
            if self.cache is not None and one.verdict.status == "graded":
                key = self.cache.key(data)
                parts = self.cache.save(key, one.verdict, one.cells, known)
                one = replace(one, key=key, parts=parts)
            return one if self.deliver is None else self.deliver(one)

        return delivered(outcome, keep_and_deliver)

    def ungradable(self, job: Job, reason: str, *, is_final: bool = False) -> Outcome:
        """Return the delivered outcome of a job that cannot be graded."""
        verdict = ungradable(job, reason, self.chapter, self.max_score)
        return delivered(Outcome(job, verdict, is_final=is_final), self.deliver)


class Executor(Protocol):
    """A callable that grades ``jobs`` of the task's chapter and yields a delivered outcome for each, in any order.

    A problem with one notebook is reported in its outcome. Other errors end the run: ``CourseError`` if the course is wrong,
    ``SandboxUnavailable`` if there is no sandbox, ``OSError`` if the disk is full.
    """

    def __call__(self, course: Course, task: Task, jobs: Sequence[Job], /) -> Iterator[Outcome]:
        """Yield each outcome as soon as it is ready."""
