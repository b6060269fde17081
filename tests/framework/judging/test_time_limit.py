"""Test time limits: code that does not end is stopped by every available means, and the limit leaves no traces."""

from __future__ import annotations

import contextlib
import hashlib
import signal
import subprocess
import sys
import threading
import time

import pytest

from autograder.judging import time_limit as limits
from autograder.judging.time_limit import OutOfTimeError, time_limit
from tests.support import ROOT


def plain():
    """Loop without end."""
    while True:
        pass


def swallowing():
    """Loop without end, and catch every interruption of an inner loop in an outer one."""
    while True:
        with contextlib.suppress(BaseException):
            while True:
                try:
                    while True:
                        pass
                except:  # noqa: E722, S110 - what a student writes
                    pass


def returning():
    """Call a function that swallows every exception, without end."""

    def step():
        try:
            return sum(1 for _ in range(100))
        except BaseException:  # noqa: BLE001 - as a bare except
            return 0

    while True:
        try:
            step()
        except BaseException:  # noqa: BLE001 - as above
            step()


def generating():
    """Loop over a generator that ignores everything thrown into it."""

    def numbers():
        while not over:
            with contextlib.suppress(BaseException):
                yield 1

    over, endless = False, numbers()  # the name keeps the generator alive until `over` is set and it can be closed
    try:
        for _ in endless:
            pass
    finally:  # sets `over` even if the signal arrives again right here
        try:
            over = True
        finally:
            over = True


def asleep():
    """Wait in C code."""
    time.sleep(60)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Shorten the time between two interruptions to hundredths of a second."""
    monkeypatch.setattr(limits, "AGAIN", 0.02)


WAYS = {
    "signal": limits._Signalled,
    "thread": limits._FromAThread,
    "monitoring": limits._Monitored,
}


TRACED = """
import sys
from tests.framework.judging.test_time_limit import OutOfTimeError, limits, plain

for code in (int, plain):
    try:
        with limits._FromAThread(0.05):
            code()
    except OutOfTimeError:
        print("ended")
    sys.settrace(lambda *_: None)
    int.mro()
    (lambda: None)()  # where an error was taken back by clearing it, Python 3.11 never comes back from here
    sys.settrace(None)
print("traced")
"""


def test_code_can_be_traced_after_a_limit():
    """Code can be traced after a limit, which the step counter and debuggers need."""
    done = subprocess.run(
        [sys.executable, "-c", TRACED], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["ended", "traced"], done.stderr


@pytest.mark.parametrize("endless", [plain, swallowing, returning, generating, asleep], ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_whatever_does_not_end_is_ended(way, endless):
    """A limit works even if every exception is swallowed. Afterwards, signals, threads and monitoring are restored."""
    if way != "signal" and (sys.version_info < (3, 12) and (way == "monitoring" or endless is not plain)):
        pytest.skip("needs the monitoring of Python 3.12")
    if way != "signal" and endless is asleep:
        pytest.skip("only a signal ends a wait")
    before = signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT), sys.gettrace()
    with pytest.raises(OutOfTimeError), WAYS[way](0.05):
        endless()
    for _ in range(1000):  # a pending error would be raised in this loop
        pass
    assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT), sys.gettrace()) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    if sys.version_info >= (3, 12):
        assert [sys.monitoring.get_tool(tool) for tool in range(6)].count("autograder") == 0


def test_a_person_who_interrupts_is_as_persistent():
    """The stop button works even if the loop catches everything."""
    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt), time_limit(30):
        swallowing()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_call_that_cannot_be_ended_is_told_of(monkeypatch):
    """If C code blocks signals, a second thread reports it. If the call ends in time, there is no report."""
    monkeypatch.setattr(limits, "STUCK", 0.05)
    told = threading.Event()
    with pytest.raises(OutOfTimeError), time_limit(0.01, told.set):
        hashlib.pbkdf2_hmac("sha256", b"", b"", 600_000)  # handles no signal for some tenths of a second
    assert told.is_set()
    told.clear()
    with time_limit(0.01, told.set):
        pass
    assert not told.wait(0.2)
    with time_limit(0.05, told.set):  # a waiting call is not stopped, because it uses little processor time
        time.sleep(0.2)
    assert not told.wait(0.2)


def test_seconds_of_the_processor_do_not_count_what_a_busy_machine_does():
    """A call that waits may exceed its limit, but not forever. A call that computes is stopped when its processor time is used up."""
    with time_limit(0.05):
        time.sleep(0.2)
    began = time.monotonic()
    with pytest.raises(OutOfTimeError), time_limit(0.05):
        time.sleep(60)
    assert time.monotonic() - began < 30
    with pytest.raises(OutOfTimeError), time_limit(0.05):
        swallowing()
