"""Tests that no hidden test is lost: a submission that knows only the visible cases fails the same tests as before the import."""

from __future__ import annotations

import pytest

from autograder.authoring.simulate import reference_code, solved_notebook, write_notebook
from autograder.course.course import load_course
from autograder.extras.importing.chapter_files import hidden_assertions
from autograder.extras.importing.import_run import import_notebook
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from tests.framework.extras.importing.hard_coded import failed_hidden_tests, hard_coded
from tests.framework.extras.importing.notebooks import FOR_NBGRADER, FOR_OTTER, cell, question, write
from tests.support.mini import copy_course


def answer(name, code):
    """Return a solution cell that contains ``code``."""
    return cell("code", f"### BEGIN SOLUTION\n{code}\n### END SOLUTION", grade_id=name, solution=True)


def hidden(name, seen, unseen):
    """Return a cell of tests with a visible and a hidden part."""
    code = f"{seen}\n### BEGIN HIDDEN TESTS\n{unseen}\n### END HIDDEN TESTS"
    return cell("code", code, grade_id=name, grade=True, points=2)


DOUBLE = "def double(x):\n    return 2 * x"
HELPERS = [
    cell("code", "from nose.tools import assert_equal, assert_true\ndef same(f, x, y):\n    if f(x) != y:\n        raise ValueError('not the same')"),
    cell("code", "def halved_twice(x):\n    return half(half(x))"),
    # an assert inside a helper
    answer("a", DOUBLE),
    hidden("t-a", "def t(x, y):\n    ok = double(x) == y\n    assert ok\nt(0, 0)", "t(7, 14)"),
    # a helper of an earlier test
    answer("b", "def triple(x):\n    return 3 * x"),
    hidden("t-b", "def u(x):\n    t(1, 2)\n    assert triple(x) == 3 * x\nu(0)", "u(5)"),
    # helpers of given cells, one of which calls the student's function
    answer("c", "def half(x):\n    return x / 2"),
    hidden("t-c", "same(half, 0, 0)", "same(half, 14, 7)\nassert halved_twice(12) == 3"),
    # a test that only has to run
    answer("d", "def root(x):\n    return [x ** 0.5]"),
    hidden("t-d", "assert root(4) == [2.0]", "sum(root(9))"),
    # a class in a test
    answer("e", "def thrice(x):\n    return x * 3"),
    hidden("t-e", "assert thrice(1) == 3", "class Number:\n    def __mul__(self, n):\n        return n + 5\nassert thrice(Number()) == 8"),
    # a value that cannot leave the notebook
    answer("f", "import fractions\nclass Box:\n    def __init__(self, x):\n        self.x = x\nbox = Box(fractions.Fraction(1, 3))"),
    hidden("t-f", "assert box is not None", "assert box.x.denominator == 3"),
    # nose, which cannot be installed for any current Python
    answer("g", "def even(n):\n    return 2 * n"),
    hidden("t-g", "assert_equal(even(1), 2)", "for n in range(9):\n    assert_true(even(n) % 2 == 0, n)\n    assert_equal(even(n), n + n)"),
]  # fmt: skip
NOTEBOOKS = {
    "for nbgrader": FOR_NBGRADER,
    "for Otter": [
        *FOR_OTTER,
        *question("name: q6", "Set `x`.", [cell("code", "x = 6 / 5 # SOLUTION")],
                  [cell("code", "x != 7", "True"), cell("code", "# HIDDEN\nround(x, 5) == 1.2", "True")]),
    ],
    "with helpers": HELPERS,
}  # fmt: skip


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_hard_coded_visible_cases_fail_what_they_failed_in_the_source(tmp_path, name):
    """If a submission fails a hidden test in the source, it also fails a check that was made from this test."""
    course = copy_course(tmp_path / "course")
    (tmp_path / "bottles.txt").write_text("green blue red")
    told = import_notebook(course, write(tmp_path / "n.ipynb", NOTEBOOKS[name]), unsafe_local=False)
    assert told.mistakes == []
    course, chapter = load_course(course.root), told.chapter
    right = reference_code(course, "n")
    compared = 0
    for number, exercise in enumerate(chapter.exercises):
        code = hard_coded(chapter, exercise)
        if code is None:
            continue
        fails = failed_hidden_tests(chapter, exercise, code)
        assert "visible" not in fails
        path = write_notebook(tmp_path / f"{number}.ipynb", solved_notebook(course, "n", right | {exercise.name: code}))
        [graded] = grade_notebooks(course, [Job(path, chapter="n")], workers=1)
        found = {c.name: c.status for e in graded.exercises if e.name == exercise.name for c in e.checks}
        for where in fails:
            methods = [c.method for c in chapter.checks_of(exercise.name) if c.test.hidden and c.test.where == where]
            assert any(found[method] != "passed" for method in methods), (exercise.name, where)
            compared += 1
    assert compared
    before, after = hidden_assertions(chapter)
    lost = [c for c in chapter.left if "hidden" in c.why or "its last line returns" in c.why]
    assert after >= before or lost
    assert f"Hidden tests: {before} assertion" in str(told)


def test_a_hidden_test_that_is_left_out_is_listed(tmp_path):
    """A hidden test that fails on the notebook's own solutions is named with its error, and its points are kept."""
    course = copy_course(tmp_path / "course")
    cells = [answer("a", DOUBLE), hidden("t", "assert double(1) == 2", "import no_such_package\nassert double(2) == 4")]
    told = import_notebook(course, write(tmp_path / "n.ipynb", cells))
    assert hidden_assertions(told.chapter) == (1, 0)
    text = str(told)
    assert "Hidden tests: 1 assertion in the notebook, 0 in the checks. The others are listed below." in text
    assert (
        "cell 2 (t): its hidden test is not imported: the notebook's own solutions fail it: ModuleNotFoundError: No module named 'no_such_package'."
        in text
    )
    assert "The notebook imports no_such_package, which is not installed here." in text
    assert [c.points for c in told.chapter.checks] == [2]
