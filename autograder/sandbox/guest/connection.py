"""The child's end of the connection to the parent."""

from __future__ import annotations

import os
from collections.abc import Callable

from .wire import HEADER, parse_head
from .wire_limits import Json

__all__ = ["Connection"]

_exit = os._exit  # the only exit that student code cannot catch
Transfer = Callable[[memoryview], int]

_MAX_UNANNOUNCED = 1 << 14  # bytes sent before the parent is woken, far below the socket's capacity
_FRAME_OVERHEAD = 256  # approximate bytes that a small frame takes in the socket
_PART = 1 << 15


class Connection:
    """The child's end of the connection, which sends and receives whole frames. It trusts the parent.

    If there is a wake-up socket, the parent sleeps until something arrives there, because waking it for each of a
    hundred results would take longer than computing most of them.
    """

    def __init__(self, receive_into: Transfer, send: Transfer, wake: Callable[[], None]) -> None:
        self._receive_into, self._send, self._wake = receive_into, send, wake
        self._unannounced = 0

    def receive(self) -> tuple[dict[str, Json], bytearray]:
        """Return the next frame. Ends the process if the parent has disconnected."""
        head_length, blob_length = HEADER.unpack(self._exactly(HEADER.size))
        return parse_head(self._exactly(head_length)), self._exactly(blob_length)

    def _exactly(self, count: int) -> bytearray:
        buffer = bytearray(count)
        view, filled = memoryview(buffer), 0
        while filled < count:
            received = self._receive_into(view[filled:])
            if not received:
                _exit(0)
            filled += received
        return buffer

    def send(self, frame: bytes, *, more: bool = False) -> None:
        """Send a whole frame. With ``more`` to come, do not wake the parent yet. Ends the process if the parent has disconnected."""
        view = memoryview(frame)
        self._unannounced += _FRAME_OVERHEAD
        while view:
            try:
                sent = self._send(view[:_PART])
            except OSError:
                _exit(0)
            view = view[sent:]
            self._unannounced += sent
            if self._unannounced > _MAX_UNANNOUNCED or not (view or more):
                self._unannounced = 0
                self._wake()
