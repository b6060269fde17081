"""The warm process inside the jail: NumPy is imported once, and every submission gets a fork of it.

It runs no student's code itself. Orders come over a socket from the trusted side, one JSON object a message:
``spawn`` (with the child's ends of a new connection and of its wake-up socket), ``end``, ``preload``, ``compile``.
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

__all__ = ["TOO_MANY_THREADS", "main"]

TOO_MANY_THREADS = 67  # the status of a child that was killed because it had more than it may have
_LOOK_SECONDS = 0.05
_SPARE_THREADS = 256  # what all children of a user may start besides what there is, until somebody looks


class _Child:
    """A process of one submission; ``flooding`` once it was killed for its threads."""

    def __init__(self, pid: int, cpu_seconds: int) -> None:
        self.pid, self.flooding = pid, False
        self._cpu_seconds = cpu_seconds

    def end(self, patience: float) -> int:
        """Its exit status, or 128 and the number of a signal that ended it; killed after so many seconds: -9."""
        deadline = time.monotonic() + patience
        found, raw, used = os.wait4(self.pid, os.WNOHANG)
        while not found and time.monotonic() < deadline:
            time.sleep(0.002)
            found, raw, used = os.wait4(self.pid, os.WNOHANG)
        if not found:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            return -signal.SIGKILL
        if self.flooding:
            return TOO_MANY_THREADS
        status = os.waitstatus_to_exitcode(raw)
        if status == -signal.SIGKILL and used.ru_utime + used.ru_stime >= self._cpu_seconds:
            status = -signal.SIGXCPU  # the kernel kills for that, too, and for want of memory
        return status if status >= 0 else 128 - status


_LINE, _WAKEUP = 3, 4  # a child's ends


class Zygote:
    """The trusted half of the inside: forks, confines, reaps."""

    def __init__(self, control: socket.socket, plan: dict[str, Any]) -> None:
        from . import confine, seccomp  # noqa: PLC0415 - not on the path of the plain child process

        self._confine = confine
        self._control = control
        self._plan = plan
        self._keep = confine.READ_SEARCH if plan["read_search"] else 0
        self._filter = seccomp.program()
        self._children: dict[int, _Child] = {}
        self._nested = False

    def prepare(self) -> dict[str, Any]:
        """Drop the user, warm up, try what the kernel allows; what was found, as JSON."""
        if self._plan["uid"] is not None:
            self._confine.drop_user(self._plan["uid"], keep=self._keep)
        _warm_up()
        if self._plan["namespaces"]:
            self._nested = self._try_namespaces()
        _settle()
        return {"ready": True, "nested": self._nested, "landlock": self._confine.landlock_version()}

    def _try_namespaces(self) -> bool:
        try:
            pid = self._confine.fork_into_namespaces()
        except (OSError, KeyError):  # refused, or a processor without an entry in the table
            return False
        if pid == 0:
            try:
                self._confine.private_tmp(1)
            except OSError:
                os._exit(1)
            os._exit(0)
        return os.waitpid(pid, 0)[1] == 0

    def loop(self) -> None:
        """Obey until the trusted side hangs up."""
        from .kernel import precompile  # noqa: PLC0415 - imported long ago, by the warm-up

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
                    # No process was made: the trusted side reads why on the child's own connection.
                    _complain(descriptors[0], error)
                for descriptor in descriptors:
                    os.close(descriptor)
            elif order["do"] == "end":
                self._end(order)
            elif order["do"] == "preload":
                self._preload(order["package"])
            elif order["do"] == "compile":
                precompile(order["index"], order["source"])

    def _wait(self) -> None:
        """Wait for an order. Where the kernel does not count each child's threads, they are counted here meanwhile."""
        if self._nested:
            return
        while self._children and not select.select([self._control], [], [], _LOOK_SECONDS)[0]:
            for child in self._children.values():
                if self._confine.threads_of(child.pid) > 1 + self._confine.THREADS:
                    child.flooding = True
                    os.kill(child.pid, signal.SIGKILL)

    def _spawn(self, order: dict[str, Any], line: int, wakeup: int) -> int:
        pid = self._confine.fork_into_namespaces() if self._nested else os.fork()
        if pid:
            return pid
        try:
            self._control.close()
            self._confine.die_with_parent()
            self._become_student(order, line, wakeup)
        except BaseException as error:  # noqa: BLE001 - no code of the student's has run
            _complain(line, error)
        os._exit(1)

    def _become_student(self, order: dict[str, Any], line: int, wakeup: int) -> None:
        confine = self._confine
        os.setsid()  # the scheduler gives each session its share of the processors, however many threads it has
        threads = 1 + confine.THREADS if self._nested else confine.threads_of_all() + _SPARE_THREADS
        memory = confine.address_space() + (order["memory_mb"] << 20)
        if self._nested:
            confine.private_tmp(order["disk_mb"])
        os.dup2(line, _LINE)  # this descriptor came after the line's, so it is not 3
        os.dup2(wakeup, _WAKEUP)
        _close_others()
        folder = order["folder"]
        # Which libraries this process itself has loaded: scikit-learn looks there, to limit their threads. Where there is a /proc
        # of its own it is empty, and scikit-learn asks in another way.
        maps = [] if self._nested else ["/proc/self/maps"]
        ruleset = confine.make_ruleset([*self._plan["readable"], *([folder] if folder else []), *maps])
        os.chdir(folder or "/")
        if folder:
            sys.path.insert(0, "")
        if self._nested:
            os.chdir("/tmp")  # noqa: S108 - its own, mounted above
            confine.allow_writing(ruleset, "/tmp")  # noqa: S108
        confine.set_limits(
            memory=memory, disk=order["disk_mb"] << 20, cpu_seconds=order["cpu_seconds"], threads=threads
        )
        confine.drop_privileges(ruleset, self._filter, keep=self._keep)
        from .failures import JailLimits  # noqa: PLC0415 - imported long ago, by the warm-up
        from .runner import serve  # noqa: PLC0415

        read, write = os.readv, os.write

        def wake() -> None:
            with contextlib.suppress(OSError):  # it has been woken often enough
                write(_WAKEUP, b"!")

        jail = JailLimits(self._nested, confine.THREADS, order["disk_mb"], alone=not folder)
        serve(lambda view: read(_LINE, [view]), lambda view: write(_LINE, view), wake, jail)

    def _end(self, order: dict[str, Any]) -> None:
        child = self._children.pop(order["id"], None)
        status = child.end(order["patience"]) if child is not None else -signal.SIGKILL
        if order["answer"]:
            self._control.send(json.dumps({"status": status}).encode())

    def _preload(self, package: str) -> None:
        with contextlib.suppress(Exception):  # the notebook that imports it will say what is wrong
            {"matplotlib": _warm_up_matplotlib, "pandas": _warm_up_pandas}[package]()
        _settle()
        self._control.send(json.dumps({"done": True}).encode())


# What notebooks import most, so that no child has to read it from disk.
_COMMON = (
    *("ast", "collections", "contextlib", "copy", "dataclasses", "functools", "inspect", "itertools", "linecache"),
    *("math", "random", "string", "time", "typing", "warnings"),
    *("numpy.fft", "numpy.linalg", "numpy.ma", "numpy.random", "numpy.testing"),
    "guest.runner",
)


def _reserve() -> None:
    """Take the numbers that a child's line and wake-up socket will have, before anything else does.

    A font that matplotlib has opened here closes its own number when a child frees it, whatever lies there by then.
    """
    while os.dup(0) < _WAKEUP:
        pass


def _close_others() -> None:
    """Close what a child has no use for; the files of packages stay, as matplotlib reads glyphs from them when it needs them."""
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
    """Import pyplot and draw once, so that fonts and the renderer are there before a submission needs them."""
    import io  # noqa: PLC0415

    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots()
    axes.imshow([[0.0, 1.0]])
    axes.set_title("$x_1$ warm")
    figure.colorbar(axes.images[0])
    figure.savefig(io.BytesIO(), format="png", dpi=72)
    plt.close(figure)


def _warm_up_pandas() -> None:
    """Import pandas and work out something of a table, so that what it imports late is there before a submission needs it."""
    import pandas as pd  # noqa: PLC0415

    table = pd.DataFrame({"a": ["x", "y", "x"], "b": [1.0, 2.0, 3.0]})
    str(table.groupby("a").agg({"b": ["mean", "sum"]}).sort_values(("b", "mean")))
    table.merge(table, on="a").describe()


def _settle() -> None:
    # What is here now will never be freed: keep the collector from touching, and so copying, its pages in a fork.
    gc.collect()
    gc.freeze()


def _complain(line: int, error: BaseException) -> None:
    from .wire import pack  # noqa: PLC0415

    with contextlib.suppress(OSError):
        os.write(line, pack({"unconfined": f"{type(error).__name__}: {error}"[:500]}))


def main(control: int, plan: str) -> None:
    """Start on the control socket with that descriptor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the trusted side, which then hangs up
    sys.dont_write_bytecode = True
    _reserve()
    connection = socket.socket(fileno=control)
    try:
        zygote = Zygote(connection, json.loads(plan))
        ready = zygote.prepare()
    except Exception as error:  # the trusted side makes a sentence of it
        connection.send(json.dumps({"ready": False, "why": f"{type(error).__name__}: {error}"[:2000]}).encode())
        raise SystemExit(1) from error
    connection.send(json.dumps(ready).encode())
    zygote.loop()
