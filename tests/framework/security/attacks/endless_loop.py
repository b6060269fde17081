"""A function that loops forever."""

def softmax(x):
    while True:
        pass
