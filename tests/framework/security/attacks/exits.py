"""The ordinary ways to end a program."""

import sys

def softmax(x):
    sys.exit(0)

sys.exit(0)
