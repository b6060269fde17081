"""Quick trials: whether an edited program answers as a right one does, on calls whose right answers are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checking.closeness import as_array, close, tolerances
from autograder.judging.diagnosis import same_answer
from autograder.judging.functions import FunctionSession
from autograder.mistakes.fault_localization.program import Variant
from autograder.sandbox.protocol import Answer, Call, EditableSession, Rng
from autograder.sandbox.script import names_in

__all__ = ["Questions", "survivors"]

_ROUNDS = (1, 3, 12)  # calls: most variants fall at the first one
_MAX_CALLS = 60
_WATCHED = 4096  # bytes of what a function is called with, while its variables are looked at


@dataclass(frozen=True, slots=True)
class Questions:
    """Calls with their right answers, and the one of them in which variables are looked at.

    ``merit`` is how near to right the student's own answer to the first of them is.
    """

    calls: tuple[Call, ...]
    right: tuple[Answer, ...]
    watched: Call | None = None
    merit: float = 0.0

    @classmethod
    def of(cls, exercise: str, plan: Iterable[Call], references: Mapping[str, Callable[..., Any]]) -> Questions:
        """The calls of ``plan`` to which there is one right answer, known beforehand: no random numbers, no probe."""
        calls = [c for c in plan if exercise in names_in(c) and c.can_batch and not _draws(c)]
        right = FunctionSession(references).batch(calls)
        known = [(c, a) for c, a in zip(calls, right, strict=True) if a.error is None]
        asked = tuple(c for c, _ in known)
        return cls(asked, tuple(a for _, a in known), _to_watch([call for call in asked if not call.probe]))

    def wrong_first(self, answers: Sequence[Answer]) -> Questions:
        """The same, those first to which ``answers`` were wrong: a variant most likely falls there."""
        pairs = list(zip(self.calls, self.right, answers, strict=True))
        found = [(c, r, a) for c, r, a in pairs if not same_answer(a, r, c)]
        found.sort(key=lambda one: _size(one[0]))  # the cheapest to answer first
        wrong = [(c, r) for c, r, _ in found]
        # Of hundreds, some of each kind: they are alike, and whoever passes these is put to the proof.
        fine = [(c, r) for c, r, a in pairs if same_answer(a, r, c)]
        kept = [*wrong, *fine[:: max(1, len(fine) // _MAX_CALLS)]]
        merit = merit_of(found[0][2], found[0][1]) if found else 1.0
        return Questions(tuple(c for c, _ in kept), tuple(r for _, r in kept), self.watched, merit)

    def wrong_in(self, answers: Sequence[Answer]) -> bool:
        """Whether any of ``answers`` is wrong."""
        return any(not same_answer(a, r, c) for a, r, c in zip(answers, self.right, self.calls, strict=True))


def survivors(
    variants: Sequence[Variant], questions: Questions, session: Callable[[], EditableSession | None], seconds: float
) -> list[float]:
    """How near each variant comes: 1 where it answers all ``questions`` right; each is dropped at the first that it does not.

    One that comes nearer than the student's own code has a number between 0 and 1; any other has 0. ``session`` gives one
    that can be asked, a new one where a variant ended the last, and None when there are no more.
    """
    near = [0.0] * len(variants)
    alive = list(range(len(variants)))
    sources = [variant.sources for variant in variants]
    start = 0
    for count in (*_ROUNDS, len(questions.calls)):
        calls = questions.calls[start : start + count]
        if not calls or not alive:
            break
        answers = _asked([sources[i] for i in alive], calls, session, seconds)
        right = questions.right[start : start + count]
        still = []
        for i, given in zip(alive, answers, strict=True):
            if _all_right(given, right, calls):
                still.append(i)
            elif start:
                near[i] = _FIRST_RIGHT
            elif given and (merit := merit_of(given[0], right[0])) > questions.merit + _BETTER:
                near[i] = merit
        alive = still
        start += count
    for i in alive:
        near[i] = 1.0
    return near


_FIRST_RIGHT = 0.95  # for whoever is right where the student's own code is not, and fails later
_BETTER = 0.02
_NO_ERROR, _FORM, _NUMBERS = (
    0.1,
    0.2,
    0.6,
)  # what each is worth: an answer, one of the right form, the share of right numbers


def merit_of(answer: Answer, right: Answer) -> float:
    """How near an answer comes to the right one, from 0 for an error to less than 1."""
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
    """The share of numbers that are right; None where the form is another one."""
    one, other = as_array(given), as_array(right)
    if one is None or other is None or one.shape != other.shape or one.size > _COUNTED:
        return None
    rtol, atol = tolerances(other)
    return float(np.mean(close(one, other, rtol, atol))) if one.size else 1.0


_COUNTED = 2000  # numbers of an answer; of a larger one the form alone is looked at


def _asked(
    programs: Sequence[Mapping[str, str]],
    calls: Sequence[Call],
    session: Callable[[], EditableSession | None],
    seconds: float,
) -> list[list[Answer]]:
    """What each of ``programs`` answers; one that ends the session answers nothing, and the next goes on."""
    found: list[list[Answer]] = []
    while len(found) < len(programs):
        asked = session()
        if asked is None:
            return found + [[] for _ in programs[len(found) :]]
        part = asked.run_variants(programs[len(found) :], calls, seconds)
        done = len(part) if asked.alive else next((i for i, given in enumerate(part) if not given), len(part) - 1)
        found += part[: done + 1]
    return found


def _all_right(given: Sequence[Answer], right: Sequence[Answer], calls: Sequence[Call]) -> bool:
    return len(given) == len(right) and all(map(same_answer, given, right, calls))


def _to_watch(calls: Sequence[Call]) -> Call | None:
    """The call in which two variables are least likely to hold the same by chance: the largest of the small ones."""
    return max((call for call in calls if _size(call) <= _WATCHED), key=_size, default=None)


def _size(call: Call) -> int:
    return sum(getattr(value, "nbytes", 8) for value in (*call.args, *call.kwargs.values()))


def _draws(call: Call) -> bool:
    return any(isinstance(value, Rng) for value in (*call.args, *call.kwargs.values()))
