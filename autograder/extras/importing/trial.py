"""A chapter that was brought in, tried in a process of its own: which of its checks hold for its own solutions."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.dry_run import failures_by_check, load_with_timeout
from autograder.authoring.release.inspection import inspect_chapter
from autograder.base.errors import CourseError
from autograder.course.course import load_course
from autograder.sandbox.protocol import SandboxUnavailable
from autograder.student.examples.record import recorded

__all__ = ["looked_through", "tried"]


def tried(folder: Path, chapter: str) -> dict[str, Any]:
    """Of each check of each exercise, why the reference does not pass it, and whether it can be written down for students."""
    course = load_course(folder)
    try:
        checks = load_with_timeout(course, chapter)
    except CourseError as error:
        return {"error": str(error).replace(f"{folder}/", "")}
    found: dict[str, dict[str, dict[str, str]]] = {}
    for (exercise, name), why in failures_by_check(checks, CheckFile(course, chapter)).items():
        spec = checks.specs[exercise]
        check = next(c for c in spec.checks if c.name == name)
        unwritten = ""
        if not why:
            try:
                recorded(replace(checks, specs={exercise: replace(spec, checks=(replace(check, visible=True),))}))
            except Exception as error:  # noqa: BLE001 - whatever keeps it from being written down
                unwritten = str(error) or type(error).__name__
        found.setdefault(exercise, {})[name] = {"why": why.replace(f"{folder}/", ""), "unwritten": unwritten}
    return {"checks": found}


def looked_through(folder: Path, chapter: str) -> dict[str, Any]:
    """What a release would say of the chapter, its notebook played solved and blank; empty where it would pass."""
    course = load_course(folder)
    inspected = inspect_chapter(course, chapter)
    try:
        mistakes = inspected.with_trial_run()
    except SandboxUnavailable:
        mistakes = inspected.with_trial_run("local")
    return {"mistakes": [str(mistake).replace(f"{folder}/", "") for mistake in mistakes]}


if __name__ == "__main__":
    result = {"tried": tried, "looked_through": looked_through}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
    Path(sys.argv[4]).write_text(json.dumps(result), encoding="utf-8")
