"""The visible checks of a chapter, written down as data for the notebooks of students."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from autograder.course import Audience, Course, Solutions
from autograder.examples.record import recorded
from autograder.files import write_atomically
from autograder.judging.loader import load_checks

__all__ = ["record_examples"]


def record_examples(course: Course, chapter: str, audience: Audience = "self-learners") -> Path:
    """Record the chapter's visible checks as data, and say in which file; by default for who learns from the course's own folder.

    For a class, solutions are in it only where ``Course.solutions`` has it. Raises ``CourseError`` where the checks cannot be
    read, or a visible one cannot be written down.
    """
    course.require_chapter(chapter)
    # Two files: what self-learners may read of this folder must never be taken for what a class is given.
    path = course.state(*(("examples",) if audience == "self-learners" else ("examples", "class")), f"{chapter}.json")
    solutions = "after passing" if audience == "self-learners" else _solutions(course, chapter)
    data = recorded(load_checks(course, chapter), audience, solutions)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    write_atomically(path, f"{text}\n".encode())  # a notebook that reads it meanwhile never sees half of it
    return path


def _solutions(course: Course, chapter: str) -> Solutions:
    """When a class that gets the chapter now may read solutions; before the due date there are none in what it gets."""
    if course.solutions != "after due":
        return "after passing" if course.solutions == "after passing" else "never"
    from autograder.gradebook.entries import gradebook_url  # noqa: PLC0415 - only a course with due dates needs them
    from autograder.gradebook.reading import read_due_date  # noqa: PLC0415

    due = read_due_date(gradebook_url(course), chapter)
    return "after passing" if due is not None and due < datetime.now(UTC).replace(tzinfo=None) else "never"
