"""The same work on many machines: a Dask cluster grades, and one writer at home keeps what comes back.

Nothing here is imported from Dask before an address is given. What travels is described in ``station``.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import uuid
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from autograder.course import CourseError

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.classroom.delivery import Pages
    from autograder.cluster.worker import Bundle, Lost, Marked, Unit
    from autograder.course import Course
    from autograder.grading.options import Order
    from autograder.grading.submission import Job

__all__ = ["ClusterError", "Home", "grade_on_cluster", "pack_course", "write_pages"]

CONNECT_SECONDS = 10
LISTEN_SECONDS = 5.0
CHUNK = 16  # notebooks that travel together, at most
CHUNK_BYTES = 4 << 20  # …and how large they may be together, unless one is larger
ROUNDS = 3  # chunks on their way for every thread of the cluster, so that none waits and the scheduler holds little


class ClusterError(Exception):
    """The cluster is not there, or is no more; the text says which, and what to do."""


@dataclass(frozen=True, slots=True)
class Home:
    """Who at home hears what became of a notebook, each of them once.

    ``marked(job, data, marked)`` hears of a graded one, with the bytes that were graded; ``failed(job, why)`` of one that
    could not be; ``unreadable(job, error)`` of a file that could not even be sent.
    """

    marked: Callable[[Job, bytes, Marked], None]
    failed: Callable[[Job, str], None]
    unreadable: Callable[[Job, Exception], None]


def grade_on_cluster(
    address: str,
    course: Course,
    chapter: str,
    order: Order,
    jobs: Sequence[Job],
    home: Home,
    pages: Pages | None = None,
) -> None:
    """Grade ``jobs`` on the Dask cluster whose scheduler is at ``address``; ``home`` hears of each as it comes back.

    ``pages`` writes what students get back, where they get anything.

    A worker that dies loses nothing: what it had in hand goes to another. Raises ``ClusterError`` where there is no
    cluster, ``SandboxUnavailable`` where a worker has no jail, ``CourseError`` where one has another version.
    """
    from autograder.cluster.worker import Bundle, versions  # noqa: PLC0415

    with _client(address) as client:
        run = uuid.uuid4().hex
        bundle = Bundle(run, pack_course(course), _secret_text(course), versions(), chapter, order, pages)
        _Run(client, address, bundle, jobs, home).go()


def pack_course(course: Course) -> bytes:
    """What a worker needs of a course, as a zip: configuration, notebooks, solutions and checks; the same bytes each time."""
    root = course.root
    files = [*root.glob("*.py")]
    for folder, kinds in (("source", {".ipynb"}), ("solutions", None), ("tests/chapters", None)):
        found = (path for path in (root / folder).rglob("*") if path.is_file())
        files += [path for path in found if kinds is None or path.suffix in kinds]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            if not any(part == "__pycache__" or part.startswith(".") for part in path.relative_to(root).parts):
                entry = zipfile.ZipInfo(path.relative_to(root).as_posix())
                entry.external_attr = 0o600 << 16
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def write_pages(pages: Pages, job: Job, marked: Marked) -> None:
    """Put the pages that a worker wrote where they belong."""
    from autograder.files import write_atomically  # noqa: PLC0415

    notebook = pages.files(job)[0]
    for path, packed in zip(pages.files(job), marked.files, strict=True):
        if packed is not None:
            write_atomically(path, *packed)
        elif path == notebook:  # an old page must not pass for the outcome of this submission
            path.unlink(missing_ok=True)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client  # noqa: PLC0415
        from distributed.comm import normalize_address, resolve_address  # noqa: PLC0415
    except ImportError as error:
        raise ClusterError(
            "Grading on a cluster needs Dask, which is not installed here: pip install 'autograder[dask]'."
        ) from error
    # What a connection that is gone means is said by ``_gone``; Dask's own lines tell of its inner life.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        # First, as a Client that could not even begin tells of it when it is thrown away, and waits for long.
        resolve_address(normalize_address(address))
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address} ({str(error) or type(error).__name__}). Start one with "
            "`dask scheduler`, and give --scheduler the address that it prints, such as tcp://192.168.0.1:8786."
        ) from error
    try:
        with client.as_current():  # ``wait`` asks for it
            yield client
    finally:
        with suppress(Exception):
            client.close(timeout=CONNECT_SECONDS)


@dataclass
class _Run:
    """One chapter's notebooks on their way to the cluster and back."""

    client: Any
    address: str
    bundle: Bundle
    jobs: Sequence[Job]
    home: Home
    _to_send: deque[int] = field(default_factory=deque)
    _alone: deque[int] = field(default_factory=deque)
    _sent: dict[Any, tuple[Unit, ...]] = field(default_factory=dict)
    _number: int = 0

    def go(self) -> None:
        from autograder.cluster.worker import dismiss, grade_chunk  # noqa: PLC0415

        self._to_send.extend(range(len(self.jobs)))
        # Kept as a task, not as data: whatever worker held it may die, and it is simply made again.
        packed = self.client.submit(_as_it_is, self.bundle, key=f"autograder-course-{self.bundle.run}", pure=False)
        try:
            threads = self._threads()
            if not threads:
                _say(f"No worker has joined the scheduler at {self.address} yet; waiting for one. Ctrl-C stops.")
            size = max(1, min(CHUNK, len(self.jobs) // (4 * max(threads, 1))))
            while self._to_send or self._alone or self._sent:
                while len(self._sent) < ROUNDS * max(threads, 4) and (units := self._next(size)):
                    self._number += 1
                    key = f"autograder-{self.bundle.run}-{self._number}"
                    chunk = _chunk(units)
                    self._sent[self.client.submit(grade_chunk, packed, chunk, key=key, pure=False)] = units
                for future in self._come_back():
                    self._hear(future, self._sent.pop(future))
                threads = self._threads() or threads
        finally:
            if self.client.status == "running":  # or there is nobody who could be told, and that is waited for
                with suppress(Exception):
                    self.client.cancel([*self._sent, packed], force=True)
                    self.client.run(dismiss, self.bundle.run, on_error="ignore")

    def _threads(self) -> int:
        try:
            return sum(self.client.nthreads().values())
        except (OSError, TimeoutError) as error:
            raise self._gone() from error

    def _next(self, size: int) -> tuple[Unit, ...]:
        """The next notebooks to send, read now; those of a chunk that died with its workers go one by one."""
        if self._alone:
            return tuple(filter(None, [self._unit(self._alone.popleft())])) or self._next(size)
        units: list[Unit] = []
        while self._to_send and len(units) < size and sum(len(unit.data) for unit in units) < CHUNK_BYTES:
            unit = self._unit(self._to_send.popleft())
            if unit is not None:
                units.append(unit)
        return tuple(units)

    def _unit(self, position: int) -> Unit | None:
        from autograder.classroom.delivery import BESIDE, beside  # noqa: PLC0415
        from autograder.cluster.worker import Unit  # noqa: PLC0415
        from autograder.notebook import NotebookError, read_bytes  # noqa: PLC0415

        job = self.jobs[position]
        try:
            data = read_bytes(job.path)
        except NotebookError as error:
            self.home.unreadable(job, error)
            return None
        texts = {name: text for name in BESIDE if (text := beside(job.path, name)) is not None}
        return Unit(position, job.student, job.path.name, data, texts)

    def _come_back(self) -> list[Any]:
        """The chunks that are done; waits for the first of them, and says so where no worker is left to do it."""
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
                    _say(f"The scheduler at {self.address} has no worker; waiting for one. Ctrl-C stops.")
        return []

    def _hear(self, future: Any, units: tuple[Unit, ...]) -> None:
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415

        from autograder.cluster.worker import Refused  # noqa: PLC0415
        from autograder.sandbox.confinement import SandboxUnavailable  # noqa: PLC0415

        try:
            found = future.result()
        except KilledWorker:
            if len(units) > 1:  # which of them it was shows when each goes alone
                self._alone.extend(unit.position for unit in units)
                return
            self._lost(units[0], "was lost with its worker, several times over")
            return
        except (CancelledError, OSError) as error:
            raise self._gone() from error
        except ImportError as error:
            raise CourseError(
                f"A worker of the cluster at {self.address} cannot import what grading needs ({error}): "
                "the framework is to be installed there, in the same version as here."
            ) from error
        if isinstance(found, Refused):
            raise SandboxUnavailable(found.why) if found.no_sandbox else CourseError(found.why)
        by_position = {unit.position: unit for unit in units}
        for one in found:
            self._take(by_position[one.position], one)

    def _take(self, unit: Unit, one: Marked | Lost) -> None:
        from autograder.cluster.worker import Lost  # noqa: PLC0415

        if isinstance(one, Lost):
            self._lost(unit, f"{one.how}, twice")
            return
        job = self.jobs[unit.position]
        verdict = one.verdict.relabelled(notebook=str(job.path), student=job.student)
        entry = replace(one.entry, verdict=verdict) if one.entry is not None else None
        self.home.marked(job, unit.data, replace(one, verdict=verdict, entry=entry))

    def _lost(self, unit: Unit, how: str) -> None:
        why = f"The process that graded this notebook {how}."
        self.home.failed(
            self.jobs[unit.position], f"{why} This is not the student's fault; grade it again, or by hand."
        )

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"The scheduler at {self.address} is gone. What was graded until then is kept: once it is back, the same "
            "command goes on from here."
        )


def _chunk(units: tuple[Unit, ...]) -> Any:
    from autograder.cluster.worker import Chunk  # noqa: PLC0415

    return Chunk(units)


def _as_it_is(bundle: Bundle) -> Bundle:
    return bundle


def _secret_text(course: Course) -> str:
    """The text from which hidden inputs are drawn, made where there is none yet."""
    from autograder.judging.secret import VARIABLE, course_secret  # noqa: PLC0415

    course_secret(course)
    path: Path = course.root / course.secret_file
    return os.environ.get(VARIABLE) or path.read_text(encoding="utf-8").strip()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
