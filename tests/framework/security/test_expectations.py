"""Test that expected results stay on the trusted side: no frame sent to a child process contains them, and a child that searches for them finds none."""

import inspect
from contextlib import closing
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.checking import assert_matches, assert_string, grades_tests
from autograder.checking.agreement import ReferenceComparison
from autograder.checking.asserts import CheckFailed
from autograder.checking.call_source import track_answers
from autograder.checking.plots import plot_probe_text
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import CodeCell, Limits

LIMITS = Limits(call_seconds=2.0, cell_seconds=2.0, submission_seconds=30.0, memory_mb=512)
# No child may see this text or this number. The tests search for the number's digits and bytes.
TEXT, NUMBER = "ZebraCrossing", 918_273

RIGHT = f"""
class {TEXT}(ValueError): pass

def root(x):
    if x < 0:
        raise ValueError("no {TEXT}")
    return x ** 0.5

def greet(name): print("Hello, {TEXT}")

def numbers():
    yield {NUMBER}

def count(x): return {NUMBER} * x

class Stack:
    def pop(self): raise {TEXT}("{TEXT}")

def draw(x): return "{TEXT}"

def test_median(median): assert median([3, 1, 2]) == 2
"""
HONEST = RIGHT


def median(numbers):
    """Return the median."""
    return sorted(numbers)[len(numbers) // 2]


def unsorted(numbers):
    """Return the middle item without sorting ``numbers``."""
    return numbers[len(numbers) // 2]


class Median:
    """The check of an exercise in which students write tests."""

    __exercise__ = SimpleNamespace(name="test_median")
    test_bugs = grades_tests({f"is a {TEXT}": unsorted}, right=[median], points=1)


def steps_of(student, **limits):
    """Count the steps of one call."""
    student.within(**limits).count(np.arange(3))


# Checks with every type of probe and expectation, and whether the source above passes each check.
ASKED = {
    "an error and its text": (lambda a: a.raises(ValueError, says=TEXT).root(-1), True),
    "an error by its name": (lambda a: a.raises(TEXT).root(-1), False),
    "another text": (lambda a: a.raises(ValueError, says=f"{TEXT}{NUMBER}").root(-1), False),
    "what is printed": (lambda a: a.printed().greet("Ann"), True),
    "a given output": (lambda a: a.student.printed(f"Hello, {TEXT}").greet("Ann"), True),
    "items": (lambda a: a.take(1).numbers(), True),
    "a value": (lambda a: a.count(np.arange(3)), True),
    "a value by hand": (lambda a: assert_matches(a.student.count(1), NUMBER), True),
    "an object's error": (lambda a: a.Stack().pop(), True),
    "steps": (lambda a: steps_of(a.student, steps=NUMBER), True),
    "calls": (lambda a: steps_of(a.student, calls={"root": NUMBER}), True),
    "growth": (lambda a: steps_of(a.student, larger=[np.arange(12)], growth=NUMBER), True),
    "students' tests": (lambda a: Median.test_bugs(Median(), a.student, np.random.default_rng(0)), True),
    "a variable": (lambda a: assert_string(a.student["answer"]), True),
}  # fmt: skip


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def worker(request):
    """One worker for a whole class."""
    with open_worker(LIMITS, ["numpy"], confinement=request.param) as made:
        yield made


class Recorder:
    """A wrapper of a channel that keeps all frames sent through it."""

    def __init__(self, channel):
        self._channel, self.sent = channel, []

    def send(self, frame, deadline):
        """Send a frame, and keep a copy."""
        self.sent.append(bytes(frame))
        self._channel.send(frame, deadline)

    def __getattr__(self, name):
        return getattr(self._channel, name)


@pytest.fixture
def ask(worker):
    """A function that runs one check on a student's source. It returns why the check failed ("" if it passed) and all that was sent."""
    right = {}
    exec(RIGHT, right)  # noqa: S102 - our own text
    reference = ReferenceProxy({name: right[name] for name in ("root", "greet", "numbers", "count", "Stack", "draw")})

    def asked(source, check):
        cells = [CodeCell(0, "numpy", "import numpy as np\nanswer = 'mine'"), CodeCell(1, "cell", dedent(source))]
        with closing(worker.open(cells)) as session, track_answers():
            session._channel = recorder = Recorder(session._channel)
            talk = ExerciseSession(
                lambda: session,
                limits=LIMITS,
                classes={"Stack"},
                right=reference.answer,
                signature=lambda name: inspect.signature(right[name]) if name in right else None,
            )
            try:
                check(ReferenceComparison(StudentProxy(talk), reference))
            except CheckFailed as failed:
                return failed.reason, b"".join(recorder.sent)
            return "", b"".join(recorder.sent)

    return asked


@pytest.mark.parametrize("name", ASKED)
def test_no_frame_contains_what_is_expected(ask, name):
    """Neither probes nor arguments nor limits reveal the right result to the child."""
    check, passes = ASKED[name]
    reason, sent = ask(HONEST, check)
    assert (reason == "") is passes, reason
    assert sent
    for hidden in (TEXT.encode(), str(NUMBER).encode(), NUMBER.to_bytes(8, "little")):
        assert hidden not in sent


def test_a_probe_of_pictures_is_the_same_for_every_picture():
    """The probe depends only on whether the texts in a picture are checked, and not on the expected picture."""
    assert {plot_probe_text(texts=texts) for texts in (True, False)} == {
        plot_probe_text(texts=t) for t in (False, True)
    }
    assert TEXT not in plot_probe_text(texts=True)


# Search everything reachable from the callers' frames and the garbage collector: locals, globals, constants of code.
SEARCH = """
import gc, sys

def found(is_it):
    frame, waiting, seen = sys._getframe(), [], set()
    while frame is not None:
        waiting += [frame.f_locals, frame.f_globals, frame.f_code.co_consts, frame.f_code.co_names]
        frame = frame.f_back
    waiting += gc.get_objects()
    while waiting and len(seen) < 400_000:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if is_it(item):
            return item
        if type(item) in (dict, list, tuple, set):
            waiting += [*item.values(), *item] if type(item) is dict else item
        elif hasattr(item, "co_consts"):
            waiting += item.co_consts
"""
FORGERS = {
    "an error and its text": """
def root(x):
    text = found(lambda item: type(item) is str and len(item) < 50 and item.startswith("Zebra") and item[5:] == "Crossing")
    raise ValueError(text or "nothing was found")
""",
    "an error by its name": """
def root(x):
    name = found(lambda item: type(item) is str and len(item) < 50 and item.startswith("Zebra") and item[5:] == "Crossing")
    raise type(name or "Nothing", (Exception,), {})("found")
""",
    "a value by hand": """
def count(x):
    return found(lambda item: type(item) is int and item + 1 == 918_274)
""",
    "items": """
def numbers():
    return [found(lambda item: type(item) is int and item + 1 == 918_274)]
""",
}


@pytest.mark.parametrize("name", FORGERS)
def test_a_child_that_searches_finds_nothing(ask, name):
    """A function that searches for the expected result fails the check, and honest code before and after it gets the usual outcome."""
    check, passes = ASKED[name]
    before, _sent = ask(HONEST, check)
    failure, _sent = ask(SEARCH + FORGERS[name], check)
    after, _sent = ask(HONEST, check)
    assert failure != ""
    assert (before == after == "") is passes


def test_the_search_finds_what_is_there(ask):
    """In a child that does contain the text, the same search finds it, so the test above can fail."""
    source = SEARCH + "kept = ['ZebraCrossing']\n" + FORGERS["an error and its text"]
    assert ask(source, ASKED["an error and its text"][0])[0] == ""


def test_an_error_of_the_machinery_is_not_an_expected_error(ask):
    """A missing function causes a NameError, which does not count as the expected NameError."""
    reason, _sent = ask("del answer", lambda agrees: agrees.raises(NameError).root(-1))
    assert reason.startswith("There is no function called root")
    reason, _sent = ask("def root(x): return nowhere", lambda agrees: agrees.raises(NameError).root(-1))
    assert reason == ""


def test_the_text_of_an_error_is_compared_without_control_characters(ask):
    """The child's error text is cleaned and shortened before it is compared, and so is the expected text."""
    source = "def root(x): raise ValueError('a\\x07b' + 'x' * 100_000)"
    assert ask(source, lambda agrees: agrees.raises(ValueError, says="a\x07b").root(-1))[0] == ""
    reason, _sent = ask(source, lambda agrees: agrees.raises(ValueError, says="y").root(-1))
    assert len(reason) < 500
