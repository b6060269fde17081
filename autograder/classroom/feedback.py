"""Pages with what the gradebook has: made anew where a person gave a mark or a comment, and only there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from autograder.base.marks import SubmissionMarks, automatic_marks
from autograder.base.verdict import Verdict
from autograder.classroom.delivery import Pages, PageStatus
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.gradebook.errors import require_version
from autograder.classroom.gradebook.marks import read_marks
from autograder.classroom.uptodate import UpToDateFile
from autograder.course.course import Course
from autograder.course.notebook import NotebookError, read_bytes
from autograder.grading.options import GradingOptions
from autograder.grading.outcome import Outcome
from autograder.grading.submission import Job
from autograder.grading.verdict_cache import VerdictCache

__all__ = ["MadePage", "make_pages", "renew_pages", "with_marks"]

NOT_GRADED = "It is not graded yet: run `autograder grade {chapter}` first."
GONE = "Its graded notebook cannot be read ({why}) Run `autograder grade {chapter}` first."
AGAIN = "Another notebook was handed in since it was graded: run `autograder grade {chapter}` for its marks."
KEPT = "It was not made by autograder, or was changed since, and was left as it is: --force replaces it."


@dataclass(frozen=True, slots=True)
class MadePage:
    """What became of one student's page: ``"not graded"`` where there is nothing to make one from; ``reason`` says what to know of it."""

    student: str
    path: Path
    status: PageStatus | Literal["not graded"]
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """The page as the command line's JSON has it."""
        return {**asdict(self), "path": str(self.path)}


def make_pages(
    course: Course,
    chapter: str,
    jobs: Sequence[Job],
    *,
    force: bool = False,
    on_page: Callable[[MadePage], None] | None = None,
) -> list[MadePage]:
    """The pages of ``jobs``, made from what was graded and what the gradebook has now; nothing is run and no mark entered.

    With ``force`` pages that were not made here are replaced. Raises ``GradebookError`` for a gradebook of another nbgrader.
    """
    url, pages = gradebook_url(course), Pages.of(course, chapter)
    require_version(url)
    cache = VerdictCache.of(course, chapter, GradingOptions().bearing)
    uptodate = UpToDateFile(course, chapter, cache, pages, url)
    marks = read_marks(url, chapter) or {}
    made = []
    for job in jobs:
        page = _made(pages, job, uptodate, marks.get(str(job.student)), force=force)
        if page.status == "made":
            uptodate.note_page(job)
        made.append(page)
        if on_page is not None:
            on_page(page)
    return made


def renew_pages(pages: Pages, outcomes: Iterable[Outcome], marks: Mapping[str, SubmissionMarks]) -> None:
    """Make those pages anew for which the gradebook has more, or other ``marks``, than grading knew of."""
    for one in outcomes:
        student = str(one.verdict.student)
        shown = pages.marks.get(student) or automatic_marks(one.verdict)
        found = marks.get(student, shown)
        if not one.page_kept and not found.same_as(shown):
            pages.write_page(one.job, one.verdict, found)


def with_marks(pages: Pages, marks: Mapping[str, SubmissionMarks]) -> Pages:
    """The pages with what a person, or a late penalty, added to ``marks`` until now."""
    return replace(pages, marks={student: found for student, found in marks.items() if found.has_more})


def _made(pages: Pages, job: Job, uptodate: UpToDateFile, marks: SubmissionMarks | None, *, force: bool) -> MadePage:
    student, path, chapter = str(job.student), pages.files(job)[1], pages.chapter
    verdict = uptodate.last(student) or _kept_verdict(uptodate.cache, job)
    if verdict is None:
        return MadePage(student, path, "not graded", NOT_GRADED.format(chapter=chapter))
    verdict = verdict.relabelled(notebook=str(job.path), student=student)
    try:
        status = pages.write_page(job, verdict, marks, force=force)
    except NotebookError as error:
        return MadePage(student, path, "not graded", GONE.format(why=error, chapter=chapter))
    again = AGAIN.format(chapter=chapter) if uptodate.is_another(job) else ""
    return MadePage(student, path, status, " ".join(filter(None, [KEPT if status == "kept" else "", again])))


def _kept_verdict(cache: VerdictCache, job: Job) -> Verdict | None:
    """The verdict by which nbgrader's own commands graded a notebook."""
    try:
        return cache.load(cache.key(read_bytes(job.path)))
    except NotebookError:
        return None
