"""The verbs of a student's terminal: ``start`` lays the course out and opens it, ``watch`` checks at each save."""

import shlex
import signal
import sys
from pathlib import Path
from typing import NoReturn

import click
from click.exceptions import Exit

from autograder.cli.verbs import PATH, errors_in_sentences

__all__ = ["start", "watch"]


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=PATH)
@click.option("--no-open", is_flag=True, help="Lay the course out, and leave JupyterLab closed.")
@click.option(
    "--lab", metavar="OPTIONS", default="", help="Options for JupyterLab, such as --lab '--no-browser --port=8890'."
)
@click.pass_context
def start(ctx: click.Context, folder: Path | None, *, no_open: bool, lab: str) -> None:
    """Lay the course out in a folder of your own, never over your work, and open its map in JupyterLab."""
    from autograder.student.terminal import starting

    _end_in_order()
    with errors_in_sentences():
        # The instructors' program puts there how a course is handed out; a student's has nothing of it.
        options = None if no_open else shlex.split(lab)
        raise Exit(starting.start(folder, lab=options, say=click.echo, hand_out=ctx.find_root().obj))


@click.command()
@click.argument("notebook", metavar="[NOTEBOOK]", required=False, type=PATH)
def watch(notebook: Path | None) -> None:
    """Check a notebook at each save, in this terminal, until you press q. One key gives a hint, goes on, lists, resets."""
    # Before NumPy is loaded: whoever starts this sees at once that it has.
    name = notebook.name if notebook is not None else "the notebook here"
    click.echo(f"Watching {name} … (q ends it)")
    from autograder.student.terminal.starting import find_notebook
    from autograder.student.terminal.watch import watch as watch_notebook

    _end_in_order()
    with errors_in_sentences(stopped=""):  # it ends with Ctrl-C as with q
        raise Exit(watch_notebook(find_notebook(notebook)))


def _end_in_order() -> None:
    """Have what was started here end with this process, where that is ended or its terminal closed."""
    for ending in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, ending):
            signal.signal(getattr(signal, ending), _ended)


def _ended(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)
