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
from autograder.authoring.release.inspection import inspect_chapter
from autograder.authoring.release.problems import UNFINISHED, Mistake
from autograder.authoring.release.stubs import documented
from autograder.authoring.release.worked_examples import examples_note
from autograder.base.files import write_atomically
from autograder.course.course import Audience, Course, Solutions
from autograder.judging.loader import load_checks
from autograder.sandbox.confinement import Confinement
from autograder.sandbox.protocol import SandboxStartError, SandboxUnavailable
from autograder.student.examples.record import recorded

__all__ = ["ValidationResult", "record_examples", "validate", "validate_all"]


def record_examples(course: Course, chapter: str, audience: Audience = "self-learners") -> Path:
    """Record the chapter's visible checks as data, and return the file.

    By default the file is for self-learners, who use the course folder itself. For a class, it includes solutions only if
    ``Course.solutions`` allows it. Raises ``CourseError`` if the checks cannot be read or a visible one cannot be recorded.
    """
    course.require_chapter(chapter)
    # Use a separate file for each audience, so that a class never gets the solutions that self-learners may read.
    path = course.state(*(("examples",) if audience == "self-learners" else ("examples", "class")), f"{chapter}.json")
    solutions = "after passing" if audience == "self-learners" else _solutions(course, chapter)
    data = recorded(load_checks(course, chapter), audience, solutions)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    write_atomically(path, f"{text}\n".encode())  # so that a notebook never reads an incomplete file
    return path


def _solutions(course: Course, chapter: str) -> Solutions:
    """Return when a class may read the solutions in a release that is made now. With "after due", this is "never" until the due date has passed."""
    if course.solutions != "after due":
        return "after passing" if course.solutions == "after passing" else "never"
    from autograder.classroom.gradebook.entries import gradebook_url  # noqa: PLC0415 - needed only for due dates
    from autograder.classroom.gradebook.reading import read_due_date  # noqa: PLC0415

    due = read_due_date(gradebook_url(course), chapter)
    return "after passing" if due is not None and due < datetime.now(UTC).replace(tzinfo=None) else "never"


@dataclass(frozen=True)
class ValidationResult:
    """The result of validating a chapter.

    Attributes:
        chapter: the chapter.
        refused: why it cannot be released, or "".
        draft: whether it may be released only as a draft.
        missed_targets: the targets that a draft misses.
        notes: messages for the author.
        page: the path of its audit page, if it was audited.
    """

    chapter: str
    refused: str = ""
    draft: bool = False
    missed_targets: tuple[str, ...] = ()
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
    """Validate ``chapters`` and yield the results: in order with one worker, else each as soon as it is ready.

    Raises ``CourseError`` if the course has no such chapter, and ``SandboxStartError`` if the sandbox fails to start.
    """
    work = partial(validate, mutants=mutants, draft=draft, confinement=confinement)
    for _chapter, result in each_chapter(work, course, chapters, workers):
        yield result


def validate(
    course: Course, chapter: str, *, mutants: bool = True, draft: bool = False, confinement: Confinement = "auto"
) -> ValidationResult:
    """Validate one chapter.

    The notebook is inspected and run each time. The audit of the checks is cached, and repeated if anything that it depends
    on has changed. Raises ``CourseError`` if the course has no such chapter, and ``SandboxStartError`` if the sandbox fails
    to start.
    """
    notes: list[str] = []
    mistakes = _mistakes(course, chapter, confinement, notes.append)
    if mistakes:
        return ValidationResult(chapter, _listed(mistakes), notes=tuple(notes))
    course.require_chapter(chapter)
    draws = DRAWS if mutants else 2
    cached = CachedAudit(course, chapter, (mutants, draws))
    report = cached.load()
    if report is not None:
        what = "its checks and everything that they depend on are unchanged, so their last validation still counts."
        notes.append(f"{chapter}: {what}")
    else:
        [report] = audit(course, [chapter], mutants=mutants, draws=draws)
        cached.save(report)
    may_be_draft = bool(report.missed_targets) and set(report.problems) == set(report.missed_targets)
    report = replace(report, draft=draft and may_be_draft)
    page = course.state("audit", f"{chapter}.html")
    write_atomically(page, audit_page([report], course.title or course.course_id).encode())
    if not report.ok and not report.draft:
        return ValidationResult(chapter, "\n".join(report.problems), notes=tuple(notes), page=page)
    record_examples(course, chapter, course.audience)
    missed_targets = tuple(report.missed_targets) if report.draft else ()
    return ValidationResult(chapter, draft=report.draft, missed_targets=missed_targets, notes=tuple(notes), page=page)


def _listed(mistakes: Sequence[object]) -> str:
    """Format ``mistakes`` as a list, with their number if there are several. If all are unfinished parts, the heading says so."""
    texts = [str(mistake) for mistake in mistakes]
    if all(UNFINISHED in text for text in texts):
        return "Still to be written:" + "".join(f"\n  - {text.replace(UNFINISHED, ': ', 1)}" for text in texts)
    if len(mistakes) == 1:
        return str(mistakes[0])
    return f"There are {len(mistakes)} problems:" + "".join(f"\n  - {mistake}" for mistake in mistakes)


def _mistakes(
    course: Course, chapter: str, confinement: Confinement, say: Callable[[str], None]
) -> tuple[Mistake, ...]:
    inspection = inspect_chapter(course, chapter)
    if inspection.checks is not None and inspection.source is not None and not inspection.mistakes:
        say(f"{chapter}: {examples_note(documented(inspection.checks, inspection.source))}.")
    try:
        return inspection.with_trial_run(confinement)
    except SandboxStartError:
        raise
    except SandboxUnavailable:
        say(f"{chapter}: there is no sandbox here (see `autograder doctor`), so its own notebook runs without one.")
        return inspection.with_trial_run("local")
