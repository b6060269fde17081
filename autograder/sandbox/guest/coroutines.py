"""The event loop of a notebook: what a cell says at its top level with ``await``, ``async for`` or ``async with`` runs on it.

A module of its own, since asyncio takes longer to import than most notebooks take to run: few ask for it.
"""

# ruff: noqa: SLF001 - asyncio has no public place for what wakes a loop
from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
from asyncio.selector_events import BaseSelectorEventLoop
from collections.abc import Coroutine
from typing import Any

from .failures import CallTimeout

__all__ = ["NotebookLoop"]


class NotebookLoop:
    """One event loop for all cells of a notebook, as a kernel has it: a task that one cell started goes on in a later one."""

    def __init__(self) -> None:
        if os.name == "posix":
            _do_without_sockets()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` to its end; raises what it raises. Work that the clock broke off is never taken up again."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.set_exception_handler(_complain)
            asyncio.set_event_loop(self._loop)
        task = self._loop.create_task(work)
        try:
            self._loop.run_until_complete(task)
        finally:
            if not task.done():
                self._give_up()
            elif not task.cancelled():
                task.exception()  # it has been raised: asyncio need not complain that nobody asked for it

    def _give_up(self) -> None:
        loop, self._loop = self._loop, None
        asyncio.set_event_loop(None)
        if loop is not None:
            for task in asyncio.all_tasks(loop):
                task._log_destroy_pending = False  # type: ignore[attr-defined]  # it is not the next cell's mistake
            with contextlib.suppress(Exception):
                loop.close()


def _complain(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say what went wrong in the background, as asyncio does; that the time was up is said elsewhere."""
    if not isinstance(context.get("exception"), CallTimeout):
        loop.default_exception_handler(context)


class _End:
    """One end of a pipe, with the methods of a socket that an event loop asks of what wakes it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def recv(self, size: int) -> bytes:
        return os.read(self._descriptor, size)

    def send(self, data: bytes) -> int:
        return os.write(self._descriptor, data)

    def close(self) -> None:
        os.close(self._descriptor)


def _pipe() -> tuple[int, int]:
    if hasattr(os, "pipe2"):
        return os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    read, write = os.pipe()
    for end in (read, write):  # by ``ioctl``, which a jail refuses: what has jails has ``pipe2``, too
        os.set_blocking(end, False)
    return read, write


def _do_without_sockets() -> None:
    """Let every event loop of this process wake itself by a pipe and wait with ``poll``: a jail has no sockets and no epoll."""

    def make_self_pipe(loop: Any) -> None:
        read, write = _pipe()
        loop._ssock, loop._csock = _End(read), _End(write)
        loop._internal_fds += 1
        loop._add_reader(read, loop._read_from_self)

    BaseSelectorEventLoop._make_self_pipe = make_self_pipe  # type: ignore[attr-defined]
    selectors.DefaultSelector = selectors.PollSelector  # type: ignore[assignment,misc]
