"""Grade many notebooks: group them by chapter, look up known verdicts, and grade the others in this process or in others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from autograder.base.errors import CourseError
from autograder.base.verdict import Verdict, crash
from autograder.course.course import Course
from autograder.course.notebook import Notebook, NotebookError, chapter_of, load_document, read_bytes, read_notebook
from autograder.grading.document import ReleasedNotebook, restore_cells
from autograder.grading.grader import grade_serially
from autograder.grading.submission import Deliver, Job, Outcome, delivered, points_of, ungradable, verdict_only
from autograder.grading.task import Executor, GradingOptions, Task
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox.confinement import Confinement

__all__ = ["grade", "grade_notebooks"]


def grade_notebooks(
    course: Course,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    only: set[str] | None = None,
    visible_only: bool = False,
    workers: int = 0,
    executor: Executor | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Return the verdicts on ``jobs``, in their order. ``on_verdict`` is called with each verdict as it is made.

    A notebook that cannot be graded gets a verdict with the reason. Raises ``CourseError`` if the course itself is wrong, and
    ``SandboxUnavailable`` if there is no sandbox.
    """
    options = GradingOptions(confinement, frozenset(only) if only is not None else None, visible_only, pictures=False)
    verdicts: dict[Job, Verdict] = {}
    for outcome in grade(course, jobs, options, workers=workers, executor=executor, deliver=verdict_only):
        verdicts[outcome.job] = outcome.verdict
        if on_verdict is not None:
            on_verdict(outcome.verdict)
    return [verdicts[job] for job in jobs]


def grade(
    course: Course,
    jobs: Sequence[Job],
    options: GradingOptions | None = None,
    *,
    workers: int = 0,
    executor: Executor | None = None,
    keep: bool | Literal["read"] = False,
    deliver: Deliver | None = None,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each job as it is made. A problem with one notebook is never raised.

    Args:
        course: the course whose checks are used.
        jobs: the notebooks, of any chapters.
        options: how they are graded.
        workers: how many notebooks are graded at a time, each in a process of its own. With 0, this process grades them. It cannot
            enforce the limits of the grader itself.
        executor: grades the notebooks instead, perhaps on other machines.
        keep: whether verdicts are stored and looked up. With ``"read"``, they are only looked up.
        deliver: applied to each outcome in the process that graded it. It must be picklable if there are several workers.

    Raises ``CourseError`` if the course itself is wrong, or if it has no exercise in ``options.only``.
    """
    options = options or GradingOptions()
    by_chapter: dict[str, list[Job]] = {}
    for job in jobs:
        try:
            by_chapter.setdefault(_chapter(course, job), []).append(job)
        except CourseError:
            raise
        except Exception as error:  # noqa: BLE001 - no notebook may stop the others
            reason = str(error) if isinstance(error, NotebookError) else crash("Reading this notebook", error)
            yield delivered(Outcome(job, ungradable(job, reason)), deliver)
    for chapter in sorted(by_chapter, key=list(course.chapters).index):
        released = ReleasedNotebook.of(course, chapter)
        _require_exercises(chapter, released.notebook, options.only)
        cache = VerdictCache.of(course, chapter, options.cache_inputs) if keep else None
        if cache is not None and keep == "read":
            cache = replace(cache, read_only=True)
        task = Task(chapter, points_of(released.notebook, options.only), options, cache, deliver)
        unknown = []
        for job in by_chapter[chapter]:
            known = _known(task, released, job)
            if known is None:
                unknown.append(job)
            else:
                yield delivered(known, deliver)
        if unknown:
            yield from (executor or _executor(min(workers, len(unknown))))(course, task, unknown)


def _chapter(course: Course, job: Job) -> str:
    if job.chapter is not None:
        return course.require_chapter(job.chapter)
    chapter = chapter_of(read_notebook(job.path), course)
    if chapter is None:
        raise NotebookError(
            f"Cannot tell which chapter {job.path.name} belongs to: none of its cells has a grade id of this course. "
            "Put the chapter's id into the file name, or submit the notebook that was released."
        )
    try:
        return course.require_chapter(chapter)
    except CourseError as error:
        raise NotebookError(str(error)) from error


def _require_exercises(chapter: str, released: Notebook, only: frozenset[str] | None) -> None:
    unknown = (only or frozenset()) - set(released.exercises())
    if unknown:
        raise CourseError(
            f"Chapter {chapter!r} has no exercise {', '.join(sorted(unknown))}. "
            f"Its exercises are: {', '.join(released.exercises())}."
        )


def _known(task: Task, released: ReleasedNotebook, job: Job) -> Outcome | None:
    """Return the outcome of a job whose verdict is stored, or None if it has to be graded."""
    if task.cache is None:
        return None
    try:
        data = read_bytes(job.path)
        key = task.cache.key(data)
        verdict = task.cache.load(key)
        cells = task.cache.load_cells(key) if verdict is not None else None
        if verdict is None or cells is None:
            return None
        document = restore_cells(load_document(data, job.path), released)
    except Exception:  # noqa: BLE001 - reported when the notebook is graded
        return None
    return Outcome(job, verdict.relabelled(notebook=str(job.path), student=job.student), document, cells, key)


def _executor(workers: int) -> Executor:
    if not workers or sys.platform == "win32":  # where no descriptor can be passed to a process
        return grade_serially
    from autograder.grading.pool import grade_in_parallel  # noqa: PLC0415 - not needed in this process

    return partial(grade_in_parallel, workers)
