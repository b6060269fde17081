"""A run that is stopped, killed or robbed of a process: nothing is lost, nothing is entered twice, nothing is left behind."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autograder.classroom.run import grade_class, handed_in
from autograder.grading.pool import Task, run_pool
from tests.framework.classroom.conftest import cells, class_of_many, given_back
from tests.support.books import with_book
from tests.support.mini import CHAPTER, copy_course

# Marks go in after every five notebooks here, so that a small class has many moments in which to be interrupted.
COMMAND = "from autograder.classroom import run; run.BATCH = 5; from autograder.cli import main; main()"
# A shell that puts the tests into the background has them, and all that they start, ignore Ctrl-C.
COMMAND = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {COMMAND}"
SIZE = 24


def start(course):
    """``autograder grade`` with two processes, in a process group of its own."""
    words = [sys.executable, "-c", COMMAND, "grade", CHAPTER, "--workers", "2", "--json"]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(words, cwd=course.root, start_new_session=True, text=True, **pipes)


def wait_for(process, words):
    """Read what the run says until a line holds ``words``."""
    for line in process.stderr:
        if words in line:
            return
    pytest.fail(f"the run ended without saying {words!r}")


def all_ended(group):
    """Whether every process of the group ends; a jail does so right after the process that started it."""
    never = threading.Event()
    for _ in range(1000):
        if not any(running_in(group, path) for path in Path("/proc").glob("[0-9]*/stat")):
            return True
        never.wait(0.01)
    return False


def running_in(group, path):
    """Whether the process that ``path`` tells of belongs to ``group`` and runs."""
    try:
        state, _parent, its_group, *_rest = path.read_text().rpartition(")")[2].split()
    except OSError:  # it has ended meanwhile
        return False
    return state != "Z" and its_group == str(group)


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_like_an_undisturbed_one(tmp_path):
    """At random moments the whole group is killed, or told to stop; the same command goes on, to the very same cells."""
    calm, stormy = (with_book(copy_course(tmp_path / name)) for name in ("calm", "stormy"))
    (stormy.root / ".course_secret").write_text("the same for both")
    (calm.root / ".course_secret").write_text("the same for both")
    for course in (calm, stormy):
        class_of_many(course, SIZE)
    started = time.monotonic()
    assert start(calm).wait() == 1  # some of the class handed in half a file
    whole = time.monotonic() - started
    moments = random.Random(20)  # noqa: S311 - moments to stop at
    for number in range(8):
        process = start(stormy)
        try:
            process.wait(whole * moments.uniform(0.1, 1.1))
        except subprocess.TimeoutExpired:
            how = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[number % 3]
            os.killpg(process.pid, how)
            process.wait()
    assert start(stormy).wait() == 1
    assert len({row[1] for row in cells(calm)}) == SIZE
    assert cells(stormy) == cells(calm)
    # The pages name the folder nowhere, so they are the same to the byte.
    assert given_back(stormy) == given_back(calm)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_told_to_stop_enters_what_it_has(course, number, status):
    """Ctrl-C, and a polite kill: what was graded is in the gradebook, every process ends, the exit status says so."""
    class_of_many(course, SIZE)
    process = start(course)
    wait_for(process, f"7 of {SIZE}")
    process.send_signal(number)
    said = process.stderr.read()
    assert process.wait() == status, said
    assert "the same command goes on from here" in said
    assert all_ended(process.pid)
    entered = {row[1] for row in cells(course)}
    assert 7 <= len(entered) < SIZE


def test_a_grading_process_that_is_killed_loses_nothing(course):
    """Kill -9 of a grading process in the middle of a run: its notebook goes to another, and everybody is graded."""
    class_of_many(course, 9)
    killed = []

    def kill_one(_verdict):
        if not killed:
            killed.append(multiprocessing.active_children()[0])
            killed[0].kill()

    verdicts = grade_class(course, CHAPTER, handed_in(course, CHAPTER), workers=2, on_verdict=kill_one)
    assert killed[0].exitcode == -signal.SIGKILL
    assert [v.status for v in verdicts] == ["graded"] * 9
    assert len({row[1] for row in cells(course)}) == 9


def fragile(_course, _chapter, items, done):
    """What a grading process might do, where some items end it."""
    for position, item in items:
        if item == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "wrong":
            raise ZeroDivisionError(item)
        done(position, item.upper())


def test_an_item_that_kills_every_process_is_told(course):
    """After two processes it is given up, by name of what ended them, and everything else is done."""
    results, lost = {}, {}
    task = Task(course.root, CHAPTER, fragile)
    run_pool(task, ["a", "deadly", "b", "c", "d"], results.__setitem__, lost.__setitem__, 2)
    assert results == {0: "A", 2: "B", 3: "C", 4: "D"}
    assert lost == {1: "was killed by SIGKILL"}


def test_what_a_grading_process_raises_is_raised_at_home(course):
    """A mistake of the course's own is not a student's: it ends the run, and no process stays."""
    with pytest.raises(ZeroDivisionError):
        run_pool(Task(course.root, CHAPTER, fragile), ["a", "wrong"], lambda *_: None, lambda *_: None, 2)
    assert multiprocessing.active_children() == []
