"""Tests of importing an instructor's notebook as a chapter. Cells that cannot be imported are reported."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.authoring.simulate import blank_notebook, reference_code, solved_notebook, write_notebook
from autograder.cli.app import app
from autograder.course.course import load_course
from autograder.extras.importing.import_run import import_notebook
from autograder.extras.importing.pieces import ImportRefusedError
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from tests.framework.extras.importing.notebooks import FOR_NBGRADER, FOR_OTTER, PYTHON, cell, question, raw, write
from tests.support import ROOT
from tests.support.chapters import release
from tests.support.mini import copy_course

BOTTLES = "green blue red"


def _shown(page: str) -> str:
    """Return the output of ``autograder import`` that a page of the documentation shows."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.partition("```console\n$ autograder import")[2].partition("\n")[2].partition("\n```")[0]


def _brought_in(tmp_path: Path, name: str, cells: list) -> tuple:
    """Import ``cells`` as the chapter ``name``. Return the course and the report."""
    course = copy_course(tmp_path / "course")
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "bottles.txt").write_text(BOTTLES)
    (folder / "unrelated.txt").write_text("of another course")
    told = import_notebook(course, write(folder / f"{name}.ipynb", cells))
    return load_course(course.root), told


def _marks(course, chapter: str, tmp_path: Path) -> list[tuple]:
    """Return the score and the maximum score of the solved notebook, then those of the blank one."""
    solved = solved_notebook(course, chapter, reference_code(course, chapter))
    paths = [write_notebook(tmp_path / "solved.ipynb", solved)]
    paths.append(write_notebook(tmp_path / "blank.ipynb", blank_notebook(course, chapter)))
    jobs = [Job(path, chapter=chapter) for path in paths]
    found = {Path(v.notebook).stem: v for v in grade_notebooks(course, jobs, workers=1)}
    return [(found[name].score, found[name].max_score) for name in ("solved", "blank")]


def test_a_notebook_for_nbgrader(tmp_path):
    """Solutions, tests, points and manually graded cells become a chapter that can be released without edits."""
    course, told = _brought_in(tmp_path, "bottles", FOR_NBGRADER)
    assert told.mistakes == []
    assert _marks(course, "bottles", tmp_path) == [(6.0, 6.0), (0.0, 6.0)]

    checks = course.checks("bottles").read_text()
    assert "assert_matches(student.halves(8), [4, 2, 1])" in checks
    assert '@check(points=2, after="test_a")' in checks  # all or nothing, as nbgrader grades a cell
    assert "student.raises(ValueError).halves(-2)" in checks
    assert "agrees.mean_half(16)" in checks
    assert '@exercise("mean_half", points=1, depends_on=("halves",))' in checks

    notebook = json.loads(course.source("bottles").read_text())
    cells = {c["metadata"]["nbgrader"]["grade_id"]: c for c in notebook["cells"] if "nbgrader" in c["metadata"]}
    assert cells["halves"]["source"] == (
        'def halves(n):\n    """All halves of `n` that are whole, the largest first."""\n    # found = []\n    # # YOUR CODE HERE\n    # return found\n'
        "    raise NotImplementedError"
    )
    assert cells["part_c"]["source"].endswith("small = None\nlarge = None")
    assert (cells["essay"]["source"], cells["essay"]["metadata"]["nbgrader"]["points"]) == ("YOUR ANSWER HERE", 3)
    assert "BEGIN MARK SCHEME" in cells["task"]["source"]  # which nbgrader itself removes
    assert "It halves until that is odd." in (course.root / "solutions" / "bottles.py").read_text()
    assert "bottles.txt" in {p.name for p in course.source("bottles").parent.iterdir()} - {"unrelated.txt"}
    assert not (course.source("bottles").parent / "unrelated.txt").exists()

    text = str(told)
    assert (
        "its last line returns a number of points, but a check can only pass or fail. Its 0.5 points went to the exercise above the test."
        in text
    )
    assert (
        "bottles: imported from a notebook for nbgrader, 3 exercises for 6 points, and 5 more that are graded manually."
        in text
    )
    release(course, ["bottles"], mutants=True, draft=True)
    handed_out = (course.root / "release" / "bottles" / "bottles.ipynb").read_text()
    assert "1 for axes" not in handed_out
    assert "ValueError" not in handed_out


def test_a_notebook_for_otter(tmp_path):
    """Questions in both of Otter's formats become exercises, with points by Otter's rules."""
    course, told = _brought_in(tmp_path, "hw01", FOR_OTTER)
    assert told.mistakes == []
    assert _marks(course, "hw01", tmp_path) == [(5.0, 5.0), (0.0, 5.0)]

    checks = course.checks("hw01").read_text()
    assert '@exercise("volume", points=3)' in checks
    assert (
        "five = student.volume(5)\n        assert_matches(five, 3.75)" in checks
    )  # computed with the student's function
    assert '@exercise("q2", points=1, answers=("names",))' in checks
    cells = json.loads(course.source("hw01").read_text())["cells"]
    sources = [c["source"] for c in cells]
    assert (
        'def volume(n):\n    """Litres in `n` bottles."""\n    # each = ...\n    # ...\n    raise NotImplementedError'
        in sources
    )
    assert "five = volume(5)" in sources
    assert "names = None" in sources
    assert not any("otter" in source or "SOLUTION" in source for source in sources)
    [essay] = [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == "q3"]
    assert (essay["metadata"]["nbgrader"]["points"], "since" in essay["source"]) == (2, False)

    text = str(told)
    assert text == _shown("coming-from-otter.md")
    assert "missing.csv is in the notebook's list of files, but there is no such file next to the notebook." in text
    assert "(q1): 2 points divided equally among 2 tests, as in Otter." in text
    # A visible test without an equivalent assertion stays visible and runs unchanged, among the student's variables.
    assert 'student.probe(Q2_CELL_22, "here", NameReference("names"))' in checks
    assert "Let checks look at the variables here." in sources[1] + sources[2]
    assert not any("def test_many" in source for source in sources)


def test_the_quickstart_of_nbgrader(tmp_path):
    """The course that `nbgrader quickstart` creates is imported completely, including tests that expect errors or use `del`."""
    theirs = Path(find_spec("nbgrader").origin).parent / "docs" / "source" / "user_guide" / "source" / "ps1"
    course = copy_course(tmp_path)
    told = import_notebook(course, theirs / "problem1.ipynb")
    assert told.mistakes == []
    assert str(told) == _shown("coming-from-nbgrader.md")
    assert {e.name: [c.points for c in told.chapter.checks_of(e.name)] for e in told.chapter.exercises} == {
        "squares": [1, 1],
        "sum_of_squares": [0.5, 0.5],
    }
    assert (tmp_path / "source" / "problem1" / "jupyter.png").is_file()
    with pytest.raises(ImportRefusedError, match=r"has nothing that code can check.* manually graded part \(2 cells\)"):
        import_notebook(load_course(tmp_path), theirs / "problem2.ipynb")


SOLVED = cell("code", "### BEGIN SOLUTION\nx = 1\n### END SOLUTION", grade_id="a", solution=True)
R = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}
OLD = {"kernelspec": {"name": "python2", "display_name": "Python 2", "language": "python"}}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "n.ipynb is empty."),
        ("[" * 5000, "lists nested more than"),
        ('{"cells": [', "n.ipynb is not a valid notebook (JSON error in line 1: "),
        ({"worksheets": [], "nbformat": 3}, "nbformat 3). Convert it with: jupyter nbconvert"),
        ({"metadata": R, "cells": [SOLVED]}, "n.ipynb is a notebook for R, but chapters here use Python 3."),
        ({"metadata": OLD, "cells": [SOLVED]}, "n.ipynb is a notebook for Python 2, but chapters here use Python 3."),
        ({"cells": [cell("code", "x = 1")]}, "n.ipynb is neither an nbgrader nor an Otter notebook"),
        ({"cells": [SOLVED]}, "no test uses a function or a variable that its solution defines."),
        (
            {"cells": [cell("code", "# YOUR CODE HERE\nraise NotImplementedError()", grade_id="a", solution=True)]},
            "n.ipynb has no solutions. Is it the students' version?",
        ),
        ({"cells": [raw("# BEGIN QUESTION\nname: [")]}, "n.ipynb, cell 1: its settings are not YAML in line 2: "),
        ({"cells": [raw("# BEGIN QUESTION\nname: q1")]}, "n.ipynb, cell 1 (q1): its question q1 has no # END QUESTION."),
        (
            {"cells": [*question("name: q1", "", [], []), *question("name: q1", "", [], [])]},
            "n.ipynb, cell 6: two questions are called q1.",
        ),
        (
            {"cells": [SOLVED, cell("code", "assert y == x", grade_id="t", grade=True, points=1)]},
            "The notebook's own solutions and tests do not run: cell 2 (t): NameError: name 'y' is not defined. Nothing was written.",
        ),
        (
            {"cells": [cell("code", "### BEGIN SOLUTION\nx = 1 / 0\n### END SOLUTION", grade_id="a", solution=True),
                       cell("code", "assert x == 1", grade_id="t", grade=True, points=1)]},
            "The notebook's own solutions and tests do not run: cell 1 (a): ZeroDivisionError: division by zero. Nothing was written.",
        ),
    ],
)  # fmt: skip
def test_what_no_chapter_can_be_made_of(tmp_path, content, sentence):
    """A broken, an unrelated and an empty notebook each get a message, and nothing is written."""
    course = copy_course(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    notebook = tmp_path / "n.ipynb"
    if isinstance(content, dict):
        content = json.dumps({"metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5} | content)
    notebook.write_text(content)
    done = CliRunner().invoke(app, ["import", str(notebook), "--into", str(course.root)])
    assert (done.exit_code, done.exception.__class__) == (2, SystemExit)
    assert sentence in done.output
    assert "Nothing was written." in done.output
    notebook.unlink()
    assert sorted(p for p in tmp_path.rglob("*") if "__pycache__" not in p.parts) == before


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ch1_units", "The course already has a chapter ch1_units (source/ch1_units/ch1_units.ipynb exists)."),
        ("../evil", "'../evil' cannot be the name of a chapter"),
        ("class", "'class' cannot be the name of a chapter"),
    ],
)
def test_a_chapter_is_never_written_over(tmp_path, name, sentence):
    """A name that is taken or invalid is refused before anything is run."""
    course = copy_course(tmp_path / "course")
    notebook = write(tmp_path / "n.ipynb", FOR_NBGRADER)
    with pytest.raises(ImportRefusedError) as refused:
        import_notebook(course, notebook, name)
    assert sentence in str(refused.value)


def test_a_class_with_methods(tmp_path):
    """A solution that is a class becomes an exercise. Its methods are called in order, and the stub keeps their signatures."""
    methods = {"push(self, x)": "self.items.append(x)", "pop(self)": "return self.items.pop()"}
    lines = [
        "class Stack:",
        '    """The last one in is the first one out."""',
        "",
        "    def __init__(self):",
        "        ### BEGIN SOLUTION",
        "        self.items = []",
        "        ### END SOLUTION",
    ]
    for head, body in methods.items():
        lines += ["", f"    def {head}:", "        ### BEGIN SOLUTION", f"        {body}", "        ### END SOLUTION"]
    seen = "stack = Stack()\nstack.push(1)\nstack.push('b')\nassert stack.pop() == 'b'"
    unseen = "### BEGIN HIDDEN TESTS\nwith pytest.raises(IndexError):\n    Stack().pop()\n### END HIDDEN TESTS"
    cells = [
        cell("code", "\n".join(lines), grade_id="stack", solution=True),
        cell("code", f"{seen}\n{unseen}", grade_id="stack-tests", grade=True, points=2),
    ]
    course, told = _brought_in(tmp_path, "stacks", cells)
    assert (told.mistakes, told.chapter.left) == ([], [])
    assert _marks(course, "stacks", tmp_path) == [(2.0, 2.0), (0.0, 2.0)]
    assert "stack = student.Stack()\n        stack.push(1)" in course.checks("stacks").read_text()


def test_names_of_the_source_are_never_code(tmp_path):
    """Grade ids, test names and titles from the notebook are written into Python files as text, whatever they contain."""
    evil = '"""); open("owned", "w"); ("""'
    cells = [
        cell("code", "### BEGIN SOLUTION\ndef f(n):\n    return n\n### END SOLUTION", grade_id=evil, solution=True),
        cell("code", f"'''{evil} \\\\'''\nassert f(2) == 2, {evil!r}\nassert f([{evil!r}]) == [{evil!r}]", grade_id=evil, grade=True, points=1),
        cell("markdown", evil, grade_id=evil, grade=True, solution=True, points=1),
    ]  # fmt: skip
    course, told = _brought_in(tmp_path, "n", cells)
    assert told.mistakes == []
    assert _marks(course, "n", tmp_path) == [(1.0, 1.0), (0.0, 1.0)]
    assert not list(tmp_path.rglob("owned"))


def test_a_file_that_students_are_to_read_is_there(tmp_path):
    """A file that a solution reads is copied next to the notebook, even if only a text cell and the solution name it."""
    cells = [
        cell("markdown", "# Bottles"),
        *question(
            "name: q1",
            "Read `bottles.txt`, and set `first` to its first word.",
            [cell("code", "words = open('bottles.txt').read().split() # SOLUTION\nfirst = words[0] # SOLUTION")],
            [cell("code", "first", repr(BOTTLES.split(maxsplit=1)[0]))],
        ),
    ]
    course, told = _brought_in(tmp_path, "bottles", cells)
    assert told.mistakes == []
    assert _marks(course, "bottles", tmp_path) == [(1.0, 1.0), (0.0, 1.0)]
