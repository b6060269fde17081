"""Generators: one that never ends, one that blocks between two items, and one inside another."""


def endless():
    while True:
        yield endless()


def stuck():
    yield 1.0
    while True:
        pass


def softmax(x):
    return stuck() if x[0] == 0.3 else endless()
