"""Print without end, in the cell and in the call."""

def softmax(x):
    while True:
        print('x' * 10**6)

while True:
    print('@' * 10**6)
