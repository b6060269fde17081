"""Commands that move submissions and feedback pages between a course folder and Canvas or Moodle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from autograder.base.errors import CourseError
from autograder.cli.commands import PATH, PlacedCommand, course_option, json_option, report_errors
from autograder.cli.output import echo_status
from autograder.course.course import load_course

if TYPE_CHECKING:
    from autograder.extras.lms.downloads import System

__all__ = ["collect"]


@click.command(cls=PlacedCommand, section="To teach", after="release")
@click.argument("chapter")
@click.argument("download", metavar="DOWNLOAD", type=PATH)
@click.option(
    "--from",
    "system",
    type=click.Choice(["canvas", "moodle", "folder"]),
    required=True,
    help="The system that the files come from.",
)
@click.option(
    "--roster",
    metavar="FILE",
    type=PATH,
    help="Canvas's gradebook or Moodle's worksheet, which identifies the students.",
)
@click.option("--url", help="The course's URL in Canvas. With it, submission times are read through Canvas's API.")
@click.option("--column", metavar="NAME", help="With --url: the assignment's name in Canvas. Default: the chapter.")
@click.option("--add", is_flag=True, help="Enter unknown students in the gradebook.")
@click.option("--force", is_flag=True, help="Also replace notebooks that are newer or came from elsewhere.")
@json_option
@course_option
def collect(
    chapter: str,
    download: Path,
    *,
    system: System,
    roster: Path | None,
    url: str | None,
    column: str | None,
    add: bool,
    force: bool,
    as_json: bool,
    course_folder: Path | None,
) -> None:
    """Collect the submissions in a zip file or folder from Canvas, Moodle or elsewhere. A second run changes nothing."""
    from autograder.extras.export.canvas_api import submission_times
    from autograder.extras.lms.collecting import collect as run
    from autograder.extras.lms.collecting import report

    with report_errors():
        course = load_course(course_folder)
        course.require_chapter(chapter)
        if url and system != "canvas":
            raise CourseError("--url works only with --from canvas.")
        times = submission_times(url, chapter, column or chapter) if url else {}
        done = run(course, chapter, download, system, roster=roster, times=times, add=add, force=force)
        if as_json:
            click.echo(
                json.dumps([{"chapter": chapter, **one.to_json()} for one in done], ensure_ascii=False, indent=1)
            )
        echo_status(report(done, chapter))
        if any(one.status in {"unknown", "rejected", "kept"} for one in done):
            raise Exit(1)
