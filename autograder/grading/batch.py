"""Many notebooks to verdicts: grouped by chapter, in one process, in several or on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autograder.course import CourseError
from autograder.grading.document import restored
from autograder.grading.grader import Grader, work
from autograder.grading.options import Order
from autograder.grading.outcome import Graded, crash, finished, ungradable
from autograder.grading.verdict_cache import Store
from autograder.notebook import NotebookError, chapter_of, load_document, read_bytes, read_notebook

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autograder.cluster.worker import Marked
    from autograder.course import Course
    from autograder.grading.submission import Job
    from autograder.sandbox.confinement import Confinement
    from autograder.verdict import Verdict

__all__ = ["grade", "grade_notebooks"]


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
        Order(confinement, frozenset(only) if only is not None else None, visible_only, pictures=False),
        workers=workers,
        scheduler=scheduler,
    )
    return [verdicts[position] for position in range(len(jobs))]


def grade(
    course: Course,
    jobs: Sequence[Job],
    on_graded: Callable[[Any], None],
    order: Order | None = None,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    keep: bool = False,
    finish: Callable[[Graded], Any] | None = None,
) -> None:
    """Grade ``jobs`` and hand over each as it is done; with ``keep``, verdicts are stored and looked up.

    ``workers`` is how many notebooks may be judged at a time, each in a process of its own. ``finish`` is applied to
    what is graded in the process that graded it, and what it returns is handed over: work that can be done side by
    side. With several workers it has to be something that can be pickled. With ``scheduler``, the address of a Dask
    cluster, its workers grade instead; ``finish`` then has to be a chapter's ``Pages``.
    """
    order = order or Order()
    by_chapter: dict[str, list[Job]] = {}
    for job in jobs:
        try:
            by_chapter.setdefault(_chapter(course, job), []).append(job)
        except CourseError:
            raise
        except Exception as error:  # noqa: BLE001 - no notebook may stop the others, whatever it holds
            reason = str(error) if isinstance(error, NotebookError) else crash("Reading this notebook", error)
            on_graded(finished(Graded(job, ungradable(job, reason)), finish))
    for chapter in sorted(by_chapter, key=list(course.chapters).index):
        store = Store(course, chapter, order.bearing) if keep else None
        grader = Grader(course, chapter, on_graded, order, store=store, finish=finish)
        _run(grader, by_chapter[chapter], workers, scheduler)


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


def _run(grader: Grader, jobs: Sequence[Job], workers: int, scheduler: str | None) -> None:
    pending = [job for job in jobs if not _stored(grader, job)]
    if pending and scheduler is not None:
        _on_cluster(grader, scheduler, pending)
        return
    # No jail and no pytest for a class that has not changed; no second process for a single notebook.
    if len(pending) > 1 and workers > 1:
        _side_by_side(grader, pending, workers)
    elif pending:
        grader.grade(pending)


def _stored(grader: Grader, job: Job) -> bool:
    if grader.store is None:
        return False
    try:
        data = read_bytes(job.path)
        key = grader.store.key(data)
        stored = grader.store.load(key)
        cells = grader.store.load_cells(key) if stored is not None else None
        if stored is None or cells is None:
            return False
        document = restored(load_document(data, job.path), grader.released)
    except Exception:  # noqa: BLE001 - what is wrong with it is told when it is graded
        return False
    verdict = stored.relabelled(notebook=str(job.path), student=job.student)
    grader.hand_over(Graded(job, verdict, document, cells, key))
    return True


def _side_by_side(grader: Grader, jobs: Sequence[Job], workers: int) -> None:
    from autograder.grading.pool import Task, run_pool  # noqa: PLC0415 - where there is more than one notebook

    options = (
        ("order", grader.order),
        ("folder", grader.store.folder if grader.store else None),
        ("base", grader.store.base if grader.store else None),
        ("finish", grader.finish),
    )
    task = Task(grader.course.root, grader.chapter, work, options)

    def lost(position: int, how: str) -> None:
        why = f"The process that graded this notebook {how}, twice."
        grader.fail(jobs[position], f"{why} This is not the student's fault; grade it again, or by hand.")

    def done(position: int, graded: Graded) -> None:
        # What comes back from another process carries a copy of its job; whoever asked knows the job itself.
        grader.on_graded(replace(graded, job=jobs[position]))

    run_pool(task, jobs, done, lost, workers)


def _on_cluster(grader: Grader, scheduler: str, jobs: Sequence[Job]) -> None:
    from autograder.classroom.delivery import Pages, Returned  # noqa: PLC0415
    from autograder.cluster.client import Home, grade_on_cluster, write_pages  # noqa: PLC0415 - where it is asked for

    pages = grader.finish if isinstance(grader.finish, Pages) else None

    def marked(job: Job, data: bytes, one: Marked) -> None:
        key = ""
        if grader.store and one.verdict.status == "graded":
            key = grader.store.key(data)
            grader.store.save(key, one.verdict, one.cells)
        if pages is None or one.entry is None:
            grader.hand_over(Graded(job, one.verdict, {}, one.cells, key, one.settled))
        else:
            write_pages(pages, job, one)
            grader.on_graded(Returned(job, one.entry, key, one.settled))

    def unreadable(job: Job, error: Exception) -> None:
        grader.fail(job, str(error), settled=not isinstance(error.__cause__, OSError))

    order = replace(grader.order, pictures=pages is not None)
    home = Home(marked, grader.fail, unreadable)
    grade_on_cluster(scheduler, grader.course, grader.chapter, order, jobs, home, pages)
