"""Commands that report on a graded class, without grading anything."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from autograder.base.errors import CourseError
from autograder.cli.commands import (
    PATH,
    PlacedCommand,
    chapters_argument,
    cores,
    course_option,
    everything_option,
    report_errors,
    selected_chapters,
)
from autograder.cli.output import echo_status
from autograder.course.course import Course, load_course

if TYPE_CHECKING:
    from autograder.extras.report.class_marks import ChapterMarks

__all__ = ["marks", "report"]


@click.command(cls=PlacedCommand, section="To teach", after="marks")
@chapters_argument
@everything_option
@click.option("--output", "-o", metavar="FILE", type=PATH, help="The file to write. Default: a page in .autograder/.")
@click.option("--hide-names", is_flag=True, help="Replace students' names, ids and addresses with numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print the page's data as JSON, with an object for each chapter.")
@course_option
def report(
    chapters: Sequence[str],
    *,
    everything: bool,
    output: Path | None,
    hide_names: bool,
    as_json: bool,
    course_folder: Path | None,
) -> None:
    """Create a page about a class: its marks, mistakes and exercises, and students who may need help."""
    from autograder.base.files import write_atomically
    from autograder.classroom.delivery import folder_of
    from autograder.course.secret import course_secret
    from autograder.extras.report.class_marks import class_marks
    from autograder.extras.report.content import Names, reports_of

    with report_errors():
        course = load_course(course_folder)
        asked = selected_chapters(course, chapters, everything=everything)
        found = class_marks(course, asked)
        if everything:
            found = _given_out(course, found)
        if not any(one.of("graded", "waiting", "ungradable") for one in found):
            raise CourseError(
                f"No submission for {', '.join(asked)} has been graded yet, so there is nothing to report. Run `autograder grade {asked[0]}` first."
            )
        students = {student for one in found for student in one.marks}
        names = Names(
            students, found[0].people, hidden=hide_names, secret=course_secret(course).hex() if hide_names else ""
        )
        reports = reports_of(course, found, cores())
        if as_json:
            click.echo(json.dumps([one.to_json(names) for one in reports], ensure_ascii=False, indent=2))
        if output is not None or not as_json:
            from autograder.extras.report.report_page import report_page

            name = "all" if everything else "-".join(asked)
            path = output or course.state("report", f"{name}{'-without-names' if hide_names else ''}.html")
            if path.is_dir():
                raise CourseError(f"{path} is a folder. Give the page a file name, such as {path / 'report.html'}.")
            made_at = dt.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
            links = {}
            for chapter in asked:
                for student in students:
                    feedback = folder_of(course, "feedback") / student / chapter / f"{chapter}.html"
                    if feedback.is_file():
                        there = os.path.relpath(feedback.resolve(), path.parent.resolve())
                        links[chapter, student] = quote(Path(there).as_posix())
            page = report_page(course.title or course.course_id, reports, names, made_at, links)
            # A page with names is private: other accounts on this machine may not read it.
            write_atomically(path, page.encode("utf-8", "replace"), 0o644 if hide_names else 0o600)
            echo_status(f"The page was written to {path}.")


@click.command(cls=PlacedCommand, section="To teach", after="feedback")
@chapters_argument
@everything_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a table for a spreadsheet.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, with an object for each student.")
@course_option
def marks(
    chapters: Sequence[str], *, everything: bool, as_csv: bool, as_json: bool, course_folder: Path | None
) -> None:
    """Show a class's marks as a table, with one row per student and one column per chapter."""
    from autograder.extras.report.class_marks import class_marks
    from autograder.extras.report.marks_table import marks_csv, marks_json, marks_text

    with report_errors():
        if as_csv and as_json:
            raise CourseError("Use --csv or --json, not both.")
        course = load_course(course_folder)
        found = class_marks(course, selected_chapters(course, chapters, everything=everything))
        if everything:
            found = _given_out(course, found)
        if as_csv:
            sys.stdout.write(marks_csv(found))
        elif as_json:
            click.echo(json.dumps(marks_json(found), ensure_ascii=False, indent=2))
        else:
            # A program that reads the output gets one line per student.
            width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
            click.echo(marks_text(found, width))


def _given_out(course: Course, found: Sequence[ChapterMarks]) -> list[ChapterMarks]:
    """Return ``found`` without the chapters that students do not have yet, and print the names of these chapters."""
    from autograder.extras.report.class_marks import given_out

    out, other = given_out(course, found)
    if other:
        echo_status(
            f"These chapters are left out, because they are not released and have no submissions: {', '.join(other)}."
        )
    return out
