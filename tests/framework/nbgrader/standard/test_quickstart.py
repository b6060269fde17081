"""Grade nbgrader's quickstart course with standard nbgrader and in the sandbox: every cell gets the same score."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbgrader as package
import pytest
from nbgrader.api import Gradebook

from tests.support import ROOT
from tests.support.nbgrader import nbgrader

DOCS = ROOT / "docs" / "plain-nbgrader.md"
USER_GUIDE = Path(package.__file__).with_name("docs") / "source" / "user_guide"

SQUARES = {
    "right": "def squares(n):\n    if n < 1:\n        raise ValueError('n')\n    return [i ** 2 for i in range(1, n + 1)]",
    "no_check": "def squares(n):\n    return [i ** 2 for i in range(1, n + 1)]",
    "off_by_one": "def squares(n):\n    return [i ** 2 for i in range(n)]",
    "crash": "import os\ndef squares(n):\n    raise SystemExit",
    "misplaced": "def squares(n):\n    if n < 1:\n        raise ValueError\n    return [i * i for i in range(1, n + 1)]\nreturn 1",
    "noisy": "import sys\ndef squares(n):\n    sys.stderr.write('x')\n    if n < 1:\n        raise ValueError\n"
    "    return [i ** 2 for i in range(1, n + 1)]",
}
SUMS = {"leaning": "def sum_of_squares(n):\n    return sum(squares(n))", "own": "def sum_of_squares(n):\n    return 5"}


def documented_line():
    """Return the configuration in the docs."""
    return DOCS.read_text("utf-8").split("```python\n")[1].split("```")[0]


def _submit(course):
    """Create submissions of the solutions above, a blank submission, and the two submissions of nbgrader's user guide."""
    released = json.loads((course / "release" / "ps1" / "problem1.ipynb").read_text())
    for first, squares in SQUARES.items():
        # Both answers to the exercise that depends on squares are submitted only with the right squares.
        for second, sums in SUMS.items() if first == "right" else [("leaning", SUMS["leaning"])]:
            for cell in released["cells"]:
                name = cell["metadata"].get("nbgrader", {}).get("grade_id")
                cell["source"] = {"squares": squares, "sum_of_squares": sums}.get(name, cell["source"])
            folder = course / "submitted" / f"{first}-{second}" / "ps1"
            shutil.copytree(course / "release" / "ps1", folder)
            (folder / "problem1.ipynb").write_text(json.dumps(released))
            (folder / "problem2.ipynb").unlink()  # nobody works on it, so only the blank submission has it
    shutil.copytree(USER_GUIDE / "submitted", course / "submitted", dirs_exist_ok=True)
    shutil.copytree(course / "release" / "ps1", course / "submitted" / "blank" / "ps1")


def _marks(course):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        submissions = gradebook.assignment_submissions("ps1")
        cells = [(s.student.id, n.name, grade) for s in submissions for n in s.notebooks for grade in n.grades]
        return {(*place, g.name): (g.auto_score, g.needs_manual_grade, g.max_score) for *place, g in cells}


@pytest.mark.slow
def test_the_quickstart_course_gets_equal_scores(tmp_path):
    """Standard autograde and the documented configuration give every cell of every submission the same score."""
    home = tmp_path / "home"
    home.mkdir()
    nbgrader("quickstart", "stock", folder=tmp_path, home=home)
    stock = tmp_path / "stock"
    nbgrader("generate_assignment", "ps1", folder=stock, home=home)
    _submit(stock)
    confined = tmp_path / "confined"
    shutil.copytree(stock, confined)
    with (confined / "nbgrader_config.py").open("a") as file:
        file.write("\n" + documented_line())
    for course in (stock, confined):
        nbgrader("autograde", "ps1", folder=course, home=home)
    marks = _marks(stock)
    assert _marks(confined) == marks
    assert len({student for student, *_ in marks}) == len(SQUARES) + 1 + 3
    assert len({score for score, *_ in marks.values()}) > 3
