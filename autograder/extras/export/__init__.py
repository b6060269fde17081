"""Marks as files for Canvas, Moodle and spreadsheets, and a downloaded file with the marks put into it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

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

__all__ = ["export"]


@click.command(cls=PlacedCommand, section="To teach", after="marks")
@chapters_argument
@everything_option
@click.option("--to", type=click.Choice(["canvas", "moodle", "csv"]), required=True, help="The system to export for.")
@click.option(
    "--output", metavar="FILE", type=PATH, help="The file to write, or - for stdout. Default: grades-SYSTEM.csv."
)
@click.option("--roster", metavar="FILE", type=PATH, help="A file downloaded from that system, to add the marks to.")
@click.option(
    "--column", "columns", metavar="CHAPTER=NAME", multiple=True, help="The column of that file for a chapter."
)
@students_option
@click.option(
    "--missing",
    type=click.Choice(["blank", "zero"]),
    help="How to export missing submissions (default: c.Course.missing_marks).",
)
@click.option("--partial", is_flag=True, help="Export the points so far if a mark needs manual grading.")
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
    """Export the gradebook's marks for Canvas, Moodle or a spreadsheet. Marks awaiting manual grading are left blank."""
    from autograder.classroom.gradebook.entries import gradebook_url
    from autograder.extras.export.formats import export_marks
    from autograder.extras.export.gradebook import Policy, chapters_in

    with report_errors():
        course = load_course(course_folder)
        url = gradebook_url(course)
        asked = selected_chapters(course, chapters, everything=everything)
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
            echo_status(remark)
        if str(target) != "-":
            echo_status(f"Marks of {', '.join(asked)} for {to} are in {target}.")


def _columns(given: Sequence[str], chapters: Sequence[str]) -> dict[str, str]:
    """Return the column of each chapter in ``--column CHAPTER=NAME``. With one chapter, its name may be omitted."""
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
