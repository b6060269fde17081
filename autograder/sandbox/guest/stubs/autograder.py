"""What ``from autograder import check, hint, interact, requires`` finds while a notebook is graded: the grader runs checks of its own."""

from __future__ import annotations

from typing import Any

from guest.drawing import interact, requires  # type: ignore[import-not-found,unused-ignore]

__all__ = ["check", "hint", "interact", "requires"]


def check(*_args: object, **_kwargs: object) -> None:
    """Nothing but a note."""
    print("(the grader runs its own checks)")  # noqa: T201 - it is the cell's output


def hint(*_args: object, **_kwargs: object) -> None:
    """Nothing but a note."""
    print("(no hints while a notebook is graded)")  # noqa: T201 - it is the cell's output


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return check
