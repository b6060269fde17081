"""Run the demonstration: a class of simulated students, from release to feedback, in a new folder."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.authoring.release import ReleaseError
from autograder.authoring.release.run import finish_release, generate
from autograder.authoring.release.validation import validate_all
from autograder.base.errors import CourseError
from autograder.base.formatting import number, pluralize
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.extras.demo.students import ATTACKS, hand_in, make_class
from autograder.grading.pool import Pool
from autograder.sandbox import SandboxUnavailable, open_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from autograder.base.verdict import Verdict
    from autograder.course.course import Course
    from autograder.extras.demo.students import HandIn, Student
    from autograder.grading.submission import Job, Outcome
    from autograder.grading.task import Executor, Task
    from autograder.sandbox.confinement import Confinement

    Progress = Callable[[int, str], AbstractContextManager[Callable[[Verdict], None]]]

__all__ = ["ClassReport", "class_table", "copy_course", "fresh_folder", "next_steps", "recognised", "run_demo"]

# The files that define a course. All other files in its folder are generated from these.
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
    """Release chapters, submit and grade the work of ``size`` simulated students, and pass a line about each step to ``say``.

    ``progress`` is called with a number of notebooks and a title. Its result is a context manager that yields a function to call
    with each verdict. A chapter that cannot be released is reported and skipped. Raises ``CourseError`` if no chapter is finished, and
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
            f"The demonstration took {graded - begun:.0f} s: {released - begun:.0f} s to validate and release, {graded - released:.0f} s to grade."
        )
    return report


def _released(report: ClassReport, chapters: Sequence[str], workers: int, say: Callable[[str], None]) -> None:
    """Validate ``chapters``, ``workers`` at a time, and release them. Report and skip chapters that fail."""
    say(
        f"Validating the checks of {pluralize(len(chapters), 'chapter')} and releasing them. Validation takes the most time …"
    )

    def refused(chapter: str, why: object) -> None:
        report.refused[chapter] = str(why)
        say(f"{chapter}: not released, so it is skipped. {why}")

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
    except ReleaseError:  # release one chapter at a time, to find the chapters that nbgrader rejects
        for chapter in fit:
            try:
                _release_all(report.course, [chapter])
            except ReleaseError as error:
                refused(chapter, error)
    report.chapters.extend(chapter for chapter in fit if chapter not in report.refused)


def fresh_folder(parent: Path) -> Path:
    """Create an empty folder in ``parent``. Call it ``demo`` or, if that exists, ``demo-2``, ``demo-3`` and so on."""
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
    """Copy the files of a course into ``folder``, without the files that are generated from them."""
    for name in COURSE_FILES:
        source, target = course.root / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return load_course(folder)


def _impatient(course: Course) -> Course:
    """Reduce the time limit of cells, because the user has to wait until each endless loop reaches it.

    The limit of calls stays as it is, because slow correct solutions need it on a busy machine.
    """
    with (course.root / "course_config.py").open("a", encoding="utf-8") as config:
        config.write("\n# For the demonstration only: stop endless loops sooner.\n")
        config.write("c.Course.cell_seconds = 8.0\n")
    return load_course(course.root)


def _require_sandbox(course: Course) -> None:
    """Raise ``SandboxUnavailable`` if no sandbox can be started."""
    try:
        open_worker(course.limits, list(course.packages)).close()
    except SandboxUnavailable as error:
        raise SandboxUnavailable(
            f"{error} To run the demonstration without a sandbox, and without its hostile students, add --unsafe-local."
        ) from error


def _hand_in(course: Course, chapter: str, student: Student, data: bytes) -> None:
    """Write a submission as ``nbgrader collect`` does."""
    folder = course.root / "submitted" / student.id / chapter
    folder.mkdir(parents=True)
    (folder / f"{chapter}.ipynb").write_bytes(data)
    (folder / "timestamp.txt").write_text(HANDED_IN_AT)


def _release_all(course: Course, chapters: Sequence[str]) -> None:
    """Generate the students' version of ``chapters``, which are all valid.

    If these are all chapters of the course, run nbgrader only once, because starting nbgrader takes longer than generating a chapter.
    Raises ``ReleaseError`` if nbgrader rejects a chapter.
    """
    if chapters and {path.name for path in (course.root / "source").iterdir() if path.is_dir()} == {*chapters}:
        generate(course.root, "*")
    else:
        for chapter in chapters:
            generate(course.root, chapter)
    finish_release(course, chapters)


@contextmanager
def reusable_pool(workers: int) -> Iterator[Executor]:
    """Yield an executor that reuses its ``workers`` processes for all chapters of a course."""
    pools: list[Pool] = []

    def graded(course: Course, task: Task, jobs: Sequence[Job], /) -> Iterator[Outcome]:
        if not pools:
            pools.append(Pool(course.root, task, workers))
        pools[0].switch_task(task)
        yield from pools[0].grade(jobs)

    with ExitStack() as stack:
        stack.push(lambda *failure: pools[0].__exit__(*failure) if pools else None)
        yield graded


# --- The results shown at the end --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassReport:
    """A graded class. The keys of ``work`` (the submissions) and ``verdicts`` are pairs of chapter and student id.

    ``chapters`` lists the released chapters. ``refused`` maps each chapter that was not released to the reason.
    """

    course: Course
    students: tuple[Student, ...]
    chapters: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    work: dict[tuple[str, str], HandIn] = field(default_factory=dict)
    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)


def class_table(report: ClassReport) -> str:
    """Return a table with one row per student: what they submit, and their points in each chapter."""
    heads = ["student", "submits", *map(_short, report.chapters)]
    best = ["", "(maximum)", *(_most(report, chapter) for chapter in report.chapters)]
    rows = [[s.id, _description(report, s), *(_score(report, c, s) for c in report.chapters)] for s in report.students]
    widths = [max(map(len, column)) for column in zip(heads, best, *rows, strict=True)]
    lines = []
    for line in (heads, best, ["─" * width for width in widths], *rows):
        cells = [
            f"{text:<{w}}" if i < 2 else f"{text:>{w}}" for i, (text, w) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(cells))
    return "\n".join(lines)


def recognised(report: ClassReport) -> str:
    """Return a text that says which injected mistakes were identified by name, and which submissions need a review."""
    injected = {key: work.injected for key, work in report.work.items() if work.injected is not None}
    missed = []
    for key, slip in injected.items():
        named = {e.name: e.misconception for e in report.verdicts[key].exercises}.get(slip.exercise)
        if named != slip.name:
            missed.append(
                f"  {key[1]}, {slip.exercise}: {slip.name} was {f'identified as {named}' if named else 'not identified'}"
            )
    found = len(injected) - len(missed)
    lines = [
        f"{found} of {len(injected)} mistakes were identified by name. Each mistake was injected separately.",
        *missed,
    ]
    faults = _faults(report)
    if faults:
        lines.append("Needs your review (marked — in the table, with advice on the feedback page):")
        lines += [f"  {student}, {_where(report, chapters)}: {fault}" for (student, fault), chapters in faults.items()]
    return "\n".join(lines)


def next_steps(report: ClassReport) -> str:
    """Return a text that lists the files of this class to look at, and commands to try."""
    root = report.course.root
    here = Path(os.path.relpath(root))
    # Paths that can be typed in the demo's folder, with or without an active virtual environment.
    tools = Path(os.path.relpath(Path(sys.executable).parent, root))
    shown = [key for key, work in report.work.items() if work.injected is not None] or list(report.work)
    chapter, student = shown[0]
    lines = [
        "Where to look next:",
        f"  feedback for {student:9} {here / 'feedback' / student / chapter / chapter}.html",
        f"  the graded notebook    {here / 'autograded' / student / chapter / chapter}.ipynb",
        f"  what students get      {here / 'release' / chapter}",
        f"  the class on one page  cd {here} && {tools / 'autograder'} report --all",
    ]
    if all(verdict.sandbox != "local" for verdict in report.verdicts.values()):
        lines += [
            f"  the marks as CSV       cd {here} && {tools / 'nbgrader'} export",
            f"  nbgrader's formgrader  cd {here} && {tools / 'jupyter'} lab   (there: Nbgrader › Formgrader)",
        ]
    else:
        lines.append("  (the gradebook is empty: marks graded without a sandbox are not entered)")
    return "\n".join(lines)


def _faults(report: ClassReport) -> dict[tuple[str, str], list[str]]:
    """Return the chapters that could not be graded, by student and reason. Reasons that differ only in the chapter are merged."""
    found: dict[tuple[str, str], list[str]] = {}
    for (chapter, student), verdict in report.verdicts.items():
        if verdict.status == "ungradable":
            # Keep only the first sentence, without the parts that differ between chapters.
            reason = (verdict.reason or "").replace(f"{chapter}.ipynb", "the notebook").replace(chapter, "the chapter")
            fault = re.sub(r" \([^()]*\)", "", reason).partition(". ")[0].rstrip(".")
            found.setdefault((student, f"{fault}."), []).append(chapter)
    return found


def _where(report: ClassReport, chapters: list[str]) -> str:
    return "every chapter" if len(chapters) == len(report.chapters) > 1 else ", ".join(map(_short, chapters))


def _description(report: ClassReport, student: Student) -> str:
    """Return a description of a student's work. If it contains an attack, the description names the attack's chapter."""
    texts = {chapter: report.work[chapter, student.id].description for chapter in report.chapters}
    attacks = [c for c, text in texts.items() if student.hostile and text == ATTACKS[student.kind].description]
    if attacks:
        return f"{texts[attacks[0]]} (in {_short(attacks[0])})"
    return texts[report.chapters[0]]


def _short(chapter: str) -> str:
    return chapter.partition("_")[0]


def _most(report: ClassReport, chapter: str) -> str:
    return number(max((v.max_score for (c, _), v in report.verdicts.items() if c == chapter), default=0.0))


def _score(report: ClassReport, chapter: str, student: Student) -> str:
    verdict = report.verdicts[chapter, student.id]
    return "—" if verdict.status == "ungradable" else number(verdict.score)
