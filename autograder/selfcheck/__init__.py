"""What a student's ``check`` and ``hint`` do: the visible checks replayed at once, with no answer on the machine.

NumPy and the standard library only; this also runs in a browser, under Pyodide.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from autograder import attempt
from autograder.examples import AssertStep, Examples, ExerciseExamples, not_readable, not_written, replay
from autograder.examples.replay import RecordedChecks
from autograder.judging.functions import FunctionSubject
from autograder.render import Card, HintCard, card_html, card_text, hint_html, hint_text
from autograder.render.card import summary
from autograder.selfcheck.front_end import CheckFailed, CheckProblem, show
from autograder.selfcheck.lookup import Target, find_examples, find_exercise, usage

if TYPE_CHECKING:
    from autograder.locating.hints import PersonalHint

__all__ = ["CheckFailed", "CheckProblem", "check", "hint"]

_WELL_FORMED = {"one_of", "is_number", "is_string", "has_shape"}
_NOTHING: Any = object()
_passed: set[tuple[str, str]] = set()
_hints_given: dict[tuple[str, str], int] = {}
_shown: dict[tuple[str, str], str] = {}  # the code that a personal hint was given about, before the written ones


def check(exercise: Target = _NOTHING) -> None:
    """Show which visible checks of an exercise hold, and for the first that does not: what was found, and why.

    ``exercise`` is the function itself, ``check(softmax)``, or an exercise's name, ``check("quiz_ch1")``. Raises
    ``CheckFailed`` when something does not hold yet and ``CheckProblem`` when there is nothing to check.
    """
    try:
        _check(exercise, sys._getframe(1).f_globals)  # noqa: SLF001 - the notebook's names, which nobody hands over
    except (CheckFailed, CheckProblem) as error:
        raise error.with_traceback(None) from None


def hint(exercise: Target = _NOTHING, number: int | None = None) -> None:
    """Show the next hint of an exercise, or hint ``number`` (from 1).

    Where none of the hints that are left fits what is wrong, the line of the student's own code to look at comes first.
    Raises ``CheckProblem`` when there is no such hint.
    """
    try:
        _hint(exercise, number, sys._getframe(1).f_globals)  # noqa: SLF001 - as in check
    except CheckProblem as error:
        raise error.with_traceback(None) from None


def _check(exercise: Any, names: dict[str, Any]) -> None:
    examples, found = _find(exercise, names, "check")
    given = {found.name: exercise} if callable(exercise) else {}
    subject = FunctionSubject("notebook", names, given=given)
    [verdict] = replay(examples.exercises, subject, only=frozenset({found.name}))
    function = given.get(found.name, names.get(found.name))
    begun = verdict.status != "not_attempted" and not _is_empty(function)
    if found.kind != "answers" and verdict.status != "passed" and not begun:
        run = [cell for cell in _cells_run(names) if isinstance(cell, str)]
        verdict = not_readable(found) if attempt.is_unreadable(found.name, run) else not_written(found)
    card = Card(
        verdict,
        points=found.points,
        hints_left=max(len(found.hints) - _hints_given.get((examples.chapter, found.name), 0), 0),
        next_up=_next_up(examples, found),
        well_formed_only=_well_formed_only(found),
    )
    text = card_text(card)
    shown = show(card_html(card), text)
    if verdict.status != "passed":
        raise CheckFailed(summary(card) if shown else text)
    _passed.add((examples.chapter, found.name))
    if not shown:
        print(text)  # noqa: T201 - this is the answer


def _hint(exercise: Any, number: int | None, names: dict[str, Any]) -> None:
    examples, found = _find(exercise, names, "hint")
    key, total = (examples.chapter, found.name), len(found.hints)
    given = _hints_given.get(key, 0)
    wanted = given + 1 if number is None else number
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= total):
        raise CheckProblem(f"{found.name} has {total} hints, numbered from 1: {number!r:.20} is none of them.")
    at_once = _at_once(key, found, exercise, names) if number is None and total else ""
    if at_once:
        card = HintCard(found.name, 0, total, at_once + _and_then(found, given, own=True))
    elif not total:
        own = _personal(found, exercise, names)
        none = f"There are no hints for `{found.name}`: the text above its cell is all."
        card = HintCard(found.name, 0, 0, own.text if own else none)
    elif wanted > total:
        own = _personal(found, exercise, names)
        card = HintCard(found.name, 0, total, own.text if own else _no_more(found))
    else:
        _hints_given[key] = max(given, wanted)
        card = HintCard(found.name, wanted, total, found.hints[wanted - 1] + _and_then(found, wanted))
    text = hint_text(card)
    if not show(hint_html(card), text):
        print(text)  # noqa: T201 - this is the answer


def _at_once(key: tuple[str, str], found: ExerciseExamples, target: Any, names: dict[str, Any]) -> str:
    """The personal hint, where none of the hints that are left to read fits; empty where it was given for this very code."""
    left = found.hints[_hints_given.get(key, 0) :]
    own = _personal(found, target, names) if left else None
    if own is None or own.is_in(left) or _shown.get(key) == own.code:
        return ""
    _shown[key] = own.code
    return own.text


def _personal(found: ExerciseExamples, target: Any, names: dict[str, Any]) -> PersonalHint | None:
    """Which line of the student's own code to look at; None where that is not found at once."""
    from autograder.locating.hints import personal_hint  # noqa: PLC0415 - only who asks for a hint waits for it

    function = target if callable(target) else names.get(found.name)
    if found.kind == "answers" or _is_empty(function):
        return None
    return personal_hint(found.name, function, names, RecordedChecks({found.name: found}))


def _find(target: Any, names: dict[str, Any], verb: str) -> tuple[Examples, ExerciseExamples]:
    examples = find_examples(names)
    if target is _NOTHING:
        known = ", ".join(examples.exercises)
        raise CheckProblem(f"{verb} needs to be told which exercise: write one of {known} between its brackets.")
    return examples, find_exercise(target, names, examples, verb)


def _cells_run(names: dict[str, Any]) -> list[Any]:
    """The cells of this notebook in the order in which they were run, as IPython keeps them; none elsewhere."""
    run = names.get("In")
    return run if isinstance(run, list) else []


def _is_empty(function: Any) -> bool:
    """Whether the function is still a stub, its ``raise`` taken out or not."""
    try:
        source = inspect.cleandoc("\n" + inspect.getsource(function))
    except (TypeError, OSError, IndentationError, SyntaxError):
        return False
    return attempt.last_definition_is_blank(getattr(function, "__name__", ""), [source])


def _next_up(examples: Examples, found: ExerciseExamples) -> str:
    """The exercise that comes after this one and has not passed yet; one before it when none is left after it."""
    order = list(examples.exercises)
    place = order.index(found.name)
    waiting = [name for name in order if name != found.name and (examples.chapter, name) not in _passed]
    later = [name for name in waiting if order.index(name) > place]
    return next(iter(later or waiting), "")


def _well_formed_only(exercise: ExerciseExamples) -> bool:
    asserted = {step.name for check in exercise.checks for step in check.steps if isinstance(step, AssertStep)}
    return exercise.kind == "answers" and asserted <= _WELL_FORMED


def _and_then(exercise: ExerciseExamples, number: int, *, own: bool = False) -> str:
    """What a further ``hint`` gives after ``number`` written ones; ``own`` after the one about the student's own code."""
    if own:
        which = "first" if number == 0 else "next"
        return f"\n\nStill stuck? `{usage(exercise, 'hint')}` gives the {which} of the written hints."
    if number == len(exercise.hints):
        own = exercise.kind != "answers"
        return f"\n\nStill stuck? `{usage(exercise, 'hint')}` looks at your own code next." if own else ""
    return f"\n\nStill stuck? `{usage(exercise, 'hint')}` gives the next one."


def _no_more(exercise: ExerciseExamples) -> str:
    total = len(exercise.hints)
    again = f'hint("{exercise.name}", 1)'
    return (
        f"You have seen all {total} hints for `{exercise.name}`; `{again}` shows the first again. What helps now: do "
        "the small example in the text on paper, print every intermediate shape, and read what "
        f'`check("{exercise.name}")` finds.'
    )
