"""What a chapter's checks say of an edited program: check by check, the one first that the student's own code fails."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from autograder.edits.grafts import Donor
from autograder.judging.loader import ChapterChecks
from autograder.judging.proxies import StudentProxy
from autograder.judging.solutions import known_alternatives
from autograder.locating.program import Variant
from autograder.sandbox.protocol import EditableSession, SandboxUnavailable

__all__ = ["donors_of", "failing", "holds"]

_DONORS = 4  # right programs besides the reference


def failing(checks: ChapterChecks, exercise: str, session: EditableSession) -> str:
    """The first check of ``exercise`` that does not hold; empty where all do."""
    names = [check.name for check in checks.specs[exercise].checks if not check.purity]
    return next((name for name in names if not _one_holds(checks, exercise, name, session)), "")


def holds(checks: ChapterChecks, exercise: str, first: str, session: EditableSession, variant: Variant) -> bool:
    """Whether the checks hold for ``variant``, the check ``first`` tried first; that of side effects is left to the proof."""
    names = [check.name for check in checks.specs[exercise].checks if not check.purity]
    try:
        session.define(variant.sources)
        return all(_one_holds(checks, exercise, n, session) for n in sorted(names, key=lambda n: n != first))
    except (KeyboardInterrupt, SandboxUnavailable):
        raise
    except BaseException:  # noqa: BLE001 - an edit may make anything of a definition
        return False
    finally:
        session.reset()


def _one_holds(checks: ChapterChecks, exercise: str, check: str, session: EditableSession) -> bool:
    conversation = checks.converse(exercise, lambda: session, lambda _memory: session, planned=False)
    try:
        checks.run_check(exercise, check, StudentProxy(conversation))
    except (KeyboardInterrupt, SandboxUnavailable):
        raise
    except BaseException:  # noqa: BLE001 - whatever a check raises is its failure
        return False
    return not conversation.stopped


def donors_of(checks: ChapterChecks, exercise: str) -> list[Donor]:
    """The right programs that the course knows of ``exercise``: its reference, and some written differently."""
    functions: list[Callable[..., Any]] = [checks.references[exercise]]
    alternatives = known_alternatives(checks.course, checks.chapter)
    functions += [a.function for a in alternatives if a.exercise == exercise][:_DONORS]
    return [Donor(text) for text in map(_source_of, functions) if text]


def _source_of(function: Callable[..., Any]) -> str:
    try:
        text = textwrap.dedent(inspect.getsource(function))
        ast.parse(text)
    except (OSError, TypeError, SyntaxError):
        return ""
    return text
