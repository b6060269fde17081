"""Release a chapter: inspect it, try it out, audit it, and pass it to nbgrader. Assemble the student's folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
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
from autograder.sandbox.confinement import Confinement
from autograder.student.terminal.layout import COURSE_NAME

if TYPE_CHECKING:
    from autograder.authoring.release.validation import ValidationResult

__all__ = ["ReleaseError", "generate", "hand_out", "handout", "release", "release_all", "release_validated"]


class ReleaseError(Exception):
    """A chapter is not fit to be released; the text says what was found and what to do."""


def release(
    course: Course,
    chapters: Sequence[str],
    *,
    mutants: bool = True,
    draft: bool = False,
    confinement: Confinement = "auto",
    workers: int = 1,
    say: Callable[[str], None] | None = None,
) -> None:
    """Release ``chapters``: look through them, rehearse, audit, record examples, then ``nbgrader generate_assignment``.

    With ``draft`` a chapter goes out that misses targets of the audit, as long as its marks are right; its audit page, the
    released notebook's metadata and a line passed to ``say`` tell of it. Where no jail can be had, the rehearsal runs as
    ``confinement="local"`` does, and ``say`` is told: what is run is the author's own. Several ``workers`` prove chapters
    side by side, and each is released as soon as it is proven.

    Raises ``ReleaseError`` for the first chapter in which a mistake is found, with all that are found at once; that falls short
    of the audit's targets (see ``autograder.authoring.audit``); or that nbgrader refuses. What was released before it stays.
    """
    from autograder.authoring.release.validation import validate_all  # noqa: PLC0415 - reading examples needs none of it

    for proof in validate_all(course, chapters, mutants=mutants, draft=draft, confinement=confinement, workers=workers):
        release_validated(course, proof, say)


def release_validated(course: Course, proof: ValidationResult, say: Callable[[str], None] | None = None) -> None:
    """Have nbgrader make the students' version of a chapter that is fit; raises ``ReleaseError`` where it is not."""
    say = say or (lambda _text: None)
    for note in proof.notes:
        say(note)
    if proof.refused:
        raise ReleaseError(proof.refused)
    generate(course.root, proof.chapter)
    _released(course, [proof.chapter])
    if proof.draft:
        _mark_as_draft(course, proof.chapter)
        unmet = "".join(f"\n  - {sentence}" for sentence in proof.unmet)
        say(
            f"{proof.chapter}: this is a draft. Targets that are not met:{unmet}\n"
            f"The page with what is behind it is {proof.page}."
        )


def release_all(course: Course, chapters: Sequence[str]) -> None:
    """Have nbgrader make the students' version of ``chapters``, all of them proven, in one run where the course has no others.

    To start it takes longer than a chapter does. Raises ``ReleaseError`` where it refuses one.
    """
    if chapters and {path.name for path in (course.root / "source").iterdir() if path.is_dir()} == {*chapters}:
        generate(course.root, "*")
    else:
        for chapter in chapters:
            generate(course.root, chapter)
    _released(course, chapters)


def _released(course: Course, chapters: Sequence[str]) -> None:
    """Note that ``chapters`` are proven, and draw the map with them."""
    for chapter in chapters:
        mark_validated(course, chapter)
    _draw_map(course)


def _draw_map(course: Course) -> None:
    """Write the map of what is released so far beside it."""
    released = [c for c in course.chapters if (course.root / "release" / c / f"{c}.ipynb").is_file()]
    write_map(course, course.root / "release", released)


def generate(root: Path, chapter: str, *settings: str) -> None:
    """Have nbgrader make the released version of ``chapter`` (``*``: of each) in the course folder ``root``.

    ``settings`` are more words for its command line. Raises ``ReleaseError`` where it refuses.
    """
    _require_chain(root)
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", chapter, "--force", *settings]
    # nbgrader starts `alembic` by name: it lies beside this interpreter, whether a virtual environment is active or not.
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ReleaseError(
            f"nbgrader could not make the released version of {chapter}:\n{done.stderr.strip() or done.stdout.strip()}"
        )


def _require_chain(root: Path) -> None:
    """Refuse to release by nbgrader's own chain: it would wipe the stubs, and leave out what ``check()`` needs."""
    path = root / "nbgrader_config.py"
    if not path.is_file():
        raise ReleaseError(f"There is no {path}. Write two lines into it: {' and '.join(USE)}.")
    if not records_examples(load_config(path)):
        raise ReleaseError(
            f"{path} does not have nbgrader release by this framework's steps (c.GenerateAssignment.preprocessors). "
            f"Let it begin with two lines: {' and '.join(USE)}."
        )


def _mark_as_draft(course: Course, chapter: str) -> None:
    """Note it in the released notebook's metadata: the word alone, as the reasons would tell students of hidden checks."""
    path = course.root / "release" / chapter / f"{chapter}.ipynb"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["metadata"]["autograder"] = {**document["metadata"].get("autograder", {}), "draft": True}
    text = json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True)
    write_atomically(path, f"{text}\n".encode())


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
    own = [path for path in Path(__file__).parents[2].rglob("*.py") if os.access(path, os.R_OK)]
    return max(path.stat().st_mtime for path in [*files, *course.root.glob("*.py"), *own])
