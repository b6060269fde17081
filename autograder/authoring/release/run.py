"""Validate chapters, release them with nbgrader, and assemble the folder for students."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from autograder.authoring.release.course_map import write_map
from autograder.authoring.release.problems import unfinished_places
from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.base.nbgrader_steps import USE, records_examples
from autograder.course.course import Course, load_config, load_course
from autograder.judging.validated import mark_validated
from autograder.student.terminal.layout import COURSE_NAME

if TYPE_CHECKING:
    from autograder.authoring.release.validation import ValidationResult

__all__ = ["ReleaseError", "finish_release", "generate", "hand_out", "handout", "release_validated"]


class ReleaseError(Exception):
    """Raised if a chapter cannot be released. The message says what is wrong and what to do."""


def release_validated(course: Course, result: ValidationResult, say: Callable[[str], None] | None = None) -> None:
    """Generate the students' version of a valid chapter. Raises ``ReleaseError`` if the chapter was refused."""
    say = say or (lambda _text: None)
    for note in result.notes:
        say(note)
    if result.refused:
        raise ReleaseError(result.refused)
    generate(course.root, result.chapter)
    finish_release(course, [result.chapter])
    if result.draft:
        _mark_as_draft(course, result.chapter)
        missed_targets = "".join(f"\n  - {sentence}" for sentence in result.missed_targets)
        say(f"{result.chapter}: this is a draft. Missed targets:{missed_targets}\nThe details are in {result.page}.")


def finish_release(course: Course, chapters: Sequence[str]) -> None:
    """Record that ``chapters`` are valid, and write the map of all released chapters."""
    for chapter in chapters:
        mark_validated(course, chapter)
    released = [c for c in course.chapters if (course.root / "release" / c / f"{c}.ipynb").is_file()]
    write_map(course, course.root / "release", released, course.audience)


def generate(root: Path, chapter: str, *settings: str) -> None:
    """Generate the released version of ``chapter`` with nbgrader, or of all chapters if ``chapter`` is ``*``.

    ``settings`` contains further command-line arguments. Raises ``ReleaseError`` if nbgrader fails.
    """
    _require_own_steps(root)
    start = "from autograder.classroom.gradebook.entries import run_nbgrader; run_nbgrader()"
    command = [sys.executable, "-c", start, "generate_assignment", chapter, "--force", *settings]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(
            f"nbgrader could not create the released version of {chapter}:\n{done.stderr.strip() or done.stdout.strip()}"
        )


def _require_own_steps(root: Path) -> None:
    """Raise ``ReleaseError`` if nbgrader would use its default steps, because these clear stubs and omit the data for ``check()``."""
    path = root / "nbgrader_config.py"
    if not path.is_file():
        raise ReleaseError(f"There is no {path}. Create it with two lines: {' and '.join(USE)}.")
    if not records_examples(load_config(path)):
        raise ReleaseError(
            f"{path} does not make nbgrader use this framework's release steps (c.GenerateAssignment.preprocessors). "
            f"Begin the file with two lines: {' and '.join(USE)}."
        )


def _mark_as_draft(course: Course, chapter: str) -> None:
    """Mark the released notebook as a draft. Leave out the reasons, because they would reveal hidden checks to students."""
    path = course.root / "release" / chapter / f"{chapter}.ipynb"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["metadata"]["autograder"] = {**document["metadata"].get("autograder", {}), "draft": True}
    text = json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True)
    write_atomically(path, f"{text}\n".encode())


_ASIDE = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")


def handout(root: Path, say: Callable[[str], None]) -> Path:
    """Return the folder with the students' version of the course in ``root``. Generate it if it is out of date."""
    course = load_course(root)
    folder = course.state("handout")
    written = folder / COURSE_NAME
    if not written.is_file() or written.stat().st_mtime < _newest(course):
        say("Creating the students' version of each chapter. This happens once and takes a few seconds …")
        try:
            hand_out(course, folder)
        except ReleaseError as error:
            raise CourseError(str(error)) from error
    return folder


def hand_out(course: Course, folder: Path) -> None:
    """Write the students' version of every finished chapter and the course map into ``folder``, replacing its contents.

    Chapters with unfinished parts are left out. nbgrader runs in a copy of the course, so the gradebook does not change.
    Nothing is validated here, unlike in ``release``. Raises ``CourseError`` if no chapter is finished, and ``ReleaseError``
    if nbgrader fails.
    """
    chapters = [chapter for chapter in course.finished_chapters() if not unfinished_places(course, chapter)]
    if not chapters:
        raise CourseError(f"No chapter of {course.root} is finished, so there is nothing to release.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="handout-", dir=folder.parent) as temporary:
        copy = Path(temporary) / "course"
        for name in ("solutions", "tests/chapters", *(f"source/{chapter}" for chapter in chapters)):
            if (course.root / name).is_dir():
                shutil.copytree(course.root / name, copy / name, ignore=_ASIDE)
        for path in course.root.glob("*.py"):
            shutil.copy2(path, copy)
        generate(copy, "*", "--RecordExamples.audience=self-learners")
        whole = copy / "release"
        write_map(course, whole, chapters, "self-learners")
        old = Path(temporary) / "old"
        if folder.exists():
            folder.replace(old)
        whole.replace(folder)


def _newest(course: Course) -> float:
    """Return the modification time of the newest file that affects the students' version."""
    places = [course.root / "source", course.root / "solutions", course.root / "tests" / "chapters"]
    files = [path for place in places for path in place.rglob("*") if path.suffix in {".ipynb", ".py"}]
    own = [path for path in Path(__file__).parents[2].rglob("*.py") if os.access(path, os.R_OK)]
    return max(path.stat().st_mtime for path in [*files, *course.root.glob("*.py"), *own])
