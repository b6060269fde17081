"""Print lines of a million characters without end."""


def softmax(x):
    while True:
        print("x" * 10**6)
