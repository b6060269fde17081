"""Tests of the commands for a course's settings, missing parts and class list, and of these commands as the docs use them."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from autograder.classroom.gradebook.people import read_class_list
from autograder.cli.app import app
from autograder.course.course import load_course
from autograder.extras.doctor.readiness import probe_course
from autograder.sandbox.probes import Probe
from tests.support import ROOT
from tests.support.books import with_book
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, copy_course, document, hand_in
from tests.support.nbgrader import nbgrader


def invoke(course, *arguments, status=0):
    """Run a command in this process, and return its stdout and stderr."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--course", str(course.root)])
    assert done.exit_code == status, done.output
    return done.stdout, done.stderr


# --- settings ----------------------------------------------------------------------------------------------------------


def test_every_setting_is_printed_with_where_it_was_set(tmp_path, monkeypatch):
    """Each setting is printed with its help, its value and where it was set. Passwords and the secret are never shown."""
    monkeypatch.setenv("AUTOGRADER_COURSE_SECRET", "not-to-be-shown")
    course = copy_course(tmp_path / "mini")
    lines = (course.root / "course_config.py").read_text().splitlines()
    (course.root / "nbgrader_config.py").write_text(
        'load_subconfig("course_config.py")\nc.CourseDirectory.db_url = "postgresql://ann:pass-word@host/book"\n'
    )
    printed, _ = invoke(course, "config", "--json")
    found = {one["name"]: one for one in json.loads(printed)}
    assert {f"c.Course.{name}" for name in type(course).class_trait_names(config=True)} <= found.keys()
    assert all(one["help"] for one in found.values())
    place = next(i for i, line in enumerate(lines, start=1) if line.startswith("c.Course.locate_seconds"))
    assert (found["c.Course.locate_seconds"]["value"], found["c.Course.locate_seconds"]["default"]) == (0, 2.0)
    assert found["c.Course.locate_seconds"]["where"] == f"course_config.py, line {place}"
    assert found["c.Course.memory_mb"]["where"] == "default"
    assert found["c.CourseDirectory.db_url"]["where"] == "nbgrader_config.py, line 2"
    assert found["c.CourseDirectory.db_url"]["value"] == "postgresql://ann:***@host/book"
    assert found["AUTOGRADER_COURSE_SECRET"]["where"] == "the environment"
    text, _ = invoke(course, "config")
    assert "c.Course.memory_mb = 2048   (default)\n    How much memory" in text
    assert "pass-word" not in printed + text
    assert "not-to-be-shown" not in printed + text


# --- what a course lacks -----------------------------------------------------------------------------------------------


def lacking(course):
    """Return what is reported as missing, by the name of the probe."""
    return {one.name: f"{one.detail}. {one.remedy}" for one in probe_course(course) if not one.holds}


def test_what_a_course_lacks_is_said_with_what_to_do(tmp_path, monkeypatch):
    """A secret that git does not ignore and a missing class list, exchange or alembic are reported until the problem is fixed."""
    course = with_book(copy_course(tmp_path / "mini", config="c.Exchange.root = 'exchange'\n"))
    monkeypatch.chdir(course.root)
    monkeypatch.delenv("AUTOGRADER_COURSE_SECRET", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    subprocess.run(["git", "init", "-q"], check=True)
    found = lacking(course)
    assert found.keys() == {"class list", "secret", "alembic", "exchange"}
    assert "Add .course_secret to .gitignore" in found["secret"]
    assert "nbgrader db student import" in found["class list"]
    assert "Activate the virtual environment" in found["alembic"]
    assert "sudo mkdir -p exchange" in found["exchange"]
    (course.root / ".course_secret").write_text("x")
    subprocess.run(["git", "add", ".course_secret"], check=True)
    assert "git rm --cached .course_secret" in lacking(course)["secret"]
    subprocess.run(["git", "rm", "-q", "--cached", ".course_secret"], check=True)
    (course.root / ".gitignore").write_text(".course_secret\n")
    (course.root / "exchange").mkdir()
    students = tmp_path / "students.csv"
    students.write_text("id,first_name\nada,Ada\n")
    invoke(course, "roster", students)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    assert lacking(course) == {}


def test_doctor_tells_of_the_course_and_as_json(tmp_path, monkeypatch):
    """If the gradebook has another version or a package is missing, the course is not ready, even if the machine is."""
    course = with_book(copy_course(tmp_path / "mini", config="c.Course.packages = ['nosuchpackage']\n"))
    with closing(sqlite3.connect(course.root / "gradebook.db")) as book, book:
        book.execute("UPDATE alembic_version SET version_num = '0123abc'")
    monkeypatch.setattr(
        "autograder.extras.doctor.readiness.diagnose", lambda: [Probe("landlock starts", holds=True, detail="")]
    )
    found = json.loads(invoke(course, "doctor", "--json", status=1)[0])
    assert (found["ready"], found["sandbox"]) == (False, "landlock")
    told = {one["name"]: one["remedy"] for one in found["course"] if not one["holds"]}
    assert "was created by a newer nbgrader than the one installed here" in told["gradebook"]
    assert "pip install nosuchpackage" in told["packages"]
    text, _ = invoke(course, "doctor", status=1)
    assert f"The course in {course.root}"[:60] in text.replace("\n", "")
    assert "the course cannot be graded (packages and gradebook, see above)" in " ".join(text.split())


# --- the class list ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,first_name\nada,Ada\nben,Ben\nada,Adam\n", "the id ada is in line 2 and in line 4"),
        ("id\nada\nADA \n", "'ada' and 'ADA' differ only in case or spaces"),
        ("id,lms_user_id\nada,7\nben,7\n", "ada and ben have the same LMS id, 7"),
        ("student,first\nada,Ada\n", "has no column called id. Its first line contains student, first"),
        ("id,first_name\n,Ada\n", "line 2 has no id"),
        (f"id,first_name\nada,{'a' * 200_000}\n", "is not a CSV file: field larger than field limit"),
        ("id\nada/lovelace\n", "cannot be the name of a folder"),
        ('id\n"ada\nben"\n', r"the id 'ada\nben' in line 2 contains a line break"),
        ('id,first_name\nada,"Ada\nben,Ben\n', "is not a CSV file: unexpected end of data"),
        ("id,id\nada,ben\n", "has the column id twice"),
        ("id\n\n", "has no students"),
        ("", "has no column called id. Its first line contains nothing"),
    ],
)
def test_a_class_list_with_a_mistake_is_not_entered(course, tmp_path, text, sentence):
    """One sentence names the wrong lines, and nothing is entered, not even the correct lines."""
    path = tmp_path / "students.csv"
    path.write_text(text)
    _, said = invoke(course, "roster", path, status=2)
    assert sentence in said
    assert said.count("\n") == 1
    assert not (course.root / "gradebook.db").exists()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_class_list_is_entered_as_a_spreadsheet_saves_it(tmp_path, encoding):
    """Semicolons, a byte order mark and Windows encodings are accepted, and entering the list again loses nothing."""
    course = with_book(copy_course(tmp_path / "mini"))
    path = tmp_path / "students.csv"
    path.write_bytes("ID;First_Name;email;seat\r\nzoé-1;Zoé;z@example.org;4\r\n".encode(encoding))
    _, said = invoke(course, "roster", path)
    assert "Ignored: the column seat.\n1 student in " in said
    assert "1 added to the gradebook, 0 changed" in said
    path.write_bytes("id;last_name\r\nzoé-1;Łuk\r\n".encode())
    assert "0 added to the gradebook, 1 changed" in invoke(course, "roster", path)[1]
    person = read_class_list(f"sqlite:///{course.root / 'gradebook.db'}").people["zoé-1"]
    assert (person.name, person.email) == ("Zoé Łuk", "z@example.org")


# --- the docs' commands for class and calendar -------------------------------------------------------------------------


def documented():
    """Return the code blocks of one section of docs/class-list.md, adapted to the mini course."""
    text = (ROOT / "docs" / "class-list.md").read_text("utf-8")
    part = text.split("## The class list and the calendar\n")[1].split("\n## ")[0]
    part = part.replace("ch1_weighted_averaging", CHAPTER).replace('"attention"', '"mini"')
    return re.findall(r"^```(\w*)\n(.*?)^```", part, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_docs_commands_for_class_and_calendar_work(tmp_path, monkeypatch):
    """The docs' commands work: the class list is entered, a late notebook gets a penalty, and an extension removes it."""
    course = with_book(copy_course(tmp_path / "mini"))
    monkeypatch.chdir(course.root)
    (course.root / "students.csv").write_text("id,first_name,last_name\nada,Ada,Lovelace\nben,Ben,Late\n")
    (course.root / "extensions-week-3.csv").write_text(f"chapter,student,extension\n{CHAPTER},ada,2d\n")
    blocks = documented()
    commands = [shlex.split(line, comments=True) for kind, text in blocks if not kind for line in text.splitlines()]
    for program, *arguments in commands:
        if program == "nbgrader":
            said = nbgrader(*arguments, folder=course.root, home=tmp_path)
            assert "list" not in arguments or "ada (Lovelace, Ada)" in said
        elif program == "autograder":
            invoke(course, *arguments)
    rule, penalty, plugin, _exchange = [text for kind, text in blocks if kind == "python"]
    for student in ("ada", "ben"):
        hand_in(course, student, document(course, **RIGHT), "2026-02-02 19:00:00 UTC")

    def marks():
        python("-m", "autograder", "grade", CHAPTER, cwd=course.root, status=0, PYTHONPATH=f"{ROOT}:.")
        with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "mini") as book:
            found = book.assignment_submissions(CHAPTER)
            return {s.student_id: s.score - s.late_submission_penalty for s in found}

    own = f"{penalty}c.AssignLatePenalties.plugin_class = 'late.TenPercentADay'\n"
    (course.root / "late.py").write_text(plugin)
    monkeypatch.syspath_prepend(str(course.root))
    for path, text in (("course_config.py", rule), ("nbgrader_config.py", own)):
        before = (course.root / path).read_text()
        (course.root / path).write_text(f"{before}\n{text}")
        assert marks() == {"ada": 6.0, "ben": pytest.approx(4.8)}
        invoke(course, "extend", CHAPTER, "ada", "0h")
        assert marks() == {"ada": pytest.approx(4.8), "ben": pytest.approx(4.8)}
        invoke(course, "extend", CHAPTER, "ada", "48h")
        (course.root / path).write_text(before)
    assert load_course(course.root).course_id == "mini"
