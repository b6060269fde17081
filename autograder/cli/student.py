"""The command line of a student's installation: ``start``, ``check`` and the registered ``watch``.

It imports no module of the instructor's distribution.
"""

import shlex
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

import click
from click.exceptions import Exit

from autograder import __version__
from autograder.cli import commands

__all__ = ["app", "start"]

# A student who types one of these has probably read a page for instructors, so the message says how to install them.
INSTRUCTORS = {
    "site", "release", "grade", "feedback", "marks", "report", "export", "export-student", "extend", "forget", "log", "roster", "collect", "gradescope", "audit", "examples", "doctor",
    "config", "demo", "new", "new-exercise", "stubs", "import",
}  # fmt: skip


class _StudentCommands(commands.CommandGroup):
    """A group of students' commands that says how to install an instructor's command."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command called ``cmd_name``. Raises ``UsageError`` for an instructor's command."""
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in INSTRUCTORS:
            _not_installed(cmd_name)
        return found


def _not_installed(command: str) -> NoReturn:
    raise click.UsageError(
        f"`autograder {command}` is for instructors and is not installed here. "
        f'To get it: pip install "nbautograder[instructor]=={__version__}"'
    )


@click.group(cls=_StudentCommands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(
    __version__, "--version", "-V", message="autograder %(version)s", help="Print the version and stop."
)
def app() -> None:
    """Check exercises in Jupyter notebooks, and see immediately what passes, what fails, and why."""


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=commands.PATH)
@click.option("--no-open", is_flag=True, help="Set up the course without opening JupyterLab.")
@click.option(
    "--lab", metavar="OPTIONS", default="", help="Options for JupyterLab, such as --lab '--no-browser --port=8890'."
)
@click.pass_context
def start(ctx: click.Context, folder: Path | None, *, no_open: bool, lab: str) -> None:
    """Set up the course in your own folder and open its map in JupyterLab. Your work is never overwritten."""
    from autograder.student.terminal import starting

    commands.end_in_order()
    with commands.friendly_errors():
        # In `obj`, the instructor's command line stores a function that calls `handout`. The student's stores nothing.
        options = None if no_open else shlex.split(lab)
        raise Exit(starting.start(folder, lab=options, say=click.echo, hand_out=ctx.find_root().obj))


@click.command()
@commands.notebooks_argument
@commands.exercise_option
@click.option("--visible", is_flag=True, help="Run only the checks that students see. There are no other checks here.")
@commands.json_option
@commands.unsafe_option
def check(notebooks: Sequence[Path], *, exercise: str | None, visible: bool, as_json: bool, unsafe_local: bool) -> None:
    """Check notebook files with the examples that were released with them."""
    from autograder.cli.output import grading_progress, print_results, verdict_text
    from autograder.student.terminal.checking import asking_for_unsafe_local, check_by_examples

    del visible
    only, began, many = {exercise} if exercise else None, time.monotonic(), len(notebooks) > 1

    with commands.friendly_errors(), asking_for_unsafe_local(notebooks):
        how = commands.confinement(unsafe_local=unsafe_local)
        with grading_progress(len(notebooks), "Checking") if many else nullcontext(lambda _verdict: None) as tick:
            verdicts = check_by_examples(notebooks, only, how, tick)
    if not as_json:
        click.echo("\n\n".join(verdict_text(verdict) for verdict in verdicts))
    print_results(verdicts, time.monotonic() - began, as_json=as_json, brief=not many)


app.add_section("To learn", [start, check])
