"""Grade many notebooks: group them by chapter, look up known verdicts, and grade the other notebooks, perhaps in parallel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from autograder.base.verdict import Verdict
from autograder.course.course import Course
from autograder.course.notebook import load_document, read_bytes
from autograder.grading.document import ReleasedNotebook, restore_cells
from autograder.grading.grader import check_serially, grade_serially
from autograder.grading.submission import Deliver, Job, Outcome, delivered, points_of, verdict_only
from autograder.grading.task import Executor, GradingOptions, Task
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox.confinement import Confinement

__all__ = ["grade", "grade_notebooks"]


def grade_notebooks(
    course: Course | None,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    only: set[str] | None = None,
    visible_only: bool = False,
    workers: int = 0,
    executor: Executor | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Return the verdicts on ``jobs``, in the same order. ``on_verdict`` is called with each verdict as soon as it is ready.

    Without a course, the notebooks are checked with the examples that were released with them.
    A notebook that cannot be graded gets a verdict with the reason. Raises ``CourseError`` if the course itself is wrong, and
    ``SandboxUnavailable`` if there is no sandbox.
    """
    options = GradingOptions(confinement, frozenset(only) if only is not None else None, visible_only, pictures=False)
    verdicts: dict[Job, Verdict] = {}
    if course is None:
        outcomes = _check(Task("", 0.0, options, None, verdict_only), jobs, min(workers, len(jobs)))
    else:
        outcomes = grade(course, jobs, options, workers=workers, executor=executor, deliver=verdict_only)
    for outcome in outcomes:
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
    """Yield the outcome of each job as soon as it is ready. A problem with one notebook is reported in its outcome.

    Args:
        course: the course whose checks are used.
        jobs: the notebooks, of any chapters.
        options: how they are graded.
        workers: how many notebooks are graded at a time, each in a process of its own. With 0, this process grades them, and the
            limits on a grading process are not enforced.
        executor: the callable that grades the notebooks instead of ``workers``, perhaps on other machines.
        keep: whether verdicts are stored and looked up. With ``"read"``, they are only looked up.
        deliver: the function that is applied to each outcome in the process that graded it. It must be picklable if there are workers.

    Raises ``CourseError`` if the course itself is wrong, or if it has no exercise in ``options.only``.
    """
    options = options or GradingOptions()
    by_chapter: dict[str, list[Job]] = {}
    for job in jobs:
        by_chapter.setdefault("" if job.chapter is None else course.require_chapter(job.chapter), []).append(job)
    if unnamed := by_chapter.pop("", []):
        # Only the executor reads students' notebooks, because it may enforce limits.
        task = Task("", 0.0, options, None, deliver)
        yield from (executor or _executor(min(workers, len(unnamed))))(course, task, unnamed)
    for chapter in sorted(by_chapter, key=list(course.chapters).index):
        released = ReleasedNotebook.of(course, chapter)
        cache = VerdictCache.of(course, chapter, options.cache_inputs, options.again) if keep else None
        if cache is not None and keep == "read":
            cache = replace(cache, read_only=True)
        task = Task(chapter, points_of(released.notebook, options.only), options, cache, deliver)
        unknown = []
        for job in by_chapter[chapter]:
            if known := _known(task, released, job):
                yield delivered(known, deliver)
            else:
                unknown.append(job)
        if unknown:
            yield from (executor or _executor(min(workers, len(unknown))))(course, task, unknown)


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
    relabelled = verdict.relabelled(notebook=str(job.path), student=job.student)
    return Outcome(job, relabelled, document, cells, key, task.cache.load_parts(key))


def _check(task: Task, jobs: Sequence[Job], workers: int) -> Generator[Outcome, None, None]:
    if _executor(workers) is grade_serially:
        yield from check_serially(task, jobs)
        return
    from autograder.grading.pool import Pool  # noqa: PLC0415 - not needed in this process

    with Pool(None, task, workers) as pool:
        yield from pool.grade(jobs)


def _executor(workers: int) -> Executor:
    if not workers or sys.platform == "win32":  # Windows cannot pass a descriptor to a process
        return grade_serially
    from autograder.grading.pool import grade_in_parallel  # noqa: PLC0415 - not needed in this process

    return partial(grade_in_parallel, workers)
