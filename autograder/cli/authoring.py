"""The verbs of who writes a chapter: prove and release it, record its examples, measure its checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from autograder.cli.common import (
    chapters_argument,
    cores,
    course_option,
    everything_option,
    told_in_sentences,
    wanted,
    workers_option,
)
from autograder.cli.progress import say
from autograder.cli.verbs import PATH, json_option
from autograder.course.course import Course, load_course

if TYPE_CHECKING:
    from autograder.authoring.audit import ChapterAudit

__all__ = ["audit", "examples", "release"]


@click.command()
@chapters_argument
@everything_option
@click.option(
    "--draft", is_flag=True, help="Release it though the audit's targets are not met, as long as its marks are right."
)
@course_option
def release(chapters: Sequence[str], *, everything: bool, draft: bool, course_folder: Path | None) -> None:
    """Prove a chapter's checks, record its examples and make the version that students get."""
    from autograder.authoring.release import ReleaseError
    from autograder.authoring.release import release as release_chapters

    with told_in_sentences():
        course = load_course(course_folder)
        for chapter in wanted(course, chapters, everything=everything, complete=False):
            say(f"{chapter}: proving its checks before it is released …")
            try:
                release_chapters(course, [chapter], draft=draft, say=say)
            except ReleaseError as error:
                say(f"{chapter} is not released. {error}")
                raise Exit(1) from error
            say(f"{chapter}: released to {course.root / 'release' / chapter}")


@click.command()
@chapters_argument
@course_option
def examples(chapters: Sequence[str], *, course_folder: Path | None) -> None:
    """Record a chapter's examples, by which check() in a notebook of this folder judges; by default every chapter's."""
    from autograder.authoring.release import record_examples

    with told_in_sentences():
        course = load_course(course_folder)
        for chapter in wanted(course, chapters, everything=not chapters):
            say(f"{chapter}: examples recorded in {record_examples(course, chapter)}")


@click.command()
@chapters_argument
@json_option
@click.option("--page", metavar="FILE", type=PATH, help="Write the findings as a page for a browser, too.")
@click.option(
    "--from-class",
    metavar="CHAPTER",
    help="List the wrong answers in what was handed in that no misconception explains, grouped, with their code.",
)
@click.option(
    "--locate",
    is_flag=True,
    help="Also measure how often the line of a mistake is found, and truly, in mutants and in misconceptions with their names "
    "withheld. Takes minutes a chapter.",
)
@click.option(
    "--suggest",
    is_flag=True,
    help="Also print misconceptions that lack only a sentence, ready to paste: mutants that no check sees, and slips that lose marks and "
    "have no name.",
)
@course_option
@workers_option
def audit(
    chapters: Sequence[str],
    *,
    as_json: bool,
    locate: bool,
    suggest: bool,
    page: Path | None,
    from_class: str | None,
    course_folder: Path | None,
    workers: int | None,
) -> None:
    """Measure how good a chapter's checks are: what they catch, what they name, what they wrongly refuse."""
    from autograder.authoring.audit import ChapterAudit, audit_page
    from autograder.authoring.audit import audit as audit_chapters
    from autograder.authoring.release.inspection import inspect_chapter

    with told_in_sentences():
        course = load_course(course_folder)
        if from_class is not None:
            _learn_from(course, from_class, workers or cores())
            return
        asked = wanted(course, chapters, everything=not chapters)
        found = {chapter: inspect_chapter(course, chapter) for chapter in asked}
        # An audit would wait for what does not come back, and find everything wrong with what is not written yet.
        unmeasured = [c for c in asked if found[c].endless or found[c].unfinished]
        judged = [c for c in asked if c not in unmeasured]
        measured = audit_chapters(course, judged, workers=workers or cores(), locate=locate, suggest=suggest)
        audits = {report.chapter: report for report in [*measured, *(ChapterAudit(c, ()) for c in unmeasured)]}
        reports = [replace(audits[c], mistakes=tuple(map(str, found[c].mistakes))) for c in asked]
        if page is not None:
            page.write_text(audit_page(reports, course.title or course.course_id), encoding="utf-8")
            say(f"The page is {page}.")
        if as_json:
            click.echo(json.dumps([report.to_json() for report in reports], ensure_ascii=False, indent=2))
        else:
            click.echo("\n\n".join(str(report) for report in reports))
            if suggest:
                _offer(course, reports)
        raise Exit(0 if all(report.ok for report in reports) else 1)


def _offer(course: Course, reports: Sequence[ChapterAudit]) -> None:
    from autograder.authoring.audit.suggestions import pasteable

    for report in reports:
        offered = [one for exercise in report.exercises for one in exercise.suggestions]
        click.echo(
            f"\n{pasteable(course, report.chapter, offered)}"
            if offered
            else f"\n{report.chapter}: no slip is without a name."
        )


def _learn_from(course: Course, chapter: str, workers: int) -> None:
    from autograder.authoring.audit import undiagnosed_groups
    from autograder.classroom.run import handed_in
    from autograder.grading.batch import grade_notebooks

    jobs = handed_in(course, course.require_chapter(chapter))
    groups = undiagnosed_groups(course, grade_notebooks(course, jobs, workers=workers))
    click.echo("\n\n".join(map(str, groups)) or f"Every wrong answer in {chapter} is explained by a misconception.")
