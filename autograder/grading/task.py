"""What is to be done with the notebooks of one chapter, and who can do it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from autograder.course.course import Course
from autograder.grading.options import GradingOptions
from autograder.grading.outcome import Deliver, Outcome, delivered, ungradable
from autograder.grading.submission import Job
from autograder.grading.verdict_cache import VerdictCache

__all__ = ["Executor", "Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """Grading one chapter: how, where verdicts are kept, and what delivers each outcome in the process that graded it.

    ``max_score`` is what the chapter's exercises, or those asked for, are worth. A task can go to another process where its
    ``deliver`` can be pickled.
    """

    chapter: str
    max_score: float
    options: GradingOptions
    cache: VerdictCache | None = None
    deliver: Deliver | None = None

    def finish(self, outcome: Outcome, data: bytes) -> Outcome:
        """The outcome of grading a notebook's bytes, once its verdict is kept and it is delivered."""

        def keep_and_deliver(one: Outcome) -> Outcome:
            if self.cache is not None and one.verdict.status == "graded":
                key = self.cache.key(data)
                self.cache.save(key, one.verdict, one.cells)
                one = replace(one, key=key)
            return one if self.deliver is None else self.deliver(one)

        return delivered(outcome, keep_and_deliver)

    def ungradable(self, job: Job, reason: str, *, settled: bool = False) -> Outcome:
        """The outcome, delivered, of a job that cannot be graded."""
        verdict = ungradable(job, reason, self.chapter, self.max_score)
        return delivered(Outcome(job, verdict, settled=settled), self.deliver)


class Executor(Protocol):
    """Grades ``jobs`` of the task's chapter somewhere: one outcome for each of them, delivered, in any order.

    Nothing is raised for the sake of one notebook. What is raised ends the run: ``CourseError`` where the course is wrong,
    ``SandboxUnavailable`` where there is no jail, ``OSError`` where the disk takes no more.
    """

    def __call__(self, course: Course, task: Task, jobs: Sequence[Job], /) -> Iterator[Outcome]:
        """The outcomes, each as it is there."""
