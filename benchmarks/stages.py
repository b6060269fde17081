"""Where the time of one submission goes, stage by stage, and what its pictures cost.

``python benchmarks/stages.py`` grades a simulated class of each chapter (bare notebooks, without outputs) with one worker,
twice: with every picture drawn, and as it is done by default. It prints milliseconds a submission on the clock, so it
wants a quiet machine; what is compared was measured in one run. ``--chapters ch1_weighted_averaging`` is quicker.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

from simulated import HERE, course_in, fill

from autograder.classroom.delivery import Pages
from autograder.classroom.run import handed_in
from autograder.course import load_course
from autograder.grading.batch import grade
from autograder.grading.submission import Submission
from autograder.grading.verdict_cache import Store
from autograder.sandbox.session import ChildSession
from autograder.sandbox.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course import Course

FIRST = 5  # submissions that warm things up and are not counted


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chapters", nargs="+", default=load_course(HERE).finished_chapters())
    parser.add_argument("--students", type=int, default=30)
    options = parser.parse_args()
    for chapter in options.chapters:
        with tempfile.TemporaryDirectory() as folder:
            _chapter(Path(folder), chapter, options.students)


def _chapter(folder: Path, chapter: str, students: int) -> None:
    drawn = _stages(_class(folder / "drawn", chapter, students, "c.Course.redraw_pictures = True"), chapter)
    known = _stages(_class(folder / "known", chapter, students), chapter)
    whole = sum(drawn.values()), sum(known.values())
    print(
        f"{chapter}: {whole[0]:.0f} ms a submission with every picture drawn, {whole[1]:.0f} ms as it is done by default"
    )
    for stage, cost in known.items():
        print(f"    {stage:58}{cost:8.1f} ms   ({drawn[stage]:.1f} with every picture drawn)")
    sys.stdout.flush()


def _class(folder: Path, chapter: str, students: int, *lines: str) -> Course:
    course = course_in(folder, *lines)
    fill(course, students, chapter, bare=True)
    return course


def _stages(course: Course, chapter: str) -> dict[str, float]:
    """What each stage takes of a submission, in milliseconds: the mean without the tenth at either end."""
    rows: list[dict[str, float]] = []
    spent: dict[str, float] = defaultdict(float)
    last = [0.0]

    def done(_graded: Any) -> None:
        now = time.perf_counter()
        rows.append({**spent, "all": now - last[0]})
        spent.clear()
        last[0] = now

    with _timed(spent):
        grade(course, handed_in(course, chapter), done, keep=True, finish=_Finish(Pages.of(course, chapter), spent))
    shutil.rmtree(course.root / ".autograder" / "verdicts", ignore_errors=True)
    rows = rows[FIRST:]
    aside = len(rows) // 10  # of the quickest and of the slowest each

    def typical(stage: str) -> float:
        values = sorted(row.get(stage, 0.0) for row in rows)
        return 1000 * statistics.fmean(values[aside : len(values) - aside])

    jail, read, calls = typical("jail"), typical("read"), typical("calls")
    pictures, pages, store = typical("pictures"), typical("pages"), typical("store")
    return {
        "reading the notebook, putting locked cells back": read,
        "a jail and the notebook's cells in it": jail,
        "calls of the student's functions, there and back": calls,
        "pictures that have to be drawn": pictures,
        "checks, comparison, diagnosis, verdict": typical("all") - read - jail - calls - pictures - pages - store,
        "graded notebook and feedback page": pages,
        "keeping the verdict": store,
    }


class _Finish:
    """Writes the pages, and notes how long that took."""

    def __init__(self, pages: Pages, spent: dict[str, float]) -> None:
        self.pages, self.spent = pages, spent

    def __call__(self, graded: Any) -> Any:
        with _noted(self.spent, "pages"):
            return self.pages(graded)


@contextmanager
def _noted(spent: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        spent[stage] += time.perf_counter() - start


@contextmanager
def _timed(spent: dict[str, float]) -> Iterator[None]:
    """The stages' own functions, with a clock around each; what pictures cost counts as theirs alone."""
    drawing = [False]

    def clocked(owner: type, name: str, stage: str) -> Any:
        whole = getattr(owner, name)

        def run(*args: Any, **kwargs: Any) -> Any:
            if drawing[0]:
                return whole(*args, **kwargs)
            drawing[0] = stage == "pictures"
            try:
                with _noted(spent, stage):
                    return whole(*args, **kwargs)
            finally:
                drawing[0] = False

        return mock.patch.object(owner, name, run)

    with (
        clocked(Submission, "__init__", "read"),
        clocked(Submission, "finish", "pictures"),
        clocked(Worker, "open", "jail"),
        clocked(ChildSession, "batch", "calls"),
        clocked(ChildSession, "probe", "calls"),
        clocked(Store, "save", "store"),
    ):
        yield


if __name__ == "__main__":
    main()
