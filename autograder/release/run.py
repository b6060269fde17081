"""From a chapter of the course to what students get: looked through, rehearsed, audited, and handed to nbgrader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.chains import USE, records_examples
from autograder.course import Course, load_config
from autograder.files import write_atomically
from autograder.judging.proven import note_proven
from autograder.release.course_map import write_map
from autograder.sandbox.confinement import Confinement

if TYPE_CHECKING:
    from autograder.release.proof import Proof

__all__ = ["ReleaseError", "generate", "release", "release_proven", "release_together"]


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
    of the audit's targets (see ``autograder.audit``); or that nbgrader refuses. What was released before it stays.
    """
    from autograder.release.proof import proven  # noqa: PLC0415 - reading examples needs none of it

    for proof in proven(course, chapters, mutants=mutants, draft=draft, confinement=confinement, workers=workers):
        release_proven(course, proof, say)


def release_proven(course: Course, proof: Proof, say: Callable[[str], None] | None = None) -> None:
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


def release_together(course: Course, chapters: Sequence[str]) -> None:
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
        note_proven(course, chapter)
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
