"""Implement ``check``. It runs an exercise on its examples and shows a card, or shows the course map."""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import TextIO

from autograder.base import attempt
from autograder.base.foreign import Value
from autograder.base.verdict import CheckResult, ExerciseVerdict
from autograder.checking.asserts import CheckFailed
from autograder.judging.functions import FunctionSubject
from autograder.pages import Card, card_html, card_text
from autograder.pages.card import summary
from autograder.pages.map_view import CourseMap, MappedChapter, MappedExercise, course_end, link_to, map_html, map_text
from autograder.pages.text import WIDTH
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
)
from autograder.student.notebook_check.front_end import CheckProblem, limit_output, run_by_nbgrader, show
from autograder.student.notebook_check.lookup import (
    cell_to_run,
    find_chapter,
    find_exercise,
    folders_of,
    outdated,
    source_folder,
)
from autograder.student.notebook_check.progress import Progress, folder_of, read, record

__all__ = ["card_of", "check_exercise", "is_empty", "judge", "line_width", "load_map", "show_map", "with_unique_names"]


PREFIX = "case_"


def with_unique_names(verdict: ExerciseVerdict, names: Mapping[str, Value]) -> ExerciseVerdict:
    """Return ``verdict`` with an input ``x`` of its cases renamed to ``case_x`` if the notebook also uses the name ``x``."""
    checks = tuple(_renamed(check, names) for check in verdict.checks)
    message = verdict.message
    for before, after in zip(verdict.checks, checks, strict=True):
        message = message.replace(before.message, after.message) if before is not after else message
    return replace(verdict, checks=checks, message=message)


def _renamed(check: CheckResult, names: Mapping[str, Value]) -> CheckResult:
    case = check.example
    names_in_use = [name for line in case.splitlines() if (name := _assigned(line)) and name in names]
    reason = check.reason
    for name in dict.fromkeys(names_in_use):
        # Match only uses of the variable: no keywords, attributes or strings.
        place = re.compile(rf"(?<![\w.'\"]){re.escape(name)}(?![\w'\"])(?!=(?!=))")
        case = place.sub(f"{PREFIX}{name}", case)
        reason = re.sub(rf"(?<=[(,= ]){re.escape(name)}(?=[,)\[])", f"{PREFIX}{name}", reason)
    if case == check.example:
        return check
    message = check.message.replace(check.example, case).replace(check.reason, reason)
    return replace(check, example=case, reason=reason, message=message)


def _assigned(line: str) -> str:
    match = re.match(r"(?:def ([A-Za-z_]\w*)\(|([A-Za-z_]\w*) = )", line)
    return (match[1] or match[2]) if match else ""


def load_map(folder: Path, here: Examples | None = None) -> CourseMap:
    """Return the map of the course in ``folder``, which has one folder per chapter. ``here`` contains the current chapter's examples.

    A chapter without examples is also on the map if another chapter's examples mention it.
    """
    chapters = {examples.chapter: examples for examples in [*_examples_in(folder), *([here] if here else [])]}
    progress = read(folder)
    named = max((examples.chapters for examples in chapters.values()), key=len, default=())
    order = [*named, *sorted(chapter for chapter in chapters if chapter not in named)]
    course = next((examples.course for examples in chapters.values() if examples.course), "")
    mapped = tuple(_chapter(chapter, chapters.get(chapter), progress) for chapter in order)
    return CourseMap(course, mapped, here.chapter if here else "")


def _examples_in(folder: Path) -> list[Examples]:
    """Return the examples of each chapter in ``folder``, including those generated for a course's source notebooks."""
    generated = folder.parent / ".autograder" / "examples"
    paths = [folder / EXAMPLES_NAME, *folder.glob(f"*/{EXAMPLES_NAME}"), *generated.glob("*.json")]
    loaded = []
    for path in sorted(set(paths)):
        with suppress(ExamplesError):  # a check in that chapter reports the problem
            loaded.append(load_examples(path))
    return loaded


def _chapter(chapter: str, examples: Examples | None, progress: Progress) -> MappedChapter:
    if examples is None:
        return MappedChapter(chapter)
    of_each = ((e, progress.of(chapter, e.name).status) for e in examples.exercises.values())
    exercises = tuple(MappedExercise(e.name, e.kind, e.stars, e.minutes, status, e.cell) for e, status in of_each)
    return MappedChapter(chapter, examples.title, exercises)


_WELL_FORMED = {"one_of", "is_number", "is_string", "has_shape"}
_UNKNOWN = re.compile(r"name '(\w+)' is not defined")
NARROWEST = 40


def check_exercise(exercise: Value, names: dict[str, Value], seconds: float | None = None) -> None:
    """Check ``exercise``, a function or a name, and show its card. Raises ``CheckFailed`` unless it passes."""
    examples, folder = find_chapter(names)
    target = find_exercise(exercise, names, examples, "check")
    current = not callable(exercise) or exercise is names.get(target.name)
    if current and (advice := outdated(target, names, examples.chapter)):
        raise CheckProblem(advice)
    given = {target.name: exercise} if callable(exercise) else {}
    verdict = judge(examples, target, names, given, _limit(examples, seconds))
    function = given.get(target.name, names.get(target.name))
    begun = verdict.status != "not_attempted" and not is_empty(function)
    if target.kind != "answers" and verdict.status != "passed" and not begun:
        verdict = stub_verdict(target)
    verdict = with_unique_names(_with_cell_to_run(verdict, examples, names), names)
    problem = ""
    if verdict.status != "not_attempted" and not run_by_nbgrader():
        home = folder_of(folder, examples.chapter)
        problem = record(home, examples.chapter, target.name, passed=verdict.status == "passed")
    card = card_of(examples, folder, target, verdict)
    text = card_text(card, line_width())
    shown = show(card_html(card), text)
    if verdict.status == "passed" and not shown:
        print(text)  # noqa: T201 - this is the answer
    if problem:
        print(problem)  # noqa: T201 - shown once
    if verdict.status != "passed":
        raise CheckFailed(summary(card) if shown else text)


def show_map(names: dict[str, Value]) -> None:
    """Show the map of the course that the notebook belongs to."""
    try:
        examples, folder = find_chapter(names)
        course_map = load_map(folder_of(folder, examples.chapter), examples)
    except CheckProblem:
        maps = [found for folder in folders_of(names) if (found := load_map(folder)).chapters]
        if not maps:
            raise
        course_map = maps[0]
    text = map_text(course_map, line_width())
    if not show(map_html(course_map), text):
        print(text)  # noqa: T201 - this is the answer


def line_width() -> int:
    """Return the width of a card in columns. It is the terminal's width, within limits that keep the card readable."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(min(shutil.get_terminal_size().columns, WIDTH), NARROWEST)


def is_empty(function: Value) -> bool:
    """Return whether a function or class is still a stub, with or without its ``raise``."""
    if isinstance(function, type):
        methods = [part for part in vars(function).values() if isinstance(part, FunctionType)]
        return bool(methods) and all(map(is_empty, methods))
    try:
        source = inspect.cleandoc("\n" + inspect.getsource(function))
    except (TypeError, OSError, IndentationError, SyntaxError):
        return False
    return attempt.last_definition_is_blank(getattr(function, "__name__", ""), [source])


def _limit(examples: Examples, given: float | None) -> float:
    if given is None:
        return examples.call_seconds
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 86_400:
        raise CheckProblem(f"seconds is {given!r:.40}. It must be a number above 0, as in check(softmax, seconds=60).")
    return float(given)


def judge(
    examples: Examples, exercise: ExerciseExamples, names: dict[str, Value], given: dict[str, Value], seconds: float
) -> ExerciseVerdict:
    """Return the verdict on ``exercise``. Functions in ``given`` replace those in ``names``. ``seconds`` limits each call."""
    stuck = partial(_stuck, sys.stdout)
    with limit_output() as called:
        subject = FunctionSubject("notebook", names, given=given, call_seconds=seconds, stuck=stuck, called=called)
        only, limits = frozenset({exercise.name}), Limits(call_seconds=seconds)
        [verdict] = replay(examples.exercises, subject, only=only, limits=limits)
    return verdict


def _stuck(stream: TextIO, function: str) -> None:
    """Tell the student that a call cannot be stopped. This runs in another thread while the notebook waits."""
    stream.write(
        f"{function} is running one long step that cannot be stopped from here, such as a product of huge arrays. If it does not "
        "end soon, choose Kernel › Restart Kernel and run the cells from the top. Your notebook's text stays unchanged.\n"
    )
    stream.flush()


def card_of(examples: Examples, folder: Path, exercise: ExerciseExamples, verdict: ExerciseVerdict) -> Card:
    """Return the card of an exercise of the notebook in ``folder``. The recorded progress determines the hints left and the next exercise."""
    home = folder_of(folder, examples.chapter)
    exercise_progress = read(home).of(examples.chapter, exercise.name)
    next_up, last, link, deeper = "", "", "", ""
    alternatives: tuple[tuple[str, str], ...] = ()
    if verdict.status == "passed":
        next_up = _next_up(examples, exercise, home)
        if next_up:
            link = link_to(examples.chapter, examples.exercises[next_up].cell)
        else:
            course_map = load_map(home, examples)
            after = course_map.next((examples.chapter, exercise.name))
            last = course_end(course_map) if course_map.is_done else ""
            if not last and after is not None:
                chapter, following = after
                link = link_to(chapter.chapter, following.cell)
                last = f"🎉 You have solved every exercise of this chapter. Next is `{following.name}` in {chapter.chapter}."
        if source_folder(folder) and examples.audience == "self-learners" and exercise.kind != "answers":
            deeper = f"check({exercise.name}, deeper=True)"
        if examples.solutions != "never":
            alternatives = exercise.alternatives()
    asserted = {step.name for check in exercise.checks for step in check.steps if isinstance(step, AssertStep)}
    return Card(
        verdict,
        points=exercise.points,
        hints_left=max(len(exercise.hints) - exercise_progress.hints, 0),
        next_up=next_up,
        well_formed_only=exercise.kind == "answers" and asserted <= _WELL_FORMED,
        hints=exercise.hints if verdict.status != "passed" else (),
        alternatives=alternatives,
        last=last,
        is_final=examples.audience == "self-learners",
        link=link if (folder / link.partition("#")[0]).is_file() else "",  # a notebook may have another name
        deeper=deeper,
    )


def _with_cell_to_run(verdict: ExerciseVerdict, examples: Examples, names: Mapping[str, Value]) -> ExerciseVerdict:
    """If a name is missing, for example after a restart of the kernel, add a sentence about the cell that defines it."""
    missing = next((match[1] for check in verdict.checks if (match := _UNKNOWN.search(check.reason))), "")
    if not missing or missing in names:
        return verdict
    advice = cell_to_run(missing, names, examples.chapter)
    if not advice:
        return verdict
    failed = next(check for check in verdict.checks if _UNKNOWN.search(check.reason))
    explained = replace(failed, reason=f"{failed.reason} {advice}", message=f"{failed.message}\n{advice}")
    checks = tuple(explained if check is failed else check for check in verdict.checks)
    return replace(verdict, checks=checks, message=verdict.message.replace(failed.message, explained.message))


def _next_up(examples: Examples, exercise: ExerciseExamples, home: Path) -> str:
    """Return the first unfinished exercise after ``exercise``, else the first one before it, or ``""`` if all are finished."""
    order, progress = list(examples.exercises), read(home)
    place = order.index(exercise.name)
    waiting = [n for n in order if n != exercise.name and progress.of(examples.chapter, n).status != "done"]
    later = [name for name in waiting if order.index(name) > place]
    return next(iter(later or waiting), "")
