"""Test all steps of a chapter with nbgrader's own commands only."""

import csv
import functools
import html
import json
import shutil

import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import get_username

from autograder.authoring.simulate import reference_code, solved_notebook, write_notebook
from autograder.classroom.delivery import make_pages
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.extras.demo.demo_run import copy_course as copy_whole
from autograder.misconception import misconceptions_in
from tests.support import ROOT
from tests.support.books import with_book
from tests.support.leaks import hunt
from tests.support.mini import cell, copy_course, spell_out
from tests.support.nbgrader import nbgrader

CLUELESS = "def {name}(*anything, **more):\n    return 0.0"

pytestmark = pytest.mark.slow


def scores(course):
    """Return every score and comment of the gradebook, cell by cell."""
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", course.course_id) as book:
        submissions = [s for assignment in book.assignments for s in book.assignment_submissions(assignment.name)]
        found = {}
        for who, notebook in ((s.student.id, notebook) for s in submissions for notebook in s.notebooks):
            found |= {(who, grade.name): (grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades}
            found |= {(who, comment.name): comment.comment for comment in notebook.comments}
        return found


class Loop:
    """The steps of one chapter with nbgrader's commands."""

    def __init__(self, course, chapter, folder):
        self.course, self.chapter = course, chapter
        self.exchange, home, student = (folder / name for name in ("exchange", "home", "student"))
        for made in (self.exchange, home, student):
            made.mkdir()
        self.exchange.chmod(0o777)
        config = f"\nc.Exchange.root = {str(self.exchange)!r}\nc.CourseDirectory.course_id = {course.course_id!r}\n"
        (student / "nbgrader_config.py").write_text(f"c = get_config(){config}")
        with (course.root / "course_config.py").open("a") as file:
            file.write(config)
        self.instructor = functools.partial(nbgrader, folder=course.root, home=home)
        self.student = functools.partial(nbgrader, folder=student, home=home)
        self.fetched = student / chapter
        self.me = get_username()
        self.right = reference_code(course, chapter)
        self.wrong = misconceptions_in(course.misconceptions(chapter))[0]
        self.names = list(self.right)

    def page(self, kind, student, suffix):
        """Return the path of a file that was created for a student."""
        return self.course.root / kind / student / self.chapter / f"{self.chapter}{suffix}"

    def release(self):
        """Generate, release, list and fetch the chapter."""
        self.instructor("generate_assignment", self.chapter)
        self.instructor("release_assignment", self.chapter)
        assert self.chapter in self.student("list")
        self.student("fetch_assignment", self.chapter)

    def class_work(self, stubs):
        """Return what each student of the class submits."""
        solved = solved_notebook(self.course, self.chapter, self.right, start=stubs)
        mistaken = {**self.right, self.wrong.exercise: self.wrong.function}
        clueless = {name: CLUELESS.format(name=name) for name in self.names if not name.startswith("quiz")}
        unwanted = cell(solved, f"check_{self.names[0]}")
        first = solved["cells"].index(cell(solved, self.names[0]))
        return {
            self.me: solved,
            "twice": {**solved, "cells": [*solved["cells"][: first + 1], *solved["cells"][first:]]},
            "deleted": {**solved, "cells": [c for c in solved["cells"] if c is not unwanted]},
            "wrong": solved_notebook(self.course, self.chapter, mistaken, start=stubs),
            "blank": stubs,
            "clueless": solved_notebook(self.course, self.chapter, clueless, start=stubs),
        }

    def submit(self):
        """Submit one notebook with nbgrader's command, put the others into the exchange, and collect all."""
        notebook = self.fetched / f"{self.chapter}.ipynb"
        work = self.class_work(json.loads(notebook.read_text()))
        write_notebook(notebook, work[self.me])
        self.student("submit", self.chapter)
        [mine] = (self.exchange / self.course.course_id / "inbound").iterdir()
        for name in set(work) - {self.me}:
            theirs = mine.with_name(mine.name.replace(f"{self.me}+", f"{name}+", 1))
            shutil.copytree(mine, theirs)
            (theirs / notebook.name).unlink()
            write_notebook(theirs / notebook.name, work[name])
        self.instructor("collect", self.chapter)
        broken = self.page("submitted", "broken", ".ipynb")
        shutil.copytree(self.page("submitted", "blank", ".ipynb").parent, broken.parent)
        broken.write_text('{"cells": [')

    def autograde(self):
        """Grade and export, and return the exported scores. The invalid notebook is named and does not stop the run."""
        said = self.instructor("autograde", self.chapter, status=1)
        failed = [line for line in said.splitlines() if "processing assignment '" in line and "for student" in line]
        assert {line.split("'")[-2] for line in failed} == {"broken"}
        self.instructor("export")
        with (self.course.root / "grades.csv").open() as file:
            return {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}

    def feedback(self):
        """Generate, release and fetch feedback, and return the page that the student fetched."""
        self.instructor("generate_feedback", self.chapter)
        self.instructor("release_feedback", self.chapter)
        self.student("fetch_feedback", self.chapter)
        [page] = (self.fetched / "feedback").rglob("*.html")
        return page.read_text()


COURSES = {
    "mini": (lambda folder: spell_out(copy_course(folder)), "ch1_units"),  # as in older courses
    "attention": (lambda folder: copy_whole(load_course(ROOT), folder), "ch1_weighted_averaging"),
}


@pytest.mark.parametrize(("make", "chapter"), COURSES.values(), ids=COURSES)
def test_release_fetch_submit_collect_autograde_feedback_export(tmp_path, make, chapter):
    """Standard nbgrader takes a chapter from its source to exported marks and feedback, and no hidden part is disclosed."""
    (tmp_path / "course").mkdir()
    course = with_book(make(tmp_path / "course"))
    loop = Loop(course, chapter, tmp_path)

    loop.release()
    handed_out = {
        "examples.json",
        *(path.name for path in (course.root / "source" / chapter).iterdir() if path.is_file()),
    }
    assert {path.name for path in loop.fetched.iterdir()} == handed_out
    assert hunt(course, chapter, loop.fetched.iterdir()) == []

    loop.submit()
    marks = loop.autograde()
    cells = json.loads(course.source(chapter).read_text())["cells"]
    most = float(sum(one["metadata"].get("nbgrader", {}).get("points", 0) for one in cells))
    assert marks[loop.me] == marks["twice"] == marks["deleted"] == (most, most)
    assert 0 < marks["wrong"][0] < most
    assert marks["clueless"][0] < most / 4
    assert marks["blank"] == (0.0, most)

    stock = scores(course)
    assert {stock["broken", f"check_{name}"] for name in loop.names} == {(None, True)}
    assert loop.wrong.message[:40] in html.unescape(stock["wrong", loop.wrong.exercise])

    assert "> passes: <" in loop.feedback()
    assert "✗" in loop.page("feedback", "wrong", ".html").read_text()
    received = [loop.page("feedback", "clueless", ".html"), loop.page("autograded", "clueless", ".ipynb")]
    assert hunt(course, chapter, received) == []

    # `autograder grade` gives the same marks, cell by cell, and its own pages disclose no more.
    course, theirs = load_course(course.root), received[0].read_bytes()
    verdicts = grade_class(course, chapter, handed_in(course, chapter))
    assert received[0].read_bytes() == theirs  # nbgrader's pages stay until ours are forced
    make_pages(course, chapter, handed_in(course, chapter), force=True)
    assert "some checks fail" in received[0].read_text()
    assert [v.reason for v in verdicts if v.status == "ungradable" and v.student != "broken"] == []
    ours = scores(course)
    differing = {key for key in ours if ours[key] != stock.get(key)}
    assert differing <= {("broken", loop.names[0])}  # the reason, which nbgrader only logs
    assert hunt(course, chapter, received) == []
