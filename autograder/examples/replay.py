"""Visible examples of one exercise tried on a student's code: a verdict; the mistake named where it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.examples.asking import Answers, ask, ask_quietly
from autograder.examples.diagnosis import matching
from autograder.examples.format import AssertStep, CheckExample, ExerciseExamples, VariableStep
from autograder.examples.judging import Fault, changed_inputs, fault_of, is_blank, is_unanswered, parameter_names
from autograder.verdict import CheckResult, ExerciseStatus, ExerciseVerdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.sandbox.protocol import Answer, Session

__all__ = ["INPUTS_KEPT", "not_written", "replay"]

INPUTS_KEPT = "inputs_kept"


def replay(
    exercise: ExerciseExamples, session: Session, *, reopen: Callable[[], Session] | None = None
) -> ExerciseVerdict:
    """The verdict on ``exercise`` by its visible checks, in their order.

    A check whose ``after`` did not pass is not tried. Where the session ends (a timeout, a crash), ``reopen`` gives
    another one for the checks that are left; without it they are not tried.
    """
    untouched = _not_attempted(exercise, session)
    if untouched is not None:
        return untouched
    results: list[CheckResult] = []
    answered: dict[str, Answers] = {}
    faults: dict[str, Fault] = {}
    passed: set[str] = set()
    for check in exercise.checks:
        if not session.alive and reopen is not None:
            session = reopen()
        if not set(check.after) <= passed or not session.alive:
            results.append(_result(check, "not_tried"))
            continue
        answers = answered[check.name] = ask(check, session)
        if not passed and not faults and _is_stub(exercise, answers):
            return not_written(exercise)
        fault = fault_of(check, answers, exercise, session.names())
        if fault is None:
            passed.add(check.name)
            results.append(_result(check, "passed"))
        else:
            faults[check.name] = fault
            results.append(_result(check, fault.status, fault))
    kept = _inputs_kept(exercise, answered)
    if kept is not None:
        results.append(kept)
    misconception, message = None, ""
    if faults or kept is not None:
        misconception, message = _diagnose(exercise, session, answered, faults, changed=kept is not None)
    return ExerciseVerdict(
        name=exercise.name,
        score=sum(check.points for check in exercise.checks if check.name in passed),
        max_score=sum(check.points for check in exercise.checks),
        status=_status(results),
        misconception=misconception,
        message=message,
        checks=tuple(results),
    )


def not_written(exercise: ExerciseExamples) -> ExerciseVerdict:
    """The verdict on a function that is still the stub."""
    return _blank(
        exercise,
        "not_attempted",
        f"`{exercise.name}` is not written yet: put your code where the stub raises NotImplementedError, run that "
        "cell, and check again.",
    )


def _result(check: CheckExample, status: str, fault: Fault | None = None) -> CheckResult:
    reason, example = (fault.reason, fault.example) if fault is not None else ("", "")
    return CheckResult(
        name=check.name,
        title=check.title,
        status=status,  # type: ignore[arg-type]  # one of the literals above
        message="\n".join(part for part in (reason, example) if part),
        visible=True,
        points=check.points,
        reason=reason,
        example=example,
    )


def _status(results: list[CheckResult]) -> ExerciseStatus:
    statuses = [result.status for result in results]
    if all(status == "passed" for status in statuses):
        return "passed"
    if "passed" in statuses:
        return "partial"
    first = next((status for status in statuses if status != "not_tried"), "failed")
    return first if first in {"error", "timeout"} else "failed"  # type: ignore[return-value]


def _is_stub(exercise: ExerciseExamples, answers: Answers) -> bool:
    given = [answer for answer in answers if answer is not None]
    return bool(given) and all(is_blank(answer, exercise.name) for answer in given)


def _not_attempted(exercise: ExerciseExamples, session: Session) -> ExerciseVerdict | None:
    if exercise.kind == "answers":
        names = exercise.answers or tuple(
            step.name for check in exercise.checks for step in check.steps if isinstance(step, VariableStep)
        )
        values = [session.value(name) for name in names]
        if not values or not all(is_unanswered(value) for value in values):
            return None
        if all(value.error is not None for value in values):
            message = (
                f"There is no variable {_listed(names, 'or')} yet: run the cell of `{exercise.name}`, then check again."
            )
        else:
            message = f"Nothing is answered yet: give {_listed(names, 'and')} a value, run that cell, and check again."
        return _blank(exercise, "not_attempted", message)
    if exercise.name not in session.names():
        message = (
            f"There is no function called `{exercise.name}` in this notebook: was it renamed, or its cell not run? "
            f"It should read `def {exercise.signature or exercise.name + '(…)'}:`."
        )
        return _blank(exercise, "error", message)
    return None


def _blank(exercise: ExerciseExamples, status: ExerciseStatus, message: str) -> ExerciseVerdict:
    return ExerciseVerdict(
        name=exercise.name,
        score=0.0,
        max_score=sum(check.points for check in exercise.checks),
        status=status,
        message=message,
        checks=tuple(_result(check, "not_tried") for check in exercise.checks),
    )


def _listed(names: tuple[str, ...], word: str) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"


def _inputs_kept(exercise: ExerciseExamples, answered: dict[str, Answers]) -> CheckResult | None:
    """The line that tells of a changed input, once; no check's own marks hang on it."""
    for check in exercise.checks:
        for step, changed in changed_inputs(answered.get(check.name, [None] * len(check.steps)), check.steps):
            names = parameter_names(exercise.signature) if step.function == exercise.name else []
            which = ", ".join(f"`{names[int(c)] if c.isdigit() and int(c) < len(names) else c}`" for c in changed)
            reason = (
                f"`{step.function}` changed its input {which}: whoever called it finds other numbers there afterwards. "
                "Work on a new array: `a = a / 2` makes one, `a /= 2` changes the old one."
            )
            return CheckResult(
                name=INPUTS_KEPT,
                title="the inputs stay as they were",
                status="failed",
                message=reason,
                visible=True,
                reason=reason,
            )
    return None


def _diagnose(
    exercise: ExerciseExamples,
    session: Session,
    answered: dict[str, Answers],
    faults: dict[str, Fault],
    *,
    changed: bool,
) -> tuple[str | None, str]:
    """The name and the message of the recognised mistake; ``(None, "")`` where none can be told for sure.

    Checks that were not tried are asked too, where the session still lives: the more that agrees, the surer it is.
    """
    if not exercise.misconceptions:
        return None, ""
    answers: list[Answer | None] = []
    blamed: list[frozenset[int]] = []
    for check in exercise.checks:
        given = answered.get(check.name)
        if given is None:
            given = ask_quietly(check, session)
        asked = [index for index, step in enumerate(check.steps) if not isinstance(step, AssertStep)]
        position = {index: len(answers) + offset for offset, index in enumerate(asked)}
        answers += [given[index] for index in asked]
        if check.name in faults:
            blamed.append(frozenset(position[index] for index in faults[check.name].steps))
    found = matching(exercise.misconceptions, answers, blamed, inputs_changed=changed)
    messages = list(dict.fromkeys(misconception.message for misconception in found))
    if len(messages) != 1:
        return None, ""
    return found[0].name, messages[0]
