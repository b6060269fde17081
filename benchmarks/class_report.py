"""Measure how long ``autograder report`` and ``autograder marks`` take for a graded class.

``python benchmarks/class_report.py --students 20 2000`` grades a simulated class of different notebooks. For each
command, it prints the elapsed time, including startup, and the processor time, which hardly depends on other work on the
machine. For a large class, only the first 100 notebooks are run. All further notebooks are copies with another student's
name in a comment. They get the same verdicts, because thousands of runs would take an hour without changing the result.

``--open`` also opens the report in Chromium, and prints how long opening, searching and sorting take.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from simulated import CHAPTER, HERE, course_in, fill, join_in

from autograder.classroom.run import grade_class, handed_in

_RUN = 100


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--students", type=int, nargs="+", default=[20])
    parser.add_argument("--chapter", default=CHAPTER)
    parser.add_argument("--open", action="store_true")
    for size in (given := parser.parse_args()).students:
        with tempfile.TemporaryDirectory() as folder:
            course = course_in(Path(folder) / "course", "c.Course.locate_seconds = 0.5")
            run = fill(course, min(size, _RUN), given.chapter)
            grade_class(course, given.chapter, handed_in(course, given.chapter), workers=os.cpu_count() or 1)
            if size > len(run):
                join_in(course, run, size, given.chapter)
                grade_class(course, given.chapter, handed_in(course, given.chapter))
            for arguments in (
                ["report", given.chapter],
                ["report", given.chapter, "--hide-names"],
                ["marks", given.chapter],
            ):
                waited, used = _measured(arguments, course.root)
                print(f"{size:5} students, {' '.join(arguments)}: {waited:.1f} s, {used:.1f} s of processor time")
            if given.open:
                for what, took in opened(course.root / ".autograder" / "report" / f"{given.chapter}.html").items():
                    print(f"{size:5} students, {what} in Chromium: {took:.2f} s")


def opened(page: Path) -> dict[str, float]:
    """Return the seconds that Chromium takes to open ``page``, to show all marks, to search them and to sort them."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only for --open

    taken = {}
    with sync_playwright() as playwright:
        name = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=name, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        drawn = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
        steps = {
            "opening": lambda: tab.goto(page.as_uri()),
            "showing all marks": lambda: tab.evaluate(
                "document.querySelectorAll('details').forEach(one => one.open = true)"
            ),
            "a search": lambda: tab.locator("input[type=search]").last.fill("7"),
            "a sort": tab.locator("table.marks thead button").first.click,
        }
        for what, step in steps.items():
            started = time.perf_counter()
            step()
            tab.evaluate(drawn)
            taken[what] = time.perf_counter() - started
        browser.close()
    return taken


def _measured(arguments: list[str], folder: Path) -> tuple[float, float]:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "autograder", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(HERE)}
    subprocess.run(command, cwd=folder, env=variables, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, used


if __name__ == "__main__":
    main()
