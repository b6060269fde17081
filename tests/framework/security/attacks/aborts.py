"""Abort the process, or jump to invalid addresses."""

import ctypes

def softmax(x):
    try:
        ctypes.CDLL(None).abort()
    finally:
        ctypes.CFUNCTYPE(None)(12345)()
