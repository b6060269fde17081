"""The checks of a quiz, from a list of its questions: whether each is answered, told at once, and whether it is right, told later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checking.asserts import CheckFailed, assert_choice, assert_number, assert_one_of
from autograder.checking.decorators import check, exercise

__all__ = ["Question", "choice", "number", "quiz"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a quiz.

    ``about`` is its title, a few words. The answer is one of ``options``, or a number where there are none: right when it
    lies no further than ``within`` from the reference's.
    """

    about: str
    options: tuple[str, ...] = ()
    within: float = 0.0


def choice(about: str, options: Sequence[str] = ("a", "b", "c", "d")) -> Question:
    """A question whose answer is one of the letters ``options``."""
    return Question(about, tuple(options))


def number(about: str, *, within: float = 1e-6) -> Question:
    """A question whose answer is a number, right to ``within``."""
    return Question(about, within=within)


def quiz(name: str, *, points: float, hints: Sequence[str], questions: Sequence[Question]) -> type:
    """The check class of the quiz ``name``, whose answers are the variables q1, q2, … of one stub cell.

    For each question there is a visible check that costs nothing, ``test_question_1_is_answered``, and a hidden one,
    ``test_question_1``, that waits for it. ``points`` are shared evenly. Raises ``TypeError`` where there is no question.

    Write ``TestQuiz = quiz("quiz_ch1", points=1, hints=(…), questions=[choice("who asks"), number("a weight", within=0.005)])``
    """
    if not questions:
        raise TypeError(f"the quiz {name!r} has no questions.")
    share = points / len(questions)
    numbered = list(enumerate(questions, 1))
    checks = [
        _named(_answered(f"q{i}", question), f"question_{i}_is_answered", _asked(i, question))
        for i, question in numbered
    ]
    checks += [
        _named(_right(f"q{i}", question, share), f"question_{i}", f"question {i}: {question.about}")
        for i, question in numbered
    ]
    body = {check.__name__: check for check in checks}
    answers = tuple(f"q{i}" for i, _ in numbered)
    return exercise(name, points=points, answers=answers, hints=hints)(type("TestQuiz", (), body))


def _asked(i: int, question: Question) -> str:
    return f"question {i} has {'an answer' if question.options else 'a number'}"


def _answered(variable: str, question: Question) -> Callable[..., None]:
    @check(visible=True)
    def answered(self: Any, student: Any) -> None:  # noqa: ARG001 - a method
        if question.options:
            assert_one_of(student[variable], question.options, call=variable)
        else:
            assert_number(student[variable], call=variable)

    return answered


def _right(variable: str, question: Question, share: float) -> Callable[..., None]:
    @check(points=share, after=f"test_question_{variable[1:]}_is_answered")
    def right(self: Any, student: Any, reference: Any) -> None:  # noqa: ARG001 - a method
        if question.options:
            assert_choice(student[variable], reference[variable], call=variable)
            return
        answer = np.asarray(student[variable]).item()
        if not abs(answer - reference[variable]) <= question.within:
            raise CheckFailed(f"{answer:g} is not the answer.")

    return right


def _named(check: Callable[..., None], name: str, title: str) -> Callable[..., None]:
    check.__name__, check.__doc__ = f"test_{name}", title
    check.__qualname__ = f"TestQuiz.{check.__name__}"
    return check
