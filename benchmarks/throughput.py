"""Measure grading a class, compared with standard ``nbgrader autograde``, for 100 to 1,000 notebooks, and grading the same class again.

``python benchmarks/throughput.py --students 100 1000 --stock 25`` measures whole commands, including startup, in one
run on one machine and prints ratios. The standard command runs on a sample of the same notebooks, because it takes a
second or more per notebook. Its configuration is nbgrader's own, and its check cells run the visible checks. ``autograder
grade`` runs the hidden checks as well.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clocks import command, row, seconds
from simulated import CHAPTER, HERE, course_in, fill

from autograder.authoring.release import record_examples

STOCK = """from nbgrader.converters import GenerateAssignment

c = get_config()
c.CourseDirectory.course_id = "attention"
# The one change: no stub holds a solution region, and this step would empty it.
steps = GenerateAssignment.preprocessors.default()
c.GenerateAssignment.preprocessors = [step for step in steps if step.__name__ != "ClearSolutions"]
"""


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--students", type=int, nargs="+", default=[100])
    parser.add_argument("--stock", type=int, default=25, help="how many notebooks standard nbgrader grades, 0 for none")
    parser.add_argument("--redraw", action="store_true", help="also measure grading with every picture drawn again")
    parser.add_argument(
        "--bare", action="store_true", help="use notebooks without outputs, so that pictures must be drawn"
    )
    parser.add_argument("--chapter", default=CHAPTER, help="the chapter to grade")
    parser.add_argument("--rounds", type=int, default=1, help="how often to measure. The median is reported")
    parser.add_argument("--folder", type=Path, help="a folder for the course. It is not deleted afterwards")
    options = parser.parse_args()
    chapter = options.chapter
    with tempfile.TemporaryDirectory() as fresh:
        folder = options.folder or Path(fresh)
        stock: list[float] = []
        ours_each: dict[int, list[float]] = defaultdict(list)
        for round_ in range(options.rounds):
            for size in sorted(options.students):
                ours = _class(folder / f"class-{size}", size, chapter, bare=options.bare)
                whole = _grade(ours, chapter)
                again = seconds(command("autograder", "grade", chapter, "--json"), ours, may_fail=True)
                ours_each[size].append(whole / size)
                print(f"round {round_ + 1}: {size} notebooks: {whole:.1f} s, again: {again:.2f} s", flush=True)
                row(
                    f"grading an unchanged class of {size:,} again, as a share of the first time",
                    f"{100 * again / whole:.2f} %",
                    "≤ 2 %",
                )
                if options.redraw:
                    redrawn = _grade(ours, chapter, "c.Course.redraw_pictures = True")
                    print(f"         with every picture drawn again: {redrawn:.1f} s", flush=True)
            if options.stock:
                stock.append(_stock(folder, min(options.students), options.stock, chapter))
                print(f"round {round_ + 1}: standard nbgrader: {stock[-1]:.2f} s for each notebook", flush=True)
    each = {size: statistics.median(costs) for size, costs in ours_each.items()}
    for size, cost in each.items():
        if stock:
            target = "≥ 50×" if size >= 1000 else "≥ 20×"
            times_as_many = statistics.median(stock) / cost
            row(f"autograder grade against nbgrader autograde, {size:,} notebooks", f"{times_as_many:.0f}×", target)
    if len(each) > 1:
        few, many = min(each), max(each)
        row(f"cost of a submission, {few:,} → {many:,}", f"{each[many] / each[few]:.2f}×", "≤ 1.2×")


def _class(folder: Path, size: int, chapter: str, *, bare: bool) -> Path:
    """Return ``folder`` with a released course and ``size`` submissions. The course is created only once."""
    if not (folder / "ready").is_file():
        course = course_in(folder)
        fill(course, size, chapter, bare=bare)
        seconds(command("nbgrader", "generate_assignment", chapter, "--force"), folder)
        shutil.copy(folder / "gradebook.db", folder / "gradebook.fresh")
        shutil.copy(folder / "course_config.py", folder / "course_config.fresh")
        (folder / "ready").touch()
        _grade(folder, chapter)  # compiles every module once
    return folder


def _grade(folder: Path, chapter: str, line: str = "") -> float:
    """Delete all stored results, grade the class, and return the seconds that this takes."""
    for name in (".autograder/verdicts", "autograded", "feedback"):
        shutil.rmtree(folder / name, ignore_errors=True)
    shutil.copy(folder / "gradebook.fresh", folder / "gradebook.db")
    shutil.copy(folder / "course_config.fresh", folder / "course_config.py")
    with (folder / "course_config.py").open("a") as config:
        config.write(line + "\n")
    return seconds(command("autograder", "grade", chapter, "--json"), folder, may_fail=True)


def _stock(folder: Path, size: int, sample: int, chapter: str) -> float:
    """Return the seconds per notebook that nbgrader takes for a sample of the same class. The sample is spread evenly over the class."""
    stock, ours = folder / "stock", folder / f"class-{size}"
    shutil.rmtree(stock, ignore_errors=True)
    (stock / "source").mkdir(parents=True)
    shutil.copytree(HERE / "source" / chapter, stock / "source" / chapter)
    (stock / "nbgrader_config.py").write_text(STOCK)
    seconds(command("nbgrader", "generate_assignment", chapter), stock)
    from autograder.course.course import load_course  # noqa: PLC0415 - only needed here

    examples = record_examples(load_course(ours), chapter)
    students = sorted(path.name for path in (ours / "submitted").iterdir())
    for student in students[:: max(1, len(students) // sample)][:sample]:
        target = stock / "submitted" / student / chapter
        shutil.copytree(ours / "submitted" / student / chapter, target)
        shutil.copy(examples, target / "examples.json")
    count = len(list((stock / "submitted").iterdir()))
    return seconds(command("nbgrader", "autograde", chapter), stock, may_fail=True) / count


if __name__ == "__main__":
    main()
