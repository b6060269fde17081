"""Search in solutions whose mistake is known, without a sandbox, for authors and benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.judging.scoring import Checks
from autograder.mistakes.fault_localization.correct_programs import Material, lazy_checks, loaded_operators
from autograder.mistakes.fault_localization.functions import localize
from autograder.mistakes.fault_localization.search import Deadline, Located
from autograder.mistakes.fault_localization.trials import Questions

__all__ = ["SolutionLocator"]


class SolutionLocator:
    """Finds mistakes in functions of this process by all checks of a chapter, each within ``seconds`` of processor time."""

    def __init__(self, checks: ChapterChecks, *, seconds: float) -> None:
        self._checks, self._seconds = checks, seconds
        self._judge: Judge[Checks] = Judge(checks)
        self._operators = loaded_operators(checks.course.root)
        self._known: dict[str, tuple[Material, Questions]] = {}

    def locate(self, exercise: str, cells: Iterable[tuple[str, str]], names: Mapping[str, Any]) -> Located | None:
        """Return the location of the mistake in ``exercise``, or None if unknown. ``cells`` (name and source) define it and the other ``names``."""
        if exercise not in self._known:
            questions = Questions.of(exercise, self._checks.plan(exercise), self._checks.references)
            material = Material.of(self._checks, exercise, questions.watched, self._operators)
            self._known[exercise] = material, questions
        material, questions = self._known[exercise]
        program = material.program(exercise, cells, self._checks.specs)
        if program is None:
            return None
        return localize(
            names,
            program,
            lazy_checks(self._checks, exercise),
            self._judge,
            Deadline(self._seconds),
            questions=questions,
            traces=material.traces,
            validation_seconds=self._checks.course.call_seconds,
        )
