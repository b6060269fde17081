"""Commands that grade a class or individual notebooks, and commands for the class list and the marks."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from autograder.base.errors import CourseError
from autograder.base.formatting import pluralize
from autograder.base.sanitize import sanitize
from autograder.base.verdict import Verdict
from autograder.cli import commands, output
from autograder.course.course import find_course, load_course
from autograder.course.notebook import read_notebook
from autograder.pages.text import wrapped

__all__ = ["check", "feedback", "grade", "log", "roster"]

# Printed if no installed distribution has a grader for a cluster.
_NO_DASK = "Grading on a cluster needs Dask, which is not installed here: pip install 'nbautograder[dask]'."
_NO_PACKER = "--zip needs the package autograder.extras.lms, which is not installed here."

scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="Grade on the Dask cluster whose scheduler is at this address."
)


@click.command()
@click.argument("chapter")
@commands.students_option
@click.option(
    "--only",
    metavar="EXERCISE",
    multiple=True,
    help="Regrade only this exercise. Repeat the option for more exercises.",
)
@click.option("--preview", is_flag=True, help="Show whose marks would change and why, without writing anything.")
@commands.json_option
@commands.course_option
@commands.unsafe_option
@commands.workers_option
@scheduler_option
def grade(
    chapter: str,
    *,
    students: Sequence[str],
    only: Sequence[str],
    preview: bool,
    as_json: bool,
    course_folder: Path | None,
    unsafe_local: bool,
    workers: int | None,
    scheduler: str | None,
) -> None:
    """Grade a chapter's submissions and enter the marks in nbgrader's gradebook."""
    from autograder.classroom.run import grade_class, handed_in

    with commands.report_errors(" Graded notebooks are saved. Run the same command to continue."):
        course = load_course(course_folder)
        course.require_chapter(chapter)
        released = read_notebook(course.source(chapter))
        unknown = [name for name in only if name not in released.exercises()]
        if unknown:
            every = ", ".join(released.exercises())
            raise CourseError(f"Chapter {chapter!r} has no exercise {', '.join(unknown)}. Its exercises are: {every}.")
        if only and scheduler is not None:
            raise CourseError("--only uses stored results, which a cluster does not have. Omit --scheduler.")
        jobs = handed_in(course, chapter, students)

        how = {"only": frozenset(only) or None} | _how(unsafe_local=unsafe_local, workers=workers, scheduler=scheduler)
        if preview:
            from autograder.classroom.preview import preview_class

            with output.grading_progress(len(jobs), f"Previewing {chapter}") as on_verdict:
                found = preview_class(course, chapter, jobs, on_verdict=on_verdict, **how)
            shown = found.to_json() if as_json else None
            click.echo(json.dumps(shown, ensure_ascii=False, indent=1) if as_json else output.preview_text(found))
            return

        run = partial(grade_class, course, chapter, jobs, **how)
        by_hand = released.manual_points()
        output.print_results(*_run(run, len(jobs), f"Grading {chapter}"), as_json=as_json, by_hand=by_hand)


@click.command()
@commands.notebooks_argument
@commands.exercise_option
@click.option("--visible", is_flag=True, help="Run only the checks that students see.")
@commands.json_option
@commands.course_option
@commands.unsafe_option
@commands.workers_option
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
    """Grade individual notebooks. In a course folder, run all checks. Elsewhere, run only the visible checks."""
    from autograder.grading.batch import grade_notebooks
    from autograder.grading.submission import Job
    from autograder.student.terminal.checking import asking_for_unsafe_local

    with commands.report_errors():
        # The notebook's own folder is not searched: a course_config.py there would run unconfined.
        here = course_folder or find_course()
        if here is None and scheduler is not None:
            raise CourseError(
                "--scheduler sends a course to a cluster, but this folder is not a course. Run the command in a course folder, or add --course FOLDER."
            )
        how = _how(unsafe_local=unsafe_local, workers=workers, scheduler=scheduler)
        course, jobs = load_course(here) if here is not None else None, [Job(path) for path in notebooks]
        only = {exercise} if exercise else None
        run = partial(grade_notebooks, course, jobs, only=only, visible_only=visible, **how)
        with asking_for_unsafe_local(notebooks) if here is None else nullcontext():
            verdicts, seconds = _run(run, len(notebooks), "Checking")
        if not as_json:
            click.echo("\n\n".join(output.verdict_text(verdict) for verdict in verdicts))
        output.print_results(verdicts, seconds, as_json=as_json, brief=len(notebooks) == 1)


@click.command()
@commands.chapters_argument
@commands.everything_option
@commands.students_option
@click.option("--force", is_flag=True, help="Also replace pages that autograder did not create.")
@click.option(
    "--zip", "pack", is_flag=True, help="Also write a zip file of the feedback, for upload to the LMS that --for names."
)
@click.option("--for", "system", type=click.Choice(["canvas", "moodle"]), help="The LMS that the zip file is for.")
@commands.json_option
@commands.course_option
def feedback(
    chapters: Sequence[str],
    *,
    everything: bool,
    students: Sequence[str],
    force: bool,
    pack: bool,
    system: str | None,
    as_json: bool,
    course_folder: Path | None,
) -> None:
    """Write students' feedback pages with the gradebook's current marks and comments. Nothing is graded."""
    from autograder.classroom.delivery import make_pages
    from autograder.classroom.run import handed_in

    with commands.report_errors():
        if pack != bool(system):
            raise CourseError("Use --zip and --for together, such as --zip --for canvas.")
        course = load_course(course_folder)
        found: list[dict[str, object]] = []
        missing = False
        for chapter in commands.selected_chapters(course, chapters, everything=everything):
            pages = make_pages(course, chapter, handed_in(course, chapter, students), force=force)
            found += [{"chapter": chapter, **page.to_json()} for page in pages]
            counts = Counter(page.status for page in pages)
            missing |= bool(counts["not graded"])
            written = pluralize(counts["made"], "page")
            output.echo_status(f"{chapter}: {written} written, {counts['unchanged']} unchanged.")
            if remarks := output.group_messages((page.reason, page.student) for page in pages):
                output.echo_status(remarks)
            if system:
                missing |= not commands.load_grader(system, _NO_PACKER, commands.PACKERS)(course, chapter, pages)
        if as_json:
            click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        if missing:
            raise Exit(1)


@click.command()
@commands.chapters_argument
@commands.students_option
@commands.json_option
@commands.course_option
def log(chapters: Sequence[str], *, students: Sequence[str], as_json: bool, course_folder: Path | None) -> None:
    """List every mark change: student, old and new mark, reason and date."""
    from autograder.classroom.mark_changes import LOG_NAME, read_changes

    with commands.report_errors():
        course = load_course(course_folder)
        for chapter in chapters:
            course.require_chapter(chapter)
        moves = read_changes(course, chapters, students)
        if as_json:
            click.echo(json.dumps([move.to_json() for move in moves], ensure_ascii=False, indent=1))
        for move in [] if as_json else moves:
            when = move.when[:16].replace("T", " ")
            by = f" By {sanitize(move.by)}." if move.by else ""
            click.echo(
                wrapped(f"{move.text}.{by}", "    ", f"{when}  {sanitize(move.chapter)}  {sanitize(move.student)}: ")
            )
        if not moves:
            output.echo_status(f"No mark has changed: {LOG_NAME} has no entry.")


@click.command()
@click.argument("file", metavar="STUDENTS.csv", type=commands.PATH)
@commands.course_option
def roster(file: Path, *, course_folder: Path | None) -> None:
    """Check a class list and enter it in the gradebook. If the list has an error, nothing is entered."""
    from autograder.classroom.gradebook.people import enter_roster, read_roster

    with commands.report_errors():
        course = load_course(course_folder)
        people, ignored = read_roster(file)
        new, changed = enter_roster(course, people)
        if ignored:
            output.echo_status(f"Ignored: the column{'s' if len(ignored) > 1 else ''} {', '.join(ignored)}.")
        output.echo_status(
            f"{pluralize(len(people), 'student')} in {file}: {new} added to the gradebook, {changed} changed."
        )


def _how(*, unsafe_local: bool, workers: int | None, scheduler: str | None) -> dict[str, Any]:
    """Return the grading arguments for these options. Print a warning if notebooks run without a sandbox."""
    if workers is not None and scheduler is not None:
        uses = "--workers is for grading on this machine, --scheduler for grading on a cluster"
        raise CourseError(f"{uses}. Use only one of them.")
    confinement = commands.confinement(unsafe_local=unsafe_local)
    executor = None if scheduler is None else partial(commands.load_grader("dask", _NO_DASK), scheduler)
    return {"confinement": confinement, "workers": workers or commands.cores(), "executor": executor}


def _run(grading: Callable[..., list[Verdict]], total: int, what: str) -> tuple[list[Verdict], float]:
    started = time.monotonic()
    with output.grading_progress(total, what) as on_verdict:
        verdicts = grading(on_verdict=on_verdict)
    return verdicts, time.monotonic() - started
