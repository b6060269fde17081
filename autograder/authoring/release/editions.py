"""Create two editions of a notebook's text: one for a class, and one for self-learners, who get no points.

One source contains both. Text between two marks is for a class only. The second mark may contain a text for self-learners::

    You learn the right answers <!-- class -->with your marks<!-- self-learners: at once -->.
    Run it as often as you like. <!-- class -->The grader also tries other inputs.<!-- /class -->

Points at the end of a heading and columns of points need no marks. They are always left out for self-learners.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from autograder.base.errors import CourseError
from autograder.course.course import Audience

__all__ = ["edition", "text_for"]

_BOTH = re.compile(r"<!-- class -->(.*?)<!-- (?:/class|self-learners: (.*?)) -->", re.DOTALL)
_LEFT = re.compile(r"<!-- (?:/?class|self-learners)\b.*?-->", re.DOTALL)
_HEADING = re.compile(r"^(#+ .*?) · [\d.]+ points?$", re.MULTILINE)


def edition(notebook: Mapping[str, Any], audience: Audience) -> dict[str, Any]:
    """Return the notebook, as JSON data, with the text for ``audience``. Raises ``CourseError`` if a mark has no counterpart."""
    cells = [
        {**cell, "source": text_for(audience, "".join(cell["source"]), cell.get("id", ""))}
        if cell["cell_type"] == "markdown"
        else cell
        for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


def text_for(audience: Audience, text: str, where: str = "") -> str:
    """Return the part of ``text`` for ``audience``. Raises ``CourseError``, which names the cell ``where``, if a comment that opens or closes a part has no counterpart."""
    alone = audience == "self-learners"
    chosen = _BOTH.sub(lambda match: (match[2] or "") if alone else match[1], text)
    if left := _LEFT.search(chosen):
        ends = "Text for a class begins with <!-- class --> and ends with <!-- /class --> or <!-- self-learners: … -->."
        raise CourseError(f"The cell {where} has {left[0][:60]} without its counterpart. {ends}")
    if alone:
        chosen = _without_points(_HEADING.sub(r"\1", chosen))
    return (
        chosen if chosen == text else re.sub(r"\n{3,}", "\n\n", re.sub(r" +$", "", chosen, flags=re.MULTILINE)).strip()
    )


def _without_points(text: str) -> str:
    """Return ``text`` without the last column of each table, if its heading is "points"."""
    lines, drops = text.split("\n"), False
    for number, line in enumerate(lines):
        drops = line.startswith("|") and (drops or line[1:].endswith("| points |"))
        lines[number] = f"{line[:-1].rpartition('|')[0]}|" if drops else line
    return "\n".join(lines)
