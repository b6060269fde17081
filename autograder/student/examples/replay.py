"""Visible checks as they were recorded, for the judge: a notebook judges itself as the grader judges it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.base.verdict import ExerciseVerdict
from autograder.checking.asserts import CheckFailed, judge_assertion
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.predicates import same_choice
from autograder.checking.student_tests import join_failures
from autograder.judging.diagnosis import Candidate, Diagnosis, distinguishing_calls
from autograder.judging.exercise_session import ExerciseSession, Subject
from autograder.judging.judge import Judge
from autograder.judging.proxies import StudentProxy
from autograder.judging.scoring import not_tried
from autograder.sandbox.protocol import Answer, Call, Limits, Opaque, Session, StudentError
from autograder.student.examples.format import (
    NOTHING,
    CallStep,
    ExerciseExamples,
    MisconceptionExample,
    RecordedAnswer,
    Ref,
    VariableStep,
)
from autograder.values import call_key, decode_value

__all__ = ["RecordedChecks", "replay", "stub_verdict", "syntax_error_verdict"]


def replay(
    exercises: Mapping[str, ExerciseExamples],
    subject: Subject,
    *,
    only: frozenset[str] | None = None,
    limits: Limits | None = None,
) -> tuple[ExerciseVerdict, ...]:
    """The verdicts on ``exercises`` (on those in ``only``) by their visible checks, in their order.

    ``limits`` are those by which a call is stopped, for the sentence that says so. A function that is still the stub, and a quiz without an answer, count as not attempted.
    """
    checks = RecordedChecks(exercises, limits)
    return tuple(map(checks.or_not_attempted, Judge(checks).judge(subject, only=only)))


class RecordedChecks:
    """The visible checks of a chapter, for a ``Judge``: each is a list of calls and of assertions about their results."""

    only_visible = True
    references: Mapping[str, Callable[..., Any]] = {}

    def __init__(self, exercises: Mapping[str, ExerciseExamples], limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._exercises = exercises
        self.specs = {name: _spec(exercise) for name, exercise in exercises.items()}
        self._signatures = {name: _signature(exercise.signature) for name, exercise in exercises.items()}
        self._checks = {(name, check.name): check for name, e in exercises.items() for check in e.checks}
        self._conversations: dict[str, ExerciseSession] = {}

    def visible_part(self) -> RecordedChecks:
        """All of them: hidden checks are never recorded."""
        return self

    def converse(
        self,
        exercise: str,
        session: Callable[[], Session],
        limited: Callable[[int], Session] | None = None,
        fresh_session: Callable[[], Session] | None = None,
    ) -> ExerciseSession:
        """A conversation about ``exercise`` with the notebook behind ``session``."""
        conversation = self._conversations[exercise] = ExerciseSession(
            session,
            limited=limited,
            fresh_session=fresh_session,
            limits=self._limits,
            signature=self._signatures.get,
        )
        return conversation

    def run_check(self, exercise: str, check: str, student: StudentProxy) -> None:
        """Take the steps of one check; raises what the first that does not hold raises."""
        results: list[Any] = []
        failures: list[CheckFailed] = []
        for step in self._checks[exercise, check].steps:
            if isinstance(step, VariableStep):
                results.append(student[step.name])
            elif isinstance(step, CallStep):
                results.append(_called(step, student, results))
            else:
                results.append(None)
                expected = None if step.expected is NOTHING else _value(step.expected, results)
                inputs = {name: _value(value, results) for name, value in step.inputs.items()}
                try:
                    judge_assertion(step.name, _value(step.actual, results), expected, step.params, step.call, inputs)
                except CheckFailed as failure:
                    if step.name != "lets_through":
                        raise
                    failures.append(failure)  # all of them are told at once
        if failures:
            raise join_failures(failures)

    def diagnosis(self, exercise: str) -> Diagnosis | None:
        """The misconceptions' recorded answers; None where there are none."""
        found = self._exercises[exercise]
        if not found.misconceptions:
            return None
        steps = [step for check in found.checks for step in check.steps if isinstance(step, CallStep | VariableStep)]
        # Each question once, at the place of its recorded outcomes.
        places: dict[tuple[Any, ...], int] = {}
        calls = {i: _planned(step) for i, step in enumerate(steps) if isinstance(step, CallStep)}
        for i, call in calls.items():
            places.setdefault(call_key(call), i)
        asked = [places[call_key(c)] for c in distinguishing_calls(exercise, [calls[i] for i in places.values()])]
        plain = [i for i in asked if calls[i].memory_mb is None]
        limited = [i for i in asked if calls[i].memory_mb is not None]

        def known(outcomes: Sequence[RecordedAnswer], at: Sequence[int]) -> list[Answer | None]:
            return [_answer(outcomes[i]) if i < len(outcomes) else None for i in at]

        candidates, too_large = [], []
        for m in found.misconceptions:
            differs = tuple(position for position, i in enumerate(plain) if _shows(m, i))
            candidates.append(Candidate(m.name, m.message, known(m.outcomes, plain), differs))
            if not differs:
                too_large.append(Candidate(m.name, m.message, known(m.outcomes, limited), ()))
        asked_for = [[calls[i] for i in places] for places in (plain, limited)]
        return Diagnosis(
            asked_for[0], known(found.right, plain), candidates, limited=asked_for[1], too_large=lambda: too_large
        )

    def wrong_choices(self, exercise: str, answers: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        """The known wrong choices among the answers: in a class none, as what they mean comes with the marks."""
        found = []
        for wrong in self._exercises[exercise].wrong_answers:
            if all(same_choice(answers.get(name), decode_value(value)) for name, value in wrong.answers.items()):
                found += [(name, wrong.name, wrong.message) for name in wrong.answers]
        return found

    def asks_for(self, exercise: str, check: str, variable: str) -> bool:
        """Whether ``check`` reads ``variable``."""
        return VariableStep(variable) in self._checks[exercise, check].steps

    def right_answer(self, call: Call) -> Any:
        """The parts that a right answer consists of, with nothing in them; None where that was not recorded."""
        for check in self._checks.values():
            for step in check.steps:
                if isinstance(step, CallStep) and step.parts and call_key(_planned(step)) == call_key(call):
                    return step.parts
        return None

    def or_not_attempted(self, verdict: ExerciseVerdict) -> ExerciseVerdict:
        """``verdict``, or that nothing was begun, where every answer says so."""
        exercise, conversation = self._exercises[verdict.name], self._conversations.get(verdict.name)
        answers = [answer for _call, answer in conversation.log] if conversation is not None else []
        if verdict.status == "passed" or not answers:
            return verdict
        if exercise.kind == "answers":
            return _unanswered(exercise, answers) if all(map(_is_unanswered, answers)) else verdict
        is_class = exercise.kind == "class"
        blank = all(_is_blank(answer, exercise.name, is_method=is_class) for answer in answers)
        return stub_verdict(exercise) if blank else verdict


def stub_verdict(exercise: ExerciseExamples) -> ExerciseVerdict:
    """The verdict on a function that is still the stub."""
    todo = "put your code where the stub raises NotImplementedError, run that cell, and check again."
    return _not_attempted(exercise, f"`{exercise.name}` is not written yet, or was not run since: {todo}")


def syntax_error_verdict(exercise: ExerciseExamples) -> ExerciseVerdict:
    """The verdict on a stub that is still there because Python could not read what was written in its place."""
    todo = "mend the line that the error names, run that cell, and check again."
    message = f"Python could not read your `{exercise.name}` when its cell was run last (a SyntaxError), so nothing in it was run: {todo}"
    return replace(_not_attempted(exercise, message), status="error")


def _unanswered(exercise: ExerciseExamples, answers: Sequence[Answer]) -> ExerciseVerdict:
    names = exercise.answers
    if all(answer.error is not None for answer in answers):
        todo = f"There is no variable {_listed(names, 'or')} yet: run the cell of `{exercise.name}`, then check again."
    else:
        todo = f"Nothing is answered yet: give {_listed(names, 'and')} a value, run that cell, and check again."
    return _not_attempted(exercise, todo)


def _not_attempted(exercise: ExerciseExamples, message: str) -> ExerciseVerdict:
    results = tuple(map(not_tried, _spec(exercise).checks))
    worth = sum(result.points for result in results)
    return ExerciseVerdict(exercise.name, 0.0, worth, "not_attempted", message=message, checks=results)


def _is_blank(answer: Answer, exercise: str, *, is_method: bool = False) -> bool:
    """Whether a call ended in the ``NotImplementedError`` of the exercise's own stub (not of one that it calls)."""
    error = answer.error
    return error is not None and error.type == "NotImplementedError" and (is_method or error.where in {"", exercise})


def _is_unanswered(answer: Answer) -> bool:
    """Whether a variable is still ``None`` (or ``...``), or not there at all."""
    if answer.error is not None:
        return answer.error.type == "NameError"
    return not answer.stopped and (answer.value is None or answer.value == Opaque("ellipsis"))


def _listed(names: Sequence[str], word: str) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"


def _spec(exercise: ExerciseExamples) -> ExerciseSpec:
    checks = tuple(CheckSpec(c.name, c.title, c.points, visible=True, after=c.after) for c in exercise.checks)
    return ExerciseSpec(exercise.name, exercise.points, checks, answers=exercise.answers)


def _signature(text: str) -> inspect.Signature | None:
    """The signature that ``"softmax(x, axis=-1)"`` spells, names alone; None where it cannot be read."""
    try:
        [function] = ast.parse(f"def {text}: pass").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(function, ast.FunctionDef):
        return None
    arguments, kind = function.args, inspect.Parameter
    names = [kind(a.arg, kind.POSITIONAL_OR_KEYWORD) for a in (*arguments.posonlyargs, *arguments.args)]
    names += [kind(arguments.vararg.arg, kind.VAR_POSITIONAL)] if arguments.vararg else []
    return inspect.Signature([*names, *(kind(a.arg, kind.KEYWORD_ONLY) for a in arguments.kwonlyargs)])


def _called(step: CallStep, student: StudentProxy, results: Sequence[Any]) -> Any:
    args = [_value(value, results) for value in step.args]
    kwargs = {name: _value(value, results) for name, value in step.kwargs.items()}
    if step.probe:
        look = student.measure if step.measured else student.probe
        value = look(step.probe, step.function, *args, **kwargs)
    else:
        allowed = student if step.memory_mb is None else student.within(step.memory_mb)
        value = getattr(allowed, step.function)(*args, **kwargs)
    if step.unpacked and len(list(value)) != len(step.parts or ()):
        raise ValueError(f"not {len(step.parts or ())} values to unpack")
    return value


def _planned(step: CallStep) -> Call:
    """The call as it is made of a student who is right."""
    args, kwargs = step.planned if step.planned is not None else (step.args, step.kwargs)
    named = {name: decode_value(value) for name, value in kwargs.items()}
    return Call(step.function, tuple(map(decode_value, args)), named, step.probe, step.memory_mb, step.measured)


def _value(value: Any, results: Sequence[Any]) -> Any:
    """A value written in a step: the part of an earlier result that it points at, or what it spells."""
    if not isinstance(value, Ref):
        return decode_value(value)
    found = results[value.step]
    for part in value.path:
        found = found[part]
    return found


def _shows(mistake: MisconceptionExample, place: int) -> bool:
    """Whether the mistake shows in the outcome at ``place``: where that was not recorded, wherever it is known."""
    if mistake.differs is not None:
        return place in mistake.differs
    return place < len(mistake.outcomes) and not mistake.outcomes[place].skip


def _answer(outcome: RecordedAnswer) -> Answer | None:
    if outcome.skip:
        return None
    if outcome.stopped:
        return Answer(stopped=outcome.stopped)
    if outcome.error:
        text = outcome.message.removeprefix(f"{outcome.error}: ")
        return Answer(error=StudentError(outcome.error, text), changed=outcome.changed)
    return Answer(decode_value(outcome.value), changed=outcome.changed)
