"""Write the files that students get back: the graded notebook and the feedback page."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from autograder.base.files import write_atomically
from autograder.base.marks import SubmissionMarks
from autograder.base.verdict import Disclosure, Place, Verdict, redact_verdict
from autograder.classroom.gradebook.database import require_version
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.gradebook.people import read_marks
from autograder.classroom.incremental import MAX_OTHER, MAX_OTHERS, RunState
from autograder.course.course import Course, chapter_of
from autograder.course.notebook import (
    NotebookError,
    document_bytes,
    load_document,
    other_notebooks,
    read_bytes,
    read_notebook,
    text_of,
)
from autograder.grading.document import write_outcomes, write_verdict
from autograder.grading.submission import BESIDE, Job, Outcome, beside
from autograder.grading.task import GradingOptions
from autograder.grading.verdict_cache import VerdictCache

__all__ = [
    "FeedbackWriter", "PageResult", "PageStatus", "folder_of", "has_valid_hash", "make_pages", "submitted_notebook",
]  # fmt: skip

# A page ends with a hash of its content, which shows whether somebody else has changed the page.
_HASH = re.compile(rb"<!-- autograder ([0-9a-f]{64}) -->\n\Z")
_LENGTH = len("<!-- autograder ") + 64 + len(" -->\n")

# "kept": the page was not made by autograder or was changed later, so it is not overwritten.
PageStatus = Literal["made", "unchanged", "kept"]

NOT_GRADED = "The submission is not graded yet: run `autograder grade {chapter}` first."
GONE = "The graded notebook cannot be read: {why} Run `autograder grade {chapter}` first."
AGAIN = "Another notebook was submitted after grading. To grade it, run `autograder grade {chapter}`."
KEPT = "The page was not written by autograder, or has been changed since, so it was kept. --force replaces it."


@dataclass(frozen=True, slots=True)
class FeedbackWriter:
    """A writer of the files that are returned to students of a chapter. It is small, so that it can be sent to other processes.

    Attributes:
        marks: the marks of the students who have manual marks, comments or late penalties in the gradebook.
        dry: whether to write nothing.
    """

    chapter: str
    title: str
    disclosure: Disclosure
    place: Place
    autograded: Path
    feedback: Path
    marks: Mapping[str, SubmissionMarks] = field(default_factory=dict)
    dry: bool = False

    @classmethod
    def of(cls, course: Course, chapter: str) -> FeedbackWriter:
        """Return the writer for a chapter of a course."""
        autograded, feedback = folder_of(course, "autograded"), folder_of(course, "feedback")
        return cls(chapter, course.title, course.disclosure, course.located, autograded, feedback)

    def __call__(self, outcome: Outcome) -> Outcome:
        """Write the graded notebook and the page of one submission. This makes the writer a ``Deliver``."""
        document = outcome.document if outcome.verdict.status == "graded" else {}
        if document:
            write_outcomes(document, outcome.cells)
        texts = {name: beside(outcome.job.path, name) for name in BESIDE}
        by_hand = _marked_by_hand(document)
        rewritten = self._rewritten(outcome, by_hand)
        page = "unchanged" if self.dry else self._write(outcome, document, texts)
        texted = replace(outcome, document=by_hand, cells=(), timestamp=texts[BESIDE[0]], rewritten=rewritten)
        return replace(texted, page_kept=page == "kept")

    def with_marks(self, marks: Mapping[str, SubmissionMarks]) -> FeedbackWriter:
        """Return a writer whose pages show the manual marks, comments and late penalties in ``marks``."""
        return replace(self, marks={student: mine for student, mine in marks.items() if mine.has_manual_entries})

    def files(self, job: Job) -> list[Path]:
        """Return the paths of the files that a student gets back: the graded notebook, the page, and nbgrader's files next to each."""
        return [Path(name) for name in self.names(job)]

    def names(self, job: Job) -> list[str]:
        """Return the paths of ``files`` as strings. This is faster in a large class, which has tens of thousands of paths."""
        autograded = f"{self.autograded}/{job.student}/{self.chapter}/"
        feedback = f"{self.feedback}/{job.student}/{self.chapter}/"
        copies = [f"{folder}{name}" for folder in (autograded, feedback) for name in BESIDE]
        return [f"{autograded}{self.chapter}.ipynb", f"{feedback}{self.chapter}.html", *copies]

    def _rewritten(self, outcome: Outcome, document: Mapping[str, Any]) -> frozenset[str]:
        """Return the manually graded cells whose text differs from the text in the current graded notebook."""
        if not document["cells"]:
            return frozenset()
        path = self.files(outcome.job)[0]
        try:
            before = _texts(_marked_by_hand(load_document(read_bytes(path), path)))
        except NotebookError:
            return frozenset()
        return frozenset(name for name, text in _texts(document).items() if before.get(name, text) != text)

    def write_page(
        self, job: Job, verdict: Verdict, marks: SubmissionMarks | None = None, *, force: bool = False
    ) -> PageStatus:
        """Write the feedback page of a notebook that was graded before. The page shows ``marks`` from the gradebook.

        With ``force``, a page that was not made by autograder is replaced. Raises ``NotebookError`` if there is no graded notebook.
        """
        notebook, page, *_ = self.files(job)
        document = load_document(read_bytes(notebook), notebook) if verdict.status == "graded" else {}
        return self._write_page(page, verdict, document, marks, force=force)

    def _write_page(
        self, page: Path, verdict: Verdict, document: Mapping[str, Any], marks: SubmissionMarks | None, *, force: bool
    ) -> PageStatus:
        from autograder.pages.feedback import feedback_page, reason_page  # noqa: PLC0415 - Jinja is not needed to grade

        before = _bytes_of(page)
        if before is not None and not has_valid_hash(before) and not force:
            return "kept"
        shown = redact_verdict(verdict, self.disclosure, self.place)
        html = feedback_page(self.title, shown, document, marks) if document else reason_page(self.title, shown, marks)
        if (made := _append_hash(html)) == before:
            return "unchanged"
        write_atomically(page, made, 0o644)
        return "made"

    def _write(self, outcome: Outcome, document: dict[str, Any], texts: Mapping[str, str | None]) -> PageStatus:
        notebook, page, *copies = self.files(outcome.job)
        if document:
            write_verdict(document, redact_verdict(outcome.verdict, self.disclosure, self.place).exercises)
            write_atomically(notebook, document_bytes(document), 0o444)
        else:
            # An old graded notebook must not be taken for the result of this submission.
            notebook.unlink(missing_ok=True)
        marks = self.marks.get(str(outcome.job.student))
        status = self._write_page(page, outcome.verdict, document, marks, force=False)
        for copy in copies:
            text = texts[copy.name]
            if text is not None and (document or copy.parent == page.parent):
                write_atomically(copy, text.encode(), 0o644 if copy.parent == page.parent else 0o444)
        return status


def _bytes_of(page: Path) -> bytes | None:
    """Return the content of ``page``, empty bytes if it is not a regular file, or None if it does not exist."""
    try:
        return page.read_bytes() if stat.S_ISREG(page.lstat().st_mode) else b""
    except FileNotFoundError:
        return None


def folder_of(course: Course, kind: str) -> Path:
    """Return the folder of a course that nbgrader's configuration gives for ``kind`` ("submitted", "autograded", "feedback")."""
    configured = course.config.get("CourseDirectory", {}).get(f"{kind}_directory", kind)
    return course.root / str(configured)


def submitted_notebook(course: Course, student: str, chapter: str) -> Path:
    """Return a student's notebook: the notebook named after the chapter or, if there is none, the only one with cells of the chapter."""
    path = folder_of(course, "submitted") / student / chapter / f"{chapter}.ipynb"
    found = []
    for other in [] if os.path.lexists(path) else other_notebooks(str(path))[:MAX_OTHERS]:
        with suppress(NotebookError, OSError):
            file = Path(other)
            if other.isprintable() and not file.is_symlink() and file.stat().st_size <= MAX_OTHER:
                found += [file] if chapter_of(read_notebook(file), course) == chapter else []
    return found[0] if len(found) == 1 else path


def _marked_by_hand(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with only its manually graded cells. The gradebook needs no other cells, and sending few cells is fast."""
    metas = ((cell, cell["metadata"].get("nbgrader", {})) for cell in document.get("cells", []))
    return {"cells": [cell for cell, meta in metas if meta.get("grade") and meta.get("solution")]}


def _texts(document: Mapping[str, Any]) -> dict[str, str]:
    return {cell["metadata"]["nbgrader"]["grade_id"]: text_of(cell["source"]) for cell in document["cells"]}


@dataclass(frozen=True, slots=True)
class PageResult:
    """The result for one student's page. The status is ``"not graded"`` if there is no graded notebook for the page."""

    student: str
    path: Path
    status: PageStatus | Literal["not graded"]
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON for the command line."""
        return {**asdict(self), "path": str(self.path)}


def make_pages(course: Course, chapter: str, jobs: Sequence[Job], *, force: bool = False) -> list[PageResult]:
    """Write the pages of ``jobs`` from the stored verdicts and the current gradebook. Nothing is run, and no mark is entered.

    With ``force``, pages that were not made by autograder are replaced. Raises ``GradebookError`` if another nbgrader version made
    the gradebook.
    """
    url, pages = gradebook_url(course), FeedbackWriter.of(course, chapter)
    require_version(url)
    cache = VerdictCache.of(course, chapter, GradingOptions().cache_inputs)
    state = RunState(course, chapter, cache, pages.names, url)
    marks = read_marks(url, chapter) or {}
    made = []
    for job in jobs:
        page = _made(pages, job, state, marks.get(str(job.student)), force=force)
        if page.status == "made":
            state.note_page(job)
        made.append(page)
    return made


def _made(
    pages: FeedbackWriter, job: Job, state: RunState, marks: SubmissionMarks | None, *, force: bool
) -> PageResult:
    student, path, chapter = str(job.student), pages.files(job)[1], pages.chapter
    verdict = state.last(student)
    if verdict is None:
        with suppress(NotebookError):  # nbgrader's own commands may have graded the notebook
            verdict = state.cache.load(state.cache.key(read_bytes(job.path)))
    if verdict is None:
        return PageResult(student, path, "not graded", NOT_GRADED.format(chapter=chapter))
    verdict = verdict.relabelled(notebook=str(job.path), student=student)
    try:
        status = pages.write_page(job, verdict, marks, force=force)
    except NotebookError as error:
        return PageResult(student, path, "not graded", GONE.format(why=error, chapter=chapter))
    again = AGAIN.format(chapter=chapter) if state.was_replaced(job) else ""
    return PageResult(student, path, status, " ".join(filter(None, [KEPT if status == "kept" else "", again])))


def _append_hash(html: str) -> bytes:
    """Return the page as bytes, followed by a hash of its content."""
    page = html.rstrip("\n").encode("utf-8", "replace") + b"\n"
    return page + f"<!-- autograder {hashlib.sha256(page).hexdigest()} -->\n".encode()


def has_valid_hash(page: bytes) -> bool:
    """Return whether ``page`` is unchanged since ``_append_hash`` created it."""
    match = _HASH.search(page[-_LENGTH:])
    return match is not None and hashlib.sha256(page[:-_LENGTH]).hexdigest().encode() == match[1]
