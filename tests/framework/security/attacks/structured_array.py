"""An array with fields and titles where numbers are expected."""

def softmax(x):
    return np.zeros(len(x), dtype=[('a', 'f8'), ('b', 'O')])
