"""The visible checks of a chapter, written down as data for the notebooks of students."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.course import Course
from autograder.examples.record import recorded
from autograder.files import write_atomically
from autograder.judging.loader import load_checks

__all__ = ["record_examples"]


def record_examples(course: Course, chapter: str) -> Path:
    """Record the chapter's visible checks as data, in ``.autograder/examples/<chapter>.json``, and say where that is.

    Raises ``CourseError`` where the checks cannot be read, or a visible one cannot be written down.
    """
    course.require_chapter(chapter)
    path = course.state("examples", f"{chapter}.json")
    text = json.dumps(recorded(load_checks(course, chapter)), ensure_ascii=False, separators=(",", ":"))
    write_atomically(path, f"{text}\n".encode())  # a notebook that reads it meanwhile never sees half of it
    return path
