"""One text of 300,000 characters and many empty ones, which would be gigabytes as an array of NumPy's."""


def softmax(x):
    return ["x" * 300_000] + [""] * 2500
