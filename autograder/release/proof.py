"""A chapter proven fit for release: looked through, rehearsed, audited, its examples recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from autograder.audit.kept import KeptAudit
from autograder.audit.measure import DRAWS, audit
from autograder.audit.page import audit_page
from autograder.audit.processes import each_chapter
from autograder.audit.report import ChapterAudit
from autograder.course import Course
from autograder.files import write_atomically
from autograder.release.examples import record_examples
from autograder.release.inspection import inspect_chapter
from autograder.release.mistake import Mistake
from autograder.release.unfinished import UNFINISHED
from autograder.sandbox.confinement import Confinement, SandboxLost, SandboxUnavailable

__all__ = ["Proof", "prove", "proven"]


@dataclass(frozen=True)
class Proof:
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


def proven(
    course: Course,
    chapters: Sequence[str],
    *,
    mutants: bool = True,
    draft: bool = False,
    confinement: Confinement = "auto",
    workers: int = 1,
) -> Iterator[Proof]:
    """The proofs of ``chapters``: with one of ``workers`` in their order, with more each as it is made.

    Raises ``CourseError`` where the course has no such chapter, and ``SandboxLost``.
    """
    work = partial(prove, mutants=mutants, draft=draft, confinement=confinement)
    for _chapter, proof in each_chapter(work, course, chapters, workers):
        yield proof


def prove(
    course: Course, chapter: str, *, mutants: bool = True, draft: bool = False, confinement: Confinement = "auto"
) -> Proof:
    """Prove one chapter; raises ``CourseError`` and ``SandboxLost``.

    Its notebook is looked through and played each time. The audit of its checks is kept, and made again where anything that
    it depends on is no longer what it was.
    """
    notes: list[str] = []
    mistakes = _mistakes(course, chapter, confinement, notes.append)
    if mistakes:
        return Proof(chapter, _listed(mistakes), notes=tuple(notes))
    course.require_chapter(chapter)
    draws = DRAWS if mutants else 2
    kept = KeptAudit(course, chapter, (mutants, draws))
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
        return Proof(chapter, "\n".join(report.problems), notes=tuple(notes), page=page)
    record_examples(course, chapter, course.audience)
    return Proof(chapter, draft=report.draft, unmet=_unmet(report), notes=tuple(notes), page=page)


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
    except SandboxLost:
        raise
    except SandboxUnavailable:
        say(f"{chapter}: no jail can be had here (`autograder doctor` tells why), so its own notebook is tried as you.")
        return found.rehearsed("local")
