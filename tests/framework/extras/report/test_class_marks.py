"""Tests of a class's marks from the gradebook, and of the table as text, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from contextlib import closing
from types import MappingProxyType

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from autograder.classroom.gradebook.people import Person
from autograder.cli.app import app
from autograder.course.course import load_course
from autograder.extras.report.class_marks import STANDINGS, ChapterMarks, StudentMark, class_marks
from autograder.extras.report.marks_table import marks_csv, marks_text
from tests.support.books import with_book
from tests.support.mini import CHAPTER, RIGHT, copy_course, document, hand_in


def told(course, *arguments):
    """Return the only line that a command prints to stderr, and its exit status."""
    done = CliRunner().invoke(app, [*arguments, "--course", str(course.root)])
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr, done.exit_code


@pytest.fixture
def marks(graded):
    """The marks of the class in the mini course's chapter."""
    [found] = class_marks(graded, [CHAPTER])
    return found


def test_each_student_has_what_the_gradebook_says(marks):
    """The class has every type of mark: right, manual, late with and without extension, ungradable, blank and missing."""
    found = {student: (mark.standing, mark.score) for student, mark in marks.marks.items()}
    assert found["zq-ada-77"] == ("graded", 6.0)
    assert found["zq-s0"] == ("graded", 1.5)  # half a point given manually instead of two, and none for the mean
    assert marks.marks["zq-s0"].by_hand == 1
    assert found["zq-late-81"] == ("graded", 0.0)
    assert (marks.marks["zq-late-81"].penalty, marks.marks["zq-late-81"].seconds_late) == (6.0, 86400.0)
    assert found["zq-more-82"] == ("graded", 6.0)
    assert marks.marks["zq-more-82"].seconds_late == 0.0
    assert found["zq-cut-80"] == ("ungradable", None)
    assert "is not a valid notebook" in marks.marks["zq-cut-80"].doubts[0]
    assert found["zq-blank-83"] == ("graded", 0.0)
    assert found["zq-gus-79"] == ("missing", None)


def test_the_csv_leaves_blank_what_is_no_mark(marks):
    """Ungradable and missing notebooks have a reason instead of a mark, and a name that is a formula is escaped."""
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(marks_csv([marks])))}
    assert [rows[s][CHAPTER] for s in ("zq-cut-80", "zq-gus-79", "zq-blank-83")] == ["", "", "0"]
    assert rows["zq-cut-80"][f"{CHAPTER} status"] == "could not be graded"
    assert rows["zq-gus-79"]["total"] == ""
    assert rows["zq-late-81"][f"{CHAPTER} status"] == "graded, 24 hours late"
    assert rows["zq-ben-78"]["first name"] == "'=SUM(1)"


def test_the_verb_prints_the_same_as_json_and_as_text(graded):
    """`autograder marks --json` prints one object for each student, with null for a missing mark. The text explains its symbols."""
    done = CliRunner().invoke(app, ["marks", CHAPTER, "--json", "--course", str(graded.root)])
    by_student = {row["student"]: row["chapters"][CHAPTER] for row in json.loads(done.stdout)}
    assert by_student["zq-cut-80"]["score"] is None
    assert by_student["zq-ben-78"]["exercises"]["to_kelvin"] == {"score": 0.0, "max_score": 2.0}
    text = CliRunner().invoke(app, ["marks", "--all", "--course", str(graded.root)]).stdout
    assert "— could not be graded: needs your review\n· not submitted" in text
    assert "\x1b" not in text


WIDE = Person("li", "李小龙", "黄")


@pytest.mark.parametrize("width", [20, 47, 200, None])
def test_the_table_fits_any_terminal(width):
    """At any width, columns that do not fit continue below, no number is cut, and wide characters count by their display width."""
    worth = {"a": 10.0}
    marks = {"li": StudentMark("li", "graded", 9.25), "s" * 60: StudentMark("s" * 60, "waiting", 1 / 3)}
    chapters = [ChapterMarks(f"ch{i}_x", MappingProxyType(worth), marks, {"li": WIDE}, listed=True) for i in range(12)]
    text = marks_text(chapters, width)
    assert text.count("9.25") == 12
    assert text.count("0.33?") == 12
    assert STANDINGS["waiting"] in " ".join(text.split())
    if width is not None:
        assert max(map(cell_len, text.splitlines())) <= width


def test_a_notebook_handed_in_again_is_said(graded, tmp_path):
    """A notebook is reported if it was submitted after it was graded, but not if only its file time changed in a copied course."""
    course = load_course(shutil.copytree(graded.root, tmp_path / "mini"))
    again = "submitted after this mark"
    assert not any(again in text for m in class_marks(course, [CHAPTER])[0].marks.values() for text in m.doubts)
    hand_in(course, "zq-s1", document(course, **RIGHT), "2026-01-09 09:00:00 UTC")
    assert again in class_marks(course, [CHAPTER])[0].marks["zq-s1"].doubts[-1]


@pytest.mark.parametrize("verb", ["marks", "report"])
def test_what_cannot_be_told_is_one_sentence(verb, tmp_path):
    """An empty class, an ungraded class, and a gradebook of a different version each get a message."""
    course = copy_course(tmp_path / "mini")
    sentence, status = told(course, verb, CHAPTER)
    assert (sentence.startswith("There is no class yet: the gradebook has no students"), status) == (True, 2)
    hand_in(course, "ada", document(course, **RIGHT))
    if verb == "report":
        assert "No submission for ch1_units has been graded yet" in told(course, verb, CHAPTER)[0]
    path = course.root / "gradebook.db"
    path.write_bytes(b"not a database, and long enough to be looked at" * 40)
    assert "is not a gradebook" in told(course, verb, CHAPTER)[0]
    path.unlink()
    with_book(course)
    with closing(sqlite3.connect(path)) as book, book:
        book.execute("UPDATE alembic_version SET version_num = 'new'")
    assert "was created by a newer nbgrader" in told(course, verb, CHAPTER)[0]
    with_book(course)
    with closing(sqlite3.connect(path)) as book, book:
        book.execute("ALTER TABLE student DROP COLUMN lms_user_id")
    sentence, status = told(course, verb, CHAPTER)
    assert (
        "was created by another version of nbgrader: no such column: lms_user_id. Copy the gradebook, then run `nbgrader db upgrade`"
        in sentence
    )
    assert status == 1


def test_all_leaves_out_what_is_not_released(graded, tmp_path):
    """With --all, a chapter that no student has received yet is left out. A released chapter is included even before the first submission."""
    course = tmp_path / "course"
    shutil.copytree(graded.root, course)
    for kind, name in (("source", "{}/{}.ipynb"), ("tests/chapters", "test_{}.py"), ("solutions", "{}.py")):
        new = course / kind / name.format("ch2_later", "ch2_later")
        new.parent.mkdir(exist_ok=True)
        new.write_bytes((course / kind / name.format(CHAPTER, CHAPTER)).read_bytes())
    with (course / "course_config.py").open("a") as config:
        config.write(f"\nc.Course.chapters = ['{CHAPTER}', 'ch2_later']\n")
    for command in (["marks", "--all", "--json"], ["report", "--all", "--json"]):
        done = CliRunner().invoke(app, [*command, "--course", str(course)])
        assert (
            "These chapters are left out, because they are not released and have no submissions: ch2_later."
            in done.stderr
        )
        assert "ch2_later" not in done.stdout
    (course / "release" / "ch2_later").mkdir(parents=True)
    done = CliRunner().invoke(app, ["marks", "--all", "--json", "--course", str(course)])
    assert "ch2_later" in done.stdout
