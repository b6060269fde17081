"""Commands, graders and packers that installed distributions register through entry points.

A distribution names a Click command in the group ``autograder.commands``, and a function that makes an ``Executor`` in the
group ``autograder.graders``. A function in ``autograder.packers`` packs the feedback of a class for another system.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from autograder.base.errors import UnavailableError

__all__ = ["PACKERS", "load_commands", "load_grader"]

COMMANDS, GRADERS, PACKERS = "autograder.commands", "autograder.graders", "autograder.packers"


def load_commands(only: str | None = None) -> list[click.Command]:
    """Load the registered commands in the order of their names, or ``only`` one. Report and skip those that cannot be loaded."""
    found = []
    for name, point in sorted(_registered(COMMANDS).items()):
        if only not in {None, name}:
            continue
        try:
            command = point.load()
        except Exception as error:  # noqa: BLE001 - another distribution's code may raise anything
            click.echo(f"`autograder {name}` ({point.value}) cannot be loaded: {error}", err=True)
            continue
        if isinstance(command, click.Command):
            found.append(command)
        else:
            click.echo(f"`autograder {name}` ({point.value}) is not a Click command.", err=True)
    return found


def load_grader(name: str, advice: str, group: str = GRADERS) -> Callable[..., Any]:
    """Load the grader, or the packer, called ``name``. Raises ``UnavailableError`` with ``advice`` if it is not installed."""
    try:
        function: Callable[..., Any] = _registered(group)[name].load()
    except (KeyError, ImportError) as error:
        raise UnavailableError(advice) from error
    return function


def _registered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name. Two distributions may have the same metadata."""
    return {point.name: point for point in entry_points(group=group)}
