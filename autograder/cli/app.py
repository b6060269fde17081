"""The verbs of the command line, one thin function each."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from autograder import __version__
from autograder.cli.learn import start, watch
from autograder.cli.progress import grading_progress, say
from autograder.cli.site import site
from autograder.cli.text import needs_a_person, summary, verdict_text
from autograder.cli.verbs import PATH, Verbs
from autograder.cluster import ClusterError
from autograder.course import Course, CourseError, find_course, load_course
from autograder.gradebook.errors import GradebookError, disk_error
from autograder.sandbox.confinement import Confinement, SandboxLost, SandboxUnavailable
from autograder.verdict import Verdict, json_lines

if TYPE_CHECKING:
    from autograder.grading.task import Executor

__all__ = ["app"]

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
scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="Grade on the Dask cluster whose scheduler is at this address."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON array to stdout and nothing else there."
)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
# Alone, `autograder --version` is answered in autograder.cli, before this module is imported.
@click.version_option(
    __version__, "--version", "-V", message="autograder %(version)s", help="Print the version and stop."
)
def app() -> None:
    """Autograded Jupyter exercises: confined, fast, and measured for being right."""


@app.command()
@chapters_argument
@click.option("--all", "everything", is_flag=True, help="Every finished chapter.")
@click.option(
    "--draft", is_flag=True, help="Release it though the audit's targets are not met, as long as its marks are right."
)
@course_option
def release(chapters: Sequence[str], *, everything: bool, draft: bool, course_folder: Path | None) -> None:
    """Prove a chapter's checks, record its examples and make the version that students get."""
    from autograder.release import ReleaseError
    from autograder.release import release as release_chapters

    with _errors_in_sentences():
        course = load_course(course_folder)
        for chapter in _wanted(course, chapters, everything=everything, complete=False):
            say(f"{chapter}: proving its checks before it is released …")
            try:
                release_chapters(course, [chapter], draft=draft, say=say)
            except ReleaseError as error:
                say(f"{chapter} is not released. {error}")
                raise Exit(1) from error
            say(f"{chapter}: released to {course.root / 'release' / chapter}")


@app.command()
@click.argument("chapter")
@click.option("--student", "students", metavar="ID", multiple=True, help="Only this student; may be given again.")
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

    with _errors_in_sentences(" What was graded is kept: the same command goes on from here."):
        _one_of(workers, scheduler)
        course = load_course(course_folder)
        course.require_chapter(chapter)
        jobs = handed_in(course, chapter, students)

        how: dict[str, Any] = {
            "confinement": _confinement(unsafe_local=unsafe_local),
            "workers": workers or _cores(),
            "executor": _executor(scheduler),
        }
        if preview:
            from autograder.cli.preview import show_preview

            show_preview(course, chapter, jobs, how, as_json=as_json)
            return

        def run(on_verdict: Callable[[Verdict], None]) -> list[Verdict]:
            return grade_class(course, chapter, jobs, on_verdict=on_verdict, **how)

        _finish(*_run(run, len(jobs), f"Grading {chapter}"), as_json=as_json)


@app.command()
@click.argument("notebooks", metavar="NOTEBOOK...", nargs=-1, required=True, type=PATH)
@click.option("--exercise", metavar="NAME", help="Only this exercise.")
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
    from autograder.terminal.by_examples import check_by_examples

    with _errors_in_sentences():
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
                executor=_executor(scheduler),
                on_verdict=on_verdict,
            )

        confinement = _confinement(unsafe_local=unsafe_local)
        try:
            verdicts, seconds = _run(partial(run, confinement), len(notebooks), "Checking")
        except SandboxUnavailable as error:
            # Never because of what a notebook did to a jail that worked.
            if scheduler is not None or isinstance(error, SandboxLost):
                raise
            # `check` is for one's own notebooks, so it goes on where no jail can be had; `grade` does not.
            say("No jail can be had here (`autograder doctor` tells why), so the code runs as you.")
            verdicts, seconds = _run(partial(run, "local"), len(notebooks), "Checking")
        if not as_json:
            click.echo("\n\n".join(verdict_text(verdict) for verdict in verdicts))
        _finish(verdicts, seconds, as_json=as_json, brief=len(notebooks) == 1)


@app.command()
@click.option(
    "--students", metavar="N", type=POSITIVE, default=24, show_default=True, help="How many students to simulate."
)
@course_option
@unsafe_option
@workers_option
def demo(*, students: int, course_folder: Path | None, unsafe_local: bool, workers: int | None) -> None:
    """Watch it all work on a class of simulated students, in a new folder: release, collect, grade, give feedback."""
    from autograder.demo.run import run_demo

    with _errors_in_sentences():
        report = run_demo(
            load_course(course_folder),
            students,
            confinement=_confinement(unsafe_local=unsafe_local),
            workers=workers or _cores(),
            say=click.echo,
            progress=grading_progress,
        )
        if report.refused:
            say(f"Not released: {', '.join(report.refused)}. The reasons stand above.")
            raise Exit(1)


@app.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object to stdout and nothing else there.")
@course_option
def doctor(*, as_json: bool, course_folder: Path | None) -> None:
    """Say what holds on this machine, what it and the course around here lack, and how to get it."""
    from autograder.doctor import as_data, report

    with _errors_in_sentences():
        course = load_course(course_folder) if course_folder or find_course() else None
        if not as_json:
            raise Exit(0 if report(course=course) else 1)
        found = as_data(course)
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        raise Exit(0 if found["ready"] else 1)


@app.command()
@chapters_argument
@course_option
def examples(chapters: Sequence[str], *, course_folder: Path | None) -> None:
    """Record a chapter's examples, by which check() in a notebook of this folder judges; by default every chapter's."""
    from autograder.release import record_examples

    with _errors_in_sentences():
        course = load_course(course_folder)
        for chapter in _wanted(course, chapters, everything=not chapters):
            say(f"{chapter}: examples recorded in {record_examples(course, chapter)}")


@app.command()
@chapters_argument
@json_option
@click.option("--page", metavar="FILE", type=PATH, help="Write the findings as a page for a browser, too.")
@click.option(
    "--from-class",
    metavar="CHAPTER",
    help="List the wrong answers in what was handed in that no misconception explains, grouped, with their code.",
)
@click.option(
    "--locate",
    is_flag=True,
    help="Also measure how often the line of a mistake is found, and truly, in mutants and in misconceptions with their names "
    "withheld. Takes minutes a chapter.",
)
@course_option
@workers_option
def audit(
    chapters: Sequence[str],
    *,
    as_json: bool,
    locate: bool,
    page: Path | None,
    from_class: str | None,
    course_folder: Path | None,
    workers: int | None,
) -> None:
    """Measure how good a chapter's checks are: what they catch, what they name, what they wrongly refuse."""
    from autograder.audit import ChapterAudit, audit_page
    from autograder.audit import audit as audit_chapters
    from autograder.release.inspection import inspect_chapter

    with _errors_in_sentences():
        course = load_course(course_folder)
        if from_class is not None:
            _learn_from(course, from_class, workers or _cores())
            return
        wanted = _wanted(course, chapters, everything=not chapters)
        found = {chapter: inspect_chapter(course, chapter) for chapter in wanted}
        endless = [chapter for chapter in wanted if found[chapter].endless]  # which an audit would wait for
        judged = [c for c in wanted if c not in endless]
        measured = audit_chapters(course, judged, workers=workers or _cores(), locate=locate)
        audits = {report.chapter: report for report in [*measured, *(ChapterAudit(c, ()) for c in endless)]}
        reports = [replace(audits[c], mistakes=tuple(map(str, found[c].mistakes))) for c in wanted]
        if page is not None:
            page.write_text(audit_page(reports, course.title or course.course_id), encoding="utf-8")
            say(f"The page is {page}.")
        if as_json:
            click.echo(json.dumps([report.to_json() for report in reports], ensure_ascii=False, indent=2))
        else:
            click.echo("\n\n".join(str(report) for report in reports))
        raise Exit(0 if all(report.ok for report in reports) else 1)


def _learn_from(course: Course, chapter: str, workers: int) -> None:
    from autograder.audit import unexplained
    from autograder.classroom.run import handed_in
    from autograder.grading.batch import grade_notebooks

    jobs = handed_in(course, course.require_chapter(chapter))
    groups = unexplained(course, grade_notebooks(course, jobs, workers=workers))
    click.echo("\n\n".join(map(str, groups)) or f"Every wrong answer in {chapter} is explained by a misconception.")


@contextmanager
def _errors_in_sentences(kept: str = "") -> Iterator[None]:
    """Say what was wrong with the call, or with the machine, in a sentence and by the exit status.

    ``kept`` is what to add where a person stopped the run.
    """
    try:
        yield
    except (CourseError, SandboxUnavailable, ClusterError, GradebookError) as error:
        say(str(error))
        raise Exit(2 if isinstance(error, CourseError) else 1) from error
    except OSError as error:
        if not (sentence := disk_error(error)):
            raise
        say(sentence)
        raise Exit(1) from error
    except KeyboardInterrupt as error:
        say(f"Stopped.{kept}")
        raise Exit(getattr(error, "status", 130)) from error


def _one_of(workers: int | None, scheduler: str | None) -> None:
    if workers is not None and scheduler is not None:
        raise CourseError("--workers counts processes here, --scheduler has none here: say one of them.")


def _wanted(course: Course, chapters: Sequence[str], *, everything: bool, complete: bool = True) -> list[str]:
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


def _confinement(*, unsafe_local: bool) -> Confinement:
    if not unsafe_local:
        return "auto"
    say("UNSAFE: students' code runs as you, with everything you may do. Use it on code that you trust.")
    return "local"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _executor(scheduler: str | None) -> "Executor | None":
    if scheduler is None:
        return None
    from autograder.cluster.client import grade_on_cluster

    return partial(grade_on_cluster, scheduler)


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
        sys.stdout.write("[\n{}\n]\n".format(",\n".join(json_lines(verdicts))))
    if not brief:
        say(summary(verdicts, seconds))
        if missing := needs_a_person(verdicts):
            say(missing)
    if any(verdict.status == "ungradable" for verdict in verdicts):
        raise Exit(1)


from autograder.cli import classes as _classes  # noqa: E402, F401 - its verbs add themselves
from autograder.cli import courses as _courses  # noqa: E402, F401
from autograder.cli import marks as _marks  # noqa: E402, F401

app.add_command(start)
app.add_command(watch)
app.add_command(site)
