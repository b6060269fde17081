"""Find what a class got wrong and which students may need help, for the report on the class."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.base.foreign import Json
from autograder.base.sanitize import sanitize
from autograder.base.verdict import ExerciseVerdict
from autograder.course.notebook import NotebookError, read_notebook
from autograder.extras.report.class_marks import ChapterMarks, StudentMark

__all__ = [
    "FEW", "FailedCheck", "ItemAnalysis", "ItemFigures", "KnownMistake", "MarkedLine", "SupportFlag", "analyse", "failed_by_strong", "known_mistakes", "marked_lines",
    "support_flags",
]  # fmt: skip

FEW = 10  # with fewer students, a correlation of marks means nothing
SOME = 30  # with fewer students, a correlation is only a rough estimate
_HARD, _EASY = 0.4, 0.9  # shares of the points: an exercise is hard up to the first, and easy from the second
_WEAK, _STRONG = 0.1, 0.3  # correlations, by the usual rules of thumb
_RELIABLE = 0.7

_LOW = 0.5  # with a smaller share of the points, a student may need help
_OFTEN = 0.2  # a check is reported if at least this share of the strong students fail it
_GOOD = 3  # the best third of a class is strong
_MAX_LINE = 160  # characters of a student's line that are shown
_NUMBER = re.compile(r"\d[\d.e-]*")
_UNTRIED = {"passed", "not_tried"}


@dataclass(frozen=True, slots=True)
class KnownMistake:
    """A recognized misconception, with its message and the students who have it."""

    exercise: str
    name: str
    message: str
    students: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line in which unnamed mistakes were located, as one student wrote it. All of ``students`` have the same line, except for numbers."""

    exercise: str
    line: str
    kind: str
    students: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check that strong students fail. ``among_good`` and ``among_all`` are the shares of strong and of all students who fail it.

    ``odd`` means that strong students fail it at least as often as the others, which is rare for a sound check.
    """

    exercise: str
    title: str
    visible: bool
    among_good: float
    among_all: float
    odd: bool


@dataclass(frozen=True)
class SupportFlag:
    """A student who may need help, with their share of the points and short reasons."""

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
    # A message may contain further notes for one student. The shortest of the most frequent messages has no such notes.
    message_of = {key: min(texts, key=lambda text: (-texts[text], len(text))) for key, texts in messages.items()}
    order = list(one.worth)
    mistakes = [KnownMistake(*key, message_of[key], tuple(students)) for key, students in found.items()]
    return sorted(mistakes, key=lambda m: (-len(m.students), order.index(m.exercise) if m.exercise in order else 0))


def marked_lines(one: ChapterMarks) -> list[MarkedLine]:
    """Return the lines in which mistakes were located, the most frequent first. Lines that differ only in numbers count as one line."""
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
        kind = exercise.located.kind or "several kinds of change"
        found.setdefault((exercise.name, _NUMBER.sub("0", line), kind), []).append((mark.student, line))
    grouped = [
        MarkedLine(exercise, members[0][1], kind, tuple(student for student, _ in members))
        for (exercise, _, kind), members in found.items()
    ]
    return sorted(grouped, key=lambda m: -len(m.students))


def failed_by_strong(one: ChapterMarks) -> list[FailedCheck]:
    """Return the checks that at least a fifth of the strong students fail, the most often failed first. The result is empty for a small class.

    For each exercise, the strong students are the best third by their points in the other exercises.
    """
    graded = [mark for mark in one.of("graded") if mark.verdict is not None and mark.verdict.status == "graded"]
    if len(graded) < FEW:
        return []
    found = []
    for name in one.worth:
        rest = {mark.student: _rest(mark, name) for mark in graded}
        ranked = sorted(graded, key=lambda mark: -rest[mark.student])
        # The order of the ids must not break a tie, so every student who reaches the limit counts as strong.
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
    """Return for each check how many students fail it, and for how many it was run."""
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
    """Return the students with less than half of the points, the weakest first. Students who could not be graded are left out."""
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
        ("not started: ", blank), ("the mistake ", named), ("code that fails: ", broken), ("code that does not end: ", endless),
    ]  # fmt: skip
    found = [f"{what}{', '.join(names)}" for what, names in groups if names]
    if not found:
        wrong = [e.name for e in outcomes if e.status in {"failed", "partial"}]
        found = [f"wrong without a known reason: {', '.join(wrong)}"] if wrong else ["the late penalty"]
    return tuple(found)


# --- Difficulty and discrimination of each exercise, and the reliability of all together -------------------------------


@dataclass(frozen=True, slots=True)
class ItemFigures:
    """The statistics of one exercise.

    ``difficulty`` is the mean score divided by the points, so 1 is easy. ``discrimination`` is Pearson's correlation of the score
    with the sum of the other exercises' scores (point-biserial if the score is all or nothing). It is None if it is undefined or
    there are too few students. ``low`` and ``high`` are its 95 % confidence bounds (Fisher's z). ``sentence`` explains the statistics.
    """

    name: str
    worth: float
    difficulty: float
    discrimination: float | None
    low: float | None
    high: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class ItemAnalysis:
    """The statistics of a chapter's exercises. ``alpha`` is Cronbach's alpha, or None if it is undefined or there are too few students."""

    students: int
    items: tuple[ItemFigures, ...]
    alpha: float | None
    sentence: str

    def to_json(self) -> dict[str, Json]:
        """Return the statistics as JSON data."""
        names = ItemFigures.__slots__
        items = [{name: getattr(item, name) for name in names} for item in self.items]
        return {"students": self.students, "alpha": self.alpha, "sentence": self.sentence, "items": items}


def analyse(one: ChapterMarks) -> ItemAnalysis:
    """Analyze a chapter's exercises, using the students who have a mark in every exercise."""
    worth = {name: points for name, points in one.worth.items() if points > 0}
    rows = [
        [float(score) for score in scores if score is not None]
        for mark in one.of("graded")
        for scores in [[mark.exercises.get(name) for name in worth]]
        if None not in scores
    ]
    if not rows:
        return ItemAnalysis(0, (), None, "Nobody has a mark in every exercise yet, so there is nothing to compute.")
    columns = dict(zip(worth, map(list, zip(*rows, strict=True)), strict=True))
    totals = [math.fsum(row) for row in rows]
    items = tuple(_item(name, worth[name], scores, totals) for name, scores in columns.items())
    alpha = _alpha(list(columns.values()), totals) if len(rows) >= FEW else None
    return ItemAnalysis(len(rows), items, alpha, _of_alpha(alpha, len(rows), columns))


def _item(name: str, worth: float, scores: Sequence[float], totals: Sequence[float]) -> ItemFigures:
    difficulty = statistics.fmean(scores) / worth
    others = [total - score for total, score in zip(totals, scores, strict=True)]
    found = _correlation(scores, others) if len(scores) >= FEW else None
    low, high = _bounds(found, len(scores)) if found is not None else (None, None)
    return ItemFigures(name, worth, difficulty, found, low, high, _of_item(difficulty, found, low, len(scores)))


def _correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Pearson's correlation of ``x`` and ``y``, or None if one of them is constant."""
    if max(x) - min(x) < 1e-9 or max(y) - min(y) < 1e-9:
        return None
    return statistics.correlation(x, y)


def _bounds(r: float, n: int) -> tuple[float, float]:
    z, half = math.atanh(max(min(r, 1 - 1e-9), -1 + 1e-9)), 1.96 / math.sqrt(n - 3)
    return math.tanh(z - half), math.tanh(z + half)


def _alpha(columns: Sequence[Sequence[float]], totals: Sequence[float]) -> float | None:
    """Return Cronbach's alpha: k / (k - 1) * (1 - sum of the exercises' variances / variance of the total)."""
    k, variance = len(columns), statistics.pvariance(totals)
    if k < 2 or variance < 1e-12:
        return None
    return k / (k - 1) * (1 - math.fsum(map(statistics.pvariance, columns)) / variance)


def _of_item(difficulty: float, found: float | None, low: float | None, students: int) -> str:
    if students < FEW:
        return f"With fewer than {FEW} students, the difficulty of this exercise and its relation to the other exercises are unknown."
    if difficulty >= _EASY:
        first = "Students earned nearly all the points in this exercise."
    elif difficulty <= _HARD:
        first = "This exercise is hard."
    else:
        first = "This exercise is neither hard nor easy."
    if found is None:
        return f"{first} All students have the same marks in this exercise, or the same total in the others, so the two cannot be compared."
    if found < 0:
        second = "Students who do well in the other exercises do worse in this one. Review the exercise and its checks."
    elif found < _WEAK:
        second = "Its marks say almost nothing about the marks in the other exercises."
    elif found < _STRONG:
        second = "Its marks agree a little with the marks in the other exercises."
    else:
        second = "Its marks agree well with the marks in the other exercises."
    rough = " With so few students, this may be chance." if low is not None and low < 0 < found else ""
    return f"{first} {second}{rough}"


def _of_alpha(alpha: float | None, students: int, columns: Mapping[str, Sequence[float]]) -> str:
    if students < FEW:
        return (
            f"Reliability and discrimination are not shown: {students} with a mark in every exercise "
            f"{'is' if students == 1 else 'are'} too few. They become meaningful with at least {FEW} students."
        )
    if alpha is None:
        why = "there is only one exercise" if len(columns) < 2 else "everybody has the same total"
        return f"Cronbach's alpha is not defined here: {why}."
    what = "the exercises measure one thing, and similar exercises would rank the class in much the same way"
    if alpha < _RELIABLE:
        what = "much of the difference between totals is due to chance, or the exercises measure different things"
    rough = f" With fewer than {SOME} students, this is only a rough estimate." if students < SOME else ""
    return f"Cronbach's alpha is {alpha:.2f}: {what}.{rough}"
