"""The student's own process as a session: functions and variables out of the notebook's names, called right here."""

from __future__ import annotations

import contextlib
import io
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, Any

from autograder.judging.values import arrived, changed_arguments, fresh
from autograder.sandbox.protocol import Answer, Call, CellOutcome, Source, StudentError
from autograder.sanitize import sanitize

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["NamespaceSession"]

MAX_TEXT = 500  # characters of an error


class NamespaceSession:
    """The protocol's ``Session`` over a dictionary of names; ``given`` functions come before the names in it.

    Nothing is confined and nothing is timed: this is the student's own notebook, run by the student.
    """

    sandbox = "in-process"

    def __init__(self, names: Mapping[str, Any], given: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self._names = names
        self._given = dict(given or {})
        self.cells: Sequence[CellOutcome] = ()

    @property
    def alive(self) -> bool:
        """Always: whatever the code does short of ending the process, the next call can be answered."""
        return True

    def names(self) -> frozenset[str]:
        """The names that there are."""
        return frozenset(self._names) | frozenset(self._given)

    def call(self, call: Call) -> Answer:
        """Call one function with copies of the arguments."""
        return self.batch([call])[0]

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Call many; with ``hold`` results are copied only after the last call, so a shared buffer shows."""
        raw = []
        for call in calls:
            value, answer = self._run(call)
            raw.append((value, answer) if hold else (arrived(value), answer))
        return [Answer(arrived(value), answer.error, answer.stopped, answer.changed) for value, answer in raw]

    def value(self, name: str) -> Answer:
        """The value of a variable; a ``NameError`` where there is none."""
        if name not in self._names:
            return Answer(error=StudentError("NameError", f"name {name!r} is not defined"))
        return Answer(arrived(self._names[name]))

    def substitute(self, name: str, function: Callable[..., Any]) -> None:
        """Calls of ``name`` made through this session go to ``function``; the student's own names stay as they are."""
        self._given[name] = function

    def probe(self, source: str, call: Call) -> Answer:
        """Run ``probe(function, *args, **kwargs)`` of ``source`` on the student's function."""
        probe = fresh(Source(source, "probe"))
        function = self._given.get(call.function, self._names.get(call.function))
        return NamespaceSession({}, {"probe": probe}).call(Call("probe", (function, *call.args), call.kwargs))

    def close(self) -> None:
        """There is nothing to end."""

    @contextlib.contextmanager
    def quietly(self) -> Iterator[None]:
        """Swallow what the student's code prints meanwhile."""
        with contextlib.redirect_stdout(io.StringIO()):
            yield

    def _run(self, call: Call) -> tuple[Any, Answer]:
        function = self._given.get(call.function, self._names.get(call.function))
        if not callable(function):
            name = call.function
            text = f"{name} is not a function" if name in self._names else f"name {name!r} is not defined"
            return None, Answer(error=StudentError("TypeError" if name in self._names else "NameError", text))
        args = tuple(fresh(value) for value in call.args)
        kwargs = {name: fresh(value) for name, value in call.kwargs.items()}
        try:
            # A warning on stderr costs marks under stock nbgrader, so neither warnings nor stderr get that far.
            with warnings.catch_warnings(), contextlib.redirect_stderr(sys.stdout):
                warnings.simplefilter("ignore")
                value = function(*args, **kwargs)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the student's code raises is its answer
            return None, Answer(error=_error(error, function))
        return value, Answer(changed=changed_arguments(call, args, kwargs))


def _error(error: BaseException, function: Callable[..., Any]) -> StudentError:
    frame = _students_frame(error, function)
    return StudentError(
        type=type(error).__name__,
        message=sanitize(_text(error), MAX_TEXT),
        line=sanitize(frame.line or "", MAX_TEXT) if frame else "",
        lineno=frame.lineno if frame else None,
        where=frame.name if frame else "",
    )


def _students_frame(error: BaseException, function: Callable[..., Any]) -> traceback.FrameSummary | None:
    """The innermost frame in code that the student wrote: what NumPy did inside is not what to look at."""
    names = getattr(function, "__globals__", None)
    found = None
    trace: types.TracebackType | None = error.__traceback__
    while trace is not None:
        if names is not None and trace.tb_frame.f_globals is names:
            found = trace
        trace = trace.tb_next
    if found is None:
        return None
    [summary] = traceback.extract_tb(found, limit=1)
    return summary


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a message that raises is no message
        return ""
