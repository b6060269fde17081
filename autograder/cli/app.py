"""The verbs of the command line, one thin function each."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from autograder import __version__
from autograder.cli.progress import grading_progress, say
from autograder.cli.text import needs_a_person, summary, verdict_text
from autograder.course import Course, CourseError, find_course, load_course
from autograder.grading.cluster import ClusterError
from autograder.sandbox.confinement import Confinement, SandboxUnavailable
from autograder.verdict import Verdict

__all__ = ["app"]

app = typer.Typer(
    help="Autograded Jupyter exercises: confined, fast, and measured for being right.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

CourseFolder = Annotated[
    Path | None,
    typer.Option("--course", metavar="FOLDER", help="The course folder; by default the one around here."),
]
UnsafeLocal = Annotated[
    bool, typer.Option("--unsafe-local", help="Run students' code as yourself, with no jail. For trying things out.")
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="How many notebooks at a time; by default one a core.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Grade on the Dask cluster whose scheduler is at this address."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON array to stdout and nothing else there.")]
Chapters = Annotated[list[str] | None, typer.Argument(metavar="CHAPTER")]


def _tell_version(wanted: bool) -> None:
    # `autograder --version` alone is answered in autograder.cli, before this module is imported.
    if wanted:
        typer.echo(f"autograder {__version__}")
        raise typer.Exit


@app.callback()
def _autograder(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version and stop.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    del version


@app.command()
def release(
    chapters: Chapters = None,
    everything: Annotated[bool, typer.Option("--all", help="Every finished chapter.")] = False,
    course_folder: CourseFolder = None,
) -> None:
    """Prove a chapter's checks, record its examples and make the version that students get."""
    from autograder.release import ReleaseError
    from autograder.release import release as release_chapters

    with _told():
        course = load_course(course_folder)
        for chapter in _wanted(course, chapters, everything=everything):
            say(f"{chapter}: proving its checks before it is released …")
            try:
                release_chapters(course, [chapter])
            except ReleaseError as error:
                say(f"{chapter} is not released. {error}")
                raise typer.Exit(1) from error
            say(f"{chapter}: released to {course.root / 'release' / chapter}")


@app.command()
def grade(
    chapter: Annotated[str, typer.Argument(metavar="CHAPTER")],
    students: Annotated[
        list[str] | None, typer.Option("--student", metavar="ID", help="Only this student; may be given again.")
    ] = None,
    as_json: AsJson = False,
    course_folder: CourseFolder = None,
    unsafe_local: UnsafeLocal = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
) -> None:
    """Grade what was handed in for a chapter, into nbgrader's gradebook."""
    from autograder.grading.classroom import grade_class, handed_in

    with _told():
        _one_of(workers, scheduler)
        course = load_course(course_folder)
        course.require_chapter(chapter)
        jobs = handed_in(course, chapter, students)

        def run(on_verdict: Callable[[Verdict], None]) -> list[Verdict]:
            return grade_class(
                course,
                chapter,
                jobs,
                confinement=_confinement(unsafe_local=unsafe_local),
                workers=workers or _cores(),
                scheduler=scheduler,
                on_verdict=on_verdict,
            )

        _finish(*_run(run, len(jobs), f"Grading {chapter}"), as_json=as_json)


@app.command()
def check(
    notebooks: Annotated[list[Path], typer.Argument(metavar="NOTEBOOK")],
    exercise: Annotated[str | None, typer.Option("--exercise", metavar="NAME", help="Only this exercise.")] = None,
    visible: Annotated[bool, typer.Option("--visible", help="Only the checks that students see too.")] = False,
    as_json: AsJson = False,
    course_folder: CourseFolder = None,
    unsafe_local: UnsafeLocal = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
) -> None:
    """Grade loose notebook files: with every check in a course folder, with the visible ones elsewhere."""
    from autograder.cli.loose import check_by_examples
    from autograder.grading.batch import grade_notebooks
    from autograder.grading.submission import Job

    with _told():
        # The folder of the notebook is never asked: a course_config.py that came with it would be run, unconfined.
        here = course_folder or find_course()
        _one_of(workers, scheduler)
        if here is None and scheduler is not None:
            raise CourseError(
                "--scheduler sends a course to a cluster, and there is none here: name it with --course FOLDER."
            )
        only = {exercise} if exercise else None

        def run(confinement: Confinement, on_verdict: Callable[[Verdict], None]) -> list[Verdict]:
            if here is None:
                return check_by_examples(notebooks, only, confinement, on_verdict)
            return grade_notebooks(
                load_course(here),
                [Job(path) for path in notebooks],
                confinement=confinement,
                only=only,
                visible_only=visible,
                workers=workers or _cores(),
                scheduler=scheduler,
                on_verdict=on_verdict,
            )

        confinement = _confinement(unsafe_local=unsafe_local)
        try:
            verdicts, seconds = _run(partial(run, confinement), len(notebooks), "Checking")
        except SandboxUnavailable:
            if scheduler is not None:
                raise
            # `check` is for one's own notebooks, so it goes on where no jail can be had; `grade` does not.
            say("No jail can be had here (`autograder doctor` tells why), so the code runs as you.")
            verdicts, seconds = _run(partial(run, "local"), len(notebooks), "Checking")
        if not as_json:
            typer.echo("\n\n".join(verdict_text(verdict) for verdict in verdicts))
        _finish(verdicts, seconds, as_json=as_json, brief=len(notebooks) == 1)


@app.command()
def demo(
    students: Annotated[int, typer.Option("--students", min=1, help="How many students to simulate.")] = 24,
    course_folder: CourseFolder = None,
    unsafe_local: UnsafeLocal = False,
    workers: Workers = None,
) -> None:
    """Watch it all work on a class of simulated students, in a new folder: release, collect, grade, give feedback."""
    from autograder.demo.run import run_demo

    with _told():
        report = run_demo(
            load_course(course_folder),
            students,
            confinement=_confinement(unsafe_local=unsafe_local),
            workers=workers or _cores(),
            say=typer.echo,
            progress=grading_progress,
        )
        if report.refused:
            say(f"Not released: {', '.join(report.refused)}. The reasons stand above.")
            raise typer.Exit(1)


@app.command()
def doctor() -> None:
    """Say what holds on this machine, what is missing and how to get it."""
    from autograder.doctor import report

    raise typer.Exit(0 if report() else 1)


@app.command()
def examples(chapters: Chapters = None, course_folder: CourseFolder = None) -> None:
    """Record a chapter's examples, by which check() in a notebook of this folder judges; by default every chapter's."""
    from autograder.release import record_examples

    with _told():
        course = load_course(course_folder)
        for chapter in _wanted(course, chapters, everything=not chapters):
            say(f"{chapter}: examples recorded in {record_examples(course, chapter)}")


@app.command()
def audit(
    chapters: Chapters = None,
    as_json: AsJson = False,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write the findings as a page for a browser, too.")
    ] = None,
    from_class: Annotated[
        str | None,
        typer.Option(
            "--from-class",
            metavar="CHAPTER",
            help="List the wrong answers in what was handed in that no misconception explains, grouped, with their code.",
        ),
    ] = None,
    course_folder: CourseFolder = None,
    workers: Workers = None,
) -> None:
    """Measure how good a chapter's checks are: what they catch, what they name, what they wrongly refuse."""
    from autograder.audit import audit as audit_chapters
    from autograder.audit import audit_page

    with _told():
        course = load_course(course_folder)
        if from_class is not None:
            _learn_from(course, from_class, workers or _cores())
            return
        wanted = _wanted(course, chapters, everything=not chapters)
        reports = audit_chapters(course, wanted, workers=workers or _cores())
        if page is not None:
            page.write_text(audit_page(reports, course.title or course.course_id), encoding="utf-8")
            say(f"The page is {page}.")
        if as_json:
            typer.echo(json.dumps([report.to_json() for report in reports], ensure_ascii=False, indent=2))
        else:
            typer.echo("\n\n".join(str(report) for report in reports))
        raise typer.Exit(0 if all(report.ok for report in reports) else 1)


def _learn_from(course: Course, chapter: str, workers: int) -> None:
    from autograder.audit import unexplained
    from autograder.grading.batch import grade_notebooks
    from autograder.grading.classroom import handed_in

    jobs = handed_in(course, course.require_chapter(chapter))
    groups = unexplained(course, grade_notebooks(course, jobs, workers=workers))
    typer.echo("\n\n".join(map(str, groups)) or f"Every wrong answer in {chapter} is explained by a misconception.")


@contextmanager
def _told() -> Iterator[None]:
    """Tell what was wrong with the call, or with the machine, in a sentence and by the exit status."""
    try:
        yield
    except CourseError as error:
        say(str(error))
        raise typer.Exit(2) from error
    except (SandboxUnavailable, ClusterError) as error:
        say(str(error))
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        say("Stopped. What was graded is kept: the same command goes on from here.")
        raise typer.Exit(getattr(error, "status", 130)) from error


def _one_of(workers: int | None, scheduler: str | None) -> None:
    if workers is not None and scheduler is not None:
        raise CourseError("--workers counts processes here, --scheduler has none here: say one of them.")


def _wanted(course: Course, chapters: Sequence[str] | None, *, everything: bool) -> list[str]:
    if everything and chapters:
        raise CourseError("Name chapters or say --all, not both.")
    if everything:
        return course.finished_chapters()
    if not chapters:
        finished = ", ".join(course.finished_chapters())
        raise CourseError(f"Which chapter? Name one or say --all. Finished are: {finished}.")
    return [course.require_chapter(chapter) for chapter in dict.fromkeys(chapters)]


def _confinement(*, unsafe_local: bool) -> Confinement:
    if not unsafe_local:
        return "auto"
    say("UNSAFE: students' code runs as you, with everything you may do. Use it on code that you trust.")
    return "local"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run(
    grading: Callable[[Callable[[Verdict], None]], list[Verdict]], total: int, what: str
) -> tuple[list[Verdict], float]:
    started = time.monotonic()
    with grading_progress(total, what) as on_verdict:
        verdicts = grading(on_verdict)
    return verdicts, time.monotonic() - started


def _finish(verdicts: Sequence[Verdict], seconds: float, *, as_json: bool, brief: bool = False) -> None:
    if as_json:
        # A line for each: it can be read, and is written ten times as fast as with every key on a line of its own.
        lines = ",\n".join(verdict.json_line() for verdict in verdicts)
        sys.stdout.write(f"[\n{lines}\n]\n")
    if not brief:
        say(summary(verdicts, seconds))
        if missing := needs_a_person(verdicts):
            say(missing)
    if any(verdict.status == "ungradable" for verdict in verdicts):
        raise typer.Exit(1)
