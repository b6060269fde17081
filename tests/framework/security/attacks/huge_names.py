"""Thousands of long names that are all similar to a missing one."""

import random

for seed in range(24):
    letters = random.Random(seed)
    word = "".join(letters.choice("ab") for _ in range(199))
    for n in range(199):
        globals()[word[n:] + word[:n]] = 1

def softmax(x):
    raise NameError(f"name '{word[::-1]}' is not defined")
