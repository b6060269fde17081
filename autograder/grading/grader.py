"""Grading in one process: submissions of a chapter judged one after the other, none of which stops the next."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from autograder.course import CourseError
from autograder.grading.gallery import Gallery
from autograder.grading.graded import Graded, crash, finished, points_of, ungradable
from autograder.grading.store import Store
from autograder.grading.submission import Submission
from autograder.notebook import NotebookError, load_document, notebook_of, read_bytes
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from autograder.checking.conversation import Subject
    from autograder.course import Course
    from autograder.grading.order import Order
    from autograder.grading.submission import Job
    from autograder.sandbox.protocol import Session
    from autograder.sandbox.worker import Worker
    from autograder.verdict import ExerciseVerdict

__all__ = ["Grader", "work"]


@dataclass
class Grader:
    """Grades submissions of one chapter in this process, in as few sessions of the checking room as it takes.

    Raises ``CourseError`` where the chapter has no exercise of a name in ``order.only``.
    """

    course: Course
    chapter: str
    on_graded: Callable[[Any], None]
    order: Order
    _: KW_ONLY
    store: Store | None
    finish: Callable[[Graded], Any] | None
    released: dict[str, Any] = field(init=False)
    max_score: float = field(init=False)
    _done: int = field(default=0, init=False)
    _in_hand: Job | None = field(default=None, init=False)
    _gallery: Gallery | None = field(default=None, init=False)
    # Whoever was handed a result could not take it: that is nobody's notebook's fault.
    _refused: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        source = self.course.source(self.chapter)
        self.released = load_document(read_bytes(source), source)
        released = notebook_of(self.released, source)
        self.max_score = points_of(released, self.order.only)
        unknown = (self.order.only or frozenset()) - set(released.exercises())
        if unknown:
            raise CourseError(
                f"Chapter {self.chapter!r} has no exercise {', '.join(sorted(unknown))}. "
                f"Its exercises are: {', '.join(released.exercises())}."
            )

    def grade(self, jobs: Iterable[Job]) -> None:
        """Grade ``jobs``, taken one at a time, in this process."""
        from autograder.sandbox import open_worker  # noqa: PLC0415

        coming = _Lookahead(jobs)

        def start() -> Worker:
            return open_worker(self.course.limits, list(self.course.packages), confinement=self.order.confinement)

        # Marks by the visible checks alone do not prove that a function draws what the reference draws.
        if self.order.pictures and not self.order.visible_only and not self.course.redraw_pictures:
            self._gallery = Gallery(self.course, self.chapter, self.released, start)
        with closing(start()) as worker:
            worker.prepare(notebook_of(self.released).code_cells())
            while coming:
                self._pass(coming, worker.open)

    def fail(self, job: Job, reason: str, *, settled: bool = False) -> None:
        """Hand over that ``job`` cannot be graded, and why."""
        self.hand_over(Graded(job, ungradable(job, reason, self.chapter, self.max_score), settled=settled))

    def hand_over(self, graded: Graded) -> None:
        """Finish what is graded, and hand it to whoever asked."""
        self._done += 1
        self._in_hand = None
        self._refused = True
        self.on_graded(finished(graded, self.finish))
        self._refused = False

    def _pass(self, jobs: _Lookahead, open_cells: Callable[..., Session]) -> None:
        from autograder.checking.runner import run_checks  # noqa: PLC0415 - pytest is loaded once work is certain

        before = self._done
        self._in_hand = None
        try:
            run_checks(
                self.course,
                self.chapter,
                self._submissions(jobs, open_cells),
                self._judged,
                only=self.order.only,
                visible_only=self.order.visible_only,
            )
        except CourseError:
            raise
        except Exception as error:  # our crash is one notebook's reason, never its zero nor the end of the run
            if self._refused:
                raise
            if self._in_hand is not None:
                self.fail(self._in_hand, crash("Grading this notebook", error))
            elif self._done == before:
                raise
        else:
            if self._in_hand is not None:
                why = "The checks ended without a result for this notebook."
                self.fail(self._in_hand, f"{why} Grade it again, or by hand.")

    def _submissions(self, jobs: _Lookahead, open_cells: Callable[..., Session]) -> Iterator[Submission]:
        while jobs:
            job = self._in_hand = jobs.take()
            try:
                submission = Submission(
                    job,
                    read_bytes(job.path),
                    self.released,
                    open_cells,
                    pictures=self.order.pictures,
                    redraw=self.course.redraw_pictures,
                    output_kb=self.course.limits.output_kb,
                )
            except NotebookError as error:
                self.fail(job, str(error), settled=not isinstance(error.__cause__, OSError))
                continue
            yield submission

    def _judged(self, submission: Subject, exercises: tuple[ExerciseVerdict, ...]) -> None:
        assert isinstance(submission, Submission)  # noqa: S101 - what ``_submissions`` yields comes back
        known = None if self._gallery is None else partial(self._gallery.known, verdicts=exercises)
        submission.finish(known)
        job = submission.job
        verdict = Verdict.graded(str(job.path), job.student, self.chapter, submission.sandbox, exercises)
        key = ""
        if self.store:
            key = self.store.key(submission.data)
            self.store.save(key, verdict, submission.cells)
        self.hand_over(Graded(job, verdict, submission.document, submission.cells, key))


class _Lookahead:
    """Jobs that come one at a time: true while there is another, which waits for it where it has to."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = iter(jobs)
        self._next: list[Job] = []

    def __bool__(self) -> bool:
        if not self._next:
            self._next = list(itertools.islice(self._jobs, 1))
        return bool(self._next)

    def take(self) -> Job:
        return self._next.pop() if self else next(self._jobs)


def work(
    course: Course,
    chapter: str,
    items: Iterable[tuple[int, Job]],
    done: Callable[[int, Any], None],
    *,
    order: Order,
    folder: Path | None,
    base: bytes | None,
    finish: Callable[[Graded], Any] | None,
) -> None:
    """What a grading process does with the items that it is handed (see ``pool``)."""
    positions: dict[int, int] = {}

    def jobs() -> Iterator[Job]:
        for position, job in items:
            positions[id(job)] = position
            yield job

    def hand_over(graded: Graded) -> None:
        done(positions.pop(id(graded.job)), finished(graded, finish))

    store = Store.at(folder, base) if folder is not None and base is not None else None
    # ``hand_over`` sees to finishing: what was finished may no longer tell which job it was.
    Grader(course, chapter, hand_over, order, store=store, finish=None).grade(jobs())
