"""A built-in integer that is larger than any float."""

q1 = q2 = 2 ** 1024 - 1

def softmax(x):
    return 2 ** 1024 - 1
