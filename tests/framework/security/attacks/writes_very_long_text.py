"""One text of a million characters and many empty ones, which would be gigabytes as an array of NumPy's."""


def softmax(x):
    return ["x" * 1_000_000] + [""] * 2500
