"""Connect to loopback, the internet and local sockets."""

import socket
from contextlib import suppress

def softmax(x):
    for family, address in (
        (socket.AF_INET, ("127.0.0.9", @PORT@)),
        (socket.AF_INET, ("1.1.1.1", 53)),
        (socket.AF_INET6, ("::1", @PORT@)),
        (socket.AF_UNIX, "/run/dbus/system_bus_socket"),
        (socket.AF_UNIX, "\0autograder"),
    ):
        with suppress(OSError):
            with socket.socket(family, socket.SOCK_STREAM) as s:
                s.settimeout(0.1)
                s.connect(address)
                s.sendall(b"I was here")
    return x
