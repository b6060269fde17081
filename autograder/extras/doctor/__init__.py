"""The command that checks whether this machine and a course are ready for grading."""

from __future__ import annotations

import json
from pathlib import Path

import click
from click.exceptions import Exit

from autograder.cli.commands import PlacedCommand, course_option, report_errors
from autograder.course.course import find_course, load_course

__all__ = ["doctor"]


@click.command(cls=PlacedCommand, section="To write and maintain a course", after="examples")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, to stdout.")
@course_option
def doctor(*, as_json: bool, course_folder: Path | None) -> None:
    """Check this machine and course for problems, and suggest fixes."""
    from autograder.extras.doctor.readiness import as_data, report

    with report_errors():
        course = load_course(course_folder) if course_folder or find_course() else None
        if not as_json:
            raise Exit(0 if report(course=course) else 1)
        found = as_data(course)
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        raise Exit(0 if found["ready"] else 1)
