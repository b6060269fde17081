"""The child without confinement: one plain process for one submission, on any system."""

from __future__ import annotations

import os
import socket
import sys

from .runner import serve

__all__ = ["main"]


def main() -> None:
    """Serve over the socket that was handed down: a descriptor's number, or on Windows what ``socket.share`` made."""
    handed = sys.stdin.buffer.readline().strip()
    if os.name == "nt":
        line = socket.fromshare(bytes.fromhex(handed.decode("ascii")))  # type: ignore[attr-defined,unused-ignore]
    else:
        line = socket.socket(fileno=int(handed))
    sys.dont_write_bytecode = True
    serve(line.recv_into, line.send)
