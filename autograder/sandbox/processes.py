"""Where children come from: a warm confined process that forks, or a plain new process each time."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Any

from autograder.sandbox.channel import Channel
from autograder.sandbox.confinement import Launch, plan_local
from autograder.sandbox.protocol import Limits, SandboxStartError, SandboxUnavailable

__all__ = ["ForkServer", "Local"]

_START_SECONDS = 60.0
_AGAIN_SECONDS = (0.2, 1.0, 2.0)  # how long to wait before each further try to start the warm process again
_MAX_ORDER = 1 << 16  # bytes of one order that the warm process reads


class ForkServer:
    """The warm process and the socket over which it is given orders; started again when it is gone."""

    def __init__(self, sandbox: str, launch: Launch) -> None:
        self.sandbox = sandbox
        self.hello: dict[str, Any] = {}
        self._launch = launch
        self._lock = threading.RLock()
        self._loaded: set[str] = set()
        self._importing = 0
        self._cells: dict[int, str] = {}
        self._next = 0
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [str(theirs.fileno()) if part == "{control}" else part for part in self._launch.command]

        def start() -> Popen[bytes]:
            fds, env = [theirs.fileno()], self._launch.environment
            return Popen(command, pass_fds=fds, env=env, cwd="/", stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE)

        # bubblewrap's --die-with-parent follows the thread that started it: one that lives as long as this process.
        try:
            self._process = _starter().submit(start).result()
        except OSError as error:
            ours.close()
            raise SandboxUnavailable(f"the {self.sandbox} sandbox does not start: {error}") from error
        finally:
            theirs.close()
        ours.settimeout(_START_SECONDS)
        self._control = ours
        self._loaded, self._importing = set(), 0
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
        self._send_cells()

    def _last_words(self) -> str:
        try:
            _out, said = self._process.communicate(timeout=2)
        except TimeoutExpired:
            return "it does not answer"
        return said.decode("utf-8", "replace").strip()[-500:] or f"exit status {self._process.returncode}"

    @property
    def nested(self) -> bool:
        """Whether every child gets namespaces of its own."""
        return bool(self.hello.get("nested"))

    def spawn(self, limits: Limits, folder: str = "") -> tuple[Channel, int]:
        """A new child, as the channel to talk to it and its number; it may read ``folder`` and starts there."""
        with self._lock:
            self._next += 1
            order = {
                "do": "spawn",
                "id": self._next,
                "memory_mb": limits.memory_mb,
                "disk_mb": limits.disk_mb,
                "cpu_seconds": int(limits.submission_seconds) + 5,
                "folder": folder,
            }
            line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            wakeup_read, wakeup_write = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            with theirs, wakeup_write:
                wakeup_write.settimeout(0.0)
                message, ends = json.dumps(order).encode(), [theirs.fileno(), wakeup_write.fileno()]
                try:
                    socket.send_fds(self._control, [message], ends)
                except OSError:
                    self.restart()
                    socket.send_fds(self._control, [message], ends)
            return Channel(line, limits.result_mb << 20, wakeup_read), self._next

    def end(self, number: int, patience: float) -> int:
        """End a child, after waiting so many seconds for it to end by itself; its exit status."""
        with self._lock:
            self.settle()
            order = {"do": "end", "id": number, "patience": patience, "answer": patience > 0}
            try:
                self._control.send(json.dumps(order).encode())
            except OSError:
                self.restart()
                return -9
            return int(self._answer(5.0 + patience).get("status", -9)) if patience > 0 else -9

    def preload(self, packages: Collection[str]) -> None:
        """Have the warm process import matplotlib or pandas once, so that no child has to; ``settle`` waits until it has."""
        with self._lock:
            for name in sorted(set(packages) - self._loaded):
                self._loaded.add(name)
                self._importing += 1
                with contextlib.suppress(OSError):  # the wait for its answer notices a process that is gone
                    self._control.send(json.dumps({"do": "preload", "package": name}).encode())

    def settle(self) -> None:
        """Wait until the warm process has imported it: that time is not the submission's."""
        with self._lock:
            while self._importing:
                self._importing -= 1
                self._answer(_START_SECONDS)

    def compile(self, cells: Mapping[int, str]) -> None:
        """Have the warm process compile cells of the course's own, by their places: never a student's."""
        with self._lock:
            self._cells = dict(cells)
            self._send_cells()

    def _send_cells(self) -> None:
        with contextlib.suppress(OSError):  # the next order notices a process that is gone
            for index, source in self._cells.items():
                order = json.dumps({"do": "compile", "index": index, "source": source}).encode()
                if len(order) < _MAX_ORDER:
                    self._control.send(order)

    def _answer(self, seconds: float) -> dict[str, Any]:
        """The answer to the last order; a process that is gone or hangs is started again."""
        try:
            self._control.settimeout(seconds)
            if data := self._control.recv(1 << 16):
                reply: dict[str, Any] = json.loads(data)
                return reply
        except OSError:
            pass
        self.restart()
        return {}

    def restart(self) -> None:
        """Kill the process, and so every child of it, and start a new one; raises ``SandboxLost`` where none starts.

        A machine that is short of memory for a moment may refuse the first, so it is tried again.
        """
        with self._lock:
            self._kill()
            for wait in (*_AGAIN_SECONDS, None):
                begun = time.monotonic()
                try:
                    self._start()
                except SandboxUnavailable as error:
                    # One that hangs has been waited for long enough.
                    if wait is None or time.monotonic() - begun > sum(_AGAIN_SECONDS):
                        raise SandboxStartError(str(error)) from error
                    time.sleep(wait)
                else:
                    return

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
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._launch.folder is not None:
            self._launch.folder.cleanup()


class Local:
    """Plain child processes without confinement, a new one for each submission."""

    sandbox = "local"
    nested = False

    def __init__(self) -> None:
        self._children: dict[int, tuple[Popen[bytes], Launch]] = {}
        self._next = 0

    def spawn(self, limits: Limits, _folder: str = "") -> tuple[Channel, int]:
        """A new child, as the channel to talk to it and its number."""
        launch = plan_local()
        ours, theirs = socket.socketpair()
        with theirs:
            process = Popen(
                launch.command,
                env=launch.environment,
                cwd=launch.folder.name if launch.folder else None,
                pass_fds=() if os.name == "nt" else [theirs.fileno()],
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=DEVNULL,
            )
            handed = theirs.share(process.pid).hex() if os.name == "nt" else str(theirs.fileno())  # type: ignore[attr-defined,unused-ignore]
            assert process.stdin is not None  # noqa: S101 - it was asked for above
            process.stdin.write(handed.encode() + b"\n")
            process.stdin.close()
        self._next += 1
        self._children[self._next] = process, launch
        return Channel(ours, limits.result_mb << 20), self._next

    def end(self, number: int, patience: float) -> int:
        """End a child, after waiting so many seconds for it to end by itself; its exit status."""
        if number not in self._children:
            return 0
        process, launch = self._children.pop(number)
        try:
            status = process.wait(patience) if patience else process.poll()
        except TimeoutExpired:
            status = None
        if status is None:
            process.kill()
            status = process.wait()
        if launch.folder is not None:
            launch.folder.cleanup()
        return status if status >= 0 else 128 - status

    def compile(self, cells: Mapping[int, str]) -> None:
        """Nothing: every child is a process of its own, which imports and compiles what it needs."""

    def preload(self, packages: Collection[str]) -> None:
        """Nothing, as above."""

    def settle(self) -> None:
        """Nothing, as above."""

    restart = settle

    def close(self) -> None:
        """End what still runs."""
        for number in list(self._children):
            self.end(number, 0.0)


_starters: dict[int, ThreadPoolExecutor] = {}


def _starter() -> ThreadPoolExecutor:
    # One for each process: a fork does not take threads along.
    return _starters.setdefault(os.getpid(), ThreadPoolExecutor(1, thread_name_prefix="autograder-jails"))
