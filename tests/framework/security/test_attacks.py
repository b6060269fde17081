"""Run each hostile cell in ``attacks/`` like any notebook, and test that it gains and harms nothing."""

from __future__ import annotations

import re
import secrets
import time
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from autograder.sandbox import open_worker
from autograder.sandbox.protocol import Call, CodeCell, Limits
from tests.framework.security.hostile_class import ATTACKS, aimed, listening

LIMITS = Limits(
    call_seconds=0.8, cell_seconds=0.8, submission_seconds=8.0, memory_mb=256, disk_mb=4, output_kb=8, result_mb=4
)
# With half the time, every other attack has the same outcome. These two are stopped later, by the limit of the submission.
QUICK, NEED_LONGER = replace(LIMITS, call_seconds=0.4, cell_seconds=0.4), {"finalizers", "raising_exception"}
INPUTS = [np.array([1.0, 2.0, 3.0]), np.array([0.3, -2.0, 5.0]), np.array([4.0, 4.5, -1.0, 0.2])]
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")
FILES = ("gradebook.db", "autograded/me.ipynb", "solutions/ch1.py", "tests/chapters/test_ch1.py", ".course_secret")
HONEST = "def softmax(x):\n    e = np.exp(x - x.max())\n    return e / e.sum()"


@dataclass
class Outside:
    """A course with ``secret`` in every file, and a port on loopback that records connections."""

    course: Path
    secret: str
    port: int
    calls: list

    def state(self):
        """Return the content, permissions and modification time of every file and folder of the course."""
        found = {path: path.stat() for path in self.course.rglob("*")}
        return {p: (p.is_file() and p.read_bytes(), s.st_mode, s.st_mtime_ns) for p, s in found.items()}

    def aim(self, source):
        """Return ``source`` with its targets filled in: this course's path and this port."""
        return aimed(source, self.course, self.port)

    def attack(self, name):
        """Return the source of the attack ``name`` with its targets filled in."""
        return self.aim(ATTACKS[name].read_text("utf-8"))


def right(answer, x):
    """Return whether an answer has the right shape and values. Like every check, this runs outside the sandbox."""
    value, e = answer.value, np.exp(x - x.max())
    alike = isinstance(value, np.ndarray) and value.shape == x.shape
    return alike and np.allclose(value, e / e.sum(), rtol=1e-5, atol=1e-6)


def texts(value):
    """Return every string inside a value, at any depth."""
    if isinstance(value, str):
        return [value]
    if is_dataclass(value):
        inside = [getattr(value, one.name) for one in fields(value)]
    elif isinstance(value, dict):
        inside = [*value, *value.values()]
    else:
        inside = value if isinstance(value, list | tuple) else []
    return [text for one in inside for text in texts(one)]


def opened(worker, source):
    """Return a session on a notebook whose second cell is ``source``. A ``with`` block closes it."""
    names = {"imports": "import numpy as np", "softmax": source, "later": "later = 42"}
    return closing(worker.open([CodeCell(index, *cell) for index, cell in enumerate(names.items())]))


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """The attacks' targets outside the sandbox: a course and a port."""
    secret = f"SECRET{secrets.token_hex(16)}"
    course = tmp_path / "course"
    for name in FILES:
        path = course / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {secret}\n", "utf-8")
        path.chmod(0o666)  # only the sandbox prevents writing
    monkeypatch.setenv("AUTOGRADER_COURSE_SECRET", secret)
    with listening() as (port, calls):
        yield Outside(course, secret, port, calls)


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def workers(request):
    """Two workers that run all attacks one after another, as in a class. The second has longer limits."""
    with (
        open_worker(QUICK, ["numpy"], confinement=request.param) as quick,
        open_worker(LIMITS, ["numpy"], confinement=request.param) as patient,
    ):
        yield quick, patient


@pytest.fixture
def worker(workers, request):
    """The worker that runs the test's attack."""
    return workers[request.node.callspec.params.get("name") in NEED_LONGER]


@pytest.fixture
def unconfined():
    """A worker without a sandbox."""
    with open_worker(LIMITS, ["numpy"], confinement="local") as made:
        yield made


def test_there_are_enough():
    """The suite has at least forty attacks, and each describes itself."""
    assert len(ATTACKS) >= 40
    assert all(path.read_text("utf-8").startswith('"""') for path in ATTACKS.values())


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gains_and_harms_nothing(worker, outside, name):
    """An attack does not pass, learns and changes nothing outside the sandbox, ends in time, and does not affect the next student."""
    before = outside.state()
    started = time.monotonic()
    with opened(worker, outside.attack(name)) as session:
        answers = [session.call(Call("softmax", (x,))) for x in INPUTS]
        again = session.batch([Call("softmax", (x,)) for x in INPUTS], hold=True)
        seen = repr((session.cells, answers, again, session.value("later"), sorted(session.names())))
    took = time.monotonic() - started

    assert not all(right(a, x) for a, x in zip([*answers, *again], [*INPUTS, *INPUTS], strict=True))
    assert outside.secret not in seen
    assert outside.state() == before
    assert outside.calls == []
    assert len(seen) < 2_000_000
    assert not CONTROLS.search("".join(texts((session.cells, answers, again))))
    # The limit applies to the submission as a whole. Ending its processes takes extra time.
    assert took < LIMITS.submission_seconds + 10

    with opened(worker, HONEST) as honest:
        for x in INPUTS:
            assert right(honest.call(Call("softmax", (x,))), x)
        assert honest.value("later").value == 42
        assert [cell.stopped for cell in honest.cells] == ["", "", ""]


@pytest.mark.parametrize("name", ["writes_the_gradebook", "exec_bomb", "connects"])
def test_the_suite_notices_harm(unconfined, outside, name):
    """In an ordinary process, the same attacks do harm, and the tests detect it."""
    before = outside.state()
    with opened(unconfined, outside.attack(name)) as session:
        session.call(Call("softmax", (INPUTS[0],)))
    assert outside.state() != before or outside.calls


def test_the_suite_notices_a_leak(unconfined, outside):
    """In an ordinary process, a file of the course can be read, and its content reaches the answers that the tests search."""
    source = outside.aim("def softmax(x):\n    return open('@COURSE@/gradebook.db').read()")
    with opened(unconfined, source) as session:
        assert outside.secret in session.call(Call("softmax", (INPUTS[0],))).value


def test_no_message_reaches_the_next_submission(worker, outside):
    """A submission leaves nothing for the next one: no file, module, variable or name."""
    with opened(worker, outside.attack("leaves_a_message")):
        pass
    look = """
import builtins, os, sys
found = [hasattr(builtins, "message"), "MESSAGE" in os.environ, hasattr(np, "message"), "message" in sys.modules]
for path in ("/tmp", "/dev/shm", "/", "/sandbox", "/sandbox/packages", "/sandbox/inside"):
    try:
        found.append(any("message" in name for name in os.listdir(path)))
    except OSError:
        pass
"""
    with opened(worker, look) as session:
        assert not any(session.value("found").value)


SPEAKS = """
import fcntl, os
kept = open(os.__file__, "rb")
try:
    fcntl.lockf(kept, fcntl.LOCK_SH, 7)
except OSError as error:
    why = error.errno
"""
LISTENS = """
import fcntl, os, struct
F_OFD_GETLK = 36
def heard():
    with open(os.__file__, "rb") as file:
        found = []
        for command in (fcntl.F_GETLK, F_OFD_GETLK):
            asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            try:
                found.append(struct.unpack("hhqqi4x", fcntl.fcntl(file, command, asked))[0] != fcntl.F_UNLCK)
            except OSError as error:
                found.append(error.errno)
        return found
"""


def test_two_submissions_at_the_same_time_do_not_hear_each_other(worker, unconfined):
    """A submission can neither lock one of Python's files nor query its locks. Without a sandbox, both work."""
    for place, why, heard in ((worker, 1, [1, 1]), (unconfined, None, [True, True])):
        with opened(place, SPEAKS) as speaker, opened(place, LISTENS) as listener:
            assert speaker.value("why").value == why
            assert listener.call(Call("heard")).value == heard


SHARED_FUTEX = """
import ctypes, mmap, os, platform, threading
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 202, "aarch64": 98}[platform.machine()]
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
place = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, os.open(os.__file__, os.O_RDONLY), 0)
def wake():
    woken = libc.syscall(number, ctypes.c_void_p(place), 1, 1, None, None, 0)
    return ctypes.get_errno() if woken < 0 else 0
thread = threading.Thread(target=int)
thread.start()
thread.join()
"""


def test_a_futex_that_processes_could_share_is_refused(worker, unconfined):
    """Futexes in a shared file mapping are denied. Threads of one process can still wait for each other."""
    for place, error in ((worker, 1), (unconfined, 0)):
        with opened(place, SHARED_FUTEX) as session:
            assert session.call(Call("wake")).value == error, session.cells[1].error


def test_honest_code_needs_no_locks(worker):
    """NumPy's files and an in-memory database work although locks are denied."""
    source = """
import io, sqlite3
import numpy as np
memory = io.BytesIO()
np.savez(memory, a=np.arange(3))
memory.seek(0)
total = int(np.load(memory)["a"].sum())
with sqlite3.connect(":memory:") as base:
    base.execute("create table t (n integer)")
    base.executemany("insert into t values (?)", [(1,), (2,)])
    found = base.execute("select sum(n) from t").fetchone()[0]
"""
    with opened(worker, source) as session:
        assert [session.value(name).value for name in ("total", "found")] == [3, 3], session.cells[1].error


@pytest.mark.parametrize(
    "name", ["calls_the_kernel", "locks_files", "opens_devices", "signals_by_descriptor", "threads_that_fork"]
)
def test_the_refused_stays_refused(worker, outside, name):
    """An attack that reports which operations succeeded reports none, or crashes."""
    with opened(worker, outside.attack(name)) as session:
        answer = session.call(Call("softmax", (INPUTS[0],)))
        assert answer.value == "nothing" or answer.stopped == "crash"
