"""An exception with a message of a hundred megabytes."""

def softmax(x):
    raise ValueError('x' * 10**8)

raise ValueError('x' * 10**8)
