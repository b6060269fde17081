"""Measure what one endless loop costs a class that is graded by one worker: no more than its own time limit.

``python benchmarks/endless_loop.py --students 100`` grades a class twice, without and with one student whose function
never returns, and prints the difference in time as a share of the time limit of one submission.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clocks import row
from simulated import CHAPTER, course_in, fill

from autograder.authoring.simulate import reference_code, solved_notebook, write_notebook
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job

LOOP = "def softmax(x, axis=-1):\n    while True:\n        pass\n"


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--students", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        course = course_in(Path(folder) / "course")
        paths = fill(course, options.students)
        calm = [Job(path, path.parent.parent.name, CHAPTER) for path in paths]
        hostile = solved_notebook(course, CHAPTER, {**reference_code(course, CHAPTER), "softmax": LOOP})
        path = write_notebook(course.root / "submitted" / "eve" / CHAPTER / f"{CHAPTER}.ipynb", hostile)
        half = len(calm) // 2
        stormy = [*calm[:half], Job(path, "eve", CHAPTER), *calm[half:]]
        times = []
        for jobs in (calm, stormy):
            started = time.perf_counter()
            verdicts = grade_notebooks(course, jobs)
            times.append(time.perf_counter() - started)
        eve = verdicts[half]
        print(json.dumps({e.name: e.status for e in eve.exercises}))
        limit = course.limits.submission_seconds
        print(f"without the loop {times[0]:.1f} s, with the loop {times[1]:.1f} s. A submission may take {limit:g} s.")
        row(
            "cost of one endless loop in the class, as a share of its time limit",
            f"{(times[1] - times[0]) / limit:.2f}×",
            "≤ 1×",
        )


if __name__ == "__main__":
    main()
