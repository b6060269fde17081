"""The whole way of a chapter with nothing but nbgrader's own commands."""

import copy
import csv
import getpass
import json
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import get_username

from autograder.course import load_course
from autograder.demo.simulate import reference_code, solved_notebook, write_notebook
from autograder.grading.classroom import grade_class, handed_in
from autograder.misconception import misconceptions_in
from tests.leaks import hunt
from tests.mini import cell, copy_course

ROOT = Path(__file__).parents[2]
CLUELESS = "def {name}(*anything, **more):\n    return 0.0"

pytestmark = pytest.mark.slow


def real_course(folder):
    """A copy of this repository's own course."""
    for name in ("source", "solutions", "tests/chapters"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("course_config.py", "nbgrader_config.py"):
        shutil.copy(ROOT / name, folder / name)
    return load_course(folder)


def copied_cell(notebook, name):
    """The same notebook with one cell standing twice."""
    notebook = copy.deepcopy(notebook)
    twin = cell(notebook, name)
    notebook["cells"].insert(notebook["cells"].index(twin), copy.deepcopy(twin))
    return notebook


def csv_scores(course):
    """The exported scores, by student."""
    with (course.root / "grades.csv").open() as file:
        return {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}


def scores(course):
    """Every score and comment of the gradebook, cell by cell."""
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", course.course_id) as book:
        found = {}
        for assignment in book.assignments:
            for submission in book.assignment_submissions(assignment.name):
                for notebook in submission.notebooks:
                    for grade in notebook.grades:
                        key = submission.student.id, grade.name
                        found[key] = grade.auto_score, grade.needs_manual_grade
                    for comment in notebook.comments:
                        found[submission.student.id, comment.name] = comment.comment
        return found


@pytest.mark.parametrize(
    ("make", "chapter"),
    [(copy_course, "ch1_units"), (real_course, "ch1_weighted_averaging")],
    ids=["mini", "attention"],
)
def test_release_fetch_submit_collect_autograde_feedback_export(tmp_path, folders, make, chapter):
    """Stock nbgrader takes a chapter from its source to exported marks and feedback, and nothing hidden leaves."""
    (tmp_path / "course").mkdir()
    course = make(tmp_path / "course")
    instructor, student, exchange = folders(course)
    me = get_username()
    assert me == getpass.getuser()

    # Released and fetched: the notebook and what check() needs, and no answer.
    instructor.nbgrader("generate_assignment", chapter)
    instructor.nbgrader("release_assignment", chapter)
    assert chapter in student.nbgrader("list")
    student.nbgrader("fetch_assignment", chapter)
    fetched = student.path / chapter
    assert sorted(path.name for path in fetched.iterdir()) == [f"{chapter}.ipynb", "examples.json"]
    assert hunt(course, chapter, fetched.iterdir()) == []

    # One student submits for real; the others' submissions lie in the exchange as theirs would.
    stubs = json.loads((fetched / f"{chapter}.ipynb").read_text())
    right = reference_code(course, chapter)
    wrong = misconceptions_in(course.misconceptions(chapter))[0]
    names = list(right)
    solved = solved_notebook(course, chapter, right, start=stubs)
    functions = {name: CLUELESS.format(name=name) for name in names if not name.startswith("quiz")}
    handed = {
        me: solved,
        "twice": copied_cell(solved, names[0]),
        "wrong": solved_notebook(course, chapter, {**right, wrong.exercise: wrong.function}, start=stubs),
        "blank": stubs,
        "clueless": solved_notebook(course, chapter, functions, start=stubs),
        "deleted": {**solved, "cells": [c for c in solved["cells"] if c is not cell(solved, f"check_{names[0]}")]},
    }
    write_notebook(fetched / f"{chapter}.ipynb", solved)
    student.nbgrader("submit", chapter)
    [mine] = (exchange / course.course_id / "inbound").iterdir()
    for name, notebook in handed.items():
        if name != me:
            theirs = mine.with_name(mine.name.replace(f"{me}+", f"{name}+", 1))
            shutil.copytree(mine, theirs)
            (theirs / f"{chapter}.ipynb").unlink()
            write_notebook(theirs / f"{chapter}.ipynb", notebook)
    instructor.nbgrader("collect", chapter)
    broken = course.root / "submitted" / "broken" / chapter
    shutil.copytree(course.root / "submitted" / "blank" / chapter, broken)
    (broken / f"{chapter}.ipynb").write_text('{"cells": [')

    # Autograded: everyone but the one whose file is no notebook, who is named and has no mark.
    said = instructor.nbgrader("autograde", chapter, status=1)
    assert "There was an error processing assignment" in said
    assert [line for line in said.splitlines() if "processing assignment '" in line and "for student" in line] != []
    assert f"'{chapter}' for student 'broken'" in said
    assert "for student 'twice'" not in said
    instructor.nbgrader("export")
    marks = csv_scores(course)
    most = course_points(course, chapter)
    assert marks[me] == marks["twice"] == marks["deleted"] == (most, most)
    assert marks["blank"] == (0.0, most)
    assert 0 < marks["wrong"][0] < most
    assert marks["clueless"][0] < most / 4
    stock = scores(course)
    assert {stock["broken", f"check_{name}"] for name in names} == {(None, True)}
    assert wrong.message.split(".")[0][:40] in stock["wrong", wrong.exercise].replace("&lt;", "<").replace("&amp;", "&")
    shown = json.dumps(json.loads((course.root / "autograded" / me / chapter / f"{chapter}.ipynb").read_text()))
    assert '"output_type": "execute_result"' in shown

    # Feedback: made, released, fetched; the message stands at the check cell; nothing hidden is in it.
    instructor.nbgrader("generate_feedback", chapter)
    instructor.nbgrader("release_feedback", chapter)
    student.nbgrader("fetch_feedback", chapter)
    [page] = (fetched / "feedback").rglob("*.html")
    assert "all checks passed" in page.read_text()
    theirs = (course.root / "feedback" / "wrong" / chapter / f"{chapter}.html").read_text()
    assert theirs.count("✗") >= 1
    received = [course.root / kind / "clueless" / chapter for kind in ("feedback", "autograded")]
    received = [path for folder in received for path in folder.rglob("*") if path.suffix in {".html", ".ipynb"}]
    assert len(received) == 2
    assert hunt(course, chapter, received) == []

    # `autograder grade` finds the same, cell by cell, and its own pages tell no more.
    grade_class(load_course(course.root), chapter, handed_in(course, chapter))
    ours = scores(course)
    differing = {key for key in ours if ours[key] != stock.get(key)}
    assert differing <= {("broken", names[0])}  # where the reason now names what nbgrader could only log
    assert hunt(course, chapter, received) == []


def course_points(course, chapter):
    """What a chapter is worth."""
    cells = json.loads(course.source(chapter).read_text())["cells"]
    return float(sum(c["metadata"].get("nbgrader", {}).get("points", 0) for c in cells))
