"""Old spellings, for the check files of existing courses: ``@visible @points(1) @after("test_a")`` is ``@check(…)`` now.

``careful`` is ``pure``. They work as they always did; nothing new uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from autograder.checking.decorators import annotate_check, pure

__all__ = ["after", "careful", "points", "visible"]

F = TypeVar("F", bound=Callable[..., Any])

careful = pure


def points(value: float) -> Callable[[F], F]:
    """What a check is worth."""
    return annotate_check(points=float(value))


def visible(check: F) -> F:
    """Mark a check as one that students run themselves."""
    return annotate_check(visible=True)(check)


def after(*names: str) -> Callable[[F], F]:
    """Mark a check as "not tried" until the checks ``names`` of the same class have passed."""
    return annotate_check(after=names)
