"""Test the answer cache: answers with equal bytes are shared, and no submission can change another submission's answer."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.sandbox.protocol import Answer, Call, Script
from autograder.sandbox.session import AnswerCache

HEAD = b'{"value":1,"changed":[]}'


def test_the_same_bytes_are_the_same_answer():
    """Header and array bytes together identify an answer."""
    cache = AnswerCache()
    assert cache.get(HEAD, b"") is None
    kept = cache.keep(HEAD, b"", Answer(1))
    other = cache.keep(HEAD, b"\0" * 16, Answer(2))
    assert cache.get(HEAD, b"") is kept
    assert cache.get(HEAD, b"\0" * 16) is other
    assert kept.serial != other.serial
    assert kept == Answer(1)  # only the grader uses the serial number


def test_a_large_answer_is_not_kept():
    """A large answer is decoded again each time, and has no serial number."""
    cache = AnswerCache()
    assert cache.keep(HEAD, bytes(1 << 15), Answer(1)).serial is None
    assert cache.keep(HEAD, bytearray(16), Answer(1)).serial is None
    assert cache.get(HEAD, bytearray(16)) is None


def test_a_full_table_is_emptied_and_no_number_comes_twice():
    """A full cache is emptied, and no serial number is used twice."""
    cache = AnswerCache(size=50_000)
    serials = [cache.keep(HEAD, number.to_bytes(16, "big"), Answer(number)).serial for number in range(500)]
    assert len(set(serials)) == 500
    assert cache.get(HEAD, (0).to_bytes(16, "big")) is None
    assert cache.get(HEAD, (499).to_bytes(16, "big")).value == 499
    assert AnswerCache().keep(HEAD, b"", Answer(1)).serial not in serials


def test_students_who_answer_alike_share_a_number(run):
    """Equal answers from different notebooks share a serial number, and different answers do not."""
    first = run("import numpy as np\ndef f(x): return x * 2.0")
    second = run("import numpy as np\ndef f(x): return x + x")
    third = run("import numpy as np\ndef f(x): return x * 2.0 + (x == 1) * 1e-12")
    script = Script([Call("f", (np.zeros(2),)), Call("f", (np.ones(2),)), Call("f", ("ab",))])
    a, b, c = ([answer.serial for answer in session.batch(script)] for session in (first, second, third))
    assert None not in a
    assert a[:2] == b[:2]
    assert a[0] == c[0]
    assert a[1] != c[1]
    assert a[2] != b[2]  # a TypeError in the first notebook, "abab" in the second


def test_nobody_can_write_into_a_shared_answer(run):
    """The arrays of an answer are read-only, because another student may share the answer."""
    answer = run("import numpy as np\ndef f(): return np.zeros(3)").call(Call("f"))
    with pytest.raises(ValueError, match="read-only"):
        answer.value[0] = 1.0


def test_a_script_asks_what_a_list_asks(run):
    """A script, whose encoding is cached, gives the same results as a list of calls, with and without ``hold``."""
    source = "import numpy as np\nbuffer = np.zeros(1)\ndef f(x):\n    buffer[:] = x\n    return buffer"
    calls = [Call("f", (n,)) for n in range(3)]
    script = Script(calls)
    for _ in range(2):
        session = run(source)
        for hold in (False, True):
            said = [answer.value.tolist() for answer in session.batch(script, hold=hold)]
            assert said == [answer.value.tolist() for answer in run(source).batch(calls, hold=hold)]
    assert sorted(script.frames) == [False, True]


def test_the_plain_part_of_a_script():
    """Calls with a probe or their own memory limit are not in the plain part."""
    plain, probed, limited = Call("f"), Call("f", probe="def probe(f): pass"), Call("f", memory_mb=64)
    assert Script([plain, probed, limited, plain]).plain == (plain, plain)
    script = Script([plain])
    assert script.plain is script
