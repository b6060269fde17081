"""The verb that makes a site of the course."""

from collections.abc import Sequence
from pathlib import Path

import click

from autograder.cli.common import chapters_argument, course_option, told_in_sentences
from autograder.cli.progress import say
from autograder.cli.verbs import PATH
from autograder.course.course import load_course

__all__ = ["site"]


@click.command()
@chapters_argument
@click.option(
    "--output-dir",
    "output",
    metavar="DIR",
    type=PATH,
    required=True,
    help="The site's folder: a new one, or one made before.",
)
@click.option(
    "--pyodide",
    metavar="DIR",
    type=PATH,
    help="A folder with a Pyodide distribution: the site then asks no other server for anything.",
)
@course_option
def site(chapters: Sequence[str], *, output: Path, pyodide: Path | None, course_folder: Path | None) -> None:
    """Make a site of the course, or of some chapters, which runs in a browser with nothing installed."""
    from autograder.extras.site import build_site

    with told_in_sentences():
        made = build_site(load_course(course_folder), output, chapters, pyodide=pyodide, say=say)
        say(
            f"The site is {made}: put it on any web server. To look at it here: python -m http.server --directory {made}"
        )
