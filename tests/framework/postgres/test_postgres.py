"""Test a gradebook in PostgreSQL with several writers at once."""

import csv
import datetime as dt
import json
import shutil
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path
from unittest import mock

import pytest
from nbgrader.api import Gradebook, Student
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from autograder.base.marks import CellMark
from autograder.base.verdict import ExerciseVerdict, Verdict
from autograder.classroom.delivery import make_pages
from autograder.classroom.gradebook import database
from autograder.classroom.gradebook.database import GradebookError, exclusive_lock, retry_conflicts
from autograder.classroom.gradebook.entries import gradebook_url, write_entries
from autograder.classroom.gradebook.people import known_students
from autograder.classroom.gradebook.reading import read_chapter
from autograder.classroom.preview import preview_class
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.extras.export.formats import export_marks
from autograder.extras.export.gradebook import read_book
from autograder.grading.submission import Job
from tests.support import ROOT
from tests.support.books import marks, outcome
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, WRONG_SIGN, document, hand_in

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

# The program of one writer, which enters the marks of 30 students in three transactions.
WRITE = """
import sys
from pathlib import Path
from autograder.course.course import load_course
from autograder.classroom.gradebook.entries import write_entries
from tests.framework.postgres.test_postgres import verdict
from tests.support.books import outcome
course, first = load_course(Path(sys.argv[1])), int(sys.argv[2])
entries = [outcome(verdict(f"s{number:02}")) for number in range(first, first + 30)]
sys.stdin.readline()
for part in range(0, 30, 10):
    write_entries(course, entries[part:part + 10])
"""


def verdict(student, to_kelvin=2.0):
    """Return a verdict on the mini chapter."""
    scores = {"to_kelvin": (to_kelvin, 2.0), "mean_kelvin": (3.0, 3.0), "quiz_ch1_units": (0.5, 1.0)}
    exercises = []
    for name, (score, most) in scores.items():
        status, message = ("passed", "") if score == most else ("partial", "π ≠ 3")
        exercises.append(ExerciseVerdict(name, score, most, status, message=message))
    total = sum(exercise.score for exercise in exercises)
    return Verdict("x.ipynb", student, CHAPTER, "graded", None, total, MAX_SCORE, "bubblewrap", tuple(exercises))


def rows(url):
    """Count the rows in each table of a submission."""
    tables = ("student", "submitted_assignment", "submitted_notebook", "grade", "comment", "base_cell", "notebook")
    with create_engine(url, poolclass=NullPool).connect() as connection:
        return {t: connection.execute(text(f"SELECT COUNT(*) FROM {t}")).scalar() for t in tables}  # noqa: S608


@pytest.mark.new_book
def test_two_graders_at_once_lose_and_double_nothing(course, book, tmp_path):
    """Two simultaneous runs of `autograder grade` enter overlapping students into a new gradebook, with the same result as one run."""
    students = [f"s{number}" for number in range(6)]
    for number, student in enumerate(students):
        code = {**RIGHT, "quiz_ch1_units": f"# {student}\n" + RIGHT["quiz_ch1_units"]}
        code["to_kelvin"] = WRONG_SIGN if number % 2 else RIGHT["to_kelvin"]
        hand_in(course, student, document(course, **code), f"2030-01-{number + 1:02} 00:00:00.000000 UTC")
    hand_in(course, "s5", b"{")
    other, alone = (shutil.copytree(course.root, tmp_path / name) for name in ("other", "alone"))
    config = alone / "course_config.py"
    config.write_text(config.read_text().replace(repr(book), repr(f"sqlite:///{alone / 'gradebook.db'}")))

    def grade(root, who):
        command = [sys.executable, "-m", "autograder", "grade", CHAPTER, "--json", "--workers", "1"]
        command += [word for student in who for word in ("--student", student)]
        return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    both = [grade(course.root, students[:4]), grade(other, students[2:])]
    told = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 1], told  # s5 could not be graded
    assert [len(json.loads(out)) for out, _err in told] == [4, 4]

    one = grade(alone, students)
    out, _err = one.communicate()
    assert [v["reason"] is None for v in json.loads(out)] == [True] * 5 + [False], out
    assert marks(book, CHAPTER) == marks(gradebook_url(load_course(alone)), CHAPTER)
    assert rows(book) == rows(gradebook_url(load_course(alone)))


@pytest.mark.new_book
def test_many_writers_meet_in_a_new_gradebook(course, book):
    """Four processes enter overlapping students into a database without tables. Each student is in it once, with every row."""
    command = [sys.executable, "-c", WRITE, str(course.root)]
    processes = [
        subprocess.Popen([*command, str(first)], cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for first in (0, 10, 20, 10)
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, said
    found = marks(book, CHAPTER)
    assert sorted(found) == [f"s{number:02}" for number in range(50)]
    assert len({json.dumps(marks, default=str) for marks in found.values()}) == 1
    assert found["s49"]["score"] == 5.5
    assert found["s49"]["comments"] == [("mean_kelvin", None), ("quiz_ch1_units", "π ≠ 3"), ("to_kelvin", None)]
    counted = rows(book)
    assert counted["student"] == counted["submitted_assignment"] == counted["submitted_notebook"] == 50
    assert counted["grade"] == counted["comment"] == 50 * 3


def test_a_writer_that_knows_no_turns_is_met_and_survived(course, book):
    """If another program, such as formgrader, enters the same student at the same time, the transaction is repeated."""
    write_entries(course, [outcome(verdict("zoe"))])
    engine = create_engine(book, poolclass=NullPool)
    written = []
    entries = [outcome(verdict(student)) for student in ("ada", "bob")]
    ours = threading.Thread(target=lambda: written.append(write_entries(course, entries)))
    with Session(engine) as theirs:
        theirs.add(Student(id="bob", last_name="Brown"))
        theirs.flush()  # written but not committed, so entering bob has to wait
        ours.start()
        waiting = text("SELECT COUNT(*) FROM pg_locks WHERE NOT granted")
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as watch:
            while ours.is_alive() and not watch.execute(waiting).scalar():
                pass
        assert ours.is_alive()
        theirs.commit()
    ours.join()
    assert written == [2]
    assert sorted(marks(book, CHAPTER)) == ["ada", "bob", "zoe"]
    with Gradebook(book, "mini") as gradebook:
        assert gradebook.find_student("bob").last_name == "Brown"


def test_what_a_person_entered_is_never_touched(course, book):
    """In PostgreSQL too, manual scores survive regrading, and unchanged entries are not written."""
    entered = [outcome(verdict("ada"), "2030-01-02 00:00:00.000000 UTC")]
    assert write_entries(course, entered) == 1
    with Gradebook(book, "mini") as gradebook:
        grade = gradebook.find_grade("check_to_kelvin", CHAPTER, CHAPTER, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.25, False
        gradebook.db.commit()
    assert write_entries(course, entered) == 0
    assert write_entries(course, [outcome(verdict("ada", to_kelvin=1.0))]) == 1
    found = marks(book, CHAPTER)["ada"]
    assert ("check_to_kelvin", 1.0, 1.25, True) in found["grades"]
    assert found["score"] == 4.75
    known = known_students(book, CHAPTER)
    assert (known.students, known.is_known) == ({"ada"}, False)
    assert read_chapter(book, CHAPTER).by_hand("ada") == 1.25
    whole = read_book(book, CHAPTER)
    assert whole.marks["ada"].waiting == [CellMark("check_to_kelvin", 2.0, 1.0, 1.25, None, needs_manual_grade=True)]
    assert (whole.marks["ada"].timestamp, whole.worth["check_to_kelvin"]) == (dt.datetime(2030, 1, 2), 2.0)  # noqa: DTZ001
    with create_engine(book, poolclass=NullPool).begin() as connection:
        connection.execute(text("ALTER TABLE student DROP COLUMN lms_user_id"))
    with pytest.raises(GradebookError, match="was created by another version of nbgrader"):
        read_book(book, CHAPTER)


def test_nbgrader_itself_reads_the_marks(course, tmp_path):
    """`nbgrader export` finds in PostgreSQL what autograder entered there."""
    write_entries(course, [outcome(verdict("ada")), outcome(verdict("bob", to_kelvin=0.5))])
    nbgrader = Path(sysconfig.get_path("scripts")) / "nbgrader"
    to = tmp_path / "grades.csv"
    run = subprocess.run([nbgrader, "export", "--to", to], cwd=course.root, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    with to.open() as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == {"ada": 5.5, "bob": 4.0}


def test_an_unchanged_class_is_passed_over(course, book):
    """Unchanged entries in PostgreSQL are kept, and entries that were changed there are entered again."""
    jobs = [
        Job(hand_in(course, student, document(course, **{**RIGHT, **own})), student, CHAPTER)
        for student, own in {"ada": {}, "bob": {"to_kelvin": WRONG_SIGN}, "eve": {}}.items()
    ]
    verdicts = grade_class(course, CHAPTER, jobs)
    pages = sorted(path for kind in ("autograded", "feedback") for path in (course.root / kind).rglob("*.*"))
    assert len(pages) >= 6
    before = [path.stat().st_mtime_ns for path in pages]
    assert grade_class(course, CHAPTER, jobs) == verdicts
    assert [path.stat().st_mtime_ns for path in pages] == before
    engine = create_engine(book, poolclass=NullPool)
    with engine.begin() as connection:
        changed = connection.execute(text("UPDATE grade SET auto_score = 0.25 WHERE auto_score = 2"))
        assert changed.rowcount
    assert grade_class(course, CHAPTER, jobs) == verdicts
    assert [path.stat().st_mtime_ns for path in pages] != before
    with Gradebook(book) as gradebook:
        for job, found in zip(jobs, verdicts, strict=True):
            assert gradebook.find_submission(CHAPTER, job.student).score == found.score


def test_turns_are_taken(book):
    """While one writer has the lock, no other writer begins. The next writer begins when the first has ended, even with an error."""
    order = []

    def second():
        with exclusive_lock(book):
            order.append("second")

    waits = threading.Thread(target=second)

    def first():
        waiting = text("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        with exclusive_lock(book), create_engine(book, poolclass=NullPool).connect() as watch:
            waits.start()
            while waits.is_alive() and not watch.execute(waiting).scalar():
                pass
            order.append("first")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        first()
    waits.join()
    assert order == ["first", "second"]


def test_what_is_no_conflict_is_raised_at_once(monkeypatch):
    """Only conflicts of two writers are retried, and only a few times."""
    monkeypatch.setattr(database, "_WAIT_SECONDS", 0.0)
    conflict = IntegrityError("INSERT", {}, Exception("duplicate key"))
    for error, tries in ((ZeroDivisionError(), 1), (conflict, database._MAX_TRIES)):
        write = mock.Mock(side_effect=error)
        with pytest.raises(type(error)):
            retry_conflicts(write)
        assert write.call_count == tries


def test_marks_by_hand_a_preview_and_an_export_read_from_a_server(course, book):
    """Manual marks reach the page and the export. The preview reads the server without writing to it."""
    hand_in(course, "ada", document(course, **RIGHT))
    hand_in(course, "bob", document(course, **{**RIGHT, "to_kelvin": WRONG_SIGN}))
    jobs = handed_in(course, CHAPTER)
    grade_class(course, CHAPTER, jobs)
    with Gradebook(book, "mini") as opened:
        mark = opened.find_grade("check_to_kelvin", CHAPTER, CHAPTER, "bob")
        mark.manual_score, mark.needs_manual_grade = 1.5, False
        opened.db.commit()
    assert [page.status for page in make_pages(course, CHAPTER, jobs)] == ["unchanged", "made"]
    hand_in(course, "ada", document(course))
    before = marks(book, CHAPTER)
    found = preview_class(course, CHAPTER, jobs)
    assert [(move.student, move.before, move.after) for move in found.moves] == [("ada", MAX_SCORE, 0.0)]
    assert marks(book, CHAPTER) == before
    data = export_marks(book, "canvas").data.decode()
    assert f",ada,,{MAX_SCORE:g}\r\n" in data
    assert f",bob,,{before['bob']['score']:g}\r\n" in data
