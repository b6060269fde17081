"""Courses of one chapter, made from the text of its solutions and its checks."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autograder.authoring.release import release_validated, validate_all
from autograder.authoring.scaffold import writing
from autograder.course.course import Course, load_course
from autograder.extras.new_exercise.stub_cells import stub_of
from tests.support import MINI_COURSE

IMPORTS = "from autograder import check, hint"


def release(
    course: Course,
    chapters: Sequence[str],
    *,
    mutants: bool = False,
    draft: bool = False,
    say: Callable[[str], None] | None = None,
) -> None:
    """Validate and release chapters. Raises ``ReleaseError``."""
    for result in validate_all(course, chapters, mutants=mutants, draft=draft):
        release_validated(course, result, say)


def points_in(checks: str) -> dict[str, float]:
    """Return the points of each exercise in the text of a check file."""
    points = {}
    for node in ast.parse(checks).body:
        for mark in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "exercise":
                [worth] = [ast.literal_eval(k.value) for k in mark.keywords if k.arg == "points"]
                points[ast.literal_eval(mark.args[0])] = worth
    return points


def course_of(
    folder: Path, chapter: str, files: Mapping[str, str], *, imports: str = "", packages: tuple[str, ...] = ("numpy",)
) -> Course:
    """Write a course with the given ``files`` and a notebook with a stub for each exercise of its checks."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    solutions = files[f"solutions/{chapter}.py"]
    definitions = {n.name: n for n in ast.parse(solutions).body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    cells = [writing.code_cell("imports", f"{imports}\n{IMPORTS}".strip(), locked=True)]
    for name, points in points_in(files[f"tests/chapters/test_{chapter}.py"]).items():
        cells += [writing.stub_cell(name, stub_of(definitions[name], solutions)), writing.check_cell(name, points)]
    notebook = folder / "source" / chapter / f"{chapter}.ipynb"
    notebook.parent.mkdir(parents=True, exist_ok=True)
    notebook.write_text(json.dumps(writing.new_notebook(*cells)), encoding="utf-8")
    (folder / "nbgrader_config.py").write_text((MINI_COURSE / "nbgrader_config.py").read_text())
    lines = ["c = get_config()", f"c.Course.chapters = [{chapter!r}]", f"c.Course.packages = {list(packages)}"]
    (folder / "course_config.py").write_text("\n".join([*lines, 'c.CourseDirectory.course_id = "small"', ""]))
    return load_course(folder)
