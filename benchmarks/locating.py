"""Measure how often the line of a mistake is found, and whether it is the changed line.

``python benchmarks/locating.py`` locates mistakes as grading does. It tries every mutant that the checks reject, in which the
wrong line is known, and every misconception, with its name withheld. It prints how many mistakes are located. For
mutants, it also prints how often the changed line is among the reported lines. ``--seconds`` limits the processor time
of one search, so other work on the machine changes the results little.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clocks import row
from simulated import HERE

from autograder.authoring.audit.localization_benchmark import (
    LOCATED_TARGET,
    TRUE_TARGET,
    SolutionLocator,
    faulty_solutions,
    place_of,
)
from autograder.course.course import load_course
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks

MUTANTS = 40  # mutants of each exercise, spread evenly over all of its mutants

Row = dict[str, Any]


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chapters", nargs="+", default=load_course(HERE).finished_chapters())
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="mutants of each exercise, 0 for none")
    parser.add_argument("--mutants-only", action="store_true", help="measure only mutants, not misconceptions")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--misses", action="store_true", help="print the mistakes that were not located, or located in a wrong line"
    )
    parser.add_argument("--output", type=Path, help="a file for the results, with one line of JSON for each mistake")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        parts = [
            pool.submit(measured, c, options.mutants, options.seconds, named=not options.mutants_only)
            for c in options.chapters
        ]
        rows = [row for part in parts for row in part.result()]
    if options.output:
        options.output.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    for kind in ("misconception", "mutant"):
        report(kind, [r for r in rows if r["kind"] == kind], misses=options.misses)


def report(kind: str, rows: list[Row], *, misses: bool = False) -> None:
    """Print how many mistakes of one ``kind`` were located, by exercise and in all."""
    located = [r for r in rows if r["lines"]]
    true = [r for r in located if not r["changed"] or set(r["lines"]) & set(r["changed"])]
    for exercise, count in Counter(r["exercise"] for r in rows).items():
        found = sum(r["exercise"] == exercise for r in located)
        print(f"    {exercise:32}{found:4} of {count:4}")
    if misses:
        for r in rows:
            if r not in true:
                print(
                    f"    {'wrong line' if r in located else 'not located'}: {r['label']} ({r['lines']}, {r['what']})"
                )
    if rows:
        seconds = sorted(r["seconds"] for r in rows)
        median, most = seconds[len(seconds) // 2], seconds[len(seconds) * 95 // 100]
        print(
            f"{len(rows)} {kind}s: {median:.2f} s of processor time in the median, at most {most:.2f} s for 95 % of them"
        )
        row(
            f"{kind}s located", f"{len(located) / len(rows):.1%}", f"≥ {LOCATED_TARGET:.0%}" if kind == "mutant" else ""
        )
    if located and kind == "mutant":
        row("of these, in a correct line", f"{len(true) / len(located):.1%}", f"≥ {TRUE_TARGET:.0%}")


def measured(chapter: str, most: int, seconds: float, *, named: bool = True) -> list[Row]:
    """Locate the mistakes in a chapter's mutants and misconceptions, and return one row for each mistake."""
    warnings.simplefilter("ignore")  # a mutant may compute nonsense
    os.environ["AUTOGRADER_COURSE_SECRET"] = "the same for every recording"  # noqa: S105 - it hides nothing
    return list(_measured(chapter, most, seconds, named=named))


def _measured(chapter: str, most: int, seconds: float, *, named: bool) -> Iterator[Row]:
    checks = load_checks(load_course(HERE), chapter)
    checks.shrinks = False
    locator = SolutionLocator(checks, seconds=seconds)
    judge = Judge(checks)
    for spec in checks.specs.values():
        for one in faulty_solutions(checks, spec.name, mutants=most, named=named) if not spec.answers else ():
            begun = time.process_time()
            place = place_of(one, spec.name, judge, locator)
            if place is not None:
                [found] = place
                yield {
                    **asdict(one), "chapter": chapter, "exercise": spec.name,
                    "lines": [line for _, line in found.places] if found else [],
                    "what": found.kind if found else "", "edits": found.edits if found else 0,
                    "repaired": [list(variant.sources.values()) for variant in found.variants] if found else [],
                    "seconds": time.process_time() - begun,
                }  # fmt: skip


if __name__ == "__main__":
    main()
