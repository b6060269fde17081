"""What a worker of a cluster does with the notebooks that it is sent: the course unpacked, and a grading process of its own.

Only a process that grades holds the checks: the worker itself unpacks, hands over and carries back. So a crash takes no
worker with it, and the checks of two runs never meet in one interpreter.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import platform
import subprocess
import sys
import tempfile
import threading
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import autograder

if TYPE_CHECKING:
    from autograder.classroom.delivery import Pages
    from autograder.gradebook.entries import Entry
    from autograder.grading.options import Order
    from autograder.grading.outcome import Graded
    from autograder.sandbox.protocol import CellOutcome
    from autograder.verdict import Verdict

__all__ = ["Bundle", "Chunk", "Lost", "Marked", "Refused", "Unit", "dismiss", "grade_chunk", "versions"]

_DEATHS = 2  # processes that a notebook may take with it
_IDLE = 8  # grading processes that wait for more in one worker, at most


@dataclass(frozen=True, slots=True)
class Bundle:
    """A run's course, packed, and what is to be done with it.

    ``archive`` is a zip, ``secret`` the text from which hidden inputs are drawn; ``pages`` writes what students get back,
    where they get anything.
    """

    run: str
    archive: bytes = field(repr=False)
    secret: str = field(repr=False)
    versions: dict[str, str]
    chapter: str
    order: Order
    pages: Pages | None


@dataclass(frozen=True, slots=True)
class Unit:
    """One notebook as it travels: its bytes, its file's name, and the small files beside it."""

    position: int
    student: str | None
    name: str
    data: bytes = field(repr=False)
    beside: dict[str, str]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A few notebooks that travel together."""

    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """A notebook graded: its verdict, what its cells put out, and the pages as (bytes, mode), in the order of their files."""

    position: int
    verdict: Verdict
    cells: tuple[CellOutcome, ...]
    settled: bool
    entry: Entry | None = None
    files: tuple[tuple[bytes, int] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """A notebook that no process survived; ``how`` the last one ended."""

    position: int
    how: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a worker does not grade at all: a sentence that says what differs or is missing there."""

    why: str
    no_sandbox: bool = False


@functools.cache
def versions() -> dict[str, str]:
    """What has to be the same on two machines for their verdicts to be: everything that draws inputs or judges."""
    framework = Path(autograder.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for path in framework.rglob("*") if path.suffix in {".py", ".j2"}):
        digest.update(f"{path.relative_to(framework)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    found = {"Python": ".".join(platform.python_version_tuple()[:2]), "autograder": autograder.__version__}
    for name in ("numpy", "hypothesis"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return {**found, "autograder's code": digest.hexdigest()[:12]}


def grade_chunk(bundle: Bundle, chunk: Chunk) -> list[Marked | Lost] | Refused:
    """Grade a chunk on the worker that this is called on; every notebook of it gets an answer, or none does."""
    from autograder.course import CourseError  # noqa: PLC0415 - the nouns above are all that the scheduler's side needs
    from autograder.sandbox.confinement import SandboxUnavailable  # noqa: PLC0415

    here = versions()
    differing = [
        f"{name} {here.get(name, 'missing')} instead of {version}"
        for name, version in bundle.versions.items()
        if here.get(name) != version
    ]
    if differing:
        return Refused(
            f"The worker on {platform.node()} has {', '.join(differing)}, so its verdicts might not be those of this "
            "machine. Install the same there: the framework and its packages travel with no run."
        )
    crew = _take(bundle)
    try:
        found = [crew.grade(unit) for unit in chunk.units]
    except SandboxUnavailable as error:
        crew.close()
        return Refused(f"The worker on {platform.node()} has no sandbox to run students' code in. {error}", True)  # noqa: FBT003
    except CourseError as error:
        crew.close()
        return Refused(f"On the worker on {platform.node()}: {error}")
    except BaseException:
        crew.close()
        raise
    _give_back(crew)
    return found


def dismiss(run: str) -> None:
    """Let a run's grading processes go and remove what was unpacked for it."""
    with _lock:
        going = [crew for crew in _idle if crew.bundle.run == run]
        _idle[:] = [crew for crew in _idle if crew.bundle.run != run]
    for crew in going:
        crew.close()


_lock = threading.Lock()
_idle: list[_Crew] = []


def _take(bundle: Bundle) -> _Crew:
    with _lock:
        for crew in _idle:
            if crew.bundle.run == bundle.run:
                _idle.remove(crew)
                return crew
    return _Crew(bundle)


def _give_back(crew: _Crew) -> None:
    with _lock:
        _idle.append(crew)
        leaving = _idle[:-_IDLE]
        del _idle[:-_IDLE]
    for old in leaving:
        old.close()


class _Crew:
    """One grading process and the private folder in which it finds the course and its work."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._folder = tempfile.TemporaryDirectory(prefix="autograder-", dir=_scratch(), ignore_cleanup_errors=True)
        self._root = Path(self._folder.name) / "course"
        with zipfile.ZipFile(io.BytesIO(bundle.archive)) as archive:
            archive.extractall(self._root)
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection

    def grade(self, unit: Unit) -> Marked | Lost:
        """Have a notebook graded; where the process dies over it, once more by another one."""
        how = ""
        for _ in range(_DEATHS):
            place = Path(self._folder.name) / "unit"
            job = _laid_out(unit, self.bundle.chapter, place)
            try:
                self._start()
                self._pipe.send((unit.position, job))
                kind, _position, what = self._pipe.recv()
            except (EOFError, OSError):
                how = self._bury()
                continue
            finally:
                rmtree(place, ignore_errors=True)
            if kind == "raised":
                self._bury()
                raise what
            marked: Marked = replace(what, position=unit.position)
            return marked
        return Lost(unit.position, how)

    def close(self) -> None:
        if self._process is not None:
            self._bury()
        self._folder.cleanup()

    def _start(self) -> None:
        if self._process is not None:
            return
        from autograder.grading.grader import work  # noqa: PLC0415
        from autograder.grading.pool import Task  # noqa: PLC0415

        bundle = self.bundle
        options = (("order", bundle.order), ("folder", None), ("base", None), ("finish", _Finish(bundle.pages)))
        self._pipe, theirs = Pipe()
        # A plain child: a worker that its nanny started is daemonic and may have no children of multiprocessing's kind.
        code = f"from autograder.cluster.worker import serve; serve({theirs.fileno()})"
        paths = [str(Path(autograder.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, "-c", code]
        self._process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL, cwd=self._folder.name
        )
        theirs.close()
        self._pipe.send((bundle.secret, Task(self._root, bundle.chapter, work, options)))

    def _bury(self) -> str:
        from autograder.grading.pool import ending  # noqa: PLC0415

        process, self._process = self._process, None
        if process is None:
            return "could not be started"
        self._pipe.close()  # a process that lives ends when it sees this, and its jail with it
        try:
            return ending(process.wait(10))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "did not answer"


def serve(descriptor: int) -> None:
    """What a grading process does: learn its task, then take notebooks until there are no more."""
    from autograder.grading.pool import serve as take_items  # noqa: PLC0415
    from autograder.judging.secret import VARIABLE  # noqa: PLC0415

    pipe = Connection(descriptor)
    try:
        secret, task = pipe.recv()
    except EOFError:
        return
    # Set here and not by whoever starts this process: an environment given to a program can be read by its neighbours.
    os.environ[VARIABLE] = secret
    take_items(task, pipe)


@dataclass(frozen=True, slots=True)
class _Finish:
    """Applied to what was graded, in the process that graded it: writes the pages, and packs everything up."""

    pages: Pages | None

    def __call__(self, graded: Graded) -> Marked:
        marked = Marked(-1, graded.verdict, graded.cells, graded.settled)
        if self.pages is None:
            return marked
        place = graded.job.path.parents[1]
        pages = replace(self.pages, autograded=place / "autograded", feedback=place / "feedback")
        entry = pages(graded).entry
        return replace(marked, entry=entry, files=tuple(map(_packed, pages.files(graded.job))))


def _packed(path: Path) -> tuple[bytes, int] | None:
    return (path.read_bytes(), path.stat().st_mode & 0o777) if path.is_file() else None


def _laid_out(unit: Unit, chapter: str, place: Path) -> Any:
    from autograder.grading.submission import Job  # noqa: PLC0415

    folder = place / "submitted"
    folder.mkdir(parents=True)
    (folder / unit.name).write_bytes(unit.data)
    for name, text in unit.beside.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Job(folder / unit.name, unit.student, chapter)


def _scratch() -> str | None:
    """The worker's own folder, which Dask clears when a worker was killed; None where this is no worker."""
    from distributed import get_worker  # noqa: PLC0415 - known to be there where a worker runs this

    try:
        return str(get_worker().local_directory)
    except ValueError:
        return None
