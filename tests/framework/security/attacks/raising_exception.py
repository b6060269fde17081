"""An exception whose text raises, exits or never ends."""

class Bad(Exception):
    n = 0
    def __str__(self):
        Bad.n += 1
        if Bad.n == 1:
            raise SystemExit
        while True:
            pass
    __repr__ = __str__

def softmax(x):
    raise Bad

raise Bad
