"""Find mutants of known solutions that keep full marks.

``python benchmarks/kept_marks.py`` makes every mutant of each alternative and of each misconception, and runs all checks of the exercise
on it. The audit mutates only the reference, so these mutants show mistakes in other routes to a solution. A mutant that passes all
checks is compared with the reference on inputs from other secrets. If its results are the same, the mutant is right. Otherwise,
``--show`` prints it. Read it: it may be wrong, or right in another way, as with another order of random numbers.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from neighbors import PATIENCE, SECONDS, all_mutants, further_calls
from simulated import HERE

from autograder.authoring.audit.fault_model import passes
from autograder.authoring.audit.mutants import Mutant
from autograder.course.course import load_course
from autograder.judging.diagnosis import same_answer
from autograder.judging.exercise_session import Sessions
from autograder.judging.functions import FunctionSession
from autograder.judging.loader import ChapterChecks, known_alternatives, load_checks
from autograder.judging.proxies import StudentProxy


def main() -> None:
    """Measure each chapter, and print one line for each exercise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    course = load_course(HERE)
    parser.add_argument("--chapters", nargs="+", default=course.finished_chapters())
    parser.add_argument("--show", action="store_true", help="print each mutant that passes with other results")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a mutant may be nonsense
    for chapter in options.chapters:
        checks = replace(load_checks(course, chapter), shows_cases=False)
        alternatives = known_alternatives(course, chapter)
        for exercise in (name for name, spec in checks.specs.items() if not spec.answers):
            known = [a for a in (*alternatives, *checks.misconceptions[exercise]) if a.exercise == exercise]
            with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
                programs, right, others = measured(checks, exercise, {a.name: a.function for a in known})
            lost = programs - right - len(others)
            print(f"{exercise}: {programs} mutants, {lost} lose marks, {right} are right, {len(others)} to read")
            for mutant in others if options.show else ():
                print(f"\n{mutant.label}\n{mutant.source}\n")
            sys.stdout.flush()


def measured(
    checks: ChapterChecks, exercise: str, known: dict[str, Callable[..., Any]]
) -> tuple[int, int, list[Mutant]]:
    """Return how many mutants there are, how many of them are right, and the others that keep full marks."""
    calls = further_calls(checks, exercise, checks.diagnosis(exercise), hidden=True)
    answers = FunctionSession(checks.right_names(), call_seconds=PATIENCE).batch(calls)
    programs = right = 0
    others: list[Mutant] = []
    for mutant in all_mutants(known):
        programs += 1
        names = {**checks.right_names(), exercise: mutant.function}
        if not all_pass(checks, exercise, FunctionSession(names, call_seconds=SECONDS)):
            continue
        own = FunctionSession(names, call_seconds=PATIENCE)
        if all(same_answer(answer, own.call(call), call) for answer, call in zip(answers, calls, strict=True)):
            right += 1
        else:
            others.append(mutant)
    return programs, right, others


def all_pass(checks: ChapterChecks, exercise: str, session: FunctionSession) -> bool:
    """Return whether all checks pass. Stop at the first that fails."""
    conversation = checks.converse(exercise, Sessions(lambda: session), planned=False)
    student = StudentProxy(conversation)
    names = (check.name for check in checks.specs[exercise].checks)
    return all(passes(checks, exercise, name, student) and not conversation.stopped for name in names)


if __name__ == "__main__":
    main()
