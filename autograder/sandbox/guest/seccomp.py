"""The system calls that student code may make, as a BPF program for the kernel's seccomp filter.

This is an allowlist: any other call fails with "operation not permitted". It allows no sockets, new processes, signals to
other processes, changes of identity, tracing, mounts or file locks. A process may signal itself. Only some commands of
``fcntl`` are allowed, and ``clone`` can only create a thread of this process. ``confine`` limits the number of threads.
"""

from __future__ import annotations

import errno
import platform
import struct

__all__ = ["program"]

# name: (x86_64, aarch64), or None if that machine does not have the call. In alphabetical order, row by row.
ALLOWED: dict[str, tuple[int | None, int | None]] = {
    "access": (21, None),          "alarm": (37, None),             "brk": (12, 214),
    "chdir": (80, 49),             "clock_getres": (229, 114),      "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115), "close": (3, 57),                "close_range": (436, 436),
    "dup": (32, 23),               "dup2": (33, None),              "dup3": (292, 24),
    "exit": (60, 93),              "exit_group": (231, 94),         "faccessat": (269, 48),
    "faccessat2": (439, 439),      "fadvise64": (221, 223),         "fdatasync": (75, 83),
    "fstat": (5, 80),              "fstatfs": (138, 44),            "fsync": (74, 82),
    "ftruncate": (77, 46),         "getcwd": (79, 17),
    "getdents64": (217, 61),       "getegid": (108, 177),           "geteuid": (107, 175),
    "getgid": (104, 176),          "getitimer": (36, 102),          "getpid": (39, 172),
    "getppid": (110, 173),         "getrandom": (318, 278),         "getrlimit": (97, 163),
    "getrusage": (98, 165),        "gettid": (186, 178),            "gettimeofday": (96, 169),
    "getuid": (102, 174),          "lseek": (8, 62),                "lstat": (6, None),
    "madvise": (28, 233),          "mkdir": (83, None),             "mkdirat": (258, 34),
    "mmap": (9, 222),              "mprotect": (10, 226),           "mremap": (25, 216),
    "munmap": (11, 215),           "nanosleep": (35, 101),          "newfstatat": (262, 79),
    "open": (2, None),             "openat": (257, 56),             "pipe": (22, None),
    "pipe2": (293, 59),            "poll": (7, None),               "ppoll": (271, 73),
    "pread64": (17, 67),           "pwrite64": (18, 68),            "pselect6": (270, 72),
    "read": (0, 63),               "readlink": (89, None),          "readlinkat": (267, 78),
    "readv": (19, 65),             "rename": (82, None),            "renameat": (264, 38),
    "renameat2": (316, 276),       "restart_syscall": (219, 128),   "rmdir": (84, None),
    "rseq": (334, 293),            "rt_sigaction": (13, 134),       "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),     "sched_getaffinity": (204, 123), "sched_yield": (24, 124),
    "select": (23, None),          "set_robust_list": (273, 99),    "setitimer": (38, 103),
    "sigaltstack": (131, 132),     "stat": (4, None),               "statfs": (137, 43),
    "statx": (332, 291),           "symlink": (88, None),           "symlinkat": (266, 36),
    "sysinfo": (99, 179),          "time": (201, None),             "times": (100, 153),
    "umask": (95, 166),            "uname": (63, 160),              "unlink": (87, None),
    "unlinkat": (263, 35),         "write": (1, 64),                "writev": (20, 66),
}  # fmt: skip
# A notebook may interrupt itself, as with ``signal.raise_signal``. The first argument of these calls is the process.
_KILL_CALLS = {"kill": (62, 129), "tgkill": (234, 131)}
_FUTEX = (202, 98)
# Two processes that map the same file, such as a library, could wake each other through it. So a futex is private to its
# process, except to wait for the end of a thread, which the kernel itself reports.
_PRIVATE_FUTEX = 128
_FUTEX_WAITS = (0, 9, 256, 265)  # FUTEX_WAIT and FUTEX_WAIT_BITSET, with either clock
_FCNTL = (72, 25)
# These commands have the same numbers on both machines. Two kinds of commands are left out. Some make a descriptor send signals to
# a chosen process, which may be any process of the same user (F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY, F_SETLEASE). Others lock
# files (F_SETLK, F_SETLKW, F_GETLK, F_OFD_SETLK and so on, like ``flock``, which is not in the list above). Any readable file can
# be locked, so two submissions that run at the same time could send each other messages.
_FCNTL_COMMANDS = {
    "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_DUPFD_CLOEXEC": 1030, "F_GETPIPE_SZ": 1032,
}  # fmt: skip
_F_SETFL, _O_ASYNC = 4, 0o20000  # F_SETFL is allowed without this flag
# If ioctl fails with EACCES, Python sets close-on-exec with fcntl instead. On EPERM it gives up.
_IOCTL = (16, 29)
_CLONE = (56, 220)
# The flags with which glibc and musl create a thread. musl sets one more flag, which has no effect. With any other flags
# ``clone`` could create a process or namespaces.
_THREAD_FLAGS = (0x003D0F00, 0x007D0F00)
# The flags of ``clone3`` are in memory, where a filter cannot read them. On ENOSYS, libraries use ``clone`` instead.
_CLONE3 = (435, 435)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column in the table above, AUDIT_ARCH_*

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_IF_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Offsets of the lower halves of these arguments in struct seccomp_data. The kernel reads only 32 bits of each argument.
_FIRST, _SECOND, _THIRD = 16, 24, 32
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32_BIT = 0x40000000
_REFUSED = (_RETURN, 0, 0, _ERRNO | errno.EPERM)


def program(own: int = 0) -> bytes:
    """Return the filter as an array of ``struct sock_filter``, for the process with the number ``own``.

    Raises ``OSError`` on an unknown processor.
    """
    machine = platform.machine()
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"there is no system-call table for {machine}")
    column, architecture = _MACHINES[machine]
    steps = [
        (_LOAD, 0, 0, 4),  # seccomp_data.arch
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),  # a call that uses another architecture's numbers
        (_LOAD, 0, 0, 0),  # seccomp_data.nr
        (_JUMP_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _KILL),
    ]
    for numbers in ALLOWED.values():
        if (number := numbers[column]) is not None:
            steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    decisions = ((_FUTEX, _private_futexes()), (_FCNTL, _fcntl_commands()), (_CLONE, _threads_only()))
    for numbers, decision in decisions:
        steps += [(_JUMP_EQUAL, 0, len(decision), numbers[column]), *decision]
    to_itself = [(_LOAD, 0, 0, _FIRST), (_JUMP_EQUAL, 0, 1, own), (_RETURN, 0, 0, _ALLOW), _REFUSED]
    for numbers in _KILL_CALLS.values() if own else ():
        steps += [(_JUMP_EQUAL, 0, len(to_itself), numbers[column]), *to_itself]
    for number, refusal in ((_IOCTL[column], errno.EACCES), (_CLONE3[column], errno.ENOSYS)):
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | refusal)]
    steps.append(_REFUSED)
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _fcntl_commands() -> list[tuple[int, int, int, int]]:
    """Return the steps that allow or refuse ``fcntl`` by its command. No jump leads out of these steps."""
    steps = [(_LOAD, 0, 0, _SECOND)]
    for command in _FCNTL_COMMANDS.values():
        steps += [(_JUMP_EQUAL, 0, 1, command), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_JUMP_EQUAL, 0, 3, _F_SETFL), (_LOAD, 0, 0, _THIRD), (_JUMP_IF_SET, 1, 0, _O_ASYNC)]
    return [*steps, (_RETURN, 0, 0, _ALLOW), _REFUSED]


def _private_futexes() -> list[tuple[int, int, int, int]]:
    """Return the steps that allow or refuse ``futex`` by its operation. No jump leads out of these steps."""
    steps = [(_LOAD, 0, 0, _SECOND), (_JUMP_IF_SET, 0, 1, _PRIVATE_FUTEX), (_RETURN, 0, 0, _ALLOW)]
    for operation in _FUTEX_WAITS:
        steps += [(_JUMP_EQUAL, 0, 1, operation), (_RETURN, 0, 0, _ALLOW)]
    return [*steps, _REFUSED]


def _threads_only() -> list[tuple[int, int, int, int]]:
    """Return the steps that allow or refuse ``clone`` by its flags. No jump leads out of these steps."""
    steps = [(_LOAD, 0, 0, _FIRST)]
    for flags in _THREAD_FLAGS:
        steps += [(_JUMP_EQUAL, 0, 1, flags), (_RETURN, 0, 0, _ALLOW)]
    return [*steps, _REFUSED]
