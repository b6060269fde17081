"""The whole command line: all verbs, in the order in which a course needs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from autograder import __version__
from autograder.cli.authoring import audit, examples, release
from autograder.cli.classes import gradescope, marks, report
from autograder.cli.courses import config, doctor, roster
from autograder.cli.grading import check, demo, grade
from autograder.cli.importing import import_
from autograder.cli.learn import start, watch
from autograder.cli.marks import export, feedback, log
from autograder.cli.scaffold import new, new_exercise, stubs
from autograder.cli.site import site
from autograder.cli.verbs import Verbs

__all__ = ["app"]


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
# Alone, `autograder --version` is answered in autograder.cli, before this module is imported.
@click.version_option(
    __version__, "--version", "-V", message="autograder %(version)s", help="Print the version and stop."
)
@click.pass_context
def app(ctx: click.Context) -> None:
    """Autograded Jupyter exercises: confined, fast, and measured for being right."""
    ctx.obj = _hand_out  # what a student's program cannot do, for `start`


def _hand_out(course: Path, say: Callable[[str], None]) -> Path:
    from autograder.authoring.release.run import handout

    return handout(course, say)


app.add_verbs("To learn", [start, watch, check, site])
app.add_verbs("To teach", [release, grade, feedback, marks, report, export, log, roster, gradescope])
app.add_verbs("To write and look after a course", [new, new_exercise, stubs])
app.add_verbs("To write and look after a course", [audit, examples, doctor, config, demo])
app.add_verbs("To write and look after a course", [import_])
