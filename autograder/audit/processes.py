"""The chapters of a course worked on side by side, in several processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TypeVar

from autograder.course import Course, load_course

__all__ = ["each_chapter"]

Result = TypeVar("Result")


def each_chapter(
    work: Callable[[Course, str], Result], course: Course, chapters: Sequence[str], workers: int
) -> Iterator[tuple[str, Result]]:
    """Each of ``chapters`` with what ``work(course, chapter)`` returns for it, on as many processes as ``workers`` says.

    One process takes them in their order; several give each as it ends. ``work`` goes to other processes, which read the course again
    from its folder. Raises what ``work`` raises.
    """
    if workers <= 1 or len(chapters) <= 1:
        for chapter in chapters:
            yield chapter, work(course, chapter)
        return
    # The longest first, as far as the length of its texts tells: so no process is left alone with one at the end.
    longest = sorted(chapters, key=lambda chapter: -_length_of(course, chapter))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(chapters)), context, _begin) as pool:
        jobs = {pool.submit(_elsewhere, work, str(course.root), chapter): chapter for chapter in longest}
        try:
            for job in as_completed(jobs):
                yield jobs[job], job.result()
        finally:  # where one failed, those that have not begun are not waited for
            pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    # Ctrl-C reaches every process of the terminal: this one ends at once, and its parent says what there is to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _elsewhere(work: Callable[[Course, str], Result], root: str, chapter: str) -> Result:
    return work(load_course(Path(root)), chapter)


def _length_of(course: Course, chapter: str) -> int:
    """How many bytes a chapter's checks and solutions have, whose number decides how long an audit takes."""
    solutions = course.root / "solutions"
    files = [course.checks(chapter), *solutions.glob(f"{chapter}.py"), *solutions.glob(f"*/{chapter}.py")]
    return sum(path.stat().st_size for path in files if path.is_file())
