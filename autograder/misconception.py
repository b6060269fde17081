"""Named wrong solutions, with what a student should hear about them, and right solutions written differently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import cleandoc
from types import ModuleType
from typing import Any, TypeVar

from autograder.base.errors import CourseError

__all__ = [
    "Alternative",
    "Misconception",
    "SolutionDecorator",
    "alternative_of",
    "alternatives_in",
    "alternatives_of",
    "misconception_of",
    "misconceptions_in",
    "misconceptions_of",
]  # fmt: skip

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
    """A right solution of ``exercise`` written differently; the checks must accept it. ``note`` tells what is different.

    One that is ``worth_reading`` may be shown to a student whose own is right.
    """

    name: str
    exercise: str
    note: str
    function: Callable[..., Any]
    worth_reading: bool = False


@dataclass(frozen=True, slots=True)
class SolutionDecorator:
    """A decorator that says of a function which exercise it solves, and whether the solution is right."""

    exercise: str
    right: bool
    shown: bool = False

    @property
    def worth_reading(self) -> SolutionDecorator:
        """The mark of an alternative that students may read as well, once their own is right: ``@right.worth_reading``."""
        return replace(self, shown=True)

    def __call__(self, function: F) -> F:
        """Mark ``function``; raises ``CourseError`` where it has no docstring."""
        if not (function.__doc__ or "").strip():
            raise CourseError(
                f"{_place(function)}: {function.__name__} has no docstring: write there "
                f"{'what is different in this right solution' if self.right else 'what the student should read'}."
            )
        function.__mark__ = self  # type: ignore[attr-defined]
        return function


def misconceptions_of(exercise: str) -> SolutionDecorator:
    """Make the mark ``@wrong`` of the misconceptions of ``exercise``; each function's docstring is what the student reads.

    >>> wrong = misconceptions_of("softmax")
    """
    return SolutionDecorator(exercise, right=False)


def alternatives_of(exercise: str) -> SolutionDecorator:
    """Make the mark ``@right`` of the alternatives of ``exercise``; each function's docstring says what is different."""
    return SolutionDecorator(exercise, right=True)


misconception_of, alternative_of = misconceptions_of, alternatives_of  # old spellings: @misconception_of("softmax")


def misconceptions_in(module: ModuleType) -> list[Misconception]:
    """The misconceptions that ``module`` defines, in the order in which they are written."""
    return [Misconception(*fields) for fields in _marked(module, right=False)]


def alternatives_in(module: ModuleType) -> list[Alternative]:
    """The alternatives that ``module`` defines, in the order in which they are written."""
    return [Alternative(*fields, fields[-1].__mark__.shown) for fields in _marked(module, right=True)]


def _marked(module: ModuleType, *, right: bool) -> list[tuple[str, str, str, Any]]:
    return [
        (name, value.__mark__.exercise, cleandoc(value.__doc__ or ""), value)
        for name, value in vars(module).items()
        # A class that is written as a subclass of a marked one has no mark of its own.
        if "__mark__" in getattr(value, "__dict__", {})
        and value.__mark__.right == right
        and value.__module__ == module.__name__
    ]


def _place(function: Any) -> str:
    """The file and line of a function, or the file of a class and its first method's line."""
    methods = vars(function).values() if isinstance(function, type) else [function]
    codes = [part.__code__ for part in methods if hasattr(part, "__code__")]
    return f"{codes[0].co_filename}, line {codes[0].co_firstlineno}" if codes else f"module {function.__module__}"
