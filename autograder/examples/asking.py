"""Asking a student's functions what the examples ask: calls and variables in, answers out, nothing judged."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from autograder.examples.format import CallStep, CheckExample, Ref, VariableStep
from autograder.examples.values import decode_value
from autograder.sandbox.protocol import Answer, Call, Session

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Answers", "ask", "ask_quietly", "at"]

Answers = list[Answer | None]  # one for each step; None where there was nothing to ask, or no way to ask it


def ask(check: CheckExample, session: Session) -> Answers:
    """What ``session`` gives for each step of ``check``.

    Calls marked ``hold`` that stand together are one batch, so that results which share memory show up.
    """
    answers: Answers = []
    steps = check.steps
    while len(answers) < len(steps):
        index = len(answers)
        step = steps[index]
        if isinstance(step, VariableStep):
            answers.append(session.value(step.name) if session.alive else None)
        elif isinstance(step, CallStep):
            held = _held_together(steps, index)
            calls = [_call(call, answers) for call in held]
            ready = [call for call in calls if call is not None]
            if not session.alive or len(ready) < len(calls):
                answers.extend([None] * len(held))
            elif step.probe:
                answers.append(session.probe(step.probe, ready[0]))
            elif step.hold:
                answers.extend(session.batch(ready, hold=True))
            else:
                answers.append(session.call(ready[0]))
        else:
            answers.append(None)
    return answers


def ask_quietly(check: CheckExample, session: Session) -> Answers:
    """``ask`` where nobody should see what the student's code prints: the answers only serve to compare."""
    with getattr(session, "quietly", contextlib.nullcontext)():
        return ask(check, session)


def at(ref: Ref, answers: Sequence[Answer | None]) -> Any:
    """The value that ``ref`` points at; raises ``LookupError`` where the student's answer has no such part."""
    answer = answers[ref.step]
    if answer is None or answer.error is not None or answer.stopped:
        raise LookupError(ref.step)
    value = answer.value
    for part in ref.path:
        if not isinstance(value, dict) and not hasattr(value, "__getitem__"):
            raise LookupError(ref.path)
        value = value[part]
    return value


def _held_together(steps: Sequence[Any], start: int) -> list[CallStep]:
    together: list[CallStep] = [steps[start]]
    if steps[start].hold and not steps[start].probe:
        for step in steps[start + 1 :]:
            if not isinstance(step, CallStep) or not step.hold or step.probe or _leans_on_a_step(step, start):
                break
            together.append(step)
    return together


def _leans_on_a_step(step: CallStep, start: int) -> bool:
    return any(isinstance(value, Ref) and value.step >= start for value in (*step.args, *step.kwargs.values()))


def _call(step: CallStep, answers: Answers) -> Call | None:
    def argument(value: Any) -> Any:
        return at(value, answers) if isinstance(value, Ref) else decode_value(value)

    try:
        return Call(
            step.function,
            tuple(argument(value) for value in step.args),
            {name: argument(value) for name, value in step.kwargs.items()},
        )
    except (LookupError, TypeError):
        return None
