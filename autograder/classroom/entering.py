"""What happens around a run's marks: what the gradebook had before, which marks moved and why, and whose pages show other marks."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.base.formatting import number, pluralize
from autograder.base.marks import SubmissionMarks
from autograder.base.verdict import Verdict
from autograder.classroom.delivery import Pages
from autograder.classroom.feedback import renew_pages, with_marks
from autograder.classroom.gradebook.marks import read_marks
from autograder.classroom.moves import (
    BY_HAND,
    COURSE_CHANGED,
    FIRST,
    HANDED_IN_AGAIN,
    LATE,
    OTHERWISE,
    Move,
    append_moves,
    differing_checks,
    mark_of,
)
from autograder.classroom.resubmissions import Resubmissions
from autograder.classroom.uptodate import UpToDateFile
from autograder.course.course import Course
from autograder.grading.outcome import Outcome
from autograder.grading.submission import Job

__all__ = ["Entering", "reason_of"]

FELL = "The mark fell from {before} to {after}: {why}."
MANY_FELL = "The mark fell: {why}. `autograder log {chapter}` has what it was and is."
MANY = 10  # falls that are told one by one, each with its marks


class Entering:
    """The marks of one run over ``jobs``; ``url`` is the gradebook's, None where no marks are entered.

    ``pages`` know what the gradebook had before.
    """

    def __init__(
        self, course: Course, pages: Pages, uptodate: UpToDateFile, url: str | None, jobs: Sequence[Job]
    ) -> None:
        self._course, self._uptodate, self._url = course, uptodate, url
        self._before = _marks(url, pages.chapter, [str(job.student) for job in jobs])
        self.pages = with_marks(pages, self._before)
        self.resubmissions = Resubmissions(course, pages, uptodate, url)
        self.resubmissions.keep(jobs)
        self._lock = threading.Lock()
        self._moves: list[Move] = []
        self._settled: dict[Job, Verdict] = {}
        if url is not None:
            self._note_moves_by_hand(jobs)

    def entered(self, outcomes: Sequence[Outcome], kept: Mapping[str, tuple[float, float]]) -> None:
        """Do what is due once the marks of ``outcomes`` are in the gradebook."""
        students = [str(one.verdict.student) for one in outcomes]
        settled = self.resubmissions.settle(outcomes, kept)
        marks = _marks(self._url, self.pages.chapter, students)
        renew_pages(self.pages, (one for one in settled if not one.lost), marks)
        moves = [move for one in settled if (move := self._move(one, marks.get(str(one.verdict.student)))) is not None]
        append_moves(self._course, moves)
        self._uptodate.note(settled, {student: mark_of(marks.get(student)) for student in students})
        with self._lock:
            self._moves += moves
            self._settled |= {one.job: one.verdict for one in settled if one.lost}

    def told(self, verdicts: Mapping[Job, Verdict]) -> dict[Job, Verdict]:
        """The verdicts that count, those whose marks fell with a warning that says so."""
        fell = {move.student: move for move in self._moves if move.falls}
        found = {}
        for job, verdict in {**verdicts, **self._settled}.items():
            move = fell.get(str(job.student))
            found[job] = verdict if move is None else _warned(verdict, move, many=len(fell) > MANY)
        return found

    def _note_moves_by_hand(self, jobs: Sequence[Job]) -> None:
        """Log what a person has changed in the gradebook since marks were entered last."""
        moves = []
        for student in (str(job.student) for job in jobs):
            line, marks = self._uptodate.line(student), self._before.get(student)
            now = mark_of(marks)
            if line is not None and marks is not None and "mark" in line and _differ(line["mark"], now):
                moves.append(Move(student, self.pages.chapter, line["mark"], now, marks.max_score, BY_HAND))
        append_moves(self._course, moves)

    def _move(self, outcome: Outcome, after: SubmissionMarks | None) -> Move | None:
        """How the mark of one submission moved; a mark that is the first one did not."""
        student = str(outcome.verdict.student)
        before = self._before.get(student)
        old, new = mark_of(before), mark_of(after)
        if before is None or after is None or not _differ(old, new):
            return None
        another = self._uptodate.is_another(outcome.job)
        why = reason_of(self._uptodate, student, before, after, another=another)
        checks = differing_checks(self._uptodate.last(student), outcome.verdict)
        return Move(student, self.pages.chapter, old, new, after.max_score, why, checks)


def reason_of(
    uptodate: UpToDateFile, student: str, before: SubmissionMarks, after: SubmissionMarks, *, another: bool
) -> str:
    """Why a mark moved, in a few words."""
    if before.score == after.score and before.given == after.given:
        return LATE
    if another:
        return HANDED_IN_AGAIN
    if uptodate.line(student) is None:
        return FIRST
    return OTHERWISE if uptodate.is_of_this_course(student) else COURSE_CHANGED


def _marks(url: str | None, chapter: str, students: Sequence[str]) -> dict[str, SubmissionMarks]:
    return (read_marks(url, chapter, students) if url is not None and students else None) or {}


def _differ(one: float | None, other: float | None) -> bool:
    return (one is None) != (other is None) or (one is not None and other is not None and abs(one - other) > 1e-9)


def _warned(verdict: Verdict, move: Move, *, many: bool) -> Verdict:
    if many:
        said = MANY_FELL.format(why=move.why, chapter=move.chapter)
    else:
        before = number(move.before or 0.0) if move.after is not None else pluralize(move.before or 0.0, "point")
        after = "no mark" if move.after is None else pluralize(move.after, "point")
        said = FELL.format(before=before, after=after, why=move.why)
    return replace(verdict, warning=" ".join(filter(None, [verdict.warning, said])))
