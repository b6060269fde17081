"""Copies of the mini course in ``tests/fixtures`` that a test may grade, and submissions to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from autograder.course.course import Course, load_course
from autograder.course.notebook import document_bytes, insert_code
from tests.support import MINI_COURSE

CHAPTER = "ch1_units"
RIGHT = {
    "to_kelvin": "def to_kelvin(celsius):\n    return celsius + 273.15",
    "mean_kelvin": "def mean_kelvin(celsius):\n    return np.mean(to_kelvin(celsius), axis=-1)",
    "quiz_ch1_units": 'q1 = "b"\nq2 = 0.0',
}
WRONG_SIGN = "def to_kelvin(celsius):\n    return celsius - 273.15"
MAX_SCORE = 6.0
ESSAY = {"grade": True, "solution": True, "locked": False, "points": 4, "grade_id": "essay", "schema_version": 3}
QUICK = "c.Course.locate_seconds = 0\n"  # tests of localization set their own limit


def copy_course(folder: Path, *, config: str = "", files: dict[str, str] | None = None) -> Course:
    """Copy the mini course to ``folder``, append ``config`` to its configuration, and overwrite ``files``, by path.

    Mistakes are located only if ``config`` sets ``locate_seconds``.
    """
    ignored = shutil.ignore_patterns("__pycache__", ".autograder", ".course_secret")
    shutil.copytree(MINI_COURSE, folder, dirs_exist_ok=True, ignore=ignored)
    with (folder / "course_config.py").open("a") as configuration:
        configuration.write(QUICK if "locate_seconds" not in config else "")
        configuration.write(config)
    for name, text in (files or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return load_course(folder)


def change(path: Path, old: str, new: str) -> None:
    """Edit one place of a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def document(course: Course, **code: str) -> dict[str, Any]:
    """Return the chapter's notebook with ``code`` in its stubs."""
    return insert_code(json.loads(course.source(CHAPTER).read_text()), code)


def cell(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    """Return the cell of ``notebook`` that is called ``grade_id``."""
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def add_essay(course: Course) -> Course:
    """Add a manually graded cell to the chapter's notebook."""
    source = course.source(CHAPTER)
    notebook = json.loads(source.read_text())
    essay = {"cell_type": "markdown", "id": "essay", "metadata": {"nbgrader": ESSAY}, "source": "Your essay."}
    source.write_text(json.dumps({**notebook, "cells": [*notebook["cells"], essay]}))
    return course


def hand_in(course: Course, student: str, notebook: dict[str, Any] | bytes, timestamp: str | None = None) -> Path:
    """Write ``notebook`` (a document, or any bytes) into the submission folder, as nbgrader's ``collect`` does."""
    path = course.root / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else document_bytes(notebook))
    if timestamp is not None:
        (path.parent / "timestamp.txt").write_text(timestamp)
    return path


# A configuration that lists all steps instead of calling `configure`, as older courses have it.
SPELLED_OUT = """
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
    "autograder.nbgrader.grade.RecordExamples",
]
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "autograder.nbgrader.grade.RestoreCells",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "autograder.nbgrader.grade.GradeConfined",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "autograder.nbgrader.grade.SaveOutcome",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
"""


def spell_out(course: Course) -> Course:
    """Give the course a configuration that lists all steps, and one line that loads it."""
    with (course.root / "course_config.py").open("a") as configuration:
        configuration.write(SPELLED_OUT)
    (course.root / "nbgrader_config.py").write_text('load_subconfig("course_config.py")\n')
    return load_course(course.root)
