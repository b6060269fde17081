"""Tests of grading students' own tests with planted bugs, and of limiting a function's work, in the sandbox and in this process."""

import os
import re
import subprocess
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from autograder.base.errors import CourseError
from autograder.checking import grades_tests
from autograder.checking.agreement import ReferenceComparison
from autograder.checking.asserts import CheckFailed
from autograder.checking.call_source import track_answers
from autograder.checking.step_counter import rounded_limits
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.functions import FunctionSession
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import CodeCell, Limits

LIMITS = Limits(call_seconds=2.0, cell_seconds=1.5, submission_seconds=30.0, memory_mb=512)


def median(numbers):
    """Return the median."""
    return sorted(numbers)[len(numbers) // 2]


def by_removing(numbers):
    """Return the median, found by removing the extremes."""
    left = list(numbers)
    while len(left) > 2:
        left.remove(max(left))
        left.remove(min(left))
    return left[0]


def unsorted(numbers):
    """Return the middle item without sorting."""
    return numbers[len(numbers) // 2]


def mean(numbers):
    """Return the mean instead of the median."""
    return sum(numbers) / len(numbers)


def crashes(numbers):
    """Return the median, but raise an error for a single number."""
    return sorted(numbers)[len(numbers) // 2 + (len(numbers) == 1)]


BUGS = {"forgets to sort": unsorted, "gives the mean": mean, "stops with an error for a single number": crashes}


class Exercise:
    """A class with the check, as in a check file."""

    __exercise__ = SimpleNamespace(name="test_median")
    test_bugs = grades_tests(BUGS, right=[median, by_removing], points=1, visible=True)


def first_again(words):
    """Return the first repeated word, quickly."""
    met = set()
    for word in words:
        if word in met:
            return word
        met.add(word)
    return None


def fib(n, known=None):
    """Return a Fibonacci number, and remember results."""
    known = {} if known is None else known
    if n < 2:
        return n
    if n not in known:
        known[n] = fib(n - 1, known) + fib(n - 2, known)
    return known[n]


@pytest.fixture(scope="module")
def worker():
    """One worker for all tests."""
    with open_worker(LIMITS, ["numpy"], confinement="bubblewrap") as made:
        yield made


@pytest.fixture
def both(worker):
    """A function that returns a check's message about ``source``, or "" if it passes, after asserting that the sandbox and this process agree."""

    def ask(source, check):
        names = {"__name__": "made_here"}
        exec(source, names)  # noqa: S102 - our own
        with closing(worker.open([CodeCell(0, source.split()[1].partition("(")[0], source)])) as jailed:
            # Source that is run here is in no file, so its lines are unknown.
            here, there = (
                re.sub(r" It happened in the line `.*?`\.", "", said(s, check))
                for s in (FunctionSession(names), jailed)
            )
        assert here == there
        return here

    def said(session, check):
        reference = ReferenceProxy({"first_again": first_again, "fib": fib})
        conversation = ExerciseSession(lambda: session, limits=LIMITS, right=reference.answer)
        student = StudentProxy(conversation, session.names)
        with track_answers():
            try:
                check(student, ReferenceComparison(student, reference))
            except CheckFailed as failure:
                return str(failure)
        return ""

    return ask


def catching(student, _agrees):
    """Run the check of the student's tests."""
    Exercise().test_bugs(student)


RIGHT_TESTS = (
    "    assert median([3, 1, 2]) == 2\n    assert median([5]) == 5\n    assert median([9, 8, 1, 2, 3]) == 3\n"
)
TESTS = {
    "good ones": (RIGHT_TESTS, ""),
    "good ones that return": ("    return median([3, 1, 2]) == 2 and median([5]) == 5 and median([9, 8, 1, 2, 3]) == 3\n", ""),
    "too few": ("    assert median([1, 2, 3]) == 2\n",
        "\n\n".join(f"Your tests accept a median that {bug}." for bug in BUGS)),
    "too strict": (RIGHT_TESTS + "    assert median([1, 2]) == 1\n",
        "Your tests reject a median that is correct. Do they require more than the task says?"),
    "not written yet": ("    raise NotImplementedError\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", TESTS)
def test_what_is_said_of_tests(both, name):
    """The message has one line for each missed bug and does not reveal its code."""
    body, expected = TESTS[name]
    said = both(f"def test_median(median):\n{body}", catching)
    if name == "not written yet":
        assert said.startswith("test_median stopped with NotImplementedError")
    else:
        assert said == expected


def test_tests_that_take_no_function_hear_so(both):
    """If a student's test takes no function, the message says so, and the test does not count as rejecting everything."""
    assert "takes 0 positional arguments but 1 was given" in both("def test_median():\n    pass\n", catching)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({}, [median]), "needs a wrong function in bugs"),
        (({"is wrong": len}, [median]), "whose source cannot be read: write it with `def`"),
    ],
)
def test_an_author_hears_what_catches_lacks(arguments, words):
    """An author must give at least one wrong function, and the source of each function must be readable."""
    bugs, right = arguments
    with pytest.raises(CourseError, match=words):
        grades_tests(bugs, right=right, points=1)


WORDS = [f"w{number}" for number in range(400)]
IN_A_LIST = "def first_again(words):\n    met = []\n    for w in words:\n        if w in met:\n            return w\n        met.append(w)\n"
PAIRS = (
    "def first_again(words):\n    for i in range(len(words)):\n        for j in range(i):\n            if words[i] == words[j]:\n"
    "                return words[i]\n"
)


@pytest.mark.parametrize("source", [IN_A_LIST, PAIRS])
def test_a_loop_inside_of_another_is_counted(both, source):
    """The steps of an `in` that searches a list count too, and the message gives the number of steps."""
    said = both(source, lambda _s, agrees: agrees.within(steps=6000).first_again(WORDS))
    assert "steps. The limit is 6,000, and a correct solution needs 2," in said
    assert said.startswith("Here first_again(a list of 400 items) took ")
    assert "run inside another loop over the same items?" in said


def test_a_quick_function_keeps_to_the_limit(both):
    """A lookup in a set does not count the set's items."""
    source = "def first_again(words):\n    met = set()\n    for w in words:\n        if w in met:\n            return w\n        met.add(w)\n"
    assert both(source, lambda _s, agrees: agrees.within(steps=6000).first_again(WORDS)) == ""


def test_calls_are_counted(both):
    """A recursion that repeats the same calls is stopped long before it ends."""
    said = both(
        "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
        lambda student, _a: student.within(calls={"fib": 100}).fib(30),
    )
    assert said.startswith(
        "Here fib(30) called fib more than 2,000 times. The limit is 100, and a correct solution needs 59."
    )


def test_the_time_of_the_processor_is_limited(both):
    """An endless loop is stopped at the limit, and the next call works."""

    def check(student, agrees):
        with pytest.raises(CheckFailed, match=r"fib\(5\) took more than 0.2 seconds of processor time"):
            student.within(seconds=0.2).fib(5)
        with pytest.raises(CheckFailed, match=r"fib\(-1\) took more than 0.26 seconds of processor time"):
            student.within(seconds=0.26).fib(-1)  # this call ends before the probe would stop it
        agrees.within(seconds=5).fib(1)

    busy = "from time import process_time\ndef fib(n):\n    end = process_time() + 0.3\n    while n > 1 or n < 0 and process_time() < end: pass\n    return n\n"
    assert both(busy, check) == ""


def test_no_limit_enters_the_sandbox_as_it_is():
    """The probe gets rounded limits, because it only has to stop functions that run too long."""
    given = rounded_limits({"steps": 4321, "calls": {"f": 1}, "seconds": 0.3})
    assert given == {"steps": 2000, "calls": {"f": 1000}, "seconds": 0.5}


STRIPPED = [f" w{number} " for number in range(600)]
LARGER = [[f" w{number} " for number in range(2400)]]
CLEANED = "    words = [w.strip() for w in words]\n"


def growing(_student, agrees):
    """Check how the time grows from ``STRIPPED`` to ``LARGER``."""
    agrees.within(larger=LARGER).first_again(STRIPPED)


@pytest.mark.parametrize("source", [IN_A_LIST, PAIRS])
def test_time_that_grows_with_the_square_is_noticed(both, source):
    """Quadratic time is detected even if the words are cleaned first, so that comparing them counts no steps."""
    source = source.replace("(words):\n", f"(words):\n{CLEANED}", 1)
    assert both(source, lambda _s, agrees: agrees.within(steps=30_000).first_again(STRIPPED[:150])) == ""
    said = both(source, growing)
    assert said.startswith(
        "Your function becomes too slow when its input grows: first_again(a list of 2,400 items) takes more than 10 times the "
        "processor time of first_again(a list of 600 items). Does a loop,"
    )


SET = "    met = set()\n    for w in words:\n        if w in met:\n            return w\n        met.add(w)\n"
SORTED = "    ordered = sorted(words)\n    return next((a for a, b in zip(ordered, ordered[1:]) if a == b), None)\n"


@pytest.mark.parametrize("body", [SET, SORTED])
def test_a_busy_machine_makes_no_quick_function_slow(both, body):
    """A quick function passes each time, even if other processes use all processors."""
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        for _ in range(3):
            assert both(f"def first_again(words):\n{CLEANED}{body}", growing) == ""
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def test_a_cache_does_not_hide_slow_code(both):
    """The cache of ``functools`` is emptied before each call."""
    body = PAIRS.replace("def first_again(words)", "@functools.cache\ndef first_again(words)")
    larger, smaller = tuple(LARGER[0]), tuple(STRIPPED)
    said = both(f"import functools\n\n{body}", lambda student, _a: student.within(larger=[larger]).first_again(smaller))
    assert "takes more than 10 times the processor time" in said


def test_both_calls_are_tried_with_copies(both):
    """A function that changes its arguments gets a fresh copy of them for each measurement."""
    source = "def first_again(words):\n    while words:\n        words.pop()\n"
    assert both(source, growing) == ""


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"larger": "text"}, "It must list the arguments of a larger call"),
        ({"larger": []}, "It must list the arguments of a larger call"),
        ({"larger": [[1]], "growth": 1}, "growth=1. It must be a number above 1"),
        ({"larger": [[1]], "growth": True}, "growth=True. It must be a number above 1"),
    ],
)
def test_an_author_reads_what_a_limit_of_growth_lacks(both, limits, words):
    """The message names the invalid option, and says what it should be."""
    with pytest.raises(CourseError, match=words):
        both("def fib(n): pass", lambda student, _a: student.within(**limits))


@pytest.mark.parametrize("limit", [0, -3, 2.5, True])
def test_a_limit_is_a_number(both, limit):
    """If a limit is not a positive whole number, the author gets a message."""
    with pytest.raises(CourseError, match="A limit must be a whole number above 0"):
        both("def fib(n): pass", lambda student, _a: student.within(steps=limit))
