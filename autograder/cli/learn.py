"""The verbs of a student's terminal: ``start`` lays the course out and opens it."""

from pathlib import Path

import click
from click.exceptions import Exit

from autograder.cli.verbs import PATH

__all__ = ["start"]


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=PATH)
@click.option("--no-open", is_flag=True, help="Lay the course out, and leave JupyterLab closed.")
def start(folder: Path | None, *, no_open: bool) -> None:
    """Lay the course out in a folder of your own, never over your work, and open its map in JupyterLab."""
    from autograder.errors import CourseError
    from autograder.files import disk_sentence
    from autograder.terminal import starting

    try:
        raise Exit(starting.start(folder, may_open=not no_open, say=click.echo))
    except CourseError as error:
        click.echo(str(error), err=True)
        raise Exit(2) from error
    except OSError as error:
        if not (sentence := disk_sentence(error)):
            raise
        click.echo(sentence, err=True)
        raise Exit(1) from error
    except KeyboardInterrupt as error:
        click.echo("Stopped.", err=True)
        raise Exit(130) from error
