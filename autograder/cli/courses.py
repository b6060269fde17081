"""Commands about a course itself: its problems, its settings and its class list."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path

import click
from click.exceptions import Exit

from autograder.base.formatting import pluralize
from autograder.cli.commands import PATH, course_option, report_errors
from autograder.cli.output import echo_status
from autograder.course.course import find_course, load_course

__all__ = ["config", "doctor", "roster"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, to stdout.")
@course_option
def doctor(*, as_json: bool, course_folder: Path | None) -> None:
    """Check this machine and course for problems, and suggest fixes."""
    from autograder.cli.doctor import as_data, report

    with report_errors():
        course = load_course(course_folder) if course_folder or find_course() else None
        if not as_json:
            raise Exit(0 if report(course=course) else 1)
        found = as_data(course)
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        raise Exit(0 if found["ready"] else 1)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, with an object for each setting.")
@course_option
def config(*, as_json: bool, course_folder: Path | None) -> None:
    """Print every setting: its value, its meaning, and where it was set."""
    from autograder.course.settings import settings_of

    with report_errors():
        found = settings_of(load_course(course_folder))
        if as_json:
            click.echo(json.dumps([one.to_json() for one in found], ensure_ascii=False, indent=2, default=str))
            return
        width = max(min(shutil.get_terminal_size().columns, 110), 40) if sys.stdout.isatty() else 110
        for one in found:
            other = "" if one.value == one.default else f", default {one.default!r}"
            head = f"{one.name} = {one.value!r}   ({one.where}{other})"
            click.echo(textwrap.fill(head, width, subsequent_indent="    ", break_on_hyphens=False))
            click.echo(textwrap.fill(one.help, width, initial_indent="    ", subsequent_indent="    "))


@click.command()
@click.argument("file", metavar="STUDENTS.csv", type=PATH)
@course_option
def roster(file: Path, *, course_folder: Path | None) -> None:
    """Check a class list and enter it in the gradebook. A list with an error is not entered at all."""
    from autograder.classroom.gradebook.people import enter_roster, read_roster

    with report_errors():
        course = load_course(course_folder)
        people, ignored = read_roster(file)
        new, changed = enter_roster(course, people)
        if ignored:
            echo_status(f"Ignored: the column{'s' if len(ignored) > 1 else ''} {', '.join(ignored)}.")
        echo_status(f"{pluralize(len(people), 'student')} in {file}: {new} added to the gradebook, {changed} changed.")
