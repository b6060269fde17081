"""A generator whose items grow until they fill the memory."""


def growing():
    item = "x"
    while True:
        yield item
        item = item * 2


def softmax(x):
    return growing()
