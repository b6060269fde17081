"""Run the demonstration: a class of simulated students, from release to feedback, in a folder of its own."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.authoring.release import ReleaseError
from autograder.authoring.release.run import finish_release, generate
from autograder.authoring.release.validation import validate_all
from autograder.base.errors import CourseError
from autograder.base.formatting import pluralize
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.extras.demo.demo_report import ClassReport, class_table, next_steps, recognised
from autograder.extras.demo.students import hand_in, make_class
from autograder.grading.pool import Pool
from autograder.sandbox import SandboxUnavailable, open_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from autograder.base.verdict import Verdict
    from autograder.course.course import Course
    from autograder.extras.demo.students import Student
    from autograder.grading.submission import Job, Outcome
    from autograder.grading.task import Executor, Task
    from autograder.sandbox.confinement import Confinement

    Progress = Callable[[int, str], AbstractContextManager[Callable[[Verdict], None]]]

__all__ = ["copy_course", "fresh_folder", "run_demo"]

# The files of a course. Everything else in its folder is made from these.
COURSE_FILES = ("course_config.py", "nbgrader_config.py", "source", "solutions", "tests/chapters")
HANDED_IN_AT = "2026-01-15 10:30:00 UTC"


def run_demo(
    course: Course,
    size: int,
    *,
    confinement: Confinement = "auto",
    workers: int = 1,
    say: Callable[[str], None],
    progress: Progress,
) -> ClassReport:
    """Release, submit, grade and give feedback for a class of ``size``, and pass a line about each step to ``say``.

    ``progress`` shows the progress of grading: given a number of notebooks and a title, it yields a function to call with each
    verdict. A chapter that cannot be released is reported and skipped. Raises ``CourseError`` if no chapter is finished, and
    ``SandboxUnavailable`` if no sandbox works.
    """
    chapters = course.finished_chapters()
    if not chapters:
        raise CourseError(f"No chapter of {course.root} is finished yet, so there is nothing to demonstrate.")
    if confinement == "auto":
        _require_sandbox(course)
    students = tuple(make_class(size, hostile=confinement != "local"))
    demo = _impatient(copy_course(course, fresh_folder(Path.cwd())))
    report = ClassReport(demo, students)
    say(f"{pluralize(len(students), 'student')}, {pluralize(len(chapters), 'chapter')}, in {demo.root}")
    begun = time.monotonic()
    _released(report, chapters, workers, say)
    released = time.monotonic()
    with reusable_pool(workers) as executor:
        for chapter in report.chapters:
            for student in students:
                report.work[chapter, student.id] = work = hand_in(demo, chapter, student, len(students))
                _hand_in(demo, chapter, student, work.data)
            jobs, handed = handed_in(demo, chapter), time.monotonic()
            with progress(len(jobs), f"{chapter}: grading") as on_verdict:
                verdicts = grade_class(
                    demo, chapter, jobs, confinement=confinement, executor=executor, on_verdict=on_verdict
                )
            say(f"{chapter}: graded in {time.monotonic() - handed:.1f} s")
            report.verdicts.update({(chapter, str(verdict.student)): verdict for verdict in verdicts})
    graded = time.monotonic()
    if report.chapters:
        for part in (class_table(report), recognised(report), next_steps(report)):
            say("")
            say(part)
        say("")
        say(
            f"It took {graded - begun:.0f} s: {released - begun:.0f} s to validate and release, {graded - released:.0f} s to grade."
        )
    return report


def _released(report: ClassReport, chapters: Sequence[str], workers: int, say: Callable[[str], None]) -> None:
    """Validate ``chapters``, ``workers`` at a time, and release them. Report and skip exercises that fail."""
    say(f"Validating the checks of {pluralize(len(chapters), 'chapter')}, which takes longest, and releasing them …")

    def refused(chapter: str, why: object) -> None:
        report.refused[chapter] = str(why)
        say(f"{chapter}: not released, so it is skipped from now on. {why}")

    proofs = validate_all(report.course, chapters, mutants=False, workers=workers)
    for done, proof in enumerate(proofs, start=1):
        if proof.refused:
            refused(proof.chapter, proof.refused)
        else:
            say(f"{proof.chapter}: validated ({done} of {len(chapters)})")
    fit = [chapter for chapter in chapters if chapter not in report.refused]
    if not fit:
        return
    try:
        _release_all(report.course, fit)
    except ReleaseError:  # one at a time, to find out which one nbgrader refuses
        for chapter in fit:
            try:
                _release_all(report.course, [chapter])
            except ReleaseError as error:
                refused(chapter, error)
    report.chapters.extend(chapter for chapter in fit if chapter not in report.refused)


def fresh_folder(parent: Path) -> Path:
    """Create an empty folder in ``parent``: ``demo``, or ``demo-2``, ``demo-3``, … if that exists."""
    number = 1
    while True:
        folder = parent / ("demo" if number == 1 else f"demo-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


def copy_course(course: Course, folder: Path) -> Course:
    """Copy the files of a course, and nothing that was made from them, into ``folder``."""
    for name in COURSE_FILES:
        source, target = course.root / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return load_course(folder)


def _impatient(course: Course) -> Course:
    """Reduce the time limits of the course: endless loops use all of them, and the user is watching."""
    with (course.root / "course_config.py").open("a", encoding="utf-8") as config:
        config.write("\n# For the demonstration only: stop endless loops sooner.\n")
        config.write("c.Course.cell_seconds = 8.0\nc.Course.call_seconds = 3.0\n")
    return load_course(course.root)


def _require_sandbox(course: Course) -> None:
    """Raise ``SandboxUnavailable`` if no sandbox can be started."""
    try:
        open_worker(course.limits, list(course.packages)).close()
    except SandboxUnavailable as error:
        raise SandboxUnavailable(
            f"{error} To see the demonstration without a sandbox, and without its hostile students, add --unsafe-local."
        ) from error


def _hand_in(course: Course, chapter: str, student: Student, data: bytes) -> None:
    """Write a submission as ``nbgrader collect`` does."""
    folder = course.root / "submitted" / student.id / chapter
    folder.mkdir(parents=True)
    (folder / f"{chapter}.ipynb").write_bytes(data)
    (folder / "timestamp.txt").write_text(HANDED_IN_AT)


def _release_all(course: Course, chapters: Sequence[str]) -> None:
    """Generate the students' version of ``chapters``, which are all valid.

    Use a single nbgrader run if the course has no other chapters, because starting nbgrader takes longer than a chapter.
    Raises ``ReleaseError`` if nbgrader rejects one.
    """
    if chapters and {path.name for path in (course.root / "source").iterdir() if path.is_dir()} == {*chapters}:
        generate(course.root, "*")
    else:
        for chapter in chapters:
            generate(course.root, chapter)
    finish_release(course, chapters)


@contextmanager
def reusable_pool(workers: int) -> Iterator[Executor]:
    """Return an executor whose ``workers`` processes are reused for the next chapters of a course."""
    pools: list[Pool] = []

    def graded(course: Course, task: Task, jobs: Sequence[Job], /) -> Iterator[Outcome]:
        if not pools:
            pools.append(Pool(course.root, task, workers))
        pools[0].switch_task(task)
        yield from pools[0].grade(jobs)

    with ExitStack() as stack:
        stack.push(lambda *failure: pools[0].__exit__(*failure) if pools else None)
        yield graded
