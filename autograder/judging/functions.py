"""Call functions of this process through the same interface as a sandboxed notebook.

A student's ``check()`` calls the functions of the notebook in which it runs. The grader calls references,
misconceptions, alternatives and mutants. This module needs only NumPy and the standard library, because it also runs
on students' machines.
"""

from __future__ import annotations

import gc
import io
import linecache
import sys
import traceback
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from types import FunctionType, TracebackType

import numpy as np

from autograder.base.attempt import python_name
from autograder.base.foreign import Value
from autograder.base.sanitize import sanitize
from autograder.course.notebook import at_home
from autograder.judging.time_limit import OutOfTimeError, time_limit
from autograder.sandbox.guest.failures import bases_of, loop_around, shapes_of
from autograder.sandbox.guest.wire_limits import TooBig
from autograder.sandbox.guest.wire_plain import materialize_iterators
from autograder.sandbox.protocol import Answer, Call, CellOutcome, Source, StudentError
from autograder.values import changed_arguments, copy_argument, copy_arguments, normalize_result

__all__ = ["FunctionSession", "FunctionSubject", "OutOfTimeError", "home_of", "time_limit"]

MAX_TEXT = 500  # characters of an error's text or of a line of code


class FunctionSession:
    """A ``Session`` over the functions and values in ``names``, without a sandbox.

    Args:
        names: the functions and values, by name.
        given: functions that replace the entries of ``names`` with the same name.
        call_seconds: the limit of one call's processor time (None: no limit).
        stuck: called in another thread, with the function's name, if a call cannot be stopped at its limit.
        called: called after each call.
    """

    sandbox = "in-process"
    cells: Sequence[CellOutcome] = ()

    def __init__(
        self,
        names: Mapping[str, Value],
        *,
        given: Mapping[str, Callable[..., Value]] | None = None,
        call_seconds: float | None = None,
        stuck: Callable[[str], None] | None = None,
        called: Callable[[], None] | None = None,
    ) -> None:
        self._names = names
        self._given = dict(given or {})
        self._seconds = call_seconds
        self._stuck = stuck
        self._called = called or (lambda: None)
        self._edited: dict[str, Value] = {}
        self._stopped = ""

    @property
    def alive(self) -> bool:
        """Whether no call has been stopped yet."""
        return not self._stopped

    def names(self) -> frozenset[str]:
        """Return the names that can be called or read."""
        return frozenset(self._names) | frozenset(self._given)

    def call(self, call: Call) -> Answer:
        """Call one function with fresh copies of its arguments."""
        return self.batch([call])[0]

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Make several calls. With ``hold``, copy the results only after the last call, so that shared buffers are detected."""
        answered: list[tuple[Value, Answer]] = []
        with _without_warnings():
            for call in calls:
                value, answer = self._run(call)
                answered.append((value, answer) if hold else (None, _with_value(answer, value)))
        given = [_with_value(a, v) if hold else a for v, a in answered]
        return [call.judged(answer) for call, answer in zip(calls, given, strict=True)]

    def value(self, name: str) -> Answer:
        """Return an answer with the value of the variable ``name``, or with a ``NameError`` if it is not defined."""
        name = python_name(name)
        if name not in self._names:
            return _undefined(name)
        return _with_value(Answer(), self._names[name])

    def substitute(self, name: str, function: Callable[..., Value]) -> None:
        """Replace the function ``name`` with ``function`` in later calls of this session."""
        self._given[name] = function

    def define(self, sources: Mapping[str, str]) -> None:
        """Replace functions with the definitions in ``sources``, in a copy of their namespace. Raises any error that a source raises."""
        own = next((self._names[n] for n in sources if isinstance(self._names.get(n), FunctionType | type)), None)
        home = (home_of(own) if own is not None else None) or self._names
        names = dict(home)
        functions = {k: v for k, v in {**home, **self._names}.items() if isinstance(v, FunctionType)}
        here = {name: function for name, function in functions.items() if function.__globals__ is home}
        # The other functions look up names in the copy, so they call the replacements.
        self._edited = {name: _living_in(names, function) for name, function in here.items()}
        names.update(self._edited)
        names.update({k: v for k, v in self._given.items() if k in names and k not in sources})
        with _without_warnings(), time_limit(self._seconds):
            for name, source in sources.items():
                exec(compile(source, f"<{name}>", "exec", dont_inherit=True), names)  # noqa: S102 - the student's own code with one edit
                self._edited[name] = names[name]

    def reset(self) -> None:
        """Undo ``define``, and allow calls again if one was stopped."""
        self._edited = {}
        self._stopped = ""

    def run_variants(
        self, programs: Sequence[Mapping[str, str]], calls: Sequence[Call], seconds: float
    ) -> list[list[Answer]]:
        """Return the answers of each of ``programs`` to ``calls``, with a limit of ``seconds`` per call.

        If a program cannot be defined, its list of answers is empty.
        """
        before, self._seconds = self._seconds, seconds
        collecting = gc.isenabled()
        gc.disable()  # in a large process, one collection takes longer than the limit
        found = []
        try:
            for sources in programs:
                try:
                    self.define(sources)
                    found.append(self.batch(calls))
                except (Exception, SystemExit, OutOfTimeError):  # noqa: BLE001 - an edited definition may raise anything
                    found.append([])
                finally:
                    self.reset()
        finally:
            self._seconds = before
            if collecting:
                gc.enable()
        return found

    def probe(self, source: str, call: Call) -> Answer:
        """Return the answer of ``probe(function, …)``, which ``source`` defines."""
        return self.call(replace(call, probe=source))

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Discard the code's output in the ``with`` block."""
        with redirect_stdout(io.StringIO()):
            yield

    def close(self) -> None:
        """Do nothing: there is no process to end."""

    def _known(self, name: str) -> Value:
        """Return the object called ``name``. Raises ``NameError`` if there is none."""
        for names in (self._edited, self._given, self._names):
            if name in names:
                return names[name]
        raise NameError(f"name {name!r} is not defined")

    def _run(self, call: Call) -> tuple[Value, Answer]:
        if self._stopped:
            return None, Answer(stopped=self._stopped)
        name = python_name(call.function)
        if name not in self._given and name not in self._names and name not in self._edited:
            return None, _undefined(name)
        own = self._known(name)
        if not callable(own):
            return None, Answer(error=StudentError("TypeError", f"{name} is not a function"))
        function = partial(copy_argument(Source(call.probe, "probe")), own) if call.probe else own
        try:
            args = copy_arguments(call.args, self._known)
        except NameError as error:
            return None, Answer(error=StudentError("NameError", str(error)))
        kwargs = {k: copy_argument(v) for k, v in call.kwargs.items()}
        try:
            stuck = partial(self._stuck, name) if self._stuck is not None else None
            # The time limit is the innermost block. It may raise at any step, so it must end before the other blocks clean up.
            memory = nullcontext() if call.memory_mb is None else _traced(call.memory_mb)
            with at_home(home_of(own)), memory, time_limit(self._seconds, stuck):
                value = materialize_iterators(function(*args, **kwargs))
        except OutOfTimeError as error:
            self._stopped = "timeout"
            return None, Answer(stopped="timeout", at=_error(error, own))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the error is the answer
            return None, Answer(error=_error(error, own))
        finally:
            self._called()
        given = {**{str(i): argument for i, argument in enumerate(args)}, **kwargs}
        parts = value if type(value) is tuple else (value,)
        same = tuple(k for k, a in given.items() if type(a) is np.ndarray and any(a is part for part in parts))
        return value, Answer(changed=changed_arguments(call, args, kwargs), same=same)


@dataclass
class FunctionSubject:
    """A subject made of functions and values. Its sessions are ``FunctionSession`` objects."""

    label: str
    names: Mapping[str, Value]
    _: KW_ONLY
    given: Mapping[str, Callable[..., Value]] | None = None
    call_seconds: float | None = None
    stuck: Callable[[str], None] | None = None
    called: Callable[[], None] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    blank: frozenset[str] = frozenset()

    def open(self, *, memory_mb: int | None = None) -> FunctionSession:  # noqa: ARG002 - each call carries its own limit
        """Return a new session over the same names."""
        return FunctionSession(
            self.names, given=self.given, call_seconds=self.call_seconds, stuck=self.stuck, called=self.called
        )

    def before_redefined(self, exercise: str) -> None:
        """Return None, because ``names`` has only one definition of each name."""


def _with_value(answer: Answer, value: Value) -> Answer:
    """Return ``answer`` with ``value`` as the grader receives it, or an error if ``value`` cannot be transferred."""
    if answer.error is not None or answer.stopped:
        return answer
    try:
        return replace(answer, value=normalize_result(value))
    except TooBig as error:
        return Answer(error=StudentError("ResultTooBig", f"The result is too large to be checked: {error}."))
    except Exception as error:  # noqa: BLE001 - a student's class may raise anything when it is inspected
        return Answer(error=StudentError(type(error).__name__, sanitize(_text(error), MAX_TEXT)))


def _living_in(names: dict[str, Value], function: FunctionType) -> FunctionType:
    """Return a copy of ``function`` whose global names are ``names``."""
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _undefined(name: str) -> Answer:
    return Answer(error=StudentError("NameError", f"name '{name}' is not defined"))


def _error(error: BaseException, function: Callable[..., Value]) -> StudentError:
    found = _own_frame(error, function)
    frame = traceback.extract_tb(found, limit=1)[0] if found is not None else None
    line, lineno = ((frame.line or ""), frame.lineno) if frame else ("", None)
    if isinstance(error, OutOfTimeError) and frame is not None and lineno is not None:
        line, lineno = loop_around(linecache.getlines(frame.filename), lineno) or (line, lineno)
    return StudentError(
        type=type(error).__name__,
        message=sanitize(_text(error), MAX_TEXT),
        line=sanitize(line, MAX_TEXT),
        lineno=lineno,
        where=frame.name if frame else "",
        shapes=shapes_of(found, linecache.getlines(found.tb_frame.f_code.co_filename)) if found is not None else "",
        bases=tuple(bases_of(error)),
    )


def _own_frame(error: BaseException, function: Callable[..., Value]) -> TracebackType | None:
    """Return the innermost traceback entry in the module or notebook of ``function``. Entries inside NumPy do not help."""
    names = home_of(function)
    found = None
    trace = error.__traceback__
    while trace is not None:
        if names is not None and trace.tb_frame.f_globals is names:
            # Point to the recursive call, even if Python raises the error at the start of the called function.
            entered = isinstance(error, RecursionError) and trace.tb_lineno == trace.tb_frame.f_code.co_firstlineno
            found = trace if found is None or not entered else found
        trace = trace.tb_next
    return found


def home_of(function: Callable[..., Value]) -> Mapping[str, Value] | None:
    """Return the global names of a function, or of the methods of a class."""
    if not isinstance(function, type):
        return getattr(function, "__globals__", None)
    parts = (getattr(part, "__func__", getattr(part, "fget", part)) for part in vars(function).values())
    homes = (
        part.__globals__ for part in parts if isinstance(part, FunctionType) and part.__module__ == function.__module__
    )
    return next(homes, getattr(sys.modules.get(function.__module__), "__dict__", None))


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - `str` of a student's error may raise anything
        return ""


@contextmanager
def _without_warnings() -> Iterator[None]:
    # In standard nbgrader, any output on stderr gives zero points. So hide warnings, and redirect stderr to stdout.
    with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stderr(sys.stdout):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _traced(limit_mb: int) -> Iterator[None]:
    """Raise ``MemoryError`` after the ``with`` block if it exceeded the limit. Unlike in the sandbox, the code is not stopped."""
    tracemalloc.start()
    try:
        yield
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if taken > limit_mb << 20:
        raise MemoryError(f"{taken >> 20} MiB were used, but only {limit_mb} MiB are allowed")
