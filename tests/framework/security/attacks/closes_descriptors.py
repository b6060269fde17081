"""Replace the first ten descriptors, and then close every descriptor."""

import os
from contextlib import suppress

def softmax(x):
    for n in range(10):
        with suppress(OSError):
            os.dup2(0, n)
    os.closerange(0, 100)
    return x
