"""NumPy work that never ends."""

def softmax(x):
    a = np.ones((300, 300))
    while True:
        a = a @ a
