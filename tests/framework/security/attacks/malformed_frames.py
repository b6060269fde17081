"""Send invalid frames."""

import os

def softmax(x):
    os.write(3, bytes(range(256)) * 100)
    return x
