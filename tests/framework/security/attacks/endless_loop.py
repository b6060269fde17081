"""A loop that never ends, in the function."""

def softmax(x):
    while True:
        pass
