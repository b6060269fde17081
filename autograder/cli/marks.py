"""Commands about marks that were entered: feedback pages and mark changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from click.exceptions import Exit

from autograder.base.formatting import pluralize
from autograder.base.sanitize import sanitize
from autograder.cli import commands
from autograder.cli.output import echo_status, group_messages
from autograder.course.course import load_course
from autograder.pages.text import wrapped

__all__ = ["feedback", "log"]


@click.command()
@commands.chapters_argument
@commands.everything_option
@commands.students_option
@click.option("--force", is_flag=True, help="Replace pages that were not made by autograder, too.")
@commands.json_option
@commands.course_option
def feedback(
    chapters: Sequence[str],
    *,
    everything: bool,
    students: Sequence[str],
    force: bool,
    as_json: bool,
    course_folder: Path | None,
) -> None:
    """Make the pages that students get back, with marks and comments as the gradebook has them now; nothing is graded."""
    from autograder.classroom.delivery import make_pages
    from autograder.classroom.run import handed_in

    with commands.report_errors():
        course = load_course(course_folder)
        found: list[dict[str, object]] = []
        missing = False
        for chapter in commands.selected_chapters(course, chapters, everything=everything):
            pages = make_pages(course, chapter, handed_in(course, chapter, students), force=force)
            found += [{"chapter": chapter, **page.to_json()} for page in pages]
            counts = Counter(page.status for page in pages)
            missing |= bool(counts["not graded"])
            echo_status(f"{chapter}: {pluralize(counts['made'], 'page')} made, {counts['unchanged']} as before.")
            if remarks := group_messages((page.reason, page.student) for page in pages):
                echo_status(remarks)
        if as_json:
            click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        if missing:
            raise Exit(1)


@click.command()
@commands.chapters_argument
@commands.students_option
@commands.json_option
@commands.course_option
def log(chapters: Sequence[str], *, students: Sequence[str], as_json: bool, course_folder: Path | None) -> None:
    """Show which marks moved since they were first entered: whose, from what to what, why and when."""
    from autograder.classroom.mark_changes import LOG_NAME, read_changes

    with commands.report_errors():
        course = load_course(course_folder)
        for chapter in chapters:
            course.require_chapter(chapter)
        moves = read_changes(course, chapters, students)
        if as_json:
            click.echo(json.dumps([move.to_json() for move in moves], ensure_ascii=False, indent=1))
        for move in [] if as_json else moves:
            when = move.when[:16].replace("T", " ")
            click.echo(wrapped(move.text, "    ", f"{when}  {sanitize(move.chapter)}  {sanitize(move.student)}: "))
        if not moves:
            echo_status(f"No mark has moved: there is nothing in {LOG_NAME}.")
