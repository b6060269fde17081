"""What the instructor's verbs share: options, and what these mean."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from autograder.base.errors import CourseError
from autograder.classroom.gradebook.database import GradebookError, disk_error
from autograder.cli.progress import say
from autograder.cli.verbs import PATH, errors_in_sentences
from autograder.course.course import Course
from autograder.extras.cluster import ClusterError
from autograder.sandbox.confinement import Confinement
from autograder.sandbox.protocol import SandboxUnavailable

__all__ = [
    "POSITIVE",
    "chapters_argument",
    "confinement",
    "cores",
    "course_option",
    "everything_option",
    "students_option",
    "told_in_sentences",
    "unsafe_option",
    "wanted",
    "workers_option",
]

POSITIVE = click.IntRange(min=1)

chapters_argument = click.argument("chapters", metavar="[CHAPTER]...", nargs=-1)
course_option = click.option(
    "--course", "course_folder", metavar="FOLDER", type=PATH, help="The course folder; by default the one around here."
)
unsafe_option = click.option(
    "--unsafe-local", is_flag=True, help="Run students' code as yourself, with no jail. For trying things out."
)
workers_option = click.option(
    "--workers", metavar="N", type=POSITIVE, help="How many notebooks at a time; by default one a core."
)
everything_option = click.option("--all", "everything", is_flag=True, help="Every finished chapter.")
students_option = click.option(
    "--student", "students", metavar="ID", multiple=True, help="Only this student; may be given again."
)


@contextmanager
def told_in_sentences(kept: str = "") -> Iterator[None]:
    """Say what was wrong with the call, the gradebook, the cluster or the machine in a sentence and by the exit status.

    ``kept`` is what to add where a person stopped the run.
    """
    telling = errors_in_sentences(
        SandboxUnavailable, ClusterError, GradebookError, disk=disk_error, stopped=f"Stopped.{kept}"
    )
    with telling:
        yield


def wanted(course: Course, chapters: Sequence[str], *, everything: bool, complete: bool = True) -> list[str]:
    """The chapters that are asked for; with ``complete``, those that have a notebook and checks only."""
    if everything and chapters:
        raise CourseError("Name chapters or say --all, not both.")
    if everything:
        return course.finished_chapters()
    if not chapters:
        finished = ", ".join(course.finished_chapters())
        raise CourseError(f"Which chapter? Name one or say --all. Finished are: {finished}.")
    named = list(dict.fromkeys(chapters))
    return [c if c in course.chapters and not complete else course.require_chapter(c) for c in named]


def confinement(*, unsafe_local: bool) -> Confinement:
    """The confinement that is asked for; without any, that is said."""
    if not unsafe_local:
        return "auto"
    say("UNSAFE: students' code runs as you, with everything you may do. Use it on code that you trust.")
    return "local"


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
