"""Named wrong solutions: what a student did, and what they should hear about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from types import ModuleType
from typing import Any, TypeVar

__all__ = ["Alternative", "Misconception", "alternative_of", "alternatives_in", "misconception_of", "misconceptions_in"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong solution of ``exercise``, one mistake away from the reference.

    ``message`` tells the student what they did, why it cannot be right and where to look, never the code.
    ``function`` has the exercise's signature; for an exercise whose answers are plain variables (a quiz, an einsum
    equation) it takes nothing and returns ``{variable: wrong answer}`` for the variables that it is about.
    """

    name: str
    exercise: str
    message: str
    function: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A right solution of ``exercise`` written differently; the checks must accept it. ``note`` tells what is different."""

    name: str
    exercise: str
    note: str
    function: Callable[..., Any]


def misconception_of(exercise: str) -> Callable[[F], F]:
    """Mark a function as a misconception of ``exercise``; its docstring is the message that the student reads."""
    return _mark("__misconception_of__", exercise)


def alternative_of(exercise: str) -> Callable[[F], F]:
    """Mark a function as a right solution of ``exercise`` written differently."""
    return _mark("__alternative_of__", exercise)


def misconceptions_in(module: ModuleType) -> list[Misconception]:
    """The misconceptions that ``module`` defines, in the order in which they are written."""
    return [Misconception(*fields) for fields in _marked(module, "__misconception_of__")]


def alternatives_in(module: ModuleType) -> list[Alternative]:
    """The alternatives that ``module`` defines, in the order in which they are written."""
    return [Alternative(*fields) for fields in _marked(module, "__alternative_of__")]


def _mark(attribute: str, exercise: str) -> Callable[[F], F]:
    def mark(function: F) -> F:
        if not (function.__doc__ or "").strip():
            raise TypeError(
                f"{function.__name__} has no docstring: write there what the student (or author) should read."
            )
        setattr(function, attribute, exercise)
        return function

    return mark


def _marked(module: ModuleType, attribute: str) -> list[tuple[str, str, str, Callable[..., Any]]]:
    return [
        (name, getattr(value, attribute), cleandoc(value.__doc__ or ""), value)
        for name, value in vars(module).items()
        if callable(value) and hasattr(value, attribute) and value.__module__ == module.__name__
    ]
