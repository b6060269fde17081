"""The ``examples.json`` of a small chapter, written manually for the tests of the student side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from autograder.judging.explanations import signature_of_error
from autograder.values import encode_value

CHAPTER = "ch9_by_hand"
HINTS = ["First hint.", "Second hint: look at `keepdims`.", "Third hint."]
SMALL = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
FAR_APART = np.array([[0.0, 1.0], [2000.0, 2001.0]])
TALL = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]])


def softmax(x, axis=-1):
    """The right one."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def one_maximum(x, axis=-1):
    """Wrong for rows of very different size."""
    e = np.exp(x - x.max())
    with np.errstate(all="ignore"):
        return e / e.sum(axis=axis, keepdims=True)


def last_axis_always(x, axis=-1):  # noqa: ARG001 - the mistake
    """Wrong for any other axis."""
    return softmax(x)


def no_shift(x, axis=-1):
    """Wrong for large scores."""
    with np.errstate(all="ignore"):
        return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def whole_array(x, axis=-1):  # noqa: ARG001 - the mistake
    """Wrong for more than one row."""
    e = np.exp(x - x.max())
    return e / e.sum()


MESSAGES = {
    one_maximum: "You subtracted one maximum for the whole array. It keeps the largest row safe, but a row far below it\n"
    "underflows to 0/0. Each slice along `axis` needs its own maximum: which argument of `max` keeps the axis?",
    last_axis_always: "You always worked along the last axis. The argument `axis` says which one is meant.",
    no_shift: "You took the exponential of the scores as they are, and large ones overflow.",
    whole_array: "You divided by the sum of the whole array. Each slice along `axis` has a sum of its own.",
}


def encoded(values: dict[str, Any]) -> dict[str, Any]:
    """Encode each of these values as in the file."""
    return {name: encode_value(value) for name, value in values.items()}


def call_step(function: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return a step that calls ``function``."""
    arguments = {"args": [encode_value(a) for a in args], "kwargs": encoded(kwargs)}
    return {"call": {"function": function, **arguments, "hold": False}}


def matches(step: int, value: Any, call: str = "", path: tuple[Any, ...] = (), **inputs: Any) -> dict[str, Any]:
    """Return a step that compares the result of ``step`` with ``value``."""
    actual, expected = {"step": step, "path": list(path)}, {"value": encode_value(value)}
    shown = {"call": call, "inputs": encoded(inputs)}
    return {"assert": "matches", "actual": actual, "expected": expected, "rtol": 1e-5, "atol": 1e-6, **shown}


def holds(name: str, step: int, call: str = "", params: dict[str, Any] | None = None, **inputs: Any) -> dict[str, Any]:
    """Return a step that asserts a property of the result of ``step``."""
    shown = {"call": call, "inputs": encoded(inputs)}
    return {"assert": name, "actual": {"step": step, "path": []}, "params": params or {}, **shown}


def check_entry(
    name: str, title: str, steps: list[dict[str, Any]], points: float = 1, after: tuple[str, ...] = ()
) -> Any:
    """Return one visible check."""
    return {"name": name, "title": title, "points": points, "after": list(after), "steps": steps}


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return the outcome that a recorder would store for one call of a wrong solution."""
    try:
        return {"value": encode_value(function(*args, **kwargs))}
    except Exception as error:  # noqa: BLE001
        return {"error": type(error).__name__, "message": signature_of_error(type(error).__name__, str(error))}


def misconception(name: str, message: str, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one named mistake."""
    return {"name": name, "message": message, "outcomes": outcomes}


def exercise_entry(signature: str, checks: list[Any], misconceptions: list[Any] = (), **more: Any) -> dict[str, Any]:
    """Return one exercise that asks for a function."""
    entry = {"kind": "function", "answers": [], "points": 4, "signature": signature, "stub": "", "hints": HINTS}
    return {**entry, "checks": checks, "misconceptions": list(misconceptions), **more}


def softmax_entry() -> dict[str, Any]:
    """Four visible checks of softmax, worth 3 of its 4 points, with four misconceptions."""

    def example(x: np.ndarray, call: str = "softmax(x)", **axis: int) -> list[dict[str, Any]]:
        return [call_step("softmax", x, **axis), matches(0, softmax(x, **axis), call, x=x)]

    far_apart = "rows of very different size each keep their own weights"
    along_0 = example(TALL, "softmax(x, axis=0)", axis=0)
    sums = [call_step("softmax", TALL), holds("sums_to_one", 0, "softmax(x)", x=TALL)]
    checks = [
        check_entry("test_small_example", "the example worked by hand", example(SMALL)),
        check_entry("test_sums", "each row sums to 1", sums, points=0),
        check_entry("test_far_apart", far_apart, example(FAR_APART)),
        check_entry("test_axis", "another axis", along_0, after=("test_far_apart",)),
    ]
    calls = [(SMALL, {}), (TALL, {}), (FAR_APART, {}), (TALL, {"axis": 0})]
    wrong = [
        misconception(function.__name__, message, [outcome(function, x, **axis) for x, axis in calls])
        for function, message in MESSAGES.items()
    ]
    return exercise_entry("softmax(x, axis=-1)", checks, wrong)


def quiz_entry() -> dict[str, Any]:
    """Return a quiz of a choice and a number. Only the format of its answers is checked."""
    step = {"actual": {"step": 0, "path": []}}
    choice = {"assert": "one_of", **step, "params": {"choices": ["a", "b", "c"]}, "call": "q1"}
    number = {"assert": "is_number", **step, "params": {}, "call": "q2"}
    checks = [
        check_entry("test_q1_given", "question 1 has an answer", [{"variable": "q1"}, choice], 0),
        check_entry("test_q2_given", "question 2 has an answer", [{"variable": "q2"}, number], 0),
    ]
    return exercise_entry("", checks, kind="answers", answers=["q1", "q2"], points=2)


def mean_entry() -> dict[str, Any]:
    """Return an exercise of one check, after the others."""
    x = np.array([1.0, 2.0, 6.0])
    steps = [call_step("mean_of", x), matches(0, 3.0, "mean_of(x)", x=x)]
    return exercise_entry("mean_of(x)", [check_entry("test_mean", "a small mean", steps)], points=1)


def chapter_data() -> dict[str, Any]:
    """Return the whole file as JSON."""
    exercises = {"softmax": softmax_entry(), "mean_of": mean_entry(), "quiz_ch9": quiz_entry()}
    return {"format": 1, "course": "by hand", "chapter": CHAPTER, "exercises": exercises}


def write_chapter(folder: Path) -> Path:
    """Write ``examples.json`` to ``folder``, and return its path."""
    path = folder / "examples.json"
    path.write_text(json.dumps(chapter_data()), encoding="utf-8")
    return path
