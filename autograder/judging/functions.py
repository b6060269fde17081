"""Functions we trust (references, misconceptions, alternatives, mutants) behind the same face as a jailed student."""

from __future__ import annotations

import signal
import threading
import traceback
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from autograder.judging.values import arrived, changed_arguments, fresh
from autograder.sandbox.protocol import Answer, Call, CellOutcome, Source, StudentError

__all__ = ["InProcessSession"]


class _OutOfTimeError(BaseException):
    """Raised by the alarm: no ``except Exception`` of a mutant catches it."""


class InProcessSession:
    """A ``Session`` over functions and values of this process; for code that the course's author wrote, or derived from it."""

    sandbox = "in-process"
    cells: Sequence[CellOutcome] = ()

    def __init__(self, namespace: Mapping[str, Any], *, call_seconds: float | None = None) -> None:
        self._namespace = dict(namespace)
        self._seconds = call_seconds
        self._stopped = ""

    @property
    def alive(self) -> bool:
        """False once a call has been stopped."""
        return not self._stopped

    def names(self) -> frozenset[str]:
        """The names that can be called or read."""
        return frozenset(self._namespace)

    def call(self, call: Call) -> Answer:
        """Call one function on fresh copies of its arguments."""
        return self.batch([call])[0]

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Call many; with ``hold`` results are copied only after the last call."""
        answers: list[Answer] = []
        raw: list[Any] = []
        for call in calls:
            answer, value = self._run(call)
            answers.append(answer)
            raw.append(value if hold else arrived(value))
        return [
            Answer(arrived(v) if hold else v, a.error, a.stopped, a.changed) for a, v in zip(answers, raw, strict=True)
        ]

    def value(self, name: str) -> Answer:
        """The value of a variable."""
        if name not in self._namespace:
            return Answer(error=StudentError("NameError", f"name '{name}' is not defined"))
        return Answer(arrived(self._namespace[name]))

    def substitute(self, name: str, function: Callable[..., Any]) -> None:
        """Replace a name, in the functions' own globals too, by another function."""
        self._namespace[name] = function

    def probe(self, source: str, call: Call) -> Answer:
        """Run ``probe(function, …)``."""
        return self.call(replace(call, probe=source))

    def close(self) -> None:
        """Nothing to end."""

    def _run(self, call: Call) -> tuple[Answer, Any]:
        if self._stopped:
            return Answer(stopped=self._stopped), None
        if call.function not in self._namespace:
            return Answer(error=StudentError("NameError", f"name '{call.function}' is not defined")), None
        function = self._namespace[call.function]
        if call.probe:
            function = partial(fresh(Source(call.probe, "probe")), function)
        args = tuple(fresh(a) for a in call.args)
        kwargs = {k: fresh(v) for k, v in call.kwargs.items()}
        try:
            with _quiet(), _alarm(self._seconds), _memory(call.memory_mb):
                value = function(*args, **kwargs)
        except _OutOfTimeError:
            self._stopped = "timeout"
            return Answer(stopped="timeout"), None
        except Exception as error:  # noqa: BLE001 - whatever the code raises is its answer
            return Answer(error=_told(error), changed=changed_arguments(call, args, kwargs)), None
        return Answer(changed=changed_arguments(call, args, kwargs)), value


def _told(error: Exception) -> StudentError:
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    return StudentError(
        type(error).__name__, str(error), (last.line or "") if last else "", last.lineno if last else None
    )


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _memory(limit_mb: int | None) -> Iterator[None]:
    """Raise ``MemoryError`` afterwards where more was taken at some moment; a jailed child is stopped in the act."""
    if limit_mb is None:
        yield
        return
    tracemalloc.start()
    try:
        yield
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if taken > limit_mb << 20:
        raise MemoryError(f"{taken >> 20} MiB were taken, and {limit_mb} MiB allowed")


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    if seconds is None or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, frame: FrameType | None) -> None:
        # What is raised inside a callback of the garbage collector, and Hypothesis has one, is swallowed with a warning.
        if frame is None or frame.f_code.co_name != "gc_callback":
            raise _OutOfTimeError

    before = signal.signal(signal.SIGALRM, ring)
    # It rings again and again, for where it could not raise and where what it raised was swallowed all the same.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.25)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
