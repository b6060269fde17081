"""Format what the demonstration shows at its end: a class, its marks, and where to look next."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.base.formatting import number
from autograder.extras.demo.students import ATTACKS

if TYPE_CHECKING:
    from autograder.base.verdict import Verdict
    from autograder.course.course import Course
    from autograder.extras.demo.students import HandIn, Student

__all__ = ["ClassReport", "class_table", "next_steps", "recognised"]


@dataclass(frozen=True, slots=True)
class ClassReport:
    """A graded class: what each student submitted, and the verdicts, by chapter and student id.

    ``chapters`` were released, and ``refused`` were not, with the reason.
    """

    course: Course
    students: tuple[Student, ...]
    chapters: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    work: dict[tuple[str, str], HandIn] = field(default_factory=dict)
    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)


def class_table(report: ClassReport) -> str:
    """Format one row per student: their kind of work, and their points in each chapter."""
    heads = ["student", "hands in", *map(_short, report.chapters)]
    best = ["", "(maximum)", *(_most(report, chapter) for chapter in report.chapters)]
    rows = [[s.id, _description(report, s), *(_score(report, c, s) for c in report.chapters)] for s in report.students]
    widths = [max(map(len, column)) for column in zip(heads, best, *rows, strict=True)]
    lines = []
    for line in (heads, best, ["─" * width for width in widths], *rows):
        cells = [
            f"{text:<{w}}" if i < 2 else f"{text:>{w}}" for i, (text, w) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(cells))
    return "\n".join(lines)


def recognised(report: ClassReport) -> str:
    """Report how many mistakes that were injected one at a time were named correctly, and list the others."""
    injected = {key: work.injected for key, work in report.work.items() if work.injected is not None}
    missed = []
    for key, slip in injected.items():
        named = {e.name: e.misconception for e in report.verdicts[key].exercises}.get(slip.exercise)
        if named != slip.name:
            missed.append(f"  {key[1]}, {slip.exercise}: {slip.name} was identified as {named or 'nothing known'}")
    found = len(injected) - len(missed)
    lines = [f"{found} of {len(injected)} mistakes that were injected one at a time were identified by name.", *missed]
    faults = _faults(report)
    if faults:
        lines.append("Needs your review (— in the table, with advice on the feedback page):")
        lines += [f"  {student}, {_where(report, chapters)}: {fault}" for (student, fault), chapters in faults.items()]
    return "\n".join(lines)


def next_steps(report: ClassReport) -> str:
    """List commands and files to look at, for this class."""
    root = report.course.root
    here = Path(os.path.relpath(root))
    # Paths that can be typed there, with or without an active virtual environment.
    tools = Path(os.path.relpath(Path(sys.executable).parent, root))
    shown = [key for key, work in report.work.items() if work.injected is not None] or list(report.work)
    chapter, student = shown[0]
    lines = [
        "Where to look next:",
        f"  feedback for {student:9} {here / 'feedback' / student / chapter / chapter}.html",
        f"  the graded notebook    {here / 'autograded' / student / chapter / chapter}.ipynb",
        f"  what students get      {here / 'release' / chapter}",
        f"  the class on one page  cd {here} && {tools / 'autograder'} report --all",
    ]
    if all(verdict.sandbox != "local" for verdict in report.verdicts.values()):
        lines += [
            f"  the marks as CSV       cd {here} && {tools / 'nbgrader'} export",
            f"  nbgrader's formgrader  cd {here} && {tools / 'jupyter'} lab   (there: Nbgrader › Formgrader)",
        ]
    else:
        lines.append("  (the gradebook is empty: marks graded without a sandbox are not entered)")
    return "\n".join(lines)


def _faults(report: ClassReport) -> dict[tuple[str, str], list[str]]:
    """Return the chapters that could not be graded, by student and reason. A reason that recurs is listed once."""
    found: dict[tuple[str, str], list[str]] = {}
    for (chapter, student), verdict in report.verdicts.items():
        if verdict.status == "ungradable":
            # The first sentence, without the parts that differ between chapters.
            reason = (verdict.reason or "").replace(f"{chapter}.ipynb", "the notebook").replace(chapter, "the chapter")
            fault = re.sub(r" \([^()]*\)", "", reason).partition(". ")[0].rstrip(".")
            found.setdefault((student, f"{fault}."), []).append(chapter)
    return found


def _where(report: ClassReport, chapters: list[str]) -> str:
    return "every chapter" if len(chapters) == len(report.chapters) > 1 else ", ".join(map(_short, chapters))


def _description(report: ClassReport, student: Student) -> str:
    """Describe a student's work. For an attack, which is in one chapter, name the chapter."""
    texts = {chapter: report.work[chapter, student.id].description for chapter in report.chapters}
    attacks = [c for c, text in texts.items() if student.hostile and text == ATTACKS[student.kind].description]
    if attacks:
        return f"{texts[attacks[0]]} (in {_short(attacks[0])})"
    return texts[report.chapters[0]]


def _short(chapter: str) -> str:
    return chapter.partition("_")[0]


def _most(report: ClassReport, chapter: str) -> str:
    return number(max((v.max_score for (c, _), v in report.verdicts.items() if c == chapter), default=0.0))


def _score(report: ClassReport, chapter: str, student: Student) -> str:
    verdict = report.verdicts[chapter, student.id]
    return "—" if verdict.status == "ungradable" else number(verdict.score)
