"""From a chapter of the course to what students get: looked through, rehearsed, audited, and handed to nbgrader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.course import Course
from autograder.examples.record import recorded
from autograder.files import write_atomically
from autograder.judging.loader import load_checks
from autograder.judging.proven import note_proven
from autograder.release.inspection import inspect_chapter
from autograder.release.mistake import Mistake
from autograder.sandbox.confinement import Confinement, SandboxLost, SandboxUnavailable

__all__ = ["ReleaseError", "listed", "record_examples", "release"]


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


def release(
    course: Course,
    chapters: Sequence[str],
    *,
    mutants: bool = True,
    draft: bool = False,
    confinement: Confinement = "auto",
    say: Callable[[str], None] | None = None,
) -> None:
    """Release ``chapters``: look through them, rehearse, audit, record examples, then ``nbgrader generate_assignment``.

    With ``draft`` a chapter goes out that misses targets of the audit, as long as its marks are right; its audit page, the
    released notebook's metadata and a line passed to ``say`` tell of it. Where no jail can be had, the rehearsal runs as
    ``confinement="local"`` does, and ``say`` is told: what is run is the author's own.

    Raises ``ReleaseError`` for the first chapter in which a mistake is found, with all that are found at once; that falls short
    of the audit's targets (see ``autograder.audit``); or that nbgrader refuses. What was released before it stays.
    """
    from autograder.audit.measure import DRAWS, audit  # noqa: PLC0415 - reading examples needs none of it
    from autograder.audit.page import audit_page  # noqa: PLC0415

    say = say or (lambda _text: None)
    for chapter in chapters:
        mistakes = _mistakes(course, chapter, confinement, say)
        if mistakes:
            raise ReleaseError(listed(mistakes))
        course.require_chapter(chapter)
        [report] = audit(course, [chapter], mutants=mutants, draws=DRAWS if mutants else 2)
        may_be_draft = bool(report.unmet) and set(report.problems) == set(report.unmet)
        report = replace(report, draft=draft and may_be_draft)
        page = course.state("audit", f"{chapter}.html")
        write_atomically(page, audit_page([report], course.title or course.course_id).encode())
        if not report.ok and not report.draft:
            raise ReleaseError("\n".join(report.problems))
        record_examples(course, chapter)
        _generate(course, chapter)
        note_proven(course, chapter)
        if report.draft:
            _mark_as_draft(course, chapter)
            unmet = "".join(f"\n  - {sentence}" for sentence in report.unmet)
            say(
                f"{chapter}: this is a draft. Targets that are not met:{unmet}\nThe page with what is behind it is {page}."
            )


def listed(mistakes: Sequence[object]) -> str:
    """Sentences one below the other, with their number where there are several."""
    if len(mistakes) == 1:
        return str(mistakes[0])
    return f"There are {len(mistakes)} mistakes:" + "".join(f"\n  - {mistake}" for mistake in mistakes)


def _mistakes(
    course: Course, chapter: str, confinement: Confinement, say: Callable[[str], None]
) -> tuple[Mistake, ...]:
    found = inspect_chapter(course, chapter)
    try:
        return found.rehearsed(confinement)
    except SandboxLost:
        raise
    except SandboxUnavailable:
        say(f"{chapter}: no jail can be had here (`autograder doctor` tells why), so its own notebook is tried as you.")
        return found.rehearsed("local")


def _generate(course: Course, chapter: str) -> None:
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


def _mark_as_draft(course: Course, chapter: str) -> None:
    """Note it in the released notebook's metadata: the word alone, as the reasons would tell students of hidden checks."""
    path = course.root / "release" / chapter / f"{chapter}.ipynb"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["metadata"]["autograder"] = {**document["metadata"].get("autograder", {}), "draft": True}
    text = json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True)
    write_atomically(path, f"{text}\n".encode())
