"""What a student gets back, written in the process that graded it: the graded notebook and the feedback page."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from autograder.base.files import write_atomically
from autograder.base.marks import SubmissionMarks
from autograder.base.verdict import Disclosure, Place, Verdict, redact_verdict
from autograder.course.course import Course
from autograder.course.notebook import NotebookError, document_bytes, load_document, read_bytes, text_of
from autograder.grading.document import write_outcomes, write_verdict
from autograder.grading.outcome import Outcome
from autograder.grading.submission import Job
from autograder.pages.feedback import append_hash, has_valid_hash

__all__ = ["BESIDE", "PageStatus", "Pages", "beside", "folder_of"]

# "kept": there is a page that was not made here, or was changed since, and it stands.
PageStatus = Literal["made", "unchanged", "kept"]

# What nbgrader keeps beside a submission and needs again to hand its feedback back to the right student.
BESIDE = ("timestamp.txt", "submission_secret.txt")
MAX_BESIDE = 4096  # bytes of such a file that are read


@dataclass(frozen=True, slots=True)
class Pages:
    """Writes what the students of a chapter get back; it holds little, so that it can go to any process.

    ``marks`` are those of the students for whom the gradebook has more than the checks gave. With ``dry`` nothing is written.
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
    def of(cls, course: Course, chapter: str) -> Pages:
        """The pages of a course's chapter."""
        autograded, feedback = folder_of(course, "autograded"), folder_of(course, "feedback")
        return cls(chapter, course.title, course.disclosure, course.located, autograded, feedback)

    def __call__(self, outcome: Outcome) -> Outcome:
        """Write the graded notebook and the page of one submission: a ``Deliver``."""
        document = outcome.document if outcome.verdict.status == "graded" else {}
        if document:
            write_outcomes(document, outcome.cells)
        texts = {name: beside(outcome.job.path, name) for name in BESIDE}
        by_hand = _marked_by_hand(document)
        rewritten = self._rewritten(outcome, by_hand)
        page = "unchanged" if self.dry else self._write(outcome, document, texts)
        texted = replace(outcome, document=by_hand, cells=(), timestamp=texts[BESIDE[0]], rewritten=rewritten)
        return replace(texted, page_kept=page == "kept")

    def files(self, job: Job) -> list[Path]:
        """The files that a student gets back: the graded notebook, the page, and what lies beside each."""
        return [Path(name) for name in self.names(job)]

    def names(self, job: Job) -> list[str]:
        """The same as texts, which cost less: a large class has tens of thousands."""
        autograded = f"{self.autograded}/{job.student}/{self.chapter}/"
        feedback = f"{self.feedback}/{job.student}/{self.chapter}/"
        copies = [f"{folder}{name}" for folder in (autograded, feedback) for name in BESIDE]
        return [f"{autograded}{self.chapter}.ipynb", f"{feedback}{self.chapter}.html", *copies]

    def _rewritten(self, outcome: Outcome, document: Mapping[str, Any]) -> frozenset[str]:
        """The cells marked by a person whose text is another than in the graded notebook that is there already."""
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
        """Make the page of a notebook that was graded before, with what the gradebook has.

        The graded notebook is read from its file; raises ``NotebookError`` where there is none. With ``force`` a page that was not made
        here is replaced.
        """
        notebook, page, *_ = self.files(job)
        document = load_document(read_bytes(notebook), notebook) if verdict.status == "graded" else {}
        return self._write_page(page, verdict, document, marks, force=force)

    def _write_page(
        self,
        page: Path,
        verdict: Verdict,
        document: Mapping[str, Any],
        marks: SubmissionMarks | None = None,
        *,
        force: bool = False,
    ) -> PageStatus:
        from autograder.pages.feedback import feedback_page, reason_page  # noqa: PLC0415 - Jinja is not needed to grade

        before = _bytes_of(page)
        if before is not None and not has_valid_hash(before) and not force:
            return "kept"
        shown = redact_verdict(verdict, self.disclosure, self.place)
        html = feedback_page(self.title, shown, document, marks) if document else reason_page(self.title, shown, marks)
        if (made := append_hash(html)) == before:
            return "unchanged"
        write_atomically(page, made, 0o644)
        return "made"

    def _write(self, outcome: Outcome, document: dict[str, Any], texts: Mapping[str, str | None]) -> PageStatus:
        notebook, page, *copies = self.files(outcome.job)
        if document:
            write_verdict(document, redact_verdict(outcome.verdict, self.disclosure, self.place).exercises)
            write_atomically(notebook, document_bytes(document), 0o444)
        else:
            # An old page must not pass for the outcome of this submission.
            notebook.unlink(missing_ok=True)
        status = self._write_page(page, outcome.verdict, document, self.marks.get(str(outcome.job.student)))
        for copy in copies:
            text = texts[copy.name]
            if text is not None and (document or copy.parent == page.parent):
                write_atomically(copy, text.encode(), 0o644 if copy.parent == page.parent else 0o444)
        return status


def _bytes_of(page: Path) -> bytes | None:
    """What stands in the page's file; nothing of what is no file, which is no page made here; None where there is nothing."""
    try:
        return page.read_bytes() if stat.S_ISREG(page.lstat().st_mode) else b""
    except FileNotFoundError:
        return None


def beside(path: Path, name: str) -> str | None:
    """What stands in the small file ``name`` beside a submission, or None."""
    found = f"{path.parent}/{name}"
    try:
        if not stat.S_ISREG(os.lstat(found).st_mode):  # a link may lead anywhere; a pipe or a device would never end
            return None
        with open(found, "rb") as file:  # noqa: PTH123 - asked for every student of a class
            start = file.read(MAX_BESIDE)  # never the whole: a file may claim a terabyte and take no room
    except OSError:
        return None
    return start.decode("utf-8", "replace")[:1000]


def folder_of(course: Course, kind: str) -> Path:
    """The course's folder for ``kind`` ("submitted", "autograded", "feedback"), as nbgrader's configuration has it."""
    configured = course.config.get("CourseDirectory", {}).get(f"{kind}_directory", kind)
    return course.root / str(configured)


def _marked_by_hand(document: Mapping[str, Any]) -> dict[str, Any]:
    """The cells that a person marks: all that the gradebook asks the notebook for, and small enough to send home."""
    metas = ((cell, cell["metadata"].get("nbgrader", {})) for cell in document.get("cells", []))
    return {"cells": [cell for cell, meta in metas if meta.get("grade") and meta.get("solution")]}


def _texts(document: Mapping[str, Any]) -> dict[str, str]:
    return {cell["metadata"]["nbgrader"]["grade_id"]: text_of(cell["source"]) for cell in document["cells"]}
