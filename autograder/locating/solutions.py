"""The search in solutions whose mistake is known, as an author or a benchmark wants it: without a jail."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autograder.edits.grafts import Donor
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.judging.scoring import Checks
from autograder.locating.chapters import checks_in_turn, donors_of
from autograder.locating.functions import located_among
from autograder.locating.program import program_of
from autograder.locating.search import Deadline, Located
from autograder.locating.trials import Questions

__all__ = ["SolutionLocator"]


class SolutionLocator:
    """Finds mistakes in functions of this process by all checks of a chapter, each within ``seconds`` by ``now``."""

    def __init__(self, checks: ChapterChecks, *, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._checks, self._seconds, self._now = checks, seconds, now
        self._judge: Judge[Checks] = Judge(checks)
        self._known: dict[str, tuple[list[Donor], Questions]] = {}

    def locate(self, exercise: str, cells: Iterable[tuple[str, str]], names: Mapping[str, Any]) -> Located | None:
        """Where the mistake in ``exercise`` is, as ``cells`` (name and source) define it among ``names``."""
        if exercise not in self._known:
            questions = Questions.of(exercise, self._checks.plan(exercise), self._checks.references)
            self._known[exercise] = donors_of(self._checks, exercise), questions
        donors, questions = self._known[exercise]
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
            proof_seconds=self._checks.course.call_seconds,
        )
