"""The search among functions of this process: for an audit, and for a notebook that looks for its own mistake."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from autograder.edits.grafts import Donor
from autograder.judging.functions import FunctionSession
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.locating.checks import donors_of, failing, holds
from autograder.locating.program import Variant, program_of
from autograder.locating.search import Deadline, Located, located_in
from autograder.locating.trials import Questions, survivors

__all__ = ["EditedFunctions", "FunctionLocator"]

_CALL_SECONDS = 0.25


class EditedFunctions:
    """A subject made of functions, some of which are edited: opened, it is a fresh ``FunctionSession`` with the edits made."""

    blank: frozenset[str] = frozenset()
    notes: Mapping[str, str] = {}

    def __init__(self, names: Mapping[str, Any], variant: Variant, call_seconds: float) -> None:
        self.label = "edited"
        self._names, self._candidate, self._seconds = names, variant, call_seconds

    def open(self, *, memory_mb: int | None = None) -> FunctionSession:  # noqa: ARG002 - each call carries its own limit
        """A fresh session with the edits made; raises what making them raises."""
        session = FunctionSession(self._names, call_seconds=self._seconds)
        session.define(self._candidate.sources)
        return session

    def before_redefined(self, exercise: str) -> None:
        """Nothing is defined twice in a dictionary."""


class FunctionLocator:
    """Finds mistakes in functions of this process by the checks of a chapter."""

    def __init__(self, checks: ChapterChecks, *, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._checks, self._seconds, self._now = checks, seconds, now
        self._judge = Judge(checks)
        self._right: dict[str, list[Donor]] = {}
        self._questions: dict[str, Questions] = {}

    def locate(self, exercise: str, cells: Iterable[tuple[str, str]], names: Mapping[str, Any]) -> Located | None:
        """Where the mistake in ``exercise`` is, as ``cells`` define it among ``names``."""
        others = set(self._checks.specs)
        program = program_of(exercise, cells, others=others, donors=self._donors(exercise))
        if program is None:
            return None
        deadline = Deadline(self._seconds, self._now)
        questions = self._of(exercise)
        session = FunctionSession(names, call_seconds=_CALL_SECONDS)
        failed = failing(self._checks, exercise, session)
        if questions.calls:
            answers = session.batch(questions.calls)
            session.reset()
            questions = questions.wrong_first(answers)

        def survive(variants: Sequence[Variant]) -> Iterable[bool]:
            if questions.calls:
                return survivors(variants, questions, lambda: session, _CALL_SECONDS)
            return (holds(self._checks, exercise, failed, session, c) for c in variants)

        return located_in(program, survive, lambda c: self._holds(exercise, names, c), deadline)

    def _of(self, exercise: str) -> Questions:
        if exercise not in self._questions:
            plan = self._checks.plan(exercise)
            self._questions[exercise] = Questions.of(exercise, plan, self._checks.references)
        return self._questions[exercise]

    def _donors(self, exercise: str) -> list[Donor]:
        if exercise not in self._right:
            self._right[exercise] = donors_of(self._checks, exercise)
        return self._right[exercise]

    def _holds(self, exercise: str, names: Mapping[str, Any], variant: Variant) -> bool:
        try:
            subject = EditedFunctions(names, variant, self._checks.course.call_seconds)
            subject.open()
        except (Exception, SystemExit):  # noqa: BLE001 - an edit may make anything of a definition
            return False
        [verdict] = self._judge.judge(subject, only=frozenset({exercise}))
        return verdict.status == "passed"
