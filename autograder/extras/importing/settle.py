"""Which way each test is written as a check: the first that holds for the author's own solution, as a trial finds."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from autograder.base.formatting import pluralize
from autograder.extras.importing.chapter import Check, Left, NewChapter
from autograder.extras.importing.pieces import AnswerCell, ImportRefusedError

__all__ = ["in_a_process", "settle"]

_OPAQUE = "it looks into a value of a kind that cannot be brought out of a student's notebook"
_SECONDS = 300.0  # for one round of trying a chapter


def settle(chapter: NewChapter, outcomes: Mapping[str, Mapping[str, Mapping[str, str]]]) -> None:
    """Choose a way for each check, and leave those that have none, by what came of trying them all.

    Of each check of each exercise, ``outcomes`` says ``why`` the reference does not pass it, and why it cannot be ``unwritten``.
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
            Left(
                exercise.where,
                f"none of the tests of {exercise.name} is carried over, so a person marks it, for its {pluralize(float(worth[exercise.name]), 'point')}.",
            )
        )
    if not chapter.exercises:
        why = "".join(f"\n  - {left}" for left in chapter.left)
        raise ImportRefusedError(f"None of its tests can be carried over. Nothing was written.{why}")


def _choose(chapter: NewChapter, check: Check, outcomes: Mapping[str, Mapping[str, str]]) -> str:
    """Choose how a check is written; the sentence says why none of its ways will do."""
    untried = {"why": "it was not tried", "unwritten": ""}
    told = {way.kind: outcomes.get(f"{check.method}__{way.kind}", untried) for way in check.ways}
    fine = [way for way in check.ways if not told[way.kind]["why"]]
    # Of plain Python a notebook replays the assertions only: what it would pass, grading might not.
    seen = [way for way in fine if way.kind != "python" and not told[way.kind]["unwritten"]]
    if check.visible and fine and not seen:
        check.visible, check.stays = False, True
        chapter.notes.append(
            f"{check.test.where}: its test “{check.title}” asks something that check() cannot replay in a notebook. Its cell stays "
            "for students to run, and grading has it as a hidden check."
        )
    check.chosen = next(iter(seen if check.visible else fine), None)
    if check.chosen is not None and check.chosen.kind == "probe" and check.test.hidden:
        chapter.notes.append(
            f"{check.test.where}: its hidden test “{check.title}” becomes a probe: its code runs beside the student's, as in "
            f"{chapter.original.tool}."
        )
    why = next((told[way.kind]["why"] for way in check.ways), "no words of a check say it")
    return _OPAQUE if "'Opaque'" in why else why


def _drop(chapter: NewChapter, check: Check, why: str) -> None:
    told = f"its test “{check.title}” is not carried over: {why.rstrip('.')}."
    if check.points and chapter.checks_of(check.exercise):
        chapter.give(check.exercise, check.points)
        told += f" Its {pluralize(float(check.points), 'point')} went to the other checks of {check.exercise}."
    if check.visible:
        told += " Its cell stays, for students to run."
        chapter.kept_tests.setdefault(_number_of(chapter, check), []).append(check.test)
    chapter.left.append(Left(check.test.where, told))


def _number_of(chapter: NewChapter, check: Check) -> int:
    pieces = chapter.original.pieces
    return next(n for n, p in enumerate(pieces) if p.where == check.test.where and not isinstance(p, AnswerCell))


def in_a_process(what: str, root: Path, name: str) -> dict[str, Any]:
    """Run one of the functions of ``trial`` for the course in ``root``; raises ``ImportRefusedError`` where it does not come back."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "autograder.extras.importing.trial", what, str(root), name, str(result)]
        try:
            done = subprocess.run(
                command,
                cwd=root,
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise ImportRefusedError(
                f"Its own solutions and tests were not done after {_SECONDS:.0f} s. Nothing was written."
            ) from error
        if done.returncode or not result.is_file():
            last = (done.stderr.strip().splitlines() or ["the process ended without a word"])[-1]
            raise ImportRefusedError(f"Its own solutions and tests could not be tried: {last}. Nothing was written.")
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return found
