"""Check a notebook in a terminal each time it is saved."""

from __future__ import annotations

from pathlib import Path

import click
from click.exceptions import Exit

from autograder.cli.commands import PATH, PlacedCommand, confinement, end_in_order, friendly_errors

__all__ = ["watch"]


@click.command(cls=PlacedCommand, section="To learn", after="start")
@click.argument("notebook", metavar="[NOTEBOOK]", required=False, type=PATH)
@click.option("--unsafe-local", is_flag=True, help="Run the notebook's code without a sandbox, with your permissions.")
def watch(notebook: Path | None, *, unsafe_local: bool) -> None:
    """Check a notebook in this terminal each time you save it, until you press q. Other keys show a hint, the next exercise or a list, or reset an exercise."""
    # Print this before NumPy is loaded, so that the user sees at once that the command has started.
    name = notebook.name if notebook is not None else "the notebook here"
    click.echo(f"Watching {name} … (q to quit)")
    from autograder.extras.watch.watching import watch as watch_notebook
    from autograder.student.terminal.starting import find_notebook

    end_in_order()
    confinement(unsafe_local=unsafe_local)
    with friendly_errors(stopped=""):  # Ctrl-C quits without a message, as q does
        raise Exit(watch_notebook(find_notebook(notebook), unsafe_local=unsafe_local))
