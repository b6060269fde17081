"""The command that exports marks for Canvas, Moodle and spreadsheets, as new files, in downloaded files or through Canvas's API."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.base.errors import CourseError
from autograder.cli.commands import (
    PATH,
    PlacedCommand,
    chapters_argument,
    course_option,
    everything_option,
    report_errors,
    selected_chapters,
    students_option,
)
from autograder.cli.output import echo_status
from autograder.course.course import load_course

if TYPE_CHECKING:
    from autograder.extras.export.roster import Scale

__all__ = ["export"]


@click.command(cls=PlacedCommand, section="To teach", after="marks")
@chapters_argument
@everything_option
@click.option("--to", type=click.Choice(["canvas", "moodle", "csv"]), help="The system to write the file for.")
@click.option(
    "--push",
    type=click.Choice(["canvas"]),
    help="Instead of writing a file, enter the marks through this system's API.",
)
@click.option(
    "--output", "-o", metavar="FILE", type=PATH, help="The file to write, or - for stdout. Default: grades-SYSTEM.csv."
)
@click.option(
    "--roster",
    metavar="FILE",
    type=PATH,
    help="A file downloaded from the system. The marks are added to its contents.",
)
@click.option(
    "--column", "columns", metavar="CHAPTER=NAME", multiple=True, help="The column for a chapter in the --roster file."
)
@students_option
@click.option(
    "--missing",
    type=click.Choice(["blank", "zero"]),
    help="How to export missing submissions (default: c.Course.missing_marks).",
)
@click.option("--scale", is_flag=True, help="Convert the marks if the system has different points for a chapter.")
@click.option(
    "--as-is", is_flag=True, help="Export the marks unchanged if the system has different points for a chapter."
)
@click.option("--partial", is_flag=True, help="Export the points so far if a mark needs manual grading.")
@click.option("--bom", is_flag=True, help="Begin the file with a byte order mark, for Excel.")
@click.option(
    "--url",
    envvar="CANVAS_COURSE_URL",
    help="With --push: the course's address, such as https://canvas.example.edu/courses/17. Default: CANVAS_COURSE_URL.",
)
@click.option(
    "--send",
    is_flag=True,
    help="With --push: enter the marks after you confirm. Without --send, changes are only shown.",
)
@click.option("--yes", is_flag=True, help="With --send: do not ask for confirmation.")
@course_option
def export(
    chapters: Sequence[str],
    *,
    everything: bool,
    to: str | None,
    push: str | None,
    output: Path | None,
    roster: Path | None,
    columns: Sequence[str],
    students: Sequence[str],
    missing: str | None,
    scale: bool,
    as_is: bool,
    partial: bool,
    bom: bool,
    url: str | None,
    send: bool,
    yes: bool,
    course_folder: Path | None,
) -> None:
    """Export the gradebook's marks for Canvas, Moodle or a spreadsheet. Marks awaiting manual grading are left blank."""
    from autograder.classroom.gradebook.entries import gradebook_url
    from autograder.extras.export.formats import export_marks
    from autograder.extras.export.gradebook import Policy, chapters_in, read_class

    with report_errors():
        if (to is None) == (push is None):
            raise CourseError("Use --to to write a file, or --push to enter the marks through an API.")
        if scale and as_is:
            raise CourseError("Use --scale or --as-is, not both.")
        course = load_course(course_folder)
        book = gradebook_url(course)
        asked = selected_chapters(course, chapters, everything=everything)
        if everything and (there := set(chapters_in(book))):
            asked = [chapter for chapter in asked if chapter in there] or asked
        policy = Policy("zero" if (missing or course.missing_marks) == "zero" else "blank", partial)
        names = _columns(columns, asked)
        points: Scale = "scale" if scale else "as-is" if as_is else ""
        if to is None:
            from autograder.extras.export.canvas_api import push_marks

            push_marks(read_class(book, asked, students, policy), url or "", names, points, send=send, yes=yes)
            return
        target = output or Path(f"grades-{to}.csv")
        done = export_marks(
            book,
            to,
            asked,
            students=students,
            policy=policy,
            roster=roster,
            columns=names,
            bom=bom,
            output=None if str(target) == "-" else target,
            scale=points,
        )
        if str(target) == "-":
            sys.stdout.buffer.write(done.data)
        for remark in done.remarks:
            echo_status(remark)
        if str(target) != "-":
            echo_status(f"The marks of {', '.join(asked)} for {to} are in {target}.")


def _columns(given: Sequence[str], chapters: Sequence[str]) -> dict[str, str]:
    """Parse ``CHAPTER=NAME`` values into the column name of each chapter. If only one chapter is exported, ``NAME`` is enough."""
    found = {}
    for text in given:
        chapter, sign, name = text.partition("=")
        if (not sign or chapter not in chapters) and len(chapters) == 1:
            chapter, name = chapters[0], text
        if chapter not in chapters or not name:
            raise CourseError(
                f"--column {text!r} does not name an exported chapter. Write --column {chapters[0]}=NAME."
            )
        found[chapter] = name
    return found
