"""Find mutants of the known mistakes whose name may be false.

``python benchmarks/neighbors.py`` makes every mutant of each reference and of each misconception. It identifies a mutant's mistake
from the results for the visible inputs, as ``check()`` does, and compares the mutant with that misconception on the hidden inputs.
With ``--hidden``, it identifies mistakes as grading does, and compares on inputs from other secrets. That takes about ten times as
long. If the results differ, read the message. It is true if the mutant has the named mistake and another one. If it is false, add
an input that separates the two.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from simulated import HERE

from autograder.authoring.audit.mutants import Mutant, mutants_of
from autograder.course.course import load_course
from autograder.judging.diagnosis import Diagnosis, distinguishing_calls, same_answer
from autograder.judging.functions import FunctionSession
from autograder.judging.loader import ChapterChecks, load_checks
from autograder.sandbox.protocol import Answer, Call
from autograder.values import call_key

SECRETS = 8
SECONDS = 1.0  # of processor time for one call of a mutant, which may run forever
PATIENCE = 20.0  # the same limit for a misconception, which always ends

Found = tuple[Mutant, str, Call]  # a mutant, the name of its mistake, and the first call that tells the two apart


def main() -> None:
    """Measure each chapter, and print one line for each exercise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    course = load_course(HERE)
    parser.add_argument("--chapters", nargs="+", default=course.finished_chapters())
    parser.add_argument(
        "--hidden", action="store_true", help="identify mistakes as grading does, and use other secrets"
    )
    parser.add_argument("--show", action="store_true", help="print each mutant that differs from its misconception")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a mutant may be nonsense
    for chapter in options.chapters:
        checks = load_checks(course, chapter)
        for exercise in (name for name, spec in checks.specs.items() if not spec.answers):
            with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
                programs, named, differing = measured(checks, exercise, hidden=options.hidden)
            print(f"{exercise}: {programs} mutants, {named} named, {len(differing)} differ from their misconception")
            for mutant, name, call in differing if options.show else ():
                print(
                    f"\n{name} for {mutant.label}\n{mutant.source}\nThe results differ in a call of {call.function}.\n"
                )
            sys.stdout.flush()


def measured(checks: ChapterChecks, exercise: str, *, hidden: bool) -> tuple[int, int, list[Found]]:
    """Return how many mutants there are, how many of them are named, and the named ones that differ from their misconception."""
    diagnosis = checks.diagnosis(exercise) if hidden else checks.visible_part().diagnosis(exercise)
    functions = {one.name: one.function for one in checks.misconceptions[exercise]}
    further = further_calls(checks, exercise, diagnosis, hidden=hidden)

    def session(function: Callable[..., Any], seconds: float) -> FunctionSession:
        return FunctionSession({**checks.references, exercise: function}, call_seconds=seconds)

    @cache
    def known(name: str) -> Sequence[Answer]:
        return session(functions[name], PATIENCE).batch(further)

    programs = named = 0
    differing: list[Found] = []
    for mutant in all_mutants({"reference": checks.references[exercise], **functions}):
        programs += 1
        own = session(mutant.function, SECONDS)
        found = diagnosis.explain([(call, own.call(call)) for call in diagnosis.calls])
        if found is None or found.name not in functions:
            continue
        named += 1
        pairs = zip(further, known(found.name), strict=True)
        other = next((call for call, answer in pairs if not same_results(own.call(call), answer, call)), None)
        differing += [(mutant, found.name, other)] if other is not None and own.alive else []
    return programs, named, differing


def further_calls(checks: ChapterChecks, exercise: str, diagnosis: Diagnosis, *, hidden: bool) -> list[Call]:
    """Return the calls with which a named mutant is compared with its misconception."""
    if not hidden:
        shown = {call_key(call) for call in diagnosis.calls}
        return [call for call in checks.diagnosis(exercise).calls if call_key(call) not in shown]
    names = tuple(check.name for check in checks.specs[exercise].checks if not check.visible)
    secrets = [hashlib.sha256(f"neighbors {number}".encode()).digest() for number in range(SECRETS)]
    drawn = [call for secret in secrets for call in checks.dry_run(exercise, names, secret) if call.memory_mb is None]
    return distinguishing_calls(exercise, drawn)


def all_mutants(functions: dict[str, Callable[..., Any]]) -> Iterator[Mutant]:
    """Yield the mutants of ``functions``, each source once."""
    seen: set[str] = set()
    for name, function in functions.items():
        for mutant in mutants_of(function, name):
            if mutant.source not in seen:
                seen.add(mutant.source)
                yield mutant


def same_results(one: Answer, other: Answer, call: Call) -> bool:
    """Return whether two answers are the same, whatever inputs the calls changed."""
    bare = [replace(answer, changed=(), same=()) for answer in (one, other)]
    return bool(one.stopped or other.stopped or same_answer(*bare, call))


if __name__ == "__main__":
    main()
