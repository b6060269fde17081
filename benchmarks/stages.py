"""Measure the processor time of one notebook of each chapter: in the grader by stage, and in the sandbox.

``python benchmarks/stages.py`` grades a simulated class of each chapter with one worker, and prints milliseconds per
notebook. Processor time is independent of the number of cores, and other work on the machine changes it little.
``--chapters ch1_weighted_averaging`` measures only that chapter. ``--redraw`` draws every picture again.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent))

from simulated import CHAPTER, HERE, course_in, fill

from autograder.classroom.delivery import FeedbackWriter
from autograder.classroom.run import handed_in
from autograder.course.course import load_course
from autograder.grading.batch import grade
from autograder.grading.submission import Submission
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox.session import ChildSession
from autograder.sandbox.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course.course import Course

AIM = {CHAPTER: 45}  # milliseconds, in the grader and in the sandbox together
FIRST = 5  # the first notebooks warm up the caches and are not counted
STAGES = {
    "read the notebook, restore locked cells": (Submission, "__init__"),
    "open sandboxes and send the notebook's cells": (Worker, "open"),
    "send calls and read the results": (ChildSession, "batch"),
    "operations on values that stay in the sandbox": (ChildSession, "probe"),
    "graded notebook and feedback page": (FeedbackWriter, "__call__"),
    "store the verdict": (VerdictCache, "save"),
}
REST = "checks, comparison, diagnosis, verdict"


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chapters", nargs="+", default=load_course(HERE).finished_chapters())
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--redraw", action="store_true", help="draw every picture again")
    parser.add_argument("--bare", action="store_true", help="use notebooks without outputs")
    options = parser.parse_args()
    lines = ["c.Course.redraw_pictures = True"] if options.redraw else []
    with tempfile.TemporaryDirectory() as folder:
        course = course_in(Path(folder) / "course", *lines)
        for chapter in options.chapters:
            fill(course, options.students, chapter, bare=options.bare)
            ours, jail = _costs(course, chapter)
            aim = f" (aim: {AIM[chapter]})" if chapter in AIM else ""
            together = sum(ours.values()) + jail
            print(
                f"{chapter}: {together:.0f} ms for each notebook{aim}: {sum(ours.values()):.0f} in the grader and {jail:.0f} in the sandbox"
            )
            for stage, cost in ours.items():
                print(f"    {stage:55}{cost:6.1f} ms")
            sys.stdout.flush()


def _costs(course: Course, chapter: str) -> tuple[dict[str, float], float]:
    """Return the milliseconds of processor time per notebook, for each stage in the grader and for the sandbox.

    A stage's time is the mean without the fastest and the slowest tenth of the notebooks. The sandbox's time is the mean of all
    notebooks, because its clock is too coarse for a single notebook.
    """
    rows: list[dict[str, float]] = []
    spent: dict[str, float] = defaultdict(float)
    ours = jail = 0.0
    jobs = handed_in(course, chapter)
    with _clocked(spent):
        for _outcome in grade(course, jobs, keep=True, deliver=FeedbackWriter.of(course, chapter)):
            now = time.process_time()
            rows.append({**spent, REST: now - ours - sum(spent.values())})
            if len(rows) == FIRST:
                jail = -_below()
            elif len(rows) == len(jobs):  # read the time before the sandbox ends, because it is lost afterwards
                jail += _below()
            spent.clear()
            ours = time.process_time()  # without the time that measuring takes
    rows = rows[FIRST:]
    count = len(rows)
    aside = count // 10  # how many of the fastest notebooks, and how many of the slowest, are left out
    costs = {}
    for stage in (*STAGES, REST):
        values = sorted(row.get(stage, 0.0) for row in rows)
        costs[stage] = 1000 * statistics.fmean(values[aside : count - aside])
    return costs, 1000 * jail / count


def _below() -> float:
    """Return the seconds of processor time that this process's descendants have used, including the ended children of each."""
    seconds = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = child.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


@contextmanager
def _clocked(spent: dict[str, float]) -> Iterator[None]:
    """Add the time of each stage to ``spent`` during the block. If a stage runs inside another, only the inner stage counts its time."""
    running: list[float] = []  # for each stage that is running, the seconds spent in its inner stages

    def clocked(stage: str, whole: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            running.append(0.0)
            start = time.process_time()
            try:
                return whole(*args, **kwargs)
            finally:
                taken = time.process_time() - start
                spent[stage] += taken - running.pop()
                if running:
                    running[-1] += taken

        return run

    with ExitStack() as stack:
        for stage, (owner, name) in STAGES.items():
            stack.enter_context(mock.patch.object(owner, name, clocked(stage, getattr(owner, name))))
        yield


if __name__ == "__main__":
    main()
