"""Many notebooks to verdicts: grouped by chapter, in one process or several, and no notebook that stops the others."""

from __future__ import annotations

import itertools
import math
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from autograder.course import CourseError
from autograder.grading.document import restored
from autograder.grading.gallery import Gallery
from autograder.grading.store import Store
from autograder.grading.submission import Job, Submission
from autograder.notebook import NotebookError, chapter_of, load_document, notebook_of, read_bytes, read_notebook
from autograder.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from autograder.checking.conversation import Subject
    from autograder.course import Course
    from autograder.grading.station import Marked
    from autograder.notebook import Notebook
    from autograder.sandbox.confinement import Confinement
    from autograder.sandbox.protocol import CellOutcome, Session
    from autograder.sandbox.worker import Worker
    from autograder.verdict import ExerciseVerdict

__all__ = ["Graded", "grade", "grade_notebooks", "points_of", "store_for", "ungradable"]


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


def grade_notebooks(
    course: Course,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    only: set[str] | None = None,
    visible_only: bool = False,
    workers: int = 1,
    scheduler: str | None = None,
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

    grade(
        course,
        jobs,
        note,
        confinement=confinement,
        only=only,
        visible_only=visible_only,
        workers=workers,
        scheduler=scheduler,
        pictures=False,
    )
    return [verdicts[position] for position in range(len(jobs))]


def grade(
    course: Course,
    jobs: Sequence[Job],
    on_graded: Callable[[Any], None],
    *,
    confinement: Confinement = "auto",
    only: set[str] | None = None,
    visible_only: bool = False,
    workers: int = 1,
    scheduler: str | None = None,
    keep: bool = False,
    pictures: bool = True,
    finish: Callable[[Graded], Any] | None = None,
) -> None:
    """Grade ``jobs`` and hand over each as it is done; with ``keep``, verdicts are stored and looked up.

    With ``pictures=False`` nobody will look at the notebooks, and the course's picture cells are left out.

    ``workers`` is how many notebooks may be judged at a time, each in a process of its own. ``finish`` is applied to
    what is graded in the process that graded it, and what it returns is handed over: work that can be done side by
    side. With several workers it has to be something that can be pickled. With ``scheduler``, the address of a Dask
    cluster, its workers grade instead; ``finish`` then has to be a chapter's ``Pages``.
    """
    by_chapter: dict[str, list[Job]] = {}
    for job in jobs:
        try:
            by_chapter.setdefault(_chapter(course, job), []).append(job)
        except NotebookError as error:
            on_graded(_finished(Graded(job, ungradable(job, str(error))), finish))
    exercises = frozenset(only) if only is not None else None
    for chapter in sorted(by_chapter, key=list(course.chapters).index):
        store = store_for(course, chapter, confinement, only, visible_only=visible_only) if keep else None
        batch = _ChapterBatch(course, chapter, on_graded, confinement, exercises, visible_only, store, finish)
        batch.pictures = pictures
        batch.run(by_chapter[chapter], workers, scheduler)


def store_for(
    course: Course, chapter: str, confinement: Confinement, only: set[str] | None = None, *, visible_only: bool = False
) -> Store:
    """Where the verdicts of a run that was asked for in this way are kept."""
    return Store(course, chapter, (confinement, sorted(only or ()), only is None, visible_only))


@dataclass
class _ChapterBatch:
    """The notebooks of one chapter, judged one after the other in as few sessions of the checking room as it takes."""

    course: Course
    chapter: str
    on_graded: Callable[[Any], None]
    confinement: Confinement
    only: frozenset[str] | None
    visible_only: bool
    store: Store | None
    finish: Callable[[Graded], Any] | None = None
    done: int = 0
    in_hand: Job | None = None
    pictures: bool = True
    gallery: Gallery | None = None
    refused: bool = False  # whoever was handed a result could not take it: that is nobody's notebook's fault

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

    def run(self, jobs: Sequence[Job], workers: int = 1, scheduler: str | None = None) -> None:
        pending = [job for job in jobs if not self._stored(job)]
        if pending and scheduler is not None:
            self._on_cluster(scheduler, pending)
            return
        # No jail and no pytest for a class that has not changed; no second process for a single notebook.
        if len(pending) > 1 and workers > 1:
            self._side_by_side(pending, workers)
        elif pending:
            self.one_after_the_other(pending)

    def one_after_the_other(self, jobs: Iterable[Job]) -> None:
        """Grade ``jobs``, taken one at a time, in this process."""
        from autograder.sandbox import open_worker  # noqa: PLC0415

        coming = _Lookahead(jobs)

        def start() -> Worker:
            return open_worker(self.course.limits, list(self.course.packages), confinement=self.confinement)

        # Marks by the visible checks alone do not prove that a function draws what the reference draws.
        if self.pictures and not self.visible_only and not self.course.redraw_pictures:
            self.gallery = Gallery(self.course, self.chapter, self.released, start)
        with closing(start()) as worker:
            while coming:
                self._pass(coming, worker.open)

    def _side_by_side(self, jobs: Sequence[Job], workers: int) -> None:
        from autograder.grading.pool import Task, run_pool  # noqa: PLC0415 - where there is more than one notebook

        options = (
            ("confinement", self.confinement),
            ("only", self.only),
            ("visible_only", self.visible_only),
            ("folder", self.store.folder if self.store else None),
            ("base", self.store.base if self.store else None),
            ("finish", self.finish),
            ("pictures", self.pictures),
        )
        task = Task(self.course.root, self.chapter, work, options)

        def lost(position: int, how: str) -> None:
            why = f"The process that graded this notebook {how}, twice."
            self._fail(jobs[position], f"{why} This is not the student's fault; grade it again, or by hand.")

        def done(position: int, graded: Graded) -> None:
            # What comes back from another process carries a copy of its job; whoever asked knows the job itself.
            self.on_graded(replace(graded, job=jobs[position]))

        run_pool(task, jobs, done, lost, workers)

    def _on_cluster(self, scheduler: str, jobs: Sequence[Job]) -> None:
        from autograder.grading.cluster import Home, grade_on_cluster, write_pages  # noqa: PLC0415 - where it is asked for
        from autograder.grading.pages import Pages, Returned  # noqa: PLC0415
        from autograder.grading.station import Order  # noqa: PLC0415

        pages = self.finish if isinstance(self.finish, Pages) else None

        def marked(job: Job, data: bytes, one: Marked) -> None:
            key = ""
            if self.store and one.verdict.status == "graded":
                key = self.store.key(data)
                self.store.save(key, one.verdict, one.cells)
            if pages is None or one.entry is None:
                self._finish(Graded(job, one.verdict, {}, one.cells, key, one.settled))
            else:
                write_pages(pages, job, one)
                self.on_graded(Returned(job, one.entry, key, one.settled))

        def unreadable(job: Job, error: Exception) -> None:
            self._fail(job, str(error), settled=not isinstance(error.__cause__, OSError))

        order = Order(self.chapter, self.confinement, self.only, self.visible_only, pages)
        grade_on_cluster(scheduler, self.course, order, jobs, Home(marked, self._fail, unreadable))

    def _stored(self, job: Job) -> bool:
        if self.store is None:
            return False
        try:
            data = read_bytes(job.path)
        except NotebookError:
            return False
        key = self.store.key(data)
        stored = self.store.load(key)
        cells = self.store.load_cells(key) if stored is not None else None
        if stored is None or cells is None:
            return False
        verdict = stored.relabelled(notebook=str(job.path), student=job.student)
        self._finish(Graded(job, verdict, restored(load_document(data, job.path), self.released), cells, key))
        return True

    def _pass(self, jobs: _Lookahead, open_cells: Callable[..., Session]) -> None:
        from autograder.checking.runner import run_checks  # noqa: PLC0415 - pytest is loaded once work is certain

        before = self.done
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
            if self.refused:
                raise
            if self.in_hand is not None:
                why = f"Grading this notebook failed: {type(error).__name__}: {error}."
                self._fail(self.in_hand, f"{why} This is not the student's fault; grade it again, or by hand.")
            elif self.done == before:
                raise
        else:
            if self.in_hand is not None:
                why = "The checks ended without a result for this notebook."
                self._fail(self.in_hand, f"{why} Grade it again, or by hand.")

    def _submissions(self, jobs: _Lookahead, open_cells: Callable[..., Session]) -> Iterator[Submission]:
        while jobs:
            job = self.in_hand = jobs.take()
            try:
                submission = Submission(
                    job,
                    read_bytes(job.path),
                    self.released,
                    open_cells,
                    pictures=self.pictures,
                    redraw=self.course.redraw_pictures,
                    output_kb=self.course.limits.output_kb,
                )
            except NotebookError as error:
                self._fail(job, str(error), settled=not isinstance(error.__cause__, OSError))
                continue
            yield submission

    def _judged(self, submission: Subject, exercises: tuple[ExerciseVerdict, ...]) -> None:
        assert isinstance(submission, Submission)  # noqa: S101 - what ``_submissions`` yields comes back
        known = None if self.gallery is None else partial(self.gallery.known, verdicts=exercises)
        submission.finish(known)
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
        key = ""
        if self.store:
            key = self.store.key(submission.data)
            self.store.save(key, verdict, submission.cells)
        self._finish(Graded(job, verdict, submission.document, submission.cells, key))

    def _fail(self, job: Job, reason: str, *, settled: bool = False) -> None:
        self._finish(Graded(job, ungradable(job, reason, self.chapter, self.max_score), settled=settled))

    def _finish(self, graded: Graded) -> None:
        self.done += 1
        self.in_hand = None
        self.refused = True
        self.on_graded(_finished(graded, self.finish))
        self.refused = False


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
    confinement: Confinement,
    only: frozenset[str] | None,
    visible_only: bool,
    folder: Path | None,
    base: bytes | None,
    finish: Callable[[Graded], Any] | None,
    pictures: bool,
) -> None:
    """What a grading process does with the items that it is handed (see ``pool``)."""
    positions: dict[int, int] = {}

    def jobs() -> Iterator[Job]:
        for position, job in items:
            positions[id(job)] = position
            yield job

    store = Store.at(folder, base) if folder is not None and base is not None else None
    batch = _ChapterBatch(course, chapter, lambda _result: None, confinement, only, visible_only, store, None)

    def hand_over(graded: Graded) -> None:
        done(positions.pop(id(graded.job)), _finished(graded, finish))

    batch.pictures = pictures
    batch.on_graded = hand_over
    batch.one_after_the_other(jobs())


def _finished(graded: Graded, finish: Callable[[Graded], Any] | None) -> Any:
    return graded if finish is None else finish(graded)


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
