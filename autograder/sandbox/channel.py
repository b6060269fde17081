"""The parent's end of a connection to a child. Received data is not trusted, so frames have deadlines and size limits."""

from __future__ import annotations

import contextlib
import socket
import time

from autograder.base.foreign import Json
from autograder.sandbox.guest.wire import ALIGN, HEADER, parse_head
from autograder.sandbox.guest.wire_limits import MAX_HEAD, WireError

__all__ = ["Channel", "ConnectionClosed", "TimedOut"]

_CHUNK = 1 << 16
_LOOK_SECONDS = 0.05


class ConnectionClosed(Exception):  # noqa: N818 - an event to handle, not a failure
    """Raised when the child has closed the connection or has ended."""


class TimedOut(Exception):  # noqa: N818
    """Raised when the child has not answered by the deadline."""


class Channel:
    """A sender and receiver of frames over a stream socket. ``max_bytes`` limits the array bytes of one received frame.

    With a second socket, ``wakeup``, the parent sleeps until the child writes to it. The parent also looks for frames every twentieth
    of a second, because a child that dies or hangs may not have announced its last frames.
    """

    def __init__(self, connection: socket.socket, max_bytes: int, wakeup: socket.socket | None = None) -> None:
        self._socket = connection
        self._wakeup = wakeup
        self._max_blob = max_bytes + ALIGN * 10_000
        self._buffer = bytearray()

    def send(self, frame: bytes, deadline: float) -> None:
        """Send a frame. Raises ``TimedOut`` or ``ConnectionClosed`` if the child does not receive it."""
        view = memoryview(frame)
        try:
            while view:
                self._socket.settimeout(_left(deadline))
                view = view[self._socket.send(view) :]
        except TimeoutError as error:
            raise TimedOut from error
        except OSError as error:
            raise ConnectionClosed from error

    def receive(self, deadline: float) -> tuple[dict[str, Json], bytes | bytearray]:
        """Return the next frame's JSON object and bytes. Raises ``TimedOut``, ``ConnectionClosed`` or ``WireError``."""
        head, blob = self.receive_raw(deadline)
        return parse_head(head), blob

    def receive_raw(self, deadline: float) -> tuple[bytes, bytes | bytearray]:
        """Return the next frame's undecoded JSON and its bytes (immutable if they are few). Raises the same errors as ``receive``."""
        self._fill(HEADER.size, deadline)
        head_length, blob_length = HEADER.unpack_from(self._buffer)
        if head_length > MAX_HEAD or blob_length > self._max_blob:
            raise WireError("a frame announces more bytes than allowed")
        body = HEADER.size + head_length
        if blob_length <= _CHUNK:
            self._fill(body + blob_length, deadline)
            head, blob = bytes(self._buffer[HEADER.size : body]), bytes(self._buffer[body : body + blob_length])
            del self._buffer[: body + blob_length]
            return head, blob
        self._fill(body, deadline)
        return bytes(self._buffer[HEADER.size : body]), self._take_large(body, blob_length, deadline)

    def _take_large(self, body: int, length: int, deadline: float) -> bytearray:
        # The buffer grows as bytes arrive, so that a child cannot make the parent allocate memory by announcing a large frame.
        blob = self._buffer[body : body + length]
        del self._buffer[: body + len(blob)]
        while len(blob) < length:
            blob += self._receive_bytes(deadline, min(1 << 20, length - len(blob)))
        return blob

    def _fill(self, count: int, deadline: float) -> None:
        while len(self._buffer) < count:
            self._buffer += self._receive_bytes(deadline, _CHUNK)

    def _receive_bytes(self, deadline: float, limit: int) -> bytes:
        try:
            data = self._receive_announced(deadline, limit)
            if data is None:
                self._socket.settimeout(_left(deadline))
                data = self._socket.recv(limit)
        except TimeoutError as error:
            raise TimedOut from error
        except OSError as error:
            raise ConnectionClosed from error
        if not data:
            raise ConnectionClosed
        return data

    def _receive_announced(self, deadline: float, limit: int) -> bytes | None:
        """Return the next bytes, waiting for a wake-up if needed, or None if there is no wake-up socket."""
        while self._wakeup is not None:
            self._socket.settimeout(0.0)
            try:
                return self._socket.recv(limit)
            except BlockingIOError:
                self._wakeup.settimeout(min(_left(deadline), _LOOK_SECONDS))
            with contextlib.suppress(TimeoutError):
                if not self._wakeup.recv(_CHUNK):
                    self._wakeup.close()
                    self._wakeup = None  # the child has closed it: from now on every frame wakes the parent
        return None

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()
        if self._wakeup is not None:
            self._wakeup.close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimedOut
    return left
