"""The whole command line: all commands, in the order in which a course needs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from autograder import __version__
from autograder.cli.authoring import audit, examples, new, release, stubs
from autograder.cli.commands import CommandGroup
from autograder.cli.courses import roster
from autograder.cli.entry_points import load_commands
from autograder.cli.grading import check, feedback, grade, log
from autograder.cli.student import start, watch

__all__ = ["app"]


class _AllCommands(CommandGroup):
    """The core's commands and the registered ones of other packages, each loaded only if needed."""

    _loaded = False

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command called ``cmd_name``. A registered command never replaces one of the core's."""
        if cmd_name not in self.commands:
            self._load()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        """Return the names of all commands in the order of the help text."""
        self._load()
        return super().list_commands(ctx)

    def _load(self) -> None:
        if not self._loaded:
            self._loaded = True
            registered = [command for command in load_commands() if command.name not in self.commands]
            names = {command.name for command in registered}
            # A command that is listed below another registered one is placed later.
            for command in sorted(registered, key=lambda command: getattr(command, "after", "") in names):
                self.place(command)


@click.group(cls=_AllCommands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
# `autograder --version` alone is handled in autograder.cli, before this module is imported.
@click.version_option(
    __version__, "--version", "-V", message="autograder %(version)s", help="Print the version and stop."
)
@click.pass_context
def app(ctx: click.Context) -> None:
    """Autograded Jupyter exercises: sandboxed, fast, and with measured accuracy."""
    ctx.obj = _hand_out  # for `start`, since a student's installation cannot do this


def _hand_out(course: Path, say: Callable[[str], None]) -> Path:
    from autograder.authoring.release.run import handout

    return handout(course, say)


app.add_section("To learn", [start, watch, check])
app.add_section("To teach", [release, grade, feedback, log, roster])
app.add_section("To write and maintain a course", [new, stubs, audit, examples])
