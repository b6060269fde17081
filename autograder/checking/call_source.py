"""Format calls as text that a student can paste, and find the student's call that returned a value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import TypeVar

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.step_counter import COUNT, GROWTH, format_counted_call
from autograder.checking.student_objects import format_script
from autograder.sandbox.protocol import Call
from autograder.sandbox.script import is_script
from autograder.values import family_of, source

__all__ = [
    "arguments_of", "expression_for", "format_call", "kept_for_this_check", "record_answer", "right_of", "shows_cases", "track_answers",
]  # fmt: skip

MAX_IN_PLACE = 40  # a string of at most this many characters is shown in the call itself
MAX_PARTS, MAX_DEPTH = 50, 3  # the most items and levels of a student's result that are searched for a part

T = TypeVar("T")
Spelling = tuple[str, dict[str, Value]]


@dataclass(frozen=True, slots=True)
class _Answer:
    """A value that the student's code returned, the call's arguments, and functions that return the call's text and the right value."""

    value: Value
    arguments: tuple[Value, ...]
    spell: Callable[[], Spelling]
    right: Callable[[], Value]


class _CheckAnswers(list[_Answer]):
    """The answers to the calls of one check, and other data to keep until that check ends."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[Hashable, Value] = {}


_answers: ContextVar[_CheckAnswers | None] = ContextVar("answers", default=None)
_shows_cases: ContextVar[bool] = ContextVar("shows_cases", default=True)


def format_call(call: Call, signature: inspect.Signature | None) -> Spelling:
    """Return the call as text and its inputs by name: ``softmax(x, axis=0)`` and ``{"x": array}``.

    An array is shown as its parameter's name, and a small value is written out.
    """
    if is_script(call):
        return format_script(call)
    if call.probe == COUNT:
        _limits, args, kwargs = call.args
        return format_counted_call(call.function, args, kwargs), {}
    if call.probe == GROWTH:
        _args, larger, kwargs = call.args
        return format_counted_call(call.function, larger, kwargs), {}
    if "def probe(tests, candidate)" in call.probe:
        return f"{call.function}({call.args[0].name})", {}  # a call of a student's tests
    names: list[str] = []
    if signature is not None:
        names = [p.name for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    inputs: dict[str, Value] = {}
    given = call.args[: len(names)] if call.probe and names else call.args  # a check's probe may have further arguments
    words = [_word(names[i] if i < len(names) else f"x{i}", value, inputs) for i, value in enumerate(given)]
    words += [f"{name}={_word(name, value, inputs)}" for name, value in call.kwargs.items()]
    return f"{call.function}({', '.join(words)})", inputs


@contextmanager
def track_answers(*, show_cases: bool = True) -> Iterator[None]:
    """Record the student's answers inside the block, so that assertions can find the call that returned a value.

    With ``show_cases=False``, failures have no example, because nobody would read it.
    """
    token, shown = _answers.set(_CheckAnswers()), _shows_cases.set(show_cases)
    try:
        yield
    finally:
        _answers.reset(token)
        _shows_cases.reset(shown)


def shows_cases() -> bool:
    """Return whether a failure should contain an example, because somebody will read it."""
    return _shows_cases.get()


def kept_for_this_check() -> dict[Hashable, Value]:
    """Return a dictionary that exists as long as the running check, or a new one if no check is running."""
    answers = _answers.get()
    return answers.kept if answers is not None else {}


def record_answer(
    value: T, spell: Callable[[], Spelling], call: Call | None = None, right: Callable[[], Value] = lambda: None
) -> T:
    """Record and return the student's answer to ``call`` (None for a variable). ``right`` returns the right answer."""
    answers = _answers.get()
    if answers is not None:
        answers.append(_Answer(value, (*call.args, *call.kwargs.values()) if call else (), spell, right))
    return value


def expression_for(value: Value) -> Spelling:
    """Return the source and inputs of the student's call that returned ``value``, alone (``f(x)``) or as a part (``f(x)[1]``).

    If several calls returned ``value``, the latest is used. The result is ``("", {})`` if ``value`` does not come from the student.
    """
    found = _find(value)
    if found is None:
        return "", {}
    answer, path = found
    text, inputs = answer.spell()
    return text + "".join(f"[{key!r}]" for key in path), inputs


def right_of(value: Value) -> Value:
    """Return the right value in place of ``value``, a student's result or a part of a result. Return None if it is unknown."""
    found = _find(value)
    try:
        return reduce(getitem, found[1], found[0].right()) if found else None
    except Exception:  # noqa: BLE001 - the right result has no such part, or the right call raises an error
        return None


def arguments_of(value: Value) -> tuple[Value, ...]:
    """Return the arguments of the call that returned ``value``, or ``()``."""
    found = _find(value)
    return found[0].arguments if found else ()


def _find(value: Value) -> tuple[_Answer, tuple[Value, ...]] | None:
    for answer in reversed(_answers.get() or []):
        path = _path(answer.value, value)
        if path is not None:
            return answer, path
    return None


def _path(whole: Value, part: Value, depth: int = 0) -> tuple[Value, ...] | None:
    """Return the keys that lead from ``whole`` to ``part`` (the same object, not an equal one): ``()``, ``(1,)``, ``("a", 0)``."""
    if whole is part:
        return ()
    # A student may return anything, so limit the search.
    if not isinstance(whole, tuple | list | dict) or len(whole) > MAX_PARTS or depth == MAX_DEPTH:
        return None
    for key, item in whole.items() if isinstance(whole, dict) else enumerate(whole):
        path = _path(item, part, depth + 1)
        if path is not None:
            return key, *path
    return None


def _word(name: str, value: Value, inputs: dict[str, Value]) -> str:
    long = isinstance(value, str | bytes) and (len(value) > MAX_IN_PLACE or "\n" in str(value))
    if (
        isinstance(value, np.ndarray | dict | list | tuple | set | frozenset | bytearray)
        or family_of(value).is_table
        or hasattr(value, "text")
        or long
    ):
        name = str(getattr(value, "name", name)) if hasattr(value, "text") else name  # a function has a name of its own
        inputs[name] = value
        return name
    return f"np.random.default_rng({value.seed})" if hasattr(value, "seed") else source(value)
