"""Visible checks as data: each is run once against the reference, and what it asked and asserted is written down."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.checking.asserts import observing
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.spelling import answered, spelled
from autograder.course import CourseError
from autograder.examples import FORMAT, encode_value
from autograder.judging.explanations import signature_of_error
from autograder.judging.functions import InProcessSession
from autograder.judging.loader import ChapterChecks, drawing
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Answer, Call

__all__ = ["recorded"]

_SECONDS = 2.0  # for one call of a misconception


def recorded(checks: ChapterChecks) -> dict[str, Any]:
    """What ``examples.json`` holds for a chapter; raises ``CourseError`` for a visible check that cannot be written down."""
    return {
        "format": FORMAT,
        "course": checks.course.title or checks.course.course_id,
        "chapter": checks.chapter,
        "exercises": {name: _exercise(checks, spec) for name, spec in checks.specs.items()},
    }


def _exercise(checks: ChapterChecks, spec: ExerciseSpec) -> dict[str, Any]:
    tapes = {c.name: _record(checks, spec, c) for c in spec.checks if c.visible}
    signature = checks.signature(spec.name)
    # A quiz tells nothing before it is graded: what each wrong choice means is told with the marks.
    wrong = () if spec.answers else checks.misconceptions.get(spec.name, ())
    return {
        "kind": "answers" if spec.answers else "function",
        "answers": list(spec.answers),
        "points": spec.points,
        "signature": "" if spec.answers or signature is None else spec.name + _plain(signature),
        "hints": list(spec.hints),
        "checks": [
            {
                "name": c.name,
                "title": c.title,
                "points": c.points,
                "after": [n for n in c.after if n in spec.visible],
                "steps": tapes[c.name].steps,
            }
            for c in spec.checks
            if c.visible
        ],
        "misconceptions": [
            {"name": m.name, "message": m.message, "outcomes": _outcomes(checks, m, list(tapes.values()))}
            for m in wrong
        ],
    }


def _record(checks: ChapterChecks, spec: ExerciseSpec, check: CheckSpec) -> _Tape:
    tape = _Tape(checks, f"{checks.course.checks(checks.chapter).name}, {spec.name}.{check.name}")
    with drawing(checks.secret_for(spec.name, check.name), shrink=False), observing(tape):
        checks.run_check(spec.name, check.name, tape)
    if not any("assert" in step for step in tape.steps):
        raise CourseError(
            f"{tape.where} is visible but asserts nothing that can be recorded: use autograder's assertions."
        )
    return tape


class _Tape:
    """Stands where the student stands, answers with the reference, and writes down calls and assertions."""

    def __init__(self, checks: ChapterChecks, where: str) -> None:
        self.where = where
        self.steps: list[dict[str, Any]] = []
        self.calls: list[Call | str] = []  # one for each step that is a call or a variable
        self._checks = checks
        self._seen: list[tuple[Any, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._called(Call(name, args, kwargs), getattr(self._checks.reference, name)(*args, **kwargs))

        return call

    def probe(self, source: str, function: str, *args: Any, **kwargs: Any) -> Any:
        """A call through a probe is written down with the probe's text, which is no secret of the course's."""
        value = self._checks.reference.probe(source, function, *args, **kwargs)
        return self._called(Call(function, args, kwargs, source), value)

    def __getitem__(self, name: str) -> Any:
        value = answered(self._checks.reference[name], lambda: (name, {}))
        self.calls.append(name)
        self._note({"variable": name}, value)
        return value

    def within(self, memory_mb: int) -> _Tape:  # noqa: ARG002 - a notebook has no limit to set; the grader has
        """A limit on memory is the grader's: what is recorded is the call."""
        return self

    def when_graded(self, look: Callable[..., None], *args: Any) -> None:
        """What works on a returned value where it was graded is no step that a notebook could replay."""

    def take_care(self) -> None:
        """Replaying a call tells anyway when it changed its inputs."""

    def assertion(
        self, name: str, actual: Any, expected: Any, params: dict[str, Any], call: str, inputs: dict[str, Any]
    ) -> None:
        """Write one assertion down."""
        found = self._place(actual)
        if found is None:
            raise CourseError(
                f"{self.where} is visible, but asserts something about a value that is not directly what a student's function "
                "returned. Assert on the returned value itself, or leave the check hidden."
            )
        step: dict[str, Any] = {"assert": name, "actual": found, "params": params, "call": call}
        step["inputs"] = {k: encode_value(v) for k, v in inputs.items()}
        if name == "matches":
            # Only an array or a container can be told by its identity: True is True, whoever said it, and an answer that
            # were held against itself would always be right.
            own = self._place(expected) if isinstance(expected, np.ndarray | tuple | list | dict) else None
            step["expected"] = own or {"value": encode_value(expected)}
        self.steps.append(step)

    def _called(self, call: Call, value: Any) -> Any:
        self.calls.append(call)
        encoded: dict[str, Any] = {"function": call.function, "args": [self._argument(a) for a in call.args]}
        encoded["kwargs"] = {k: self._argument(v) for k, v in call.kwargs.items()}
        if call.probe:
            encoded["probe"] = call.probe
        self._note({"call": encoded}, value)
        return answered(value, lambda: spelled(call, self._checks.signature(call.function)), call)

    def _note(self, step: dict[str, Any], value: Any) -> None:
        index = len(self.steps)
        self.steps.append(step)
        self._remember(value, {"step": index, "path": []})

    def _remember(self, value: Any, place: dict[str, Any]) -> None:
        self._seen.append((value, place))
        parts: Sequence[tuple[Any, Any]] = ()
        if isinstance(value, tuple | list):
            parts = list(enumerate(value))
        elif isinstance(value, dict):
            parts = list(value.items())
        for key, part in parts:
            self._remember(part, {"step": place["step"], "path": [*place["path"], key]})

    def _place(self, value: Any) -> dict[str, Any] | None:
        # From the newest: True is True, whichever call gave it, and the newest is the one that was meant.
        return next((place for seen, place in reversed(self._seen) if seen is value and value is not None), None)

    def _argument(self, value: Any) -> Any:
        place = self._place(value) if isinstance(value, np.ndarray) else None
        return place or encode_value(value)


def _outcomes(checks: ChapterChecks, misconception: Misconception, tapes: list[_Tape]) -> list[dict[str, Any]]:
    namespace = {**checks.references, misconception.exercise: misconception.function}
    session = InProcessSession(namespace, call_seconds=_SECONDS)
    outcomes: list[dict[str, Any]] = []
    for tape in tapes:
        answers: dict[int, Answer] = {}
        asked = [i for i, step in enumerate(tape.steps) if "assert" not in step]
        for index, call in zip(asked, tape.calls, strict=True):
            if isinstance(call, str):
                outcomes.append({"skip": True})
                continue
            if not session.alive:
                session = InProcessSession(namespace, call_seconds=_SECONDS)
            resolved = _with_its_own(call, tape.steps[index]["call"], answers)
            answers[index] = Answer(stopped="skipped") if resolved is None else session.call(resolved)
            outcomes.append(_outcome(answers[index]))
    return outcomes


def _with_its_own(call: Call, step: dict[str, Any], answers: dict[int, Answer]) -> Call | None:
    """The call with arguments that were results of earlier calls replaced by the misconception's own results."""

    def own(value: Any, encoded: Any) -> Any:
        if not (isinstance(encoded, dict) and "step" in encoded):
            return value
        answer = answers[encoded["step"]]
        if answer.error is not None or answer.stopped:
            raise LookupError
        found = answer.value
        for key in encoded["path"]:
            found = found[key]
        return found

    try:
        args = tuple(own(v, e) for v, e in zip(call.args, step["args"], strict=True))
        return replace(call, args=args, kwargs={k: own(v, step["kwargs"][k]) for k, v in call.kwargs.items()})
    except (LookupError, TypeError):
        return None


def _outcome(answer: Answer) -> dict[str, Any]:
    if answer.stopped:
        return {"skip": True}
    changed = {"changed": list(answer.changed)} if answer.changed else {}
    if answer.error is not None:
        text = signature_of_error(answer.error.type, answer.error.message)
        return {"error": answer.error.type, "message": text, **changed}
    try:
        return {"value": encode_value(answer.value), **changed}
    except TypeError:
        return {"skip": True}


def _plain(signature: inspect.Signature) -> str:
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
