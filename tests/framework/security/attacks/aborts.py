"""An abort, and jumps to nowhere."""

import ctypes

def softmax(x):
    try:
        ctypes.CDLL(None).abort()
    finally:
        ctypes.CFUNCTYPE(None)(12345)()
