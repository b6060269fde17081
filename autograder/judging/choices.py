"""Whether two answers to a question of a quiz are the same one, however they are written.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

import re
from typing import Any

from autograder.checking.closeness import equal
from autograder.checking.predicates import choice_of

__all__ = ["same_choice"]


def same_choice(given: Any, wrong: Any) -> bool:
    """Whether ``given`` is the answer ``wrong``: the same letter, the same number as written, or the same equation."""
    if isinstance(given, str) and isinstance(wrong, str):
        plain = _canonical if "->" in wrong else choice_of
        return plain(given) == plain(wrong)
    if isinstance(given, str) or isinstance(wrong, str):
        return False
    return given is not None and equal(given, wrong, rtol=1e-2, atol=5e-4)


def _canonical(equation: str) -> str:
    """An einsum equation with its letters renamed in order of appearance: ``"nd,md->nm"`` is ``"ia,ja->ij"``."""
    letters: dict[str, str] = {}
    text = "".join(equation.split())
    return re.sub("[A-Za-z]", lambda m: letters.setdefault(m[0], chr(ord("a") + len(letters) % 26)), text)
