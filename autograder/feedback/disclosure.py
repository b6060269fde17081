"""What feedback says of the checks that a student cannot see, as the course's ``disclosure`` setting has it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from autograder.verdict import CheckResult, ExerciseVerdict, Verdict

__all__ = ["Disclosure", "Place", "disclosed", "disclosed_exercise"]

Disclosure = Literal["title", "message", "example"]
Place = Literal["nothing", "line", "kind"]


def disclosed(verdict: Verdict, setting: Disclosure, place: Place = "kind") -> Verdict:
    """The verdict as its student may read it."""
    shown = tuple(disclosed_exercise(exercise, setting, place) for exercise in verdict.exercises)
    return replace(verdict, exercises=shown)


def disclosed_exercise(exercise: ExerciseVerdict, setting: Disclosure, place: Place = "kind") -> ExerciseVerdict:
    """The outcome of one exercise as its student may read it.

    A visible check is shown whole. Of a hidden one: ``"title"`` its title and whether it passed, ``"message"`` also
    what was found, ``"example"`` also the smallest case that shows it. What is said about the exercise as a whole (the
    mistake that was recognised) comes with ``"message"``, and at ``"title"`` where a visible check failed too, as
    then the student can find it out without the grader. Of where the mistake is, it tells as much as ``place`` has it.
    """
    if exercise.located is not None and place != "kind":
        line = replace(exercise.located, kind="") if place == "line" else None
        exercise = replace(exercise, located=line)
    checks = tuple(_check(check, setting) for check in exercise.checks)
    message = f"\n{exercise.message}\n"
    for check, shown in zip(exercise.checks, checks, strict=True):
        if shown.message != check.message:  # what is said of the whole exercise may repeat what one check found
            message = message.replace(f"\n{check.message}\n", f"\n{shown.message}\n")
            message = message.replace(check.example, "") if check.example else message
    exercise = replace(exercise, message=message.strip())
    own = exercise.status == "not_attempted" or any(c.visible and c.status not in _QUIET for c in exercise.checks)
    if setting == "title" and not own:
        return replace(exercise, checks=checks, message="", misconception=None, located=None)
    return replace(exercise, checks=checks)


_QUIET = {"passed", "not_tried"}


def _check(check: CheckResult, setting: Disclosure) -> CheckResult:
    if check.visible or setting == "example":
        return check
    reason = check.reason if setting == "message" else ""
    return replace(check, message=reason, reason=reason, example="")
