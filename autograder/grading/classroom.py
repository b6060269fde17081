"""A class's submissions of one chapter: found, graded, entered in the gradebook, and given back as pages."""

from __future__ import annotations

import importlib
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autograder.course import CourseError
from autograder.grading.batch import Graded, grade, points_of, ungradable
from autograder.grading.disclosure import disclosed
from autograder.grading.document import restored, with_outcomes, with_verdict
from autograder.grading.gradebook import Entry, write_entries
from autograder.grading.store import write_atomically
from autograder.grading.submission import Job
from autograder.notebook import document_bytes, load_document, notebook_of, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from autograder.course import Course
    from autograder.sandbox.confinement import Confinement
    from autograder.verdict import Verdict

__all__ = ["grade_class", "handed_in"]

BATCH = 200  # verdicts to one transaction
# What nbgrader keeps beside a submission and needs again to hand its feedback back to the right student.
BESIDE = ("timestamp.txt", "submission_secret.txt")


def handed_in(course: Course, chapter: str, students: Sequence[str] | None = None) -> list[Job]:
    """What was handed in for ``chapter``, by student; raises ``CourseError`` where that is nothing."""
    folder = _folder(course, "submitted")
    found = sorted(path.parent.name for path in folder.glob(f"*/{chapter}") if path.is_dir())
    missing = [student for student in students or () if student not in found]
    if missing:
        who = ", ".join(missing)
        raise CourseError(f"{who} handed in nothing for {chapter}: there is no {folder / missing[0] / chapter}.")
    if not found:
        raise CourseError(f"Nothing has been handed in for {chapter}: there is no {folder / '<student>' / chapter}.")
    wanted = list(dict.fromkeys(students)) if students else found
    return [Job(folder / student / chapter / f"{chapter}.ipynb", student, chapter) for student in wanted]


def grade_class(
    course: Course,
    chapter: str,
    jobs: Sequence[Job],
    *,
    confinement: Confinement = "auto",
    workers: int = 1,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Grade ``jobs`` and write the gradebook, ``autograded/`` and ``feedback/``; the verdicts in the order of the jobs.

    What is unchanged since it was last graded is not run again. A notebook that could not be graded has no mark in the
    gradebook and waits there for a person. Without confinement nothing goes into the gradebook.
    """
    # nbgrader takes seconds to import; the students' code runs elsewhere meanwhile.
    threading.Thread(target=importlib.import_module, args=("nbgrader.api",), daemon=True).start()
    desk = _Desk(course, chapter, on_verdict, gradebook=confinement != "local")
    worth = points_of(notebook_of(desk.released))
    sound = []
    for job in jobs:
        refusal = _refusal(job, chapter)
        if refusal:
            desk.take(Graded(job, ungradable(job, refusal, chapter, worth)))
        else:
            sound.append(job)
    try:
        grade(course, sound, desk.take, confinement=confinement, workers=workers, keep=True)
    finally:
        desk.enter()  # what was graded before an interruption is not lost
    return [desk.verdicts[job] for job in jobs]


@dataclass
class _Desk:
    """Where graded notebooks are written down: pages at once, the gradebook in batches."""

    course: Course
    chapter: str
    on_verdict: Callable[[Verdict], None] | None
    gradebook: bool
    verdicts: dict[Job, Verdict] = field(default_factory=dict)
    waiting: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        source = self.course.source(self.chapter)
        self.released = load_document(read_bytes(source), source)

    def take(self, graded: Graded) -> None:
        document = self._document(graded)
        self._write_pages(graded, document)
        self.verdicts[graded.job] = graded.verdict
        self.waiting.append(Entry(graded.verdict, _beside(graded.job.path, BESIDE[0]), document))
        if len(self.waiting) >= BATCH:
            self.enter()
        if self.on_verdict is not None:
            self.on_verdict(graded.verdict)

    def enter(self) -> None:
        if self.waiting and self.gradebook:
            write_entries(self.course, self.waiting)
        elif self.waiting:
            sys.stderr.write("Graded without confinement: these marks are not entered in the gradebook.\n")
        self.waiting = []

    def _document(self, graded: Graded) -> dict[str, Any]:
        if graded.verdict.status == "ungradable":
            return {}
        document = restored(load_document(graded.data, graded.job.path), self.released)
        return with_outcomes(document, graded.cells)

    def _write_pages(self, graded: Graded, document: dict[str, Any]) -> None:
        from autograder.feedback import feedback_page, reason_page  # noqa: PLC0415 - Jinja is not needed to grade

        student = str(graded.job.student)
        autograded = _folder(self.course, "autograded") / student / self.chapter
        feedback = _folder(self.course, "feedback") / student / self.chapter
        shown = disclosed(graded.verdict, self.course.disclosure)
        if document:
            with_verdict(document, shown.exercises)
            _write(autograded / f"{self.chapter}.ipynb", document_bytes(document), 0o444)
            page = feedback_page(self.course.title, shown, document)
        else:
            # An old page must not pass for the outcome of this submission.
            (autograded / f"{self.chapter}.ipynb").unlink(missing_ok=True)
            page = reason_page(self.course.title, shown)
        _write(feedback / f"{self.chapter}.html", page.encode(), 0o644)
        for name in BESIDE:
            text = _beside(graded.job.path, name)
            if text is not None:
                _write(feedback / name, text.encode(), 0o644)
                if document:
                    _write(autograded / name, text.encode(), 0o444)


def _folder(course: Course, kind: str) -> Path:
    configured = course.config.get("CourseDirectory", {}).get(f"{kind}_directory", kind)
    return course.root / str(configured)


def _refusal(job: Job, chapter: str) -> str:
    """Why a submission is not even opened: a link may point at any file of the grader's, such as another's answers."""
    for path in (job.path.parent, job.path):
        if path.is_symlink():
            return f"{path.name} is a link, not what a student hands in. It was not followed."
    others = sorted(path.name for path in job.path.parent.glob("*.ipynb"))
    if not job.path.is_file() and others:
        return (
            f"There is no {chapter}.ipynb in the submission, but {', '.join(others)}. "
            "If that is the one, rename it and grade again."
        )
    return ""


def _beside(path: Path, name: str) -> str | None:
    beside = path.parent / name
    try:
        return beside.read_text()[:1000] if beside.is_file() and not beside.is_symlink() else None
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, data: bytes, mode: int) -> None:
    write_atomically(path, data)
    path.chmod(mode)
