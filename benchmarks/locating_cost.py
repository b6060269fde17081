"""What it costs a class that the lines of unnamed mistakes are looked for.

``python benchmarks/locating_cost.py`` grades one simulated class with ``c.Course.locate_seconds`` at 0 and at its default, in
turn, and prints how many times as much processor time, both sides of the jail together, the second takes.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clocks import row
from simulated import CHAPTER, course_in, fill

from autograder.classroom.run import handed_in
from autograder.course import Course, load_course
from autograder.grading.batch import grade
from autograder.grading.outcome import verdict_only

TARGET = 1.3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chapters", nargs="+", default=[CHAPTER])
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for chapter in options.chapters:
        with tempfile.TemporaryDirectory() as folder:
            course = course_in(Path(folder) / "course")
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
            f"{chapter}: {each[False]:.0f} ms a notebook without, {each[True]:.0f} ms with; {located} of {wrong} unnamed mistakes located"
        )
        row(f"looking for mistakes, {chapter}", f"{each[True] / each[False]:.2f}×", f"≤ {TARGET}×")


def _graded(course: Course, chapter: str) -> tuple[float, int, int]:
    """Seconds of processor time, and how many unnamed mistakes were located, of how many."""
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
