"""One string of 300,000 characters and many empty ones, which would take gigabytes as a NumPy array."""


def softmax(x):
    return ["x" * 300_000] + [""] * 2500
