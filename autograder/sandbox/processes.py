"""Start children, either as forks of a sandboxed fork server or as ordinary processes."""

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

from autograder.base.foreign import Json
from autograder.sandbox.channel import Channel
from autograder.sandbox.confinement import Launch, plan_local
from autograder.sandbox.protocol import Limits, SandboxStartError, SandboxUnavailable

__all__ = ["ForkServer", "Local"]

_START_SECONDS = 60.0
_AGAIN_SECONDS = (0.2, 1.0, 2.0)  # delays between attempts to restart the fork server
_MAX_ORDER = 1 << 16  # the maximum size of an order in bytes


class ForkServer:
    """The fork server and the socket for its orders. The server is restarted if it has ended."""

    def __init__(self, sandbox: str, launch: Launch) -> None:
        self.sandbox = sandbox
        self._status: dict[str, Json] = {}
        self._launch = launch
        self._lock = threading.RLock()
        self._loaded: set[str] = set()
        self._importing = 0
        self._cells: dict[int, str] = {}
        self._next = 0
        self._closed = False
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [str(theirs.fileno()) if part == "{control}" else part for part in self._launch.command]

        def start() -> Popen[bytes]:
            fds, env = [theirs.fileno()], self._launch.environment
            return Popen(command, pass_fds=fds, env=env, cwd="/", stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE)

        # bubblewrap's --die-with-parent follows the thread that started it, so use a thread that lives as long as this process.
        # One executor for each process, because a fork does not copy threads.
        starter = _starters.setdefault(os.getpid(), ThreadPoolExecutor(1, thread_name_prefix="autograder-jails"))
        try:
            self._process = starter.submit(start).result()
        except OSError as error:
            ours.close()
            raise SandboxUnavailable(f"the {self.sandbox} sandbox does not start: {error}") from error
        finally:
            theirs.close()
        ours.settimeout(_START_SECONDS)
        self._control = ours
        self._loaded, self._importing = set(), 0
        try:
            self._status = json.loads(ours.recv(1 << 16) or b"{}")
        except OSError:
            self._status = {}
        if not self._status.get("ready"):
            why = self._status.get("why") or self._startup_error()
            self._kill()
            raise SandboxUnavailable(f"the {self.sandbox} sandbox does not start: {why}")
        # The process's stderr is not read from now on.
        assert self._process.stderr is not None  # noqa: S101 - for mypy
        self._process.stderr.close()
        self._send_cells()

    def _startup_error(self) -> str:
        try:
            _out, errors = self._process.communicate(timeout=2)
        except TimeoutExpired:
            return "it does not answer"
        return errors.decode("utf-8", "replace").strip()[-500:] or f"exit status {self._process.returncode}"

    @property
    def nested(self) -> bool:
        """Whether every child runs in its own namespaces."""
        return bool(self._status.get("nested"))

    def spawn(self, limits: Limits, folder: str = "") -> tuple[Channel, int]:
        """Start a child in ``folder``, which it may read. Return its channel and its number."""
        with self._lock:
            self._next += 1
            order = {"do": "spawn", "id": self._next, "memory_mb": limits.memory_mb, "disk_mb": limits.disk_mb}
            order |= {"cpu_seconds": int(limits.submission_seconds) + 5, "folder": folder}
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            wakeup_read, wakeup_write = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            with theirs, wakeup_write:
                wakeup_write.settimeout(0.0)
                message, ends = json.dumps(order).encode(), [theirs.fileno(), wakeup_write.fileno()]
                try:
                    socket.send_fds(self._control, [message], ends)
                except OSError:
                    self.restart()
                    socket.send_fds(self._control, [message], ends)
            return Channel(ours, limits.result_mb << 20, wakeup_read), self._next

    def end(self, number: int, patience: float) -> int:
        """Wait up to ``patience`` seconds for a child to end, then kill it. Return its exit status."""
        with self._lock:
            if self._closed:  # another thread closed this server and ended all children
                return -9
            self.wait_for_imports()
            order = {"do": "end", "id": number, "patience": patience, "answer": patience > 0}
            try:
                self._control.send(json.dumps(order).encode())
            except OSError:
                self.restart()
                return -9
            return int(self._reply(5.0 + patience).get("status", -9)) if patience > 0 else -9

    def processor_seconds(self) -> float:
        """Return the processor time that all children have used, or 0 if the fork server has ended."""
        with self._lock:
            if not self._next:  # no child yet: the reply would come only after the imports
                return 0.0
            self.wait_for_imports()
            with contextlib.suppress(OSError):
                self._control.send(b'{"do": "clock"}')
                return float(self._reply(_START_SECONDS).get("seconds", 0.0))
            return 0.0

    def preload(self, packages: Collection[str]) -> None:
        """Have the fork server import matplotlib or pandas, so that no child has to. ``wait_for_imports`` waits until this is done."""
        with self._lock:
            for name in sorted(set(packages) - self._loaded):
                self._loaded.add(name)
                self._importing += 1
                with contextlib.suppress(OSError):  # waiting for the reply detects a process that has ended
                    self._control.send(json.dumps({"do": "preload", "package": name}).encode())

    def wait_for_imports(self) -> None:
        """Wait until the imports of ``preload`` are done. No submission is charged for this time."""
        with self._lock:
            while self._importing:
                self._importing -= 1
                self._reply(_START_SECONDS)

    def compile(self, cells: Mapping[int, str]) -> None:
        """Have the fork server compile the course's own cells, by position. Never pass a student's cells."""
        with self._lock:
            self._cells = dict(cells)
            self._send_cells()

    def _send_cells(self) -> None:
        with contextlib.suppress(OSError):  # the next order detects a process that has ended
            for index, source in self._cells.items():
                order = json.dumps({"do": "compile", "index": index, "source": source}).encode()
                if len(order) < _MAX_ORDER:
                    self._control.send(order)

    def _reply(self, seconds: float) -> dict[str, Json]:
        """Return the reply to the last order. A process that has ended or hangs is restarted."""
        try:
            self._control.settimeout(seconds)
            if data := self._control.recv(1 << 16):
                reply: dict[str, Json] = json.loads(data)
                return reply
        except OSError:
            pass
        self.restart()
        return {}

    def restart(self) -> None:
        """Kill the process with all its children, and start a new one. Raises ``SandboxStartError`` if none starts.

        Starting is tried several times, because a machine that is briefly short of memory may refuse the first attempt.
        """
        with self._lock:
            if self._closed:
                raise SandboxStartError(f"the {self.sandbox} sandbox was closed")
            self._kill()
            for wait in (*_AGAIN_SECONDS, None):
                started = time.monotonic()
                try:
                    self._start()
                except SandboxUnavailable as error:
                    # If the process hung, waiting for it has taken long enough.
                    if wait is None or time.monotonic() - started > sum(_AGAIN_SECONDS):
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
        """Disconnect, so that the process ends, and kill it if it does not end. It is not started again."""
        self._closed = True
        self._control.close()
        try:
            self._process.wait(2)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._launch.folder is not None:
            self._launch.folder.cleanup()


class Local:
    """Ordinary child processes without a sandbox, one for each submission."""

    sandbox = "local"
    nested = False

    def __init__(self) -> None:
        self._children: dict[int, tuple[Popen[bytes], Launch]] = {}
        self._next = 0

    def spawn(self, limits: Limits, _folder: str = "") -> tuple[Channel, int]:
        """Start a child. Return its channel and its number."""
        launch = plan_local()
        ours, theirs = socket.socketpair()
        with theirs:
            command, env, cwd = launch.command, launch.environment, launch.folder.name if launch.folder else None
            fds = () if os.name == "nt" else (theirs.fileno(),)
            process = Popen(command, env=env, cwd=cwd, pass_fds=fds, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL)
            handle = theirs.share(process.pid).hex() if os.name == "nt" else str(theirs.fileno())  # type: ignore[attr-defined,unused-ignore]
            assert process.stdin is not None  # noqa: S101 - for mypy
            process.stdin.write(handle.encode() + b"\n")
            process.stdin.close()
        self._next += 1
        self._children[self._next] = process, launch
        return Channel(ours, limits.result_mb << 20), self._next

    def end(self, number: int, patience: float) -> int:
        """Wait up to ``patience`` seconds for a child to end, then kill it. Return its exit status."""
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

    def processor_seconds(self) -> float:
        """Return the processor time of the children that have ended, or wall-clock time if that is unknown."""
        ended = os.times()
        return ended.children_user + ended.children_system if os.name == "posix" else time.monotonic()

    def compile(self, cells: Mapping[int, str]) -> None:
        """Do nothing, because every child compiles its own cells."""

    def preload(self, packages: Collection[str]) -> None:
        """Do nothing, because every child imports its own packages."""

    def wait_for_imports(self) -> None:
        """Do nothing, because there are no imports to wait for."""

    restart = wait_for_imports

    def close(self) -> None:
        """Kill the children that are still running."""
        for number in list(self._children):
            self.end(number, 0.0)


_starters: dict[int, ThreadPoolExecutor] = {}
