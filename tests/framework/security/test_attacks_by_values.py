"""Test answers that try to win marks or to slow down the trusted side: iterators, ranges, equal hashes, accents, tables."""

import resource
import time
from contextlib import closing
from dataclasses import dataclass
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest

from autograder.checking.agreement import ReferenceComparison
from autograder.checking.asserts import CheckFailed
from autograder.checking.call_source import track_answers
from autograder.checking.findings import matches
from autograder.checking.step_counter import COUNT, limits_of
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.sandbox import open_worker
from autograder.sandbox.guest.wire import Decoder
from autograder.sandbox.guest.wire_limits import WireError
from autograder.sandbox.protocol import Call, CodeCell, Limits
from autograder.sandbox.script import Step, redacted, script
from autograder.values import text_difference

LIMITS = Limits(call_seconds=2.0, cell_seconds=2.0, submission_seconds=20.0, memory_mb=512)
ONE_HASH = [n * (2**61 - 1) for n in range(1, 100_001)]  # numbers that all have the hash 0


@pytest.fixture(scope="module")
def worker():
    """A sandboxed worker."""
    with open_worker(LIMITS, ["numpy"]) as made:
        yield made


def opened(worker, source):
    """Return a session on a notebook of one cell."""
    return closing(worker.open([CodeCell(0, "cell", dedent(source))]))


def decoded(tree, blob=b""):
    """Return the value that the trusted side decodes from a tree."""
    return Decoder(bytearray(blob), lambda _tag, items: items)(tree)


@dataclass
class Clock:
    """A context manager that fails if its block takes ``seconds`` of processor time or more."""

    seconds: float

    def __enter__(self):
        self.started = time.process_time()

    def __exit__(self, *_error):
        assert time.process_time() - self.started < self.seconds


def test_an_iterator_that_was_not_asked_for_all_is_no_answer(worker):
    """An iterator that claims to have more items, but sends fewer than the limit, is refused."""
    source = """
        import sys
        def squares(n):
            wire = next(module for name, module in sys.modules.items() if name.endswith("wire_plain"))
            return wire.Iterated([], more=True)
    """
    with opened(worker, source) as session:
        answer = session.call(Call("squares", (5,)))
    assert answer.value is None
    assert answer.stopped == "protocol"
    with pytest.raises(WireError):
        decoded(["gives", "generator", True, 0, 1])


@pytest.mark.parametrize("order", [None, False])
def test_a_range_is_never_written_out(order):
    """`range(10**17)` is compared without a list of its numbers, which would not fit into any memory."""
    endless = range(10**17)
    for found in (endless, [endless], [endless, endless], {endless}, {"a": endless}):
        with Clock(1.0):
            assert matches(found, [[0, 1], [2, 3]], order=order) is not None
    with pytest.raises(WireError):
        decoded(["range", 0, 10**200, 1])


def test_numbers_of_one_hash_are_compared_as_fast_as_others():
    """Numbers that share a hash are compared quickly. Building a dictionary with them as keys could take hours."""
    with Clock(5.0):
        assert matches(ONE_HASH, [1, 2, 3], order=False) is not None
    assert matches(ONE_HASH[:3], [float(n) for n in ONE_HASH[2::-1]], order=False) is None
    assert matches([1, 2.5, 1j, np.float64(3)], [1j, 3, 2.5, 1.0], order=False) is None


def test_labels_of_one_hash_are_refused():
    """A table is refused if pandas would take long to look up its levels or categories."""
    labels = ["t", "objects", ["l", *ONE_HASH[:5000]]]
    # Whole numbers for which pandas computes the same 32-bit hash.
    lows = [low for low in range(1, 60_000) if (low ^ (low << 11)) & 0x8000_0000 == 0]
    numbers = np.array([((low ^ (low << 11)) & 0x7FFF_FFFF) << 33 | low for low in lows], dtype=np.int64)
    column = ["a", "<i8", [len(numbers)]]
    one = np.zeros(2, np.int64).tobytes()
    for tree, blob in [
        (["t", "index", ["t", "levels", ["l", None, None], ["l", labels, labels]]], b""),
        (["t", "index", ["t", "levels", ["l", None], ["l", column]]], numbers.tobytes()),
        *(
            (
                [
                    "t",
                    "series",
                    None,
                    ["t", "range", None, 0, 1, 1],
                    ["t", "category", ["a", "<i8", [1]], names, False],
                ],
                raw,
            )
            for names, raw in [(labels, one), (column, one + numbers.tobytes())]
        ),
    ]:
        with Clock(2.0), pytest.raises(WireError):
            decoded(["T", tree], blob)
    same = ["t", "objects", ["l", *[-1, -2] * 100]]  # two labels with the same hash in Python
    assert len(decoded(["T", ["t", "index", ["t", "levels", ["l", None, None], ["l", same, same]]]])) == 200


def test_accents_by_the_hundred_thousand_are_not_put_in_order():
    """A string with hundreds of thousands of accents is not normalized, because that takes quadratic time."""
    text = "a" + "\u0315" * 200_000 + "\u0316" * 200_000
    for found in (text, text + "\n", [text]):
        with Clock(2.0):
            assert matches(found, "abc" if isinstance(found, str) else ["abc"]) is not None
    with Clock(2.0):
        assert text_difference("a" + "\u0315\u0316" * 50_000, "abc")[2] == ""


def test_many_wrong_items_are_held_against_many_right_ones_quickly():
    """With ``order=False``, items are compared in pairs only if they differ in nothing but numbers."""
    found = [{f"{i} {j}" for j in range(300)} for i in range(290)]
    with Clock(5.0):
        assert matches([sorted(one) for one in found], [[f"x{i}"] * 300 for i in range(290)], order=False) is not None


RIGHT = """
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item)
    def pop(self): return self.items.pop()
    def copy(self):
        new = Stack()
        new.items = list(self.items)
        return new
"""


def reference():
    """Return a proxy for the right class."""
    names = {}
    exec(RIGHT, names)  # noqa: S102 - our own
    return ReferenceProxy({"Stack": names["Stack"]})


def test_what_equals_everything_is_no_number(worker):
    """A student's object that claims to equal everything does not pass as an expected number. A correct class passes."""
    liar = """
        class Liar:
            __eq__ = __lt__ = __gt__ = __contains__ = lambda self, other: True
            __sub__ = lambda self, other: 0
        class Stack:
            def push(self, item): pass
            def pop(self): return Liar()
    """
    right = reference()
    for source, holds in ((liar, False), (RIGHT, True)):
        with opened(worker, source) as session, track_answers():
            talk = ExerciseSession(lambda: session, classes={"Stack"}, right=right.answer)
            stack = StudentProxy(talk).Stack()
            stack.push(3)
            assert (stack.pop() == 3) is holds
    with opened(worker, RIGHT) as session, track_answers():
        agrees = ReferenceComparison(
            StudentProxy(ExerciseSession(lambda: session, classes={"Stack"}, right=right.answer)), right
        )
        stack = agrees.Stack()
        stack.push(4)
        assert stack.copy().pop() == 4


def test_a_script_does_not_say_where_an_error_is_right(worker):
    """The call sent to the sandbox does not name the expected error."""
    call = script("Stack", [Step("make", None, "Stack"), Step("call", 0, "pop", raises="IndexError")], outcome=True)
    assert "IndexError" in repr(call)
    assert "IndexError" not in repr(redacted(call))
    looks = """
        import sys
        class Stack:
            def pop(self):
                raise KeyError(repr(sys._getframe(2).f_locals))
    """
    with opened(worker, looks) as session:
        value = session.probe(call.probe, call).value
    assert value["raised"][0] == "KeyError"
    assert "pop" in value["text"]
    assert "IndexError" not in value["text"]


def test_the_text_of_an_error_is_cleaned(worker):
    """A student's error is quoted without escapes or lone surrogates, and its length is limited."""
    source = r"""
        class Bad(Exception):
            def __str__(self): return "\x1b[31m\ud800\u202e" + "x" * 5000
        class Stack:
            def pop(self): raise type("A\u202e\x1b[31m", (Bad,), {})()
    """
    right = reference()
    with opened(worker, source) as session, track_answers():
        talk = ExerciseSession(lambda: session, classes={"Stack"}, right=right.answer)
        stack = ReferenceComparison(StudentProxy(talk), right).Stack()
        with pytest.raises(CheckFailed) as failure:
            stack.pop()
    assert failure.value.reason.isprintable()
    assert len(failure.value.reason) < 700
    with pytest.raises(WireError):
        decoded(["gives", "\x1b[31mevil", False])


def test_work_that_is_put_off_is_counted(worker):
    """The step counter includes code that runs when a generator's items are taken, and code in a student's list class."""
    lazy = {
        "a generator": "def f(words):\n    for i, w in enumerate(words):\n        if w in words[:i]: yield w",
        "a map": "def f(words):\n    return filter(None, map(lambda i: words[i] in words[:i], range(len(words))))",
        "a list": """
            def f(words):
                class Lazy(list):
                    def __iter__(self):
                        for i, w in enumerate(words):
                            if w in words[:i]: yield w
                return Lazy()
        """,
    }
    words = [f"w{i}" for i in range(300)]
    for source in lazy.values():
        with opened(worker, source) as session:
            answer = session.probe(COUNT, Call("f", (limits_of(5000, None), [words], {})))
        assert answer.value["steps"] > 40_000


def test_a_long_category_is_not_copied_to_each_row():
    """A string that is the category of twenty thousand rows is stored only once."""
    long = pd.Series(pd.Categorical.from_codes(np.zeros(20_000, np.int8), categories=["x" * 60_000]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Clock(3.0):
        assert matches(long, pd.Series(["a"] * 20_000)).kind == "values"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


@pytest.mark.parametrize("tree", [["o"], ["s"], ["n"], ["times", "<M8", None, 1], ["times", "<M8", [2], 1, 2]], ids=str)
def test_trees_over_which_our_side_would_stumble_are_refused(tree):
    """Malformed trees are refused. For example, dates without a unit would corrupt NumPy's own state."""
    with pytest.raises(WireError):
        decoded(tree)
