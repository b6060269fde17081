"""Tests of call outcomes other than values: errors that should be raised, printed text and generators."""

import inspect
import linecache
from contextlib import closing

import numpy as np
import pytest

from autograder.checking.agreement import ReferenceComparison
from autograder.checking.asserts import CheckFailed
from autograder.checking.call_source import track_answers
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.functions import FunctionSession
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import CodeCell, Limits

RIGHT = """
def root(x):
    if x < 0:
        raise ValueError("a negative number has no root")
    return x ** 0.5

def greet(name, times=1):
    for _ in range(times):
        print("Hello, " + name)

def naturals():
    n = 0
    while True:
        yield n
        n += 1
"""
LIMITS = Limits(call_seconds=0.5, cell_seconds=2.0, submission_seconds=30.0)


@pytest.fixture(scope="module")
def worker():
    """A sandboxed worker for all tests."""
    with open_worker(LIMITS, ["numpy"], confinement="auto") as made:
        yield made


@pytest.fixture
def told(worker):
    """A function that runs ``ask(agrees)`` on a student's source in the sandbox and in this process.

    It returns the reason of each failure, or "" for a check that passes.
    """
    right = {}
    exec(RIGHT, right)  # noqa: S102 - our own text
    reference = ReferenceProxy({name: right[name] for name in ("root", "greet", "naturals")})

    def failure(session, ask):
        conversation = ExerciseSession(
            lambda: session, limits=LIMITS, signature=lambda name: inspect.signature(right[name])
        )
        with track_answers():
            try:
                ask(ReferenceComparison(StudentProxy(conversation), reference))
            except CheckFailed as failed:
                return failed.reason
        return ""

    def reasons(source, ask):
        names = {"np": np}
        linecache.cache["<own>"] = (0, None, (RIGHT + source).splitlines(keepends=True), "<own>")
        exec(compile(RIGHT + source, "<own>", "exec"), names)  # noqa: S102 - our own text
        here = failure(FunctionSession(names, call_seconds=0.5), ask)
        with closing(worker.open([CodeCell(0, "cell", RIGHT + source)])) as session:
            there = failure(session, ask)
        return here, there

    return reasons


CASES = [
    ("", lambda a: a.raises(ValueError).root(-1), ""),
    ("", lambda a: a.raises(ValueError, says="negative").root(-1), ""),
    ("", lambda a: a.raises(TypeError, ArithmeticError, "ValueError").root(-1), ""),
    ("class Own(ValueError): pass\ndef root(x): raise Own", lambda a: a.raises(ValueError).root(-1), ""),
    ("class ValueError(ValueError): pass\ndef root(x): raise ValueError('own')", lambda a: a.raises(ValueError).root(-1), ""),
    ("class ValueError(Exception): pass\ndef root(x): raise ValueError('own')", lambda a: a.raises(ValueError).root(-1),
     ("root stopped with ValueError: own", " Here Python's own ValueError is expected, but this is another class with the same name.")),
    ("import numpy as np\ndef root(x): raise np.linalg.LinAlgError", lambda a: a.raises(np.linalg.LinAlgError).root(-1), ""),
    ("import numpy as np\ndef root(x): raise np.linalg.LinAlgError", lambda a: a.raises("LinAlgError").root(-1), ""),
    ("class LinAlgError(Exception): pass\ndef root(x): raise LinAlgError", lambda a: a.raises(np.linalg.LinAlgError).root(-1),
     (" Here a numpy.linalg.LinAlgError is expected.",)),
    ("class LinAlgError(Exception): pass\nLinAlgError.__module__ = 'numpy.linalg'\ndef root(x): raise LinAlgError",
     lambda a: a.raises(np.linalg.LinAlgError).root(-1), (" Here a numpy.linalg.LinAlgError is expected.",)),
    (("class Meta(type):\n    __mro__ = __name__ = property(lambda kind: (ValueError, 'ValueError')[0])\n"
     "class Own(Exception, metaclass=Meta): pass\ndef root(x): raise Own"), lambda a: a.raises(ValueError).root(-1), (" Here a ValueError is expected.",)),
    ("def root(x): return 0", lambda a: a.raises(ValueError).root(-1), "root(-1) should raise a ValueError, but it returned 0."),
    ("def root(x): print('no')", lambda a: a.raises(ValueError).root(-1), "root(-1) should raise a ValueError, but it returned None."),
    ("def root(x): raise ValueError('no')", lambda a: a.raises(ValueError, says="negative").root(-1),
     "root(-1) should raise a ValueError whose message contains 'negative', but its message is 'no'."),
    ("def root(x):\n    return x.real_root", lambda a: a.raises(ValueError).root(-1),
     ("root stopped with AttributeError: 'int' object has no attribute 'real_root'", "`return x.real_root`", " Here a ValueError is expected.")),
    ("def root(x):\n    return BaseException", lambda a: a.raises("NotEnough").root(-1),
     "root(-1) should raise a NotEnough, but it returned a type."),
    ("", lambda a: a.printed().greet("Ann", times=2), ""),
    ("def greet(name, times=1): print('Hello, Ann  \\n\\n')", lambda a: a.printed().greet("Ann"), ""),
    ("def greet(name, times=1): print('Hello, Ann ')", lambda a: a.printed(exactly=True).greet("Ann"),
     r"greet('Ann') prints 'Hello, Ann \n' instead of 'Hello, Ann\n': only the whitespace at the start or end differs."),
    ("def greet(name, times=1): print('Hello', name)", lambda a: a.printed().greet("Ann", times=2), "greet('Ann', times=2) prints 'Hello Ann' in line 1 instead of 'Hello, Ann'."),
    ("def greet(name, times=1): print('Hello, ' + name)", lambda a: a.printed().greet("Ann", times=2), "greet('Ann', times=2) prints 1 line instead of 2: line 2, 'Hello, Ann', is missing."),
    ("def greet(name, times=1): return 'Hello, ' + name", lambda a: a.printed().greet("Ann"),
     "greet('Ann') prints nothing instead of 'Hello, Ann'. It returns 'Hello, Ann' but does not print it: use `print`."),
    ("def greet(name, times=1): print('none')", lambda a: a.printed().greet("Ann", times=0), "greet('Ann', times=0) prints 'none' but should print nothing."),
    ("def greet(name, times=1):\n    while True:\n        print(name * 1000)", lambda a: a.printed().greet("Ann"), ("greet was stopped after 0.5 seconds",)),
    ("", lambda a: a.take(5).naturals(), ""),
    ("", lambda a: a.naturals(), ""),
    ("def naturals(): return iter([0, 1, 3])", lambda a: a.take(3).naturals(), "At position 3 of the list, there is 3 instead of 2."),
    ("def naturals(): return 7", lambda a: a.take(3).naturals(), ("it returns a value of type int, which has no items to take one after another",)),
    ("def naturals():\n    yield 0\n    yield 1 / 0", lambda a: a.naturals(), ("naturals stopped with ZeroDivisionError: division by zero",)),
    ("def naturals():\n    yield 0\n    while True: pass", lambda a: a.naturals(), ("naturals was stopped after 0.5 seconds",)),
    ("def naturals():\n    n = 1\n    while True:\n        yield n\n        n += 1", lambda a: a.naturals(), "At position 1 of the generator, there is 1 instead of 0."),
]  # fmt: skip


@pytest.mark.parametrize(("source", "ask", "words"), CASES, ids=range(len(CASES)))
def test_what_a_call_does_is_told_alike_in_the_jail_and_in_a_notebook(told, source, ask, words):
    """The messages about errors, printed text and a generator's items are the same in the sandbox and in this process."""
    for reason in told(source, ask):
        if isinstance(words, str):
            assert reason == words
        else:
            assert [part for part in words if part not in reason] == []


def test_what_was_printed_is_there_to_be_asserted_about(told):
    """The printed text is returned as one string, without insignificant white space."""
    found = []
    told("", lambda agrees: found.append(agrees.student.printed().greet("Ann", times=2)))
    assert found == ["Hello, Ann\nHello, Ann"] * 2


def test_an_author_hears_what_is_missing():
    """An author must name the expected error, and can take only a limited number of items."""
    student = StudentProxy(ExerciseSession(lambda: FunctionSession({})))
    with pytest.raises(ValueError, match="needs the expected error"):
        student.raises()
    with pytest.raises(ValueError, match="between 1 and 10,000 items"):
        student.take(10**6)
