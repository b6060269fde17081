"""The command that enters a class list."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.base.formatting import pluralize
from autograder.cli.commands import PATH, course_option, report_errors
from autograder.cli.output import echo_status
from autograder.course.course import load_course

__all__ = ["roster"]


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
