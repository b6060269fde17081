"""Validate a chapter for release: inspect it, try it out, audit it, and record its examples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from autograder.authoring.audit.audit_page import audit_page
from autograder.authoring.audit.measure import DRAWS, CachedAudit, audit, each_chapter
from autograder.authoring.audit.report import ChapterAudit
from autograder.authoring.release.inspection import inspect_chapter
from autograder.authoring.release.problems import UNFINISHED, Mistake
from autograder.base.files import write_atomically
from autograder.course.course import Audience, Course, Solutions
from autograder.judging.loader import load_checks
from autograder.sandbox.confinement import Confinement
from autograder.sandbox.protocol import SandboxStartError, SandboxUnavailable
from autograder.student.examples.record import recorded

__all__ = ["ValidationResult", "record_examples", "validate", "validate_all"]


def record_examples(course: Course, chapter: str, audience: Audience = "self-learners") -> Path:
    """Record the chapter's visible checks as data, and say in which file; by default for who learns from the course's own folder.

    For a class, solutions are in it only where ``Course.solutions`` has it. Raises ``CourseError`` where the checks cannot be
    read, or a visible one cannot be written down.
    """
    course.require_chapter(chapter)
    # Two files: what self-learners may read of this folder must never be taken for what a class is given.
    path = course.state(*(("examples",) if audience == "self-learners" else ("examples", "class")), f"{chapter}.json")
    solutions = "after passing" if audience == "self-learners" else _solutions(course, chapter)
    data = recorded(load_checks(course, chapter), audience, solutions)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    write_atomically(path, f"{text}\n".encode())  # a notebook that reads it meanwhile never sees half of it
    return path


def _solutions(course: Course, chapter: str) -> Solutions:
    """When a class that gets the chapter now may read solutions; before the due date there are none in what it gets."""
    if course.solutions != "after due":
        return "after passing" if course.solutions == "after passing" else "never"
    from autograder.classroom.gradebook.entries import gradebook_url  # noqa: PLC0415 - only a course with due dates needs them
    from autograder.classroom.gradebook.reading import read_due_date  # noqa: PLC0415

    due = read_due_date(gradebook_url(course), chapter)
    return "after passing" if due is not None and due < datetime.now(UTC).replace(tzinfo=None) else "never"


@dataclass(frozen=True)
class ValidationResult:
    """What came of proving a chapter.

    ``refused`` says why it is not fit for release, and is empty where it is; ``unmet`` are the targets that a draft goes out
    without. ``notes`` are sentences for whoever releases it, ``page`` is where its audit can be read.
    """

    chapter: str
    refused: str = ""
    draft: bool = False
    unmet: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    page: Path | None = None


def validate_all(
    course: Course,
    chapters: Sequence[str],
    *,
    mutants: bool = True,
    draft: bool = False,
    confinement: Confinement = "auto",
    workers: int = 1,
) -> Iterator[ValidationResult]:
    """The proofs of ``chapters``: with one of ``workers`` in their order, with more each as it is made.

    Raises ``CourseError`` where the course has no such chapter, and ``SandboxLost``.
    """
    work = partial(validate, mutants=mutants, draft=draft, confinement=confinement)
    for _chapter, proof in each_chapter(work, course, chapters, workers):
        yield proof


def validate(
    course: Course, chapter: str, *, mutants: bool = True, draft: bool = False, confinement: Confinement = "auto"
) -> ValidationResult:
    """Prove one chapter; raises ``CourseError`` and ``SandboxLost``.

    Its notebook is looked through and played each time. The audit of its checks is kept, and made again where anything that
    it depends on is no longer what it was.
    """
    notes: list[str] = []
    mistakes = _mistakes(course, chapter, confinement, notes.append)
    if mistakes:
        return ValidationResult(chapter, _listed(mistakes), notes=tuple(notes))
    course.require_chapter(chapter)
    draws = DRAWS if mutants else 2
    kept = CachedAudit(course, chapter, (mutants, draws))
    report = kept.load()
    if report is not None:
        notes.append(
            f"{chapter}: nothing that its checks hang on has changed since they were proven, so that proof holds."
        )
    else:
        [report] = audit(course, [chapter], mutants=mutants, draws=draws)
        kept.save(report)
    may_be_draft = bool(report.unmet) and set(report.problems) == set(report.unmet)
    report = replace(report, draft=draft and may_be_draft)
    page = course.state("audit", f"{chapter}.html")
    write_atomically(page, audit_page([report], course.title or course.course_id).encode())
    if not report.ok and not report.draft:
        return ValidationResult(chapter, "\n".join(report.problems), notes=tuple(notes), page=page)
    record_examples(course, chapter, course.audience)
    return ValidationResult(chapter, draft=report.draft, unmet=_unmet(report), notes=tuple(notes), page=page)


def _listed(mistakes: Sequence[object]) -> str:
    """Sentences one below the other, with their number where there are several; places that wait for their author below one heading."""
    texts = [str(mistake) for mistake in mistakes]
    if all(UNFINISHED in text for text in texts):
        return "Still to be written:" + "".join(f"\n  - {text.replace(UNFINISHED, ': ', 1)}" for text in texts)
    if len(mistakes) == 1:
        return str(mistakes[0])
    return f"There are {len(mistakes)} mistakes:" + "".join(f"\n  - {mistake}" for mistake in mistakes)


def _unmet(report: ChapterAudit) -> tuple[str, ...]:
    return tuple(report.unmet) if report.draft else ()


def _mistakes(
    course: Course, chapter: str, confinement: Confinement, say: Callable[[str], None]
) -> tuple[Mistake, ...]:
    found = inspect_chapter(course, chapter)
    try:
        return found.rehearsed(confinement)
    except SandboxStartError:
        raise
    except SandboxUnavailable:
        say(f"{chapter}: no jail can be had here (`autograder doctor` tells why), so its own notebook is tried as you.")
        return found.rehearsed("local")
