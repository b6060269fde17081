"""``check``: try an exercise on its examples and show a card, or show the course map."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, TextIO

from autograder.base import attempt
from autograder.base.verdict import CheckResult, ExerciseVerdict
from autograder.checking.asserts import CheckFailed
from autograder.judging.functions import FunctionSubject
from autograder.pages import Card, card_html, card_text
from autograder.pages.card import summary
from autograder.pages.map_view import CourseMap, MappedChapter, MappedExercise, course_end, map_html, map_text
from autograder.sandbox.protocol import Limits
from autograder.student.examples import (
    EXAMPLES_NAME,
    AssertStep,
    Examples,
    ExamplesError,
    ExerciseExamples,
    load_examples,
    replay,
    stub_verdict,
    syntax_error_verdict,
)
from autograder.student.notebook_check.front_end import CheckProblem, limit_output, show
from autograder.student.notebook_check.lookup import cell_that_makes, find_chapter, find_exercise, folders_of
from autograder.student.notebook_check.progress import Progress, folder_of, read, record

__all__ = [
    "card_of",
    "check_exercise",
    "is_empty",
    "keeps_notes",
    "line_width",
    "load_map",
    "show_map",
    "with_unique_names",
]


PREFIX = "case_"


def with_unique_names(verdict: ExerciseVerdict, names: Mapping[str, Any]) -> ExerciseVerdict:
    """``verdict`` with each input of a case that is called as something of the notebook's called ``case_…`` instead."""
    checks = tuple(_renamed(check, names) for check in verdict.checks)
    message = verdict.message
    for before, after in zip(verdict.checks, checks, strict=True):
        message = message.replace(before.message, after.message) if before is not after else message
    return replace(verdict, checks=checks, message=message)


def _renamed(check: CheckResult, names: Mapping[str, Any]) -> CheckResult:
    case = check.example
    given = [name for line in case.splitlines() if (name := _assigned(line)) and name in names]
    reason = check.reason
    for name in dict.fromkeys(given):
        # Not as a keyword, not as an attribute, not inside a text: only where the name stands for the value.
        place = re.compile(rf"(?<![\w.'\"]){re.escape(name)}(?![\w'\"])(?!=(?!=))")
        case = place.sub(f"{PREFIX}{name}", case)
        reason = re.sub(rf"(?<=[(,= ]){re.escape(name)}(?=[,)\[])", f"{PREFIX}{name}", reason)
    if case == check.example:
        return check
    message = check.message.replace(check.example, case).replace(check.reason, reason)
    return replace(check, example=case, reason=reason, message=message)


def _assigned(line: str) -> str:
    """The name that a line of a case gives a value to."""
    found = re.match(r"(?:def ([A-Za-z_]\w*)\(|([A-Za-z_]\w*) = )", line)
    return (found[1] or found[2]) if found else ""


def load_map(folder: Path, here: Examples | None = None) -> CourseMap:
    """The map of the course whose chapters lie in ``folder``, one folder each; ``here`` are those of the chapter that is open.

    A chapter whose examples are not there is on the map too, if another chapter knows of it.
    """
    found = {examples.chapter: examples for examples in [*_beside(folder), *([here] if here else [])]}
    progress = read(folder)
    named = max((examples.chapters for examples in found.values()), key=len, default=())
    order = [*named, *sorted(chapter for chapter in found if chapter not in named)]
    course = next((examples.course for examples in found.values() if examples.course), "")
    return CourseMap(
        course,
        tuple(_chapter(chapter, found.get(chapter), progress) for chapter in order),
        here.chapter if here else "",
    )


def _beside(folder: Path) -> list[Examples]:
    """The examples of each chapter in ``folder``; in a course's own folder those that it made for its notebooks."""
    made = folder.parent / ".autograder" / "examples"
    paths = [folder / EXAMPLES_NAME, *folder.glob(f"*/{EXAMPLES_NAME}"), *made.glob("*.json")]
    found = []
    for path in sorted(set(paths)):
        try:
            found.append(load_examples(path))
        except ExamplesError:  # said by a check in that chapter
            continue
    return found


def _chapter(chapter: str, examples: Examples | None, progress: Progress) -> MappedChapter:
    if examples is None:
        return MappedChapter(chapter)
    exercises = tuple(
        MappedExercise(e.name, e.kind, e.stars, e.minutes, progress.of(chapter, e.name).status)
        for e in examples.exercises.values()
    )
    return MappedChapter(chapter, examples.title, exercises)


_WELL_FORMED = {"one_of", "is_number", "is_string", "has_shape"}
_UNKNOWN = re.compile(r"name '(\w+)' is not defined")
WIDEST, NARROWEST = 82, 40  # nbgrader's Validate cuts lines at 87 columns, four of them its own indent


def check_exercise(exercise: Any, names: dict[str, Any], seconds: float | None = None) -> None:
    """Try ``exercise``, a function or a name, and show its card; raises ``CheckFailed`` where it does not hold yet."""
    examples, folder = find_chapter(names)
    found = find_exercise(exercise, names, examples, "check")
    given = {found.name: exercise} if callable(exercise) else {}
    verdict = _tried(examples, found, names, given, _seconds(examples, seconds))
    function = given.get(found.name, names.get(found.name))
    begun = verdict.status != "not_attempted" and not is_empty(function)
    if found.kind != "answers" and verdict.status != "passed" and not begun:
        run = [cell for cell in _cells_run(names) if isinstance(cell, str)]
        verdict = syntax_error_verdict(found) if attempt.is_unreadable(found.name, run) else stub_verdict(found)
    verdict = with_unique_names(_with_the_cell_to_run(verdict, examples, names), names)
    trouble = _noted(examples, folder, found, verdict)
    card = card_of(examples, folder, found, verdict)
    text = card_text(card, line_width())
    shown = show(card_html(card), text)
    if verdict.status == "passed" and not shown:
        print(text)  # noqa: T201 - this is the answer
    if trouble:
        print(trouble)  # noqa: T201 - said once
    if verdict.status != "passed":
        raise CheckFailed(summary(card) if shown else text)


def show_map(names: dict[str, Any]) -> None:
    """Show the chapters of the course around here, what is done in them, and what comes next."""
    try:
        examples, folder = find_chapter(names)
        road = load_map(folder_of(folder, examples.chapter), examples)
    except CheckProblem:
        around = [road for folder in folders_of(names) if (road := load_map(folder)).chapters]
        if not around:
            raise
        road = around[0]
    text = map_text(road, line_width())
    if not show(map_html(road), text):
        print(text)  # noqa: T201 - this is the answer


def line_width() -> int:
    """How many columns a card may have: a narrow terminal's own, and elsewhere as many as read well."""
    if not sys.stdout.isatty():
        return WIDEST
    return max(min(shutil.get_terminal_size().columns, WIDEST), NARROWEST)


def keeps_notes() -> bool:
    """Whether somebody works here, whose progress is worth a note; nbgrader runs notebooks for other reasons."""
    return not any(os.environ.get(name) for name in ("NBGRADER_VALIDATING", "NBGRADER_EXECUTION"))


def is_empty(function: Any) -> bool:
    """Whether the function is still a stub, its ``raise`` taken out or not."""
    if isinstance(function, type):
        methods = [part for part in vars(function).values() if isinstance(part, FunctionType)]
        return bool(methods) and all(map(is_empty, methods))
    try:
        source = inspect.cleandoc("\n" + inspect.getsource(function))
    except (TypeError, OSError, IndentationError, SyntaxError):
        return False
    return attempt.last_definition_is_blank(getattr(function, "__name__", ""), [source])


def _seconds(examples: Examples, wanted: float | None) -> float:
    if wanted is None:
        return examples.call_seconds
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not 0 < wanted <= 86_400:
        raise CheckProblem(
            f"seconds is {wanted!r:.40}: it has to be a number above 0, such as check(softmax, seconds=60)."
        )
    return float(wanted)


def _tried(
    examples: Examples, found: ExerciseExamples, names: dict[str, Any], given: dict[str, Any], seconds: float
) -> ExerciseVerdict:
    stuck = partial(_stuck, sys.stdout)
    with limit_output() as called:
        subject = FunctionSubject(
            "notebook", names, given=given, call_seconds=seconds, stuck=stuck, called=called, waited_for=True
        )
        [verdict] = replay(
            examples.exercises, subject, only=frozenset({found.name}), limits=Limits(call_seconds=seconds)
        )
    return verdict


def _stuck(stream: TextIO, function: str) -> None:
    """Said in another thread, while the notebook waits for a call that nothing can end."""
    stream.write(
        f"{function} is in one long step that cannot be stopped from here, such as a product of huge arrays. If it does not "
        "end soon: Kernel › Restart Kernel, then run the cells from the top. Your notebook's text stays as it is.\n"
    )
    stream.flush()


def card_of(examples: Examples, folder: Path, found: ExerciseExamples, verdict: ExerciseVerdict) -> Card:
    """The card of an exercise of the notebook in ``folder``, with what progress says of hints and of what comes next."""
    home = folder_of(folder, examples.chapter)
    standing = read(home).of(examples.chapter, found.name)
    next_up, last = "", ""
    others: tuple[tuple[str, str], ...] = ()
    if verdict.status == "passed":
        next_up = _next_up(examples, found, home)
        if not next_up:
            road = load_map(home, examples)
            after = road.next((examples.chapter, found.name))
            last = course_end(road) if road.is_done else ""
            if not last and after is not None:
                last = (
                    f"That was the last exercise of this chapter. Next comes `{after[1].name}` in {after[0].chapter}."
                )
        others = tuple((way.note, way.source) for way in found.other_ways()) if examples.solutions != "never" else ()
    return Card(
        verdict,
        points=found.points,
        hints_left=max(len(found.hints) - standing.hints, 0),
        next_up=next_up,
        well_formed_only=_well_formed_only(found),
        hints=found.hints if verdict.status != "passed" else (),
        alternatives=others,
        last=last,
        judged=examples.audience == "self-learners",
    )


def _noted(examples: Examples, folder: Path, found: ExerciseExamples, verdict: ExerciseVerdict) -> str:
    if verdict.status == "not_attempted" or not keeps_notes():
        return ""
    home = folder_of(folder, examples.chapter)
    return record(home, examples.chapter, found.name, passed=verdict.status == "passed")


def _with_the_cell_to_run(verdict: ExerciseVerdict, examples: Examples, names: Mapping[str, Any]) -> ExerciseVerdict:
    """Where a name is missing that another cell makes, as after a restart of the kernel: which cell that is."""
    missing = next((found[1] for check in verdict.checks if (found := _UNKNOWN.search(check.reason))), "")
    if not missing or missing in names:
        return verdict
    first = cell_that_makes(missing, examples.chapter, names)
    if not first:
        return verdict
    said = (
        f"`{missing}` is made in the cell that begins `{first}`, which was not run since the kernel was started: run it, or all "
        "cells above this one (Run › Run All Above Selected Cell)."
    )
    failed = next(check for check in verdict.checks if _UNKNOWN.search(check.reason))
    told = replace(failed, reason=f"{failed.reason} {said}", message=f"{failed.message}\n{said}")
    checks = tuple(told if check is failed else check for check in verdict.checks)
    return replace(verdict, checks=checks, message=verdict.message.replace(failed.message, told.message))


def _cells_run(names: Mapping[str, Any]) -> list[Any]:
    """The cells of this notebook in the order in which they were run, as IPython keeps them; none elsewhere."""
    run = names.get("In")
    return run if isinstance(run, list) else []


def _next_up(examples: Examples, found: ExerciseExamples, home: Path) -> str:
    """The exercise that comes after this one and has not passed yet; one before it when none is left after it."""
    order, progress = list(examples.exercises), read(home)
    place = order.index(found.name)
    waiting = [n for n in order if n != found.name and progress.of(examples.chapter, n).status != "done"]
    later = [name for name in waiting if order.index(name) > place]
    return next(iter(later or waiting), "")


def _well_formed_only(exercise: ExerciseExamples) -> bool:
    asserted = {step.name for check in exercise.checks for step in check.steps if isinstance(step, AssertStep)}
    return exercise.kind == "answers" and asserted <= _WELL_FORMED
