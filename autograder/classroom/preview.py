"""Preview the changes that grading a class would make, by entering the marks in a copy of the gradebook. Nothing else is written."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.base.marks import SubmissionMarks, automatic_marks
from autograder.base.verdict import Verdict
from autograder.classroom.delivery import FeedbackWriter
from autograder.classroom.gradebook.database import copy_gradebook, require_version
from autograder.classroom.gradebook.entries import gradebook_url, write_entries
from autograder.classroom.gradebook.people import read_marks
from autograder.classroom.incremental import RunState, is_running
from autograder.classroom.mark_changes import MarkChange, mark_of
from autograder.classroom.run import outcomes_of, undecodable_paths
from autograder.classroom.watchers import change_of
from autograder.course.course import Course
from autograder.course.notebook import load_source
from autograder.course.secret import VARIABLE
from autograder.grading.submission import Job, Outcome, points_of
from autograder.grading.task import Executor, GradingOptions
from autograder.grading.verdict_cache import VerdictCache
from autograder.judging.validated import unvalidated_checks
from autograder.sandbox.confinement import Confinement

__all__ = ["Preview", "preview_class"]


@dataclass(frozen=True)
class Preview:
    """The changes that a run would make.

    Attributes:
        moves: the marks that would change.
        by_exercise: for each exercise, how many students would gain or lose points, and how many points in all.
        named: the number of students whose diagnosed mistake would change, by exercise, earlier mistake and new mistake.
        first: the students who would get their first mark.
        ungradable: why a notebook could not be graded, by student.
        run: the number of notebooks that were graded for this preview.
        unchanged: the number of notebooks that need no grading.
        unproven: the exercise and the title of each check that changed since the last release, or None if no release is known.
        in_progress: whether a run is grading the chapter now.
    """

    chapter: str
    moves: tuple[MarkChange, ...]
    by_exercise: Mapping[str, tuple[int, float]]
    named: Mapping[tuple[str, str | None, str | None], int]
    first: tuple[str, ...]
    ungradable: Mapping[str, str]
    run: int
    unchanged: int
    unproven: tuple[tuple[str, str], ...] | None
    in_progress: bool

    def to_json(self) -> dict[str, Any]:
        """Return the preview as JSON for the command line."""
        moves = [{name: value for name, value in move.to_json().items() if name != "when"} for move in self.moves]
        unproven = None if self.unproven is None else [{"exercise": e, "title": t} for e, t in self.unproven]
        exercises = {name: {"students": n, "points": points} for name, (n, points) in self.by_exercise.items()}
        named = [{"exercise": e, "from": was, "to": now, "students": n} for (e, was, now), n in self.named.items()]
        changes = {"chapter": self.chapter, "moves": moves, "exercises": exercises, "named": named}
        students = {"first_marks": list(self.first), "ungradable": dict(self.ungradable)}
        run = {"run": self.run, "unchanged": self.unchanged, "unproven": unproven, "in_progress": self.in_progress}
        return {**changes, **students, **run}


def preview_class(
    course: Course,
    chapter: str,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    workers: int = 0,
    executor: Executor | None = None,
    only: frozenset[str] | None = None,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> Preview:
    """Grade ``jobs`` as ``grade_class`` does, and return the changes that a real run would make.

    The gradebook, the folders and the stored verdicts stay as they are. Unchanged submissions are not graded. Raises the
    same errors as ``grade_class``.
    """
    url, options = gradebook_url(course), GradingOptions(confinement, again=only)
    require_version(url)
    pages = replace(FeedbackWriter.of(course, chapter), dry=True)
    report = on_verdict or (lambda _verdict: None)
    with _nothing_left_behind(course), tempfile.TemporaryDirectory(prefix="autograder-preview-") as folder:
        cache = VerdictCache.of(course, chapter, options.cache_inputs, only)
        state = RunState(course, chapter, cache, pages.names, url, may_tidy=False)
        in_progress = is_running(course, chapter)
        verdicts = undecodable_paths(jobs, chapter, points_of(load_source(course.source(chapter))[1]))
        verdicts |= state.unchanged([job for job in jobs if job not in verdicts])
        for verdict in verdicts.values():
            report(verdict)
        new = [job for job in jobs if job not in verdicts]
        outcomes = []
        how: dict[str, Any] = {"workers": workers, "executor": executor, "keep": "read", "deliver": pages}
        with closing(outcomes_of(course, chapter, new, options, **how)) as graded:
            for outcome in graded:
                replaced = course.resubmissions == "best" and state.was_replaced(outcome.job)
                outcomes.append(replace(outcome, may_be_superseded=replaced))
                report(outcome.verdict)
        before, after, kept = _entered(course, chapter, outcomes, url, Path(folder))
        moves = []
        for one in outcomes:
            student = str(one.job.student)
            move = change_of(state, one, before.get(student), after.get(student)) if student not in kept else None
            moves += [move] if move is not None else []
        changed = unvalidated_checks(course, chapter)
    students = {str(one.job.student): one.verdict for one in outcomes}
    return Preview(
        chapter,
        tuple(sorted(moves, key=lambda move: move.student)),
        _gains(before, after, {move.student for move in moves}),
        _named(state, outcomes),
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
    """Enter ``outcomes`` in a copy of the gradebook. Return the marks before and after, and the new and old marks of students who would keep the old mark."""
    kept: dict[str, tuple[float, float]] = {}
    if not outcomes:
        return {}, {}, kept
    copy = copy_gradebook(url, folder)
    if not copy:  # there is no gradebook, so all marks would be first marks
        return {}, {str(one.job.student): automatic_marks(one.verdict) for one in outcomes}, kept
    students = [str(one.job.student) for one in outcomes]
    before = read_marks(copy, chapter, students) or {}
    write_entries(course, outcomes, allow_unsafe=True, db_url=copy, kept=kept)
    return before, read_marks(copy, chapter, students) or {}, kept


def _named(state: RunState, outcomes: Sequence[Outcome]) -> dict[tuple[str, str | None, str | None], int]:
    """Count the changed diagnoses of unchanged notebooks, by exercise, earlier mistake and new mistake."""
    counts: Counter[tuple[str, str | None, str | None]] = Counter()
    for one in outcomes:
        before = state.last(str(one.job.student))
        if before is None or state.was_replaced(one.job):
            continue
        was = {exercise.name: exercise.misconception for exercise in before.exercises}
        for exercise in one.verdict.exercises:
            if exercise.name in was and was[exercise.name] != exercise.misconception:
                counts[exercise.name, was[exercise.name], exercise.misconception] += 1
    return dict(counts.most_common())


def _gains(
    before: Mapping[str, SubmissionMarks], after: Mapping[str, SubmissionMarks], students: set[str]
) -> dict[str, tuple[int, float]]:
    """Return, for each exercise, how many ``students`` gain or lose points, and how many points they gain in all."""
    found: dict[str, list[float]] = defaultdict(list)
    for student in students:
        was = before[student].by_cell
        for cell in after[student].cells:
            gain = cell.score - (was[cell.name].score if cell.name in was else 0.0)
            if abs(gain) > 1e-9:
                found[cell.name.removeprefix("check_")].append(gain)
    return {name: (len(gains), round(sum(gains), 9)) for name, gains in sorted(found.items())}


@contextmanager
def _nothing_left_behind(course: Course) -> Iterator[None]:
    """Prevent Python from writing compiled modules, and do not create a secret file in a course without a secret."""
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
