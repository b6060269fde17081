"""A frame that announces more bytes than any memory has."""

import os, struct

def softmax(x):
    os.write(3, struct.pack('<IQ', 2**32 - 1, 2**63))
    return x
