"""``check``: an exercise tried on its examples, and shown as a card; without an exercise, the map of the course."""

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

from autograder import attempt
from autograder.examples import AssertStep, Examples, ExerciseExamples, not_readable, not_written, replay
from autograder.judging.functions import FunctionSubject
from autograder.render import Card, card_html, card_text
from autograder.render.card import summary
from autograder.render.road import ending, road_html, road_text
from autograder.sandbox.protocol import Limits
from autograder.selfcheck.cells import cell_that_makes
from autograder.selfcheck.front_end import CheckFailed, CheckProblem, show
from autograder.selfcheck.lookup import find_chapter, find_exercise, folders_of
from autograder.selfcheck.pasting import with_names_of_its_own
from autograder.selfcheck.printed import in_few_lines
from autograder.selfcheck.progress import folder_of, note, read
from autograder.selfcheck.road import road_of
from autograder.verdict import ExerciseVerdict

__all__ = ["card_of", "check_exercise", "is_empty", "keeps_notes", "line_width", "show_map"]

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
        verdict = not_readable(found) if attempt.is_unreadable(found.name, run) else not_written(found)
    verdict = with_names_of_its_own(_with_the_cell_to_run(verdict, examples, names), names)
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
        road = road_of(folder_of(folder, examples.chapter), examples)
    except CheckProblem:
        around = [road for folder in folders_of(names) if (road := road_of(folder)).chapters]
        if not around:
            raise
        road = around[0]
    text = road_text(road, line_width())
    if not show(road_html(road), text):
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
    with in_few_lines() as called:
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
            road = road_of(home, examples)
            after = road.next((examples.chapter, found.name))
            last = ending(road) if road.is_done else ""
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
        other_ways=others,
        last=last,
        judged=examples.audience == "self-learners",
    )


def _noted(examples: Examples, folder: Path, found: ExerciseExamples, verdict: ExerciseVerdict) -> str:
    if verdict.status == "not_attempted" or not keeps_notes():
        return ""
    home = folder_of(folder, examples.chapter)
    return note(home, examples.chapter, found.name, passed=verdict.status == "passed")


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
