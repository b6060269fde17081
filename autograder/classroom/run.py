"""A class's submissions of one chapter: found, graded, entered in the gradebook, and given back as pages."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import FrameType

from autograder.base.errors import CourseError
from autograder.base.verdict import Verdict
from autograder.classroom.delivery import Pages, folder_of
from autograder.classroom.doubts import Doubts
from autograder.classroom.entering import Entering
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.gradebook.writer import GradebookWriter
from autograder.classroom.running import running
from autograder.classroom.uptodate import UpToDateFile
from autograder.course.course import Course
from autograder.course.notebook import load_source, other_notebooks
from autograder.grading.batch import grade
from autograder.grading.options import GradingOptions
from autograder.grading.outcome import Outcome, delivered, points_of, ungradable
from autograder.grading.submission import Job
from autograder.grading.task import Executor
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox.confinement import Confinement

__all__ = ["Terminated", "broken_names", "grade_class", "handed_in", "refusals_of"]

_MAX_NAMES = 10  # of other files, in the sentence that says a notebook is missing


class Terminated(KeyboardInterrupt):
    """The run was asked to end by a signal; ``status`` is what the program is to end with."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def handed_in(course: Course, chapter: str, students: Sequence[str] | None = None) -> list[Job]:
    """What was handed in for ``chapter``, by student; raises ``CourseError`` where that is nothing."""
    folder = folder_of(course, "submitted")
    # A link that leads nowhere and a file instead of a folder get a reason that says what they are.
    found = sorted(path.name for path in folder.glob("*") if os.path.lexists(path / chapter))
    missing = [student for student in students or () if student not in found]
    if missing:
        who = ", ".join(missing)
        advice = " Patterns are not understood: name each student." if any(set("*?[") & set(m) for m in missing) else ""
        raise CourseError(
            f"{who} handed in nothing for {chapter}: there is no {folder / missing[0] / chapter}.{advice}"
        )
    if not found:
        raise CourseError(f"Nothing has been handed in for {chapter}: there is no {folder / '<student>' / chapter}.")
    wanted = list(dict.fromkeys(students)) if students else found
    return [Job(folder / student / chapter / f"{chapter}.ipynb", student, chapter) for student in wanted]


def grade_class(
    course: Course,
    chapter: str,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    workers: int = 1,
    executor: Executor | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Grade ``jobs`` and write the gradebook, ``autograded/`` and ``feedback/``; the verdicts in the order of the jobs.

    What is unchanged since it was last graded is not run again. A notebook that could not be graded has no mark in the
    gradebook and waits there for a person. Without confinement nothing goes into the gradebook. An interruption (Ctrl-C,
    SIGTERM) is raised here once what was graded until then is entered. An ``executor`` may grade elsewhere; gradebook and
    pages are still written here.
    """
    pages = Pages.of(course, chapter)
    options = GradingOptions(confinement)
    url = gradebook_url(course) if confinement != "local" else None
    uptodate = UpToDateFile(course, chapter, VerdictCache.of(course, chapter, options.bearing), pages, url)

    released = load_source(course.source(chapter))[1]
    worth = points_of(released)
    verdicts = broken_names(jobs, chapter, worth)
    verdicts |= uptodate.unchanged([job for job in jobs if job not in verdicts])
    new = [job for job in jobs if job not in verdicts]
    entering = Entering(course, pages, uptodate, url, new)
    pages = entering.pages
    gradebook = GradebookWriter(course, url, after=lambda outcomes: entering.entered(outcomes, gradebook.kept))
    report = on_verdict or (lambda _verdict: None)
    for verdict in verdicts.values():
        report(verdict)
    with (
        _ending_well() as ending,
        running(course, chapter),
        closing(gradebook),
    ):  # what was graded before an interruption is not lost
        doubts = Doubts(chapter, released, pages, url, new)
        refusals = refusals_of(new, chapter)
        refused = (
            delivered(Outcome(job, ungradable(job, why, chapter, worth)), pages) for job, why in refusals.items()
        )
        sound = [job for job in new if job not in refusals]
        if sound:
            gradebook.begin(wait=workers == 1 and executor is None)
        graded = grade(course, sound, options, workers=workers, executor=executor, keep=True, deliver=pages)
        with closing(graded):  # its processes and jails end before the last marks are entered
            for outcome in map(entering.resubmissions.noted, map(doubts.noted, chain(refused, graded))):
                gradebook.enter(outcome)
                verdicts[outcome.job] = outcome.verdict
                report(outcome.verdict)
                ending.check()
    verdicts = entering.told(verdicts)
    return doubts.at_the_end([verdicts[job] for job in jobs], None if new else uptodate.book)


class _Ending:
    """Whether a signal has asked the run to end.

    It is raised where it comes, and kept besides: a callback that runs just then, of the collector or of a destructor,
    has nobody to raise it to, and Python passes over it.
    """

    def __init__(self) -> None:
        self._asked: int | None = None

    def end(self, number: int, _frame: FrameType | None) -> None:
        """The handler of the signals."""
        self._asked = number
        raise Terminated(number)

    def check(self) -> None:
        """Raise ``Terminated`` where a signal has come: called between one notebook and the next."""
        if self._asked is not None:
            raise Terminated(self._asked)


@contextmanager
def _ending_well() -> Iterator[_Ending]:
    """Let the signals that ask a program to end do so the way Ctrl-C does."""
    ending = _Ending()
    numbers = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, ending.end) for number in numbers}
    try:
        yield ending
        ending.check()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _written(path: str) -> str:
    """A path with what is no text in it spelled out: a name on disk is any bytes, and not all can be written down."""
    return path.encode("utf-8", "backslashreplace").decode()


def broken_names(jobs: Sequence[Job], chapter: str, worth: float) -> dict[Job, Verdict]:
    """The verdicts on those of ``jobs`` whose paths are no text."""
    return {job: _unnamed(job, chapter, worth) for job in jobs if _written(str(job.path)) != str(job.path)}


def refusals_of(jobs: Sequence[Job], chapter: str) -> dict[Job, str]:
    """Those of ``jobs`` that are not even opened, each with the reason."""
    return {job: why for job in jobs if (why := _refusal(job, chapter))}


def _unnamed(job: Job, chapter: str, worth: float) -> Verdict:
    """The verdict on what lies in a folder with such a name. No gradebook and no page can name its student."""
    path, student = _written(str(job.path)), _written(str(job.student))
    reason = (
        f"The name of the folder {student} is not UTF-8 text, so no mark can be entered. Rename it and grade again."
    )
    return replace(ungradable(job, reason, chapter, worth), notebook=path, student=student)


def _refusal(job: Job, chapter: str) -> str:
    """Why a submission is not even opened: a link may point at any file of the grader's, such as another's answers."""
    try:
        for path in (job.path.parent.parent, job.path.parent, job.path):
            if path.is_symlink():
                return f"{path.name} is a link, not what a student hands in. It was not followed."
        others = [Path(path).name for path in other_notebooks(str(job.path))]
        missing = not job.path.is_file()
    except OSError as error:
        return f"{job.path.parent} cannot be read: {error.strerror or error}."
    if missing and others:
        names = [_written(name) for name in others[:_MAX_NAMES]]
        if len(others) > _MAX_NAMES:
            names.append(f"and {len(others) - _MAX_NAMES:,} more")
        return (
            f"There is no {chapter}.ipynb in the submission, but {', '.join(names)}. "
            "If that is the one, rename it and grade again."
        )
    return ""
