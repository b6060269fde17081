"""A call as text that a student can paste, and which call of the student's an asserted value came from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from autograder.checking.plain_text import source
from autograder.checking.step_counter import COUNT, format_counted_call
from autograder.checking.student_objects import format_script
from autograder.sandbox.guest.wire_tables import kind_of_table
from autograder.sandbox.protocol import Call
from autograder.sandbox.script import is_script

__all__ = [
    "arguments_of", "expression_for", "format_call", "kept_for_this_check", "record_answer", "shows_cases", "track_answers",
]  # fmt: skip

MAX_IN_PLACE = 40  # characters of a text that stands in the call itself
MAX_PARTS, MAX_DEPTH = 50, 3  # of what a student returned, to be spelled as a part of it

T = TypeVar("T")
Spelling = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the student answered, the arguments that were given, and how the question is written: worked out only to be shown."""

    value: Any
    arguments: tuple[Any, ...]
    spell: Callable[[], Spelling]


class _Noted(list[_Answer]):
    """The answers of one check, and what else belongs to this check alone."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[Any, Any] = {}


_answers: ContextVar[_Noted | None] = ContextVar("answers", default=None)
_shows_cases: ContextVar[bool] = ContextVar("shows_cases", default=True)


def format_call(call: Call, signature: inspect.Signature | None) -> Spelling:
    """``softmax(x, axis=0)`` and ``{"x": array}``: arrays by the parameter's name, small things in place."""
    if is_script(call):
        return format_script(call)
    if call.probe == COUNT:
        _limits, args, kwargs = call.args
        return format_counted_call(call.function, args, kwargs), {}
    if "def probe(tests, candidate)" in call.probe:
        return f"{call.function}({call.args[0].name})", {}  # in which a student is to find the bug
    names: list[str] = []
    if signature is not None:
        names = [p.name for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    inputs: dict[str, Any] = {}
    words: list[str] = []
    for i, value in enumerate(call.args):
        words.append(_word(names[i] if i < len(names) else f"x{i}", value, inputs))
    for name, value in call.kwargs.items():
        words.append(f"{name}={_word(name, value, inputs)}")
    return f"{call.function}({', '.join(words)})", inputs


@contextmanager
def track_answers(*, show_cases: bool = True) -> Iterator[None]:
    """Keep inside what the student answers, so that an assertion finds the call that gave a value.

    With ``show_cases=False``, failures come without the case that shows them, because nobody reads it.
    """
    token, shown = _answers.set(_Noted()), _shows_cases.set(show_cases)
    try:
        yield
    finally:
        _answers.reset(token)
        _shows_cases.reset(shown)


def shows_cases() -> bool:
    """Return whether somebody reads the case that shows a failure."""
    return _shows_cases.get()


def kept_for_this_check() -> dict[Any, Any]:
    """A table that lives as long as the check that runs; a new one where none does."""
    noted = _answers.get()
    return noted.kept if noted is not None else {}


def record_answer(value: T, spell: Callable[[], Spelling], call: Call | None = None) -> T:
    """``value``, noted as the student's answer to ``call`` (None: a variable), which ``spell()`` spells."""
    answers = _answers.get()
    if answers is not None:
        answers.append(_Answer(value, (*call.args, *call.kwargs.values()) if call else (), spell))
    return value


def expression_for(value: Any) -> Spelling:
    """How to write the call that returned ``value``, or a part of what it returned: ``f(x)``, ``f(x)[1]``.

    The newest where several did; ``("", {})`` for what the student did not return.
    """
    found = _found(value)
    if found is None:
        return "", {}
    answer, path = found
    text, inputs = answer.spell()
    return text + path, inputs


def arguments_of(value: Any) -> tuple[Any, ...]:
    """The arguments of that call."""
    found = _found(value)
    return found[0].arguments if found else ()


def _found(value: Any) -> tuple[_Answer, str] | None:
    for answer in reversed(_answers.get() or []):
        path = _path(answer.value, value)
        if path is not None:
            return answer, path
    return None


def _path(whole: Any, part: Any, depth: int = 0) -> str | None:
    """Where ``part`` itself, not something equal to it, stands in ``whole``: ``""``, ``"[1]"``, ``"['a'][0]"``."""
    if whole is part:
        return ""
    # A function's results are few and not deep; a student may return anything.
    if not isinstance(whole, tuple | list | dict) or len(whole) > MAX_PARTS or depth == MAX_DEPTH:
        return None
    for key, item in whole.items() if isinstance(whole, dict) else enumerate(whole):
        path = _path(item, part, depth + 1)
        if path is not None:
            return f"[{key!r}]{path}"
    return None


def _word(name: str, value: Any, inputs: dict[str, Any]) -> str:
    long = isinstance(value, str | bytes) and (len(value) > MAX_IN_PLACE or "\n" in str(value))
    if (
        isinstance(value, np.ndarray | dict | list | tuple | set | frozenset | bytearray)
        or kind_of_table(value)
        or hasattr(value, "text")
        or long
    ):
        inputs[name] = value
        return name
    if hasattr(value, "seed"):
        return f"np.random.default_rng({value.seed})"
    return source(value)
