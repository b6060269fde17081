"""What the student's and the instructor's command line have in common: how verbs are listed, options, and how errors are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from click.exceptions import Exit

from autograder.base.errors import CourseError
from autograder.base.files import disk_error_advice

__all__ = ["PATH", "Verbs", "errors_in_sentences", "exercise_option", "json_option", "notebooks_argument"]

PATH = click.Path(path_type=Path)

notebooks_argument = click.argument("notebooks", metavar="NOTEBOOK...", nargs=-1, required=True, type=PATH)
exercise_option = click.option("--exercise", metavar="NAME", help="Only this exercise.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON array to stdout and nothing else there."
)


class Verbs(click.Group):
    """Verbs listed under headings in the order in which they were added, each with its whole sentence."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._headings: dict[str, list[click.Command]] = {}

    def add_verbs(self, heading: str, verbs: Sequence[click.Command]) -> None:
        """Add verbs, in this order, below those that are there."""
        for verb in verbs:
            self.add_command(verb)
        self._headings.setdefault(heading, []).extend(verbs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in that order."""
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write them below their headings."""
        del ctx
        width = max(len(name) for name in self.commands)
        told = {verb.name for verbs in self._headings.values() for verb in verbs}
        others = [verb for name, verb in self.commands.items() if name not in told]
        for heading, verbs in {**self._headings, **({"More": others} if others else {})}.items():
            with formatter.section(heading):
                formatter.write_dl([(str(verb.name).ljust(width), verb.help or "") for verb in verbs])


@contextmanager
def errors_in_sentences(
    *others: type[Exception],
    disk: Callable[[OSError], str] = disk_error_advice,
    stopped: str = "Stopped.",
) -> Iterator[None]:
    """Say what was wrong with the call, or with the machine, in a sentence and by the exit status.

    ``others`` are errors that say by themselves what is to be done, ``disk`` says it of a file, and ``stopped`` is said where a person
    stopped the run.
    """
    try:
        yield
    except CourseError as error:
        click.echo(str(error), err=True)
        raise Exit(2) from error
    except others as error:
        click.echo(str(error), err=True)
        raise Exit(1) from error
    except OSError as error:
        if not (sentence := disk(error)):
            raise
        click.echo(sentence, err=True)
        raise Exit(1) from error
    except KeyboardInterrupt as error:
        if stopped:
            click.echo(stopped, err=True)
        raise Exit(getattr(error, "status", 130)) from error
