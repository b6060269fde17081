"""A Dask cluster of real processes on loopback: one scheduler, and as many workers as a test needs."""

import os
import re
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest

from tests.support.books import with_book
from tests.support.mini import CHAPTER, RIGHT, WRONG_SIGN, copy_course, document, hand_in

READY_SECONDS = 120


class Daemon:
    """A process that writes to its log when it is ready."""

    def __init__(self, log, *command, ready, **environment):
        self._log, self._ready = log, re.compile(f"{ready}(.*)\n")
        command = [sys.executable, "-m", "dask", *command]
        null, variables = subprocess.DEVNULL, {**os.environ, **environment}
        with log.open("w") as said:
            self.process = subprocess.Popen(command, stdin=null, stdout=null, stderr=said, env=variables)

    def wait(self):
        """Wait until the process is ready, and return the end of the log line that says so."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            found = self._ready.search(self._log.read_text())
            if found:
                return found[1].strip()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.05)
        pytest.fail(self._log.read_text())

    def kill(self):
        """Kill the process as kill -9 does, and return the child processes that it had."""
        below = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.end()
        return below

    def end(self):
        """End the process, and kill it if it does not end in time."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Cluster:
    """The cluster of a test. ``address`` is its scheduler's address."""

    def __init__(self, folder):
        self.folder, self.workers = folder, []
        folder.mkdir()
        arguments = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter")
        self.scheduler = Daemon(folder / "scheduler.log", "scheduler", *arguments, ready="Scheduler at:")
        self.address = self.scheduler.wait()

    def hire(self, **environment):
        """Start a worker. It may take a moment to join."""
        arguments = (self.address, "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        log = self.folder / f"worker{len(self.workers)}.log"
        worker = Daemon(log, "worker", *arguments, "--no-nanny", ready="Registered to:", **environment)
        self.workers.append(worker)
        return worker

    def end(self):
        """End every process of the cluster."""
        for daemon in (*self.workers, self.scheduler):
            daemon.end()


@pytest.fixture
def cluster(tmp_path):
    """A scheduler without workers."""
    started = Cluster(tmp_path / "scratch")
    yield started
    started.end()


@pytest.fixture
def course(tmp_path):
    """The mini course with its own secret and a class of twelve different notebooks."""
    made = with_book(copy_course(tmp_path / "mini"))
    (made.root / made.secret_file).write_text("the secret of this course\n")
    for number in range(12):
        code = {**RIGHT, "quiz_ch1_units": f"# student {number}\n" + RIGHT["quiz_ch1_units"]}
        if number % 3 == 1:
            code["to_kelvin"] = WRONG_SIGN
        if number == 2:  # right for two axes and wrong for three, so the score depends on the drawn inputs
            code["mean_kelvin"] = "def mean_kelvin(celsius):\n    return np.mean(to_kelvin(celsius), axis=1)"
        if number == 8:
            code["mean_kelvin"] = "def mean_kelvin(celsius):\n    import os\n    os._exit(3)"
        notebook = b"{" if number == 5 else document(made, **({} if number == 7 else code))
        hand_in(made, f"s{number:02}", notebook, f"2030-01-{number + 1:02} 00:00:00.000000 UTC")
    assert len(list(made.root.glob(f"submitted/*/{CHAPTER}"))) == 12
    return made
