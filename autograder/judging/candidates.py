"""What each misconception of an exercise answers, worked out from its function: the candidates of a diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from autograder.judging.choices import same_choice
from autograder.judging.composition import compositions
from autograder.judging.diagnosis import Candidate, Diagnosis, distinguishing_calls, same_answer
from autograder.judging.functions import FunctionSession
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Answer, Call

__all__ = ["ANSWER_SECONDS", "diagnosis_of", "wrong_answers"]

# Each message speaks of a function that makes its mistake alone; what this student's function gives is made by both.
TWO_AT_ONCE = "Two things at once. Each is told as it looks where it is the only one: your own numbers and shapes come of both together."
ANSWER_SECONDS = 2.0  # of the processor, for one call of a misconception, which the course's author wrote


def diagnosis_of(
    exercise: str,
    references: Mapping[str, Callable[..., Any]],
    misconceptions: Sequence[Misconception],
    plan: Sequence[Call],
    *,
    pairs: bool = True,
) -> Diagnosis:
    """The diagnosis of ``exercise`` by ``misconceptions``, on those calls of ``plan`` that tell solutions apart.

    With ``pairs``, two mistakes made at once are known as well.
    """
    distinguishing = distinguishing_calls(exercise, plan)
    calls = [call for call in distinguishing if call.memory_mb is None]
    limited = [call for call in distinguishing if call.memory_mb is not None]
    right = FunctionSession(references).batch(calls)

    def session_of(function: Callable[..., Any]) -> FunctionSession:
        return FunctionSession({**references, exercise: function}, call_seconds=ANSWER_SECONDS, of_processor=True)

    def candidate(name: str, message: str, answers: Sequence[Answer]) -> Candidate:
        asked = enumerate(zip(answers, right, calls, strict=True))
        return Candidate(name, message, answers, tuple(i for i, (a, r, c) in asked if not same_answer(a, r, c)))

    singles = {m.name: candidate(m.name, m.message, session_of(m.function).batch(calls)) for m in misconceptions}

    @cache
    def too_large() -> list[Candidate]:
        same = [m for m in misconceptions if not singles[m.name].differs] if limited else []
        return [Candidate(m.name, m.message, session_of(m.function).batch(limited), ()) for m in same]

    @cache
    def composed() -> list[tuple[Misconception, Misconception, _Asked]]:
        """The compositions of two misconceptions, made when first needed."""
        if not pairs or any(call.probe for call in calls):
            return []  # hundreds of pairs, and each would draw its pictures: one mistake at a time is named
        shown = [m for m in misconceptions if singles[m.name].differs]
        made = compositions(references[exercise], shown)
        return [(first, second, _Asked(session_of(function), calls)) for first, second, function in made]

    def two_at_once(given: Sequence[Answer | None]) -> list[Candidate]:
        """The compositions that answer as was ``given``, and otherwise than either of their two."""
        found = []
        for first, second, asked in composed():
            if not asked.answers_as(given):
                continue
            message = f"{TWO_AT_ONCE}\n1. {first.message}\n2. {second.message}"
            both = candidate(f"{first.name}+{second.name}", message, asked.answers())
            own = (singles[first.name], singles[second.name])
            same = any(all(map(same_answer, both.answers, one.answers, calls)) for one in own)  # type: ignore[arg-type]
            # Where one of the two shows and both together do not, its message would tell of what cannot be seen.
            cancels = {i for one in own for i in one.differs}.difference(both.differs)
            if both.differs and not same and not cancels:
                found.append(both)
        return found

    return Diagnosis(calls, right, [*singles.values()], limited=limited, too_large=too_large, pairs=two_at_once)


class _Asked:
    """What one function answers to ``calls``: asked in their order, and only as far as somebody wants to know."""

    def __init__(self, session: FunctionSession, calls: Sequence[Call]) -> None:
        self._session, self._calls = session, calls
        self._known: list[Answer] = []

    def _answer(self, place: int) -> Answer:
        while len(self._known) <= place:
            self._known.append(self._session.call(self._calls[len(self._known)]))
        return self._known[place]

    def answers_as(self, given: Sequence[Answer | None]) -> bool:
        """Whether each answer is the one that was given; most functions are known not to by one of their first."""
        return all(
            answer is not None and same_answer(answer, self._answer(place), call)
            for place, (answer, call) in enumerate(zip(given, self._calls, strict=True))
        )

    def answers(self) -> list[Answer]:
        """All of them."""
        return [self._answer(place) for place in range(len(self._calls))]


def wrong_answers(
    misconceptions: Sequence[Misconception], answers: Mapping[str, Any]
) -> list[tuple[str, Misconception]]:
    """The wrong choices among a student's variables that a misconception knows, as ``(variable, misconception)``."""
    found: list[tuple[str, Misconception]] = []
    for misconception in misconceptions:
        wrong = misconception.function()
        if all(name in answers and same_choice(answers[name], value) for name, value in wrong.items()):
            found += [(name, misconception) for name in wrong]
    return found
