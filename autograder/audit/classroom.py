"""Learning from a class: wrong answers that several students gave and no misconception explains, with their code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course
from autograder.notebook import NotebookError, read_notebook
from autograder.verdict import Verdict
from autograder.wording import plural

__all__ = ["Group", "unexplained"]


@dataclass(frozen=True, slots=True)
class Group:
    """Submissions that gave one exercise the same wrong answers: a candidate for the next misconception."""

    exercise: str
    students: tuple[str, ...]
    code: str
    message: str

    def __str__(self) -> str:
        many = plural(len(self.students), "student")
        code = "\n".join(f"    {line}" for line in self.code.strip().splitlines())
        message = "\n".join(f"  {line}" for line in self.message.splitlines()[:4])
        return f"{self.exercise}: {many} ({', '.join(self.students[:5])})\n{message}\n{code}"


def unexplained(course: Course, verdicts: Sequence[Verdict]) -> list[Group]:
    """The groups among ``verdicts`` (of one chapter), the largest first; each with the code of its first student."""
    found: dict[tuple[str, str], list[tuple[Verdict, str]]] = {}
    for verdict in verdicts:
        for exercise in verdict.exercises:
            if exercise.alike:
                found.setdefault((exercise.name, exercise.alike), []).append((verdict, exercise.message))
    groups = []
    for (name, _), members in found.items():
        students = tuple(str(v.student or Path(v.notebook).name) for v, _ in members)
        first, message = members[0]
        groups.append(Group(name, students, _code(first, name), message))
    order = {name: i for i, name in enumerate(_exercises(course, verdicts))}
    return sorted(groups, key=lambda g: (-len(g.students), order.get(g.exercise, 0)))


def _exercises(course: Course, verdicts: Sequence[Verdict]) -> list[str]:
    chapter = next((v.chapter for v in verdicts if v.chapter), None)
    return list(read_notebook(course.source(chapter)).exercises()) if chapter else []


def _code(verdict: Verdict, exercise: str) -> str:
    try:
        stub = read_notebook(Path(verdict.notebook)).stub(exercise)
    except NotebookError:
        return ""
    return stub.source if stub is not None else "(the function stands in another cell)"
