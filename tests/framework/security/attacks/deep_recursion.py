"""Recursion deeper than the stack."""

import sys
sys.setrecursionlimit(10**9)

class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x")

def softmax(x):
    return repr(Deep().a) + softmax([x])
