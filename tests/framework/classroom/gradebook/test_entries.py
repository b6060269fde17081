"""Test entering verdicts in nbgrader's gradebook."""

import dataclasses
import datetime as dt
import json
import os
import re
import subprocess
import sys
import sysconfig

import nbgrader.api
import pytest
import sqlalchemy
from nbconvert.filters import markdown2html
from sqlalchemy.exc import OperationalError

from autograder.base.errors import CourseError
from autograder.base.verdict import CheckResult, ExerciseVerdict, Verdict
from autograder.classroom.gradebook import entries as gradebook_module
from autograder.classroom.gradebook.database import GradebookError, gradebook_errors, require_gradebook
from autograder.classroom.gradebook.entries import (
    comment_on,
    gradebook_url,
    load_nbgrader,
    nbgrader_config,
    write_entries,
)
from autograder.classroom.gradebook.people import read_marks
from autograder.course.course import load_course
from tests.framework.classroom.conftest import cells
from tests.support.books import book_of, outcome, with_book
from tests.support.mini import CHAPTER, MAX_SCORE, copy_course


def verdict(student, to_kelvin=2.0, mean_kelvin=3.0, quiz=1.0, **more):
    """Return a verdict on the mini chapter with these scores."""
    scores = {"to_kelvin": (to_kelvin, 2.0), "mean_kelvin": (mean_kelvin, 3.0), "quiz_ch1_units": (quiz, 1.0)}
    exercises = tuple(
        ExerciseVerdict(name, score, most, *(("passed",) if score == most else ("partial", None, "Mind the axis.")))
        for name, (score, most) in scores.items()
    )
    total = sum(e.score for e in exercises)
    whole = Verdict("x.ipynb", student, CHAPTER, "graded", None, total, MAX_SCORE, "bubblewrap", exercises)
    return dataclasses.replace(whole, **more)


def ungradable(student):
    """Return a verdict on a notebook that could not be graded."""
    return verdict(student, status="ungradable", reason="It is <i>not</i> JSON.", score=0.0, exercises=())


@pytest.fixture
def course(tmp_path):
    """Return a new copy of the mini course, with an empty gradebook."""
    return with_book(copy_course(tmp_path / "mini"))


def enter(course, *verdicts, stamp=None, **options):
    """Write verdicts into the course's gradebook."""
    return write_entries(course, [outcome(one, stamp) for one in verdicts], **options)


def grade_of(book, student, name="check_to_kelvin"):
    """Return one grade of one student."""
    return book.find_grade(name, CHAPTER, CHAPTER, student)


def comment_of(book, student, name="to_kelvin"):
    """Return one comment on one student's work."""
    return book.find_comment(name, CHAPTER, CHAPTER, student)


def test_a_new_gradebook_gets_everything(course, monkeypatch):
    """The course, chapter, cells, students and scores are created as nbgrader creates them, even if no virtual environment is active."""
    (course.root / "gradebook.db").unlink()
    monkeypatch.setenv("PATH", os.defpath)
    assert enter(course, verdict("ada"), verdict("bob", mean_kelvin=1.5)) == 2
    assert os.environ["PATH"] == os.defpath
    with book_of(course) as book:
        assert [a.name for a in book.assignments] == [CHAPTER]
        assert book.find_assignment(CHAPTER).max_score == MAX_SCORE
        assert [book.find_submission(CHAPTER, student).score for student in ("ada", "bob")] == [MAX_SCORE, 4.5]
        assert not book.find_submission(CHAPTER, "bob").needs_manual_grade
        assert comment_of(book, "bob", "mean_kelvin").comment == "Mind the axis."
        assert comment_of(book, "ada", "mean_kelvin").comment is None


def test_a_new_gradebook_has_the_revision_that_nbgrader_gives_it():
    """The revision is read from nbgrader's migrations in this process. nbgrader itself gets the same revision by starting alembic."""
    gradebook_module.load_nbgrader()
    code = "from nbgrader.api import get_alembic_version; print(get_alembic_version())"
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    own = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PATH": path}, capture_output=True, check=True
    )
    assert nbgrader.api.get_alembic_version() == own.stdout.decode().strip()


def test_a_gradebook_is_completed_after_a_kill_at_any_moment(tmp_path):
    """The tables and the cells of a chapter are entered in many transactions. If the process is killed between two of them, the next entry completes the gradebook."""
    calm, killed = (copy_course(tmp_path / name) for name in ("calm", "killed"))
    file, moments = killed.root / "gradebook.db", set()

    def keep(*_event):
        """Keep the database as a kill at this moment would leave it. A journal that is not empty is part of it."""
        files = (file, file.with_name("gradebook.db-journal"))
        moments.add(tuple(path.read_bytes() if path.exists() else b"" for path in files))

    for event in ("before_cursor_execute", "commit"):
        sqlalchemy.event.listen(sqlalchemy.engine.Engine, event, keep)
    try:
        enter(killed, verdict("ada"))
    finally:
        for event in ("before_cursor_execute", "commit"):
            sqlalchemy.event.remove(sqlalchemy.engine.Engine, event, keep)
    assert len(moments) > 40
    enter(calm, verdict("ada"))
    for book, journal in moments:
        file.write_bytes(book)
        file.with_name("gradebook.db-journal").write_bytes(journal)
        require_gradebook(f"sqlite:///{file}", nbgrader_config(killed))
        enter(killed, verdict("ada"))
        assert cells(killed) == cells(calm)
        with book_of(killed) as opened:
            [version] = opened.db.execute(sqlalchemy.text("SELECT version_num FROM alembic_version"))
            assert list(version) == [nbgrader.api.get_alembic_version()]


def test_an_ungradable_notebook_has_no_mark_and_waits_for_a_person(course):
    """An ungradable notebook gets no score, is flagged for manual grading and shows the reason in formgrader. An earlier mark is removed."""
    enter(course, verdict("ada"))
    enter(course, ungradable("ada"), ungradable("bob"))
    with book_of(course) as book:
        for student in ("ada", "bob"):
            assert grade_of(book, student).auto_score is None
            assert grade_of(book, student).needs_manual_grade
            told = "This notebook could not be graded: It is &lt;i>not&lt;/i> JSON."
            assert comment_of(book, student).comment == told


def test_what_a_person_entered_is_never_touched(course):
    """Manual scores, extra credit and manual comments survive regrading. If the automatic score changes, manual review is needed."""
    enter(course, verdict("ada", to_kelvin=1.0))
    with book_of(course) as book:
        grade = grade_of(book, "ada")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.75, 0.5, False
        comment_of(book, "ada").manual_comment = "Well argued."
        book.db.commit()
    assert enter(course, verdict("ada", to_kelvin=1.0)) == 0
    with book_of(course) as book:
        assert not grade_of(book, "ada").needs_manual_grade
    assert enter(course, verdict("ada", to_kelvin=0.5)) == 1
    with book_of(course) as book:
        grade = grade_of(book, "ada")
        assert (grade.auto_score, grade.manual_score, grade.extra_credit, grade.score) == (0.5, 1.75, 0.5, 2.25)
        assert grade.needs_manual_grade
        assert comment_of(book, "ada").comment == "Well argued."


def test_timestamps_and_late_penalties_are_nbgraders(course):
    """The course's late plugin computes the penalty from the submission's timestamp and the student's extension."""
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    course = load_course(course.root)
    late = "2030-01-02 00:00:00.000000 UTC"
    entries = [outcome(verdict(name), stamp) for name, stamp in (("ada", late), ("bob", late), ("cyd", "nonsense"))]
    write_entries(course, entries)
    with book_of(course) as book:
        book.update_or_create_assignment(CHAPTER, duedate=dt.datetime(2030, 1, 1))  # noqa: DTZ001 - nbgrader's own form
        book.grant_extension(CHAPTER, "bob", days=3)
    write_entries(course, entries)
    with book_of(course) as book:
        ada = book.find_submission(CHAPTER, "ada")
        assert ada.total_seconds_late == 24 * 3600
        assert (ada.score, ada.late_submission_penalty) == (MAX_SCORE, MAX_SCORE)
        assert not book.find_submission(CHAPTER, "bob").late_submission_penalty
        assert book.find_submission(CHAPTER, "cyd").timestamp is None


def test_marks_without_confinement_are_refused(course):
    """A verdict from --unsafe-local is entered into the gradebook only with ``allow_unsafe``."""
    (course.root / "gradebook.db").unlink()
    unsafe = verdict("ada", sandbox="local")
    with pytest.raises(CourseError, match="graded without a sandbox"):
        enter(course, unsafe)
    assert not (course.root / "gradebook.db").exists()
    assert enter(course, unsafe, allow_unsafe=True) == 1


def test_a_run_is_entered_whole_or_not_at_all(course):
    """If one verdict cannot be entered, none is entered, and the error names the cell and the remedy."""
    enter(course, verdict("ada"))
    strange = dataclasses.replace(verdict("zoe"), exercises=(ExerciseVerdict("softmax", 1.0, 1.0, "passed"),))
    with pytest.raises(CourseError, match=r"no cell 'check_softmax'.*nbgrader generate_assignment ch1_units --force"):
        enter(course, verdict("ada", to_kelvin=0.0), verdict("yan"), strange)
    with book_of(course) as book:
        assert [student.id for student in book.students] == ["ada"]
        assert grade_of(book, "ada").auto_score == 2.0


def test_comments_hold_no_markup_of_the_students_making():
    """A comment is rendered as Markdown, but the content of an error message stays plain text."""
    check = CheckResult("a", "t", "error", "", visible=True)
    exercise = ExerciseVerdict("f", 0.0, 1.0, "error", message="NameError: <script>&", checks=(check,))
    assert comment_on(exercise, "message") == "NameError: &lt;script>&amp;"
    assert comment_on(dataclasses.replace(exercise, status="not_attempted"), "message") == "No response."
    assert comment_on(dataclasses.replace(exercise, message=""), "message") == "This check fails: t."


@pytest.mark.parametrize(
    "said",
    [
        "[see](javascript:alert(1))",
        "![x](http://evil.example/beacon.png)",
        "[see][1]\n\n[1]: javascript:alert(1)",
        "$$\\href{javascript:alert(1)}{x}$$ and $\\href{javascript:alert(1)}{x}$",
        r"\\(\href{javascript:alert(1)}{x}\\) \\[\href{javascript:alert(1)}{x}\\]",
        r"\begin{align}\href{javascript:alert(1)}{x}\end{align}",
        "<javascript:alert(1)> <img src=x>",
    ],
)
def test_nothing_in_a_comment_acts(said):
    """After nbgrader's feedback filter, a comment contains no pictures or formulas, and links show their addresses."""
    exercise = ExerciseVerdict("f", 0.0, 1.0, "error", message=f"f stopped with ValueError: {said}.")
    html = markdown2html(comment_on(exercise, "message"))
    assert "<img" not in html
    assert all(f">{address}</a>" in html for address in re.findall(r'<a href="(.*?)"', html))
    assert not re.search('href="(?!http)', html)
    assert html.count("$") < 2
    assert not re.search(r"\\[(\[]|\\begin\{", html)


def test_a_comment_reads_as_it_was_meant():
    """Formgrader shows the text of a comment unchanged and does not render it."""
    said = "x = np.array([[1., 2.], [3., 4.]]) gave 'a\\nb' for $5; `w[0][:, None]` *is* {'a': [1]}, f_1(x)"
    assert comment_on(ExerciseVerdict("f", 0.0, 1.0, "failed", message=said), "message") == said


def test_a_text_that_breaks_the_writer_costs_one_entry(course, monkeypatch):
    """If one student's comment cannot be written, that notebook needs manual grading, and all other students' marks are entered."""
    whole = gradebook_module.comment_on

    def breaks(exercise, *settings):
        if exercise.score == 0.5:
            raise RuntimeError("half a character")
        return whole(exercise, *settings)

    monkeypatch.setattr(gradebook_module, "comment_on", breaks)
    enter(course, verdict("ada"), verdict("eve", to_kelvin=0.5), verdict("bob"))
    with book_of(course) as book:
        assert [grade_of(book, name).auto_score for name in ("ada", "eve", "bob")] == [2.0, None, 2.0]
        assert grade_of(book, "eve").needs_manual_grade
        assert "half a character" in comment_of(book, "eve").auto_comment


def test_a_task_that_only_a_person_marks_waits_and_keeps_the_mark_back(course, monkeypatch):
    """Task cells get the entries that formgrader needs and count towards the late penalty. Until a task has a mark, marks are incomplete."""
    source = json.loads(course.source(CHAPTER).read_text())
    for name, points in (("drawing", 4), ("thoughts", 0)):
        marks = {"grade_id": name, "schema_version": 3, "grade": False, "solution": False, "locked": True, "task": True}
        metadata = {"nbgrader": {**marks, "points": points}}
        source["cells"].append({"cell_type": "markdown", "id": name, "metadata": metadata, "source": name})
    course.source(CHAPTER).write_text(json.dumps(source))
    url, late = gradebook_url(course), "2026-01-02 00:00:00 UTC"
    enter(course, verdict("ada"), stamp=late)
    assert not read_marks(url, CHAPTER)["ada"].complete
    with book_of(course) as book:
        task = grade_of(book, "ada", "drawing")
        assert (task.auto_score, task.needs_manual_grade) == (None, True)
        assert comment_of(book, "ada", "drawing").auto_comment is None
        task.manual_score, task.needs_manual_grade = 3.5, False
        book.update_or_create_assignment(CHAPTER, duedate="2026-01-01 00:00:00 UTC")
        book.db.commit()
    penalty = "nbgrader.plugins.latesubmission.LateSubmissionPlugin.late_submission_penalty"
    monkeypatch.setattr(penalty, lambda _self, _student, score, _late: score / 2)
    enter(course, verdict("ada"), stamp=late)
    marks = read_marks(url, CHAPTER)["ada"]
    assert (marks.complete, marks.total, marks.max_score) == (True, (MAX_SCORE + 3.5) / 2, MAX_SCORE + 4)
    with book_of(course) as book:  # as if the entry were older than the task
        book.db.delete(grade_of(book, "ada", "drawing"))
        book.db.commit()
    marks = read_marks(url, CHAPTER)["ada"]
    assert not marks.complete
    assert [cell.name for cell in marks.waiting] == ["drawing", "thoughts"]


def configured(course, line):
    """Add ``line`` to the course's nbgrader configuration, and return the course."""
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(f"\n{line}\n")
    return course


def test_a_late_plugin_that_is_not_found_is_a_sentence(course):
    """The sentence names the setting and what to do, and nothing is entered."""
    configured(course, 'get_config().AssignLatePenalties.plugin_class = "nowhere.TenPercent"')
    with pytest.raises(CourseError, match=r"plugin_class is 'nowhere.TenPercent', .* PYTHONPATH=\. in front\."):
        enter(load_course(course.root), verdict("ada"))
    with book_of(course) as book:
        assert not book.students


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("5", "c.CourseDirectory.db_url (5) is not a database address. An address looks like sqlite:///"),
        ("'nonsense'", "c.CourseDirectory.db_url ('nonsense') is not a database address."),
        ("'u:hunter2@host'", "c.CourseDirectory.db_url is not a database address."),
        ("'sqlite:////nonexistent/dir/g.db'", "is /nonexistent/dir/g.db, but there is no folder /nonexistent/dir."),
        ("'oracle://u:hunter2@host'", "the Python package oracledb, which is not installed here"),
    ],
)
def test_an_address_that_is_none_is_told_without_a_password(course, value, told):
    """The gradebook address in a configuration is checked before anything is graded."""
    with pytest.raises(CourseError) as error:
        gradebook_url(configured(course, f"c.CourseDirectory.db_url = {value}"))
    assert told in str(error.value)
    assert "hunter2" not in str(error.value)


def test_a_server_that_is_down_is_told_without_a_password(course):
    """The message has the address, the server library's error and a remedy, but no password."""
    load_nbgrader()
    url = "postgresql+psycopg://grader:hunter2@127.0.0.1:1/book"
    with pytest.raises(GradebookError) as error:
        require_gradebook(url, nbgrader_config(course))
    told = str(error.value)
    assert "postgresql+psycopg://grader:***@127.0.0.1:1/book cannot be used: " in told
    assert "hunter2" not in told
    assert "Run the same command to continue." in told


@pytest.mark.parametrize("line", ['plugin_class = "nosuch.Plugin"', "plugin_class = 5"])
def test_a_plugin_that_is_none_is_told(course, line):
    """The plugin for late penalties is tried before anything is graded."""
    (course.root / "gradebook.db").unlink()
    load_nbgrader()
    config = nbgrader_config(configured(course, f"c.AssignLatePenalties.{line}"))
    with pytest.raises(CourseError, match=r"plugin for late penalties that nbgrader_config\.py sets cannot be used"):
        require_gradebook(gradebook_url(course), config)
    assert not (course.root / "gradebook.db").exists()


def test_a_file_that_is_no_database_and_a_full_disk_are_told(course):
    """Both errors become messages without a traceback. The message about a full disk says to run the same command again."""
    load_nbgrader()
    (course.root / "gradebook.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(GradebookError, match=r"gradebook\.db cannot be used: file is not a database\."):
        require_gradebook(gradebook_url(course), nbgrader_config(course))
    full = OperationalError("INSERT", {}, Exception("database or disk is full"))
    told = r"cannot be written: the disk is full.* the same command"
    with pytest.raises(GradebookError, match=told), gradebook_errors("sqlite:///x"):
        raise full


@pytest.mark.parametrize(("line", "what"), [("1 / 0", "ZeroDivisionError"), ("def f(:", "SyntaxError")])
def test_an_error_in_nbgraders_configuration_is_told_with_its_line(course, line, what):
    """An error in nbgrader's configuration is reported as a `CourseError` that names its line."""
    with pytest.raises(CourseError, match=rf"nbgrader_config\.py cannot be read: line \d+: {what}: "):
        gradebook_url(configured(course, line))
