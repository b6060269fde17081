"""The verbs that judge notebooks: a class into the gradebook, loose files, and a class that is only simulated."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from autograder.base.errors import CourseError
from autograder.base.verdict import Verdict
from autograder.cli.common import (
    POSITIVE,
    confinement,
    cores,
    course_option,
    students_option,
    told_in_sentences,
    unsafe_option,
    workers_option,
)
from autograder.cli.progress import grading_progress, say
from autograder.cli.text import finish, verdict_text
from autograder.cli.verbs import exercise_option, json_option, notebooks_argument
from autograder.course.course import find_course, load_course
from autograder.course.notebook import read_notebook
from autograder.sandbox.confinement import Confinement
from autograder.sandbox.protocol import SandboxStartError, SandboxUnavailable

if TYPE_CHECKING:
    from autograder.grading.task import Executor

__all__ = ["check", "demo", "grade"]

scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="Grade on the Dask cluster whose scheduler is at this address."
)


@click.command()
@click.argument("chapter")
@students_option
@click.option("--preview", is_flag=True, help="Say what would change, and write nothing: whose marks move, and why.")
@json_option
@course_option
@unsafe_option
@workers_option
@scheduler_option
def grade(
    chapter: str,
    *,
    students: Sequence[str],
    preview: bool,
    as_json: bool,
    course_folder: Path | None,
    unsafe_local: bool,
    workers: int | None,
    scheduler: str | None,
) -> None:
    """Grade what was handed in for a chapter, into nbgrader's gradebook."""
    from autograder.classroom.run import grade_class, handed_in

    with told_in_sentences(" What was graded is kept: the same command goes on from here."):
        _one_of(workers, scheduler)
        course = load_course(course_folder)
        course.require_chapter(chapter)
        jobs = handed_in(course, chapter, students)

        how: dict[str, Any] = {
            "confinement": confinement(unsafe_local=unsafe_local),
            "workers": workers or cores(),
            "executor": _executor(scheduler),
        }
        if preview:
            from autograder.cli.preview import show_preview

            show_preview(course, chapter, jobs, how, as_json=as_json)
            return

        def run(on_verdict: Callable[[Verdict], None]) -> list[Verdict]:
            return grade_class(course, chapter, jobs, on_verdict=on_verdict, **how)

        by_hand = read_notebook(course.source(chapter)).manual_points()
        finish(*_run(run, len(jobs), f"Grading {chapter}"), as_json=as_json, by_hand=by_hand)


@click.command()
@notebooks_argument
@exercise_option
@click.option("--visible", is_flag=True, help="Only the checks that students see too.")
@json_option
@course_option
@unsafe_option
@workers_option
@scheduler_option
def check(
    notebooks: Sequence[Path],
    *,
    exercise: str | None,
    visible: bool,
    as_json: bool,
    course_folder: Path | None,
    unsafe_local: bool,
    workers: int | None,
    scheduler: str | None,
) -> None:
    """Grade loose notebook files: with every check in a course folder, with the visible ones elsewhere."""
    from autograder.grading.batch import grade_notebooks
    from autograder.grading.submission import Job
    from autograder.student.terminal.checking import check_by_examples

    with told_in_sentences():
        # The folder of the notebook is never asked: a course_config.py that came with it would be run, unconfined.
        here = course_folder or find_course()
        _one_of(workers, scheduler)
        if here is None and scheduler is not None:
            raise CourseError(
                "--scheduler sends a course to a cluster, and there is none here: name it with --course FOLDER."
            )
        only = {exercise} if exercise else None

        def run(how: Confinement, on_verdict: Callable[[Verdict], None]) -> list[Verdict]:
            if here is None:
                return check_by_examples(notebooks, only, how, on_verdict)
            return grade_notebooks(
                load_course(here),
                [Job(path) for path in notebooks],
                confinement=how,
                only=only,
                visible_only=visible,
                workers=workers or cores(),
                executor=_executor(scheduler),
                on_verdict=on_verdict,
            )

        asked = confinement(unsafe_local=unsafe_local)
        try:
            verdicts, seconds = _run(partial(run, asked), len(notebooks), "Checking")
        except SandboxUnavailable as error:
            # Never because of what a notebook did to a jail that worked.
            if scheduler is not None or isinstance(error, SandboxStartError):
                raise
            # `check` is for one's own notebooks, so it goes on where no jail can be had; `grade` does not.
            say("No jail can be had here (`autograder doctor` tells why), so the code runs as you.")
            verdicts, seconds = _run(partial(run, "local"), len(notebooks), "Checking")
        if not as_json:
            click.echo("\n\n".join(verdict_text(verdict) for verdict in verdicts))
        finish(verdicts, seconds, as_json=as_json, brief=len(notebooks) == 1)


@click.command()
@click.option(
    "--students", metavar="N", type=POSITIVE, default=24, show_default=True, help="How many students to simulate."
)
@course_option
@unsafe_option
@workers_option
def demo(*, students: int, course_folder: Path | None, unsafe_local: bool, workers: int | None) -> None:
    """Watch it all work on a class of simulated students, in a new folder: release, collect, grade, give feedback."""
    from autograder.extras.demo.run import run_demo

    with told_in_sentences():
        report = run_demo(
            load_course(course_folder),
            students,
            confinement=confinement(unsafe_local=unsafe_local),
            workers=workers or cores(),
            say=click.echo,
            progress=grading_progress,
        )
        if report.refused:
            say(f"Not released: {', '.join(report.refused)}. The reasons stand above.")
            raise Exit(1)


def _one_of(workers: int | None, scheduler: str | None) -> None:
    if workers is not None and scheduler is not None:
        raise CourseError("--workers counts processes here, --scheduler has none here: say one of them.")


def _executor(scheduler: str | None) -> Executor | None:
    if scheduler is None:
        return None
    from autograder.extras.cluster.client import grade_on_cluster

    return partial(grade_on_cluster, scheduler)


def _run(
    grading: Callable[[Callable[[Verdict], None]], list[Verdict]], total: int, what: str
) -> tuple[list[Verdict], float]:
    started = time.monotonic()
    with grading_progress(total, what) as on_verdict:
        verdicts = grading(on_verdict)
    return verdicts, time.monotonic() - started
