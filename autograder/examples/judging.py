"""One visible check judged: does it hold, and if not, what was found and which case shows it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.checking import compare
from autograder.checking.arrays import paste
from autograder.checking.compare import Finding
from autograder.checking.predicates import evaluate
from autograder.examples.asking import Answers, at
from autograder.examples.format import NOTHING, AssertStep, CallStep, CheckExample, ExerciseExamples, Ref, VariableStep
from autograder.examples.values import decode_value
from autograder.judging import explanations as errors
from autograder.sandbox.protocol import Answer, Opaque, StudentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autograder.verdict import CheckStatus

__all__ = ["Fault", "changed_inputs", "fault_of", "is_blank", "is_unanswered", "parameter_names"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a check does not hold: the short reason, the case that shows it, and the steps that the blame rests on."""

    reason: str
    example: str
    status: CheckStatus
    steps: tuple[int, ...]


def fault_of(
    check: CheckExample, answers: Answers, exercise: ExerciseExamples, known: Iterable[str] = ()
) -> Fault | None:
    """The first thing that is wrong, in the order of the steps; ``None`` when the check holds.

    ``known`` are the names that the notebook defines, for a misspelt one to be set right.
    """
    for index, step in enumerate(check.steps):
        answer = answers[index]
        if isinstance(step, AssertStep):
            fault = _assertion_fault(step, answers)
        elif answer is None:
            fault = Fault("It could not be tried, since what came before it failed.", "", "not_tried", ())
        elif isinstance(step, VariableStep):
            fault = _variable_fault(step, answer, index)
        else:
            told = _call_fault(step, answer, known)
            fault = Fault(told[0], _case(check, index, step, exercise), told[1], (index,)) if told else None
        if fault is not None:
            return fault
    return None


def is_blank(answer: Answer | None, exercise: str) -> bool:
    """Whether a call ended in the ``NotImplementedError`` of the exercise's own stub (not of one that it calls)."""
    error = answer.error if answer is not None else None
    return error is not None and error.type == "NotImplementedError" and error.where in {"", exercise}


def is_unanswered(answer: Answer | None) -> bool:
    """Whether a variable is still ``None`` (or ``...``), or not there at all."""
    if answer is None or answer.stopped:
        return False
    if answer.error is not None:
        return answer.error.type == "NameError"
    return answer.value is None or (isinstance(answer.value, Opaque) and answer.value.type == "ellipsis")


def changed_inputs(answers: Sequence[Answer | None], steps: Sequence[Any]) -> list[tuple[CallStep, tuple[str, ...]]]:
    """The calls that changed their inputs, with what they changed."""
    pairs = zip(steps, answers, strict=True)
    return [(s, a.changed) for s, a in pairs if isinstance(s, CallStep) and a is not None and a.changed]


def parameter_names(signature: str) -> list[str]:
    """``["x", "axis"]`` for ``"softmax(x, axis=-1)"``; nothing where it cannot be read."""
    try:
        [function] = ast.parse(f"def {signature}: pass").body
    except (SyntaxError, ValueError):
        return []
    arguments = function.args if isinstance(function, ast.FunctionDef) else None
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args)] if arguments else []


def _assertion_fault(step: AssertStep, answers: Answers) -> Fault | None:
    refs = [step.actual] + ([step.expected] if isinstance(step.expected, Ref) else [])
    blamed = tuple(ref.step for ref in refs)
    inputs = {name: decode_value(value) for name, value in step.inputs.items()}
    try:
        actual = at(step.actual, answers)
    except (LookupError, TypeError):
        whole = at(Ref(step.actual.step), answers)
        finding: Finding | None = Finding(_no_such_part(step.actual, whole), "type")
    else:
        finding = evaluate(step.name, actual, _expected(step, answers), step.params)
    if finding is None:
        return None
    example = compare.describe_failure(finding, call=step.call, inputs=inputs, with_reason=False)
    return Fault(compare.named(finding.reason, step.call), example, "failed", blamed)


def _expected(step: AssertStep, answers: Answers) -> Any:
    if isinstance(step.expected, Ref):
        return at(step.expected, answers)
    return None if step.expected is NOTHING else decode_value(step.expected)


def _no_such_part(ref: Ref, whole: Any) -> str:
    part = ref.path[0] if ref.path else 0
    if isinstance(part, str):
        return f"It has no entry {part!r}: a dictionary with that key is asked for."
    if isinstance(whole, tuple | list):
        return f"It has {len(whole)} parts, and the one at index {part} is asked for."
    return "It is one value, where several are asked for: separate them with commas after `return`."


def _variable_fault(step: VariableStep, answer: Answer, index: int) -> Fault | None:
    if answer.error is not None and answer.error.type == "NameError":
        reason = f"There is no variable `{step.name}`: run the cell in which you answer, then check again."
    elif is_unanswered(answer):
        reason = f"`{step.name}` is not answered yet: it is still None."
    elif isinstance(answer.value, Opaque):
        reason = f"`{step.name}` is of type {answer.value.type}, and no answer is."
    else:
        return None
    return Fault(reason, "", "failed", (index,))


def _call_fault(step: CallStep, answer: Answer, known: Iterable[str]) -> tuple[str, CheckStatus] | None:
    name = step.function
    if answer.stopped:
        return errors.explain_stop(answer.stopped, function=name), "timeout" if answer.stopped == "timeout" else "error"
    if answer.error is not None:
        status: CheckStatus = "failed" if answer.error.type == errors.NOT_AS_ASKED else "error"
        return _error_reason(answer.error, name, known), status
    if answer.value is None and not step.probe:
        return f"`{name}` returned None: is there a `return`?", "failed"
    return None


def _error_reason(error: StudentError, function: str, known: Iterable[str]) -> str:
    if error.type == "NotImplementedError":
        if error.where not in {"", function}:
            return f"`{function}` calls `{error.where}`, which is not written yet: do `{error.where}` first."
        return "For these inputs it still raises NotImplementedError."
    return errors.explain(error.type, error.message, line=error.line, function=function, known=known, cell=error.cell)


def _case(check: CheckExample, index: int, step: CallStep, exercise: ExerciseExamples) -> str:
    """The inputs, ready to paste, and the call as the check words it, else spelled out from its arguments."""
    for other in check.steps:
        if isinstance(other, AssertStep) and index in _steps_of(other) and (other.call or other.inputs):
            return _pasted(other.inputs.items(), other.call)
    names = parameter_names(exercise.signature) if step.function == exercise.name else []
    named = [(names[i] if i < len(names) else f"x{i + 1}", value) for i, value in enumerate(step.args)]
    shown = [name for name, _ in named] + [f"{name}={name}" for name in step.kwargs]
    return _pasted([*named, *step.kwargs.items()], f"{step.function}({', '.join(shown)})")


def _pasted(inputs: Iterable[tuple[str, Any]], call: str) -> str:
    lines = [paste(name, decode_value(value)) for name, value in inputs if not isinstance(value, Ref)]
    return "\n".join([*lines, *([call] if call else [])])


def _steps_of(step: AssertStep) -> set[int]:
    return {ref.step for ref in (step.actual, step.expected) if isinstance(ref, Ref)}
