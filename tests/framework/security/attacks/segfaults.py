"""Dereference a null pointer."""

import ctypes

def softmax(x):
    return ctypes.string_at(0)
