"""The command line of a student's installation: ``start``, ``watch`` and ``check``, with none of the instructor's modules."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

import click

from autograder import __version__
from autograder.cli.learn import start, watch
from autograder.cli.verbs import Verbs, errors_in_sentences, exercise_option, json_option, notebooks_argument

__all__ = ["app"]

# Said of these, where somebody types one: most have read a page for instructors.
INSTRUCTORS = {
    "site", "release", "grade", "feedback", "marks", "report", "export", "log", "roster", "gradescope", "audit", "examples", "doctor",
    "config", "demo", "new", "new-exercise", "stubs", "import",
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


@click.command()
@notebooks_argument
@exercise_option
@click.option("--visible", is_flag=True, help="Only the checks that students see: here there are no others.")
@json_option
@click.option("--unsafe-local", is_flag=True, help="Run the code as yourself, with no jail.")
def check(notebooks: Sequence[Path], *, exercise: str | None, visible: bool, as_json: bool, unsafe_local: bool) -> None:
    """Check notebook files by the examples that were released with them."""
    from autograder.base.verdict import Verdict
    from autograder.cli.progress import grading_progress, say
    from autograder.cli.text import finish, verdict_text
    from autograder.sandbox.confinement import Confinement
    from autograder.sandbox.protocol import SandboxStartError, SandboxUnavailable
    from autograder.student.terminal.checking import check_by_examples

    del visible
    only, began, many = {exercise} if exercise else None, time.monotonic(), len(notebooks) > 1

    def run(confinement: Confinement) -> list[Verdict]:
        with grading_progress(len(notebooks), "Checking") if many else nullcontext(lambda _verdict: None) as tick:
            return check_by_examples(notebooks, only, confinement, tick)

    with errors_in_sentences(SandboxUnavailable):
        try:
            verdicts = run("local" if unsafe_local else "auto")
        except SandboxStartError:
            raise
        except SandboxUnavailable:
            say("No jail can be had here, so the code runs as you.")
            verdicts = run("local")
    if not as_json:
        click.echo("\n\n".join(verdict_text(verdict) for verdict in verdicts))
    finish(verdicts, time.monotonic() - began, as_json=as_json, brief=not many)


app.add_verbs("Commands", [start, watch, check])
