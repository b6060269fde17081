"""Delete every module and every name."""

import sys

def softmax(x):
    sys.modules.clear()
    globals().clear()
    return x

sys.modules.clear()
