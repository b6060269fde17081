"""Functions of this process behind the same face as a jailed notebook: a student's own, or those that we trust.

A student's ``check()`` calls the functions of the notebook that it runs in; the trusted side calls references,
misconceptions, alternatives and mutants. NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

import ast
import io
import linecache
import sys
import traceback
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from types import FunctionType, TracebackType
from typing import Any

import numpy as np

from autograder.base.attempt import python_name
from autograder.base.sanitize import sanitize
from autograder.judging.time_limit import OutOfTimeError, alarm
from autograder.judging.values import arrived, changed_arguments, fresh
from autograder.sandbox.guest.failures import shapes_of
from autograder.sandbox.guest.wire_limits import TooBig
from autograder.sandbox.guest.wire_plain import materialize_iterators
from autograder.sandbox.protocol import Answer, Call, CellOutcome, Source, StudentError

__all__ = ["FunctionSession", "FunctionSubject", "OutOfTimeError", "alarm"]

MAX_TEXT = 500  # characters of an error's text or of a line of code


class FunctionSession:
    """A ``Session`` over the functions and values in ``names``; nothing is confined.

    ``given`` functions come before those of the same name. A call takes ``call_seconds`` at most, where that is set; ``stuck``
    is told, in another thread, of a function that cannot be stopped then; ``called`` hears of the end of each call. Seconds
    ``of_processor`` do not count what else a busy machine does.
    """

    sandbox = "in-process"
    cells: Sequence[CellOutcome] = ()

    def __init__(
        self,
        names: Mapping[str, Any],
        *,
        given: Mapping[str, Callable[..., Any]] | None = None,
        call_seconds: float | None = None,
        stuck: Callable[[str], None] | None = None,
        called: Callable[[], None] | None = None,
        of_processor: bool = False,
    ) -> None:
        self._names = names
        self._of_processor = of_processor
        self._given = dict(given or {})
        self._seconds = call_seconds
        self._stuck = stuck
        self._called = called or (lambda: None)
        self._edited: dict[str, Any] = {}
        self._stopped = ""

    @property
    def alive(self) -> bool:
        """False once a call has been stopped."""
        return not self._stopped

    def names(self) -> frozenset[str]:
        """The names that can be called or read."""
        return frozenset(self._names) | frozenset(self._given)

    def call(self, call: Call) -> Answer:
        """Call one function on fresh copies of its arguments."""
        return self.batch([call])[0]

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Call many; with ``hold`` results are copied only after the last call, so that a shared buffer shows."""
        answered: list[tuple[Any, Answer]] = []
        for call in calls:
            value, answer = self._run(call)
            answered.append((value, answer) if hold else (None, _with_value(answer, value)))
        return [_with_value(a, v) if hold else a for v, a in answered]

    def value(self, name: str) -> Answer:
        """The value of a variable; a ``NameError`` where there is none."""
        name = python_name(name)
        if name not in self._names:
            return _undefined(name)
        return _with_value(Answer(), self._names[name])

    def substitute(self, name: str, function: Callable[..., Any]) -> None:
        """Calls of ``name`` made through this session go to ``function``."""
        self._given[name] = function

    def _alarm(self, stuck: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        return alarm(self._seconds, stuck, of_processor=self._of_processor)

    def define(self, sources: Mapping[str, str]) -> None:
        """Let functions be what ``sources`` define, in a copy of the namespace that they live in; raises what running one raises."""
        own = next(
            (self._names[name] for name in sources if isinstance(self._names.get(name), FunctionType | type)), None
        )
        home = (_home(own) if own is not None else None) or self._names
        names = dict(home)
        here = {
            k: v for k, v in {**home, **self._names}.items() if isinstance(v, FunctionType) and v.__globals__ is home
        }
        # The others call the new ones: each looks names up in the copy.
        self._edited = {name: _living_in(names, function) for name, function in here.items()}
        names.update(self._edited)
        names.update({k: v for k, v in self._given.items() if k in names and k not in sources})
        with _without_warnings(), self._alarm():
            for name, source in sources.items():
                exec(compile(source, f"<{name}>", "exec", dont_inherit=True), names)  # noqa: S102 - the student's own text, one edit aside
                self._edited[name] = names[name]

    def reset(self) -> None:
        """Take back what was defined, and begin again after a call that was stopped."""
        self._edited = {}
        self._stopped = ""

    def trials(
        self, programs: Sequence[Mapping[str, str]], calls: Sequence[Call], seconds: float
    ) -> list[list[Answer]]:
        """What each of ``programs`` answers to ``calls``, each call within ``seconds``; nothing where it cannot be defined."""
        before, self._seconds = self._seconds, seconds
        found = []
        for sources in programs:
            try:
                self.define(sources)
                found.append(self.batch(calls))
            except (Exception, SystemExit, OutOfTimeError):  # noqa: BLE001 - an edit may make anything of a definition
                found.append([])
            finally:
                self.reset()
        self._seconds = before
        return found

    def probe(self, source: str, call: Call) -> Answer:
        """Run ``probe(function, …)`` of ``source``."""
        return self.call(replace(call, probe=source))

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Swallow what the code prints meanwhile."""
        with redirect_stdout(io.StringIO()):
            yield

    def close(self) -> None:
        """Nothing to end."""

    def _known(self, name: str) -> Any:
        """What is called ``name`` here; raises ``NameError`` where nothing is."""
        for names in (self._edited, self._given, self._names):
            if name in names:
                return names[name]
        raise NameError(f"name {name!r} is not defined")

    def _run(self, call: Call) -> tuple[Any, Answer]:
        if self._stopped:
            return None, Answer(stopped=self._stopped)
        name = python_name(call.function)
        if name not in self._given and name not in self._names and name not in self._edited:
            return None, _undefined(name)
        own = self._known(name)
        if not callable(own):
            return None, Answer(error=StudentError("TypeError", f"{name} is not a function"))
        function = partial(fresh(Source(call.probe, "probe")), own) if call.probe else own
        try:
            args = tuple(fresh(a, self._known) for a in call.args)
        except NameError as error:
            return None, Answer(error=StudentError("NameError", str(error)))
        kwargs = {k: fresh(v) for k, v in call.kwargs.items()}
        try:
            stuck = partial(self._stuck, name) if self._stuck is not None else None
            # The alarm goes inside the others: it may raise at each step until it has left, also where they tidy up.
            with _without_warnings(), _memory(call.memory_mb), self._alarm(stuck):
                value = materialize_iterators(function(*args, **kwargs))
        except OutOfTimeError as error:
            self._stopped = "timeout"
            return None, Answer(stopped="timeout", at=_error(error, own))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the code raises is its answer
            return None, Answer(error=_error(error, own), changed=changed_arguments(call, args, kwargs))
        finally:
            self._called()
        return value, Answer(changed=changed_arguments(call, args, kwargs))


@dataclass
class FunctionSubject:
    """A subject made of functions and values: opened, it is a ``FunctionSession``."""

    label: str
    names: Mapping[str, Any]
    _: KW_ONLY
    given: Mapping[str, Callable[..., Any]] | None = None
    call_seconds: float | None = None
    stuck: Callable[[str], None] | None = None
    called: Callable[[], None] | None = None
    of_processor: bool = False  # what the seconds are counted by
    waited_for: bool = False  # by a person, so that nothing that took too long is tried again
    notes: Mapping[str, str] = field(default_factory=dict)
    blank: frozenset[str] = frozenset()

    def open(self, *, memory_mb: int | None = None) -> FunctionSession:  # noqa: ARG002 - each call carries its own limit
        """A fresh session over the same names."""
        return FunctionSession(
            self.names,
            given=self.given,
            call_seconds=self.call_seconds,
            stuck=self.stuck,
            called=self.called,
            of_processor=self.of_processor,
        )

    def before_redefined(self, exercise: str) -> None:
        """Nothing is defined twice in a dictionary."""


def _with_value(answer: Answer, value: Any) -> Answer:
    """``answer`` with what ``value`` is once it has crossed to our side, or that it cannot."""
    if answer.error is not None or answer.stopped:
        return answer
    try:
        return Answer(arrived(value), changed=answer.changed)
    except TooBig as error:
        return Answer(error=StudentError("ResultTooBig", f"The result is too big to be looked at: {error}."))
    except Exception as error:  # noqa: BLE001 - a class of the student's may do anything when it is looked at
        return Answer(error=StudentError(type(error).__name__, sanitize(_text(error), MAX_TEXT)))


def _living_in(names: dict[str, Any], function: FunctionType) -> FunctionType:
    """``function`` as it would be had it been defined among ``names``."""
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _undefined(name: str) -> Answer:
    return Answer(error=StudentError("NameError", f"name '{name}' is not defined"))


def _error(error: BaseException, function: Callable[..., Any]) -> StudentError:
    found = _own_frame(error, function)
    frame = traceback.extract_tb(found, limit=1)[0] if found is not None else None
    line, lineno = ((frame.line or ""), frame.lineno) if frame else ("", None)
    if isinstance(error, OutOfTimeError) and frame is not None and lineno is not None:
        line, lineno = _loop_around(frame.filename, lineno) or (line, lineno)
    return StudentError(
        type=type(error).__name__,
        message=sanitize(_text(error), MAX_TEXT),
        line=sanitize(line, MAX_TEXT),
        lineno=lineno,
        where=frame.name if frame else "",
        shapes=shapes_of(line[:MAX_TEXT], found.tb_frame) if found is not None else "",
    )


def _own_frame(error: BaseException, function: Callable[..., Any]) -> TracebackType | None:
    """The innermost frame in the function's own file or notebook: what NumPy does inside is not what to look at."""
    names = _home(function)
    found = None
    trace = error.__traceback__
    while trace is not None:
        if names is not None and trace.tb_frame.f_globals is names:
            # The call that was one too many is what helps, also where Python only notices it inside the function that was called.
            entered = isinstance(error, RecursionError) and trace.tb_lineno == trace.tb_frame.f_code.co_firstlineno
            found = trace if found is None or not entered else found
        trace = trace.tb_next
    return found


def _home(function: Callable[..., Any]) -> Mapping[str, Any] | None:
    """The names among which a function lives, or a class: its methods'."""
    if not isinstance(function, type):
        return getattr(function, "__globals__", None)
    parts = (getattr(part, "__func__", getattr(part, "fget", part)) for part in vars(function).values())
    homes = (
        part.__globals__ for part in parts if isinstance(part, FunctionType) and part.__module__ == function.__module__
    )
    return next(homes, getattr(sys.modules.get(function.__module__), "__dict__", None))


def _loop_around(file: str, lineno: int) -> tuple[str, int] | None:
    """The line that begins the innermost loop around a line: where in its body it was cut short is chance."""
    lines = linecache.getlines(file)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    loops = (node for node in ast.walk(tree) if isinstance(node, ast.While | ast.For))
    around = [loop.lineno for loop in loops if loop.lineno <= lineno <= (loop.end_lineno or loop.lineno)]
    return (lines[max(around) - 1], max(around)) if around else None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a message that raises is no message
        return ""


@contextmanager
def _without_warnings() -> Iterator[None]:
    # A warning on stderr costs marks under stock nbgrader, so neither warnings nor stderr get that far.
    with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stderr(sys.stdout):
        warnings.simplefilter("ignore")
        yield


def _memory(limit_mb: int | None) -> AbstractContextManager[None]:
    """Raise ``MemoryError`` afterwards where more was taken at some moment; a jailed child is stopped in the act."""
    return nullcontext() if limit_mb is None else _traced(limit_mb)


@contextmanager
def _traced(limit_mb: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if taken > limit_mb << 20:
        raise MemoryError(f"{taken >> 20} MiB were taken, and {limit_mb} MiB allowed")
