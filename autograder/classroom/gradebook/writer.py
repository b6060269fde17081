"""The one writer of a run's marks: outcomes are entered in batches, by a thread, so that no grading waits for the database."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue

from autograder.classroom.gradebook.entries import load_nbgrader, nbgrader_config, write_entries
from autograder.classroom.gradebook.errors import require_gradebook
from autograder.course.course import Course
from autograder.grading.outcome import Outcome

__all__ = ["GradebookWriter"]

BATCH = 200  # outcomes to one transaction


class GradebookWriter:
    """Enters outcomes in the gradebook at ``url``; ``after`` is called with those of each transaction once they are in.

    Without a ``url`` nothing is entered, which is said at the end. What goes wrong in the thread is raised by the next call of
    any method, once.
    """

    def __init__(self, course: Course, url: str | None, after: Callable[[list[Outcome]], None]) -> None:
        self._course, self._url, self._after = course, url, after
        self._waiting: list[Outcome] = []
        self.kept: dict[str, tuple[float, float]] = {}  # of those for whom an earlier notebook counts, both marks
        self._unentered = 0
        self._ready = threading.Event()
        self._batches: SimpleQueue[list[Outcome] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def begin(self, *, wait: bool) -> None:
        """Get ready to write, which takes seconds; with ``wait``, return only when a usable gradebook is there."""
        if self._url is not None:
            self._start()
            if wait:
                self._ready.wait()
            self._check()

    def enter(self, outcome: Outcome) -> None:
        """Enter ``outcome``, together with others."""
        self._check()  # a class is not graded to the end for a gradebook that is not there
        self._waiting.append(outcome)
        if len(self._waiting) >= BATCH:
            self._flush()

    def close(self) -> None:
        """Wait until everything is written."""
        self._flush()
        if self._thread is not None:
            self._batches.put(None)
            self._thread.join()
            self._thread = None
        self._check()
        if self._unentered:
            sys.stderr.write("Graded without confinement: these marks are not entered in the gradebook.\n")

    def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch and self._url is None:
            self._unentered += len(batch)
            self._after(batch)
        elif batch:
            self._check()
            self._batches.put(batch)
            self._start()

    def _start(self) -> None:
        if self._thread is None:
            # A second Ctrl-C must be able to end the program in the middle of a transaction, which then never was.
            self._thread = threading.Thread(target=self._write, daemon=True, name="gradebook")
            self._thread.start()

    def _write(self) -> None:
        try:
            load_nbgrader()
            require_gradebook(str(self._url), nbgrader_config(self._course))
            self._ready.set()
            while (batch := self._batches.get()) is not None:
                if any(one.contested for one in batch):
                    write_entries(self._course, batch, kept=self.kept)
                else:
                    write_entries(self._course, batch)
                self._after(batch)
        except BaseException as error:  # noqa: BLE001 - raised where the outcomes came from
            self._error = error
        finally:
            self._ready.set()

    def _check(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
