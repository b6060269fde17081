"""Judges right, wrong and mutated solutions by a chapter's checks and writes down what happens."""

from __future__ import annotations

import dataclasses
import os
import time
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

from autograder.audit.exercise import MeasuredExercise
from autograder.audit.locating import places_in
from autograder.audit.processes import each_chapter
from autograder.audit.report import ChapterAudit
from autograder.course import Course
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from autograder.judging.solutions import known_alternatives
from autograder.misconception import Misconception
from autograder.notebook import blank_exercises, load_source

__all__ = ["DRAWS", "audit"]

DRAWS = 20  # sets of inputs on which alternatives must do well


def audit(
    course: Course,
    chapters: Sequence[str],
    *,
    mutants: bool = True,
    workers: int = 1,
    draws: int = DRAWS,
    locate: bool = False,
    suggest: bool = False,
) -> list[ChapterAudit]:
    """Audit ``chapters``, on as many processes as ``workers`` says; raises ``CourseError`` where checks cannot be read.

    With ``locate``, the line of the mistake is looked for in mutants and misconceptions too, which takes minutes a chapter; with
    ``suggest``, mutants that survive or that nothing names are offered as misconceptions.
    """
    for chapter in chapters:
        course.require_chapter(chapter)
    measure = partial(_in_silence, mutants=mutants, draws=draws, locate=locate, suggest=suggest)
    measured = dict(each_chapter(measure, course, chapters, workers))
    return [measured[chapter] for chapter in chapters]


def _in_silence(course: Course, chapter: str, **how: bool | int) -> ChapterAudit:
    """The audit of a chapter; what its solutions print, over and over, is nothing that an author wants to read."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        return _audit(course, chapter, **how)  # type: ignore[arg-type]


def _audit(course: Course, chapter: str, *, mutants: bool, draws: int, locate: bool, suggest: bool) -> ChapterAudit:
    begun = time.monotonic()
    judge = Judge(load_checks(course, chapter))
    judge.checks.shrinks = False
    # Marks alone take a small part of the time that it takes to name the mistake as well.
    unnamed: dict[str, list[Misconception]] = {name: [] for name in judge.checks.misconceptions}
    marks = Judge(dataclasses.replace(judge.checks, misconceptions=unnamed, _diagnoses={}))
    alternatives = known_alternatives(course, chapter)
    _, released = load_source(course.source(chapter))
    blank = blank_exercises(released, released)
    found = []
    for spec in judge.checks.specs.values():
        exercise = MeasuredExercise(judge, marks, spec, [a for a in alternatives if a.exercise == spec.name])
        result = exercise.measured(blank=spec.name in blank, mutants=mutants, draws=draws)
        found.append(exercise.with_suggestions(result) if suggest else result)
    if locate:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nonsense, which is what an edited mutant may be
            places = places_in(judge.checks)
        found = [dataclasses.replace(e, places=places.get(e.name)) for e in found]
    seconds = time.monotonic() - begun
    return ChapterAudit(chapter, tuple(found), seconds, targets=course.targets, at_least=course.at_least)
