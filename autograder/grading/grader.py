"""Grade submissions of a chapter in this process, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from autograder.base.attempt import reading_once
from autograder.base.errors import CourseError
from autograder.base.files import DISK
from autograder.base.verdict import ExerciseVerdict, Verdict, crash
from autograder.course.course import Course, chapter_of
from autograder.course.notebook import NotebookError, grade_ids, metadata_of, read_bytes, read_notebook
from autograder.grading.document import ReleasedNotebook
from autograder.grading.imports import AllowedImports
from autograder.grading.meaning import may_keep_state
from autograder.grading.submission import Job, Outcome, Submission, points_of
from autograder.grading.task import Task
from autograder.sandbox.protocol import SandboxStartError

if TYPE_CHECKING:
    from autograder.sandbox.worker import Worker

__all__ = ["NotebookGrader", "check_serially", "grade_serially"]

_MAX_WITHOUT_JAIL = 3  # notebooks in a row for which no sandbox started. One notebook can cause up to two such failures


def grade_serially(course: Course, task: Task, jobs: Iterable[Job], worker: Worker | None = None) -> Iterator[Outcome]:
    """Grade ``jobs`` in this process, as an ``Executor``. Each job is taken only after the caller has used the previous outcome.

    If ``worker`` is given, its open sandbox is used. Raises ``CourseError`` if a notebook's chapter lacks an exercise of the task.
    """
    from autograder.sandbox import open_worker  # noqa: PLC0415 - imports NumPy, which is not needed if no notebook has changed

    with ExitStack() as stack:
        packages, how = list(course.packages), task.options.confinement
        jail = worker or stack.enter_context(open_worker(course.limits, packages, confinement=how))
        import autograder.judging.loader  # noqa: F401, PLC0415 - imports Hypothesis now, so that no notebook is charged for the time

        graders = cache(partial(_grader_of, course, task, jail))
        if task.chapter:
            graders(task.chapter)
        for job in jobs:
            try:
                chapter = task.chapter or _chapter_in(job, course)
            except CourseError:
                raise
            except Exception as error:  # noqa: BLE001 - no notebook may stop the others
                reason = str(error) if isinstance(error, NotebookError) else crash("Reading this notebook", error)
                yield task.ungradable(job, reason)
            else:
                yield graders(chapter).grade(job)


def check_serially(task: Task, jobs: Iterable[Job]) -> Iterator[Outcome]:
    """Check notebooks in this process without their course, using the examples that were released with them."""
    from autograder.student.terminal.checking import check_by_examples  # noqa: PLC0415 - as above

    for job in jobs:
        [verdict] = check_by_examples([job.path], task.options.only, task.options.confinement)
        yield Outcome(job, verdict)


def _grader_of(course: Course, task: Task, worker: Worker, chapter: str) -> NotebookGrader:
    released = ReleasedNotebook.of(course, chapter).notebook
    unknown = (task.options.only or frozenset()) - set(released.exercises())
    if unknown:
        raise CourseError(
            f"Chapter {chapter!r} has no exercise {', '.join(sorted(unknown))}. "
            f"Its exercises are: {', '.join(released.exercises())}."
        )
    points = points_of(released, task.options.only)
    return NotebookGrader(course, replace(task, chapter=chapter, max_score=points), worker)


def _chapter_in(job: Job, course: Course) -> str:
    """Return the chapter that a notebook itself names. Raises ``NotebookError`` if the course lacks this chapter."""
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


class NotebookGrader:
    """A grader of one chapter's notebooks in the sandbox of ``worker``."""

    def __init__(self, course: Course, task: Task, worker: Worker) -> None:
        from autograder.judging.judge import Judge  # noqa: PLC0415 - imports Hypothesis
        from autograder.judging.loader import load_checks  # noqa: PLC0415
        from autograder.mistakes.fault_localization.notebooks import NotebookLocator  # noqa: PLC0415

        self._course, self._task, self._worker = course, task, worker
        self._released = ReleasedNotebook.of(course, task.chapter)
        # Without a sandbox, every installed package can be imported.
        confined = task.options.confinement != "local"
        self._importable = AllowedImports.of(course, task.chapter, self._released) if confined else None
        worker.prepare(self._released.notebook.code_cells())  # the sandbox starts while the checks are loaded
        self._judge = Judge(load_checks(course, task.chapter))
        # The files that the course's notebook reads are available to submissions, too.
        self._open = partial(worker.open, files=self._released.files) if self._released.files else worker.open
        self._locator = NotebookLocator(self._judge.checks, course.locate_seconds, worker.clock)
        self._without_jail = 0

    def grade(self, job: Job) -> Outcome:
        """Grade one notebook, and store, deliver and return the outcome. If it cannot be graded, the verdict says why."""
        with reading_once():
            return self._grade(job)

    def _grade(self, job: Job) -> Outcome:
        options = self._task.options
        try:
            data, output_kb = read_bytes(job.path), self._course.limits.output_kb
            drawing = {"pictures": options.pictures, "redraw": self._course.redraw_pictures}
            submission = Submission(job, data, self._released, self._open, output_kb=output_kb, **drawing)
            self._require_chapter(submission)
            known = self._known(submission)
            how: dict[str, Any] = {"only": options.only, "visible_only": options.visible_only, "known": known}
            exercises = self._judge.judge(submission, **how)
            submission.finish()
            if self._importable is not None and (why := self._importable.failed_cell(submission)):
                return self._task.ungradable(job, why)
            exercises = self._located(submission, exercises, known)
        except NotebookError as error:
            return self._task.ungradable(job, str(error), is_final=not isinstance(error.__cause__, OSError))
        except CourseError:
            raise
        except Exception as error:  # our own crash: this notebook is ungradable, not a zero, and the run continues
            if isinstance(error, OSError) and error.errno in DISK:
                raise
            self._require_jail(error)
            return self._task.ungradable(job, crash("Grading this notebook", error))
        self._without_jail = 0
        verdict = Verdict.graded(str(job.path), job.student, self._task.chapter, submission.sandbox, exercises)
        if self._importable is not None and verdict.score < verdict.max_score:
            verdict = replace(verdict, warning=self._importable.of_students(submission) or verdict.warning)
        return self._task.finish(Outcome(job, verdict, submission.document, submission.cells), submission.data, known)

    def _known(self, submission: Submission) -> Mapping[str, ExerciseVerdict]:
        """Return the stored results of the exercises that need not be judged again."""
        cache = self._task.cache
        known = {} if cache is None else cache.results(cache.key(submission.data))
        cells = (cell.source for cell in submission.notebook.code_cells())
        return {} if known and may_keep_state(cells, self._judge.checks.specs) else known

    def _located(
        self, submission: Submission, exercises: tuple[ExerciseVerdict, ...], known: Mapping[str, ExerciseVerdict]
    ) -> tuple[ExerciseVerdict, ...]:
        """Return ``exercises`` with the line of each undiagnosed mistake, if it can be found. No mark depends on this."""
        if not self._course.locate_seconds or self._task.options.visible_only:
            return exercises
        try:
            self._locator.classmates.note(submission, exercises)
            return self._locator.locate(submission, exercises, known)
        except Exception:  # noqa: BLE001 - the marks are final, whatever fails here
            return exercises

    def _require_jail(self, error: Exception) -> None:
        """Raise ``SandboxStartError`` if the sandbox failed to start for several notebooks in a row."""
        self._without_jail = self._without_jail + 1 if isinstance(error, SandboxStartError) else 0
        if self._without_jail >= _MAX_WITHOUT_JAIL:
            raise SandboxStartError(
                f"The sandbox failed to start for {_MAX_WITHOUT_JAIL} notebooks in a row, after several tries for each: {error}. "
                "No student's code is run without a sandbox. Graded notebooks are saved. "
                "Find the problem with `autograder doctor`, then run the same command to continue."
            ) from error

    def _require_chapter(self, submission: Submission) -> None:
        """Raise ``NotebookError`` if both the metadata and the cells show that this is another chapter's notebook.

        Without this check, functions that the course provides in the other notebook could earn points in this chapter.
        """
        other = metadata_of(submission.submitted).get("chapter")
        if other == self._task.chapter or other not in self._course.finished_chapters():
            return
        ours, theirs = self._released.cells.keys(), ReleasedNotebook.of(self._course, other).cells.keys()
        found = grade_ids(submission.submitted)
        if found & (theirs - ours) and not found & (ours - theirs):
            raise NotebookError(
                f"This is the notebook of {other}, and it has no cell of {self._task.chapter}. "
                "Ask the student for the right notebook, or enter the mark manually."
            )
