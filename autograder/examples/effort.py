"""What a chapter's notebook says of itself: its title, and how hard each exercise is and how long it takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.notebook import Notebook

__all__ = ["effort", "heading"]

_HEADING = re.compile(r"^#{1,6}\s+(.*)$", re.MULTILINE)
_MINUTES = re.compile(r"(\d{1,3})\s*min")


def heading(notebook: Notebook) -> str:
    """The first heading of a notebook; empty where it has none."""
    found = next((h for cell in notebook.cells if cell.kind == "markdown" for h in _HEADING.findall(cell.source)), "")
    return str(found).strip()


def effort(notebook: Notebook, exercise: str) -> tuple[int, int]:
    """The stars and minutes in the last heading above an exercise, such as ``## softmax · ★★ · 15 minutes``; 0 where none says."""
    said = ""
    for cell in notebook.cells:
        if cell.grade_id == exercise:
            return said.count("★"), int(found[1]) if (found := _MINUTES.search(said)) else 0
        if cell.kind == "markdown" and (headings := _HEADING.findall(cell.source)):
            said = next((h for h in reversed(headings) if "★" in h), said)
    return 0, 0
