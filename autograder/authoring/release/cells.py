"""Compare nbgrader's cell metadata with the chapter's checks."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from autograder.authoring.release.problems import Mistake, SourceNotebook, called_name, calls_in, did_you_mean, relative
from autograder.base import attempt
from autograder.checking.decorators import ExerciseSpec
from autograder.course.course import Course
from autograder.course.notebook import (
    Cell,
    NotebookError,
    cell_of,
    load_document,
    metadata_of,
    other_notebooks,
    read_bytes,
)

__all__ = ["by_hand", "cell_mistakes", "second_notebook_mistakes"]

_GRADE_ID = re.compile(r"[a-zA-Z0-9_\-]+\Z")  # the grade ids that nbgrader accepts


def cell_mistakes(source: SourceNotebook, chapter: str, specs: Mapping[str, ExerciseSpec] | None) -> Iterator[Mistake]:
    """Yield mistakes in the cells' metadata. ``specs`` contains the checked exercises, or is None if the checks cannot be read."""
    declared = metadata_of(source.document).get("chapter")
    if isinstance(declared, str) and declared != chapter:
        yield Mistake(
            source.label,
            f'its metadata says that it is the notebook of {declared}. Write {{"autograder": {{"chapter": "{chapter}"}}}} '
            "there. Grading uses it to recognize submissions.",
        )
    yield from _ids(source)
    if specs is not None:
        yield from _stubs(source, specs)
        yield from _checks(source, specs)
    yield from _imports_of_check(source)


def second_notebook_mistakes(course: Course, chapter: str) -> Iterator[Mistake]:
    """Yield a mistake for each additional notebook in the chapter's folder that has graded cells. They would never be graded."""
    for other in map(Path, other_notebooks(str(course.source(chapter)))):
        try:
            document = load_document(read_bytes(other), other)
        except NotebookError as error:
            why = str(error).partition(". ")[0]  # the rest is advice to students
            yield Mistake(relative(course, other), f"it is next to the chapter's notebook but cannot be read: {why}.")
            continue
        cells = (cell_of(i, raw) for i, raw in enumerate(document["cells"]))
        if graded := [cell.grade_id for cell in cells if cell.points is not None]:
            yield Mistake(
                relative(course, other),
                f"it has graded cells ({', '.join(map(str, graded[:3]))}{', …' if graded[3:] else ''}), but in a chapter "
                f"only {chapter}.ipynb is graded. Move them there, or make the notebook a separate chapter: "
                f"source/{other.stem}/{other.name}, and {other.stem!r} in c.Course.chapters.",
            )


def by_hand(source: SourceNotebook, cell: Cell) -> bool:
    """Return whether the cell is graded manually, as nbgrader's written answers and tasks are."""
    marks = source.marks(cell)
    return bool(marks.get("task") or (marks.get("solution") and marks.get("grade")))


def _ids(source: SourceNotebook) -> Iterator[Mistake]:
    places: dict[str, list[str]] = {}
    for cell in source.notebook.cells:
        marks = source.marks(cell)
        if cell.grade_id is None:
            if marks.get("solution") or marks.get("grade"):
                what = "a stub" if marks.get("solution") else "a graded cell"
                yield Mistake(source.place(cell), f"it is marked as {what} but has no grade_id. Give it a grade_id.")
            continue
        if not _GRADE_ID.match(cell.grade_id):
            what = "nbgrader allows only letters, digits, _ and - in a grade_id."
            yield Mistake(source.place(cell), what, about=cell.grade_id)
        places.setdefault(cell.grade_id, []).append(str(cell.index + 1))
    for grade_id, where in places.items():
        if len(where) > 1:
            what = (
                f"the grade_id {grade_id} occurs {len(where)} times (cells {' and '.join(where)}, counting all cells). "
                "Each must occur once. Was a cell copied?"
            )
            yield Mistake(f"{source.label}, cell {grade_id}", what, about=grade_id.removeprefix("check_"))


def _stubs(source: SourceNotebook, specs: Mapping[str, ExerciseSpec]) -> Iterator[Mistake]:
    stubs = {c.grade_id: c for c in source.notebook.cells if c.role == "stub" and c.grade_id}
    for name, cell in stubs.items():
        if name in specs and source.marks(cell).get("grade") is True:
            what = (
                "it is also marked for manual grading, so its submissions would wait for manual grading forever. Choose "
                "“Autograded answer” for it, or remove its checks."
            )
            yield Mistake(source.place(cell), what, about=name)
        if name in specs and cell.kind != "code":
            yield Mistake(source.place(cell), "it is a text cell, but its exercise is checked as code.", about=name)
        if name not in specs and not by_hand(source, cell):
            what = (
                f"{name} is a stub, but no check class has @exercise({name!r}, …), so nobody would get points for "
                f"it.{did_you_mean(name, specs.keys() - stubs.keys())}"
            )
            yield Mistake(source.place(cell), what, about=name)
    for name in specs.keys() - stubs.keys():
        cell_of_it = next((c for c in source.notebook.cells if c.grade_id == name), None)
        if cell_of_it is not None:
            where = source.place(cell_of_it)
            why = 'is not marked as an answer: choose “Autograded answer” ("solution": true, "grade": false)'
        else:
            where, why = source.label, f"is missing. Give a code cell the grade_id {name}"
        what = f"{name} is checked, but its stub {why}.{did_you_mean(name, stubs.keys() - specs.keys())}"
        yield Mistake(where, what, about=name)


def _checks(source: SourceNotebook, specs: Mapping[str, ExerciseSpec]) -> Iterator[Mistake]:
    checked: set[str] = set()
    for cell in source.notebook.cells:
        if cell.role != "check" or by_hand(source, cell) or cell.grade_id is None:
            continue
        called = _checked(cell)
        name = cell.grade_id.removeprefix("check_")
        if name not in specs or not cell.grade_id.startswith("check_"):
            yield _of_no_exercise(source, cell, specs)
            checked.update(called & specs.keys())  # report it only once
            continue
        checked.add(name)
        yield from _check(source, cell, specs[name], called)
    stubs = set(source.notebook.exercises())
    for name in specs:
        if name not in checked and name in stubs:
            what = (
                f"{name} has no check cell, so nobody would get its points. Put a locked, graded code cell called "
                f"check_{name} below its stub."
            )
            yield Mistake(source.label, what, about=name)


def _check(source: SourceNotebook, cell: Cell, spec: ExerciseSpec, called: Collection[str]) -> Iterator[Mistake]:
    name, where = spec.name, source.place(cell)
    right = f'check("{name}")' if spec.answers else f"check({name})"
    if name not in called:
        others = ", ".join(sorted(called))
        what = f"it checks {others}, but its grade_id names {name}" if called else "it checks nothing"
        yield Mistake(source.place(cell, 1), f"{what}. It must be {right}.", about=name)
    elif spec.answers and name not in [getattr(argument, "value", None) for argument in _check_arguments(cell)]:
        what = f"{name} is not a function of the notebook. It must be {right}."
        yield Mistake(source.place(cell, 1), what, about=name)
    if source.marks(cell).get("locked") is not True:
        yield Mistake(where, 'it is not locked, so students could change it. Set "locked": true.', about=name)
    if cell.kind != "code":
        yield Mistake(where, "it is a text cell but must be code.", about=name)
    if cell.points is None:
        yield Mistake(where, f"it has no points, but its checks are worth {spec.points:g}.", about=name)
    elif not math.isclose(cell.points, spec.points, abs_tol=1e-9):
        yield Mistake(
            where,
            f"it is worth {cell.points:g} points, but the checks of {name} are worth {spec.points:g}. Make them equal.",
            about=name,
        )
    stub = source.notebook.stub(name)
    if stub is not None and stub.index > cell.index:
        yield Mistake(where, "it is above its stub, where the function does not exist yet. Move it down.", about=name)


def _of_no_exercise(source: SourceNotebook, cell: Cell, specs: Mapping[str, ExerciseSpec]) -> Mistake:
    checked = sorted(_checked(cell) & specs.keys())
    if checked:
        what = (
            f"it checks {checked[0]}, but its grade_id is {cell.grade_id}, so its points would belong to no exercise. "
            f"Call it check_{checked[0]}."
        )
        return Mistake(source.place(cell), what, about=checked[0])
    near = did_you_mean(cell.grade_id or "", [f"check_{name}" for name in specs])
    what = (
        "it is graded, but belongs to no exercise with checks, so nobody could earn its points. A check cell must be called "
        f"check_ followed by the exercise's name.{near}"
    )
    return Mistake(source.place(cell), what, about=(cell.grade_id or "").removeprefix("check_"))


def _imports_of_check(source: SourceNotebook) -> Iterator[Mistake]:
    """Yield a mistake for the first check cell that calls ``check`` before any cell imports it."""
    known: set[str] = set()
    for cell in source.code:
        tree = attempt.parsed(cell.source)
        nodes = list(ast.walk(tree)) if tree is not None else []
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "autograder":
                known |= {"check" if alias.name == "*" else alias.asname or alias.name for alias in node.names}
            elif isinstance(node, ast.Import):
                known |= {"check." for alias in node.names if alias.name.partition(".")[0] == "autograder"}
        if cell.role == "check":
            calls = [node.func for node in nodes if isinstance(node, ast.Call)]
            plain = next((f.lineno for f in calls if isinstance(f, ast.Name) and f.id == "check"), None)
            if plain is not None and "check" not in known:
                what = "no cell above it imports check. Put “from autograder import check, hint” into the first cell."
                yield Mistake(source.place(cell, plain), what)
                return


def _check_arguments(cell: Cell) -> list[ast.expr]:
    """Return the first argument of each ``check`` call in a cell."""
    calls = [call for call in calls_in(cell) if called_name(call) == "check"]
    return [argument for call in calls for argument in call.args[:1]]


def _checked(cell: Cell) -> set[str]:
    arguments = _check_arguments(cell)
    names = {argument.id for argument in arguments if isinstance(argument, ast.Name)}
    return names | {str(a.value) for a in arguments if isinstance(a, ast.Constant) and isinstance(a.value, str)}
