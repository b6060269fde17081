"""A sleep far over the limit, again and again."""

import time

def softmax(x):
    while True:
        try:
            time.sleep(10**6)
        except BaseException:
            pass
