"""A function that prints without end, and one line that is longer than the memory."""


def softmax(x):
    while True:
        print("x" * 10**6)
