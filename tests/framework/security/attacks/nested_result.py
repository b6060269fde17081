"""A result that is nested too deeply to be read."""

def softmax(x):
    deep = []
    for _ in range(10**6):
        deep = [deep]
    return deep
