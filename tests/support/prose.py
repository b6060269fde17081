"""Read a chapter's notebook, cell by cell, for tests that compute the numbers in it."""

import json
from functools import cache

from autograder.course.course import load_course
from tests.support import ROOT

COURSE = load_course(ROOT)


@cache
def cells(chapter):
    """Return the source of every cell of a chapter, by its id."""
    [name] = [c for c in COURSE.finished_chapters() if c.startswith(chapter)]
    notebook = json.loads(COURSE.source(name).read_text(encoding="utf-8"))
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}


def assert_says(chapter, cell, *numbers):
    """Assert that the cell contains each of the numbers."""
    for number in numbers:
        assert number in cells(chapter)[cell], (
            f"{chapter}, {cell}: {number} is computed, but the cell says something else"
        )
