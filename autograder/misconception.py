"""Misconceptions (named wrong solutions, each with a message for the student) and alternative correct solutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import cleandoc
from types import ModuleType
from typing import TypeVar

from autograder.base.errors import CourseError
from autograder.base.foreign import Value

__all__ = [
    "Alternative", "Misconception", "SolutionDecorator", "alternatives_in", "alternatives_of", "misconceptions_in",
    "misconceptions_of",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Value])


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong solution of ``exercise`` that differs from the reference by one mistake.

    Attributes:
        message: says what the student did, why it cannot be right and where to look. It never contains the right code.
        function: the wrong solution, with the exercise's signature. If the answers are variables (a quiz, an einsum equation), it takes no
            arguments and returns ``{variable: wrong answer}`` for the variables concerned.
    """

    name: str
    exercise: str
    message: str
    function: Callable[..., Value]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A correct solution of ``exercise`` written differently, which the checks must accept.

    ``note`` says what is different. If ``worth_reading``, students who have solved the exercise may see the alternative.
    """

    name: str
    exercise: str
    note: str
    function: Callable[..., Value]
    worth_reading: bool = False


@dataclass(frozen=True, slots=True)
class SolutionDecorator:
    """A decorator for solutions. It stores which exercise a function solves, and whether the solution is correct."""

    exercise: str
    right: bool
    shown: bool = False

    @property
    def worth_reading(self) -> SolutionDecorator:
        """The decorator ``@right.worth_reading``, for alternatives that students may read after solving the exercise."""
        return replace(self, shown=True)

    def __call__(self, function: F) -> F:
        """Mark ``function`` as a solution. Raises ``CourseError`` if the function has no docstring."""
        if not (function.__doc__ or "").strip():
            raise CourseError(
                f"{_place(function)}: {function.__name__} has no docstring. It should "
                f"{'say how this correct solution differs' if self.right else 'contain the message for students'}."
            )
        function.__mark__ = self  # type: ignore[attr-defined]
        return function


def misconceptions_of(exercise: str) -> SolutionDecorator:
    """Return the decorator ``@wrong`` for the misconceptions of ``exercise``. Students read each function's docstring.

    >>> wrong = misconceptions_of("softmax")
    """
    return SolutionDecorator(exercise, right=False)


def alternatives_of(exercise: str) -> SolutionDecorator:
    """Return the decorator ``@right`` for the alternatives of ``exercise``. Each function's docstring says what is different."""
    return SolutionDecorator(exercise, right=True)


def misconceptions_in(module: ModuleType) -> list[Misconception]:
    """Return the misconceptions that ``module`` defines, in source order."""
    return [Misconception(*fields) for fields in _marked(module, right=False)]


def alternatives_in(module: ModuleType) -> list[Alternative]:
    """Return the alternatives that ``module`` defines, in source order."""
    return [Alternative(*fields, fields[-1].__mark__.shown) for fields in _marked(module, right=True)]


def _marked(module: ModuleType, *, right: bool) -> list[tuple[str, str, str, Value]]:
    return [
        (name, value.__mark__.exercise, cleandoc(value.__doc__ or ""), value)
        for name, value in vars(module).items()
        # A subclass of a marked class is not marked itself.
        if "__mark__" in getattr(value, "__dict__", {})
        and value.__mark__.right == right
        and value.__module__ == module.__name__
    ]


def _place(function: Value) -> str:
    """Return the file and line of a function, or the file of a class and the line of its first method."""
    methods = vars(function).values() if isinstance(function, type) else [function]
    codes = [method.__code__ for method in methods if hasattr(method, "__code__")]
    return f"{codes[0].co_filename}, line {codes[0].co_firstlineno}" if codes else f"module {function.__module__}"
