"""Measure the memory of a grading worker, inside and outside of the sandbox, while it grades one submission after another.

``python benchmarks/worker_memory.py --submissions 1000`` prints the resident memory of the grading process and of the
sandbox's warm process, after a quarter and after half of the submissions, and at the end.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clocks import row
from simulated import CHAPTER, course_in, fill

from autograder.classroom.delivery import FeedbackWriter
from autograder.grading.batch import grade
from autograder.grading.submission import Job


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--submissions", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        course = course_in(Path(folder) / "course")
        paths = fill(course, min(options.submissions, 60))
        jobs = [Job(paths[n % len(paths)], f"s{n}", CHAPTER) for n in range(options.submissions)]
        readings = [_both_sides() for _outcome in grade(course, jobs, deliver=FeedbackWriter.of(course, CHAPTER))]
    for side, name in enumerate(("the grader", "the sandbox's warm process")):
        early, middle, last = (readings[at][side] for at in (len(readings) // 4, len(readings) // 2, -1))
        print(
            f"{name}: {early:.0f} MB after a quarter of the submissions, {middle:.0f} MB after half of them, {last:.0f} MB at the end"
        )
        row(f"memory of a worker, {name}, after {len(readings):,} submissions", f"{last:.0f} MB", "≤ 150 MB")
        row("  its growth over the second half", f"{last / middle:.3f}×", "flat")


def _both_sides() -> tuple[float, float]:
    """Return the resident memory, in MB, of this process and of the largest process in its sandbox, without shared memory."""
    here = psutil.Process()
    jail = []
    for child in here.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # the child of the last submission is just ending
            jail.append(child.memory_full_info().uss)
    return here.memory_full_info().uss / 1e6, max(jail, default=0) / 1e6


if __name__ == "__main__":
    main()
