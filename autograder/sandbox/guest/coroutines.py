"""The event loop on which a notebook's top-level ``await``, ``async for`` and ``async with`` run.

This is a separate module because importing asyncio takes longer than running most notebooks, and few need it.
"""

# ruff: noqa: SLF001 - asyncio has no public way to replace a loop's wake-up socket
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
    """One event loop for all cells of a notebook, as in Jupyter. A task that one cell starts continues in later cells."""

    def __init__(self) -> None:
        if os.name == "posix":
            _use_pipes()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` to completion, and raise its errors. Work that runs out of time is never resumed."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.set_exception_handler(_report_error)
            asyncio.set_event_loop(self._loop)
        task = self._loop.create_task(work)
        try:
            self._loop.run_until_complete(task)
        finally:
            if not task.done():
                self._discard_loop()
            elif not task.cancelled():
                task.exception()  # mark it as retrieved, or asyncio would report it a second time

    def _discard_loop(self) -> None:
        loop, self._loop = self._loop, None
        asyncio.set_event_loop(None)
        if loop is not None:
            for task in asyncio.all_tasks(loop):
                task._log_destroy_pending = False  # type: ignore[attr-defined]  # do not report it in the next cell
            with contextlib.suppress(Exception):
                loop.close()


def _report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error of a background task, as asyncio does. Timeouts are reported elsewhere."""
    if not isinstance(context.get("exception"), CallTimeout):
        loop.default_exception_handler(context)


class _PipeEnd:
    """One end of a pipe, with the socket methods that an event loop calls to wake itself."""

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
    for end in (read, write):  # this uses ``ioctl``, which the sandbox refuses, but Linux always has ``pipe2``
        os.set_blocking(end, False)
    return read, write


def _use_pipes() -> None:
    """Let event loops wake themselves with a pipe and wait with ``poll``, because the sandbox has no sockets and no epoll."""

    def make_self_pipe(loop: Any) -> None:
        read, write = _pipe()
        loop._ssock, loop._csock = _PipeEnd(read), _PipeEnd(write)
        loop._internal_fds += 1
        loop._add_reader(read, loop._read_from_self)

    BaseSelectorEventLoop._make_self_pipe = make_self_pipe  # type: ignore[attr-defined]
    selectors.DefaultSelector = selectors.PollSelector  # type: ignore[assignment,misc]
