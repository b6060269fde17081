"""A chapter's checks as the search uses them, and the right programs that it takes expressions from."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any

from autograder.judging.loader import ChapterChecks, known_alternatives
from autograder.mistakes.edits.grafts import Donor
from autograder.mistakes.fault_localization.checks import ChecksInTurn
from autograder.mistakes.fault_localization.values import Lender, held_by
from autograder.sandbox.protocol import Call

__all__ = ["checks_in_turn", "lenders_of"]

_LENDERS = 4  # right programs besides the reference


def checks_in_turn(checks: ChapterChecks, exercise: str) -> ChecksInTurn:
    """The checks of ``exercise`` one by one, nothing asked before its check comes."""
    converse = partial(checks.converse, planned=False)
    return ChecksInTurn(exercise, checks.specs[exercise].checks, converse, checks.run_check)


def lenders_of(checks: ChapterChecks, exercise: str, watched: Call | None) -> list[Lender]:
    """The right programs that the course knows of ``exercise``: its reference, and some written differently."""
    functions: list[Callable[..., Any]] = [checks.references[exercise]]
    alternatives = known_alternatives(checks.course, checks.chapter)
    functions += [a.function for a in alternatives if a.exercise == exercise][:_LENDERS]
    found = [(function, text) for function in functions if (text := _source_of(function))]
    return [Lender(Donor(text), held_by(f, text, watched) if watched is not None else {}) for f, text in found]


def _source_of(function: Callable[..., Any]) -> str:
    try:
        text = textwrap.dedent(inspect.getsource(function))
        ast.parse(text)
    except (OSError, TypeError, SyntaxError):
        return ""
    return text
