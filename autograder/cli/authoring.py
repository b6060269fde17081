"""Commands for course authors: create a course, add exercises, and audit and release chapters."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from autograder.cli import commands
from autograder.cli.output import echo_status
from autograder.course.course import Course, load_course

if TYPE_CHECKING:
    from autograder.authoring.audit import ChapterAudit

__all__ = ["audit", "examples", "new", "release"]


# Help texts that are too long for the line of their option.
_FROM_CLASS = "List the submitted wrong answers that no misconception explains, in groups, with their code."
_LOCATE = "Also measure how often the line of a mistake is found, and how often that line is correct. This takes several minutes per chapter."
_VALIDATE_AT_A_TIME = "How many chapters to validate at a time. Default: one per core."
_SUGGEST = (
    "Also print wrong solutions that you can paste as misconceptions: mutants that no check detects, and common mistakes "
    "that have no name yet. You only write the messages."
)


@click.command()
@click.argument("folder", metavar="DIR", type=commands.PATH)
@click.option("--title", help="The course's title. Default: derived from the folder's name.")
@click.option(
    "--id",
    "course_id",
    metavar="ID",
    help="The course's id in the gradebook and the exchange. Default: the folder's name.",
)
def new(folder: Path, *, title: str | None, course_id: str | None) -> None:
    """Create a course in a new folder, with one exercise that you can release, grade and audit immediately."""
    from autograder.authoring.scaffold.course import new_course

    with commands.friendly_errors():
        course = new_course(folder, title=title, course_id=course_id)
        [chapter] = course.chapters
        click.echo(f"Created the course {course.title!r} in {folder}, with one exercise in {chapter}. Next:")
        if course.root != Path.cwd():
            click.echo(f"  cd {shlex.quote(str(folder))}")
        click.echo(f"  autograder release {chapter}")
        click.echo("  autograder new-exercise NAME --chapter CHAPTER")
        click.echo("The course's README.md explains the folders.")


@click.command()
@commands.chapters_argument
@commands.everything_option
@click.option("--draft", is_flag=True, help="Release even if audit targets are missed, provided the marks are correct.")
@click.option("--workers", metavar="N", type=commands.POSITIVE, help=_VALIDATE_AT_A_TIME)
@commands.course_option
def release(
    chapters: Sequence[str], *, everything: bool, draft: bool, workers: int | None, course_folder: Path | None
) -> None:
    """Validate a chapter's checks, record its examples and create the version for students."""
    from autograder.authoring.release import ReleaseError, release_validated, validate_all

    with commands.report_errors():
        course = load_course(course_folder)
        asked = commands.selected_chapters(course, chapters, everything=everything, complete=False)
        for chapter in asked:
            echo_status(f"{chapter}: validating its checks before the release …")
        for result in validate_all(course, asked, draft=draft, workers=workers or commands.cores()):
            try:
                release_validated(course, result, echo_status)
            except ReleaseError as error:
                echo_status(f"{result.chapter} was not released. {error}")
                raise Exit(1) from error
            echo_status(f"{result.chapter}: released to {course.root / 'release' / result.chapter}")


@click.command()
@commands.chapters_argument
@commands.course_option
def examples(chapters: Sequence[str], *, course_folder: Path | None) -> None:
    """Record the examples that check() uses in this folder's notebooks. By default, for every chapter."""
    from autograder.authoring.release import record_examples

    with commands.report_errors():
        course = load_course(course_folder)
        for chapter in commands.selected_chapters(course, chapters, everything=not chapters):
            echo_status(f"{chapter}: examples recorded in {record_examples(course, chapter)}")


@click.command()
@commands.chapters_argument
@commands.json_option
@click.option("--page", metavar="FILE", type=commands.PATH, help="Also write the findings as an HTML page.")
@click.option("--from-class", metavar="CHAPTER", help=_FROM_CLASS)
@click.option("--locate", is_flag=True, help=_LOCATE)
@click.option("--suggest", is_flag=True, help=_SUGGEST)
@commands.course_option
@commands.workers_option
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
    """Measure a chapter's checks: which mistakes they catch and identify, and which correct solutions they wrongly reject."""
    from autograder.authoring.audit import audit_page
    from autograder.authoring.audit.measure import each_chapter

    with commands.report_errors():
        course = load_course(course_folder)
        if from_class is not None:
            _learn_from(course, from_class, workers or commands.cores())
            return
        asked = commands.selected_chapters(course, chapters, everything=not chapters)
        measure = partial(_audited, locate=locate, suggest=suggest)
        measured = dict(each_chapter(measure, course, asked, workers or commands.cores()))
        reports = [measured[chapter] for chapter in asked]
        if page is not None:
            page.write_text(audit_page(reports, course.title or course.course_id), encoding="utf-8")
            echo_status(f"The page was written to {page}.")
        if as_json:
            click.echo(json.dumps([report.to_json() for report in reports], ensure_ascii=False, indent=2))
        else:
            click.echo("\n\n".join(str(report) for report in reports))
            if suggest:
                _offer(course, reports)
        raise Exit(0 if all(report.ok for report in reports) else 1)


def _audited(course: Course, chapter: str, *, locate: bool, suggest: bool) -> ChapterAudit:
    """Inspect a chapter and audit it."""
    from autograder.authoring.audit import ChapterAudit
    from autograder.authoring.audit import audit as audit_chapters
    from autograder.authoring.release.inspection import inspect_chapter

    found = inspect_chapter(course, chapter)
    report = ChapterAudit(chapter, ())
    # The audit of an endless reference would not end, and every finding about an unfinished chapter would be wrong.
    if not found.endless and not found.unfinished:
        [report] = audit_chapters(course, [chapter], locate=locate, suggest=suggest)
    return replace(report, mistakes=(*map(str, found.mistakes), *report.mistakes))


def _offer(course: Course, reports: Sequence[ChapterAudit]) -> None:
    from autograder.authoring.audit.suggestions import pasteable

    for report in reports:
        offered = [one for exercise in report.exercises for one in exercise.suggestions]
        none = f"{report.chapter}: every common mistake has a name."
        click.echo(f"\n{pasteable(course, report.chapter, offered) if offered else none}")


def _learn_from(course: Course, chapter: str, workers: int) -> None:
    from autograder.authoring.audit import undiagnosed_groups
    from autograder.classroom.run import handed_in
    from autograder.grading.batch import grade_notebooks

    jobs = handed_in(course, course.require_chapter(chapter))
    groups = undiagnosed_groups(course, grade_notebooks(course, jobs, workers=workers))
    click.echo("\n\n".join(map(str, groups)) or f"Every wrong answer in {chapter} is explained by a misconception.")
