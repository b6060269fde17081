"""A cell that exits and bypasses every handler."""

def softmax(x):
    return x * 0
import os
os._exit(71)
