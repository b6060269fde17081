"""Grade notebooks in separate processes. Each process has its own sandbox and checks, and grades one notebook at a time.

If a process dies, its notebook goes to another process. A notebook that ends two processes is ungradable, and other notebooks
are not affected. A process that hangs, or that uses too much processor time or memory for one notebook, is killed. Its notebook
is ungradable, and a new process grades the next notebook.
"""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

from traitlets.config import Config

from autograder.base.errors import CourseError
from autograder.base.formatting import pluralize
from autograder.course.course import Course, load_course
from autograder.course.notebook import COPIES
from autograder.course.secret import VARIABLE
from autograder.grading.grader import check_serially, grade_serially
from autograder.grading.submission import Job, Outcome
from autograder.grading.task import Task

__all__ = ["Pool", "grade_in_parallel", "serve"]

_MAX_AHEAD = 2  # notebooks sent to a process: it grades the first, and the second waits
_MAX_DEATHS = 2  # how many processes may end while grading a notebook before it is ungradable
_PATIENCE = 5  # seconds before a process that should end is killed
_LOOK_SECONDS = 0.1  # seconds between two measurements of the processes' time and memory
_EXCEEDED = (
    "The grader itself used more than {much} for this notebook, so it was stopped ({setting}). The notebook has no mark, which is not "
    "the same as zero points. The notebook or a result of its functions is too slow or too large to read or compare. Grade it manually, "
    "or raise the limit and grade it again."
)


def grade_in_parallel(workers: int, course: Course, task: Task, jobs: Sequence[Job]) -> Iterator[Outcome]:
    """Grade ``jobs`` in ``workers`` processes. A ``partial`` of this function with ``workers`` is an ``Executor``."""
    with Pool(course.root, task, workers) as pool:
        yield from pool.grade(jobs)


class Pool(AbstractContextManager["Pool"]):
    """Grading processes, started when they are first needed and reused for further calls and tasks.

    Without a ``root``, there is no course, and the notebooks are checked with the examples next to them. ``secret`` is the course secret, which determines the hidden inputs. By default, each process looks it up.
    """

    def __init__(self, root: Path | None, task: Task, workers: int, *, secret: str = "") -> None:
        self._root, self._task, self._workers, self._secret = root, task, workers, secret
        self._waiting: deque[Job] = deque()
        self._deaths: Counter[Job] = Counter()
        self._processes: dict[int, _Process] = {}  # the processes, by index among the workers
        self._ended: threading.Event | None = None  # set to end the thread that watches the processes
        # A grader and its sandbox take turns, so they run best on one core. Pin them only if every core gets
        # a grader. Otherwise the system may find a less busy core for them.
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self._cores = cores if workers >= len(cores) else []

    def switch_task(self, task: Task) -> None:
        """Switch to ``task``, which grades a chapter of the same course. There must be no waiting jobs."""
        if task != self._task:
            self._task = task
            for process in self._processes.values():
                process.send(task)

    def grade(self, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """Yield the outcome of each job as soon as it is ready. Raises the errors that the checks or the sandbox raise in a process."""
        self._waiting.extend(jobs)
        while len(self._processes) < min(self._workers, len(jobs)):
            self._start()
        for process in self._processes.values():
            self._feed(process)
        while busy := {place: process for place, process in self._processes.items() if process.jobs}:
            ready = wait([process.pipe for process in busy.values()])
            for place, process in busy.items():
                if process.pipe not in ready:
                    continue
                try:
                    message: Outcome | BaseException = process.pipe.recv()
                except (EOFError, OSError):
                    yield from self._replace(place)
                    continue
                if isinstance(message, BaseException):
                    raise message
                job = process.jobs.popleft()  # the outcome has a copy of the job
                process.done += 1
                self._feed(process)
                yield replace(message, job=job)

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        if kind is None:
            self.close()
        else:
            self.end()

    def close(self) -> None:
        """End the processes. They must have no jobs left."""
        for process in self._processes.values():
            process.send(None)
        for process in self._processes.values():
            process.wait()
        self.end()

    def end(self) -> None:
        """End the processes and their sandboxes immediately."""
        if self._ended is not None:
            self._ended.set()
            self._ended = None
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.close()
        self._processes.clear()

    def _start(self) -> _Process:
        place = next(place for place in count() if place not in self._processes)
        core = self._cores[place % len(self._cores)] if self._cores else None
        if self._ended is None:
            self._ended = threading.Event()
            threading.Thread(target=self._watch, args=(self._ended,), name="grader limits", daemon=True).start()
        process = self._processes[place] = _Process(self._root, self._task, core, self._secret)
        return process

    def _watch(self, ended: threading.Event) -> None:
        """Kill each process that exceeds a limit. This runs in a thread, because the caller may be slow to use the outcomes."""
        while not ended.wait(_LOOK_SECONDS):
            for process in list(self._processes.values()):
                process.look()

    def _feed(self, process: _Process) -> None:
        while self._waiting and len(process.jobs) < _MAX_AHEAD:
            process.jobs.append(self._waiting.popleft())
            process.send(process.jobs[-1])

    def _replace(self, place: int) -> Iterator[Outcome]:
        """Give the jobs of a dead process to a new process. A job that exceeded a limit or ended too many processes is ungradable."""
        process = self._processes.pop(place)
        how = process.close()
        if process.exceeded:
            number, why = process.exceeded
            if number == process.done + 1:  # its outcome was not received
                yield self._task.ungradable(process.jobs.popleft(), why)
        else:
            self._deaths[process.jobs[0]] += 1  # only the first notebook was being graded
        for job in reversed(process.jobs):
            if self._deaths[job] < _MAX_DEATHS:
                self._waiting.appendleft(job)
                continue
            why = f"The process that graded this notebook {how}, twice. This is not the student's fault."
            yield self._task.ungradable(job, f"{why} Grade the notebook again, or grade it manually.")
        if self._waiting:
            self._feed(self._start())


class _Process:
    """A grading process and its jobs, oldest first.

    Attributes:
        done: the number of outcomes that were received.
        exceeded: the number of the notebook for which the process was killed, and the reason. None if it was not killed.
    """

    def __init__(self, root: Path | None, task: Task, core: int | None, secret: str) -> None:
        self.jobs: deque[Job] = deque()
        self.done = 0
        self.exceeded: tuple[int, str] | None = None
        self._seen = 0
        self.pipe, theirs = Pipe()
        with tempfile.TemporaryFile(prefix="autograder-") as page:
            page.write(bytes(_PAGE.size))
            page.flush()
            self._current = _Current(page.fileno())
            self._start(theirs, page.fileno())
        self.send((core, secret))
        self.send((root, task))

    def _start(self, theirs: Connection, page: int) -> None:
        # Do not fork, which would copy the locks of threads and an open database. Do not use ``multiprocessing`` either:
        # a Dask worker may be a daemonic process, which cannot have such children.
        passed = [theirs.fileno(), page]
        code = f"import sys; sys.path[:] = {sys.path!r}; from autograder.grading.pool import serve; serve(*{passed!r})"
        command = [sys.executable, "-c", code]
        self._process = subprocess.Popen(command, pass_fds=passed, stdin=subprocess.DEVNULL)
        theirs.close()

    def look(self) -> None:
        """Kill the process if its notebook exceeds a limit. Two readings of the limits must agree, because the process may be writing them."""
        grading = self._current.read()
        much = grading.exceeded(self._process.pid)
        if self._seen == grading.number and much:
            self.exceeded = self.exceeded or (grading.number, _EXCEEDED.format(much=much[0], setting=much[1]))
            self._process.kill()
        self._seen = grading.number if much else 0

    def send(self, message: object) -> None:
        """Send a message. If the process has died, that is noticed when its pipe is read."""
        with suppress(OSError):
            self.pipe.send(message)

    def wait(self) -> None:
        """Wait a few seconds for the process to end."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)

    def terminate(self) -> None:
        """Terminate the process."""
        self._process.terminate()

    def close(self) -> str:
        """Make sure that the process ends, and return how it ended, as the end of a sentence."""
        self.wait()
        if self._process.poll() is None:
            self._process.kill()
        code = self._process.wait()
        self.pipe.close()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


class _Grading(NamedTuple):
    """The limits of the notebook that a process is grading. ``number`` counts from 1, and ``seconds`` is 0 between two notebooks.

    ``began`` is a time on the monotonic clock. ``processor_began`` is the processor time that the process had used by then.
    """

    number: int = 0
    began: float = 0.0
    seconds: float = 0.0
    processor_began: float = 0.0
    processor_seconds: float = 0.0
    memory_mb: int = 0

    def exceeded(self, pid: int) -> tuple[str, str] | None:
        """Return the exceeded limit as text, and the name of its setting, or None if no limit is exceeded."""
        if not self.seconds:
            return None
        processor, memory = _usage(pid)
        if time.monotonic() - self.began > self.seconds:
            much = f"{pluralize(self.seconds, 'second')}, including the student's code,"
            return much, "c.Course.grader_seconds"
        if processor - self.processor_began > self.processor_seconds:
            much = f"{pluralize(self.processor_seconds, 'second')} of processor time"
            return much, "c.Course.grader_processor_seconds"
        if memory > self.memory_mb << 20:
            return f"{self.memory_mb:,} MiB of memory", "c.Course.grader_memory_mb"
        return None


_PAGE = struct.Struct("=qddddq")


class _Current:
    """The limits of the notebook that a process is grading, in shared memory. The parent can read them even if the process hangs."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, _PAGE.size)

    def read(self) -> _Grading:
        """Return the limits of the current notebook."""
        return _Grading(*_PAGE.unpack_from(self._page))

    def begin(self, course: Course) -> None:
        """Record that the next notebook has begun."""
        number, began, used = self.read().number + 1, time.monotonic(), time.process_time()
        limits = (course.notebook_seconds, used, course.notebook_processor_seconds, course.grader_memory_mb)
        _PAGE.pack_into(self._page, 0, number, began, *limits)

    def end(self) -> None:
        """Record that the current notebook is done."""
        _PAGE.pack_into(self._page, 0, *_Grading(self.read().number))


def _usage(pid: int) -> tuple[float, int]:
    """Return the processor time (s) and the memory (bytes, swapped or not) of a process. Outside Linux, or if they are unknown, both are 0."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - faster, and read ten times a second
            fields = file.read().rpartition(b")")[2].split()
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
            sizes = [int(line.split()[1]) for line in file if line.startswith((b"VmRSS:", b"VmSwap:"))]
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), sum(sizes) << 10
    except (OSError, ValueError, IndexError):  # the process has just ended
        return 0.0, 0


def serve(descriptor: int, page: int) -> None:
    """Run in a grading process: take jobs until there are no more, and send the outcome of each.

    ``page`` is the descriptor of the file in which the process records the limits of the notebook that it is grading.
    """
    # Ctrl-C reaches the whole process group. Only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from autograder.sandbox import open_worker  # noqa: PLC0415 - imports NumPy, which is not needed if no notebook has changed

    pipe, current = Connection(descriptor), _Current(page)
    try:
        core, secret = pipe.recv()
        if core is not None:
            with suppress(OSError):  # the core is not available any more
                os.sched_setaffinity(0, {core})
        if secret:
            # The secret is not passed in the initial environment, because other users can read that environment.
            os.environ[VARIABLE] = secret
        gc.set_threshold(10_000, 20, 20)  # by default, a tenth of the time would go to garbage collection
        root, task = pipe.recv()
        course, tasks = (load_course(root) if root else Course(Path(), Config())), [task]
        with ExitStack() as stack:
            graded: Callable[[Task, Iterator[Job]], Iterator[Outcome]] = check_serially
            if root:
                worker = open_worker(course.limits, list(course.packages), confinement=task.options.confinement)
                graded = partial(grade_serially, course, worker=stack.enter_context(worker))
            while tasks:
                for outcome in graded(tasks.pop(), _jobs(pipe, tasks, partial(current.begin, course))):
                    current.end()
                    pipe.send(outcome)
    except BaseException as error:  # noqa: BLE001 - sent to the parent and raised there
        with suppress(OSError):
            pipe.send(error if _travels(error) else CourseError(f"{type(error).__name__}: {error}"))
    COPIES.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # the sandbox has ended, so skip the interpreter's slow shutdown


def _jobs(pipe: Connection, tasks: list[Task], begin: Callable[[], None]) -> Iterator[Job]:
    """Yield the jobs of a task, calling ``begin`` before each. If another task follows the jobs, append it to ``tasks``."""
    while True:
        try:
            message: Job | Task | None = pipe.recv()
        except (EOFError, OSError):
            os._exit(1)  # the parent is gone
        if isinstance(message, Task):
            tasks.append(message)
        if not isinstance(message, Job):
            return
        begin()
        yield message


def _travels(error: BaseException) -> bool:
    """Return whether an error can be pickled."""
    try:
        return isinstance(pickle.loads(pickle.dumps(error)), BaseException)  # noqa: S301 - our own, just written
    except Exception:  # noqa: BLE001
        return False
