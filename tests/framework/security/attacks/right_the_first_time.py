"""A function that is right in its first call only."""

calls = []

def softmax(x):
    calls.append(1)
    if len(calls) > 1:
        return x
    e = np.exp(x - x.max())
    return e / e.sum()
