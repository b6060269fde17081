"""A cell that loops forever."""

def softmax(x):
    return x * 0
while True:
    pass
