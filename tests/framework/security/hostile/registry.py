"""Decorators that register the functions that make hostile files, and the table of these functions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.mini import CHAPTER, document

NOTHING_RIGHT = {
    "to_kelvin": "def to_kelvin(celsius):\n    return celsius - 273.15",
    "mean_kelvin": "def mean_kelvin(celsius):\n    return np.mean(celsius, axis=0)",
    "quiz_ch1_units": 'q1 = "a"\nq2 = 1.0',
}
NAME = f"{CHAPTER}.ipynb"
SCRIPT = "<script>alert('hostile')</script><img src=x onerror=alert('hostile')>"
# A picture of one pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
MARKED_UP = {"text/html": SCRIPT, "image/svg+xml": f"<svg>{SCRIPT}</svg>", "application/javascript": "alert('hostile')"}


@dataclass(frozen=True)
class HostileFile:
    """A function that makes a file, the verdict that the file must get, and the student's folder name if it matters."""

    make: Callable[[Path, Any], None]
    status: str
    student: str = ""


FILES: dict[str, HostileFile] = {}


def hostile(status, *, student="", name=""):
    """Register a function that makes a file whose verdict must be ``status``."""

    def note(make):
        FILES[name or make.__name__] = HostileFile(make, status, student)
        return make

    return note


def hostile_notebook(status="graded", *, student="", name=""):
    """Register a function that changes a notebook with wrong answers, whose verdict must then be ``status``."""

    def note(change):
        def make(folder, world):
            notebook = wrong(world.course)
            change(notebook)
            save(folder, notebook)

        hostile(status, student=student, name=name or change.__name__)(make)
        return change

    return note


def wrong(course):
    """Return the chapter's notebook with answers that earn nothing."""
    return document(course, **NOTHING_RIGHT)


def save(folder, notebook):
    """Save ``notebook`` as JSON. Python's encoder accepts NaN and lone surrogates."""
    (folder / NAME).write_text(json.dumps(notebook), "utf-8")


def terabyte(path):
    """Make a sparse file of one terabyte at ``path``."""
    path.touch()
    os.truncate(path, 1 << 40)


def code_cells(notebook):
    """Return the code cells of a notebook."""
    return [c for c in notebook["cells"] if c["cell_type"] == "code"]


def check_cells(notebook):
    """Return the graded cells of a notebook."""
    return [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade")]
