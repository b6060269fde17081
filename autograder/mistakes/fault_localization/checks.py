"""What checks say of an edited program, one by one, the one first that the student's own code fails.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checking.decorators import CheckSpec
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.proxies import StudentProxy
from autograder.mistakes.fault_localization.program import Variant
from autograder.sandbox.protocol import EditableSession, SandboxUnavailable

__all__ = ["ChecksInTurn", "failing", "holds"]


class ChecksInTurn:
    """The checks of one exercise, each of which asks its questions as it comes to them; that of side effects is left to the proof."""

    def __init__(
        self,
        exercise: str,
        specs: tuple[CheckSpec, ...],
        converse: Callable[..., ExerciseSession],
        run_check: Callable[[str, str, StudentProxy], Any],
    ) -> None:
        self.names = tuple(check.name for check in specs if not check.purity)
        self._exercise, self._converse, self._run_check = exercise, converse, run_check

    def holds(self, check: str, session: EditableSession) -> bool:
        """Whether one check holds; whatever it raises is its failure."""
        conversation = self._converse(self._exercise, lambda: session, lambda _memory: session)
        try:
            self._run_check(self._exercise, check, StudentProxy(conversation))
        except (KeyboardInterrupt, SandboxUnavailable):
            raise
        except BaseException:  # noqa: BLE001 - whatever a check raises is its failure
            return False
        return not conversation.stopped


def failing(checks: ChecksInTurn, session: EditableSession) -> str:
    """The first check that does not hold; empty where all do."""
    return next((name for name in checks.names if not checks.holds(name, session)), "")


def holds(checks: ChecksInTurn, first: str, session: EditableSession, variant: Variant) -> bool:
    """Whether the checks hold for ``variant``, the check ``first`` tried first."""
    try:
        session.define(variant.sources)
        return all(checks.holds(name, session) for name in sorted(checks.names, key=lambda name: name != first))
    except (KeyboardInterrupt, SandboxUnavailable):
        raise
    except BaseException:  # noqa: BLE001 - an edit may make anything of a definition
        return False
    finally:
        session.reset()
