"""Results of many gigabytes that take little memory."""

def softmax(x):
    return [np.broadcast_to(0.0, (10**5, 10**5))] * 10**5
