"""Test sessions with functions of this process: code that runs too long is stopped, even if it swallows the first alarm."""

from autograder.judging.functions import FunctionSession
from autograder.sandbox.protocol import Call


def test_an_alarm_that_was_swallowed_rings_again():
    """Code that catches the alarm once, as a callback of the garbage collector does, is still stopped."""
    caught = []

    def endless():
        while True:
            try:
                while True:
                    pass
            except BaseException as alarm:
                if caught:
                    raise
                caught.append(alarm)

    session = FunctionSession({"endless": endless}, call_seconds=0.05)
    assert session.call(Call("endless")).stopped == "timeout"
    assert len(caught) == 1
    assert not session.alive
