"""Compare the time to autograde nbgrader's quickstart course in the sandbox and with nbgrader's own Execute, in one run.

``python benchmarks/plain.py [--students 20]`` prints the time of each, and the ratio. Both grade the same submissions
with the same command, and only the documented setting differs. If the scores differ, nothing is printed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from nbgrader.api import Gradebook

DOCS = Path(__file__).resolve().parents[1] / "docs" / "plain-nbgrader.md"


def main() -> None:
    """Create the course twice, grade both copies, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=20)
    students = parser.parse_args().students
    with tempfile.TemporaryDirectory(prefix="autograder-plain-") as folder:
        stock, confined = Path(folder, "stock"), Path(folder, "confined")
        _nbgrader(Path(folder), "quickstart", "stock")
        _nbgrader(stock, "generate_assignment", "ps1")
        for number in range(students):
            shutil.copytree(stock / "release" / "ps1", stock / "submitted" / f"student{number:04}" / "ps1")
            solved = stock / "submitted" / f"student{number:04}" / "ps1" / "problem1.ipynb"
            if number % 2:  # every second student submits the solution, and the others submit a blank notebook
                shutil.copyfile(stock / "source" / "ps1" / "problem1.ipynb", solved)
        shutil.copytree(stock, confined)
        line = DOCS.read_text("utf-8").split("```python\n")[1].split("```")[0]
        with (confined / "nbgrader_config.py").open("a", encoding="utf-8") as file:
            file.write("\n" + line)
        seconds = {course.name: _nbgrader(course, "autograde", "ps1") for course in (confined, stock)}
        assert _scores(stock) == _scores(confined), "the scores differ, so the times cannot be compared"
    for name, taken in seconds.items():
        print(f"{name:10} {taken:7.1f} s   {taken / students:6.2f} s for each student, with two notebooks")
    print(f"{'ratio':10} {seconds['stock'] / seconds['confined']:7.1f}")


def _nbgrader(folder: Path, *arguments: str) -> float:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return time.perf_counter() - began


def _scores(course: Path) -> list[tuple[str, str, float]]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return [
            (submission.student.id, grade.name, grade.auto_score)
            for submission in gradebook.assignment_submissions("ps1")
            for notebook in submission.notebooks
            for grade in notebook.grades
        ]


if __name__ == "__main__":
    main()
