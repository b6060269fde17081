"""Measure what locating unnamed mistakes costs a class.

``python benchmarks/locating_cost.py`` grades a simulated class alternately with ``c.Course.locate_seconds`` at 0
and at its default. It prints the ratio of the processor times, which include the sandbox. ``--different`` uses a class
in which every student has one unnamed mistake, and as few students as possible have the same mistake. Then only the
budget of the class limits the search.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from clocks import row
from simulated import CHAPTER, course_in, fill

from autograder.authoring.audit.mutants import mutants_of
from autograder.authoring.simulate import reference_code, solved_notebook, write_notebook
from autograder.classroom.run import handed_in
from autograder.course.course import Course, load_course
from autograder.grading.batch import grade
from autograder.grading.submission import verdict_only
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import known_alternatives, load_checks

TARGET = 1.3


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chapters", nargs="+", default=[CHAPTER])
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--different",
        action="store_true",
        help="grade a class in which every student has an unnamed mistake, most of them different",
    )
    options = parser.parse_args()
    for chapter in options.chapters:
        with tempfile.TemporaryDirectory() as folder:
            course = course_in(Path(folder) / "course")
            if options.different:
                print(f"{_fill_with_mistakes(course, options.students, chapter)} different mistakes without a name")
            else:
                fill(course, options.students, chapter, bare=True)
            without = load_course(course.root)
            without.locate_seconds = 0.0
            costs: dict[bool, list[float]] = {False: [], True: []}
            for _ in range(options.rounds):
                for looked, one in ((False, without), (True, course)):
                    seconds, located, wrong = _graded(one, chapter)
                    costs[looked].append(seconds)
        each = {looked: 1000 * statistics.median(found) / options.students for looked, found in costs.items()}
        print(
            f"{chapter}: {each[False]:.0f} ms for each notebook without the search, {each[True]:.0f} ms with the search. {located} of {wrong} unnamed mistakes were located."
        )
        row(f"cost of locating mistakes, {chapter}", f"{each[True] / each[False]:.2f}×", f"≤ {TARGET}×")


def _fill_with_mistakes(course: Course, students: int, chapter: str) -> int:
    """Submit notebooks with one unnamed mistake each, and return the number of different mistakes."""
    os.environ["AUTOGRADER_COURSE_SECRET"] = "the same for every class"  # noqa: S105 - it hides nothing
    found = _unnamed(course, chapter, students)
    right = reference_code(course, chapter)
    for i in range(students):
        exercise, source = found[i % len(found)]
        path = course.root / "submitted" / f"s{i:04}" / chapter / f"{chapter}.ipynb"
        write_notebook(path, solved_notebook(course, chapter, {**right, exercise: f"{source}\n# {i}"}))
        (path.parent / "timestamp.txt").write_text("2026-01-15 10:30:00 UTC")
    return len(found)


def _unnamed(course: Course, chapter: str, most: int) -> list[tuple[str, str]]:
    """Return (exercise, source) pairs of mutants that fail the checks and match no named misconception, alternating between the exercises."""
    checks = load_checks(course, chapter)
    checks.shrinks = False
    judge = Judge(checks)
    alternatives = known_alternatives(course, chapter)
    by_exercise = []
    for exercise, spec in checks.specs.items():
        models = [checks.references[exercise], *(a.function for a in alternatives if a.exercise == exercise)]
        mutants = [(m, model) for model in ([] if spec.answers else models) for m in mutants_of(model, exercise)]
        by_exercise.append([(exercise, m.source.replace(f"def {f.__name__}(", f"def {exercise}(")) for m, f in mutants])
    found: list[tuple[str, str]] = []
    for exercise, source in (one for ones in zip_longest(*by_exercise) for one in ones if one is not None):
        names = {"np": np, **checks.right_names()}
        exec(source, names)  # noqa: S102 - the course's own code, changed by us
        subject = FunctionSubject(exercise, names, call_seconds=0.5)
        [verdict] = judge.judge(subject, only=frozenset({exercise}))
        if verdict.may_be_located:
            found.append((exercise, source))
        if len(found) == most:
            break
    return found


def _graded(course: Course, chapter: str) -> tuple[float, int, int]:
    """Grade the class. Return the seconds of processor time, and how many unnamed mistakes were located and how many exist in all."""
    before = sum(_seconds())
    outcomes = list(grade(course, handed_in(course, chapter), deliver=verdict_only))
    unnamed = [e for o in outcomes for e in o.verdict.exercises if e.may_be_located]
    return sum(_seconds()) - before, sum(e.located is not None for e in unnamed), len(unnamed)


def _seconds() -> Iterator[float]:
    yield time.process_time()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    yield ended.ru_utime + ended.ru_stime


if __name__ == "__main__":
    main()
