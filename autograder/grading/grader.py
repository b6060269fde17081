"""Grading in one process: submissions of a chapter judged one after the other, none of which stops the next."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from autograder.course import CourseError
from autograder.files import DISK
from autograder.grading.outcome import Graded, crash, finished, points_of, ungradable
from autograder.grading.submission import Submission
from autograder.grading.verdict_cache import Store
from autograder.notebook import NotebookError, grade_ids, load_source, metadata_of, notebook_of, read_bytes
from autograder.sandbox.confinement import SandboxLost
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from autograder.course import Course
    from autograder.grading.options import Order
    from autograder.grading.submission import Job
    from autograder.judging.conversation import Subject
    from autograder.judging.judge import Judge
    from autograder.sandbox.protocol import Session
    from autograder.verdict import ExerciseVerdict

__all__ = ["Grader", "work"]

_WITHOUT_JAIL = 3  # notebooks in a row for which none could be had: more than one of them can have brought about


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
    # Whoever was handed a result, or the disk, could not take it: that is nobody's notebook's fault.
    _refused: bool = field(default=False, init=False)
    _without_jail: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.released, released = load_source(self.course.source(self.chapter))
        self.max_score = points_of(released, self.order.only)
        unknown = (self.order.only or frozenset()) - set(released.exercises())
        if unknown:
            raise CourseError(
                f"Chapter {self.chapter!r} has no exercise {', '.join(sorted(unknown))}. "
                f"Its exercises are: {', '.join(released.exercises())}."
            )

    def grade(self, jobs: Iterable[Job]) -> None:
        """Grade ``jobs``, taken one at a time, in this process."""
        from autograder.judging.judge import Judge  # noqa: PLC0415 - Hypothesis is loaded once work is certain
        from autograder.judging.loader import load_checks  # noqa: PLC0415
        from autograder.sandbox import open_worker  # noqa: PLC0415

        judge = Judge(load_checks(self.course, self.chapter))
        coming = _Lookahead(jobs)

        with closing(
            open_worker(self.course.limits, list(self.course.packages), confinement=self.order.confinement)
        ) as worker:
            worker.prepare(notebook_of(self.released).code_cells())
            while coming:
                self._pass(judge, coming, worker.open)

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

    def _pass(self, judge: Judge, jobs: _Lookahead, open_cells: Callable[..., Session]) -> None:
        before = self._done
        self._in_hand = None
        try:
            for submission in self._submissions(jobs, open_cells):
                only, visible_only = self.order.only, self.order.visible_only
                self._judged(submission, judge.judge(submission, only=only, visible_only=visible_only))
        except CourseError:
            raise
        except Exception as error:  # our crash is one notebook's reason, never its zero nor the end of the run
            if self._refused or (isinstance(error, OSError) and error.errno in DISK):
                raise
            self._require_jail(error)
            if self._in_hand is not None:
                self.fail(self._in_hand, crash("Grading this notebook", error))
            elif self._done == before:
                raise
        else:
            if self._in_hand is not None:
                why = "The checks ended without a result for this notebook."
                self.fail(self._in_hand, f"{why} Grade it again, or by hand.")

    def _require_jail(self, error: Exception) -> None:
        """Raise ``SandboxLost`` where it is not this notebook that has no jail, but every one."""
        self._without_jail = self._without_jail + 1 if isinstance(error, SandboxLost) else 0
        if self._without_jail >= _WITHOUT_JAIL:
            raise SandboxLost(
                f"No jail can be had any more: {error}, for {_WITHOUT_JAIL} notebooks in a row, each tried again for seconds. "
                "No student's code is run without one. What was graded is kept: see what this machine is short of "
                "(`autograder doctor` tells what does not work), and the same command goes on from here."
            ) from error

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
                self._require_chapter(submission)
            except NotebookError as error:
                self.fail(job, str(error), settled=not isinstance(error.__cause__, OSError))
                continue
            yield submission

    def _require_chapter(self, submission: Submission) -> None:
        """Raise ``NotebookError`` for another chapter's notebook: by its own word, and by its cells, none of which is ours.

        What functions it is given would else earn some points here, and nobody would look again.
        """
        other = metadata_of(submission.submitted).get("chapter")
        if other == self.chapter or other not in self.course.finished_chapters():
            return
        ours, theirs = grade_ids(self.released), grade_ids(load_source(self.course.source(other))[0])
        found = grade_ids(submission.submitted)
        if found & (theirs - ours) and not found & (ours - theirs):
            raise NotebookError(
                f"This is the notebook of {other}, and no cell of {self.chapter} stands in it. "
                "If the student has the right one, have it handed in; else give the mark by hand."
            )

    def _judged(self, submission: Subject, exercises: tuple[ExerciseVerdict, ...]) -> None:
        assert isinstance(submission, Submission)  # noqa: S101 - what ``_submissions`` yields comes back
        submission.finish()
        self._without_jail = 0
        job = submission.job
        verdict = Verdict.graded(str(job.path), job.student, self.chapter, submission.sandbox, exercises)
        key = ""
        if self.store:
            key = self.store.key(submission.data)
            try:
                self.store.save(key, verdict, submission.cells)
            except OSError:
                self._refused = True  # by the disk: every other notebook would meet it too
                raise
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
