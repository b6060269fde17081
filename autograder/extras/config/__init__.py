"""The command that prints a course's settings."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path

import click

from autograder.cli.commands import PlacedCommand, course_option, report_errors
from autograder.course.course import load_course

__all__ = ["config"]


@click.command(cls=PlacedCommand, section="To write and maintain a course", after="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, with an object for each setting.")
@course_option
def config(*, as_json: bool, course_folder: Path | None) -> None:
    """Print every setting: its value, its meaning, and where it was set."""
    from autograder.extras.config.settings import settings_of

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
