"""What a person sees while notebooks are graded: a bar with the time left in a terminal, lines in a log elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autograder.base.verdict import Verdict

__all__ = ["grading_progress", "say"]


def say(text: str) -> None:
    """Write a line for a person to stderr: stdout belongs to the result."""
    sys.stderr.write(f"{text}\n")


@contextmanager
def grading_progress(total: int, what: str) -> Iterator[Callable[[Verdict], None]]:
    """Show how far the grading of ``total`` notebooks is; yields what to call with each verdict as it is made."""
    if total > 1 and sys.stderr.isatty():
        with _bar(total, what) as tick:
            yield tick
    else:
        yield _log(total, what)


@contextmanager
def _bar(total: int, what: str) -> Iterator[Callable[[Verdict], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    described, counted = TextColumn("{task.description}"), TextColumn("{task.fields[counts]}")
    columns = described, BarColumn(), MofNCompleteColumn(), counted, TimeRemainingColumn()
    counts: Counter[str] = Counter()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total, counts="")

        def tick(verdict: Verdict) -> None:
            counts[verdict.status] += 1
            progress.update(task, advance=1, counts=_counted(counts))

        yield tick


def _log(total: int, what: str) -> Callable[[Verdict], None]:
    counts: Counter[str] = Counter()
    started = time.monotonic()
    if total > 1:
        say(f"{what}: {total} notebooks")

    def tick(verdict: Verdict) -> None:
        counts[verdict.status] += 1
        done = counts.total()
        # Twenty lines at most, however large the class.
        if total > 1 and done * 20 // total > (done - 1) * 20 // total:
            left = (time.monotonic() - started) / done * (total - done)
            say(f"{what}: {done} of {total} ({_counted(counts)})" + (f", {left:.0f} s left" if left >= 1 else ""))

    return tick


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
