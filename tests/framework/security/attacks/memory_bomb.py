"""Allocate all memory in one piece."""

def softmax(x):
    return np.ones((1 << 18, 1 << 18))
