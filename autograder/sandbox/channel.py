"""The trusted end of a connection to a child: frames with deadlines and caps. Every byte that comes in is hostile."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any

from autograder.sandbox.guest.wire import ALIGN, HEADER, parse_head
from autograder.sandbox.guest.wire_limits import MAX_HEAD, WireError

__all__ = ["Channel", "ConnectionClosed", "TimedOut"]

_CHUNK = 1 << 16
_LOOK_SECONDS = 0.05


class ConnectionClosed(Exception):  # noqa: N818 - an event to be handled, not a failure
    """The child has closed the connection, or is no more."""


class TimedOut(Exception):  # noqa: N818
    """The child has not answered by the deadline."""


class Channel:
    """Frames over a stream socket; ``max_bytes`` caps the array bytes of one incoming frame.

    Where there is a ``wakeup``, a second socket, this side sleeps until the child writes there, and looks for frames every
    twentieth of a second besides: a child that dies, or stands still, may not have written for what it said before.
    """

    def __init__(self, connection: socket.socket, max_bytes: int, wakeup: socket.socket | None = None) -> None:
        self._socket = connection
        self._wakeup = wakeup
        self._max_blob = max_bytes + ALIGN * 10_000
        self._buffer = bytearray()

    def send(self, frame: bytes, deadline: float) -> None:
        """Send a frame; raises ``TimedOut`` or ``HungUp`` when the child does not take it."""
        view = memoryview(frame)
        try:
            while view:
                self._socket.settimeout(_left(deadline))
                view = view[self._socket.send(view) :]
        except TimeoutError as error:
            raise TimedOut from error
        except OSError as error:
            raise ConnectionClosed from error

    def receive(self, deadline: float) -> tuple[dict[str, Any], bytes | bytearray]:
        """The next frame's JSON object and bytes; raises ``TimedOut``, ``HungUp`` or ``WireError`` (over the caps)."""
        head, blob = self.receive_raw(deadline)
        return parse_head(head), blob

    def receive_raw(self, deadline: float) -> tuple[bytes, bytes | bytearray]:
        """As ``receive``, with the JSON as it came. A frame that is not large comes as ``bytes``, which cannot be changed."""
        self._fill(HEADER.size, deadline)
        head_length, blob_length = HEADER.unpack_from(self._buffer)
        if head_length > MAX_HEAD or blob_length > self._max_blob:
            raise WireError("a frame announces more bytes than may be sent")
        body = HEADER.size + head_length
        if blob_length <= _CHUNK:
            self._fill(body + blob_length, deadline)
            head, blob = bytes(self._buffer[HEADER.size : body]), bytes(self._buffer[body : body + blob_length])
            del self._buffer[: body + blob_length]
            return head, blob
        self._fill(body, deadline)
        return bytes(self._buffer[HEADER.size : body]), self._take_large(body, blob_length, deadline)

    def _take_large(self, body: int, length: int, deadline: float) -> bytearray:
        # Grown as bytes arrive: what a child announces costs nothing before it is sent.
        blob = self._buffer[body : body + length]
        del self._buffer[: body + len(blob)]
        while len(blob) < length:
            blob += self._some(deadline, min(1 << 20, length - len(blob)))
        return blob

    def _fill(self, count: int, deadline: float) -> None:
        while len(self._buffer) < count:
            self._buffer += self._some(deadline, _CHUNK)

    def _some(self, deadline: float, at_most: int) -> bytes:
        try:
            data = self._announced(deadline, at_most)
            if data is None:
                self._socket.settimeout(_left(deadline))
                data = self._socket.recv(at_most)
        except TimeoutError as error:
            raise TimedOut from error
        except OSError as error:
            raise ConnectionClosed from error
        if not data:
            raise ConnectionClosed
        return data

    def _announced(self, deadline: float, at_most: int) -> bytes | None:
        """What is there, or comes after a wake-up; None where there is no socket for them."""
        while self._wakeup is not None:
            self._socket.settimeout(0.0)
            try:
                return self._socket.recv(at_most)
            except BlockingIOError:
                self._wakeup.settimeout(min(_left(deadline), _LOOK_SECONDS))
            with contextlib.suppress(TimeoutError):
                if not self._wakeup.recv(_CHUNK):
                    self._wakeup.close()
                    self._wakeup = None  # the child has let go of it: from now on every frame wakes this side
        return None

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
        if self._wakeup is not None:
            self._wakeup.close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimedOut
    return left
