"""Grade a class: find the submissions of a chapter, grade them, enter the marks and write the pages."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from autograder.base.errors import CourseError
from autograder.base.verdict import Verdict
from autograder.classroom.delivery import FeedbackWriter, folder_of, submitted_notebook
from autograder.classroom.gradebook.database import require_sound
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.gradebook.people import known_students
from autograder.classroom.incremental import RunState, hold_run_lock
from autograder.classroom.watchers import (
    MarkChangeLog,
    MarkEntry,
    PageRefresh,
    Resubmissions,
    ReviewWarnings,
    Watcher,
    marks_of,
)
from autograder.course.course import Course
from autograder.course.notebook import load_source, other_notebooks
from autograder.grading.batch import grade
from autograder.grading.submission import Deliver, Job, Outcome, delivered, points_of, ungradable
from autograder.grading.task import Executor, GradingOptions
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox.confinement import Confinement

__all__ = ["Terminated", "grade_class", "handed_in", "outcomes_of", "rejections_of", "undecodable_paths"]

REMOVED = (
    "{student} was removed from the gradebook, so nothing was graded and no mark was entered. Remove the submission too "
    "(`autograder forget {student}`), or enter the student again (`nbgrader db student add {student}`) and grade again."
)
_MAX_NAMES = 10  # the most other files that the message about a missing notebook names


class Terminated(KeyboardInterrupt):
    """Raised if a signal asks the run to end. ``status`` is the program's exit status."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def handed_in(course: Course, chapter: str, students: Sequence[str] | None = None) -> list[Job]:
    """Return the submissions of ``chapter``, sorted by student or in the order of ``students``.

    Raises ``CourseError`` if there is no submission, or if one of ``students`` has none.
    """
    folder = folder_of(course, "submitted")
    # A broken link, or a file instead of a folder, gets a verdict with the reason.
    found = sorted(path.name for path in folder.glob("*") if os.path.lexists(path / chapter))
    missing = [student for student in students or () if student not in found]
    if missing:
        who = ", ".join(missing)
        advice = " Patterns are not supported: give each name." if any(set("*?[") & set(m) for m in missing) else ""
        place = folder / missing[0] / chapter
        raise CourseError(f"{who} submitted nothing for {chapter}: there is no {place}.{advice}")
    if not found:
        raise CourseError(f"There are no submissions for {chapter}: there is no {folder / '<student>' / chapter}.")
    wanted = list(dict.fromkeys(students)) if students else found
    return [Job(submitted_notebook(course, student, chapter), student, chapter) for student in wanted]


def grade_class(
    course: Course,
    chapter: str,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    workers: int = 0,
    executor: Executor | None = None,
    only: frozenset[str] | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Grade ``jobs`` and write the gradebook, ``autograded/`` and ``feedback/``. Return the verdicts in the order of the jobs.

    Unchanged submissions are not graded again. A notebook that could not be graded gets no mark in the gradebook and needs manual
    grading. Without confinement, nothing is entered in the gradebook. After an interruption (Ctrl-C, SIGTERM), the marks made so far
    are entered before the exception is raised. An ``executor`` may grade elsewhere, but this process writes the gradebook. If ``only``
    names exercises, changed checks of all other exercises take effect only in a later run.
    """
    pages = FeedbackWriter.of(course, chapter)
    options = GradingOptions(confinement, again=only)
    url = gradebook_url(course) if confinement != "local" else None
    cache = VerdictCache.of(course, chapter, options.cache_inputs, only)
    state = RunState(course, chapter, cache, pages.names, url)
    released = load_source(course.source(chapter))[1]

    verdicts = undecodable_paths(jobs, chapter, points_of(released))
    verdicts |= state.unchanged([job for job in jobs if job not in verdicts])
    report = on_verdict or (lambda _verdict: None)
    new = [job for job in jobs if job not in verdicts]
    if new and url is not None:
        require_sound(url)
        for job in _removed(state, url, chapter, new):
            verdicts[job] = ungradable(job, REMOVED.format(student=job.student), chapter, points_of(released))
        new = [job for job in new if job not in verdicts]
    for verdict in verdicts.values():
        report(verdict)
    with _ending_well() as ending, hold_run_lock(course, chapter):
        before = marks_of(url, chapter, [str(job.student) for job in new])
        pages = pages.with_marks(before)
        watchers: list[Watcher] = [
            Resubmissions(course, pages, state, url, new),
            PageRefresh(pages),
            MarkChangeLog(course, chapter, state, before, new),
            ReviewWarnings(chapter, released, pages, url, new, None if new else state.book, state),
        ]
        # On an interruption, closing this enters the outcomes so far.
        with closing(MarkEntry(course, chapter, state, url, watchers)) as entry:
            if new:
                entry.prepare(wait=not workers and executor is None)
            how: dict[str, Any] = {"workers": workers, "executor": executor, "keep": True, "deliver": pages}
            # The grading processes end before the last marks are entered.
            with closing(outcomes_of(course, chapter, new, options, **how)) as outcomes:
                for outcome in outcomes:
                    for watcher in (*watchers, entry):
                        outcome = watcher.seen(outcome)  # noqa: PLW2901 - each passes its result to the next one
                    verdicts[outcome.job] = outcome.verdict
                    report(outcome.verdict)
                    ending.check()
    for watcher in watchers:
        verdicts = watcher.end(verdicts)
    return [verdicts[job] for job in jobs]


def outcomes_of(
    course: Course,
    chapter: str,
    jobs: Sequence[Job],
    options: GradingOptions,
    *,
    workers: int,
    executor: Executor | None,
    keep: bool | Literal["read"],
    deliver: Deliver,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each job of a chapter. Submissions that must not be opened come first. ``grade`` documents the arguments."""
    max_score = points_of(load_source(course.source(chapter))[1])
    rejections = rejections_of(jobs, chapter)
    for job, reason in rejections.items():
        yield delivered(Outcome(job, ungradable(job, reason, chapter, max_score)), deliver)
    sound = [job for job in jobs if job not in rejections]
    yield from grade(course, sound, options, workers=workers, executor=executor, keep=keep, deliver=deliver)


class _Ending:
    """A record of whether a signal has asked the run to end.

    The handler raises ``Terminated`` immediately. It also records the signal, because Python ignores exceptions that are raised inside
    a destructor or a callback of the garbage collector.
    """

    def __init__(self) -> None:
        self._signal: int | None = None

    def end(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        self._signal = number
        raise Terminated(number)

    def check(self) -> None:
        """Raise ``Terminated`` if a signal has arrived. This is called after each notebook."""
        if self._signal is not None:
            raise Terminated(self._signal)


@contextmanager
def _ending_well() -> Iterator[_Ending]:
    """Handle SIGTERM and SIGHUP like Ctrl-C."""
    ending = _Ending()
    numbers = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, ending.end) for number in numbers}
    try:
        yield ending
        ending.check()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _removed(state: RunState, url: str, chapter: str, jobs: Sequence[Job]) -> list[Job]:
    """Return the ``jobs`` of students who were removed from the gradebook after their marks had been entered.

    Return an empty list if the gradebook has no students. It is then a new gradebook, and all students are entered again.
    """
    before = [job for job in jobs if state.was_entered(str(job.student))]
    known = known_students(url, chapter) if before else None
    return (
        [job for job in before if str(job.student) not in known.students]
        if known is not None and known.students
        else []
    )


def _written(path: str) -> str:
    """Escape the bytes of a path that are not UTF-8."""
    return path.encode("utf-8", "backslashreplace").decode()


def undecodable_paths(jobs: Sequence[Job], chapter: str, worth: float) -> dict[Job, Verdict]:
    """Return the verdicts on the ``jobs`` whose paths are not UTF-8. No gradebook and no page can name their students."""
    verdicts = {}
    for job in jobs:
        path, student = _written(str(job.path)), _written(str(job.student))
        if path != str(job.path):
            why = f"The name of the folder {student} is not UTF-8 text, so no mark can be entered. Rename it and grade again."
            verdicts[job] = replace(ungradable(job, why, chapter, worth), notebook=path, student=student)
    return verdicts


def rejections_of(jobs: Sequence[Job], chapter: str) -> dict[Job, str]:
    """Return the ``jobs`` that must not be opened, each with the reason."""
    return {job: why for job in jobs if (why := _rejection(job, chapter))}


def _rejection(job: Job, chapter: str) -> str:
    """Return why a submission must not be opened, or "". For example, a link may point to another student's answers."""
    try:
        for path in (job.path.parent.parent, job.path.parent, job.path):
            if path.is_symlink():
                return f"{path.name} is a link, not a submitted file. It was not followed."
        others = [Path(path).name for path in other_notebooks(str(job.path))]
        missing = not job.path.is_file()
    except OSError as error:
        return f"{job.path.parent} cannot be read: {error.strerror or error}."
    if missing and others:
        names = [_written(name) for name in others[:_MAX_NAMES]]
        if len(others) > _MAX_NAMES:
            names.append(f"and {len(others) - _MAX_NAMES:,} more")
        return (
            f"The submission has no {chapter}.ipynb, but it has {', '.join(names)}. "
            "If one of them is the right notebook, rename it and grade again."
        )
    return ""
