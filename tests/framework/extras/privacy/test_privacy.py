"""Tests that commands find, export and remove all data about one student, and no data about other students."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import zipfile

import pytest
from click.testing import CliRunner

from autograder.classroom.incremental import hold_run_lock
from autograder.classroom.run import grade_class, handed_in
from autograder.cli.app import app
from autograder.course.course import load_course
from tests.support import ROOT
from tests.support.books import book_of, with_book
from tests.support.commands import python
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, WRONG_SIGN, copy_course, document, hand_in

ZOE = "zoe-4711"  # occurs nowhere else
MARKER = "zoe_wrote_this_8812"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A graded course that stores data about two students everywhere. One of them has an address and an LMS id."""
    folder = tmp_path_factory.mktemp("private")
    course = with_book(copy_course(folder / "mini", config=f"c.Exchange.root = {str(folder / 'exchange')!r}\n"))
    with book_of(course) as book:
        book.add_student(ZOE, first_name="Zoe", email="zoe@example.org", lms_user_id="990017")
        book.add_student("ada")
    hand_in(course, "ada", document(course, **RIGHT))
    hand_in(course, ZOE, document(course, **{**RIGHT, "to_kelvin": f"# {MARKER}\n{RIGHT['to_kelvin']}"}))
    grade(course)
    hand_in(course, ZOE, document(course, to_kelvin=f"# {MARKER}\n{WRONG_SIGN}"))
    grade(course)
    invoke(course, "extend", CHAPTER, ZOE, "2d")
    invoke(course, "report", CHAPTER)
    inbound = folder / "exchange" / "mini" / "inbound" / f"{ZOE}+{CHAPTER}+2026-01-01 10:00:00 UTC+x"
    inbound.mkdir(parents=True)
    (inbound / f"{CHAPTER}.ipynb").write_text(MARKER)
    (course.root / "export.csv").write_text("Student,Email\nZoe,zoe@example.org\n")
    return course


@pytest.fixture
def course(whole, tmp_path):
    """A copy of the course and its exchange."""
    shutil.copytree(whole.root.parent, tmp_path / "all")
    root = tmp_path / "all" / "mini"
    config = root / "course_config.py"
    config.write_text(config.read_text().replace(str(whole.root.parent), str(tmp_path / "all")))
    return load_course(root)


def grade(course):
    """Load the course again, as a new command does, and return each student's verdict."""
    course = load_course(course.root)
    return {v.student: v for v in grade_class(course, CHAPTER, handed_in(course, CHAPTER))}


def invoke(course, *arguments, status=0, typed=None):
    """Run a command on the course, and return its standard output and its messages."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--course", str(course.root)], input=typed)
    assert done.exit_code == status, done.output
    return done.stdout, " ".join(done.stderr.split())


def naming(course, *words):
    """Return the files of the course and its exchange whose path or bytes contain one of ``words``."""
    found = set()
    for path in course.root.parent.rglob("*"):
        text = path.read_bytes() if path.is_file() else b""
        if any(word in str(path) or word.encode() in text for word in words):
            found.add(str(path.relative_to(course.root.parent)))
    return found


def contents(course):
    """Return the bytes of every file of the course and its exchange, by path."""
    return {path: path.read_bytes() for path in course.root.parent.rglob("*") if path.is_file()}


def test_a_dry_run_lists_every_place_and_changes_nothing(course):
    """The list contains the folders, the gradebook, the log, the extensions, stored results, pages and unknown files."""
    before = contents(course)
    shown, said = invoke(course, "forget", ZOE, "--dry-run")
    assert said == "Nothing was removed."
    for kind in ("submitted", "autograded", "feedback"):
        assert re.search(rf"^{kind}/{ZOE}/: \d files?$", shown, re.MULTILINE)
    assert "the gradebook: student 1, submissions 1, grades 3, comments 3" in shown
    assert "moved_marks.jsonl: 2 lines" in shown
    assert "extensions.csv: 1 line" in shown
    assert f".autograder/verdicts/{CHAPTER}/uptodate.jsonl: " in shown
    assert ".autograder/verdicts/: 4 files of stored results" in shown
    assert f".autograder/report/{CHAPTER}.html: a page about the class" in shown
    assert f"inbound/{ZOE}+{CHAPTER}" in shown
    assert shown.split("so check them yourself:\n")[1] == "export.csv\n"
    assert contents(course) == before


def test_nothing_about_a_student_is_left(course):
    """After `forget`, no file in the course or the exchange contains the student's id or code. Files that were only listed stay."""
    ada = {path: data for path, data in contents(course).items() if "ada" in path.parts}
    _, said = invoke(course, "forget", ZOE, "--yes")
    assert said == f"All of this data about {ZOE} was removed from the course."
    assert naming(course, ZOE, MARKER, "990017") == set()
    assert naming(course, "zoe@example.org") == {"mini/export.csv"}
    assert {path: path.read_bytes() for path in ada} == ada
    assert [v.score for v in grade(course).values()] == [MAX_SCORE]
    assert "has no data about student" in invoke(course, "forget", ZOE, status=2)[1]


def test_forgetting_asks_first(course):
    """Without --yes, the command asks, and only the answer yes removes anything."""
    before = contents(course)
    assert "Nothing was removed." in invoke(course, "forget", ZOE, typed="n\n", status=2)[1]
    assert contents(course) == before
    invoke(course, "forget", ZOE, typed="y\n")
    assert not (course.root / "submitted" / ZOE).exists()


def test_everything_is_exported(course, tmp_path):
    """The zip has the student's files, rows and lines, and no line about anybody else. A second run overwrites nothing."""
    path = tmp_path / "zoe.zip"
    invoke(course, "export-student", ZOE, "--output", path)
    assert path.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(path) as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    rows = json.loads(texts["gradebook.json"])
    assert rows["student"] == [[ZOE, "Zoe", "None", "zoe@example.org", "990017"]]
    assert MARKER.encode() in texts[f"submitted/{ZOE}/{CHAPTER}/{CHAPTER}.ipynb"]
    assert {"moved_marks.jsonl", "extensions.csv", f"feedback/{ZOE}/{CHAPTER}/{CHAPTER}.html"} <= texts.keys()
    assert not any(b'"ada"' in text for text in texts.values())
    assert "already exists" in invoke(course, "export-student", ZOE, "--output", path, status=2)[1]
    found = json.loads(invoke(course, "export-student", ZOE, "--dry-run", "--json")[0])
    assert (found["student"], found["gradebook"]["grades"], found["written"]) == (ZOE, 3, False)


@pytest.mark.parametrize(
    ("student", "sentence"),
    [("zo", "has no data about student 'zo'."), ("../ada", "cannot be a student's id"), ("ADA", "Did you mean ada?")],
)
def test_a_student_that_the_course_does_not_have(course, student, sentence):
    """If the given id is only part of an id, is a path or is misspelled, nothing is removed."""
    assert sentence in invoke(course, "forget", student, "--yes", status=2)[1]


def test_nothing_is_removed_during_a_run(course):
    """`forget` refuses to run while a chapter is being graded."""
    with hold_run_lock(course, CHAPTER):
        done = python("-m", "autograder", "forget", ZOE, "--yes", cwd=course.root, status=2)
    assert f"{CHAPTER} is being graded now." in done.stderr


def test_a_removed_student_is_not_entered_again(course):
    """After `nbgrader db student remove`, grading reports the removal and enters no mark until the student is added again."""
    with book_of(course) as book:
        book.remove_student(ZOE)
    verdict = grade(course)[ZOE]
    assert verdict.status == "ungradable"
    assert verdict.reason.startswith(f"{ZOE} was removed from the gradebook, so nothing was graded")
    with sqlite3.connect(course.root / "gradebook.db") as book:
        assert book.execute("SELECT id FROM student").fetchall() == [("ada",)]
    with book_of(course) as book:
        book.add_student(ZOE)
    assert grade(course)[ZOE].status == "graded"


def test_the_page_shows_a_backup_that_can_be_restored(course, tmp_path):
    """The page's commands make and restore a backup, and the restored course has all marks, including manual ones."""
    with book_of(course) as book:
        book.find_grade("check_to_kelvin", CHAPTER, CHAPTER, "ada").manual_score = 0.25
        book.db.commit()
    before = json.loads(invoke(course, "marks", CHAPTER, "--json")[0])
    text = (ROOT / "docs" / "personal-data.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "tar " in block]
    assert len(blocks) == 2
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "autograder").symlink_to(shutil.which("autograder") or ROOT / ".venv" / "bin" / "autograder")
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for block in blocks:
        commands = block.replace("ch1_weighted_averaging", CHAPTER)
        subprocess.run(["sh", "-euc", commands], cwd=course.root, env=environment, check=True, capture_output=True)
    restored = load_course(course.root.parent / "restored")
    assert not (course.root.parent / "restored" / ".autograder" / "report").exists()
    assert json.loads(invoke(restored, "marks", CHAPTER, "--json")[0]) == before
