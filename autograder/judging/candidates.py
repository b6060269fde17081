"""Compute the answers that each misconception gives to the test calls, as candidates for a diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from autograder.base.foreign import Value
from autograder.checking.predicates import same_choice
from autograder.judging.diagnosis import Candidate, Diagnosis, distinguishing_calls, same_answer
from autograder.judging.functions import FunctionSession
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Answer, Call

__all__ = ["ANSWER_SECONDS", "diagnosis_of", "wrong_answers"]

ANSWER_SECONDS = 2.0  # processor time that one call of a misconception may take


def diagnosis_of(
    exercise: str,
    references: Mapping[str, Callable[..., Any]],
    misconceptions: Sequence[Misconception],
    plan: Sequence[Call],
    open_session: Callable[..., FunctionSession] | None = None,
) -> Diagnosis:
    """Return the ``Diagnosis`` for ``exercise``, which uses the calls in ``plan`` that distinguish solutions."""
    distinguishing = distinguishing_calls(exercise, plan)
    calls = [call for call in distinguishing if call.memory_mb is None]
    limited = [call for call in distinguishing if call.memory_mb is not None]
    right = FunctionSession(references).batch(calls)
    session_of = open_session or (lambda f: FunctionSession({**references, exercise: f}, call_seconds=ANSWER_SECONDS))

    def candidate(name: str, message: str, answers: Sequence[Answer]) -> Candidate:
        asked = enumerate(zip(answers, right, calls, strict=True))
        return Candidate(name, message, answers, tuple(i for i, (a, r, c) in asked if not same_answer(a, r, c)))

    singles = {m.name: candidate(m.name, m.message, session_of(m.function).batch(calls)) for m in misconceptions}

    @cache
    def too_large() -> list[Candidate]:
        same = [m for m in misconceptions if not singles[m.name].differs] if limited else []
        return [Candidate(m.name, m.message, session_of(m.function).batch(limited), ()) for m in same]

    return Diagnosis(calls, right, [*singles.values()], limited=limited, too_large=too_large)


def wrong_answers(
    misconceptions: Sequence[Misconception], answers: Mapping[str, Value]
) -> list[tuple[str, Misconception]]:
    """Return a pair of variable and misconception for each wrong choice in ``answers`` that is a known misconception."""
    found: list[tuple[str, Misconception]] = []
    for misconception in misconceptions:
        wrong = misconception.function()
        if all(name in answers and same_choice(answers[name], value) for name, value in wrong.items()):
            found += [(name, misconception) for name in wrong]
    return found
