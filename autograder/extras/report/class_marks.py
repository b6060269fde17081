"""Collect the marks of a class in one chapter from the gradebook, the stored verdicts and the submitted folder."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from autograder.base.errors import CourseError
from autograder.base.foreign import Json
from autograder.base.marks import CHECK, SubmissionMarks
from autograder.base.verdict import Verdict
from autograder.classroom.delivery import FeedbackWriter, folder_of, submitted_notebook
from autograder.classroom.gradebook.database import require_version
from autograder.classroom.gradebook.entries import gradebook_url, read_extensions
from autograder.classroom.gradebook.people import Person
from autograder.classroom.incremental import SharedOutcomes
from autograder.classroom.watchers import ReviewWarnings
from autograder.course.course import Course
from autograder.course.notebook import load_source
from autograder.extras.export.gradebook import ChapterBook, read_book
from autograder.grading.submission import BESIDE, beside

__all__ = ["NOT_ENTERED", "STANDINGS", "ChapterMarks", "StudentMark", "chapter_marks", "class_marks", "given_out"]

Standing = Literal["graded", "waiting", "ungradable", "ungraded", "missing"]
# The text that users read for each status.
STANDINGS: Mapping[Standing, str] = {
    "graded": "graded",
    "waiting": "graded, but part of it needs manual grading",
    "ungradable": "could not be graded: needs your review",
    "ungraded": "submitted, not graded yet",
    "missing": "not submitted",
}
NOT_ENTERED = "The mark is not in the gradebook."
_AGAIN = "Another notebook was submitted after this mark was entered. Grade the chapter again."


@dataclass(frozen=True, slots=True)
class StudentMark:
    """The mark of one student in one chapter.

    ``score`` is the gradebook's score, including manual points and extra credit, minus the late ``penalty``. It is None, not 0, if
    there is no mark. ``exercises`` holds the score of each exercise, or None if it has none. ``doubts`` contains the reasons for a
    manual review.
    """

    student: str
    standing: Standing
    score: float | None = None
    exercises: Mapping[str, float | None] = field(default_factory=dict)
    penalty: float = 0.0
    seconds_late: float = 0.0
    extension: dt.timedelta = dt.timedelta()
    by_hand: int = 0
    verdict: Verdict | None = None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChapterMarks:
    """The marks of a class in one chapter. ``worth`` maps each exercise to its points. ``listed`` says whether a class list is known."""

    chapter: str
    worth: Mapping[str, float]
    marks: Mapping[str, StudentMark]
    people: Mapping[str, Person]
    listed: bool
    due: dt.datetime | None = None
    has_book: bool = True

    @property
    def max_score(self) -> float:
        """The maximum score of the chapter."""
        return sum(self.worth.values())

    def of(self, *standings: Standing) -> list[StudentMark]:
        """Return the marks whose standing is one of ``standings``."""
        return [mark for mark in self.marks.values() if mark.standing in standings]

    @property
    def handed_in(self) -> list[StudentMark]:
        """The marks of students who have submitted something."""
        return [mark for mark in self.marks.values() if mark.standing != "missing"]


def class_marks(course: Course, chapters: Sequence[str]) -> list[ChapterMarks]:
    """Return the marks of the class in each of ``chapters``. Each result has the students of all these chapters.

    Raises ``CourseError`` if there is no class yet, and ``GradebookError`` if the gradebook cannot be read.
    """
    require_version(gradebook_url(course))
    found = [chapter_marks(course, chapter) for chapter in chapters]
    everybody = sorted({student for one in found for student in one.marks})
    if not everybody:
        names = ", ".join(chapters)
        raise CourseError(
            f"There is no class yet: the gradebook has no students, and there are no submissions for {names} (there is no "
            f"{folder_of(course, 'submitted') / '<student>' / chapters[0]}). Collect the submissions, then run "
            f"`autograder grade {chapters[0]}`."
        )
    return [_with_everybody(one, everybody) for one in found]


def given_out(course: Course, found: Sequence[ChapterMarks]) -> tuple[list[ChapterMarks], list[str]]:
    """Return the chapters that were released or have a submission or a mark, and the names of the others. If no chapter qualifies, return all."""
    release = folder_of(course, "release")
    out = [one for one in found if one.handed_in or (release / one.chapter).is_dir()] or list(found)
    return out, [one.chapter for one in found if one not in out]


def chapter_marks(course: Course, chapter: str) -> ChapterMarks:
    """Return the marks of the class in one chapter. The result has no marks if there are no students."""
    url = gradebook_url(course)
    book = read_book(url, chapter)
    held = book or ChapterBook()
    listed = held.class_list.students if held.class_list.is_known else frozenset()
    folder = folder_of(course, "submitted")
    # Search as `classroom.run.handed_in` does. A student's name that is not UTF-8 is escaped, as in the verdict.
    there = {path.name for path in folder.glob("*") if os.path.lexists(path / chapter)}
    readable = {name: name.encode("utf-8", "backslashreplace").decode() for name in there}
    students = sorted({*listed, *held.marks, *readable.values()})
    kept = stored_verdicts(course, chapter, {*held.marks, *readable.values()})
    _document, released = load_source(course.source(chapter))
    worth = {
        (cell.grade_id or "").removeprefix(CHECK): held.worth.get(cell.grade_id or "", cell.points or 0.0)
        for cell in released.cells
        if cell.role == "check"
    }
    # Manually graded cells are listed only in the gradebook.
    worth |= {name: points for cell, points in held.worth.items() if (name := cell.removeprefix(CHECK)) not in worth}
    warned = _warned(course, chapter, url if book is not None else None, kept)
    marks = {}
    granted = read_extensions(course, chapter)
    for student in students:
        handed_in = student in readable.values()
        mark = _mark(student, worth, held.marks.get(student), warned.get(student), held.due, handed_in=handed_in)
        path = submitted_notebook(course, student, chapter)
        if mark.verdict is not None and handed_in and not kept[student].is_of(path):
            mark = _doubted(mark, _AGAIN)
        if mark.verdict is not None and student not in held.marks and mark.standing == "graded":
            mark = _doubted(mark, NOT_ENTERED)
        entry = held.marks.get(student)
        marks[student] = replace(mark, extension=entry.extension if entry else granted.get(student, dt.timedelta()))
    return ChapterMarks(chapter, worth, marks, held.class_list.people, bool(listed), held.due, book is not None)


def _warned(course: Course, chapter: str, url: str | None, kept: Mapping[str, StoredVerdict]) -> dict[str, Verdict]:
    """Return the verdicts in ``kept``, with warnings about issues that the gradebook shows now."""
    if not kept:
        return {}
    released = load_source(course.source(chapter))[1]
    warnings = ReviewWarnings(chapter, released, FeedbackWriter.of(course, chapter), url)
    return warnings.end({student: one.verdict for student, one in kept.items()})


def _mark(
    student: str,
    worth: Mapping[str, float],
    entry: SubmissionMarks | None,
    verdict: Verdict | None,
    due: dt.datetime | None,
    *,
    handed_in: bool,
) -> StudentMark:
    doubts = [text for text in (verdict.reason, verdict.warning) if text] if verdict is not None else []
    if entry is None or not entry.cells:
        if verdict is None:
            return StudentMark(student, "ungraded" if handed_in else "missing")
        found = {exercise.name: exercise.score for exercise in verdict.exercises}
        if verdict.status == "ungradable":
            return StudentMark(
                student, "ungradable", exercises=dict.fromkeys(worth), verdict=verdict, doubts=tuple(doubts)
            )
        exercises = {name: found.get(name) for name in worth}
        return StudentMark(student, "graded", verdict.score, exercises, verdict=verdict, doubts=tuple(doubts))
    cells = {name: entry.by_cell.get(CHECK + name) or entry.by_cell.get(name) for name in worth}
    scores = {name: cell.score if cell is not None and cell.is_graded else None for name, cell in cells.items()}
    given = [score for score in scores.values() if score is not None]
    by_hand = sum(cell is not None and cell.by_hand is not None for cell in cells.values())
    waits = [
        name for name, score in scores.items() if score is None and worth[name]
    ]  # an exercise without points needs no mark
    standing: Standing = "graded" if not waits else "waiting" if given else "ungradable"
    ungradable = bool(entry.reason) or (verdict is not None and verdict.status == "ungradable")
    if ungradable and standing == "graded":
        doubts = []  # everything was graded manually, so nothing is left to do
    elif ungradable and not doubts:
        doubts = [entry.reason]
    if standing == "waiting":
        doubts.append(f"These parts need manual grading: {', '.join(waits)}.")
    return StudentMark(
        student,
        standing,
        entry.total if given else None,
        scores,
        entry.penalty,
        entry.seconds_late(due),
        by_hand=by_hand,
        verdict=verdict,
        doubts=tuple(doubts),
    )


def _doubted(mark: StudentMark, sentence: str) -> StudentMark:
    return replace(mark, doubts=(*mark.doubts, sentence))


def _with_everybody(one: ChapterMarks, everybody: Sequence[str]) -> ChapterMarks:
    return replace(
        one, marks={student: one.marks.get(student) or StudentMark(student, "missing") for student in everybody}
    )


# --- The last verdicts, from the cache ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """The last verdict on a student's notebook. ``handed_in`` is the text of nbgrader's ``timestamp.txt`` at that time, if any.

    ``size`` is the notebook's size at that time, or None if it was not recorded. If ``noted`` is false, neither is known.
    """

    verdict: Verdict
    handed_in: str | None = None
    size: int | None = None
    noted: bool = False

    def is_of(self, path: Path) -> bool:
        """Return whether the notebook at ``path`` seems unchanged since it was graded.

        Copying a course changes the times of its files, so only the size and nbgrader's own timestamp are compared.
        """
        if not self.noted:
            return True
        try:
            size = path.lstat().st_size
        except OSError:
            return self.verdict.status == "ungradable"
        return (self.size is None or size == self.size) and beside(path, BESIDE[0]) == self.handed_in


def stored_verdicts(course: Course, chapter: str, students: Collection[str]) -> dict[str, StoredVerdict]:
    """Return the last stored verdict of each of ``students`` who has one."""
    folder = course.state("verdicts", chapter)
    found = {name: kept for name, kept in _noted(folder).items() if name in students}
    if missing := set(students) - found.keys():
        # `nbgrader autograde` stores the verdict, but does not record it in uptodate.jsonl.
        found |= _stored(folder, missing)
    return found


def _noted(folder: Path) -> dict[str, StoredVerdict]:
    """Return the verdicts in ``uptodate.jsonl``, whatever version of the course gave them. The last line of each student counts."""
    shared, lines = SharedOutcomes(), {}
    try:
        texts = (folder / "uptodate.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    for text in texts:
        with suppress(ValueError, KeyError, TypeError):
            line = json.loads(text)
            if not shared.read(line):
                lines[str(line["student"])] = line
    found = {}
    for student, line in lines.items():
        with suppress(ValueError, KeyError, TypeError, IndexError):
            found[student] = StoredVerdict(shared.expand(line["verdict"]), line["texts"][0], _size(line), noted=True)
    return found


def _size(line: Mapping[str, Json]) -> int | None:
    signature = line["in"]  # the signatures of the folder and of the notebook, or None if their times were not reliable
    return int(signature[1][2]) if signature and signature[1] else None


def _stored(folder: Path, students: Collection[str]) -> dict[str, StoredVerdict]:
    found: dict[str, tuple[float, Verdict]] = {}
    for path in folder.glob("*.json"):
        if path.name.endswith(".cells.json"):
            continue
        with suppress(OSError, ValueError, KeyError, TypeError):
            when = path.stat().st_mtime
            kept = json.loads(path.read_bytes())
            verdict = Verdict.from_json({name: value for name, value in kept.items() if name != "parts"})
            if verdict.student in students and when >= found.get(str(verdict.student), (0.0, None))[0]:
                found[str(verdict.student)] = when, verdict
    return {student: StoredVerdict(verdict) for student, (_, verdict) in found.items()}
