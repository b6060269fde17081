"""The command that demonstrates a course with a class of simulated students, from release to feedback."""

from __future__ import annotations

from pathlib import Path

import click
from click.exceptions import Exit

from autograder.cli.commands import (
    POSITIVE,
    PlacedCommand,
    confinement,
    cores,
    course_option,
    report_errors,
    unsafe_option,
    workers_option,
)
from autograder.cli.output import echo_status, grading_progress
from autograder.course.course import load_course

__all__ = ["demo"]


@click.command(cls=PlacedCommand, section="To write and maintain a course", after="config")
@click.option(
    "--students", metavar="N", type=POSITIVE, default=24, show_default=True, help="How many students to simulate."
)
@course_option
@unsafe_option
@workers_option
def demo(*, students: int, course_folder: Path | None, unsafe_local: bool, workers: int | None) -> None:
    """Simulate a class in a new folder: release chapters, collect and grade submissions, and return feedback."""
    from autograder.extras.demo.demo_run import run_demo

    with report_errors():
        report = run_demo(
            load_course(course_folder),
            students,
            confinement=confinement(unsafe_local=unsafe_local),
            workers=workers or cores(),
            say=click.echo,
            progress=grading_progress,
        )
        if report.refused:
            echo_status(f"Not released: {', '.join(report.refused)}. The reasons are above.")
            raise Exit(1)
