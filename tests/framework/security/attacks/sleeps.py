"""Sleep far longer than the limit, repeatedly."""

import time

def softmax(x):
    while True:
        try:
            time.sleep(10**6)
        except BaseException:
            pass
