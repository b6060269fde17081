"""A thread that outlives its call, reads part of the next request, and sends forged answers."""

import json, os, struct, threading


def frame(head):
    data = json.dumps(head).encode()
    return struct.pack("<IQ", len(data), 0) + data


def answer():
    while True:
        try:
            os.write(3, frame({"value": [0.1, 0.2, 0.7], "changed": []}))
            os.read(3, 1)
        except OSError:
            pass


def softmax(x):
    for _ in range(3):
        threading.Thread(target=answer, daemon=True).start()
    return x
