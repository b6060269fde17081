"""The command that builds a course as a JupyterLite site, in which notebooks run in a browser without any installation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from autograder.cli.commands import PATH, PlacedCommand, chapters_argument, course_option, report_errors
from autograder.cli.output import echo_status
from autograder.course.course import load_course

__all__ = ["site"]


@click.command(cls=PlacedCommand, section="To learn", after="check")
@chapters_argument
@click.option(
    "--output-dir",
    "output",
    metavar="DIR",
    type=PATH,
    required=True,
    help="The output folder: a new folder, or the folder of an earlier site.",
)
@click.option(
    "--pyodide",
    metavar="DIR",
    type=PATH,
    help="A folder with a Pyodide distribution. The site then needs no other server.",
)
@course_option
def site(chapters: Sequence[str], *, output: Path, pyodide: Path | None, course_folder: Path | None) -> None:
    """Build the course, or some chapters, as a website. It runs in a browser without any installation."""
    from autograder.extras.site.build import build_site

    with report_errors():
        made = build_site(load_course(course_folder), output, chapters, pyodide=pyodide, say=echo_status)
        echo_status(
            f"The site is in {made}. Upload it to any web server. To view it here: python -m http.server --directory {made}"
        )
