"""The child without a sandbox: one ordinary process per submission, on any system."""

from __future__ import annotations

import os
import socket
import sys

from .runner import serve

__all__ = ["main"]


def main() -> None:
    """Serve over the socket given on stdin, by its file descriptor or, on Windows, by the result of ``socket.share``."""
    handle = sys.stdin.buffer.readline().strip()
    if os.name == "nt":
        connection = socket.fromshare(bytes.fromhex(handle.decode("ascii")))  # type: ignore[attr-defined,unused-ignore]
    else:
        connection = socket.socket(fileno=int(handle))
    sys.dont_write_bytecode = True
    serve(connection.recv_into, connection.send)
