"""What a person has to look into although a mark was entered, or because none was: said in a verdict's warning.

Nothing here changes a mark. What a submission and its folder show is noted before its mark is entered, and kept with the
verdict; what the gradebook shows is asked at the end of every run, for those too that were passed over.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from autograder.base.formatting import number, pluralize
from autograder.base.marks import CHECK, SubmissionMarks
from autograder.base.sanitize import sanitize
from autograder.base.verdict import ExerciseVerdict, Verdict
from autograder.classroom.delivery import BESIDE, Pages
from autograder.classroom.gradebook.entries import moment_of
from autograder.classroom.gradebook.marks import read_marks
from autograder.classroom.gradebook.people import known_students
from autograder.classroom.gradebook.reading import ChapterInBook, read_chapter
from autograder.course.notebook import Notebook, NotebookError, other_notebooks, read_notebook
from autograder.grading.outcome import Outcome
from autograder.grading.submission import Job

__all__ = ["MAX_OTHER", "MAX_OTHERS", "Doubts"]

_MAX_NAMES = 3  # of other files that are told
MAX_OTHERS = 20  # that are looked into: a student may hand in thousands
MAX_OTHER = 16 << 20  # bytes of one of them

OTHER_FILE = (
    "{others} in the same folder {holds} work on {chapter}, too, and only {chapter}.ipynb was looked at. "
    "Where that is not the one that counts, put the right one in its place and grade again."
)
UNKNOWN = (
    "The class list in the gradebook had nobody of this name, so a new student was added to it. Where the name of the folder "
    "is misspelt, rename it, grade again and remove that student (`nbgrader db student remove`)."
)
NEW_BOOK = (
    "The gradebook held nothing of {chapter}, although a graded notebook lay in {folder}/. Marks and comments that a person "
    "has given before are not in this gradebook: look whether there is another one."
)
POINTS = (
    "Points are not what they were when {chapter} was released: {cells}. A mark above the gradebook's points is cut off there. "
    "Give the cells of the chapter's notebook the same points as its checks, run "
    "`nbgrader generate_assignment {chapter} --force` and grade again."
)
STALE = "{cell} was marked by hand with {by_hand}, and {now}. The mark by hand counts until a person changes it."
KEPT_PAGE = (
    "The page in {folder}/ was not made by autograder, or was changed since, so it was left as it is and may show older marks. "
    "`autograder feedback {chapter} --student ID --force` puts a new page in its place."
)
NO_MARK = "Until a person gives the marks, `nbgrader export` writes {score} for it into grades.csv."
MARKED = "A person has marked it: {score}. Where that is all, nothing is left to do."


class Doubts:
    """Those of one run over ``jobs`` of a chapter; ``url`` is the gradebook's, None where no marks are entered."""

    def __init__(self, chapter: str, released: Notebook, pages: Pages, url: str | None, jobs: Sequence[Job]) -> None:
        self._chapter, self._released, self._pages, self._url = chapter, released, pages, url
        self._unknown: frozenset[str] = frozenset()
        self._had_graded: frozenset[str] = frozenset()
        self._points: dict[tuple[str, float], str] = {}
        if url is not None and jobs:
            self._look_before(url, jobs)

    def _look_before(self, url: str, jobs: Sequence[Job]) -> None:
        """Note what will not show any more once marks are entered."""
        students = [str(job.student) for job in jobs]
        known = known_students(url, self._chapter)
        if known is not None and known.is_known:
            self._unknown = frozenset(students) - known.students
        book = read_chapter(url, self._chapter)
        if book is None or not book.rows:
            graded = (str(job.student) for job in jobs if os.path.lexists(self._pages.names(job)[0]))
            self._had_graded = frozenset(graded)

    def noted(self, outcome: Outcome) -> Outcome:
        """The outcome with what is in doubt about its submission in its verdict's warning."""
        job, student = outcome.job, str(outcome.job.student)
        found = [_untimely(outcome), self._of_other_files(job)]
        if student in self._unknown:
            found.append(UNKNOWN)
        if student in self._had_graded:
            found.append(NEW_BOOK.format(chapter=self._chapter, folder=self._pages.autograded.name))
        if outcome.page_kept:
            found.append(KEPT_PAGE.format(folder=self._pages.feedback.name, chapter=self._chapter))
        return replace(outcome, verdict=_warned(outcome.verdict, found))

    def at_the_end(self, verdicts: Sequence[Verdict], before: ChapterInBook | None) -> list[Verdict]:
        """The verdicts, with what the gradebook shows; ``before`` is what it held, where nothing was entered since."""
        if self._url is None:
            return list(verdicts)
        book = before or read_chapter(self._url, self._chapter) or ChapterInBook()
        stale: Mapping[str, SubmissionMarks] = {}
        if students := [student for verdict in verdicts if book.may_be_stale(student := str(verdict.student))]:
            stale = read_marks(self._url, self._chapter, students) or {}
        done = []
        for verdict in verdicts:
            found = self._of_the_book(verdict, book, stale.get(str(verdict.student)))
            done.append(_warned(verdict, found) if found else verdict)
        return done

    def _of_the_book(self, verdict: Verdict, book: ChapterInBook, marks: SubmissionMarks | None) -> list[str]:
        student, found = str(verdict.student), []
        changed = [text for exercise in verdict.exercises if (text := self._of_points(exercise, book))]
        if changed:
            found.append(POINTS.format(chapter=self._chapter, cells=", ".join(changed)))
        if verdict.status == "ungradable":
            if student in book.rows:
                said = MARKED if book.is_marked_by_hand(student) else NO_MARK
                found.append(said.format(score=pluralize(book.by_hand(student), "point")))
            return found
        for cell in marks.waiting if marks is not None else ():
            if cell.by_hand is not None:
                now = "its text is another now" if cell.auto is None else f"the checks now give {number(cell.auto)}"
                by_hand = pluralize(cell.by_hand, "point")
                found.append(STALE.format(cell=cell.name.removeprefix(CHECK), by_hand=by_hand, now=now))
        return found

    def _of_points(self, exercise: ExerciseVerdict, book: ChapterInBook) -> str:
        """What differs between gradebook and checks; worked out once for a class, in which all have the same."""
        key = exercise.name, exercise.max_score
        if key not in self._points:
            then = book.points.get(f"check_{exercise.name}", exercise.max_score)
            now = number(exercise.max_score)
            differ = abs(then - exercise.max_score) > 1e-9
            text = f"{exercise.name} has {number(then)} in the gradebook and {now} by its checks"
            self._points[key] = text if differ else ""
        return self._points[key]

    def _of_other_files(self, job: Job) -> str:
        """The sentence on notebooks beside the one that was looked at that hold work of their own on this chapter."""
        others = [Path(other) for other in other_notebooks(str(job.path))]
        if not others or not os.path.lexists(job.path):
            return ""  # where it is missing, that is the reason why it cannot be graded
        own = _work_in(job.path, self._released)
        handed_out = {name: stub.source for name in self._released.exercises() if (stub := self._released.stub(name))}
        found = []
        for path in others[:MAX_OTHERS]:
            work = _work_in(path, self._released)
            if any(source not in (own.get(name), handed_out.get(name)) for name, source in work.items()):
                found.append(sanitize(os.fsencode(path.name).decode("utf-8", "backslashreplace")))
        if not found:
            return ""
        shown = found[:_MAX_NAMES] + ([f"{len(found) - _MAX_NAMES} more"] if len(found) > _MAX_NAMES else [])
        return OTHER_FILE.format(
            others=" and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])),
            holds="holds" if len(found) == 1 else "hold",
            chapter=self._chapter,
        )


def _work_in(path: Path, released: Notebook) -> dict[str, str]:
    """The source of each cell in which a student works on this chapter; nothing for what is no such notebook."""
    try:
        if path.is_symlink() or path.stat().st_size > MAX_OTHER:
            return {}
        found = read_notebook(path)
    except (OSError, NotebookError):
        return {}
    return {name: stub.source for name in released.exercises() if (stub := found.stub(name)) is not None}


def _warned(verdict: Verdict, found: Sequence[str]) -> Verdict:
    said = [sentence for sentence in found if sentence]
    return replace(verdict, warning=" ".join(filter(None, [verdict.warning, *said]))) if said else verdict


def _untimely(outcome: Outcome) -> str:
    """The sentence on a mark for which nothing tells when the notebook came in, though something should."""
    found, text = outcome.job.path.parent / BESIDE[0], outcome.timestamp
    if outcome.verdict.status != "graded" or (text is None and not os.path.lexists(found)) or _is_time(text or ""):
        return ""
    short = " ".join((text or "").split())
    short = short if len(short) <= 60 else f"{short[:60]}…"
    what = "cannot be read" if text is None else f"holds '{short}', which is no time" if short else "is empty"
    return f"{found.name} {what}, so no late penalty could be worked out."


def _is_time(text: str) -> bool:
    """Whether nbgrader takes ``text`` for a moment; as nbgrader itself writes it, nbgrader need not be loaded."""
    parts = text.split()
    with suppress(ValueError):
        dt.datetime.fromisoformat(" ".join(parts[:2]))
        if parts[2:] in ([], ["UTC"]):
            return True
    return moment_of(text) is not None
