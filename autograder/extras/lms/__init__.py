"""Submissions and feedback pages on their way between a course folder and Canvas or Moodle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from autograder.cli.commands import PATH, PlacedCommand, course_option, json_option, report_errors
from autograder.cli.output import echo_status, group_messages
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
    help="Where the files come from.",
)
@click.option(
    "--roster", metavar="FILE", type=PATH, help="Canvas's gradebook or Moodle's worksheet, which says who is who."
)
@click.option("--add", is_flag=True, help="Enter unknown students in the gradebook.")
@click.option("--force", is_flag=True, help="Also replace notebooks that came in another way or are later.")
@json_option
@course_option
def collect(
    chapter: str,
    download: Path,
    *,
    system: System,
    roster: Path | None,
    add: bool,
    force: bool,
    as_json: bool,
    course_folder: Path | None,
) -> None:
    """Collect the submissions in a zip file or folder from Canvas, Moodle or elsewhere. Running it again changes nothing."""
    from autograder.extras.lms.collecting import collect as run
    from autograder.extras.lms.collecting import summary

    with report_errors():
        course = load_course(course_folder)
        course.require_chapter(chapter)
        done = run(course, chapter, download, system, roster=roster, add=add, force=force)
        if as_json:
            click.echo(
                json.dumps([{"chapter": chapter, **one.to_json()} for one in done], ensure_ascii=False, indent=1)
            )
        echo_status(summary(done, chapter))
        notes = [(note, one.student) for one in done for note in one.notes if one.status != "unchanged"]
        if text := group_messages([*notes, *((one.reason, one.student) for one in done)]):
            echo_status(text)
        if any(one.status in {"unknown", "rejected", "kept"} for one in done):
            raise Exit(1)
