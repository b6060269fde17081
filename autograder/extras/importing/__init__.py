"""The command that imports an instructor's notebook for nbgrader or Otter as a chapter: source notebook, solutions and checks."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.cli.commands import PATH, PlacedCommand, confinement, report_errors, unsafe_option
from autograder.course.course import load_course

__all__ = ["import_"]


@click.command("import", cls=PlacedCommand, section="To write and maintain a course", after="demo")
@click.argument("notebook", type=PATH)
@click.option("--chapter", metavar="NAME", help="The name of the new chapter. Default: the file's name.")
@click.option(
    "--into",
    "--course",
    "course_folder",
    metavar="FOLDER",
    type=PATH,
    help="The course folder. Default: the current folder or the nearest course folder above it.",
)
@unsafe_option
def import_(notebook: Path, *, chapter: str | None, course_folder: Path | None, unsafe_local: bool) -> None:
    """Import an instructor's notebook for nbgrader or Otter as a chapter, and list what cannot be imported."""
    from autograder.extras.importing.import_run import import_notebook

    with report_errors(" Nothing was written."):
        course = load_course(course_folder)
        confinement(unsafe_local=unsafe_local)
        click.echo(str(import_notebook(course, notebook, chapter, unsafe_local=unsafe_local)))
