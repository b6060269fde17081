"""A whole number of an ordinary type that is larger than every float."""

q1 = q2 = 2 ** 1024 - 1

def softmax(x):
    return 2 ** 1024 - 1
