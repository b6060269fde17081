"""A loop that catches every interruption."""

def softmax(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
