"""A generator that yields generators without end, and one that blocks after its first item."""


def endless():
    while True:
        yield endless()


def stuck():
    yield 1.0
    while True:
        pass


def softmax(x):
    return stuck() if x[0] == 0.3 else endless()
