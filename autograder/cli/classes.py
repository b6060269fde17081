"""The verbs about a class that was graded: its marks as a table, a page about it, and a zip for Gradescope."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from autograder.base.errors import CourseError
from autograder.cli.common import chapters_argument, cores, course_option, everything_option, told_in_sentences, wanted
from autograder.cli.progress import say
from autograder.cli.verbs import PATH
from autograder.course.course import load_course

__all__ = ["gradescope", "marks", "report"]


@click.command()
@chapters_argument
@everything_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a table for a spreadsheet.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, an object for each student.")
@course_option
def marks(
    chapters: Sequence[str], *, everything: bool, as_csv: bool, as_json: bool, course_folder: Path | None
) -> None:
    """Show the marks of a class as a table: a row for each student, a column for each chapter."""
    from autograder.classroom.class_marks import class_marks
    from autograder.classroom.marks_table import marks_csv, marks_json, marks_text

    with told_in_sentences():
        if as_csv and as_json:
            raise CourseError("--csv and --json both say what to print: say one of them.")
        course = load_course(course_folder)
        found = class_marks(course, wanted(course, chapters, everything=everything))
        if as_csv:
            sys.stdout.write(marks_csv(found))
        elif as_json:
            click.echo(json.dumps(marks_json(found), ensure_ascii=False, indent=2))
        else:
            # A pipe is no terminal: what reads it finds each student on one line.
            width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
            click.echo(marks_text(found, width))


@click.command()
@chapters_argument
@everything_option
@click.option("--output", "-o", metavar="FILE", type=PATH, help="Where the page goes; by default below .autograder/.")
@click.option("--hide-names", is_flag=True, help="Call students by numbers: no name, id or address is in the page.")
@click.option("--json", "as_json", is_flag=True, help="Print what the page shows as JSON, an object for each chapter.")
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
    """Make a page about a class: its marks, mistakes and exercises, and who needs somebody."""
    from autograder.base.files import write_atomically
    from autograder.classroom.class_marks import class_marks
    from autograder.course.secret import course_secret
    from autograder.extras.report.content import reports_of
    from autograder.extras.report.names import Names

    with told_in_sentences():
        course = load_course(course_folder)
        asked = wanted(course, chapters, everything=everything)
        found = class_marks(course, asked)
        if not any(one.of("graded", "waiting", "ungradable") for one in found):
            raise CourseError(
                f"Nothing of {', '.join(asked)} has been graded yet, so there is nothing to report. Run `autograder grade {asked[0]}` first."
            )
        students = {student for one in found for student in one.marks}
        names = Names(
            students, found[0].people, hidden=hide_names, secret=course_secret(course).hex() if hide_names else ""
        )
        reports = reports_of(course, found, cores())
        if as_json:
            click.echo(json.dumps([one.to_json(names) for one in reports], ensure_ascii=False, indent=2))
        if output is not None or not as_json:
            from autograder.extras.report.page import report_page

            name = "all" if everything else "-".join(asked)
            path = output or course.state("report", f"{name}{'-without-names' if hide_names else ''}.html")
            if path.is_dir():
                raise CourseError(f"{path} is a folder: name a file for the page, such as {path / 'report.html'}.")
            made_at = dt.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
            page = report_page(course.title or course.course_id, reports, names, made_at)
            # With names it is for those who teach the class, and not for whoever else has an account here.
            write_atomically(path, page.encode("utf-8", "replace"), 0o644 if hide_names else 0o600)
            say(f"The page is {path}.")


@click.command()
@click.argument("chapter")
@click.option("--output", "-o", metavar="FILE.zip", type=PATH, help="Where the zip goes; by default into this folder.")
@click.option(
    "--hidden-checks",
    type=click.Choice(["visible", "after_due_date", "after_published", "hidden"]),
    default="after_published",
    show_default=True,
    help="When students see the checks that they cannot run themselves.",
)
@click.option("--unsafe-local", is_flag=True, help="Grade even where the container offers no confinement.")
@course_option
def gradescope(
    chapter: str, *, output: Path | None, hidden_checks: str, unsafe_local: bool, course_folder: Path | None
) -> None:
    """Make the zip by which Gradescope grades a chapter; it holds the checks and the secret, so it goes there only."""
    from autograder.extras.gradescope.bundle import bundle

    with told_in_sentences():
        course = load_course(course_folder)
        path = output or Path(f"{course.require_chapter(chapter)}-gradescope.zip")
        if path.is_dir():
            raise CourseError(f"{path} is a folder: name a file for the zip, such as {path / f'{chapter}.zip'}.")
        if unsafe_local:
            say(
                "UNSAFE: where the container offers no confinement, a student's code can read the checks and write its own mark."
            )
        bundle(course, chapter, path, hidden=hidden_checks, unsafe_local=unsafe_local)
        say(
            f"The zip is {path}. It holds the checks, the solutions and the course's secret: upload it to Gradescope, and give it to nobody."
        )
