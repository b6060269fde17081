"""A class's submissions of one chapter: found, graded, entered in the gradebook, and given back as pages."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

from autograder.classroom.delivery import Pages, Returned, folder_of, warned
from autograder.classroom.uptodate import Ledger
from autograder.course import CourseError
from autograder.gradebook.entries import Entry, gradebook_url, load_nbgrader, nbgrader_config, write_entries
from autograder.gradebook.errors import require_gradebook
from autograder.grading.batch import grade
from autograder.grading.options import Order
from autograder.grading.outcome import Graded, finished, points_of, ungradable
from autograder.grading.submission import Job
from autograder.grading.verdict_cache import Store
from autograder.notebook import load_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from autograder.course import Course
    from autograder.sandbox.confinement import Confinement
    from autograder.verdict import Verdict

__all__ = ["Terminated", "grade_class", "handed_in"]

BATCH = 200  # verdicts to one transaction
_MOST_NAMES = 10  # of other files, in the sentence that says a notebook is missing


class Terminated(KeyboardInterrupt):
    """The run was asked to end by a signal; ``status`` is what the program is to end with."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def handed_in(course: Course, chapter: str, students: Sequence[str] | None = None) -> list[Job]:
    """What was handed in for ``chapter``, by student; raises ``CourseError`` where that is nothing."""
    folder = folder_of(course, "submitted")
    # A link that leads nowhere and a file instead of a folder are told as what they are, not passed over.
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
    scheduler: str | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Grade ``jobs`` and write the gradebook, ``autograded/`` and ``feedback/``; the verdicts in the order of the jobs.

    What is unchanged since it was last graded is not run again. A notebook that could not be graded has no mark in the
    gradebook and waits there for a person. Without confinement nothing goes into the gradebook. An interruption (Ctrl-C,
    SIGTERM) is raised here once what was graded until then is entered. With ``scheduler``, the address of a Dask cluster,
    its workers grade; gradebook and pages are written here all the same.
    """
    pages = Pages.of(course, chapter)
    url = gradebook_url(course) if confinement != "local" else None
    order = Order(confinement)
    ledger = Ledger(course, chapter, Store(course, chapter, order.bearing), pages, url)
    writer = _Writer(course, url, early=workers > 1 or scheduler is not None) if url else None
    worth = points_of(load_source(course.source(chapter))[1])
    unnamed = {job: _unnamed(job, chapter, worth) for job in jobs if not _is_text(str(job.path))}
    settled = ledger.settled([job for job in jobs if job not in unnamed])
    desk = _Desk(ledger, writer, on_verdict, {**settled, **unnamed})
    for verdict in desk.verdicts.values():
        desk.tell(verdict)
    with _ending_well() as ending:
        desk.ending = ending
        try:
            sound = []
            for job in (job for job in jobs if job not in desk.verdicts):
                refusal = _refusal(job, chapter)
                if refusal:
                    desk.take(finished(Graded(job, ungradable(job, refusal, chapter, worth)), pages))
                else:
                    sound.append(job)
            if sound:
                if writer is not None:
                    writer.begin()
                grade(course, sound, desk.take, order, workers=workers, scheduler=scheduler, keep=True, finish=pages)
        finally:
            desk.close()  # what was graded before an interruption is not lost
    return [desk.verdicts[job] for job in jobs]


@dataclass
class _Desk:
    """Where graded notebooks come in: verdicts are told at once, marks are entered in batches."""

    ledger: Ledger
    writer: _Writer | None
    on_verdict: Callable[[Verdict], None] | None
    verdicts: dict[Job, Verdict]
    waiting: list[Returned] = field(default_factory=list)
    unentered: int = 0
    ending: _Ending | None = None

    def take(self, returned: Returned) -> None:
        if self.writer is not None:
            self.writer.check()  # a class is not graded to the end for a gradebook that is not there
        returned = warned(returned)
        verdict = returned.entry.verdict
        self.verdicts[returned.job] = verdict
        self.waiting.append(returned)
        if len(self.waiting) >= BATCH:
            self._enter()
        self.tell(verdict)
        if self.ending is not None:
            self.ending.check()

    def tell(self, verdict: Verdict) -> None:
        if self.on_verdict is not None:
            self.on_verdict(verdict)

    def close(self) -> None:
        """Enter what waits, and wait for the writer."""
        if self.waiting:
            self._enter()
        if self.writer is not None:
            self.writer.close()
        elif self.unentered:
            sys.stderr.write("Graded without confinement: these marks are not entered in the gradebook.\n")

    def _enter(self) -> None:
        batch, self.waiting = self.waiting, []
        if self.writer is None:
            self.unentered += len(batch)
            self.ledger.enter(batch)
        else:
            self.writer.enter([one.entry for one in batch], partial(self.ledger.enter, batch))


class _Writer:
    """The one writer of the gradebook: a thread, so that no grading process waits for the database."""

    def __init__(self, course: Course, url: str, *, early: bool) -> None:
        self._course = course
        self._url = url
        self._early = early
        self._ready = threading.Event()
        self._orders: SimpleQueue[tuple[list[Entry], Callable[[], None]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def begin(self) -> None:
        """Get ready to write, which takes seconds, while notebooks are graded in other processes, or else before.

        Where the gradebook cannot be used that is raised here, or by the next ``check``.
        """
        self._start()
        if not self._early:
            self._ready.wait()
        self.check()

    def enter(self, entries: list[Entry], then: Callable[[], None]) -> None:
        """Write ``entries`` in one transaction, and call ``then`` when they are in; raises what went wrong before."""
        self.check()
        self._orders.put((entries, then))
        self._start()

    def close(self) -> None:
        """Wait until everything is written; raises what went wrong."""
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join()
            self._thread = None
        self.check()

    def _start(self) -> None:
        if self._thread is None:
            # A second Ctrl-C must be able to end the program in the middle of a transaction, which then never was.
            self._thread = threading.Thread(target=self._write, daemon=True, name="gradebook")
            self._thread.start()

    def _write(self) -> None:
        try:
            load_nbgrader()
            require_gradebook(self._url, nbgrader_config(self._course))
            self._ready.set()
            while (order := self._orders.get()) is not None:
                entries, then = order
                write_entries(self._course, entries)
                then()
        except BaseException as error:  # noqa: BLE001 - raised where the entries came from
            self._error = error
        finally:
            self._ready.set()

    def check(self) -> None:
        """Raise what went wrong, once."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error


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
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = {number: signal.signal(number, ending.end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield ending
        ending.check()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_text(path: str) -> bool:
    """Whether a path can be written down: a name on disk is any bytes, and Python keeps those that are no text apart."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _written(path: str) -> str:
    """A path as it can be written down, with what is no text in it spelled out."""
    return path.encode("utf-8", "backslashreplace").decode()


def _unnamed(job: Job, chapter: str, worth: float) -> Verdict:
    """The verdict on what lies in a folder with such a name. No gradebook and no page can be told whose it is."""
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
        others = sorted(path.name for path in job.path.parent.glob("*.ipynb") if path.name != job.path.name)
        missing = not job.path.is_file()
    except OSError as error:
        return f"{job.path.parent} cannot be read: {error.strerror or error}."
    if missing and others:
        names = [_written(name) for name in others[:_MOST_NAMES]]
        if len(others) > _MOST_NAMES:
            names.append(f"and {len(others) - _MOST_NAMES:,} more")
        return (
            f"There is no {chapter}.ipynb in the submission, but {', '.join(names)}. "
            "If that is the one, rename it and grade again."
        )
    return ""
