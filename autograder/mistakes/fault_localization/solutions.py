"""The search in solutions whose mistake is known, as an author or a benchmark wants it: without a jail."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.judging.scoring import Checks
from autograder.mistakes.fault_localization.chapters import checks_in_turn, lenders_of
from autograder.mistakes.fault_localization.functions import located_among
from autograder.mistakes.fault_localization.program import program_of
from autograder.mistakes.fault_localization.search import Deadline, Located
from autograder.mistakes.fault_localization.trials import Questions
from autograder.mistakes.fault_localization.values import Lender

__all__ = ["SolutionLocator"]


class SolutionLocator:
    """Finds mistakes in functions of this process by all checks of a chapter, each within ``seconds`` by ``now``."""

    def __init__(self, checks: ChapterChecks, *, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._checks, self._seconds, self._now = checks, seconds, now
        self._judge: Judge[Checks] = Judge(checks)
        self._known: dict[str, tuple[list[Lender], Questions]] = {}

    def locate(self, exercise: str, cells: Iterable[tuple[str, str]], names: Mapping[str, Any]) -> Located | None:
        """Where the mistake in ``exercise`` is, as ``cells`` (name and source) define it among ``names``."""
        if exercise not in self._known:
            questions = Questions.of(exercise, self._checks.plan(exercise), self._checks.references)
            self._known[exercise] = lenders_of(self._checks, exercise, questions.watched), questions
        lenders, questions = self._known[exercise]
        donors = [lender.donor for lender in lenders]
        program = program_of(exercise, cells, others=self._checks.specs, donors=donors)
        if program is None:
            return None
        return located_among(
            names,
            program,
            checks_in_turn(self._checks, exercise),
            self._judge,
            Deadline(self._seconds, self._now),
            questions=questions,
            lenders=lenders,
            proof_seconds=self._checks.course.call_seconds,
        )
