"""Create a class for measurements: a copy of the course in a new folder, and the submissions of its students.

The mix of notebooks is that of the demonstration (solved, half done, slips, alternatives, blank, crashing …), without
attackers. Every notebook is different, and has the outputs of "Restart and run all", as real notebooks do.
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from autograder.course.course import Course, load_course
from autograder.course.notebook import NotebookError, document_bytes, load_document, notebook_of
from autograder.extras.demo.demo_run import copy_course
from autograder.extras.demo.students import hand_in, make_class
from autograder.grading.document import write_outcomes
from autograder.grading.task import GradingOptions
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox import open_worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.sandbox.worker import Worker

__all__ = ["CHAPTER", "HERE", "course_in", "fill", "join_in"]

HERE = Path(__file__).resolve().parents[1]
CHAPTER = "ch1_weighted_averaging"


def course_in(folder: Path, *lines: str) -> Course:
    """Copy the course to ``folder``, add ``lines`` to its configuration, and return the copy."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_course(load_course(HERE), folder)
    secret = HERE / ".course_secret"
    if secret.is_file():
        shutil.copy(secret, folder)
    with (folder / "course_config.py").open("a") as config:
        config.writelines(f"{line}\n" for line in lines)
    return load_course(folder)


def fill(course: Course, students: int, chapter: str = CHAPTER, *, bare: bool = False) -> list[Path]:
    """Submit ``students`` different notebooks of ``chapter`` (without outputs if ``bare``). Return their paths."""
    known: dict[str, dict[str, Any]] = {}
    paths = []
    with closing(open_worker(course.limits, list(course.packages))) as worker:
        for student in make_class(students, hostile=False):
            data = hand_in(course, chapter, student, students).data
            signed = _signed(_run(data, worker, None if bare else known), student.id)
            paths.append(_handed_in(course, student.id, chapter, signed))
    return paths


def join_in(course: Course, graded: Sequence[Path], students: int, chapter: str = CHAPTER) -> None:
    """Extend the class to ``students`` students. Each new student submits a copy of a notebook in ``graded``, with their own name.

    The copy gets the verdict of the original without being run, because a name in a comment changes no verdict.
    """
    cache = VerdictCache.of(course, chapter, GradingOptions().cache_inputs)
    known = []
    for path in graded:
        data = path.read_bytes()
        verdict, cells = cache.load(cache.key(data)), cache.load_cells(cache.key(data))
        if verdict is not None and cells is not None:
            known.append((path.parent.parent.name, data, verdict, cells))
    for student in make_class(students, hostile=False)[len(graded) :]:
        other, data, verdict, cells = known[student.number % len(known)]
        path = _handed_in(course, student.id, chapter, data.replace(_name(other), _name(student.id)))
        cache.save(cache.key(path.read_bytes()), verdict.relabelled(notebook=str(path), student=student.id), cells)


def _handed_in(course: Course, student: str, chapter: str, data: bytes) -> Path:
    path = course.root / "submitted" / student / chapter / f"{chapter}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    (path.parent / "timestamp.txt").write_text("2026-01-15 10:30:00 UTC")
    return path


def _name(student: str) -> bytes:
    """Return the comment line with a student's name as it appears in a notebook's JSON."""
    return f"# {student}\\n".encode()


def _run(data: bytes, worker: Worker, known: dict[str, dict[str, Any]] | None) -> dict[str, Any] | bytes:
    try:
        document = load_document(data)
        cells = notebook_of(document).code_cells()
    except NotebookError:
        return data
    if known is None:
        return document
    key = json.dumps([cell.source for cell in cells])
    if key not in known:
        session = worker.open(cells)
        write_outcomes(document, session.cells)
        known[key] = document
        session.close()
    return known[key]


def _signed(document: dict[str, Any] | bytes, student: str) -> bytes:
    """Return the notebook with the student's name in its last solution cell, so that no two notebooks are equal."""
    if isinstance(document, bytes):
        return document
    document = json.loads(json.dumps(document))
    stubs = [c for c in document["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]
    cell = stubs[-1] if stubs else document["cells"][-1]
    cell["source"] = f"# {student}\n{''.join(cell['source'])}"
    return document_bytes(document)
