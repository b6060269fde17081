"""A frame that announces more than there is in the world."""

import os, struct

def softmax(x):
    os.write(3, struct.pack('<IQ', 2**32 - 1, 2**63))
    return x
