"""What grading a class would do to its marks, found out without writing anything: the marks are entered in a copy of the gradebook."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from autograder.base.marks import SubmissionMarks, automatic_marks
from autograder.base.verdict import Verdict
from autograder.classroom.delivery import Pages
from autograder.classroom.entering import reason_of
from autograder.classroom.gradebook.copying import copy_gradebook
from autograder.classroom.gradebook.entries import gradebook_url, write_entries
from autograder.classroom.gradebook.errors import require_version
from autograder.classroom.gradebook.marks import read_marks
from autograder.classroom.moves import Move, differing_checks, mark_of
from autograder.classroom.run import broken_names, refusals_of
from autograder.classroom.running import is_running
from autograder.classroom.uptodate import UpToDateFile
from autograder.course.course import Course
from autograder.course.notebook import load_source
from autograder.course.secret import VARIABLE
from autograder.grading.batch import grade
from autograder.grading.options import GradingOptions
from autograder.grading.outcome import Outcome, delivered, points_of, ungradable
from autograder.grading.submission import Job
from autograder.grading.task import Executor
from autograder.grading.verdict_cache import VerdictCache
from autograder.judging.validated import unvalidated_checks
from autograder.sandbox.confinement import Confinement

__all__ = ["Preview", "preview_class"]


@dataclass(frozen=True)
class Preview:
    """What a run would do: the marks that would move, and by exercise the points that all of them would gain or lose together.

    ``named`` counts students by exercise and by the mistake that is named there before and after, where the two differ.
    ``first`` are those who would get their first mark; ``run`` and ``unchanged`` count notebooks; ``unproven`` has exercise and title of the
    checks that changed since the last release, None where none is known; ``in_progress`` says that a run is grading just now.
    """

    chapter: str
    moves: tuple[Move, ...]
    by_exercise: Mapping[str, tuple[int, float]]
    named: Mapping[tuple[str, str | None, str | None], int]
    first: tuple[str, ...]
    ungradable: Mapping[str, str]
    run: int
    unchanged: int
    unproven: tuple[tuple[str, str], ...] | None
    in_progress: bool

    def to_json(self) -> dict[str, Any]:
        """The preview as the command line's JSON."""
        moves = [{name: value for name, value in move.to_json().items() if name != "when"} for move in self.moves]
        unproven = None if self.unproven is None else [{"exercise": e, "title": t} for e, t in self.unproven]
        exercises = {name: {"students": n, "points": points} for name, (n, points) in self.by_exercise.items()}
        return {
            "chapter": self.chapter,
            "moves": moves,
            "exercises": exercises,
            "named": [
                {"exercise": e, "from": was, "to": now, "students": count}
                for (e, was, now), count in self.named.items()
            ],
            "first_marks": list(self.first),
            "ungradable": dict(self.ungradable),
            "run": self.run,
            "unchanged": self.unchanged,
            "unproven": unproven,
            "in_progress": self.in_progress,
        }


def preview_class(
    course: Course,
    chapter: str,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    workers: int = 1,
    executor: Executor | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> Preview:
    """Grade ``jobs`` as ``grade_class`` would, and say what would move; gradebook, folders and stored verdicts stay as they are.

    Only what a change touches is run. Raises what ``grade_class`` raises.
    """
    url, options = gradebook_url(course), GradingOptions(confinement)
    require_version(url)
    pages = replace(Pages.of(course, chapter), dry=True)
    report = on_verdict or (lambda _verdict: None)
    with _nothing_left_behind(course), tempfile.TemporaryDirectory(prefix="autograder-preview-") as folder:
        cache = VerdictCache.of(course, chapter, options.bearing)
        uptodate = UpToDateFile(course, chapter, cache, pages, url, may_tidy=False)
        in_progress = is_running(course, chapter)
        released = load_source(course.source(chapter))[1]
        worth = points_of(released)
        verdicts = broken_names(jobs, chapter, worth)
        verdicts |= uptodate.unchanged([job for job in jobs if job not in verdicts])
        for verdict in verdicts.values():
            report(verdict)
        new = [job for job in jobs if job not in verdicts]
        refusals = refusals_of(new, chapter)
        refused = (delivered(Outcome(j, ungradable(j, why, chapter, worth)), pages) for j, why in refusals.items())
        sound = [job for job in new if job not in refusals]
        outcomes = []
        graded = grade(course, sound, options, workers=workers, executor=executor, keep="read", deliver=pages)
        with closing(graded):
            for outcome in chain(refused, graded):
                contested = course.resubmissions == "best" and uptodate.is_another(outcome.job)
                outcomes.append(replace(outcome, contested=contested))
                report(outcome.verdict)
        before, after, kept = _entered(course, chapter, outcomes, url, Path(folder))
        found = _Difference(uptodate, before, after, kept)
        moves = [move for one in outcomes if (move := found.move(one)) is not None]
        changed = unvalidated_checks(course, chapter)
    students = {str(one.job.student): one.verdict for one in outcomes}
    return Preview(
        chapter,
        tuple(sorted(moves, key=lambda move: move.student)),
        found.by_exercise({move.student for move in moves}),
        _named(uptodate, outcomes),
        tuple(sorted(s for s in students if s not in before and mark_of(after.get(s)) is not None)),
        {s: verdict.reason or "" for s, verdict in sorted(students.items()) if verdict.status == "ungradable"},
        len(outcomes),
        len(jobs) - len(outcomes),
        None if changed is None else tuple(changed),
        in_progress,
    )


def _entered(
    course: Course, chapter: str, outcomes: Sequence[Outcome], url: str, folder: Path
) -> tuple[dict[str, SubmissionMarks], dict[str, SubmissionMarks], dict[str, tuple[float, float]]]:
    """The marks before and after entering ``outcomes`` in a copy of the gradebook, and who would keep an earlier mark."""
    kept: dict[str, tuple[float, float]] = {}
    if not outcomes:
        return {}, {}, kept
    copy = copy_gradebook(url, folder)
    if not copy:  # all of them would be first marks
        return {}, {str(one.job.student): automatic_marks(one.verdict) for one in outcomes}, kept
    students = [str(one.job.student) for one in outcomes]
    before = read_marks(copy, chapter, students) or {}
    write_entries(course, outcomes, allow_unsafe=True, db_url=copy, kept=kept)
    return before, read_marks(copy, chapter, students) or {}, kept


def _named(uptodate: UpToDateFile, outcomes: Sequence[Outcome]) -> dict[tuple[str, str | None, str | None], int]:
    """How often another mistake is named in a notebook that is still the same."""
    counts: Counter[tuple[str, str | None, str | None]] = Counter()
    for one in outcomes:
        before = uptodate.last(str(one.job.student))
        if before is None or uptodate.is_another(one.job):
            continue
        was = {exercise.name: exercise.misconception for exercise in before.exercises}
        for exercise in one.verdict.exercises:
            if exercise.name in was and was[exercise.name] != exercise.misconception:
                counts[exercise.name, was[exercise.name], exercise.misconception] += 1
    return dict(counts.most_common())


class _Difference:
    """What differs between the marks ``before`` and ``after``."""

    def __init__(
        self,
        uptodate: UpToDateFile,
        before: Mapping[str, SubmissionMarks],
        after: Mapping[str, SubmissionMarks],
        kept: Mapping[str, tuple[float, float]],
    ) -> None:
        self._uptodate, self._before, self._after, self._kept = uptodate, before, after, kept

    def move(self, outcome: Outcome) -> Move | None:
        """How the mark of one submission would move; None where it would not, or had none to move."""
        student = str(outcome.job.student)
        before, after = self._before.get(student), self._after.get(student)
        old, new = mark_of(before), mark_of(after)
        if before is None or after is None or student in self._kept or old == new:
            return None
        if old is not None and new is not None and abs(old - new) <= 1e-9:
            return None
        why = reason_of(self._uptodate, student, before, after, another=self._uptodate.is_another(outcome.job))
        checks = differing_checks(self._uptodate.last(student), outcome.verdict)
        return Move(student, self._uptodate.chapter, old, new, after.max_score, why, checks)

    def by_exercise(self, students: set[str]) -> dict[str, tuple[int, float]]:
        """How many of ``students`` gain or lose points in each cell, and how many points together."""
        found: dict[str, list[float]] = defaultdict(list)
        for student in students:
            was = self._before[student].by_cell
            for cell in self._after[student].cells:
                gain = cell.score - (was[cell.name].score if cell.name in was else 0.0)
                if abs(gain) > 1e-9:
                    found[cell.name.removeprefix("check_")].append(gain)
        return {name: (len(gains), round(sum(gains), 9)) for name, gains in sorted(found.items())}


@contextmanager
def _nothing_left_behind(course: Course) -> Iterator[None]:
    """Keep Python from writing down compiled modules, and a course without a secret from getting one."""
    settings = {"PYTHONDONTWRITEBYTECODE": "1"}
    if not os.environ.get(VARIABLE) and not (course.root / course.secret_file).exists():
        settings[VARIABLE] = secrets.token_hex(32)
    before, compiles = {name: os.environ.get(name) for name in settings}, sys.dont_write_bytecode
    os.environ.update(settings)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = compiles
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
