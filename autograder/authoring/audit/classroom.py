"""Group the wrong answers that no misconception explains, and show the code of one student per group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from autograder.base.formatting import pluralize
from autograder.base.sanitize import sanitize
from autograder.base.verdict import ExerciseVerdict, Verdict
from autograder.course.course import Course
from autograder.course.notebook import NotebookError, read_notebook

__all__ = ["AnswerGroup", "undiagnosed_groups"]


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """A group of submissions with the same unnamed mistake in one exercise, a candidate for a new misconception.

    Two mistakes are the same if their wrong answers are equal, or if the same kind of edit fixes the same line. Numbers in the
    line are ignored. ``place`` names that line and the kind of edit. It is empty if the line was not found.
    """

    exercise: str
    students: tuple[str, ...]
    code: str
    message: str
    place: str = ""

    def __str__(self) -> str:
        many = pluralize(len(self.students), "student")
        code = "\n".join(f"    {line}" for line in self.code.strip().splitlines())
        message = "\n".join(f"  {line}" for line in self.message.splitlines()[:4])
        place = f"  {self.place}\n" if self.place else ""
        return f"{self.exercise}: {many} ({', '.join(self.students[:5])})\n{place}{message}\n{code}"


def undiagnosed_groups(course: Course, verdicts: Sequence[Verdict]) -> list[AnswerGroup]:
    """Return the groups of undiagnosed mistakes in one chapter's ``verdicts``, largest first. Each shows its first student's code."""
    by_key: dict[tuple[str, str], list[_Member]] = {}
    for verdict in verdicts:
        for exercise in verdict.exercises:
            if exercise.alike:
                place = _place(verdict, exercise)
                keys = [(exercise.name, exercise.alike), *([(exercise.name, _NUMBER.sub("0", place))] if place else [])]
                # Group submissions that have equal wrong answers, or whose mistakes are in the same place.
                group = next((by_key[key] for key in keys if key in by_key), [])
                group.append(_Member(verdict, exercise, place))
                for key in keys:
                    by_key.setdefault(key, group)
    groups = []
    for members in {id(group): group for group in by_key.values()}.values():
        students = tuple(str(m.verdict.student or Path(m.verdict.notebook).name) for m in members)
        first, name = members[0], members[0].exercise.name
        place = next((m.place for m in members if m.place), "")
        groups.append(AnswerGroup(name, students, _code(first.verdict, name), first.exercise.message, place))
    order = {name: i for i, name in enumerate(_exercises(course, verdicts))}
    return sorted(groups, key=lambda g: (-len(g.students), order.get(g.exercise, 0)))


_NUMBER = re.compile(r"\d[\d.e-]*")


class _Member(NamedTuple):
    verdict: Verdict
    exercise: ExerciseVerdict
    place: str


def _place(verdict: Verdict, exercise: ExerciseVerdict) -> str:
    """Return the line number of a mistake, the kind of edit that fixes it, and the student's line, or "" if it was not located."""
    located = exercise.located
    if located is None:
        return ""
    try:
        cells = read_notebook(Path(verdict.notebook)).code_cells()
    except NotebookError:
        return ""
    source = next((cell.source for cell in reversed(cells) if cell.name == located.cell), "")
    lines = source.split("\n")[located.lines[0] - 1 : located.lines[0]]
    where = " or ".join(f"line {line}" for line in located.lines)
    return f"{where}, {located.kind or 'several kinds'}: {sanitize(' '.join(lines).strip(), _MAX_LINE)}"


_MAX_LINE = 200  # characters
_MAX_CODE = 20_000  # characters


def _exercises(course: Course, verdicts: Sequence[Verdict]) -> list[str]:
    chapter = next((v.chapter for v in verdicts if v.chapter), None)
    return list(read_notebook(course.source(chapter)).exercises()) if chapter else []


def _code(verdict: Verdict, exercise: str) -> str:
    try:
        stub = read_notebook(Path(verdict.notebook)).stub(exercise)
    except NotebookError:
        return ""
    return sanitize(stub.source, _MAX_CODE) if stub is not None else "(the function is in another cell)"
