"""A loop that never ends, at the top of the cell."""

def softmax(x):
    return x * 0
while True:
    pass
