"""The verbs about marks once they are made: pages with what a person added to them, and files for other systems."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from click.exceptions import Exit

from autograder.base.errors import CourseError
from autograder.base.formatting import pluralize
from autograder.base.sanitize import sanitize
from autograder.cli.common import (
    chapters_argument,
    course_option,
    everything_option,
    students_option,
    told_in_sentences,
    wanted,
)
from autograder.cli.progress import say
from autograder.cli.text import listed
from autograder.cli.verbs import PATH, json_option
from autograder.course.course import load_course
from autograder.pages.text import wrapped

__all__ = ["export", "feedback", "log"]


@click.command()
@chapters_argument
@everything_option
@students_option
@click.option("--force", is_flag=True, help="Replace pages that were not made by autograder, too.")
@json_option
@course_option
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

    with told_in_sentences():
        course = load_course(course_folder)
        found: list[dict[str, object]] = []
        missing = False
        for chapter in wanted(course, chapters, everything=everything):
            pages = make_pages(course, chapter, handed_in(course, chapter, students), force=force)
            found += [{"chapter": chapter, **page.to_json()} for page in pages]
            counts = Counter(page.status for page in pages)
            missing |= bool(counts["not graded"])
            say(f"{chapter}: {pluralize(counts['made'], 'page')} made, {counts['unchanged']} as before.")
            if remarks := listed((page.reason, page.student) for page in pages):
                say(remarks)
        if as_json:
            click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        if missing:
            raise Exit(1)


@click.command()
@chapters_argument
@students_option
@json_option
@course_option
def log(chapters: Sequence[str], *, students: Sequence[str], as_json: bool, course_folder: Path | None) -> None:
    """Show which marks moved since they were first entered: whose, from what to what, why and when."""
    from autograder.classroom.mark_changes import LOG_NAME, read_changes

    with told_in_sentences():
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
            say(f"No mark has moved: there is nothing in {LOG_NAME}.")


@click.command()
@chapters_argument
@everything_option
@click.option("--to", type=click.Choice(["canvas", "moodle", "csv"]), required=True, help="For which system.")
@click.option(
    "--output", metavar="FILE", type=PATH, help="Where to write it, - for stdout; by default grades-SYSTEM.csv."
)
@click.option("--roster", metavar="FILE", type=PATH, help="A file downloaded from there, to put the marks into.")
@click.option(
    "--column", "columns", metavar="CHAPTER=NAME", multiple=True, help="The column of that file for a chapter."
)
@students_option
@click.option(
    "--missing", type=click.Choice(["blank", "zero"]), help="For who handed in nothing; else c.Course.missing_marks."
)
@click.option("--partial", is_flag=True, help="Send the points so far where a mark waits for a person.")
@click.option("--bom", is_flag=True, help="Begin the file with a byte order mark, for Excel.")
@course_option
def export(
    chapters: Sequence[str],
    *,
    everything: bool,
    to: str,
    output: Path | None,
    roster: Path | None,
    columns: Sequence[str],
    students: Sequence[str],
    missing: str | None,
    partial: bool,
    bom: bool,
    course_folder: Path | None,
) -> None:
    """Write the marks in the gradebook as a file for Canvas, Moodle or a spreadsheet; what waits for a person is blank."""
    from autograder.classroom.export.formats import export_marks
    from autograder.classroom.export.gradebook import Policy, chapters_in
    from autograder.classroom.gradebook.entries import gradebook_url

    with told_in_sentences():
        course = load_course(course_folder)
        url = gradebook_url(course)
        asked = wanted(course, chapters, everything=everything)
        if everything and (there := set(chapters_in(url))):
            asked = [chapter for chapter in asked if chapter in there] or asked
        target = output or Path(f"grades-{to}.csv")
        done = export_marks(
            url,
            to,
            asked,
            students=students,
            policy=Policy("zero" if (missing or course.missing_marks) == "zero" else "blank", partial),
            roster=roster,
            columns=_columns(columns, asked),
            bom=bom,
            output=None if str(target) == "-" else target,
        )
        if str(target) == "-":
            sys.stdout.buffer.write(done.data)
        for remark in done.remarks:
            say(remark)
        if str(target) != "-":
            say(f"Marks of {', '.join(asked)} for {to} are in {target}.")


def _columns(given: Sequence[str], chapters: Sequence[str]) -> dict[str, str]:
    """What ``--column CHAPTER=NAME`` says; with one chapter, its name can be left out."""
    found = {}
    for text in given:
        chapter, sign, name = text.partition("=")
        if (not sign or chapter not in chapters) and len(chapters) == 1:
            chapter, name = chapters[0], text
        if chapter not in chapters or not name:
            raise CourseError(
                f"--column {text!r} names no chapter that is exported: write --column {chapters[0]}=NAME."
            )
        found[chapter] = name
    return found
