"""The whole command line: all commands, in the order in which a course needs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from autograder import __version__
from autograder.cli.authoring import audit, examples, new, release
from autograder.cli.commands import CommandGroup
from autograder.cli.grading import check, feedback, grade, log, roster
from autograder.cli.student import start

__all__ = ["app"]


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
# `autograder --version` alone is handled in autograder.cli, before this module is imported.
@click.version_option(
    __version__, "--version", "-V", message="autograder %(version)s", help="Print the version and stop."
)
@click.pass_context
def app(ctx: click.Context) -> None:
    """Grade Jupyter exercises in a sandbox, and explain students' mistakes."""
    ctx.obj = _hand_out  # `start` calls this. A student's installation has no such function


def _hand_out(course: Path, say: Callable[[str], None]) -> Path:
    from autograder.authoring.release.run import handout

    return handout(course, say)


app.add_section("To learn", [start, check])
app.add_section("To teach", [release, grade, feedback, log, roster])
app.add_section("To write and maintain a course", [new, audit, examples])
