"""An exception whose class lies about its name, its bases and its traceback."""

class Meta(type):
    __mro__ = property(lambda cls: 1 / 0)
    __name__ = property(lambda cls: "x" * 10**6)
    def __instancecheck__(cls, other):
        raise SystemExit

class Bad(BaseException, metaclass=Meta):
    __traceback__ = property(lambda self: self)
    tb_next = property(lambda self: self)

def softmax(x):
    raise Bad

raise Bad
