"""Define a quiz as one table with the right answer to each question and a message for each wrong answer.

The table is part of the reference solutions. The quiz's checks, reference, misconceptions and alternatives are
derived from it.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.checking.asserts import assert_choice, assert_number, assert_number_is, assert_one_of
from autograder.checking.decorators import check, exercise, hints_in
from autograder.misconception import Alternative, Misconception

__all__ = ["Question", "Quiz", "choice", "number", "quiz"]

Wrong = Mapping[Value, str]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a quiz.

    Attributes:
        about: the title in a few words.
        right: the right answer: one of ``options``, or a number if there are none.
        wrong: messages for wrong answers. A key ``("a", "name")`` also sets the misconception's name, which by
            default consists of the variable and the answer.
        options: the possible answers.
        within: the largest accepted difference from a number.
    """

    about: str
    right: Value
    wrong: Wrong = field(default_factory=dict)
    options: tuple[str, ...] = ()
    within: float = 0.0

    def mistakes(self, variable: str) -> list[tuple[Value, str, str]]:
        """Return the answer, name and message of each misconception."""
        found = []
        for key, text in self.wrong.items():
            answer, name = key if isinstance(key, tuple) else (key, f"{variable}_{key}")
            found.append((answer, name, inspect.cleandoc(text)))
        return found


def choice(
    about: str, *, right: str | None = None, wrong: Wrong | None = None, options: Sequence[str] = ("a", "b", "c", "d")
) -> Question:
    """Define a question whose answer is one of the letters ``options``."""
    return Question(about, right, dict(wrong or {}), tuple(options))


def number(about: str, *, right: float | None = None, within: float = 1e-6, wrong: Wrong | None = None) -> Question:
    """Define a question whose answer is a number. An error of at most ``within`` is accepted."""
    return Question(about, right, dict(wrong or {}), within=within)


@dataclass(frozen=True, slots=True)
class Quiz:
    """A quiz. Calling it returns the right answers, so it is its own reference."""

    name: str
    points: float
    hints: tuple[str, ...]
    questions: Mapping[str, Question]

    def __call__(self) -> dict[str, Value]:
        """Return the right answers, by variable."""
        return {variable: question.right for variable, question in self.questions.items()}

    def checks(self) -> type:
        """Return the check class, for the check file: ``TestQuiz = quiz_ch1.checks()``.

        Each question has a visible check without points, such as ``test_question_1_is_answered``. A hidden check,
        such as ``test_question_1``, depends on the visible one. The hidden checks share the points evenly.
        """
        share = self.points / len(self.questions)
        answered, right = [], []
        for i, (variable, question) in enumerate(self.questions.items(), 1):
            what = "an answer" if question.options else "a number"
            has = _named(_answered(variable, question), f"question_{i}_is_answered", f"question {i} has {what}")
            judged = check(points=share, after=has.__name__)(_right(variable, question))
            answered.append(has)
            right.append(_named(judged, f"question_{i}", f"question {i}: {question.about}"))
        body = {function.__name__: function for function in answered + right}
        mark = exercise(self.name, points=self.points, answers=tuple(self.questions), hints=self.hints)
        return mark(type("TestQuiz", (), body))

    @property
    def misconceptions(self) -> list[Misconception]:
        """The misconceptions: one for each wrong answer that has a message."""
        return [
            Misconception(name, self.name, message, partial(dict, {variable: answer}))
            for variable, question in self.questions.items()
            for answer, name, message in question.mistakes(variable)
        ]

    @property
    def alternatives(self) -> list[Alternative]:
        """The right answers, written in unusual ways that the checks must accept."""
        return [
            self._written(
                "quiz_with_capitals", "Capital letters, and numbers that are just close enough.", str.upper, float
            ),
            self._written("quiz_with_brackets", "Letters in brackets, and NumPy's numbers.", "({})".format, np.float64),
            self._written(
                "quiz_with_an_array_of_one", "Stray spaces, and arrays of one number.", " {} ".format, np.array
            ),
        ]

    def _written(
        self, name: str, note: str, letter: Callable[[str], str], value: Callable[[float], Value]
    ) -> Alternative:
        answers = {
            variable: letter(question.right) if question.options else value(question.right + 0.9 * question.within)
            for variable, question in self.questions.items()
        }
        return Alternative(name, self.name, note, partial(dict, answers))


def quiz(name: str, *, points: float, questions: Mapping[str, Question], hints: str | Sequence[str] = ()) -> Quiz:
    """Define the quiz ``name``. The keys of ``questions`` are the variables that students set, all in one stub cell.

    ``hints`` is a text with one paragraph per hint, or a sequence. Raises ``CourseError``, with file and line, if there is no
    question, if a question has no right answer, if an answer is not among the question's options, or if a wrong answer is also right.

    >>> quiz_ch1 = quiz(
    ...     "quiz_ch1",
    ...     points=1,
    ...     questions={
    ...         "q1": choice("who asks", right="b", wrong={"a": "A key is looked at; it does not ask."}),
    ...         "q2": number("a weight", right=0.09, within=0.005, wrong={0.9: "That is ten times as much."}),
    ...     },
    ... )
    >>> quiz_ch1()
    {'q1': 'b', 'q2': 0.09}
    """
    [here, _] = traceback.extract_stack(limit=2)
    where = f"{here.filename}, line {here.lineno}: the quiz {name!r}"
    if not questions:
        raise CourseError(f"{where} has no questions.")
    for variable, question in questions.items():
        _refuse(f"{where}, question {variable} ({question.about})", question)
    return Quiz(name, float(points), hints_in(hints) if isinstance(hints, str) else tuple(hints), dict(questions))


def _refuse(where: str, question: Question) -> None:
    if question.right is None:
        raise CourseError(f"{where} has no right answer: add right=….")
    answers = [answer for answer, _, _ in question.mistakes("")]
    options = ", ".join(question.options)
    for answer in [question.right, *answers]:
        if question.options and answer not in question.options:
            raise CourseError(f"{where} has the answer {answer!r}, which is not one of its options: {options}.")
        if not question.options and not isinstance(answer, int | float):
            raise CourseError(f"{where} has the answer {answer!r}, which is not a number.")
    for answer in answers:
        if answer == question.right if question.options else abs(answer - question.right) <= question.within:
            raise CourseError(f"{where} has {answer!r} among its wrong answers, but that is the right answer.")


def _answered(variable: str, question: Question) -> Callable[..., None]:
    @check(visible=True)
    def answered(self: Any, student: Any) -> None:  # noqa: ARG001 - a method
        if question.options:
            assert_one_of(student[variable], question.options)
        else:
            assert_number(student[variable])

    return answered


def _right(variable: str, question: Question) -> Callable[..., None]:
    def right(self: Any, student: Any) -> None:  # noqa: ARG001 - a method
        if question.options:
            assert_choice(student[variable], question.right)
        else:
            assert_number_is(student[variable], question.right, within=question.within)

    return right


def _named(function: Callable[..., None], name: str, title: str) -> Callable[..., None]:
    function.__name__, function.__doc__ = f"test_{name}", title
    function.__qualname__ = f"TestQuiz.{function.__name__}"
    return function
