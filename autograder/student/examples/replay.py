"""Replay recorded visible checks with the same judge that grading uses."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence

from autograder.base.foreign import Value
from autograder.base.verdict import ExerciseVerdict
from autograder.checking.asserts import CheckFailed, judge_assertion
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.predicates import same_choice
from autograder.checking.student_tests import join_failures
from autograder.judging.diagnosis import Candidate, Diagnosis, distinguishing_calls
from autograder.judging.exercise_session import ExerciseSession, Sessions, Subject
from autograder.judging.judge import Judge
from autograder.judging.proxies import StudentProxy
from autograder.judging.scoring import not_tried
from autograder.sandbox.protocol import Answer, Call, Limits, Opaque, StudentError
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

__all__ = ["RecordedChecks", "replay", "stub_verdict"]


def replay(
    exercises: Mapping[str, ExerciseExamples],
    subject: Subject,
    *,
    only: frozenset[str] | None = None,
    limits: Limits | None = None,
) -> tuple[ExerciseVerdict, ...]:
    """Return the verdicts on ``exercises``, or only on those in ``only``, in order.

    If a call is stopped, the message states its limit from ``limits``. A stub, or a quiz without answers, is "not attempted".
    """
    checks = RecordedChecks(exercises, limits)
    return tuple(map(checks.or_not_attempted, Judge(checks).judge(subject, only=only)))


class RecordedChecks:
    """The visible checks of a chapter, for a ``Judge``. Each check is a list of calls and of assertions about their results."""

    only_visible = True
    references: Mapping[str, Callable[..., Value]] = {}

    def __init__(self, exercises: Mapping[str, ExerciseExamples], limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._exercises = exercises
        self.specs = {name: _spec(exercise) for name, exercise in exercises.items()}
        self._signatures = {name: _signature(exercise.signature) for name, exercise in exercises.items()}
        self._checks = {(name, check.name): check for name, e in exercises.items() for check in e.checks}
        self._sessions: dict[str, ExerciseSession] = {}

    def visible_part(self) -> RecordedChecks:
        """Return these checks, since hidden checks are never recorded."""
        return self

    def converse(self, exercise: str, sessions: Sessions) -> ExerciseSession:
        """Return an ``ExerciseSession`` for ``exercise`` on the notebook that ``sessions`` open."""
        exercise_session = self._sessions[exercise] = ExerciseSession(
            **sessions._asdict(), limits=self._limits, signature=self._signatures.get
        )
        return exercise_session

    def run_check(self, exercise: str, check: str, student: StudentProxy) -> None:
        """Run the steps of one check. Raises the error of the first step that fails."""
        if source := self._checks[exercise, check].source:
            names: dict[str, Value] = {}
            exec(compile(source, f"<{check}>", "exec"), names)  # noqa: S102 - the author's own check
            names[check](None, student)
            return
        results: list[Value] = []
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
                    failures.append(failure)  # these failures are reported together
        if failures:
            raise join_failures(failures)

    def diagnosis(self, exercise: str) -> Diagnosis | None:
        """Return the ``Diagnosis`` for ``exercise`` from the recorded results of its misconceptions, or None if there are no misconceptions."""
        examples = self._exercises[exercise]
        if not examples.misconceptions:
            return None
        steps = [step for check in examples.checks for step in check.steps if isinstance(step, CallStep | VariableStep)]
        # Map each distinct call to its first position, which is also the position of its outcomes.
        places: dict[tuple[Value, ...], int] = {}
        calls = {i: _planned(step) for i, step in enumerate(steps) if isinstance(step, CallStep)}
        for i, call in calls.items():
            places.setdefault(call_key(call), i)
        indices = [places[call_key(c)] for c in distinguishing_calls(exercise, [calls[i] for i in places.values()])]
        plain = [i for i in indices if calls[i].memory_mb is None]
        limited = [i for i in indices if calls[i].memory_mb is not None]

        def known(outcomes: Sequence[RecordedAnswer], at: Sequence[int]) -> list[Answer | None]:
            return [_answer(outcomes[i]) if i < len(outcomes) else None for i in at]

        candidates, too_large = [], []
        for m in examples.misconceptions:
            differs = tuple(position for position, i in enumerate(plain) if _shows(m, i))
            candidates.append(Candidate(m.name, m.message, known(m.outcomes, plain), differs))
            if not differs:
                too_large.append(Candidate(m.name, m.message, known(m.outcomes, limited), ()))
        plain_calls, limited_calls = ([calls[i] for i in positions] for positions in (plain, limited))
        right = known(examples.right, plain)
        return Diagnosis(plain_calls, right, candidates, limited=limited_calls, too_large=lambda: too_large)

    def wrong_choices(self, exercise: str, answers: Mapping[str, Value]) -> list[tuple[str, str, str]]:
        """Return the known wrong choices among ``answers``. For a class, none is recorded, because students get the explanations with their marks."""
        choices = []
        for wrong in self._exercises[exercise].wrong_answers:
            if all(same_choice(answers.get(name), decode_value(value)) for name, value in wrong.answers.items()):
                choices += [(name, wrong.name, wrong.message) for name in wrong.answers]
        return choices

    def asks_for(self, exercise: str, check: str, variable: str) -> bool:
        """Return whether ``check`` reads ``variable``."""
        return VariableStep(variable) in self._checks[exercise, check].steps

    def right_answer(self, call: Call) -> Value:
        """Return the structure of the correct result without its values, or None if it was not recorded."""
        for check in self._checks.values():
            for step in check.steps:
                if isinstance(step, CallStep) and step.parts and call_key(_planned(step)) == call_key(call):
                    return step.parts
        return None

    def or_not_attempted(self, verdict: ExerciseVerdict) -> ExerciseVerdict:
        """Return ``verdict``, or the verdict "not attempted" if every call shows that the exercise was not begun."""
        exercise, exercise_session = self._exercises[verdict.name], self._sessions.get(verdict.name)
        answers = [answer for _call, answer in exercise_session.log] if exercise_session is not None else []
        if verdict.status == "passed" or not answers:
            return verdict
        if exercise.kind == "answers":
            return _unanswered(exercise, answers) if all(map(_is_unanswered, answers)) else verdict
        return stub_verdict(exercise) if all(_is_blank(answer, exercise) for answer in answers) else verdict


def stub_verdict(exercise: ExerciseExamples) -> ExerciseVerdict:
    """Return the verdict on a function that is still a stub."""
    todo = "put your code where the stub raises NotImplementedError, run that cell, and check again."
    return _not_attempted(exercise, f"`{exercise.name}` is not written yet, or you have not run its cell: {todo}")


def _unanswered(exercise: ExerciseExamples, answers: Sequence[Answer]) -> ExerciseVerdict:
    names = exercise.answers
    if all(answer.error is not None for answer in answers):
        todo = f"There is no variable {_listed(names, 'or')} yet: run the cell of `{exercise.name}`, then check again."
    else:
        todo = f"You have not answered yet: assign a value to {_listed(names, 'and')}, run the cell, and check again."
    return _not_attempted(exercise, todo)


def _not_attempted(exercise: ExerciseExamples, message: str) -> ExerciseVerdict:
    results = tuple(map(not_tried, _spec(exercise).checks))
    worth = sum(result.points for result in results)
    return ExerciseVerdict(exercise.name, 0.0, worth, "not_attempted", message=message, checks=results)


def _is_blank(answer: Answer, exercise: ExerciseExamples) -> bool:
    """Return whether a call raised the ``NotImplementedError`` of the exercise's own stub, and not of another stub that the exercise calls."""
    if answer.error is None or answer.error.type != "NotImplementedError":
        return False
    return exercise.kind == "class" or answer.error.where in {"", exercise.name}


def _is_unanswered(answer: Answer) -> bool:
    """Return whether a variable is ``None``, ``...`` or missing."""
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
    """Return the parameters, without defaults, of a signature such as ``"softmax(x, axis=-1)"``, or None if it cannot be parsed."""
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


def _called(step: CallStep, student: StudentProxy, results: Sequence[Value]) -> Value:
    args = [_value(value, results) for value in step.args]
    kwargs = {name: _value(value, results) for name, value in step.kwargs.items()}
    if step.expects is not None:
        value = student.outcome(Call(step.function, tuple(args), kwargs, step.probe, expects=step.expects))
    elif step.probe:
        look = student.measure if step.measured else student.probe
        value = look(step.probe, step.function, *args, **kwargs)
    else:
        allowed = student if step.memory_mb is None else student.within(step.memory_mb)
        value = getattr(allowed, step.function)(*args, **kwargs)
    if step.unpacked and len(list(value)) != len(step.parts or ()):
        raise ValueError(f"not {len(step.parts or ())} values to unpack")
    return value


def _planned(step: CallStep) -> Call:
    """Return the call of ``step`` with the arguments that it has in a correct solution."""
    args, kwargs = step.planned if step.planned is not None else (step.args, step.kwargs)
    named = {name: decode_value(value) for name, value in kwargs.items()}
    values = tuple(map(decode_value, args))
    return Call(step.function, values, named, step.probe, step.memory_mb, step.measured, step.expects)


def _value(value: Value, results: Sequence[Value]) -> Value:
    """Return the value of a step's argument, which is a part of an earlier result or an encoded value."""
    if not isinstance(value, Ref):
        return decode_value(value)
    result = results[value.step]
    for part in value.path:
        result = result[part]
    return result


def _shows(mistake: MisconceptionExample, place: int) -> bool:
    """Return whether the mistake affects the outcome at ``place``. If this was not recorded, assume that it affects every known outcome."""
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
