"""A call that may do so much work and no more: it is counted first, and then asked for its answer.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.checking.asserts import judge_assertion
from autograder.checking.counting import COUNT, spelled_count
from autograder.sandbox.protocol import Call

__all__ = ["count"]


def count(
    measure: Callable[..., Any],
    right: Callable[[Call], Any],
    limits: Mapping[str, Any],
    function: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    """Have ``measure``, a student's, count what one call does; raises ``CheckFailed`` where it does more than ``limits`` allow."""
    given = limits, list(args), dict(kwargs)
    found = measure(COUNT, function, *given)
    needed = right(Call(function, given, {}, COUNT, measured=True))
    judge_assertion(
        "does_little",
        found,
        None,
        {"limits": limits, "right": needed, "asked": spelled_count(function, args, kwargs)},
        "",
        {},
    )
