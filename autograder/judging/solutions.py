"""The solutions that a course knows of a chapter: its references, and the wrong and the right ones beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checking.quizzes import Quiz
from autograder.course import Course
from autograder.misconception import Alternative, Misconception, alternatives_in, misconceptions_in

__all__ = ["known_alternatives", "known_misconceptions", "reference_functions"]


def reference_functions(course: Course, chapter: str) -> dict[str, Callable[..., Any]]:
    """The public functions and classes of the chapter's reference solutions, its quiz among them, by name."""
    module = course.references(chapter)
    return {
        name: f
        for name, f in vars(module).items()
        if callable(f)
        and not name.startswith("_")
        and not _is_ours(f)
        # A class that was imported, such as Counter, is a tool of the solutions'.
        and not (isinstance(f, type) and not str(f.__module__).startswith(("solutions", module.__name__)))
    }


def known_misconceptions(course: Course, chapter: str) -> list[Misconception]:
    """The chapter's named wrong solutions: those of its quiz tables, and those of its file of misconceptions."""
    found = [m for table in _quizzes(course, chapter) for m in table.misconceptions]
    return misconceptions_in(course.misconceptions(chapter)) + found


def known_alternatives(course: Course, chapter: str) -> list[Alternative]:
    """The chapter's right solutions written differently: those of its quiz tables, and those of its file."""
    found = [a for table in _quizzes(course, chapter) for a in table.alternatives]
    return alternatives_in(course.alternatives(chapter)) + found


def _quizzes(course: Course, chapter: str) -> list[Quiz]:
    return [value for value in vars(course.references(chapter)).values() if isinstance(value, Quiz)]


def _is_ours(function: Any) -> bool:
    """Whether it is one of the framework's words, such as ``quiz``, and no solution."""
    return not isinstance(function, Quiz) and str(getattr(function, "__module__", "")).startswith("autograder.")
