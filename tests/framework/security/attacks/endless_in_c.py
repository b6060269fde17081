"""One call into C that never returns and handles no signal."""

def softmax(x):
    return sum(range(10**15))
