"""Implement ``hint``, ``solution`` for self-study, and ``check(f, deeper=True)`` in a clone of the course."""

from __future__ import annotations

import json
import os
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.base.foreign import Value
from autograder.base.verdict import ExerciseVerdict
from autograder.checking.asserts import CheckFailed
from autograder.pages import Card, HintCard, card_html, card_text, hint_html, hint_text
from autograder.pages.card import summary
from autograder.student.examples import Examples, ExerciseExamples
from autograder.student.examples.replay import RecordedChecks
from autograder.student.notebook_check.checking import is_empty, judge, line_width, with_unique_names
from autograder.student.notebook_check.front_end import CheckProblem, run_by_nbgrader, show
from autograder.student.notebook_check.lookup import (
    find_chapter,
    find_exercise,
    outdated,
    saved_notebook,
    source_folder,
    usage,
)
from autograder.student.notebook_check.progress import ExerciseProgress, folder_of, read, record

if TYPE_CHECKING:
    from autograder.mistakes.fault_localization.hints import PersonalHint

__all__ = ["check_deeper", "give_hint", "show_solution"]

BEFORE_A_SOLUTION = 3  # how many hints to read before a solution, or all if there are fewer
_shown_for: dict[tuple[Path, str], str] = {}  # the code for which a personal hint was already shown


def give_hint(exercise: Value, number: int | None, names: dict[str, Value], *, is_given: bool) -> None:
    """Show hint ``number`` of ``exercise``, or the next hint if ``number`` is None."""
    examples, folder, target = _locate(exercise, names, "hint", is_given=is_given)
    home, total = folder_of(folder, examples.chapter), len(target.hints)
    progress = read(home).of(examples.chapter, target.name)
    # The next hint follows the last hint read, or its number is half the failed attempts, whichever is later.
    by_tries = min((progress.failed + 1) // 2, total)
    wanted = max(progress.hints + 1, by_tries) if number is None else number
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= total):
        raise CheckProblem(f"{target.name} has {total} hints, numbered from 1, so there is no hint {number!r:.20}.")
    problem = ""
    is_current = not callable(exercise) or exercise is names.get(target.name)
    stale = outdated(target, names, examples.chapter) if number is None and is_current else ""
    passes = number is None and not stale and _passes(examples, target, exercise, names)
    looks = number is None and total and not passes and not stale
    first = _first_help(folder, target, progress, exercise, names) if looks else ""
    if passes:
        shows = f" `{usage(target, 'hint').removesuffix(')')}, 1)` shows the first hint." if total else ""
        text = f"Your `{target.name}` passes all checks here, so it needs no hint.{shows}"
        card = HintCard(target.name, 0, total, text)
    elif first:
        which = "next" if progress.hints else "first"
        more = f"\n\nStill stuck? `{usage(target, 'hint')}` shows the {which} written hint."
        card = HintCard(target.name, 0, total, first + more)
    elif wanted > total:  # all hints were read, or there are none
        own = None if stale else _personal_hint(target, exercise, names)
        card = HintCard(target.name, 0, total, own.text if own else stale or _no_more(target, examples))
    else:
        text = target.hints[wanted - 1] + _follow_up(target, wanted, examples)
        if number is None and wanted > progress.hints + 1:
            gives_first = f'`hint("{target.name}", 1)` shows the first.'
            text = f"You have tried {progress.failed} times, so this is hint {wanted}. {gives_first}\n\n{text}"
        card = HintCard(target.name, wanted, total, f"{stale}\n\n{text}".strip())
        problem = record(home, examples.chapter, target.name, hint=wanted) if not run_by_nbgrader() else ""
    _show(card)
    if problem:
        print(problem)  # noqa: T201 - shown once


def show_solution(exercise: Value, names: dict[str, Value], *, is_given: bool) -> None:
    """Show a solution of ``exercise``. Raises ``CheckProblem`` if it is too early or the course is graded."""
    examples, folder, target = _locate(exercise, names, "solution", is_given=is_given)
    if examples.audience != "self-learners":
        raise CheckProblem(
            f"`solution` is only for self-study, and this chapter belongs to a graded course. "
            f"Use `{usage(target, 'hint')}`, or ask your instructor."
        )
    progress = read(folder_of(folder, examples.chapter)).of(examples.chapter, target.name)
    needed = min(BEFORE_A_SOLUTION, len(target.hints))
    if progress.status != "done" and progress.hints < needed:
        raise CheckProblem(
            f"You can see the solution after hint {needed}. You have read {progress.hints or 'none'} so far. "
            f"`{usage(target, 'hint')}` shows the next one."
        )
    source = target.solution()
    if not source:
        raise CheckProblem(f"This chapter has no solution for `{target.name}`.")
    note = "You learn by writing it yourself. Read this once, close it, and write your own solution from memory."
    _show(HintCard(target.name, 0, 0, note, code=source, what="a solution"))


def check_deeper(exercise: Value, names: dict[str, Value]) -> None:
    """Run all checks of ``exercise`` on the saved notebook, with new random inputs. Show the first check that fails.

    Raises ``CheckFailed`` if a check fails, and ``CheckProblem`` if the course's source is not on this computer.
    """
    examples, folder, target = _locate(exercise, names, "check", is_given=True)
    course = source_folder(folder)
    if course is None or sys.platform == "emscripten":
        raise CheckProblem(
            "`deeper=True` compares your function with the course's own on new random inputs. The course's checks and solutions are "
            f"not on this computer, so it works only in a clone of the course. `{usage(target, 'check')}` works here."
        )
    import subprocess  # noqa: PLC0415 - not available in a browser, and rarely needed elsewhere

    command = [sys.executable, "-m", "autograder", "check", str(saved_notebook(target, names, examples.chapter))]
    command += ["--exercise", target.name, "--json", "--course", str(course)]
    environment = {**os.environ, "AUTOGRADER_COURSE_SECRET": secrets.token_hex(32)}  # inputs are drawn from it
    print("Trying new random inputs. This takes a few seconds …", flush=True)  # noqa: T201 - explains the delay
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
    try:
        [verdict] = json.loads(done.stdout)
        [outcome] = map(ExerciseVerdict.from_json, verdict["exercises"])
    except ValueError:  # no result, or a result without exercises
        reasons = [*done.stderr.strip().splitlines(), "The check ended without a result."]
        said = str(json.loads(done.stdout)[0]["reason"]) if done.stdout.strip() else reasons[0]
        raise CheckProblem(said) from None
    failed = next((check for check in outcome.checks if check.status not in {"passed", "not_tried"}), None)
    if failed is None:
        text = f"`{target.name}` also passes all {len(outcome.checks)} checks with new random inputs."
        _show(HintCard(target.name, 0, 0, text))
        return
    message = outcome.message if outcome.misconception else failed.message
    card = Card(with_unique_names(replace(outcome, checks=(failed,), message=message), names), is_final=True)
    text = card_text(card, line_width())
    raise CheckFailed(summary(card) if show(card_html(card), text) else text)


def _show(card: HintCard) -> None:
    text = hint_text(card, line_width())
    if not show(hint_html(card), text):
        print(text)  # noqa: T201 - this is the answer


def _locate(
    exercise: Value, names: dict[str, Value], verb: str, *, is_given: bool
) -> tuple[Examples, Path, ExerciseExamples]:
    examples, folder = find_chapter(names)
    if not is_given:
        known = ", ".join(examples.exercises)
        raise CheckProblem(f"Which exercise? Write one of {known} between the parentheses of {verb}().")
    return examples, folder, find_exercise(exercise, names, examples, verb)


def _passes(examples: Examples, exercise: ExerciseExamples, target: Value, names: dict[str, Value]) -> bool:
    """Return whether the student's function passes now. A quiz or a function with side effects is not run, so the result is False."""
    from autograder.mistakes.fault_localization.hints import only_computes  # noqa: PLC0415 - slow to import and only needed for hints

    function = target if callable(target) else names.get(exercise.name)
    if exercise.kind == "answers" or is_empty(function) or not only_computes(exercise.name, function, names):
        return False
    return judge(examples, exercise, names, {exercise.name: function}, examples.call_seconds).status == "passed"


def _first_help(
    folder: Path, exercise: ExerciseExamples, progress: ExerciseProgress, target: Value, names: dict[str, Value]
) -> str:
    """Return a personal hint if no remaining written hint fits, else ``""``. The same code gets a personal hint only once."""
    left = exercise.hints[progress.hints :]
    own = _personal_hint(exercise, target, names) if left else None
    if own is None or own.is_in(left) or _shown_for.get((folder, exercise.name)) == own.code:
        return ""
    _shown_for[folder, exercise.name] = own.code
    return own.text


def _personal_hint(exercise: ExerciseExamples, target: Value, names: dict[str, Value]) -> PersonalHint | None:
    """Return a hint with the line of the student's code to look at, or None if no such line is found quickly."""
    from autograder.mistakes.fault_localization.hints import personal_hint  # noqa: PLC0415 - slow to import and only needed for hints

    function = target if callable(target) else names.get(exercise.name)
    if exercise.kind == "answers" or is_empty(function):
        return None
    return personal_hint(exercise.name, function, names, RecordedChecks({exercise.name: exercise}))


def _follow_up(exercise: ExerciseExamples, number: int, examples: Examples) -> str:
    if number == len(exercise.hints):
        own = f"Next, `{usage(exercise, 'hint')}` looks at your own code." if exercise.kind != "answers" else ""
        more = " ".join(filter(None, [own, _solution_note(exercise, examples)]))
        return f"\n\nStill stuck? {more}" if more else ""
    return f"\n\nStill stuck? `{usage(exercise, 'hint')}` gives the next one."


def _solution_note(exercise: ExerciseExamples, examples: Examples) -> str:
    released = examples.audience == "self-learners" and exercise.sealed
    return f"`{usage(exercise, 'solution')}` shows one way to write it." if released else ""


def _no_more(exercise: ExerciseExamples, examples: Examples) -> str:
    total = len(exercise.hints)
    if not total:
        return f"There are no hints for `{exercise.name}`. Read the text above its cell again."
    again = f'hint("{exercise.name}", 1)'
    return (
        f"You have seen all {total} hints for `{exercise.name}`. `{again}` shows the first again. Now work through "
        "the small example in the text on paper, print every intermediate shape, and read what "
        f'`check("{exercise.name}")` reports. {_solution_note(exercise, examples)}'
    ).rstrip()
