"""Commands to export or remove all data of one student."""

from __future__ import annotations

import json
from pathlib import Path

import click

from autograder.base.errors import CourseError
from autograder.base.sanitize import sanitize
from autograder.cli.commands import PATH, PlacedCommand, course_option, report_errors
from autograder.cli.output import echo_status
from autograder.course.course import load_course

__all__ = ["export_student", "forget"]

dry_option = click.option("--dry-run", is_flag=True, help="Only list what is stored, and change nothing.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object with every place that has the student's data."
)


@click.command(cls=PlacedCommand, section="To teach", after="roster")
@click.argument("student")
@dry_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@course_option
def forget(student: str, *, dry_run: bool, yes: bool, as_json: bool, course_folder: Path | None) -> None:
    """Remove everything that a course stores about one student: files, marks, stored results and log entries."""
    from autograder.extras.privacy.student_data import find_data, remove_data

    with report_errors():
        course = load_course(course_folder)
        data = find_data(course, student)
        if as_json:
            click.echo(json.dumps({**data.to_json(), "removed": not dry_run}, ensure_ascii=False, indent=2))
        else:
            click.echo(data.text)
        if dry_run:
            echo_status("Nothing was removed.")
            return
        if not yes and not click.confirm(
            f"Remove all of this data about {sanitize(student)}? You cannot undo this", err=True
        ):
            raise CourseError("Nothing was removed.")
        remove_data(course, data)
        echo_status(f"All of this data about {sanitize(student)} was removed from the course.")


@click.command("export-student", cls=PlacedCommand, section="To teach", after="roster")
@click.argument("student")
@click.option("--output", "-o", metavar="FILE.zip", type=PATH, help="The zip file to write. Default: STUDENT.zip.")
@dry_option
@json_option
@course_option
def export_student(
    student: str, *, output: Path | None, dry_run: bool, as_json: bool, course_folder: Path | None
) -> None:
    """Write everything that a course has about one student into a zip file."""
    from autograder.extras.privacy.student_data import export_data, find_data

    with report_errors():
        course = load_course(course_folder)
        data = find_data(course, student)
        path = output or Path(f"{student}.zip")
        if path.exists() and not dry_run:
            raise CourseError(f"{path} already exists. Move it away, or choose another file with --output.")
        if as_json:
            click.echo(json.dumps({**data.to_json(), "written": not dry_run}, ensure_ascii=False, indent=2))
        else:
            click.echo(data.text)
        if dry_run:
            echo_status("Nothing was written.")
            return
        export_data(data, path)
        echo_status(f"The data is in {path}. It is personal data, so only you can read the file.")
