"""Many notebooks to verdicts: grouped by chapter, one jailed worker, and no notebook that stops the others."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from autograder.course import CourseError
from autograder.grading.store import Store
from autograder.grading.submission import Job, Submission
from autograder.notebook import NotebookError, chapter_of, load_document, notebook_of, read_bytes, read_notebook
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from autograder.checking.conversation import Subject
    from autograder.course import Course
    from autograder.notebook import Notebook
    from autograder.sandbox.confinement import Confinement
    from autograder.sandbox.protocol import CellOutcome, CodeCell, Session
    from autograder.verdict import ExerciseVerdict

__all__ = ["Graded", "grade", "grade_notebooks", "points_of", "ungradable"]


@dataclass(frozen=True, slots=True)
class Graded:
    """A job done: its verdict, the bytes that were judged (none where it is ungradable), what its cells put out."""

    job: Job
    verdict: Verdict
    data: bytes = b""
    cells: tuple[CellOutcome, ...] = ()


def grade_notebooks(
    course: Course,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    only: set[str] | None = None,
    visible_only: bool = False,
    workers: int = 1,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """The verdicts on ``jobs``, in their order; ``on_verdict`` hears of each as it is made.

    A notebook that cannot be graded gets a verdict that says why. Raises ``CourseError`` where the course itself is
    wrong, and what the sandbox raises where there is no confinement to be had.
    """
    jobs = [replace(job) for job in jobs]  # one object a job, even where a file is named twice
    verdicts: dict[int, Verdict] = {}
    positions = {id(job): position for position, job in enumerate(jobs)}

    def note(graded: Graded) -> None:
        verdicts[positions[id(graded.job)]] = graded.verdict
        if on_verdict is not None:
            on_verdict(graded.verdict)

    grade(course, jobs, note, confinement=confinement, only=only, visible_only=visible_only, workers=workers)
    return [verdicts[position] for position in range(len(jobs))]


def grade(
    course: Course,
    jobs: Sequence[Job],
    on_graded: Callable[[Graded], None],
    *,
    confinement: Confinement = "auto",
    only: set[str] | None = None,
    visible_only: bool = False,
    workers: int = 1,
    keep: bool = False,
) -> None:
    """Grade ``jobs`` and hand over each as it is done; with ``keep``, verdicts are stored and looked up.

    ``workers`` is how many notebooks may be judged at a time; this version judges one.
    """
    del workers
    by_chapter: dict[str, list[Job]] = {}
    for job in jobs:
        try:
            by_chapter.setdefault(_chapter(course, job), []).append(job)
        except NotebookError as error:
            on_graded(Graded(job, ungradable(job, str(error))))
    exercises = frozenset(only) if only is not None else None
    for chapter in sorted(by_chapter, key=list(course.chapters).index):
        store = Store(course, chapter, (confinement, sorted(only or ()), only is None, visible_only)) if keep else None
        _ChapterBatch(course, chapter, on_graded, confinement, exercises, visible_only, store).run(by_chapter[chapter])


@dataclass
class _ChapterBatch:
    """The notebooks of one chapter, judged one after the other in as few sessions of the checking room as it takes."""

    course: Course
    chapter: str
    on_graded: Callable[[Graded], None]
    confinement: Confinement
    only: frozenset[str] | None
    visible_only: bool
    store: Store | None
    done: set[int] = field(default_factory=set)
    in_hand: Job | None = None

    def __post_init__(self) -> None:
        source = self.course.source(self.chapter)
        self.released = load_document(read_bytes(source), source)
        released = notebook_of(self.released, source)
        self.max_score = points_of(released, self.only)
        unknown = (self.only or frozenset()) - set(released.exercises())
        if unknown:
            raise CourseError(
                f"Chapter {self.chapter!r} has no exercise {', '.join(sorted(unknown))}. "
                f"Its exercises are: {', '.join(released.exercises())}."
            )

    def run(self, jobs: Sequence[Job]) -> None:
        pending = [job for job in jobs if not self._stored(job)]
        if not pending:
            return  # no jail and no pytest for a class that has not changed
        from autograder.sandbox import open_worker  # noqa: PLC0415

        worker = open_worker(self.course.limits, list(self.course.packages), confinement=self.confinement)
        with closing(worker):
            while pending:
                self._pass(pending, worker.open)
                pending = [job for job in pending if id(job) not in self.done]

    def _stored(self, job: Job) -> bool:
        if self.store is None:
            return False
        try:
            data = read_bytes(job.path)
        except NotebookError:
            return False
        stored = self.store.load(self.store.key(data))
        if stored is not None:
            verdict = stored[0].relabelled(notebook=str(job.path), student=job.student)
            self._finish(Graded(job, verdict, data, stored[1]))
        return stored is not None

    def _pass(self, jobs: Sequence[Job], open_cells: Callable[[list[CodeCell]], Session]) -> None:
        from autograder.checking.runner import run_checks  # noqa: PLC0415 - pytest is loaded once work is certain

        before = len(self.done)
        self.in_hand = None
        try:
            run_checks(
                self.course,
                self.chapter,
                self._submissions(jobs, open_cells),
                self._judged,
                only=self.only,
                visible_only=self.visible_only,
            )
        except CourseError:
            raise
        except Exception as error:  # our crash is one notebook's reason, never its zero nor the end of the run
            if self.in_hand is not None:
                why = f"Grading this notebook failed: {type(error).__name__}: {error}."
                self._fail(self.in_hand, f"{why} This is not the student's fault; grade it again, or by hand.")
            elif len(self.done) == before:
                raise
        else:
            for job in jobs:
                if id(job) not in self.done:
                    self._fail(job, "The checks ended without a result for this notebook. Grade it again, or by hand.")

    def _submissions(
        self, jobs: Iterable[Job], open_cells: Callable[[list[CodeCell]], Session]
    ) -> Iterator[Submission]:
        for job in jobs:
            try:
                submission = Submission(job, read_bytes(job.path), self.released, open_cells)
            except NotebookError as error:
                self._fail(job, str(error))
                continue
            self.in_hand = job
            yield submission

    def _judged(self, submission: Subject, exercises: tuple[ExerciseVerdict, ...]) -> None:
        assert isinstance(submission, Submission)  # noqa: S101 - what ``_submissions`` yields comes back
        submission.run_once()
        job = submission.job
        verdict = Verdict(
            notebook=str(job.path),
            student=job.student,
            chapter=self.chapter,
            status="graded",
            reason=None,
            score=round(math.fsum(exercise.score for exercise in exercises), 9),
            max_score=round(math.fsum(exercise.max_score for exercise in exercises), 9),
            sandbox=submission.sandbox,
            exercises=exercises,
        )
        if self.store:
            self.store.save(self.store.key(submission.data), verdict, submission.cells)
        self._finish(Graded(job, verdict, submission.data, submission.cells))

    def _fail(self, job: Job, reason: str) -> None:
        self._finish(Graded(job, ungradable(job, reason, self.chapter, self.max_score)))

    def _finish(self, graded: Graded) -> None:
        self.done.add(id(graded.job))
        self.in_hand = None
        self.on_graded(graded)


def _chapter(course: Course, job: Job) -> str:
    if job.chapter is not None:
        return course.require_chapter(job.chapter)
    chapter = chapter_of(read_notebook(job.path), course)
    if chapter is None:
        raise NotebookError(
            f"Nothing in {job.path.name} tells which chapter it belongs to: none of its cells has a grade id of this "
            "course. Put the chapter's id into the file name, or hand in the notebook that was released."
        )
    try:
        return course.require_chapter(chapter)
    except CourseError as error:
        raise NotebookError(str(error)) from error


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
