"""Find what a class got wrong and which students may need help, for its report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.base.sanitize import sanitize
from autograder.base.verdict import ExerciseVerdict
from autograder.course.notebook import NotebookError, read_notebook
from autograder.extras.report.class_marks import ChapterMarks, StudentMark
from autograder.extras.report.items import FEW

__all__ = [
    "FailedCheck", "KnownMistake", "MarkedLine", "SupportFlag", "failed_by_strong", "known_mistakes", "marked_lines",
    "support_flags",
]  # fmt: skip

_LOW = 0.5  # share of the points below which a student may need help
_OFTEN = 0.2  # share of the strong students
_GOOD = 3  # the best third of a class is strong
_MAX_LINE = 160  # characters of a student's line that are shown
_NUMBER = re.compile(r"\d[\d.e-]*")
_UNTRIED = {"passed", "not_tried"}


@dataclass(frozen=True, slots=True)
class KnownMistake:
    """A misconception that was recognized: its message, and its students."""

    exercise: str
    name: str
    message: str
    students: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A located line of mistakes without a name, as one student wrote it, and all students with it, ignoring numbers."""

    exercise: str
    line: str
    kind: str
    students: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check that students fail who are strong in the other exercises: the share among them and in the whole class.

    ``odd`` means that strong students fail it no less often than others, which is rare for a sound check.
    """

    exercise: str
    title: str
    visible: bool
    among_good: float
    among_all: float
    odd: bool


@dataclass(frozen=True)
class SupportFlag:
    """A student who may need help, with short reasons."""

    student: str
    share: float | None
    reasons: tuple[str, ...] = field(default=())


def _outcomes(one: ChapterMarks) -> list[tuple[StudentMark, ExerciseVerdict]]:
    return [(mark, e) for mark in one.marks.values() if mark.verdict is not None for e in mark.verdict.exercises]


def known_mistakes(one: ChapterMarks) -> list[KnownMistake]:
    """Return the misconceptions of a class, the most frequent first."""
    found: dict[tuple[str, str], list[str]] = {}
    messages: dict[tuple[str, str], Counter[str]] = {}
    for mark, exercise in _outcomes(one):
        if exercise.misconception:
            key = exercise.name, exercise.misconception
            found.setdefault(key, []).append(mark.student)
            messages.setdefault(key, Counter())[exercise.message] += 1
    # A text may hold further notes for one student. The shortest of the most frequent texts has none.
    message_of = {key: min(texts, key=lambda text: (-texts[text], len(text))) for key, texts in messages.items()}
    order = list(one.worth)
    mistakes = [KnownMistake(*key, message_of[key], tuple(students)) for key, students in found.items()]
    return sorted(mistakes, key=lambda m: (-len(m.students), order.index(m.exercise) if m.exercise in order else 0))


def marked_lines(one: ChapterMarks) -> list[MarkedLine]:
    """Return the located lines, the most frequent first. Lines that differ only in numbers are one."""
    found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for mark, exercise in _outcomes(one):
        if exercise.located is None or mark.verdict is None:
            continue
        try:
            cells = read_notebook(Path(mark.verdict.notebook)).code_cells()
        except (NotebookError, OSError):
            continue
        source = next((cell.source for cell in reversed(cells) if cell.name == exercise.located.cell), "")
        lines = source.split("\n")
        texts = [lines[number - 1].strip() for number in exercise.located.lines if 0 < number <= len(lines)]
        line = sanitize(" … ".join(texts), _MAX_LINE)
        kind = exercise.located.kind or "several kinds of edit"
        found.setdefault((exercise.name, _NUMBER.sub("0", line), kind), []).append((mark.student, line))
    grouped = [
        MarkedLine(exercise, members[0][1], kind, tuple(student for student, _ in members))
        for (exercise, _, kind), members in found.items()
    ]
    return sorted(grouped, key=lambda m: -len(m.students))


def failed_by_strong(one: ChapterMarks) -> list[FailedCheck]:
    """Return the checks that at least a fifth of the strong students fail, the most failed first. Empty for a small class.

    Strong students of an exercise are the best third by their points in all others.
    """
    graded = [mark for mark in one.of("graded") if mark.verdict is not None and mark.verdict.status == "graded"]
    if len(graded) < FEW:
        return []
    found = []
    for name in one.worth:
        rest = {mark.student: _rest(mark, name) for mark in graded}
        ranked = sorted(graded, key=lambda mark: -rest[mark.student])
        # On a tie, the order of the ids must not decide, so all with the same points count.
        limit = rest[ranked[max(len(ranked) // _GOOD, 1) - 1].student]
        good = [mark for mark in ranked if rest[mark.student] >= limit]
        weaker = [mark for mark in ranked if rest[mark.student] < limit]
        if not weaker:
            continue  # all are equally strong
        everywhere, best, others = (_failing(marks, name) for marks in (ranked, good, weaker))
        for (check, title, visible), (failed, tried) in everywhere.items():
            among = _share(best.get((check, title, visible)))
            if among >= _OFTEN and best[check, title, visible][0] >= 2:
                enough = best[check, title, visible][0] >= _GOOD  # a single student must not decide
                odd = enough and among >= _share(others.get((check, title, visible)))
                found.append(FailedCheck(name, title, visible, among, failed / tried, odd))
    return sorted(found, key=lambda check: (-check.among_good, check.exercise))


def _rest(mark: StudentMark, exercise: str) -> float:
    return sum(score or 0.0 for name, score in mark.exercises.items() if name != exercise)


def _failing(marks: Sequence[StudentMark], exercise: str) -> dict[tuple[str, str, bool], tuple[int, int]]:
    """Return by check how many fail it, and how many it was run on."""
    found: dict[tuple[str, str, bool], tuple[int, int]] = {}
    for mark in marks:
        outcome = next((e for e in mark.verdict.exercises if e.name == exercise), None) if mark.verdict else None
        if outcome is None or outcome.status == "not_attempted":
            continue
        for check in outcome.checks:
            if check.status != "not_tried":
                key = check.name, check.title, check.visible
                failed, tried = found.get(key, (0, 0))
                found[key] = failed + (check.status not in _UNTRIED), tried + 1
    return found


def _share(counts: tuple[int, int] | None) -> float:
    return counts[0] / counts[1] if counts else 0.0


def support_flags(one: ChapterMarks) -> list[SupportFlag]:
    """Return students with less than half of the points, the weakest first, without those who could not be graded."""
    needs = []
    for mark in one.of("graded", "waiting"):
        share = mark.score / one.max_score if mark.score is not None and one.max_score else None
        if share is not None and share < _LOW:
            needs.append(SupportFlag(mark.student, share, _reasons(mark, one.worth)))
    return sorted(needs, key=lambda need: (need.share or 0.0, need.student))


def _reasons(mark: StudentMark, worth: Mapping[str, float]) -> tuple[str, ...]:
    if mark.verdict is None or not mark.verdict.exercises:
        low = [name for name, points in worth.items() if (mark.exercises.get(name) or 0.0) < _LOW * points]
        return (f"few points in {', '.join(low)}",) if low else ()
    outcomes = mark.verdict.exercises
    blank = [e.name for e in outcomes if e.status == "not_attempted"]
    named = [f"{e.misconception} in {e.name}" for e in outcomes if e.misconception]
    broken = [e.name for e in outcomes if e.status == "error"]
    endless = [e.name for e in outcomes if e.status == "timeout"]
    groups = [
        ("not begun: ", blank), ("the mistake ", named), ("code that fails: ", broken), ("code that does not end: ", endless),
    ]  # fmt: skip
    found = [f"{what}{', '.join(names)}" for what, names in groups if names]
    if not found:
        wrong = [e.name for e in outcomes if e.status in {"failed", "partial"}]
        found = [f"wrong without a known reason: {', '.join(wrong)}"] if wrong else ["the late penalty"]
    return tuple(found)
