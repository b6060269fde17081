"""A loop that ignores every signal and cancels the alarm."""

import signal
from contextlib import suppress

def softmax(x):
    for number in range(1, 65):
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        pass
