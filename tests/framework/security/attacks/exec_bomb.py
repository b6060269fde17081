"""Start another program, in every possible way."""

import os, subprocess
from contextlib import suppress

def softmax(x):
    for road in (
        lambda: os.execv("/bin/sh", ["sh", "-c", "touch @COURSE@/executed"]),
        lambda: os.posix_spawn("/bin/sh", ["sh", "-c", "touch @COURSE@/executed"], {}),
        lambda: os.system("touch @COURSE@/executed"),
        lambda: subprocess.run("touch @COURSE@/executed", shell=True),
        lambda: os.popen("cat @COURSE@/gradebook.db").read(),
    ):
        with suppress(Exception):
            road()
    return x
