"""Try an edited program quickly, by comparing its results with known correct results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.judging.diagnosis import distinguishing_calls, same_answer
from autograder.judging.functions import FunctionSession
from autograder.mistakes.fault_localization.program import Variant
from autograder.sandbox.protocol import Answer, Call, EditableSession, Rng
from autograder.sandbox.script import names_in
from autograder.values import as_array, close, tolerances

__all__ = ["Questions", "survivors"]

_ROUNDS = (1, 3, 12)  # calls in each round. Most variants fail the first call
_MAX_CALLS = 60
_WATCHED = 4096  # variables are compared only in calls whose arguments take at most this many bytes


@dataclass(frozen=True, slots=True)
class Questions:
    """Calls with their correct results.

    Attributes:
        calls: the calls.
        right: their correct results.
        watched: the call in which variables are compared.
        score: the score of the student's own code in the first call.
    """

    calls: tuple[Call, ...]
    right: tuple[Answer, ...]
    watched: Call | None = None
    score: float = 0.0

    @classmethod
    def of(cls, exercise: str, plan: Iterable[Call], references: Mapping[str, Callable[..., Any]]) -> Questions:
        """Return the calls of ``plan`` that have exactly one correct result. Calls with random numbers are left out."""
        plan = [c for c in plan if exercise in names_in(c) and c.memory_mb is None]
        plan = [c for c in plan if not any(isinstance(value, Rng) for value in (*c.args, *c.kwargs.values()))]
        # If checks use probes, different results of the function itself may be equally right.
        calls = distinguishing_calls(exercise, plan)
        right = FunctionSession(references).batch(calls)
        known = [(c, a) for c, a in zip(calls, right, strict=True) if a.error is None]
        # Watch the largest of the small calls. The larger a call is, the less likely equal values are a coincidence.
        watched = max((c for c in plan if c.is_plain and _size(c) <= _WATCHED), key=_size, default=None)
        return cls(tuple(call for call, _ in known), tuple(answer for _, answer in known), watched)

    def wrong_first(self, answers: Sequence[Answer]) -> Questions:
        """Return these calls, starting with the calls whose ``answers`` are wrong. Most variants fail one of them."""
        pairs = list(zip(self.calls, self.right, answers, strict=True))
        found = [(c, r, a) for c, r, a in pairs if not same_answer(a, r, c)]
        found.sort(key=lambda one: _size(one[0]))  # the smallest call first
        wrong = [(c, r) for c, r, _ in found]
        # Of hundreds of similar calls, a sample is enough, because variants that pass are validated.
        fine = [(c, r) for c, r, a in pairs if same_answer(a, r, c)]
        kept = [*wrong, *fine[:: max(1, len(fine) // _MAX_CALLS)]]
        score = answer_score(found[0][2], found[0][1]) if found else 1.0
        return Questions(tuple(c for c, _ in kept), tuple(r for _, r in kept), self.watched, score)

    def wrong_in(self, answers: Sequence[Answer]) -> bool:
        """Return whether any of ``answers`` is wrong."""
        return any(not same_answer(a, r, c) for a, r, c in zip(answers, self.right, self.calls, strict=True))


def survivors(
    variants: Sequence[Variant], questions: Questions, session: Callable[[], EditableSession | None], seconds: float
) -> list[float]:
    """Return a score for each variant. A variant is dropped at its first wrong result.

    The score is 1 if all results are correct, between 0 and 1 if the variant is better than the student's own code, and 0
    otherwise. ``session`` returns an open session (a new one if a variant ended the previous one), or None if no session is left.
    """
    near = [0.0] * len(variants)
    alive = list(range(len(variants)))
    start = 0
    for count in (*_ROUNDS, len(questions.calls)):
        calls = questions.calls[start : start + count]
        if not calls or not alive:
            break
        answers = _asked([variants[i].sources for i in alive], calls, session, seconds)
        right = questions.right[start : start + count]
        still = []
        for i, given in zip(alive, answers, strict=True):
            if len(given) == len(right) and all(map(same_answer, given, right, calls)):
                still.append(i)
            elif start:
                near[i] = _FIRST_RIGHT
            elif given and (score := answer_score(given[0], right[0])) > questions.score + _BETTER:
                near[i] = score
        alive = still
        start += count
    for i in alive:
        near[i] = 1.0
    return near


_FIRST_RIGHT = 0.95  # the score of a variant that corrects the first result and fails later
_BETTER = 0.02
# The parts of a score: for a result without an error, for the right structure and shapes, and for correct numbers.
_NO_ERROR, _FORM, _NUMBERS = 0.1, 0.2, 0.6


def answer_score(answer: Answer, right: Answer) -> float:
    """Return how close ``answer`` is to ``right``, from 0 for an error to 0.9 for equal results."""
    if answer.error is not None or answer.stopped:
        return 0.0
    given, expected = _parts(answer.value), _parts(right.value)
    if given.keys() != expected.keys():
        return _NO_ERROR
    shares = [_share(given[key], expected[key]) for key in expected]
    form = sum(share is not None for share in shares) / max(len(shares), 1)
    return _NO_ERROR + _FORM * form + _NUMBERS * sum(share or 0.0 for share in shares) / max(len(shares), 1)


def _parts(value: Any) -> dict[Any, Any]:
    if isinstance(value, dict):
        return value
    return dict(enumerate(value)) if isinstance(value, tuple | list) else {0: value}


def _share(given: Any, right: Any) -> float | None:
    """Return the share of numbers in ``given`` that match ``right``, or None if the shapes differ or the array is too large."""
    one, other = as_array(given), as_array(right)
    if one is None or other is None or one.shape != other.shape or one.size > _COUNTED:
        return None
    rtol, atol = tolerances(other)
    return float(np.mean(close(one, other, rtol, atol))) if one.size else 1.0


_COUNTED = 2000  # the most numbers in an array that is compared


def _asked(
    programs: Sequence[Mapping[str, str]],
    calls: Sequence[Call],
    session: Callable[[], EditableSession | None],
    seconds: float,
) -> list[list[Answer]]:
    """Return the results of ``calls`` in each of ``programs``. A program that ends the session has no results."""
    found: list[list[Answer]] = []
    while len(found) < len(programs):
        asked = session()
        if asked is None:
            return found + [[] for _ in programs[len(found) :]]
        part = asked.run_variants(programs[len(found) :], calls, seconds)
        done = len(part) if asked.alive else next((i for i, given in enumerate(part) if not given), len(part) - 1)
        found += part[: done + 1]
    return found


def _size(call: Call) -> int:
    return sum(getattr(value, "nbytes", 8) for value in (*call.args, *call.kwargs.values()))
