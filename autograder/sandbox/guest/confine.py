"""Drop a process's privileges permanently: namespaces, limits, capabilities, Landlock, seccomp. Linux only.

Every function raises ``OSError`` if the kernel refuses, so that no process continues with partial restrictions.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
from collections.abc import Iterable

__all__ = [
    "THREADS", "address_space", "allow_writing", "die_with_parent", "drop_privileges", "drop_user",
    "fork_into_namespaces", "landlock_version", "make_ruleset", "private_tmp", "restrict_files", "set_limits",
    "threads_of", "threads_of_all",
]  # fmt: skip

# Threads that a submission may have in addition to its first, as many as Python's own pools start by default.
THREADS = 32

_libc = ctypes.CDLL(None, use_errno=True)
# PyDLL keeps the GIL, so that no other Python code runs between a fork and the calls that complete it.
_syscall = ctypes.PyDLL(None, use_errno=True).syscall
_SYSCALL_CLONE = {"x86_64": 56, "aarch64": 220}
_SIGCHLD = 17
_SYSCALL_LANDLOCK_CREATE, _SYSCALL_LANDLOCK_ADD, _SYSCALL_LANDLOCK_RESTRICT = 444, 445, 446
_NEW_MOUNT, _NEW_IPC, _NEW_USER, _NEW_PID = 0x00020000, 0x08000000, 0x10000000, 0x20000000
_NOSUID, _NODEV, _NOEXEC, _READ_ONLY = 2, 4, 8, 1
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 8, 22, 38
_CAPABILITY_VERSION_3 = 0x20080522
READ_SEARCH = 1 << 2  # CAP_DAC_READ_SEARCH

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = 1, 2, 4, 8, 16, 32
_MAKE_DIR, _MAKE_REG, _MAKE_SYM, _REFER, _TRUNCATE = 1 << 7, 1 << 8, 1 << 12, 1 << 13, 1 << 14
_ALL_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}  # from version 5: 16 bits
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE


def _checked(result: int, operation: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{operation}: {os.strerror(number)}")
    return result


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl(PDEATHSIG)")


def drop_user(uid: int, *, keep: int = 0) -> None:
    """Become ``uid`` without groups, and keep only the capabilities in the bit set ``keep``."""
    if keep:
        _checked(_libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0), "prctl(KEEPCAPS)")
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _set_capabilities(keep)
    # Otherwise /proc/self would belong to root after the change, and user namespaces could not be set up.
    _checked(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl(DUMPABLE)")


def _set_capabilities(keep: int) -> None:
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(header, struct.pack("6I", keep, keep, 0, 0, 0, 0)), "capset")


def fork_into_namespaces() -> int:
    """Fork into new user, mount, IPC and pid namespaces, in which the child is the first process.

    Returns the child's number or 0, like ``os.fork``. ``unshare`` would need two forks, and forking is the slowest step of starting a child.
    """
    uid, gid = os.geteuid(), os.getegid()
    python = ctypes.pythonapi  # like os.fork(), prepare before the fork and clean up after it in both processes
    python.PyOS_BeforeFork()
    flags = _NEW_USER | _NEW_MOUNT | _NEW_IPC | _NEW_PID | _SIGCHLD
    pid = int(_syscall(_SYSCALL_CLONE[os.uname().machine], ctypes.c_ulong(flags), None, None, None, None))
    number = ctypes.get_errno()
    if pid:
        python.PyOS_AfterFork_Parent()
        if pid < 0:
            raise OSError(number, f"clone: {os.strerror(number)}")
        return pid
    python.PyOS_AfterFork_Child()
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
    except BaseException:  # noqa: BLE001 - the child must not continue as if it were the parent
        os._exit(1)
    return 0


def private_tmp(disk_mb: int) -> None:
    """Mount a private, empty file system on /tmp, and an empty read-only one on /proc."""
    flags = ctypes.c_ulong(_NOSUID | _NODEV | _NOEXEC)
    options = f"size={disk_mb}m,nr_inodes=2k,mode=0700".encode()
    _checked(_libc.mount(b"tmpfs", b"/tmp", b"tmpfs", flags, options), "mount /tmp")
    flags = ctypes.c_ulong(_NOSUID | _NODEV | _NOEXEC | _READ_ONLY)
    _checked(_libc.mount(b"tmpfs", b"/proc", b"tmpfs", flags, b"size=4k,nr_inodes=1,mode=0555"), "mount /proc")


def address_space() -> int:
    """Return the size of this process's address space in bytes."""
    # Avoid pathlib, because its first use in a child takes a millisecond.
    with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123
        return int(file.read(100).split()[0]) * resource.getpagesize()


def threads_of_all() -> int:
    """Return the number of threads on this machine, of all users."""
    with open("/proc/loadavg", "rb", buffering=0) as file:  # noqa: PTH123 - as above
        return int(file.read(100).split()[3].partition(b"/")[2])


def threads_of(pid: int) -> int:
    """Return the number of threads of the process ``pid``, or 0 if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - as above
            # The program chooses the name in parentheses, which may contain spaces and parentheses.
            return int(file.read(1000).rpartition(b")")[2].split()[17])
    except OSError:
        return 0


def set_limits(*, memory: int, disk: int, cpu_seconds: int, threads: int) -> None:
    """Limit address space and file size (in bytes), processor time, descriptors and threads, and forbid core dumps.

    ``threads`` is the limit for this process's user. If the process has its own user namespace, only its own threads count.
    Otherwise the threads of all processes of the user on this machine count.
    """
    limits = {"AS": memory, "FSIZE": disk, "CPU": cpu_seconds, "NOFILE": 64, "NPROC": threads, "STACK": 16 << 20}
    for name, value in {**limits, "CORE": 0, "MEMLOCK": 0, "MSGQUEUE": 0}.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def landlock_version() -> int:
    """Return the kernel's Landlock version, or 0 if it has none."""
    return max(0, int(_libc.syscall(_SYSCALL_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)))


def make_ruleset(readable: Iterable[str]) -> int:
    """Create a Landlock ruleset that allows reading below ``readable`` and using /dev/null. Return its descriptor.

    The paths must exist. No other files can be opened. If the kernel supports it, TCP, abstract sockets and signals to
    processes outside are denied too.
    """
    version = landlock_version()
    handled = _ALL_FILE_RIGHTS.get(version, (1 << 16) - 1)
    # struct landlock_ruleset_attr: file rights, the two TCP rights (since version 4), the two scopes (since version 6).
    attributes = struct.pack("QQQ", handled, 0b11, 0b11)[: 8 if version < 4 else 16 if version < 6 else 24]
    size = ctypes.c_size_t(len(attributes))
    ruleset = _checked(_libc.syscall(_SYSCALL_LANDLOCK_CREATE, attributes, size, 0), "landlock_create_ruleset")
    for path in readable:
        _allow(ruleset, path, (_EXECUTE | _READ_FILE | _READ_DIR) & handled)
    _allow(ruleset, "/dev/null", (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled)
    return ruleset


def allow_writing(ruleset: int, path: str) -> None:
    """Extend ``ruleset`` to allow creating, reading and removing files, folders and symbolic links below ``path``."""
    version = landlock_version()
    rights = _WRITE_FILE | _READ_FILE | _READ_DIR | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM
    _allow(ruleset, path, (rights | _REFER | _TRUNCATE) & _ALL_FILE_RIGHTS.get(version, (1 << 16) - 1))


def restrict_files(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Let this process and its children read only below ``readable`` and write only below ``writable``.

    The paths must exist. The process can gain no more privileges.
    """
    ruleset = make_ruleset(readable)
    for path in writable:
        allow_writing(ruleset, path)
    _set_capabilities(0)
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(NO_NEW_PRIVS)")
    _checked(_libc.syscall(_SYSCALL_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib is not worth its import for one call
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, descriptor)  # struct landlock_path_beneath_attr is packed
        _checked(_libc.syscall(_SYSCALL_LANDLOCK_ADD, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
    finally:
        os.close(descriptor)


def drop_privileges(ruleset: int, filter_program: bytes, *, keep: int = 0) -> None:
    """Give up all capabilities except ``keep``, forbid gaining new ones, and apply ``ruleset`` and the seccomp filter."""
    _set_capabilities(keep)
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(NO_NEW_PRIVS)")
    _checked(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl(DUMPABLE)")
    _checked(_libc.syscall(_SYSCALL_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)
    address = ctypes.cast(ctypes.c_char_p(filter_program), ctypes.c_void_p).value
    program = struct.pack("HxxxxxxP", len(filter_program) // 8, address)  # struct sock_fprog
    _checked(_libc.prctl(_PR_SET_SECCOMP, 2, program, 0, 0), "prctl(SECCOMP)")
