"""One call into C that takes for ever and notices no signal."""

def softmax(x):
    return sum(range(10**15))
