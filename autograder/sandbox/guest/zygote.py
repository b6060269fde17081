"""The fork server in the sandbox: it imports NumPy once, and forks a child for every submission.

It runs no student code itself. The parent sends orders over a socket, each a JSON object in one message:
``spawn`` (with the child's ends of a new connection and of its wake-up socket), ``end``, ``clock``, ``preload`` or ``compile``.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import stat
import sys
import time
from typing import Any

from .wire_limits import Json

__all__ = ["TOO_MANY_THREADS", "main"]

TOO_MANY_THREADS = 67  # exit status of a child that was killed for having too many threads
_LOOK_SECONDS = 0.05
_SPARE_THREADS = 256  # threads that all children of a user may start between two checks


class _Child:
    """The process of one submission. ``flooding`` is True if it was killed for having too many threads."""

    def __init__(self, pid: int, cpu_seconds: int) -> None:
        self.pid, self.flooding = pid, False
        self._cpu_seconds = cpu_seconds

    def processor_seconds(self) -> float:
        """Return the processor time that the process has used, or 0 if it has ended."""
        try:
            return time.clock_gettime(~self.pid << 3 | 2)  # the clock of another process (CPUCLOCK_SCHED)
        except OSError:
            return 0.0

    def end(self, patience: float) -> int:
        """Wait up to ``patience`` seconds, then kill the process.

        Return its exit status, 128 plus the number of the signal that ended it, or -9 if it was killed here.
        """
        deadline = time.monotonic() + patience
        ended, raw, usage = os.wait4(self.pid, os.WNOHANG)
        while not ended and time.monotonic() < deadline:
            time.sleep(0.002)
            ended, raw, usage = os.wait4(self.pid, os.WNOHANG)
        if not ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            return -signal.SIGKILL
        if self.flooding:
            return TOO_MANY_THREADS
        status = os.waitstatus_to_exitcode(raw)
        if status == -signal.SIGKILL and usage.ru_utime + usage.ru_stime >= self._cpu_seconds:
            status = -signal.SIGXCPU  # the kernel sends SIGKILL at this limit too, not only when memory runs out
        return status if status >= 0 else 128 - status


_CONNECTION, _WAKEUP = 3, 4  # descriptors in a child


class Zygote:
    """The trusted process in the sandbox, which forks, restricts and reaps the children."""

    def __init__(self, control: socket.socket, plan: dict[str, Json]) -> None:
        from . import confine, seccomp  # noqa: PLC0415 - not used by an unconfined child

        self._confine = confine
        self._control = control
        self._plan = plan
        self._keep = confine.READ_SEARCH if plan["read_search"] else 0
        self._program = seccomp.program
        self._first_program = seccomp.program(1)  # of a child in its own namespace: made once, because it takes 1 ms
        self._children: dict[int, _Child] = {}
        self._nested = False

    def prepare(self) -> dict[str, Any]:
        """Drop root, import packages and find out what the kernel allows. Return the result as JSON."""
        if self._plan["uid"] is not None:
            self._confine.drop_user(self._plan["uid"], keep=self._keep)
        _warm_up()
        if self._plan["namespaces"]:
            self._nested = self._try_namespaces()
        _freeze_memory()
        return {"ready": True, "nested": self._nested, "landlock": self._confine.landlock_version()}

    def _try_namespaces(self) -> bool:
        try:
            pid = self._confine.fork_into_namespaces()
        except (OSError, KeyError):  # refused, or an unknown processor
            return False
        if pid == 0:
            try:
                self._confine.private_tmp(1)
            except OSError:
                os._exit(1)
            os._exit(0)
        return os.waitpid(pid, 0)[1] == 0

    def loop(self) -> None:
        """Follow orders until the parent disconnects."""
        from .kernel import precompile  # noqa: PLC0415 - already imported by the warm-up

        while True:
            self._wait()
            message, descriptors, _flags, _address = socket.recv_fds(self._control, 1 << 16, 2)
            if not message:
                return
            order = json.loads(message)
            if order["do"] == "spawn":
                try:
                    self._children[order["id"]] = _Child(self._spawn(order, *descriptors), order["cpu_seconds"])
                except OSError as error:
                    # No process was started. Report the reason on the child's own connection.
                    _report_failure(descriptors[0], error)
                for descriptor in descriptors:
                    os.close(descriptor)
            elif order["do"] == "end":
                self._end(order)
            elif order["do"] == "clock":
                ended = os.times()
                used = [child.processor_seconds() for child in self._children.values()]
                seconds = ended.children_user + ended.children_system + sum(used)
                self._control.send(json.dumps({"seconds": seconds}).encode())
            elif order["do"] == "preload":
                self._preload(order["package"])
            elif order["do"] == "compile":
                precompile(order["index"], order["source"])

    def _wait(self) -> None:
        """Wait for an order. Meanwhile, kill any child with too many threads, unless the kernel enforces this limit."""
        if self._nested:
            return
        while self._children and not select.select([self._control], [], [], _LOOK_SECONDS)[0]:
            for child in self._children.values():
                if self._confine.threads_of(child.pid) > 1 + self._confine.THREADS:
                    child.flooding = True
                    os.kill(child.pid, signal.SIGKILL)

    def _spawn(self, order: dict[str, Json], connection: int, wakeup: int) -> int:
        pid = self._confine.fork_into_namespaces() if self._nested else os.fork()
        if pid:
            return pid
        try:
            self._control.close()
            self._confine.die_with_parent()
            self._run_child(order, connection, wakeup)
        except BaseException as error:  # noqa: BLE001 - no student code has run
            _report_failure(connection, error)
        os._exit(1)

    def _run_child(self, order: dict[str, Json], connection: int, wakeup: int) -> None:
        confine = self._confine
        os.setsid()  # the scheduler shares processor time equally between sessions, whatever their number of threads
        threads = 1 + confine.THREADS if self._nested else confine.threads_of_all() + _SPARE_THREADS
        memory = confine.address_space() + (order["memory_mb"] << 20)
        if self._nested:
            confine.private_tmp(order["disk_mb"])
        os.dup2(connection, _CONNECTION)  # ``wakeup`` was received after ``connection``, so it is not 3
        os.dup2(wakeup, _WAKEUP)
        _close_others()
        folder = order["folder"]
        # scikit-learn reads /proc/self/maps to find libraries and limit their threads. If the child has its own
        # /proc, the file is empty, and scikit-learn finds the libraries in another way.
        maps = [] if self._nested else ["/proc/self/maps"]
        ruleset = confine.make_ruleset([*self._plan["readable"], *([folder] if folder else []), *maps])
        os.chdir(folder or "/")
        if folder:
            sys.path.insert(0, "")
        if self._nested:
            os.chdir("/tmp")  # noqa: S108 - the private one mounted above
            confine.allow_writing(ruleset, "/tmp")  # noqa: S108
        disk, cpu_seconds = order["disk_mb"] << 20, order["cpu_seconds"]
        confine.set_limits(memory=memory, disk=disk, cpu_seconds=cpu_seconds, threads=threads)
        program = self._first_program if self._nested else self._program(os.getpid())
        confine.drop_privileges(ruleset, program, keep=self._keep)
        from .failures import JailLimits  # noqa: PLC0415 - already imported by the warm-up
        from .runner import serve  # noqa: PLC0415

        read, write = os.readv, os.write

        def wake() -> None:
            with contextlib.suppress(OSError):  # a full socket wakes the parent anyway
                write(_WAKEUP, b"!")

        jail = JailLimits(self._nested, confine.THREADS, order["disk_mb"], alone=not folder)
        serve(lambda view: read(_CONNECTION, [view]), lambda view: write(_CONNECTION, view), wake, jail)

    def _end(self, order: dict[str, Json]) -> None:
        child = self._children.pop(order["id"], None)
        status = child.end(order["patience"]) if child is not None else -signal.SIGKILL
        if order["answer"]:
            self._control.send(json.dumps({"status": status}).encode())

    def _preload(self, package: str) -> None:
        with contextlib.suppress(Exception):  # the notebook that imports it reports the error
            {"matplotlib": _warm_up_matplotlib, "pandas": _warm_up_pandas}[package]()
        _freeze_memory()
        self._control.send(json.dumps({"done": True}).encode())


# The modules that notebooks import most often. They are imported in advance, so that no child reads them from disk.
_COMMON = (
    *("ast", "collections", "contextlib", "copy", "dataclasses", "functools", "inspect", "itertools", "linecache"),
    *("math", "random", "string", "time", "typing", "warnings"),
    *("numpy.fft", "numpy.linalg", "numpy.ma", "numpy.random", "numpy.testing"),
    *("autograder", "guest.runner"),  # the stub of ``autograder``
)


def _reserve() -> None:
    """Reserve the descriptors of a child's connection and wake-up socket.

    Otherwise matplotlib may open a font with such a descriptor here. A child that frees this font would close its own connection.
    """
    while os.dup(0) < _WAKEUP:
        pass


def _close_others() -> None:
    """Close all descriptors above ``_WAKEUP`` except those of regular files. matplotlib still reads glyphs from its open fonts."""
    for descriptor in range(_WAKEUP + 1, 64):
        with contextlib.suppress(OSError):  # most of them are not open
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
    os.closerange(64, 1 << 20)


def _warm_up() -> None:
    for name in _COMMON:
        importlib.import_module(name)
    np = importlib.import_module("numpy")
    x = np.eye(3)
    np.linalg.solve(x, x @ x)
    np.einsum("ij,jk->ik", x, x)


def _warm_up_matplotlib() -> None:
    """Import pyplot and draw once, so that fonts and the renderer are loaded before a submission needs them."""
    import io  # noqa: PLC0415

    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots()
    axes.imshow([[0.0, 1.0]])
    axes.set_title("$x_1$ warm")
    figure.colorbar(axes.images[0])
    figure.savefig(io.BytesIO(), format="png", dpi=72)
    plt.close(figure)


def _warm_up_pandas() -> None:
    """Import pandas and compute with a table, so that the lazy imports of pandas are loaded before a submission needs them."""
    import pandas as pd  # noqa: PLC0415

    from .wire_plain import zone_names  # noqa: PLC0415 - already imported by the warm-up

    table = pd.DataFrame({"a": ["x", "y", "x"], "b": [1.0, 2.0, 3.0]})
    str(table.groupby("a").agg({"b": ["mean", "sum"]}).sort_values(("b", "mean")))
    table.merge(table, on="a").describe()
    zone_names()  # needed to read a column with a time zone


def _freeze_memory() -> None:
    # Keep the garbage collector from writing to, and so copying, these objects' pages in every fork.
    gc.collect()
    gc.freeze()


def _report_failure(connection: int, error: BaseException) -> None:
    from .wire import pack  # noqa: PLC0415

    with contextlib.suppress(OSError):
        os.write(connection, pack({"unconfined": f"{type(error).__name__}: {error}"[:500]}))


def main(control: int, plan: str) -> None:
    """Start the fork server on the control socket with the descriptor ``control``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the parent disconnects
    sys.dont_write_bytecode = True
    _reserve()
    connection = socket.socket(fileno=control)
    try:
        zygote = Zygote(connection, json.loads(plan))
        ready = zygote.prepare()
    except Exception as error:  # the parent reports this error
        connection.send(json.dumps({"ready": False, "why": f"{type(error).__name__}: {error}"[:2000]}).encode())
        raise SystemExit(1) from error
    connection.send(json.dumps(ready).encode())
    zygote.loop()
