"""A result that runs code when it is unpickled."""

import os

class Bomb(dict):
    def __reduce__(self):
        return os.system, ("touch @COURSE@/unpickled",)

def softmax(x):
    return Bomb(a=Bomb(), b=[Bomb()])
