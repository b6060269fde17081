"""Fixtures ``student`` and ``reference``, which call the submission's and the course's functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.call_source import record_answer
from autograder.checking.outcomes import Outcomes, count, is_outcome, missing_error_message
from autograder.checking.plots import plot_probe_text
from autograder.checking.step_counter import limits_of
from autograder.checking.student_objects import asked_for, contains_objects, format_script, last_step
from autograder.course.notebook import at_home
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.explanations import NOT_AS_ASKED, explain, explain_stop, nearest
from autograder.judging.functions import FunctionSession, home_of
from autograder.judging.objects import ObjectOwner, call_with_objects, make_object
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.sandbox.protocol import Call, Source, StudentError
from autograder.sandbox.script import is_script, names_in
from autograder.values import call_key, copy_argument, copy_value, normalize_result

__all__ = ["ReferenceProxy", "StudentProxy", "explain_failed_step"]


_COUNTED = re.compile(r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given")
_SPECIAL = {
    "len": "__len__", "in": "__contains__", "[]": "__getitem__", "[]=": "__setitem__", "del[]": "__delitem__", "list": "__iter__",
    "next": "__next__", "call": "__call__", "with": "__enter__", "leave": "__exit__", "==": "__eq__", "<": "__lt__", ">": "__gt__",
    "<=": "__le__", ">=": "__ge__", "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "int": "__int__",
    "float": "__float__", "abs": "__abs__", "-x": "__neg__", "reversed": "__reversed__", "**": "__pow__", "//": "__floordiv__",
    "%": "__mod__", "@": "__matmul__", "&": "__and__", "|": "__or__", "^": "__xor__", "round": "__round__", "hash": "__hash__",
}  # fmt: skip


def explain_failed_step(call: Call, error: StudentError) -> str:
    """Explain a failed step to the student. Return "" if the error is clear enough."""
    step, owner = last_step(call)
    if error.type == NOT_AS_ASKED and error.message == "CLASS":
        return f"`{call.function}` should be a class. Its first line should begin with `class {call.function}`."
    if error.type == NOT_AS_ASKED:
        return f"{asked_for(call)}: {error.message.rstrip('?. ')}?"
    if error.type == "NoSuchName":
        _, _, listed = error.message.partition(": ")
        known = [name for name in listed.split(", ") if name]
        near = nearest(step.name, known)
        if step.do == "call":
            instead = f" It has `{near}`: is that the right name?" if near else ""
            return f"{owner} has no method `{step.name}`: its `def` is missing, has another name, or is outside the class.{instead}"
        instead = f" They have `{near}`: is that the right name?" if near else ""
        return (
            f"Objects of {owner} have no `{step.name}` after these lines: no method has set `self.{step.name}`, and the class has "
            f"nothing with that name.{instead}"
        )
    if error.type == "NotImplementedError" and error.where:
        where = f"{owner}.{error.where}" if error.where.isidentifier() else owner
        return f"`{where}` is still the stub. Replace its `raise NotImplementedError` with your code."
    if error.line:
        return ""
    text = format_script(call)[0]
    if error.type == "TypeError" and (found := _COUNTED.search(error.message)) and int(found[2]) == int(found[1]) + 1:
        return (
            f"`{text}` stopped with TypeError: {error.message}. The object itself comes first: is `self` missing from the "
            "parameters of the method?"
        )
    if error.type == "TypeError" and step.do == "use" and step.name in _SPECIAL and "argument" not in error.message:
        return f"`{text}` stopped with TypeError: {error.message}. Python looks for a method `{_SPECIAL[step.name]}` in the class."
    return ""


class StudentProxy(Outcomes):
    """The fixture ``student``: ``student.softmax(x)`` calls a function, ``student["q1"]`` reads a variable."""

    def __init__(
        self,
        conversation: ExerciseSession,
        known: Callable[[], Iterable[str]] = tuple,
        memory_mb: int | None = None,
        *,
        exercises: Collection[str] = (),
        limits: Mapping[str, Value] | None = None,
    ) -> None:
        self._conversation = conversation
        self._known = known
        self._memory_mb = memory_mb
        self._limits = limits
        self._exercises = exercises

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._limits:
            if name in self._conversation.classes:
                raise CourseError(
                    f"within(steps=…, calls=…, seconds=…, larger=…) limits functions, but {name} is a class. Count in a probe instead."
                )
            return lambda *args, **kwargs: self._counted(name, args, kwargs)
        if self._conversation.classes:
            return self._with_objects(name)
        return lambda *args, **kwargs: self._ask(Call(name, args, kwargs, memory_mb=self._memory_mb))

    def _with_objects(self, name: str) -> Callable[..., Any]:
        """Return a function that calls ``name``, which may create an object or take objects as arguments."""
        classes = self._conversation.classes
        owner = ObjectOwner(self._ask, self._conversation.right, classes)

        def ask(*args: Value, **kwargs: Value) -> Value:
            if name in classes:
                return make_object(owner, name, args, kwargs)
            if contains_objects((*args, *kwargs.values())):
                return call_with_objects(owner, name, args, kwargs)
            return self._ask(Call(name, args, kwargs, memory_mb=self._memory_mb))

        return ask

    def __getitem__(self, name: str) -> Value:
        answer = self._conversation.ask_variable(name)
        if answer.error is not None:
            why = "the cell that sets it is missing or did not run"
            raise CheckFailed(f"There is no variable called {name}: {why}.", kind="missing")
        if answer.stopped:
            raise CheckStopped(explain_stop(answer.stopped, function=name), stopped=answer.stopped)
        return record_answer(copy_value(answer.value), lambda: (name, {}))

    def check_purity(self) -> None:
        """Check that the exercise's function has no side effects and keeps no state between calls."""
        self._conversation.check_purity()

    def within(
        self,
        memory_mb: int | None = None,
        *,
        steps: int | None = None,
        calls: Mapping[str, int] | None = None,
        seconds: float | None = None,
        larger: Sequence[Value] | None = None,
        growth: float = 10,
    ) -> StudentProxy:
        """Return the same student with limits on each call: ``student.within(memory_mb=64).f(x)``.

        Args:
            memory_mb: the memory in MiB.
            steps: the number of executed lines of Python and of comparisons of the given items.
            calls: how often each function may be called, by name. The functions are from the notebook or are arguments.
            seconds: the processor time in seconds.
            larger: the arguments of a second call, with inputs that are about four times as large.
            growth: how many times as much processor time the larger call may take.
        """
        limits = limits_of(steps, calls, seconds, larger, growth)
        return StudentProxy(self._conversation, self._known, memory_mb, exercises=self._exercises, limits=limits)

    def _counted(self, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        count(self.measure, self._conversation.right, self._limits or {}, name, args, kwargs)
        return self._ask(Call(name, args, kwargs, memory_mb=self._memory_mb))

    def when_graded(self, look: Callable[..., None], *args: Value) -> None:
        """Call ``look(student, *args)`` when grading, but not in ``check()``. ``look`` may inspect results directly."""
        look(self, *args)

    def probe(self, source: str, function: str, *args: Value, **kwargs: Value) -> Value:
        """Run ``probe(function, *args, **kwargs)`` of ``source`` in the student's process, and return its result.

        If the function's result cannot be inspected, ``source`` raises a ``NotAsAsked`` exception of its own that
        explains why. The check then fails with that message instead of reporting an error in the student's function.

        A student's function may tamper with the probe and its result. If the function's own result can be transferred,
        inspect that result as well, with ``student.when_graded``.
        """
        return self._ask(Call(function, args, kwargs, source))

    def outcome(self, call: Call) -> Value:
        """Make a call that should raise an error, and return its outcome (see ``ExpectedError.outcome``)."""
        return self._ask(call)

    def measure(self, source: str, function: str, *args: Value, **kwargs: Value) -> Value:
        """Run a probe as the method ``probe`` does, to measure what the function does.

        A measurement, such as how far answers scatter, may differ between right functions. So it can be used in
        assertions, but not to diagnose mistakes.
        """
        return self._ask(Call(function, args, kwargs, source, measured=True))

    def plot(self, function: str, *args: Value, texts: bool = True, **kwargs: Value) -> Value:
        """Return the plot that the student's function draws with matplotlib, as data.

        For example, ``student.plot("draw", table)["axes"][0]["bars"]``. Each of the ``axes`` has the keys ``title``,
        ``xlabel``, ``ylabel``, ``xscale``, ``yscale``, ``xlim``, ``ylim``, ``legend``, ``bars``, ``lines``,
        ``points``, ``images``, ``wedges`` and ``areas``. Without ``texts``, the data only says which
        texts are present.
        """
        return self.probe(plot_probe_text(texts=texts), function, *args, **kwargs)

    def _names(self) -> Iterable[str]:
        self._conversation.unplanned_calls += 1
        return self._known()

    def _ask(self, call: Call) -> Value:
        answer = self._conversation.ask(call)
        error = answer.error
        if answer.stopped:
            raise self._conversation.stopped_failure(call)
        if error is not None:
            if missing := _missing(call, error):
                # The name of another exercise is not a misspelling of this one.
                near = nearest(missing, (name for name in self._names() if name not in self._exercises))
                instead = f" The notebook has `{near}`: is that the right name?" if near else ""
                is_class = missing in self._conversation.classes or is_script(call)
                what, line = ("class", "class") if is_class else ("function", "def")
                raise CheckFailed(
                    f"There is no {what} called {missing}: its cell is missing, its cell was not run, its `{line}` line has "
                    f"another name, or the cell stopped with an error before that line.{instead}",
                    kind="missing",
                )
            if is_script(call) and (why := explain_failed_step(call, error)):
                raise CheckFailed(why, self._conversation.described(call), kind="error")
            if call.memory_mb is not None and error.type.endswith("MemoryError"):
                raise CheckFailed(
                    f"{call.function} takes more than the {call.memory_mb} MiB that it may use for this call. Store fewer numbers at "
                    "once: change the order of the steps, or finish one part before you begin the next.",
                    self._conversation.described(call),
                    kind="memory",
                )
            if _raised_by_the_probe(call, error):
                text = (
                    f"Using the result of {call.function} raised {error.type}: "
                    f"{error.message.rstrip('. ')}. The error was raised outside your code. Did {call.function} return the right type of result?"
                )
                raise CheckFailed(text, self._conversation.described(call), kind="error")
            text = explain(
                error.type,
                error.message,
                line=error.line,
                function=asked_for(call) if is_script(call) else call.function,
                where=error.where,
                known=self._names(),
                exercises=self._exercises,
                cell="" if error.cell == call.function else error.cell,
                shapes=error.shapes,
                caller=error.caller,
            )
            kind = "values" if error.type == NOT_AS_ASKED else "error"
            raise CheckFailed(
                text + missing_error_message(call, error.type), self._conversation.described(call), kind=kind
            )
        value = _with_rest(copy_value(answer.value), lambda: self._conversation.ask(_taking_all(call, _ITEMS)).value)
        spelled, right = partial(self._conversation.spelled, call), partial(self._conversation.right, call)
        return record_answer(value, spelled, call, right)


_ITEMS = 100_000  # the most items taken from a student's iterator if more items are needed than the first answer has
_ITEMS_OF_A_REFERENCE = 10_000  # a right solution's iterator with more items than this counts as endless
_FEW_PARTS = 1000  # a result with more parts is not searched for iterators
_TAKE_ALL = Path(__file__).with_name("items_probe.txt").read_text(encoding="utf-8")


def _taking_all(call: Call, most: int) -> Call:
    """Return a call like ``call`` that returns lists of up to ``most`` + 1 items instead of iterators."""
    return replace(call, probe=call.probe + _TAKE_ALL.format(most=most))


def _with_rest(value: Value, again: Callable[[], Value], most: int = _ITEMS, depth: int = 0) -> Value:
    """Return ``value``. If the remaining items of an iterator in it are needed later, ``again`` computes them."""
    if isinstance(value, Iterated):
        if value.more:
            value.again = lambda: _continued(value, again(), most)
    elif type(value) in (list, tuple, dict) and len(value) <= _FEW_PARTS and depth < 3:
        for key, part in value.items() if type(value) is dict else enumerate(value):
            _with_rest(part, partial(_part_of, again, key), most, depth + 1)
    return value


def _part_of(again: Callable[[], Value], key: Value) -> Value:
    try:
        return again()[key]
    except (TypeError, LookupError):  # the repeated call returns something else
        return None


def _continued(known: Iterated, items: Value, most: int) -> Iterated:
    if type(items) is not list or len(items) < len(known):
        return known
    return Iterated(items[:most], known.type, more=len(items) > most)


def _missing(call: Call, error: StudentError) -> str:
    """Return the name of the function or class that the notebook lacks, or "" if ``error`` is another error."""
    if error.type != "NameError" or error.line:
        return ""
    return next((name for name in names_in(call) if f"'{name}'" in error.message), "")


def _raised_by_the_probe(call: Call, error: StudentError) -> bool:
    """Return whether the probe itself raised ``error``, not the student's code and not a call with wrong arguments."""
    uncalled = error.type == "TypeError" and re.search(r"\(\) (takes|missing|got) ", error.message)
    if is_script(call) or is_outcome(call.probe):
        return False
    return bool(call.probe) and error.type != NOT_AS_ASKED and not (error.line or error.where or uncalled)


class ReferenceProxy:
    """The fixture ``reference``: the course's own functions. The result of each call is computed once."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._functions = functions
        self._known: dict[Hashable, Value] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or name not in self._functions:
            raise AttributeError(f"the reference solutions have no {name!r}")
        classes = {name for name, function in self._functions.items() if isinstance(function, type)}
        owner = ObjectOwner(self.answer, self.answer, classes)

        def ask(*args: Value, **kwargs: Value) -> Value:
            if name in classes:
                return make_object(owner, name, args, kwargs)
            if classes and contains_objects((*args, *kwargs.values())):
                return call_with_objects(owner, name, args, kwargs)
            return self.answer(Call(name, args, kwargs))

        return ask

    def probe(self, source: str, function: str, *args: Value, **kwargs: Value) -> Value:
        """Return the result of ``student.probe`` for a right solution."""
        return self.answer(Call(function, args, kwargs, source))

    plot = StudentProxy.plot  # it calls this class's ``probe``

    def answer(self, call: Call) -> Value:
        """Return the answer of a right solution to ``call``."""
        key = call_key(call)
        if call.expects is not None and key not in self._known:
            answer = FunctionSession(self._functions).call(call)
            if answer.error is None:
                self._known[key] = answer.value
        if key not in self._known:  # if the call raises an error that is not expected, raise it below
            function = self._functions[call.function]
            if call.probe:
                function = partial(copy_argument(Source(call.probe, "probe")), function)
            with np.errstate(all="ignore"):
                kwargs = {k: copy_argument(v) for k, v in call.kwargs.items()}
                args = [copy_argument(value, self._named) for value in call.args]
                with at_home(home_of(self._functions[call.function])):
                    value = normalize_result(function(*args, **kwargs))
            again = partial(self.answer, _taking_all(call, _ITEMS_OF_A_REFERENCE))
            self._known[key] = _with_rest(value, again, _ITEMS_OF_A_REFERENCE)
        return copy_value(self._known[key])

    def _named(self, name: str) -> Value:
        return self._functions[name] if name in self._functions else self[name]

    def __getitem__(self, name: str) -> Value:
        for function in self._functions.values():
            built_in = isinstance(function, type | BuiltinFunctionType) or not callable(function)
            if not built_in and not inspect.signature(function).parameters:
                answers = function()
                if isinstance(answers, dict) and name in answers:
                    return answers[name]
        raise KeyError(name)
