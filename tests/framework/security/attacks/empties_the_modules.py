"""Every module and every name thrown away."""

import sys

def softmax(x):
    sys.modules.clear()
    globals().clear()
    return x

sys.modules.clear()
