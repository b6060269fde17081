"""Choose the form of each imported check, by running all of them against the chapter's own solutions.

The checks run in a process of their own, which starts this module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.dry_run import failures_by_check, load_with_timeout
from autograder.authoring.release.inspection import inspect_chapter
from autograder.base.errors import CourseError
from autograder.base.formatting import pluralize
from autograder.course.course import Course, load_course
from autograder.extras.importing.chapter import Check, NewChapter, NotImported
from autograder.extras.importing.pieces import AnswerCell, ImportRefusedError
from autograder.sandbox.confinement import Launch, plan_module
from autograder.sandbox.protocol import SandboxUnavailable
from autograder.student.examples.record import recorded

__all__ = ["choose_forms", "release_problems", "run_in_process", "trial_failures"]


# --- In the process of its own -----------------------------------------------------------------------------------------


def trial_failures(folder: Path, chapter: str) -> dict[str, Any]:
    """Return why the reference fails each check of each exercise, and why a check cannot be recorded for students."""
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


def release_problems(folder: Path, chapter: str) -> dict[str, Any]:
    """Return what a release would report for the chapter. Empty if it would succeed.

    The notebook is tried in plain processes, because this one is in a sandbox already, or the author asked for none.
    """
    inspected = inspect_chapter(load_course(folder), chapter)
    mistakes = inspected.with_trial_run("local")
    return {"mistakes": [str(mistake).replace(f"{folder}/", "") for mistake in mistakes]}


# --- In the process that imports ---------------------------------------------------------------------------------------

_OPAQUE = "it uses a value of a type that cannot leave a student's notebook"
_SECONDS = 300.0  # for one run of all checks of a chapter


def choose_forms(chapter: NewChapter, outcomes: Mapping[str, Mapping[str, Mapping[str, str]]]) -> None:
    """Choose a form for each check, and leave out checks that have none.

    For each check of each exercise, ``outcomes`` holds ``why`` the reference fails it, and why it is ``unwritten`` for students.
    """
    worth = {e.name: sum((c.points for c in chapter.checks_of(e.name)), Fraction(0)) for e in chapter.exercises}
    whys = {id(c): _choose(chapter, c, outcomes.get(c.exercise, {})) for c in chapter.checks}
    unfit = [check for check in chapter.checks if check.chosen is None]
    chapter.checks = [check for check in chapter.checks if check.chosen is not None]
    for check in unfit:
        _drop(chapter, check, whys[id(check)])
    for check in chapter.checks:
        there = {c.method for c in chapter.checks_of(check.exercise)}
        check.after = tuple(method for method in check.after if method in there)
        if check.stays:
            chapter.kept_tests.setdefault(_number_of(chapter, check), []).append(check.test)
    for exercise in [e for e in chapter.exercises if not chapter.checks_of(e.name)]:
        chapter.exercises.remove(exercise)
        chapter.marked_by_hand[exercise.name] = worth[exercise.name]
        chapter.left.append(
            NotImported(
                exercise.where,
                f"no test of {exercise.name} is imported, so it is graded manually, for its {pluralize(float(worth[exercise.name]), 'point')}.",
            )
        )
    if not chapter.exercises:
        why = "".join(f"\n  - {left}" for left in chapter.left)
        raise ImportRefusedError(f"None of its tests can be imported. Nothing was written.{why}")


def _choose(chapter: NewChapter, check: Check, outcomes: Mapping[str, Mapping[str, str]]) -> str:
    """Choose the form of a check. The text says why no form is possible."""
    untried = {"why": "it was not tried", "unwritten": ""}
    told = {way.kind: outcomes.get(f"{check.method}__{way.kind}", untried) for way in check.ways}
    fine = [way for way in check.ways if not told[way.kind]["why"]]
    # A notebook replays only the assertions of plain Python, so it could pass what grading fails.
    seen = [way for way in fine if way.kind != "python" and not told[way.kind]["unwritten"]]
    if check.visible and fine and not seen:
        check.visible, check.stays = False, True
        chapter.notes.append(
            f"{check.test.where}: its test “{check.title}” does something that check() cannot replay in a notebook. Its cell stays "
            "for students to run, and grading uses it as a hidden check."
        )
    check.chosen = next(iter(seen if check.visible else fine), None)
    if check.chosen is not None and check.chosen.kind == "probe" and check.test.hidden:
        chapter.notes.append(
            f"{check.test.where}: its hidden test “{check.title}” becomes a probe: its code, with its expected values, runs "
            f"next to the student's, as in {chapter.original.tool}."
        )
    why = next((told[way.kind]["why"] for way in check.ways), "it cannot be written as a check")
    return _OPAQUE if "'Opaque'" in why else why


def _drop(chapter: NewChapter, check: Check, why: str) -> None:
    told = f"its test “{check.title}” is not imported: {why.rstrip('.')}."
    if check.points and chapter.checks_of(check.exercise):
        chapter.give(check.exercise, check.points)
        told += f" Its {pluralize(float(check.points), 'point')} went to the other checks of {check.exercise}."
    if check.visible:
        told += " Its cell stays, for students to run."
        chapter.kept_tests.setdefault(_number_of(chapter, check), []).append(check.test)
    chapter.left.append(NotImported(check.test.where, told))


def _number_of(chapter: NewChapter, check: Check) -> int:
    pieces = chapter.original.pieces
    return next(n for n, p in enumerate(pieces) if p.where == check.test.where and not isinstance(p, AnswerCell))


def run_in_process(what: str, course: Course, chapter: str, *, unsafe_local: bool) -> dict[str, Any]:
    """Run a function of this module in a new process, in a sandbox unless ``unsafe_local``.

    ``course`` is a copy of the course, which the process may change. Raises ``ImportRefusedError`` if the process does not
    finish, and ``SandboxUnavailable`` if there is no sandbox.
    """
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        launch = _launch([what, str(course.root), chapter, str(result)], course, unsafe_local=unsafe_local)
        try:
            done = subprocess.run(
                launch.command,
                cwd=course.root,
                env=launch.environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise ImportRefusedError(
                f"Its own solutions and tests did not finish within {_SECONDS:.0f} s. Nothing was written."
            ) from error
        finally:
            if launch.folder is not None:
                launch.folder.cleanup()
        if done.returncode or not result.is_file():
            last = (done.stderr.strip().splitlines() or ["the process ended without a message"])[-1]
            raise ImportRefusedError(f"Its own solutions and tests could not be run: {last}. Nothing was written.")
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return found


def _launch(arguments: Sequence[str], course: Course, *, unsafe_local: bool) -> Launch:
    module = "autograder.extras.importing.check_forms"
    if unsafe_local:
        return Launch((sys.executable, "-m", module, *arguments), dict(os.environ))
    others = [course.source(chapter).parent for chapter in course.chapters]  # links to the course's own folders
    readable = [folder.resolve() for folder in others if folder.is_symlink()]
    try:
        return plan_module(module, arguments, readable=readable, writable=[course.root, Path(arguments[-1]).parent])
    except SandboxUnavailable as error:
        raise SandboxUnavailable(
            f"There is no sandbox here, so the notebook's solutions and tests were not run. {error} Run `autograder doctor`: it says "
            "what is missing and how to get it. To run a notebook that you trust without a sandbox, as yourself, add --unsafe-local. "
            "Nothing was written."
        ) from error


if __name__ == "__main__":
    result = {"trial_failures": trial_failures, "release_problems": release_problems}[sys.argv[1]](
        Path(sys.argv[2]), sys.argv[3]
    )
    Path(sys.argv[4]).write_text(json.dumps(result), encoding="utf-8")
