"""Grade on a Dask cluster. Its workers grade, and this process stores the results.

Dask is imported only if a scheduler's address is given. The module ``worker`` defines the objects that are sent to the cluster.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import uuid
import zipfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.classroom.delivery import FeedbackWriter
from autograder.course.course import Course
from autograder.course.notebook import NotebookError, files_beside, hidden_files, read_bytes
from autograder.course.secret import VARIABLE, course_secret
from autograder.extras.cluster import ClusterError
from autograder.extras.cluster import worker as on_worker
from autograder.extras.cluster.worker import Bundle, Chunk, Graded, Refused, Unit
from autograder.grading.submission import BESIDE, Job, Outcome, beside
from autograder.grading.task import Task
from autograder.sandbox.protocol import SandboxUnavailable

__all__ = ["grade_on_cluster", "pack_course"]

CONNECT_SECONDS = 10
LISTEN_SECONDS = 5.0
CHUNK = 16  # the most notebooks that are sent together
CHUNK_BYTES = 4 << 20  # the most bytes that are sent together, unless one notebook is larger
ROUNDS = 3  # chunks in flight per thread of the cluster, so that no thread waits and the scheduler holds little data


def grade_on_cluster(address: str, course: Course, task: Task, jobs: Sequence[Job]) -> Iterator[Outcome]:
    """Grade ``jobs`` on the Dask cluster with the scheduler at ``address``. ``partial(grade_on_cluster, address)`` is an ``Executor``.

    If a worker dies, another one grades its notebooks. Raises ``ClusterError`` if there is no cluster, ``SandboxUnavailable`` if a
    worker has no sandbox, and ``CourseError`` if a worker has different versions.
    """
    with _client(address) as client:
        there = replace(task, cache=None)  # this process stores the verdicts
        bundle = Bundle(
            uuid.uuid4().hex, pack_course(course), _secret_text(course), on_worker.version_fingerprint(), there
        )
        yield from _Run(client, address, bundle, task, jobs).outcomes()


def pack_course(course: Course) -> bytes:
    """Return a zip with the parts of a course that a worker needs: configuration, notebooks with their files, solutions and checks.

    The same course gives the same bytes.
    """
    root = course.root
    files = [*root.glob("*.py")]
    for folder, kinds in (("source", {".ipynb"}), ("solutions", None), ("tests/chapters", None)):
        found = (path for path in (root / folder).rglob("*") if path.is_file())
        files += [path for path in found if kinds is None or path.suffix in kinds]
    files += [path for chapter in course.chapters for path in files_beside(course.source(chapter))]
    files += [path for chapter in course.chapters for path in hidden_files(course.checks(chapter))]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            if not any(part == "__pycache__" or part.startswith(".") for part in path.relative_to(root).parts):
                entry = zipfile.ZipInfo(path.relative_to(root).as_posix())
                entry.external_attr = 0o600 << 16
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client  # noqa: PLC0415
        from distributed.comm import normalize_address, resolve_address  # noqa: PLC0415
    except ImportError as error:
        raise ClusterError(
            "Grading on a cluster needs Dask, which is not installed here: pip install 'nbautograder[dask]'."
        ) from error
    # Hide Dask's own messages, which are about its internals. ``_gone`` explains a lost connection.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        # Resolve the address first, because a Client with a wrong address waits a long time and prints errors when it is deleted.
        resolve_address(normalize_address(address))
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address} ({str(error) or type(error).__name__}). Start one with "
            "`dask scheduler`, and give --scheduler the address that it prints, such as tcp://192.168.0.1:8786."
        ) from error
    try:
        with client.as_current():  # Dask's ``wait`` uses the current client
            yield client
    finally:
        with suppress(Exception):
            client.close(timeout=CONNECT_SECONDS)


@dataclass
class _Run:
    """A run that sends one chapter's notebooks to the cluster and receives their outcomes."""

    client: Any  # Dask has no type hints
    address: str
    bundle: Bundle
    task: Task
    jobs: Sequence[Job]
    _to_send: deque[int] = field(default_factory=deque)
    _alone: deque[int] = field(default_factory=deque)
    _sent: dict[Any, tuple[Unit, ...]] = field(default_factory=dict)
    _unreadable: list[Outcome] = field(default_factory=list)
    _number: int = 0

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcome of each job as it comes back."""
        self._to_send.extend(range(len(self.jobs)))
        # The course is sent as a task, not as data: if the worker that holds it dies, the task runs again elsewhere.
        packed = self.client.submit(_as_it_is, self.bundle, key=f"autograder-course-{self.bundle.run}", pure=False)
        try:
            threads = self._threads()
            if not threads:
                _say(
                    f"No worker has joined the scheduler at {self.address} yet. Waiting for one. Press Ctrl-C to stop."
                )
            size = max(1, min(CHUNK, len(self.jobs) // (4 * max(threads, 1))))
            while self._to_send or self._alone or self._sent:
                while len(self._sent) < ROUNDS * max(threads, 4) and (units := self._next(size)):
                    self._number += 1
                    key = f"autograder-{self.bundle.run}-{self._number}"
                    future = self.client.submit(on_worker.grade_chunk, packed, Chunk(units), key=key, pure=False)
                    self._sent[future] = units
                while self._unreadable:
                    yield self._unreadable.pop()
                for future in self._come_back():
                    yield from self._taken(future, self._sent.pop(future))
                threads = self._threads() or threads
        finally:
            if self.client.status == "running":  # otherwise no scheduler would answer, and Dask would wait
                with suppress(Exception):
                    self.client.cancel([*self._sent, packed], force=True)
                    self.client.run(on_worker.release_worker, self.bundle.run, on_error="ignore")

    def _threads(self) -> int:
        try:
            return sum(self.client.nthreads().values())
        except (OSError, TimeoutError) as error:
            raise self._gone() from error

    def _next(self, size: int) -> tuple[Unit, ...]:
        """Read and return the next notebooks to send. If a chunk killed its workers, its notebooks are sent one by one."""
        if self._alone:
            return tuple(filter(None, [self._unit(self._alone.popleft())])) or self._next(size)
        units: list[Unit] = []
        while self._to_send and len(units) < size and sum(len(unit.data) for unit in units) < CHUNK_BYTES:
            unit = self._unit(self._to_send.popleft())
            if unit is not None:
                units.append(unit)
        return tuple(units)

    def _unit(self, position: int) -> Unit | None:
        job = self.jobs[position]
        try:
            data = read_bytes(job.path)
        except NotebookError as error:
            is_final = not isinstance(error.__cause__, OSError)
            self._unreadable.append(self.task.ungradable(job, str(error), is_final=is_final))
            return None
        texts = {name: text for name in BESIDE if (text := beside(job.path, name)) is not None}
        return Unit(position, job.student, job.path.name, data, texts)

    def _come_back(self) -> list[Any]:
        """Wait until at least one chunk is finished, and return all finished chunks. Print a message if no worker is left."""
        from distributed import CancelledError, wait  # noqa: PLC0415

        waiting = False
        while self._sent:
            try:
                return list(wait(list(self._sent), timeout=LISTEN_SECONDS, return_when="FIRST_COMPLETED").done)
            except (TimeoutError, CancelledError) as error:
                if self.client.status != "running" or any(f.status in {"cancelled", "lost"} for f in self._sent):
                    raise self._gone() from error
                if not waiting and not self._threads():
                    waiting = True
                    _say(f"The scheduler at {self.address} has no worker. Waiting for one. Press Ctrl-C to stop.")
        return []

    def _taken(self, future: Any, units: tuple[Unit, ...]) -> Iterator[Outcome]:
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415

        try:
            found: list[Graded] | Refused = future.result()
        except KilledWorker:
            if len(units) > 1:  # sending the notebooks one at a time shows which of them killed the worker
                self._alone.extend(unit.position for unit in units)
                return
            why = "The worker that graded this notebook stopped several times."
            reason = f"{why} This is not the student's fault. Grade the notebook again, or grade it manually."
            yield self.task.ungradable(self.jobs[units[0].position], reason)
            return
        except (CancelledError, OSError) as error:
            raise self._gone() from error
        except ImportError as error:
            raise CourseError(
                f"A worker in the cluster at {self.address} cannot import a module for grading ({error}). "
                "Install the same version of the framework there."
            ) from error
        if isinstance(found, Refused):
            raise SandboxUnavailable(found.why) if found.no_sandbox else CourseError(found.why)
        by_position = {unit.position: unit for unit in units}
        for one in found:
            yield self._at_home(by_position[one.position], one)

    def _at_home(self, unit: Unit, graded: Graded) -> Outcome:
        """Store the verdict and pages of a worker's outcome. Return the outcome with this process's notebook path and student."""
        job = self.jobs[unit.position]
        verdict = graded.outcome.verdict.relabelled(notebook=str(job.path), student=job.student)
        outcome = replace(graded.outcome, job=job, verdict=verdict)
        deliver = self.task.deliver
        if isinstance(deliver, FeedbackWriter):
            deliver = partial(_put_in_place, deliver, graded.files)
        return replace(self.task, deliver=deliver).finish(outcome, unit.data)

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"The scheduler at {self.address} no longer answers. Graded notebooks are saved. Once the scheduler "
            "is back, run the same command to continue."
        )


def _put_in_place(pages: FeedbackWriter, files: Sequence[tuple[bytes, int] | None], outcome: Outcome) -> Outcome:
    """Write the files that a worker made for ``pages`` to their final places."""
    notebook, *_others = paths = pages.files(outcome.job)
    for path, packed in zip(paths, files, strict=True):
        if packed is not None:
            write_atomically(path, *packed)
        elif path == notebook:  # an old page must not be mistaken for the result of this submission
            path.unlink(missing_ok=True)
    return replace(outcome, cells=())


def _as_it_is(bundle: Bundle) -> Bundle:
    return bundle


def _secret_text(course: Course) -> str:
    """Return the course secret, from which hidden inputs are drawn. Create it if there is none."""
    course_secret(course)
    path: Path = course.root / course.secret_file
    return os.environ.get(VARIABLE) or path.read_text(encoding="utf-8").strip()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
