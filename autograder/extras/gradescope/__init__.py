"""Grading on Gradescope: the command that creates a chapter's zip file, and the program that grades in Gradescope's container."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.base.errors import CourseError
from autograder.cli.commands import PATH, PlacedCommand, course_option, report_errors
from autograder.cli.output import echo_status
from autograder.course.course import load_course

__all__ = ["gradescope"]


@click.command(cls=PlacedCommand, section="To teach", after="roster")
@click.argument("chapter")
@click.option(
    "--output", "-o", metavar="FILE.zip", type=PATH, help="The zip file to write. Default: in the current folder."
)
@click.option(
    "--hidden-checks",
    type=click.Choice(["visible", "after_due_date", "after_published", "hidden"]),
    default="after_published",
    show_default=True,
    help="When students see the hidden checks.",
)
@click.option("--unsafe-local", is_flag=True, help="Grade even if the container has no sandbox.")
@course_option
def gradescope(
    chapter: str, *, output: Path | None, hidden_checks: str, unsafe_local: bool, course_folder: Path | None
) -> None:
    """Create the zip file that Gradescope uses to grade a chapter. It contains the checks and the secret, so do not share it."""
    from autograder.extras.gradescope.bundle import bundle

    with report_errors():
        course = load_course(course_folder)
        path = output or Path(f"{course.require_chapter(chapter)}-gradescope.zip")
        if path.is_dir():
            raise CourseError(f"{path} is a folder. Give the zip a file name, such as {path / f'{chapter}.zip'}.")
        if unsafe_local:
            echo_status(
                "UNSAFE: if the container has no sandbox, a student's code can read the checks and write its own mark."
            )
        bundle(course, chapter, path, hidden=hidden_checks, unsafe_local=unsafe_local)
        echo_status(
            f"The zip file is {path}. It contains the checks, the solutions and the course's secret. Upload it to Gradescope, and do not share it with anyone else."
        )
