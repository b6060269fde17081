"""Tests of runs that are stopped or killed, or lose a process: nothing is lost, entered twice or left behind."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from autograder.classroom.run import grade_class, handed_in
from autograder.grading.batch import grade
from tests.framework.classroom.conftest import cells, class_of_many, given_back
from tests.support.books import with_book
from tests.support.mini import CHAPTER, copy_course

# Marks are entered after every five notebooks, so that a small class can be interrupted at many points.
COMMAND = (
    "from autograder.classroom.gradebook import entries; entries.BATCH = 5; from autograder.cli import main; main()"
)
# If a shell runs the tests in the background, they and their child processes ignore Ctrl-C.
COMMAND = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {COMMAND}"
SIZE = 24


def graders():
    """Return the grading processes that this process started."""
    running = [child for child in psutil.Process().children() if child.is_running()]
    return [child for child in running if any("grading.pool" in word for word in child.cmdline())]


def start(course):
    """Start ``autograder grade`` with two processes, in its own process group."""
    words = [sys.executable, "-c", COMMAND, "grade", CHAPTER, "--workers", "2", "--json"]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(words, cwd=course.root, start_new_session=True, text=True, **pipes)


def wait_for(process, words):
    """Read the run's output until a line contains ``words``."""
    for line in process.stderr:
        if words in line:
            return
    pytest.fail(f"the run ended without saying {words!r}")


def all_ended(group):
    """Wait for at most 10 seconds, and return whether every process of ``group`` has ended. A sandbox ends right after the process that started it."""
    never = threading.Event()
    for _ in range(1000):
        if not any(running_in(group, path) for path in Path("/proc").glob("[0-9]*/stat")):
            return True
        never.wait(0.01)
    return False


def running_in(group, path):
    """Return whether the process named in ``path`` is running and belongs to ``group``."""
    try:
        state, _parent, its_group, *_rest = path.read_text().rpartition(")")[2].split()
    except OSError:  # the process has ended meanwhile
        return False
    return state != "Z" and its_group == str(group)


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_like_an_undisturbed_one(tmp_path):
    """If all processes are killed or stopped at random moments, repeating the command leads to exactly the same gradebook and files."""
    calm, stormy = (with_book(copy_course(tmp_path / name)) for name in ("calm", "stormy"))
    for course in (calm, stormy):
        (course.root / ".course_secret").write_text("the same for both")
        class_of_many(course, SIZE)
    started = time.monotonic()
    assert start(calm).wait() == 1  # some students submitted a truncated file
    whole = time.monotonic() - started
    moments = random.Random(20)  # noqa: S311 - times at which to stop
    for number in range(8):
        process = start(stormy)
        try:
            process.wait(whole * moments.uniform(0.1, 1.1))
        except subprocess.TimeoutExpired:
            how = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[number % 3]
            os.killpg(process.pid, how)
            process.wait()
    last = start(stormy)
    _, told = last.communicate()
    assert last.returncode == 1, told
    assert len({row[1] for row in cells(calm)}) == SIZE
    assert cells(stormy) == cells(calm)
    # The pages do not contain the folder's name, so they are equal byte by byte.
    assert given_back(stormy) == given_back(calm)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_told_to_stop_enters_what_it_has(course, number, status):
    """After Ctrl-C or SIGTERM, all results so far are in the gradebook, every process ends, and the exit status names the signal."""
    class_of_many(course, SIZE)
    process = start(course)
    wait_for(process, f"7 of {SIZE}")
    process.send_signal(number)
    said = process.stderr.read()
    assert process.wait() == status, said
    assert "Run the same command to continue." in said
    assert all_ended(process.pid)
    entered = {row[1] for row in cells(course)}
    assert 7 <= len(entered) < SIZE


def test_a_grading_process_that_is_killed_loses_nothing(course):
    """If a grading process is killed, another process grades its notebook, and every student is graded."""
    class_of_many(course, 9)
    killed = []

    def kill_one(_verdict):
        if not killed:
            killed.append(graders()[0])
            killed[0].kill()

    verdicts = grade_class(course, CHAPTER, handed_in(course, CHAPTER), workers=2, on_verdict=kill_one)
    assert not killed[0].is_running()
    assert [v.status for v in verdicts] == ["graded"] * 9
    assert len({row[1] for row in cells(course)}) == 9


def fragile(outcome):
    """Kill the process that graded s001, and raise an error that ends the run for s004."""
    if outcome.job.student == "s001" and outcome.verdict.status == "graded":
        os.kill(os.getpid(), signal.SIGKILL)
    if outcome.job.student == "s004":
        raise PermissionError(outcome.job.student)
    return outcome


def test_a_notebook_that_kills_every_process_is_told(course):
    """A notebook is given up after two processes were killed. Its verdict says how they ended, and all other notebooks are graded."""
    class_of_many(course, 4)
    outcomes = list(grade(course, handed_in(course, CHAPTER), workers=2, deliver=fragile))
    found = {outcome.job.student: outcome.verdict for outcome in outcomes}
    assert len(outcomes) == 4
    assert {student for student, verdict in found.items() if verdict.status == "graded"} == {"s000", "s002", "s003"}
    assert found["s001"].reason.startswith("The process that graded this notebook was killed by SIGKILL, twice.")


def test_what_a_grading_process_raises_is_raised_at_home(course):
    """An error that no student caused ends the run, and no process remains."""
    class_of_many(course, 6)
    jobs = [job for job in handed_in(course, CHAPTER) if job.student != "s001"]
    with pytest.raises(PermissionError, match="s004"):
        list(grade(course, jobs, workers=2, deliver=fragile))
    assert graders() == []
