"""The whole course as a student gets it, in one folder: every chapter's released version, with the map over them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.course import Course, CourseError, load_course
from autograder.release.course_map import write_map
from autograder.release.run import ReleaseError, generate
from autograder.release.unfinished import unfinished_places
from autograder.terminal.layout import COURSE_NAME

__all__ = ["hand_out", "handout"]

_ASIDE = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")


def handout(root: Path, say: Callable[[str], None]) -> Path:
    """The course of the clone in ``root`` as students get it, in a folder that the framework keeps; made where it is out of date."""
    course = load_course(root)
    folder = course.state("handout")
    made = folder / COURSE_NAME
    if not made.is_file() or made.stat().st_mtime < _newest(course):
        say("Making the students' version of each chapter: once, some seconds …")
        try:
            hand_out(course, folder)
        except ReleaseError as error:
            raise CourseError(str(error)) from error
    return folder


def hand_out(course: Course, folder: Path) -> None:
    """Write the students' version of every finished chapter into ``folder``, with the map; what lay there is replaced.

    A chapter in which something is marked as still to be written is left out.

    nbgrader makes it in a copy of the course, so that no gradebook hears of it. Nothing is proven here: that is
    ``release``'s part. Raises ``ReleaseError`` where nbgrader refuses.
    """
    chapters = [chapter for chapter in course.finished_chapters() if not unfinished_places(course, chapter)]
    if not chapters:
        raise CourseError(f"No chapter of {course.root} is finished, so there is nothing to hand out.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="handout-", dir=folder.parent) as made:
        copy = Path(made) / "course"
        for name in ("solutions", "tests/chapters", *(f"source/{chapter}" for chapter in chapters)):
            if (course.root / name).is_dir():
                shutil.copytree(course.root / name, copy / name, ignore=_ASIDE)
        for path in course.root.glob("*.py"):
            shutil.copy2(path, copy)
        generate(copy, "*", "--RecordExamples.audience=self-learners")
        whole = copy / "release"
        write_map(course, whole, chapters)
        old = Path(made) / "old"
        if folder.exists():
            folder.replace(old)
        whole.replace(folder)


def _newest(course: Course) -> float:
    """When the newest file was written from which the students' version is made."""
    places = [course.root / "source", course.root / "solutions", course.root / "tests" / "chapters"]
    files = [path for place in places for path in place.rglob("*") if path.suffix in {".ipynb", ".py"}]
    own = [path for path in Path(__file__).parents[1].rglob("*.py") if os.access(path, os.R_OK)]
    return max(path.stat().st_mtime for path in [*files, *course.root.glob("*.py"), *own])
