"""``hint`` and ``solution``: a little help at a time, and all of it where somebody learns alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.pages import HintCard, hint_html, hint_text
from autograder.student.examples import Examples, ExerciseExamples
from autograder.student.examples.replay import RecordedChecks
from autograder.student.notebook_check.checking import is_empty, keeps_notes, line_width
from autograder.student.notebook_check.front_end import CheckProblem, show
from autograder.student.notebook_check.lookup import find_chapter, find_exercise, usage
from autograder.student.notebook_check.progress import ExerciseProgress, folder_of, read, record

if TYPE_CHECKING:
    from autograder.mistakes.fault_localization.hints import PersonalHint

__all__ = ["give_hint", "show_solution"]

BEFORE_A_SOLUTION = 3  # hints that are read before, or all where there are fewer
_looked_at: dict[tuple[Path, str], str] = {}  # the code that a personal hint was given about, before the written ones


def give_hint(exercise: Any, number: int | None, names: dict[str, Any], *, is_told: bool) -> None:
    """Show hint ``number`` of ``exercise``, or the one that is due."""
    examples, folder, found = _found(exercise, names, "hint", is_told=is_told)
    home, total = folder_of(folder, examples.chapter), len(found.hints)
    standing = read(home).of(examples.chapter, found.name)
    wanted = _due(standing, total) if number is None else number
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= total):
        raise CheckProblem(f"{found.name} has {total} hints, numbered from 1: {number!r:.20} is none of them.")
    trouble = ""
    at_once = _at_once(folder, found, standing, exercise, names) if number is None and total else ""
    if at_once:
        card = HintCard(found.name, 0, total, at_once + _then_written(found, standing))
    elif not total:
        own = _personal(found, exercise, names)
        none = f"There are no hints for `{found.name}`: the text above its cell is all."
        card = HintCard(found.name, 0, 0, own.text if own else none)
    elif wanted > total:
        own = _personal(found, exercise, names)
        card = HintCard(found.name, 0, total, own.text if own else _no_more(found, examples))
    else:
        skipped = number is None and wanted > standing.hints + 1
        before = _skipped(found, standing.failed, wanted) if skipped else ""
        text = before + found.hints[wanted - 1] + _and_then(found, wanted, examples)
        card = HintCard(found.name, wanted, total, text)
        trouble = record(home, examples.chapter, found.name, hint=wanted) if keeps_notes() else ""
    _shown(card)
    if trouble:
        print(trouble)  # noqa: T201 - said once


def show_solution(exercise: Any, names: dict[str, Any], *, is_told: bool) -> None:
    """Show a solution of ``exercise``; raises ``CheckProblem`` where it is not time for it, or where marks are given."""
    examples, folder, found = _found(exercise, names, "solution", is_told=is_told)
    if examples.audience != "self-learners":
        raise CheckProblem(
            f"`solution` is for people who learn by themselves; this chapter belongs to a course that marks it. "
            f"`{usage(found, 'hint')}` helps here, and whoever teaches the course does."
        )
    standing = read(folder_of(folder, examples.chapter)).of(examples.chapter, found.name)
    needed = min(BEFORE_A_SOLUTION, len(found.hints))
    if standing.status != "done" and standing.hints < needed:
        raise CheckProblem(
            f"A solution comes after hint {needed}, and you have read {standing.hints or 'none'} so far: "
            f"`{usage(found, 'hint')}` gives the next one."
        )
    source = found.solution()
    if not source:
        raise CheckProblem(f"No solution of `{found.name}` was handed out with this chapter.")
    said = "You learn it by writing it: read this once, close it, and write yours from memory."
    _shown(HintCard(found.name, 0, 0, said, code=source, what="a solution"))


def _shown(card: HintCard) -> None:
    text = hint_text(card, line_width())
    if not show(hint_html(card), text):
        print(text)  # noqa: T201 - this is the answer


def _found(
    exercise: Any, names: dict[str, Any], verb: str, *, is_told: bool
) -> tuple[Examples, Path, ExerciseExamples]:
    examples, folder = find_chapter(names)
    if not is_told:
        known = ", ".join(examples.exercises)
        raise CheckProblem(f"{verb} needs to be told which exercise: write one of {known} between its brackets.")
    return examples, folder, find_exercise(exercise, names, examples, verb)


def _due(standing: ExerciseProgress, total: int) -> int:
    """The hint after the last one that was read; with every second try that failed, one further on."""
    by_tries = min((standing.failed + 1) // 2, total) if standing.status != "done" else 0
    return max(standing.hints + 1, by_tries)


def _skipped(found: ExerciseExamples, failed: int, wanted: int) -> str:
    first = f'hint("{found.name}", 1)'
    return f"You have tried {failed} times, so this is hint {wanted}; `{first}` gives the first.\n\n"


def _at_once(
    folder: Path, found: ExerciseExamples, standing: ExerciseProgress, target: Any, names: dict[str, Any]
) -> str:
    """The personal hint, where none of the hints that are left to read fits; empty where it was given for this very code."""
    left = found.hints[standing.hints :]
    own = _personal(found, target, names) if left else None
    if own is None or own.is_in(left) or _looked_at.get((folder, found.name)) == own.code:
        return ""
    _looked_at[folder, found.name] = own.code
    return own.text


def _then_written(found: ExerciseExamples, standing: ExerciseProgress) -> str:
    which = "next" if standing.hints else "first"
    return f"\n\nStill stuck? `{usage(found, 'hint')}` gives the {which} of the written hints."


def _personal(found: ExerciseExamples, target: Any, names: dict[str, Any]) -> PersonalHint | None:
    """Which line of the student's own code to look at; None where that is not found at once."""
    from autograder.mistakes.fault_localization.hints import personal_hint  # noqa: PLC0415 - only who asks for a hint waits for it

    function = target if callable(target) else names.get(found.name)
    if found.kind == "answers" or is_empty(function):
        return None
    return personal_hint(found.name, function, names, RecordedChecks({found.name: found}))


def _and_then(exercise: ExerciseExamples, number: int, examples: Examples) -> str:
    if number == len(exercise.hints):
        own = f"`{usage(exercise, 'hint')}` looks at your own code next." if exercise.kind != "answers" else ""
        solution = (
            f"`{usage(exercise, 'solution')}` shows how it may be written." if _has_solution(exercise, examples) else ""
        )
        said = " ".join(filter(None, [own, solution]))
        return f"\n\nStill stuck? {said}" if said else ""
    return f"\n\nStill stuck? `{usage(exercise, 'hint')}` gives the next one."


def _has_solution(exercise: ExerciseExamples, examples: Examples) -> bool:
    return examples.audience == "self-learners" and bool(exercise.sealed)


def _no_more(exercise: ExerciseExamples, examples: Examples) -> str:
    total = len(exercise.hints)
    again = f'hint("{exercise.name}", 1)'
    solution = (
        f" `{usage(exercise, 'solution')}` shows how it may be written." if _has_solution(exercise, examples) else ""
    )
    return (
        f"You have seen all {total} hints for `{exercise.name}`; `{again}` shows the first again. What helps now: do "
        "the small example in the text on paper, print every intermediate shape, and read what "
        f'`check("{exercise.name}")` finds.{solution}'
    )
