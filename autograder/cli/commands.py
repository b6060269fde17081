"""Options, command groups, error handling and registered commands for the student's and the instructor's command lines."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from autograder.base.errors import CourseError, UnavailableError
from autograder.base.files import disk_error_advice, grading_disk_error_advice

if TYPE_CHECKING:
    from autograder.course.course import Course
    from autograder.sandbox.confinement import Confinement

__all__ = [
    "PACKERS", "PATH", "POSITIVE", "CommandGroup", "PlacedCommand", "chapters_argument", "confinement", "cores", "course_option",
    "end_in_order", "everything_option", "exercise_option", "friendly_errors", "json_option", "load_commands", "load_grader",
    "notebooks_argument", "report_errors", "selected_chapters", "students_option", "unsafe_option", "workers_option",
]  # fmt: skip

# --- options ---------------------------------------------------------------------------------------------------------

PATH = click.Path(path_type=Path)
POSITIVE = click.IntRange(min=1)

notebooks_argument = click.argument("notebooks", metavar="NOTEBOOK...", nargs=-1, required=True, type=PATH)
exercise_option = click.option("--exercise", metavar="NAME", help="Check only this exercise.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON array, and nothing else, to stdout.")
chapters_argument = click.argument("chapters", metavar="[CHAPTER]...", nargs=-1)
_COURSE = "The course folder. Default: the current folder or the nearest course folder above it."
course_option = click.option("--course", "course_folder", metavar="FOLDER", type=PATH, help=_COURSE)
_UNSAFE = "Run the notebooks' code without a sandbox, with your permissions. Only for code that you trust."
unsafe_option = click.option("--unsafe-local", is_flag=True, help=_UNSAFE)
workers_option = click.option(
    "--workers", metavar="N", type=POSITIVE, help="How many notebooks to run at a time. Default: one per core."
)
everything_option = click.option("--all", "everything", is_flag=True, help="Use every finished chapter.")
students_option = click.option(
    "--student",
    "students",
    metavar="ID",
    multiple=True,
    help="Use only this student. Repeat the option for more students.",
)


def selected_chapters(course: Course, chapters: Sequence[str], *, everything: bool, complete: bool = True) -> list[str]:
    """Return the chapters that the command line selects. With ``complete``, each must have a notebook and checks."""
    if everything and chapters:
        raise CourseError("Give chapter names or use --all, not both.")
    if everything:
        return course.finished_chapters()
    if not chapters:
        finished = ", ".join(course.finished_chapters())
        raise CourseError(f"Which chapter? Give its name or use --all. Finished chapters: {finished}.")
    named = list(dict.fromkeys(chapters))
    return [c if c in course.chapters and not complete else course.require_chapter(c) for c in named]


def confinement(*, unsafe_local: bool) -> Confinement:
    """Return the confinement that ``--unsafe-local`` selects, and print a warning if there is no sandbox."""
    if not unsafe_local:
        return "auto"
    click.echo(
        "UNSAFE: the notebooks' code runs as you and can do anything that you can. Use this only for code that you trust.",
        err=True,
    )
    return "local"


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- groups of commands ----------------------------------------------------------------------------------------------


class PlacedCommand(click.Command):
    """A command that says where ``autograder --help`` lists it.

    ``section`` is the heading, and ``after`` names the command above it. Without ``after``, the command comes last.
    """

    def __init__(self, *args: Any, section: str = "More", after: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section, self.after = section, after


class CommandGroup(click.Group):
    """A group that lists its commands under headings, in the order in which they were added, with their full help texts."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections: dict[str, list[click.Command]] = {}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command called ``cmd_name``. A registered command never replaces a core command."""
        if cmd_name not in self.commands:
            for command in load_commands(cmd_name):
                self.place(command)
        return super().get_command(ctx, cmd_name)

    def add_section(self, heading: str, commands: Sequence[click.Command]) -> None:
        """Add commands after the existing ones under ``heading``."""
        for command in commands:
            self.add_command(command)
        self._sections.setdefault(heading, []).extend(commands)

    def place(self, command: click.Command) -> None:
        """Add another package's command at its ``section`` and ``after``, or under "More" if it is not a ``PlacedCommand``."""
        self.add_command(command)
        listed = self._sections.setdefault(getattr(command, "section", "More"), [])
        above = [number for number, other in enumerate(listed, 1) if other.name == getattr(command, "after", "")]
        listed.insert(above[0] if above else len(listed), command)

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        """Return the names of all commands in the order of the help text."""
        del ctx
        registered = [command for command in load_commands() if command.name not in self.commands]
        names = {command.name for command in registered}
        # If a command is listed below another registered command, place it after that command.
        for command in sorted(registered, key=lambda command: getattr(command, "after", "") in names):
            self.place(command)
        return [str(command.name) for commands in self._sections.values() for command in commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below their headings."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, commands in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(str(command.name).ljust(width), command.help or "") for command in commands])


# --- registered by other distributions -------------------------------------------------------------------------------

# Groups of entry points: Click commands, functions that create an ``Executor``, and functions that pack a class's feedback
# for upload to an LMS.
COMMANDS, GRADERS, PACKERS = "autograder.commands", "autograder.graders", "autograder.packers"


def load_commands(only: str | None = None) -> list[click.Command]:
    """Load all registered commands, sorted by name, or just the one named ``only``. Report and skip commands that cannot be loaded."""
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
    """Load the grader (or another function of ``group``) called ``name``. Raises ``UnavailableError`` with ``advice`` if it is not installed."""
    try:
        function: Callable[..., Any] = _registered(group)[name].load()
    except (KeyError, ImportError) as error:
        raise UnavailableError(advice) from error
    return function


def _registered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of ``group`` by name. If two distributions register the same name, only one is returned."""
    return {point.name: point for point in entry_points(group=group)}


# --- errors ----------------------------------------------------------------------------------------------------------


@contextmanager
def friendly_errors(disk: Callable[[OSError], str] = disk_error_advice, stopped: str = "Stopped.") -> Iterator[None]:
    """Report expected errors as a readable message and an exit status, instead of a traceback.

    ``disk`` turns an error of the file system into a message. ``stopped`` is printed if the user presses Ctrl-C.
    """
    try:
        yield
    except CourseError as error:
        click.echo(str(error), err=True)
        raise Exit(getattr(error, "status", 2)) from error
    except UnavailableError as error:
        click.echo(str(error), err=True)
        raise Exit(1) from error
    except OSError as error:
        if not (advice := disk(error)):
            raise
        click.echo(advice, err=True)
        raise Exit(1) from error
    except KeyboardInterrupt as error:
        if stopped:
            click.echo(stopped, err=True)
        raise Exit(getattr(error, "status", 130)) from error


@contextmanager
def report_errors(kept: str = "") -> Iterator[None]:
    """Report the errors of a command that works on a course. ``kept`` is printed after "Stopped." on Ctrl-C."""
    with friendly_errors(grading_disk_error_advice, f"Stopped.{kept}"):
        yield


def end_in_order() -> None:
    """Make the programs that this process starts end with it, even if the terminal is closed."""
    for ending in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, ending):
            signal.signal(getattr(signal, ending), lambda number, _frame: sys.exit(128 + number))
