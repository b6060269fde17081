"""Grade notebooks on a cluster's worker: unpack the course, and grade in a separate process.

Only the grading process loads the checks. The worker itself only unpacks and forwards data. So a crash in grading does not end
the worker, and the checks of two runs are never loaded in the same interpreter.
"""

from __future__ import annotations

import functools
import hashlib
import io
import platform
import tempfile
import threading
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from shutil import rmtree

import autograder
from autograder.base.errors import CourseError
from autograder.classroom.delivery import FeedbackWriter
from autograder.grading.pool import Pool
from autograder.grading.submission import Job, Outcome
from autograder.grading.task import Task
from autograder.sandbox.protocol import SandboxUnavailable

__all__ = ["Bundle", "Chunk", "Graded", "Refused", "Unit", "grade_chunk", "release_worker", "version_fingerprint"]

_MAX_IDLE = 8  # idle grading processes in one worker


@dataclass(frozen=True, slots=True)
class Bundle:
    """The packed course and the task of one run.

    ``archive`` is a zip file. ``secret`` is the text from which hidden inputs are drawn.
    """

    run: str
    archive: bytes = field(repr=False)
    secret: str = field(repr=False)
    versions: dict[str, str]
    task: Task


@dataclass(frozen=True, slots=True)
class Unit:
    """One notebook to send: its bytes, the name of its file, and the small files next to it."""

    position: int
    student: str | None
    name: str
    data: bytes = field(repr=False)
    beside: dict[str, str]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A few notebooks that are sent together. This is a class because Dask would search every item of a tuple."""

    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Graded:
    """The outcome of the unit at ``position``, and its pages as (bytes, mode) in the order of ``FeedbackWriter.files``."""

    position: int
    outcome: Outcome
    files: tuple[tuple[bytes, int] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """The reason why a worker cannot grade, such as a different version or a missing sandbox."""

    why: str
    no_sandbox: bool = False


@functools.cache
def version_fingerprint() -> dict[str, str]:
    """Return the versions of all software that affects verdicts. Machines with equal versions give equal verdicts."""
    framework = Path(autograder.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for path in framework.rglob("*") if path.suffix in {".py", ".j2"}):
        digest.update(f"{path.relative_to(framework)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    found = {"Python": ".".join(platform.python_version_tuple()[:2]), "autograder": autograder.__version__}
    for name in ("numpy", "hypothesis"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return {**found, "autograder's code": digest.hexdigest()[:12]}


def grade_chunk(bundle: Bundle, chunk: Chunk) -> list[Graded] | Refused:
    """Return the outcomes of all notebooks in ``chunk``, or the reason why this worker cannot grade any of them."""
    here = version_fingerprint()
    differing = [
        f"{name} {here.get(name, 'missing')} instead of {version}"
        for name, version in bundle.versions.items()
        if here.get(name) != version
    ]
    if differing:
        return Refused(
            f"The worker on {platform.node()} has {', '.join(differing)}, so its verdicts might differ from those of this "
            "machine. Install the same versions there, because the framework and its packages are not sent to workers."
        )
    workspace = _take(bundle)
    try:
        found = [workspace.grade(unit) for unit in chunk.units]
    except BaseException as error:
        workspace.close()
        if isinstance(error, SandboxUnavailable):
            return Refused(f"The worker on {platform.node()} has no sandbox for students' code. {error}", True)  # noqa: FBT003
        if isinstance(error, CourseError):
            return Refused(f"The worker on {platform.node()} reported an error: {error}")
        raise
    _give_back(workspace)
    return found


def release_worker(run: str) -> None:
    """End a run's grading processes and remove its files."""
    with _lock:
        going = [one for one in _idle if one.run == run]
        _idle[:] = [one for one in _idle if one.run != run]
    for one in going:
        one.close()


_lock = threading.Lock()
_idle: list[_Workspace] = []


def _take(bundle: Bundle) -> _Workspace:
    with _lock:
        for one in _idle:
            if one.run == bundle.run:
                _idle.remove(one)
                return one
    return _Workspace(bundle)


def _give_back(workspace: _Workspace) -> None:
    with _lock:
        _idle.append(workspace)
        leaving = _idle[:-_MAX_IDLE]
        del _idle[:-_MAX_IDLE]
    for old in leaving:
        old.close()


class _Workspace:
    """One grading process, with a private folder for the course and the submissions."""

    def __init__(self, bundle: Bundle) -> None:
        self.run = bundle.run
        self._task = bundle.task
        self._folder = tempfile.TemporaryDirectory(prefix="autograder-", dir=_scratch(), ignore_cleanup_errors=True)
        root = Path(self._folder.name) / "course"
        with zipfile.ZipFile(io.BytesIO(bundle.archive)) as archive:
            archive.extractall(root)
        self._unit = Path(self._folder.name) / "unit"
        self._pages, task = None, bundle.task
        if isinstance(task.deliver, FeedbackWriter):
            autograded, feedback = self._unit / "autograded", self._unit / "feedback"
            self._pages = replace(task.deliver, autograded=autograded, feedback=feedback)
            task = replace(task, deliver=functools.partial(_deliver_here, self._pages))
        self._pool = Pool(root, task, 1, secret=bundle.secret)

    def grade(self, unit: Unit) -> Graded:
        """Grade a notebook. If the grading process dies, try once more with a new process."""
        folder = self._unit / "submitted"
        folder.mkdir(parents=True)
        try:
            (folder / unit.name).write_bytes(unit.data)
            for name, text in unit.beside.items():
                (folder / name).write_text(text, encoding="utf-8")
            job = Job(folder / unit.name, unit.student, self._task.chapter or None)
            [outcome] = self._pool.grade([job])
            files = () if self._pages is None else tuple(map(_packed, self._pages.files(job)))
            return Graded(unit.position, outcome, files)
        finally:
            rmtree(self._unit, ignore_errors=True)

    def close(self) -> None:
        """End the process and remove the folder."""
        self._pool.end()
        self._folder.cleanup()


def _deliver_here(pages: FeedbackWriter, outcome: Outcome) -> Outcome:
    """Write the feedback pages on the worker. The returned outcome keeps the output of the cells."""
    return replace(pages(outcome), cells=outcome.cells)


def _packed(path: Path) -> tuple[bytes, int] | None:
    return (path.read_bytes(), path.stat().st_mode & 0o777) if path.is_file() else None


def _scratch() -> str | None:
    """Return the folder that Dask removes together with this worker, or None if this process is not a worker."""
    from distributed import get_worker  # noqa: PLC0415 - every worker has it

    try:
        return str(get_worker().local_directory)
    except ValueError:
        return None
