"""Test memory limits: a function that builds the whole table fails, and a function that works in blocks passes."""

import numpy as np
import pytest

from autograder.checking.asserts import CheckFailed
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.functions import FunctionSession
from autograder.judging.proxies import StudentProxy
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import CodeCell, Limits

CODE = """
import numpy as np

def whole(x):
    return (x[:, None] * x[None, :]).sum(axis=1)

def in_blocks(x):
    return np.concatenate([(x[i : i + 100, None] * x[None, :]).sum(axis=1) for i in range(0, len(x), 100)])

def ends(x):
    import os
    os._exit(1)  # as OpenBLAS does without memory
"""
X = np.linspace(0, 1, 6000)  # the whole table takes 275 MiB


@pytest.fixture(params=["in-process", "bubblewrap"])
def student(request):
    """A student with the two functions, in this process and in the sandbox."""
    if request.param == "in-process":
        namespace: dict = {}
        exec(CODE, namespace)  # noqa: S102 - the text above
        session = FunctionSession(namespace)
        yield StudentProxy(ExerciseSession(lambda: session))
        return
    with open_worker(Limits(), ["numpy"]) as worker:
        cells = [CodeCell(0, "code", CODE)]
        session, narrow = worker.open(cells), {}

        def limited(memory_mb):
            return narrow.setdefault(memory_mb, worker.open(cells, memory_mb=memory_mb))

        yield StudentProxy(ExerciseSession(lambda: session, limited=limited))


def test_without_a_limit_both_forms_answer(student):
    """Without a limit, the two functions return the same result."""
    assert np.allclose(student.whole(X), student.in_blocks(X))


def test_blocks_fit_into_the_limit_and_the_whole_table_does_not(student):
    """The function that works in blocks stays within the limit. The other function fails, and the message gives the limit."""
    assert student.within(memory_mb=64).in_blocks(X).shape == X.shape
    with pytest.raises(CheckFailed, match="whole takes more than the 64 MiB that it may use") as failure:
        student.within(memory_mb=64).whole(X)
    assert failure.value.kind == "memory"


def test_a_process_that_ends_in_a_limited_call_has_no_memory():
    """Compiled code may end the process if it gets no memory, so the message is about memory. Without a limit, it is not."""
    with open_worker(Limits(), ["numpy"]) as worker:
        cells = [CodeCell(0, "code", CODE)]

        def open_session(memory_mb=None):
            return worker.open(cells, memory_mb=memory_mb)

        for limit, words in ((64, "takes more than the 64 MiB that it may use"), (None, "ended the Python process")):
            student = StudentProxy(ExerciseSession(open_session, limited=open_session))
            with pytest.raises(CheckFailed, match=words):
                (student if limit is None else student.within(memory_mb=limit)).ends(X)
