"""One text of half a million characters and many empty ones, which would be gigabytes as an array of NumPy's."""


def softmax(x):
    return ["x" * 500_000] + [""] * 2500
