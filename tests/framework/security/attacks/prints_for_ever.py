"""Print without end, and print one line that is larger than the memory."""


def softmax(x):
    while True:
        print("x" * 10**6)
