"""The chapter's notebook: what students get, with stubs, locked checks, and everything else as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from autograder.extras.importing.chapter import NewChapter
from autograder.extras.importing.exercises import Exercise
from autograder.extras.importing.pieces import AnswerCell, ByHand, Given, code_cell, may_fail

__all__ = ["notebook_of_chapter"]

_GRADE_ID = re.compile(r"[a-zA-Z0-9_\-]+\Z")
_CELL_ID = re.compile(r"[a-zA-Z0-9_\-]{1,64}\Z")
_KEPT = ("tags", "jupyter", "slideshow", "collapsed", "scrolled")


def notebook_of_chapter(chapter: NewChapter) -> dict[str, Any]:
    """The notebook's JSON. Its kernel is called python3: one of another name would not be found where it is released."""
    cells = list(_cells(chapter))
    first = next((i for i, cell in enumerate(cells) if cell["cell_type"] == "code"), len(cells))
    names = {e.name for e in chapter.exercises}
    words = code_cell("from autograder import check, hint", grade_id=_free("autograder_words", names), locked=True)
    cells.insert(first, words)
    _with_own_ids(cells, {*names, *(f"check_{name}" for name in names)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {
            "autograder": {"chapter": chapter.name},
            "kernelspec": kernel,
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cells(chapter: NewChapter) -> Iterator[dict[str, Any]]:
    for number, piece in enumerate(chapter.original.pieces):
        if isinstance(piece, Given | ByHand):
            cell = _cleaned(piece.cell)
            yield may_fail(cell) if isinstance(piece, ByHand) and cell["cell_type"] == "code" else cell
        elif isinstance(piece, AnswerCell):
            yield from _answer(chapter, number, piece)
        for test in chapter.kept_tests.get(number, ()):
            name = re.sub(r"\W+", "_", test.name or f"examples_{number + 1}", flags=re.ASCII)
            yield may_fail(code_cell(test.code, grade_id=f"{name}_examples", locked=True))


def _answer(chapter: NewChapter, number: int, piece: AnswerCell) -> Iterator[dict[str, Any]]:
    if number in chapter.by_hand:
        name, points = chapter.by_hand[number]
        if points:
            yield may_fail(code_cell(piece.shown, grade_id=name, grade=True, solution=True, points=_worth(points)))
        else:
            yield may_fail(code_cell(piece.shown))
        return
    for part in chapter.parts.get(number, ()):
        if part.exercise is None:
            yield may_fail(code_cell(part.shown)) if part.untested else code_cell(part.shown)
        else:
            yield from _exercise(chapter, part.exercise)


def _exercise(chapter: NewChapter, exercise: Exercise) -> Iterator[dict[str, Any]]:
    if exercise.name in chapter.marked_by_hand:
        worth = _worth(chapter.marked_by_hand[exercise.name])
        yield may_fail(code_cell(exercise.stub, grade_id=exercise.name, grade=True, solution=True, points=worth))
        return
    points = sum((c.points for c in chapter.checks_of(exercise.name)), Fraction(0))
    asked = f'"{exercise.name}"' if exercise.answers else exercise.name
    yield code_cell(exercise.stub, grade_id=exercise.name, solution=True)
    yield code_cell(
        f"check({asked})", grade_id=f"check_{exercise.name}", grade=True, locked=True, points=_worth(points)
    )


def _worth(points: Fraction) -> float | int:
    return points.numerator if points.denominator == 1 else float(points)


def _cleaned(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell of the source without outputs, and without metadata of other tools."""
    kind = cell.get("cell_type") if cell.get("cell_type") in {"code", "markdown", "raw"} else "raw"
    metadata = cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
    assert isinstance(metadata, Mapping)  # noqa: S101 - as it was just asked
    kept: dict[str, Any] = {key: metadata[key] for key in _KEPT if key in metadata}
    marks = metadata.get("nbgrader")
    if isinstance(marks, dict) and marks.get("grade_id"):
        kept["nbgrader"] = {
            "grade": False,
            "locked": False,
            "solution": False,
            "task": False,
            **marks,
            "schema_version": 3,
        }
        if not (kept["nbgrader"]["grade"] or kept["nbgrader"]["task"]):
            kept["nbgrader"].pop("points", None)
        kept["nbgrader"].pop("checksum", None)
    source = cell.get("source")
    made: dict[str, Any] = {"cell_type": kind, "metadata": kept}
    made["source"] = source if isinstance(source, str) else "".join(s for s in source or () if isinstance(s, str))
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    elif isinstance(cell.get("attachments"), dict):
        made["attachments"] = cell["attachments"]
    if isinstance(cell.get("id"), str):
        made["id"] = cell["id"]
    return made


def _with_own_ids(cells: Sequence[dict[str, Any]], taken: set[str]) -> None:
    """Give each cell an id of its own, and each that nbgrader knows a grade id of its own that nbgrader takes."""
    used: set[str] = set()
    grade_ids: set[str] = set()
    for number, cell in enumerate(cells, 1):
        if not _CELL_ID.match(cell.get("id", "")) or cell["id"] in used:
            cell["id"] = _free(f"cell-{number}", used)
        used.add(cell["id"])
        marks = cell["metadata"].get("nbgrader")
        if marks is None:
            continue
        name = str(marks["grade_id"])
        ours = marks["solution"] != marks["grade"] and name in taken
        if not _GRADE_ID.match(name):
            name = re.sub(r"[^a-zA-Z0-9_-]+", "_", name).strip("_") or f"cell_{number}"
        marks["grade_id"] = (
            name if ours and name not in grade_ids else _free(name, grade_ids | (set() if ours else taken))
        )
        grade_ids.add(marks["grade_id"])


def _free(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate
