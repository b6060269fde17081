"""Tests of running edited definitions in a child: each behaves as if it were in the notebook, and is removed afterwards."""

import gc
import time
from contextlib import closing

import pytest

from autograder.judging.functions import FunctionSession
from autograder.sandbox.protocol import Call, EditableSession

from .conftest import cells

NOTEBOOK = """
total = 0
def helper(x):
    return x + 1
kept = helper
def f(x, inner=helper):
    return helper(x) + kept(x) + inner(x)
"""


def test_programs_are_tried_one_after_another_and_leave_nothing_behind(everywhere):
    """A helper is replaced everywhere, names that an edit defines are removed afterwards, and a program that fails does not affect the others."""
    with closing(everywhere.open(cells(NOTEBOOK))) as session:
        assert isinstance(session, EditableSession)
        programs = [
            {"helper": "def helper(x):\n    return x * 10\n"},
            {"helper": "def helper(x):\n    global total, new\n    total = new = 5\n    return x\n"},
            {"helper": "def helper(x):\n    return x[0]\n"},
            {"helper": "def helper(x:\n"},
            {"f": "def f(x):\n    while True: pass\n"},
            {"f": "def f(x):\n    return total, 'new' in globals()\n"},
        ]
        found = session.run_variants(programs, [Call("f", (1,)), Call("f", (2,))], 0.3)
        assert [a.value for a in found[0]] == [30, 60]
        assert [a.value for a in found[1]] == [3, 6]
        assert [a.error.type for a in found[2]] == ["TypeError"] * 2
        assert [a.error.type for a in found[3]] == ["SyntaxError"] * 2
        assert [a.stopped for a in found[4]] == ["timeout"] * 2
        assert [a.value for a in found[5]] == [(0, False)] * 2
        assert session.call(Call("f", (1,))).value == 6


def test_the_garbage_collector_takes_no_time_from_a_call():
    """In a process with many objects, one collection takes longer than a call may. It does not stop the call."""
    source = "def f(x):\n    return len([[] for _ in range(200_000)])\n"

    def collect_slowly(phase, _):
        until = time.process_time() + 0.3
        while phase == "start" and time.process_time() < until:
            pass

    gc.callbacks.append(collect_slowly)
    try:
        [[answer]] = FunctionSession({"f": len}).run_variants([{"f": source}], [Call("f", (1,))], 0.2)
    finally:
        gc.callbacks.remove(collect_slowly)
    assert answer.value == 200_000
    assert gc.isenabled()


def test_a_definition_stays_until_it_is_taken_back(run):
    """A definition made by ``define`` stays until ``reset``. Invalid definitions are rejected."""
    session = run(NOTEBOOK)
    session.define({"helper": "def helper(x):\n    return 0\n"})
    assert session.call(Call("f", (1,))).value == 0
    session.reset()
    assert session.call(Call("f", (1,))).value == 6
    with pytest.raises(ValueError, match="cannot be defined"):
        session.define({"helper": "def helper(x:\n"})


def test_a_program_that_ends_the_child_ends_the_round(run):
    """Programs before the deadly one have answers, and later programs have none. The session has ended."""
    session = run(NOTEBOOK)
    ends = {"f": "import os\ndef f(x):\n    os._exit(0)\n"}
    same = {"helper": "def helper(x):\n    return x + 1\n"}
    found = session.run_variants([same, ends, same], [Call("f", (1,))], 1.0)
    assert [[a.value for a in answers] for answers in found] == [[6], [], []]
    assert not session.alive
