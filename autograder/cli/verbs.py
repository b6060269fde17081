"""What the student's and the instructor's command line have in common: how verbs are listed, and options."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["PATH", "Verbs"]

PATH = click.Path(path_type=Path)


class Verbs(click.Group):
    """Verbs listed in the order in which they were added, each with its whole sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in that order."""
        del ctx
        return list(self.commands)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a verb."""
        cmd.short_help = cmd.help  # which Click would cut to one line
        super().add_command(cmd, name)
