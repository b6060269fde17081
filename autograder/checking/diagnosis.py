"""Which mistake explains what a student's code answered: silent rather than wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.checking.compare import choice_of, equal
from autograder.checking.conversation import same_answer
from autograder.checking.inprocess import InProcessSession
from autograder.checking.values import key_of
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Answer, Call

__all__ = ["Diagnostician", "wrong_answers"]

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
        self._calls = [call for call in plan if call.function == exercise]
        self._keys = [key_of(call) for call in self._calls]
        right = InProcessSession(references).batch(self._calls)
        self._known: list[_Known] = []
        for misconception in misconceptions:
            namespace = {**references, exercise: misconception.function}
            answers = InProcessSession(namespace, call_seconds=_SECONDS).batch(self._calls)
            differs = tuple(i for i, call in enumerate(self._calls) if not same_answer(answers[i], right[i], call))
            if differs:
                self._known.append(_Known(misconception, answers, differs))
        # Nearest to right first: of two that explain everything, the one that claims less is the more specific.
        self._known.sort(key=lambda known: len(known.differs))

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
        return None

    def _explains(self, known: _Known, given: Sequence[Answer | None]) -> bool:
        # The questions that tell it from a right answer come first: most candidates fall there.
        rest = set(range(len(given))).difference(known.differs)
        for i in (*known.differs, *rest):
            answer = given[i]
            if answer is None or not same_answer(answer, known.answers[i], self._calls[i]):
                return False
        return True


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
