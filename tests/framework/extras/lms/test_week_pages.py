"""Run every command on the pages "A week with Canvas" and "A week with Moodle", with files like those that the systems create."""

from __future__ import annotations

import csv
import json
import re
import shlex
import zipfile

import pytest
from click.testing import CliRunner

from autograder.cli.app import app
from autograder.extras.export.canvas_api import TOKEN
from tests.framework.extras.export.test_canvas_api import SECRET, canvas  # noqa: F401 - a fixture
from tests.support import ROOT
from tests.support.books import with_book
from tests.support.mini import CHAPTER, RIGHT, WRONG_SIGN, copy_course, document
from tests.support.nbgrader import nbgrader

BLOCK = re.compile(r"^```\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands(page):
    """Return the commands on a page, adapted to the mini course's chapter."""
    text = (ROOT / "docs" / f"week-with-{page}.md").read_text(encoding="utf-8")
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    assert len(lines) >= 7
    return [shlex.split(line.replace("ch1_weighted_averaging", CHAPTER)) for line in lines]


def follow(page, folder, home, **replaced):
    """Run the commands on a page in ``folder``, and assert that all of them succeed."""
    for program, *arguments in commands(page):
        words = [replaced.get(word, word) for word in arguments]
        if program == "nbgrader":
            nbgrader(*words, folder=folder, home=home)
            continue
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, (words, done.output, done.exception)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """The mini course with a class list, as the current folder."""
    made = with_book(copy_course(tmp_path / "mini"))
    (made.root / "students.csv").write_text(
        "id,first_name,last_name,email,lms_user_id\nada,Ada,Byron,ada@x.org,101\nbob,Bob,Ross,bob@x.org,202\n"
    )
    monkeypatch.chdir(made.root)
    return made


def download(course, names):
    """Write a zip file like a system's, with one right solution and one with a mistake under ``names``."""
    work = [document(course, **RIGHT), document(course, **{**RIGHT, "to_kelvin": WRONG_SIGN})]
    with zipfile.ZipFile("submissions.zip", "w") as archive:
        for name, one in zip(names, work, strict=True):
            archive.writestr(name, json.dumps(one))


@pytest.mark.slow
def test_a_week_with_canvas(course, canvas, tmp_path, monkeypatch):  # noqa: F811
    """The page's commands enter the class list, put the marks into Canvas by file and by API, and pack both graded notebooks."""
    pytest.importorskip("canvasapi")
    monkeypatch.setenv(TOKEN, SECRET)
    names = [f"byronada_101_5001_{CHAPTER}.ipynb", f"rossbob_202_5002_{CHAPTER}-1.ipynb"]
    download(course, names)
    (course.root / "canvas.csv").write_text(
        f'Student,ID,SIS User ID,SIS Login ID,Section,{CHAPTER} (4711)\n    Points Possible,,,,,6\n"Byron, Ada",101,,ada,,\n"Ross, Bob",202,,b,,\n'
    )
    canvas.users.append({"id": 404, "name": "Other"})
    follow("canvas", course.root, tmp_path, **{"https://canvas.example.edu/courses/17": canvas.url})
    rows = list(csv.reader((course.root / "import.csv").read_text().splitlines()))
    assert [row[-1] for row in rows[2:]] == ["6", "4"]
    assert canvas.scores == {101: 6.0, 202: 4.0, 303: None}
    with zipfile.ZipFile(course.root / f"feedback-{CHAPTER}-canvas.zip") as archive:
        assert archive.namelist() == sorted(names)


@pytest.mark.slow
def test_a_week_with_moodle(course, tmp_path):
    """The page's commands enter the class list, fill in the worksheet, and pack both feedback pages."""
    folders = ["Ada Byron_31_assignsubmission_file_", "Bob Ross_32_assignsubmission_file_"]
    download(course, [f"{folder}/{CHAPTER}.ipynb" for folder in folders])
    row = 'Participant {},{},{},Submitted for grading,,6.00,Yes,"Friday, 9 January 2026, 8:00 AM",-,\n'
    (course.root / "worksheet.csv").write_text(
        "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,Last modified (submission),Last modified (grade),"
        f"Feedback comments\n{row.format(31, 'Ada Byron', 'ada@x.org')}{row.format(32, 'Bob Ross', 'bob@x.org')}"
    )
    follow("moodle", course.root, tmp_path)
    rows = list(csv.reader((course.root / "marks.csv").read_text().splitlines()))
    assert [row[4] for row in rows[1:]] == ["6", "4"]
    with zipfile.ZipFile(course.root / f"feedback-{CHAPTER}-moodle.zip") as archive:
        assert archive.namelist() == [f"{folder}/{CHAPTER}.html" for folder in folders]
