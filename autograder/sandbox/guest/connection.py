"""The child's end of the connection to the trusted side."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .wire import HEADER, parse_head

__all__ = ["Connection"]

_exit = os._exit  # the only exit that no student's code can catch

Pair = tuple[dict[str, Any], bytearray]

_SILENT = 1 << 14  # bytes that may lie in the socket before the other side is woken: far fewer than it holds
_FRAME = 256  # what a small frame takes there at least, about
_PART = 1 << 15


class Connection:
    """The child's end of the connection: whole frames in, whole frames out. It trusts the other side.

    Where there is a wake-up socket, the other side sleeps until something comes there: waking it for each of a hundred
    answers would cost more than most of them.
    """

    def __init__(
        self, receive_into: Callable[[memoryview], int], send: Callable[[Any], int], wake: Callable[[], None]
    ) -> None:
        self._receive_into, self._send, self._wake = receive_into, send, wake
        self._silent = 0

    def receive(self) -> Pair:
        """The next frame; ends the process when the other side has hung up."""
        head_length, blob_length = HEADER.unpack(self._exactly(HEADER.size))
        return parse_head(self._exactly(head_length)), self._exactly(blob_length)

    def _exactly(self, count: int) -> bytearray:
        buffer = bytearray(count)
        view, at = memoryview(buffer), 0
        while at < count:
            got = self._receive_into(view[at:])
            if not got:
                _exit(0)
            at += got
        return buffer

    def send(self, frame: bytes, *, more: bool = False) -> None:
        """Write a whole frame; ends the process when the other side has hung up. With ``more`` to come, nothing is woken."""
        view = memoryview(frame)
        self._silent += _FRAME
        while view:
            try:
                sent = self._send(view[:_PART])
            except OSError:
                _exit(0)
            view = view[sent:]
            self._silent += sent
            if self._silent > _SILENT or not (view or more):
                self._silent = 0
                self._wake()
