"""Which mistake explains what a student's code answered: silent rather than wrong."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checking.closeness import as_array, equal
from autograder.checking.predicates import choice_of
from autograder.judging.composition import compositions
from autograder.judging.conversation import same_answer
from autograder.judging.explanations import signature_of_error
from autograder.judging.functions import InProcessSession
from autograder.judging.values import key_of
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Answer, Call

__all__ = ["Diagnostician", "alike", "telling", "wrong_answers"]

_SECONDS = 2.0  # for one call of a misconception, which the course's author wrote


@dataclass(frozen=True, slots=True)
class _Known:
    misconception: Misconception
    answers: Sequence[Answer]
    differs: tuple[int, ...]  # the questions that it answers otherwise than the reference


class Diagnostician:
    """Knows what each misconception of one exercise answers to every planned question."""

    def __init__(
        self,
        exercise: str,
        references: Mapping[str, Callable[..., Any]],
        misconceptions: Sequence[Misconception],
        plan: Sequence[Call],
    ) -> None:
        telling_calls = telling(exercise, plan)
        self._calls = [call for call in telling_calls if call.memory_mb is None]
        self._limited = [call for call in telling_calls if call.memory_mb is not None]
        self._keys = [key_of(call) for call in self._calls]
        self._exercise = exercise
        self._references = references
        self._right = InProcessSession(references).batch(self._calls)
        known = [self._asked(misconception) for misconception in misconceptions]
        self._right_but_large = [k.misconception for k in known if not k.differs] if self._limited else []
        # Nearest to right first: of two that explain everything, the one that claims less is the more specific.
        self._known = sorted((k for k in known if k.differs), key=lambda k: len(k.differs))
        self._misconceptions = misconceptions
        self._pairs: list[_Known] | None = None

    def explain(self, log: Sequence[tuple[Call, Answer]]) -> Misconception | None:
        """The misconception whose answers equal the student's on every planned question; ``None`` where none does.

        A function that answers nothing but errors, or that had to be stopped, is never diagnosed.
        """
        answered = {key_of(call): answer for call, answer in log}
        given = [answered.get(key) for key in self._keys]
        if any(a is None or a.stopped for a in given) or all(a is None or a.error is not None for a in given):
            return None
        for known in self._known:
            if self._explains(known, given):
                return known.misconception
        if all(a is not None and same_answer(a, r, c) for a, r, c in zip(given, self._right, self._calls, strict=True)):
            return self._taking_too_much(answered)  # right as far as values go: what failed is no matter of values
        both = [known for known in self._two_at_once() if self._explains(known, given)]
        return both[0].misconception if len(both) == 1 else None

    def _taking_too_much(self, answered: Mapping[tuple[Any, ...], Answer]) -> Misconception | None:
        """The misconception that is right where memory is no object, and fails as the student did where it is limited."""
        given = [answered.get(key_of(call)) for call in self._limited]
        if not any(a is not None and a.error is not None for a in given):
            return None
        for misconception in self._right_but_large:
            namespace = {**self._references, self._exercise: misconception.function}
            theirs = InProcessSession(namespace, call_seconds=_SECONDS).batch(self._limited)
            pairs = zip(given, theirs, self._limited, strict=True)
            if all(a is not None and same_answer(a, b, call) for a, b, call in pairs):
                return misconception
        return None

    def _asked(self, misconception: Misconception) -> _Known:
        namespace = {**self._references, self._exercise: misconception.function}
        answers = InProcessSession(namespace, call_seconds=_SECONDS).batch(self._calls)
        pairs = enumerate(zip(answers, self._right, self._calls, strict=True))
        return _Known(misconception, answers, tuple(i for i, (a, r, c) in pairs if not same_answer(a, r, c)))

    def _two_at_once(self) -> list[_Known]:
        """The compositions of two misconceptions that answer otherwise than either; made when first needed."""
        if self._pairs is None:
            self._pairs = []
            by_name = {k.misconception.name: k for k in self._known}
            singles = [m for m in self._misconceptions if m.name in by_name]
            if any(call.probe for call in self._calls):
                singles = []  # hundreds of pairs, and each would draw its pictures: one mistake at a time is named
            for first, second, function in compositions(self._references[self._exercise], singles):
                message = f"Two things at once.\n1. {first.message}\n2. {second.message}"
                name = f"{first.name}+{second.name}"
                known = self._asked(Misconception(name, self._exercise, message, function))
                own = (by_name[first.name], by_name[second.name])
                alike = any(
                    all(same_answer(a, b, c) for a, b, c in zip(known.answers, one.answers, self._calls, strict=True))
                    for one in own
                )
                # Where one of the two shows and both together do not, its message would tell of what cannot be seen.
                cancels = {i for one in own for i in one.differs}.difference(known.differs)
                if known.differs and not alike and not cancels:
                    self._pairs.append(known)
        return self._pairs

    def _explains(self, known: _Known, given: Sequence[Answer | None]) -> bool:
        # The questions that tell it from a right answer come first: most candidates fall there.
        rest = set(range(len(given))).difference(known.differs)
        for i in (*known.differs, *rest):
            answer = given[i]
            if answer is None or not same_answer(answer, known.answers[i], self._calls[i]):
                return False
        return True


def telling(exercise: str, calls: Sequence[Call]) -> list[Call]:
    """The calls whose answers tell one solution of ``exercise`` from another.

    Where a function is looked at through probes, what these saw is its answer: what it returned (the weights of a head,
    a matplotlib Axes) may be right, or wrong in one and the same way, in many forms.
    """
    own = [call for call in calls if call.function == exercise]
    return [call for call in own if call.probe] or own


def alike(exercise: str, log: Sequence[tuple[Call, Answer]]) -> str:
    """A text that is the same for two functions that answered alike, to four digits; empty where nothing was answered."""
    told = {key_of(call) for call in telling(exercise, [call for call, _ in log])}
    answers = [_written(a) for call, a in log if key_of(call) in told and not a.stopped]
    if not answers or all(text.startswith("error") for text in answers):
        return ""
    return hashlib.sha256("\n".join(answers).encode()).hexdigest()[:16]


def _written(answer: Answer) -> str:
    if answer.error is not None:
        return f"error {signature_of_error(answer.error.type, answer.error.message)}"
    return f"{_digits(answer.value)} {' '.join(answer.changed)}"


def _digits(value: Any) -> str:
    if isinstance(value, dict):
        return repr([(k, _digits(v)) for k, v in value.items()])
    if isinstance(value, tuple | list) and any(isinstance(v, np.ndarray | dict | tuple | list) for v in value):
        return repr([_digits(v) for v in value])
    array = as_array(value)
    if array is None:
        return repr(value)[:200]
    with np.errstate(all="ignore"):
        return f"{array.shape} {' '.join(f'{v:.3e}' for v in array.ravel()[:500] + 0.0)}"


def wrong_answers(
    misconceptions: Sequence[Misconception], answers: Mapping[str, Any]
) -> list[tuple[str, Misconception]]:
    """The wrong choices among a student's variables that a misconception knows, as ``(variable, misconception)``."""
    found: list[tuple[str, Misconception]] = []
    for misconception in misconceptions:
        wrong = misconception.function()
        if wrong and all(name in answers and _same_choice(answers[name], value) for name, value in wrong.items()):
            found.extend((name, misconception) for name in wrong)
    return found


def _same_choice(given: Any, wrong: Any) -> bool:
    if isinstance(given, str) and isinstance(wrong, str):
        if "->" in wrong:
            return _canonical(given) == _canonical(wrong)
        return choice_of(given) == choice_of(wrong)
    if isinstance(given, str) or isinstance(wrong, str):
        return False
    return given is not None and equal(given, wrong, rtol=1e-2, atol=5e-4)


def _canonical(equation: str) -> str:
    """An einsum equation with its letters renamed in order of appearance: ``"nd,md->nm"`` is ``"ia,ja->ij"``."""
    letters: dict[str, str] = {}
    text = "".join(equation.split())
    return re.sub("[A-Za-z]", lambda m: letters.setdefault(m[0], chr(ord("a") + len(letters) % 26)), text)
