"""The command line of a student's installation: ``start``, ``watch`` and ``check``, with none of the instructor's modules."""

import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

import click
from click.exceptions import Exit

from autograder import __version__
from autograder.cli.learn import start, watch
from autograder.cli.verbs import PATH, Verbs
from autograder.errors import CourseError

__all__ = ["app"]

# Said of these, where somebody types one: most have read a page for instructors.
INSTRUCTORS = {
    "release", "grade", "demo", "doctor", "examples", "audit", "marks", "report", "gradescope", "config", "roster",
    "feedback", "log", "export", "site",
}  # fmt: skip


class _StudentVerbs(Verbs):
    """Verbs of which those that are not installed are told with how to get them."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb called ``cmd_name``."""
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in INSTRUCTORS:
            _not_installed(cmd_name)
        return found


def _not_installed(verb: str) -> NoReturn:
    raise click.UsageError(
        f"`autograder {verb}` is for who teaches, and not installed here: "
        f'pip install "nbautograder[instructor]=={__version__}" brings it.'
    )


@click.group(cls=_StudentVerbs, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(
    __version__, "--version", "-V", message="autograder %(version)s", help="Print the version and stop."
)
def app() -> None:
    """Exercises in Jupyter notebooks that say at once what holds, what does not, and why."""


app.add_command(start)
app.add_command(watch)


@app.command()
@click.argument("notebooks", metavar="NOTEBOOK...", nargs=-1, required=True, type=PATH)
@click.option("--exercise", metavar="NAME", help="Only this exercise.")
@click.option("--visible", is_flag=True, help="Only the checks that students see: here there are no others.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array to stdout and nothing else there.")
@click.option("--unsafe-local", is_flag=True, help="Run the code as yourself, with no jail.")
def check(notebooks: Sequence[Path], *, exercise: str | None, visible: bool, as_json: bool, unsafe_local: bool) -> None:
    """Check notebook files by the examples that were released with them."""
    from autograder.cli.progress import grading_progress, say
    from autograder.cli.text import needs_a_person, summary, verdict_text
    from autograder.files import disk_sentence
    from autograder.sandbox.confinement import Confinement, SandboxLost, SandboxUnavailable
    from autograder.terminal.by_examples import check_by_examples
    from autograder.verdict import Verdict, json_lines

    del visible
    only, began, many = {exercise} if exercise else None, time.monotonic(), len(notebooks) > 1

    def run(confinement: Confinement) -> list[Verdict]:
        with grading_progress(len(notebooks), "Checking") if many else nullcontext(lambda _verdict: None) as tick:
            return check_by_examples(notebooks, only, confinement, tick)

    try:
        try:
            verdicts = run("local" if unsafe_local else "auto")
        except SandboxLost:
            raise
        except SandboxUnavailable:
            say("No jail can be had here, so the code runs as you.")
            verdicts = run("local")
    except (CourseError, SandboxUnavailable) as error:
        say(str(error))
        raise Exit(2 if isinstance(error, CourseError) else 1) from error
    except OSError as error:
        if not (sentence := disk_sentence(error)):
            raise
        say(sentence)
        raise Exit(1) from error
    except KeyboardInterrupt as error:
        say("Stopped.")
        raise Exit(130) from error
    if as_json:
        sys.stdout.write("[\n{}\n]\n".format(",\n".join(json_lines(verdicts))))
    else:
        click.echo("\n\n".join(verdict_text(verdict) for verdict in verdicts))
    if many:
        say(summary(verdicts, time.monotonic() - began))
        if missing := needs_a_person(verdicts):
            say(missing)
    if any(verdict.status == "ungradable" for verdict in verdicts):
        raise Exit(1)
