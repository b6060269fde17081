"""Watch the outcomes of a run over a class: review warnings, resubmissions, mark changes, pages and mark entry.

A watcher receives each outcome when it arrives, each batch of outcomes once its marks are in the gradebook, and all verdicts at the end.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from autograder.base.formatting import number, pluralize
from autograder.base.marks import CHECK, SubmissionMarks, automatic_marks
from autograder.base.sanitize import sanitize
from autograder.base.verdict import ExerciseVerdict, Verdict
from autograder.classroom import mark_changes
from autograder.classroom.delivery import FeedbackWriter
from autograder.classroom.gradebook.entries import GradebookWriter, parse_timestamp
from autograder.classroom.gradebook.people import known_students, read_marks
from autograder.classroom.gradebook.reading import ChapterInBook, read_chapter
from autograder.classroom.incremental import MAX_OTHER, MAX_OTHERS, RunState
from autograder.classroom.mark_changes import MarkChange, append_changes, differing_checks, mark_of
from autograder.course.course import Course
from autograder.course.notebook import Notebook, NotebookError, other_notebooks, read_notebook
from autograder.grading.submission import BESIDE, Job, Outcome

__all__ = [
    "Entered", "MarkChangeLog", "MarkEntry", "PageRefresh", "Resubmissions", "ReviewWarnings", "Watcher", "change_of",
    "marks_of",
]  # fmt: skip

Key = TypeVar("Key")

_MAX_NAMES = 3  # the most other files that a warning names
MANY = 10  # the most drops that are reported one by one, each with its marks

OTHER_FILE = (
    "{others} in the same folder also {contains} work on {chapter}, but only {chapter}.ipynb was graded. "
    "If that is the wrong notebook, replace it with the right one and grade again."
)
RENAMED = "The notebook was submitted as {name}. It is the only notebook for {chapter} in its folder, so it was graded."
UNKNOWN = (
    "The gradebook's class list did not contain this student, so a new student was added. If the folder name is "
    "misspelled, rename the folder, grade again and remove the new student (`nbgrader db student remove`)."
)
NEW_BOOK = (
    "The gradebook had no marks for {chapter}, although {folder}/ contained a graded notebook. This gradebook lacks earlier manual "
    "marks and comments. Check whether there is another gradebook."
)
POINTS = (
    "Points have changed since {chapter} was released: {cells}. Marks above the gradebook's maximum points are capped. "
    "Give the cells of the chapter's notebook the same points as its checks, run "
    "`nbgrader generate_assignment {chapter} --force` and grade again."
)
STALE = "{cell} was manually graded with {by_hand}, but {now}. The manual mark counts until you change it."
KEPT_PAGE = (
    "The page in {folder}/ was not written by autograder, or was changed since. It was kept and may show old marks. "
    "To replace it: `autograder feedback {chapter} --student ID --force`."
)
NO_MARK = "Until you grade the notebook manually, `nbgrader export` writes {score} for it into grades.csv."
MARKED = "The notebook has been graded manually: {score}. If this mark is complete, there is nothing left to do."

BETTER = (
    "Another notebook was submitted{when}. It would get {new}, but the earlier notebook has {old}, so the earlier notebook still "
    'counts (c.Course.resubmissions = "best").'
)
BROKEN = (
    "Another notebook was submitted{when}, but could not be graded: {reason} The earlier notebook still counts "
    '(c.Course.resubmissions = "best").'
)

FELL = "The mark fell from {before} to {after}: {why}."
MANY_FELL = "The mark fell: {why}. `autograder log {chapter}` shows the old and new marks."


@dataclass(frozen=True, slots=True)
class Entered:
    """A batch of outcomes whose marks are in the gradebook.

    Attributes:
        outcomes: the outcomes that count.
        marks: the current marks in the gradebook, by student.
        kept: the new and the earlier mark of each student whose earlier notebook was better.
    """

    outcomes: Sequence[Outcome]
    marks: Mapping[str, SubmissionMarks]
    kept: Mapping[str, tuple[float, float]]


class Watcher:
    """The base class of watchers, which follow the outcomes of a run. A method does nothing unless a subclass overrides it."""

    def seen(self, outcome: Outcome) -> Outcome:
        """Return the outcome that has just arrived, perhaps changed."""
        return outcome

    def entered(self, batch: Entered) -> Entered:
        """Return the batch that was just entered, perhaps changed. This is called in the gradebook's thread."""
        return batch

    def end(self, verdicts: dict[Job, Verdict]) -> dict[Job, Verdict]:
        """Return the verdicts of the whole class, perhaps changed. This is called once all marks are entered."""
        return verdicts


class ReviewWarnings(Watcher):
    """A watcher that collects issues that need human review and adds them to verdicts as warnings. No mark depends on them.

    Issues of a submission and its folder are found before its mark is entered, and are stored with the verdict. Issues that the
    gradebook shows are looked up at the end of every run, even for unchanged submissions.

    Args:
        url: the address of the gradebook, or None if no marks are entered.
        jobs: the submissions that will be graded.
        book: the chapter in the gradebook, if it was read and nothing has been entered since.
        state: the record of earlier runs.
    """

    def __init__(
        self,
        chapter: str,
        released: Notebook,
        pages: FeedbackWriter,
        url: str | None,
        jobs: Sequence[Job] = (),
        book: ChapterInBook | None = None,
        state: RunState | None = None,
    ) -> None:
        self._chapter, self._released, self._pages, self._url, self._book = chapter, released, pages, url, book
        self._unknown: frozenset[str] = frozenset()
        self._had_graded: frozenset[str] = frozenset()
        self._points: dict[tuple[str, float], str] = {}
        if url is None or not jobs:
            return
        # Read the students and their rows now, because entering marks changes both.
        known, before = known_students(url, chapter), read_chapter(url, chapter)
        if known is not None and known.is_known:
            self._unknown = frozenset(str(job.student) for job in jobs) - known.students
        if before is None or not before.rows:
            # A run that was stopped before it entered marks has left graded notebooks too.
            there = [job for job in jobs if os.path.lexists(pages.names(job)[0])]
            self._had_graded = frozenset(str(j.student) for j in there if state is None or not state.was_stopped(j))

    def seen(self, outcome: Outcome) -> Outcome:
        """Add the issues of a submission and its folder to the verdict."""
        student = str(outcome.job.student)
        issues = [_untimely(outcome), self._other_files(outcome.job)]
        if (name := outcome.job.path.name) != f"{self._chapter}.ipynb":
            issues.append(RENAMED.format(name=sanitize(name), chapter=self._chapter))
        if student in self._unknown:
            issues.append(UNKNOWN)
        if student in self._had_graded:
            issues.append(NEW_BOOK.format(chapter=self._chapter, folder=self._pages.autograded.name))
        if outcome.page_kept:
            issues.append(KEPT_PAGE.format(folder=self._pages.feedback.name, chapter=self._chapter))
        return replace(outcome, verdict=_warned(outcome.verdict, issues))

    def end(self, verdicts: dict[Key, Verdict]) -> dict[Key, Verdict]:
        """Add the issues that the gradebook shows."""
        if self._url is None:
            return verdicts
        book = self._book or read_chapter(self._url, self._chapter) or ChapterInBook()
        students = [str(verdict.student) for verdict in verdicts.values()]
        suspects = [student for student in students if book.may_be_stale(student)]
        stale = marks_of(self._url, self._chapter, suspects)
        return {
            key: _warned(verdict, self._issues_in(book, verdict, stale.get(str(verdict.student))))
            for key, verdict in verdicts.items()
        }

    def _issues_in(self, book: ChapterInBook, verdict: Verdict, marks: SubmissionMarks | None) -> list[str]:
        student, issues = str(verdict.student), []
        changed = [text for exercise in verdict.exercises if (text := self._changed_points(exercise, book))]
        if changed:
            issues.append(POINTS.format(chapter=self._chapter, cells=", ".join(changed)))
        if verdict.status == "ungradable":
            if student in book.rows:
                advice = MARKED if book.is_marked_by_hand(student) else NO_MARK
                issues.append(advice.format(score=pluralize(book.by_hand(student), "point")))
            return issues
        for cell in marks.waiting if marks is not None else ():
            if cell.by_hand is not None:
                now = "its text has changed since" if cell.auto is None else f"the checks now give {number(cell.auto)}"
                by_hand = pluralize(cell.by_hand, "point")
                issues.append(STALE.format(cell=cell.name.removeprefix(CHECK), by_hand=by_hand, now=now))
        return issues

    def _changed_points(self, exercise: ExerciseVerdict, book: ChapterInBook) -> str:
        """Describe how the points in the gradebook and in the checks differ, or return "". The result is cached for the whole class."""
        key = exercise.name, exercise.max_score
        if key not in self._points:
            then, now = book.points.get(f"check_{exercise.name}", exercise.max_score), exercise.max_score
            text = f"{exercise.name} has {pluralize(then, 'point')} in the gradebook and {number(now)} in its checks"
            self._points[key] = text if abs(then - now) > 1e-9 else ""
        return self._points[key]

    def _other_files(self, job: Job) -> str:
        """Return a warning about other notebooks in the same folder that contain work on this chapter, or ""."""
        others = [Path(other) for other in other_notebooks(str(job.path))]
        if not others or not os.path.lexists(job.path):
            return ""  # grading reports the missing notebook
        own = _work_in(job.path, self._released)
        handed_out = {name: stub.source for name in self._released.exercises() if (stub := self._released.stub(name))}
        names = []
        for path in others[:MAX_OTHERS]:
            work = _work_in(path, self._released)
            if any(source not in (own.get(name), handed_out.get(name)) for name, source in work.items()):
                names.append(sanitize(os.fsencode(path.name).decode("utf-8", "backslashreplace")))
        if not names:
            return ""
        shown = names[:_MAX_NAMES] + ([f"{len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else [])
        return OTHER_FILE.format(
            others=" and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])),
            contains="contains" if len(names) == 1 else "contain",
            chapter=self._chapter,
        )


class Resubmissions(Watcher):
    """A watcher that keeps the better of two notebooks if ``c.Course.resubmissions`` is "best" and there is a gradebook.

    The files that were returned for the earlier notebook are set aside before they are overwritten. They are restored if the
    earlier mark is better.
    """

    def __init__(
        self, course: Course, pages: FeedbackWriter, state: RunState, url: str | None, jobs: Sequence[Job]
    ) -> None:
        self._pages, self._state = pages, state
        self._folder = course.state("earlier", pages.chapter)
        self._superseded: dict[Job, Verdict] = {}
        on = course.resubmissions == "best" and url is not None
        replaced = [job for job in jobs if on and state.was_replaced(job)]
        for job in replaced:
            self._put_aside(job)
        self._replaced = frozenset(str(job.student) for job in replaced)

    def _put_aside(self, job: Job) -> None:
        folder = self._folder / str(job.student)
        if folder.is_dir():  # left by a stopped run. The files that it wrote afterwards belong to the newer notebook
            return
        part = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for index, path in enumerate(self._pages.files(job)):
            if path.is_file():
                shutil.copy2(path, part / str(index))
        part.rename(folder)

    def seen(self, outcome: Outcome) -> Outcome:
        """Set ``may_be_superseded`` if an earlier notebook was graded, because its mark may be better."""
        return replace(outcome, may_be_superseded=str(outcome.job.student) in self._replaced)

    def entered(self, batch: Entered) -> Entered:
        """Replace the outcomes of students whose earlier notebook was better."""
        outcomes = [self._keep_better(one, batch.kept.get(str(one.job.student))) for one in batch.outcomes]
        self._superseded |= {one.job: one.verdict for one in outcomes if one.was_superseded}
        return replace(batch, outcomes=outcomes)

    def end(self, verdicts: dict[Job, Verdict]) -> dict[Job, Verdict]:
        """Replace verdicts with the earlier verdicts that count instead."""
        return {**verdicts, **self._superseded}

    def _keep_better(self, outcome: Outcome, marks: tuple[float, float] | None) -> Outcome:
        if not outcome.may_be_superseded:
            return outcome
        folder = self._folder / str(outcome.job.student)
        earlier = self._state.last(str(outcome.job.student)) if marks is not None else None
        if earlier is not None and marks is not None:
            for index, path in enumerate(self._pages.files(outcome.job)):
                kept = folder / str(index)
                if kept.is_file():
                    kept.replace(path)
                else:
                    path.unlink(missing_ok=True)
            verdict = replace(earlier, warning=_superseded_warning(outcome, *marks))
            outcome = replace(outcome, verdict=verdict, was_superseded=True)
        shutil.rmtree(folder, ignore_errors=True)
        return outcome


class PageRefresh(Watcher):
    """A watcher that writes a page again if the gradebook has manual marks, comments or a late penalty that the page lacks."""

    def __init__(self, pages: FeedbackWriter) -> None:
        self._pages = pages

    def entered(self, batch: Entered) -> Entered:
        """Refresh the pages of a batch."""
        for one in batch.outcomes:
            student = str(one.verdict.student)
            shown = self._pages.marks.get(student) or automatic_marks(one.verdict)
            found = batch.marks.get(student, shown)
            if not (one.was_superseded or one.page_kept or found.equals(shown)):
                self._pages.write_page(one.job, one.verdict, found)
        return batch


class MarkChangeLog(Watcher):
    """A watcher that logs each mark that changes, and warns about each mark that drops.

    Marks that were changed manually since the last run are logged immediately. ``before`` contains the marks in the gradebook by student.
    """

    def __init__(
        self, course: Course, chapter: str, state: RunState, before: Mapping[str, SubmissionMarks], jobs: Sequence[Job]
    ) -> None:
        self._course, self._chapter, self._state, self._before = course, chapter, state, before
        self._drops: dict[str, MarkChange] = {}
        changes = []
        for student in (str(job.student) for job in jobs):
            line, marks = state.line(student), before.get(student)
            now = mark_of(marks)
            if line is not None and marks is not None and "mark" in line and _differ(line["mark"], now):
                changes.append(MarkChange(student, chapter, line["mark"], now, marks.max_score, mark_changes.BY_HAND))
        append_changes(course, changes)

    def entered(self, batch: Entered) -> Entered:
        """Log the marks of a batch that changed."""
        marks = [(one, str(one.verdict.student)) for one in batch.outcomes]
        found = [change_of(self._state, one, self._before.get(who), batch.marks.get(who)) for one, who in marks]
        changes = [change for change in found if change is not None]
        append_changes(self._course, changes)
        self._drops |= {change.student: change for change in changes if change.is_drop}
        return batch

    def end(self, verdicts: dict[Job, Verdict]) -> dict[Job, Verdict]:
        """Add a warning to each verdict whose mark dropped."""
        many = len(self._drops) > MANY
        warnings = {student: _drop_warning(drop, many=many) for student, drop in self._drops.items()}
        return {job: _warned(verdict, [warnings.get(str(job.student), "")]) for job, verdict in verdicts.items()}


class MarkEntry(Watcher):
    """A watcher that enters marks in the gradebook, shows each entered batch to the other watchers, and then records it in ``state``.

    The record comes last. If the run is killed before that, the next run enters the batch again.
    """

    def __init__(
        self, course: Course, chapter: str, state: RunState, url: str | None, watchers: Sequence[Watcher]
    ) -> None:
        self._chapter, self._state, self._url, self._watchers = chapter, state, url, watchers
        self._writer = GradebookWriter(course, url, self._after)

    def prepare(self, *, wait: bool) -> None:
        """Load the modules that are needed to enter marks. This takes seconds. With ``wait``, return once the gradebook is known to be usable."""
        self._writer.begin(wait=wait)

    def seen(self, outcome: Outcome) -> Outcome:
        """Queue the outcome. Outcomes are entered in batches."""
        self._writer.enter(outcome)
        return outcome

    def close(self) -> None:
        """Wait until all marks are entered."""
        self._writer.close()

    def _after(self, outcomes: Sequence[Outcome], kept: Mapping[str, tuple[float, float]]) -> None:
        students = [str(one.verdict.student) for one in outcomes]
        batch = Entered(outcomes, marks_of(self._url, self._chapter, students), kept)
        for watcher in self._watchers:
            batch = watcher.entered(batch)
        self._state.note(batch.outcomes, {student: mark_of(batch.marks.get(student)) for student in students})


def marks_of(url: str | None, chapter: str, students: Sequence[str]) -> dict[str, SubmissionMarks]:
    """Return the marks in the gradebook by student. The result is empty if there is no gradebook, or no student is named."""
    return (read_marks(url, chapter, students) if url is not None and students else None) or {}


def change_of(
    state: RunState, outcome: Outcome, before: SubmissionMarks | None, after: SubmissionMarks | None
) -> MarkChange | None:
    """Return the change of a submission's mark, or None if the mark is the same as before or is the first mark."""
    old, new = mark_of(before), mark_of(after)
    if before is None or after is None or not _differ(old, new):
        return None
    student = str(outcome.job.student)
    why = _change_reason(state, outcome.job, before, after)
    checks = differing_checks(state.last(student), outcome.verdict)
    return MarkChange(student, state.chapter, old, new, after.max_score, why, checks)


def _change_reason(state: RunState, job: Job, before: SubmissionMarks, after: SubmissionMarks) -> str:
    if before.score == after.score and before.is_graded == after.is_graded:
        return mark_changes.LATE
    if state.was_replaced(job):
        return mark_changes.HANDED_IN_AGAIN
    if state.line(str(job.student)) is None:
        return mark_changes.NO_RECORD
    return mark_changes.OTHERWISE if state.is_of_this_course(str(job.student)) else mark_changes.COURSE_CHANGED


def _differ(one: float | None, other: float | None) -> bool:
    return (one is None) != (other is None) or (one is not None and other is not None and abs(one - other) > 1e-9)


def _drop_warning(drop: MarkChange, *, many: bool) -> str:
    if many:
        return MANY_FELL.format(why=drop.why, chapter=drop.chapter)
    before = number(drop.before or 0.0) if drop.after is not None else pluralize(drop.before or 0.0, "point")
    after = "no mark" if drop.after is None else pluralize(drop.after, "point")
    return FELL.format(before=before, after=after, why=drop.why)


def _superseded_warning(outcome: Outcome, new: float, old: float) -> str:
    stamp = sanitize(" ".join((outcome.timestamp or "").split()), 40)
    when = f" ({stamp})" if stamp else ""
    if outcome.verdict.status == "ungradable":
        return BROKEN.format(when=when, reason=outcome.verdict.reason)
    return BETTER.format(when=when, new=pluralize(new, "point"), old=number(old))


def _work_in(path: Path, released: Notebook) -> dict[str, str]:
    """Return the source of each exercise's cell in the notebook at ``path``, by exercise. Empty if the file has no such cells."""
    try:
        if path.is_symlink() or path.stat().st_size > MAX_OTHER:
            return {}
        notebook = read_notebook(path)
    except (OSError, NotebookError):
        return {}
    return {name: stub.source for name in released.exercises() if (stub := notebook.stub(name)) is not None}


def _warned(verdict: Verdict, issues: Sequence[str]) -> Verdict:
    return replace(verdict, warning=" ".join(filter(None, [verdict.warning, *issues]))) if any(issues) else verdict


def _untimely(outcome: Outcome) -> str:
    """Return a warning if nbgrader's timestamp file of a submission has no valid time, or else ""."""
    path, text = outcome.job.path.parent / BESIDE[0], outcome.timestamp
    if outcome.verdict.status != "graded" or (text is None and not os.path.lexists(path)) or _is_time(text or ""):
        return ""
    short = " ".join((text or "").split())
    short = short if len(short) <= 60 else f"{short[:60]}…"
    content = f"contains '{short}', which is not a timestamp" if short else "is empty"
    what = "cannot be read" if text is None else content
    return f"{path.name} {what}, so no late penalty could be computed."


def _is_time(text: str) -> bool:
    """Return whether nbgrader reads ``text`` as a timestamp. nbgrader's own format is recognized without loading nbgrader."""
    parts = text.split()
    with suppress(ValueError):
        dt.datetime.fromisoformat(" ".join(parts[:2]))
        if parts[2:] in ([], ["UTC"]):
            return True
    return parse_timestamp(text) is not None
