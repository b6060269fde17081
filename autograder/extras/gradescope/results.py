"""Convert a verdict into Gradescope's ``results.json``: one test per check, with points, message and visibility."""

from __future__ import annotations

import math

from autograder.base.foreign import Json
from autograder.base.formatting import points
from autograder.base.verdict import CheckResult, ExerciseVerdict, Verdict, redact_verdict
from autograder.course.course import Course
from autograder.pages.text import wrapped

__all__ = ["failure", "results_of"]

_RECEIVED = "Your submission was received, but it could not be graded, so it has no score. "
_NOT_YOURS = "This is not your fault. Your instructors can see what went wrong."
_LATER = {
    "after_due_date": "More checks are shown after the due date.",
    "after_published": "More checks are shown once the grades are published.",
    "hidden": "Some checks are not shown.",
}
_NOT_TRIED = "Skipped: fix the check above first."


def results_of(course: Course, verdict: Verdict, hidden: str) -> dict[str, Json]:
    """Return a verdict in Gradescope's format. ``hidden`` says when students see the checks that they cannot run themselves.

    A notebook that could not be graded gets no score, which Gradescope treats as a failed run, not as 0 points.
    """
    if verdict.status == "ungradable":
        return _no_score(f"{_RECEIVED}{verdict.reason or ''}", verdict.reason or "No reason is known.")
    shown = redact_verdict(verdict, course.disclosure, course.located)
    tests = []
    for number, exercise in enumerate(shown.exercises, start=1):
        tests += _tests(exercise, number, hidden)
    some_hidden = any(not check.visible for exercise in shown.exercises for check in exercise.checks)
    return {
        "output": _LATER.get(hidden, "") if some_hidden else "",
        "output_format": "text",
        "test_output_format": "text",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"chapter": verdict.chapter, "sandbox": verdict.sandbox, "max_score": verdict.max_score},
    }


def failure(why: str) -> dict[str, Json]:
    """Return results without a score, for a failure of the grader itself. Only the instructors see ``why``."""
    return _no_score(_RECEIVED + _NOT_YOURS, why)


def _no_score(message: str, why: str) -> dict[str, Json]:
    test = {"name": "Needs manual grading", "status": "failed", "output": why, "visibility": "hidden"}
    return {"output": message.strip(), "output_format": "text", "stdout_visibility": "hidden", "tests": [test]}


def _tests(exercise: ExerciseVerdict, number: int, hidden: str) -> list[dict[str, Json]]:
    checks = [check for check in exercise.checks if check.points or check.status not in {"passed", "not_tried"}]
    earned = math.fsum(check.points for check in checks if check.status == "passed")
    whole = math.isclose(earned, exercise.score, abs_tol=1e-6)
    whole = whole and math.isclose(math.fsum(c.points for c in checks), exercise.max_score, abs_tol=1e-6)
    if not checks or not whole:
        checks, alone = [], {"score": exercise.score, "max_score": exercise.max_score}
    else:
        alone = {"score": 0.0, "max_score": 0.0}
    failed_visibly = any(c.visible and c.status not in {"passed", "not_tried"} for c in exercise.checks)
    visible = failed_visibly or exercise.status == "not_attempted" or all(c.visible for c in exercise.checks)
    head = {
        "name": f"{exercise.name}: {points(exercise.score, exercise.max_score)}",
        "number": str(number),
        "status": "passed" if exercise.status == "passed" else "failed",
        "output": _text(exercise.message),
        # The test's name shows a score that includes hidden checks.
        "visibility": "visible" if visible and all(c.visible for c in exercise.checks) else hidden,
        **alone,
    }
    said = []
    if exercise.message and visible and head["visibility"] != "visible":
        # The text that students may read at once is in a separate test, which does not show the points.
        note = {"name": f"{exercise.name}: what to check", "number": f"{number}.0", "status": head["status"]}
        said = [{**note, "output": head["output"], "visibility": "visible", "score": 0.0, "max_score": 0.0}]
        head["output"] = ""
    tests = [_test(exercise, check, f"{number}.{i}", hidden) for i, check in enumerate(checks, start=1)]
    return [head, *said, *tests]


def _test(exercise: ExerciseVerdict, check: CheckResult, number: str, hidden: str) -> dict[str, Json]:
    passed = check.status == "passed"
    untried = check.status == "not_tried" and exercise.status != "not_attempted"
    return {
        "name": f"{exercise.name}: {check.title}",
        "number": number,
        "score": check.points if passed else 0.0,
        "max_score": check.points,
        "status": "passed" if passed else "failed",
        "output": _text(check.message) or (_NOT_TRIED if untried else ""),
        "visibility": "visible" if check.visible else hidden,
    }


def _text(message: str) -> str:
    return wrapped(message, "").replace("`", "")
