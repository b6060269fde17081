"""Releasing a chapter: prove its checks, record its examples, let nbgrader make the version that students get."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from autograder.course import Course
from autograder.examples.record import recorded
from autograder.files import write_atomically
from autograder.judging.loader import load_checks

__all__ = ["ReleaseError", "record_examples", "release"]


class ReleaseError(Exception):
    """A chapter is not fit to be released; the text says what was found and what to do."""


def record_examples(course: Course, chapter: str) -> Path:
    """Record the chapter's visible checks as data, in ``.autograder/examples/<chapter>.json``, and say where that is.

    Raises ``CourseError`` where the checks cannot be read, or a visible one cannot be written down.
    """
    course.require_chapter(chapter)
    path = course.state("examples", f"{chapter}.json")
    text = json.dumps(recorded(load_checks(course, chapter)), ensure_ascii=False, separators=(",", ":"))
    write_atomically(path, f"{text}\n".encode())  # a notebook that reads it meanwhile never sees half of it
    return path


def release(course: Course, chapters: Sequence[str], *, mutants: bool = True) -> None:
    """Release ``chapters``: audit, examples, then ``nbgrader generate_assignment``.

    Raises ``ReleaseError`` for the first chapter that falls short of the audit's targets (see ``autograder.audit``), or that
    nbgrader refuses; what was released before it stays.
    """
    from autograder.audit.measure import DRAWS, audit  # noqa: PLC0415 - reading examples needs none of it

    for chapter in chapters:
        course.require_chapter(chapter)
        [report] = audit(course, [chapter], mutants=mutants, draws=DRAWS if mutants else 2)
        if not report.ok:
            raise ReleaseError("\n".join(report.problems))
        record_examples(course, chapter)
        command = [sys.executable, "-m", "nbgrader", "generate_assignment", chapter, "--force"]
        # nbgrader starts `alembic` by name: it lies beside this interpreter, whether a virtual environment is active or not.
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])
        done = subprocess.run(
            command, cwd=course.root, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ReleaseError(
                f"nbgrader could not make the released version of {chapter}:\n{done.stderr.strip() or done.stdout.strip()}"
            )
