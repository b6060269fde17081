"""Tests that a notebook's dependencies are imported, and that a problem in one question does not affect the others."""

from __future__ import annotations

import json

from autograder.course.course import load_course
from autograder.extras.importing.import_run import import_notebook
from tests.framework.extras.importing.notebooks import cell, question, write
from tests.framework.extras.importing.test_importing import _marks
from tests.support.mini import copy_course


def _answer(name, code):
    return cell("code", f"### BEGIN SOLUTION\n{code}\n### END SOLUTION", grade_id=name, solution=True)


def _test(name, code, points=1):
    return cell("code", code, grade_id=name, grade=True, points=points)


def test_names_star_imports_and_modules_come_along(tmp_path):
    """An imported chapter has names from test cells and manual answers, star imports, and modules in and below the notebook's folder."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "areas.py").write_text("def area(a, b):\n    return a * b\n")
    (tmp_path / "units.py").write_text("METER = 1\n")
    manual = cell(
        "code", "### BEGIN SOLUTION\nfactor = 2\n### END SOLUTION", grade_id="m", grade=True, solution=True, points=1
    )
    cells = [
        cell("code", "import sys\nsys.path.append('./tools')\nfrom areas import *\nfrom math import *\nimport units"),
        manual,
        _answer("a", "from statistics import mean\ndef square(x):\n    return area(x, mean([x])) * units.METER"),
        _test("t-a", "sides = [1, 2, 3]\nassert [square(s) for s in sides] == [1, 4, 9]"),
        _answer("b", "total = sum(square(s) for s in sides) + floor(factor / 2)"),
        _test("t-b", "assert total == 15"),
        cell("code", "print(max(sides))"),
    ]  # fmt: skip
    told = import_notebook(copy_course(tmp_path / "course"), write(tmp_path / "n.ipynb", cells))
    course = load_course(tmp_path / "course")
    assert (told.mistakes, told.chapter.left) == ([], [])
    assert _marks(course, "n", tmp_path) == [(2.0, 2.0), (0.0, 2.0)]
    assert {"source/n/tools/areas.py", "source/n/units.py"} <= set(told.files)
    assert "Install it" not in str(told)
    notebook = json.loads(course.source("n").read_text())
    assert "sides = [1, 2, 3]" in [c["source"] for c in notebook["cells"]]


def test_what_fails_costs_one_question(tmp_path):
    """A missing package, a network call and cells that are meant to fail do not affect the other questions."""
    cells = [
        cell("code", "import numpy as np\nimport no_such_package\nfrom urllib.request import urlopen"),
        cell("code", "pair = (1, 2)\npair[0] = 3"),
        cell("code", "if x = 1:"),
        _answer("a", "def double(x):\n    return np.multiply(x, 2)"),
        _test("t-a", "assert double(2) == 4"),
        _answer("b", "frame = no_such_package.frame()"),
        _test(
            "t-b", "assert frame is not None\n### BEGIN HIDDEN TESTS\nassert frame.rows == 3\n### END HIDDEN TESTS", 2
        ),
        _answer("c", "page = urlopen('http://example.com').read()"),
        _test("t-c", "assert page"),
    ]
    told = import_notebook(copy_course(tmp_path / "course"), write(tmp_path / "n.ipynb", cells))
    assert told.mistakes == []
    assert [e.name for e in told.chapter.exercises] == ["double"]
    assert _marks(load_course(tmp_path / "course"), "n", tmp_path) == [(1.0, 1.0), (0.0, 1.0)]
    text = str(told)
    assert "1 exercise for 1 point, and 3 more that are graded manually." in text
    assert "The notebook imports no_such_package, which is not installed here." in text
    assert (
        "cell 7 (t-b): its hidden test is not imported: the notebook's own solutions fail it: NameError: name 'no_such_package' is not defined."
        in text.replace("name 'frame'", "name 'no_such_package'")
    )
    assert "Hidden tests: 1 assertion in the notebook, 0 in the checks." in text


def test_two_notebooks_may_have_exercises_of_the_same_name(tmp_path):
    """If two homework notebooks use the same exercise names, each chapter has its own exercises and marks."""
    cells = [
        *question("name: q2", "Set `x`.", [cell("code", "x = 3 # SOLUTION")], [cell("code", "x", "3")]),
        *question("name: q3", "Write `double`.", [cell("code", "def double(x):\n    return 2 * x # SOLUTION")],
                  [cell("code", "double(2)", "4")]),
    ]  # fmt: skip
    course = copy_course(tmp_path / "course")
    for name in ("hw1", "hw2"):
        told = import_notebook(course, write(tmp_path / f"{name}.ipynb", cells))
        course = load_course(course.root)
        assert (told.mistakes, told.chapter.left) == ([], [])
        assert [e.name for e in told.chapter.exercises] == ["q2", "double"]
    assert _marks(course, "hw1", tmp_path) == _marks(course, "hw2", tmp_path) == [(2.0, 2.0), (0.0, 2.0)]
