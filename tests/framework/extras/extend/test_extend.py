"""Tests that extensions and late penalties change the marks, the feedback page and the log."""

import datetime as dt
import json

import pytest
from click.testing import CliRunner

from autograder.base.errors import CourseError
from autograder.classroom.run import grade_class, handed_in
from autograder.cli.app import app
from autograder.course.course import load_course
from autograder.extras.extend import parse_duration
from tests.support.books import book_of, with_book
from tests.support.mini import CHAPTER, RIGHT, copy_course, document, hand_in
from tests.support.nbgrader import nbgrader

PENALTY = "c.Course.late_penalty = {'per_day': 0.1, 'at_most': 0.5}\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course with a due date and a penalty. Two students submitted 30 hours late, and a third did not submit."""
    course = with_book(copy_course(tmp_path_factory.mktemp("late") / "mini", config=PENALTY))
    with book_of(course) as book:
        book.update_or_create_assignment(CHAPTER, duedate="2026-02-01 10:00:00 UTC")
        for student in ("ada", "bob", "cyd"):
            book.add_student(student)
    for student in ("ada", "bob"):
        hand_in(course, student, document(course, **RIGHT), "2026-02-02 16:00:00 UTC")
    grade(course)
    return course


def grade(course):
    """Load the course again, as a new command does, and return each student's verdict."""
    course = load_course(course.root)
    return {v.student: v for v in grade_class(course, CHAPTER, handed_in(course, CHAPTER))}


def invoke(course, *arguments, status=0):
    """Run a command on the course, and return its standard output and its messages."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--course", str(course.root)])
    assert done.exit_code == status, done.output
    return done.stdout, " ".join(done.stderr.split())


def marks(course):
    """Return each student's entry in ``autograder marks --json``."""
    return {
        one["student"]: one["chapters"][CHAPTER] for one in json.loads(invoke(course, "marks", CHAPTER, "--json")[0])
    }


def page(course, student):
    """Return a student's feedback page."""
    return (course.root / "feedback" / student / CHAPTER / f"{CHAPTER}.html").read_text()


def test_a_penalty_grows_with_each_started_day(made):
    """Thirty hours are two started days, so a tenth is deducted twice."""
    assert [marks(made)[student]["score"] for student in ("ada", "bob")] == [4.8, 4.8]
    assert "Late penalty" in page(made, "ada")


def test_an_extension_counts_at_once(made):
    """If an extension follows a submission, the penalty is computed again, and the page, the table and the log show the extension."""
    _, said = invoke(made, "extend", CHAPTER, "ada", "24h")
    assert said == "ada has an extension of 1 day for ch1_units."
    assert (marks(made)["ada"]["score"], marks(made)["ada"]["extension_hours"]) == (5.4, 24.0)
    assert marks(made)["bob"]["score"] == 4.8
    assert "1 day" in page(made, "ada").split("Extension")[1]
    assert "Extensions in ch1: ada 1 day." in invoke(made, "marks", CHAPTER)[0]
    assert "4.8 → 5.4 of 6 points: an extension of 1 day was granted." in " ".join(invoke(made, "log")[0].split())


def test_the_next_run_has_nothing_left_to_do(made):
    """Grading after an extension changes no mark and adds no line to the log."""
    before = (made.root / "moved_marks.jsonl").read_text()
    grade(made)
    assert (made.root / "moved_marks.jsonl").read_text() == before
    assert marks(made)["ada"]["score"] == 5.4


def test_an_extension_before_a_submission_is_kept(made):
    """An extension that is granted before a submission takes effect when the submission is graded."""
    _, said = invoke(made, "extend", CHAPTER, "cyd", "2d")
    assert (
        said == "cyd has an extension of 2 days for ch1_units. The extension takes effect when a submission is graded."
    )
    assert (marks(made)["cyd"]["status"], marks(made)["cyd"]["extension_hours"]) == ("missing", 48.0)
    hand_in(made, "cyd", document(made, **RIGHT), "2026-02-03 12:00:00 UTC")
    grade(made)
    assert marks(made)["cyd"]["score"] == 5.4
    with book_of(made) as book:
        assert book.find_submission(CHAPTER, "cyd").extension == dt.timedelta(days=2)


def test_a_file_of_extensions_is_checked_as_a_whole(made, tmp_path):
    """A file of extensions is entered only if every line is right. Otherwise, the message names each wrong line, and nothing changes."""
    path = tmp_path / "extensions.csv"
    path.write_text(f"Chapter,Student,Extension\n{CHAPTER},ada,soon\n{CHAPTER},bob,1w\n{CHAPTER},bob,2w\n")
    _, said = invoke(made, "extend", "--from", path, status=2)
    assert "no extension was entered. line 2: 'soon' is not a duration." in said
    assert "line 4: bob has two extensions for ch1_units." in said
    path.write_text(f"chapter,student,extension\n{CHAPTER},zoe,1w\n")
    assert (
        "because the course has no student zoe. Check the spelling"
        in invoke(made, "extend", "--from", path, status=2)[1]
    )
    path.write_text("student,extension\nada,1w\n")
    assert (
        "has no column chapter. It needs chapter, student, extension."
        in invoke(made, "extend", "--from", path, status=2)[1]
    )
    path.write_text(f"chapter,student,extension\n{CHAPTER},ada,0h\n{CHAPTER},bob,1w\n")
    found = json.loads(invoke(made, "extend", "--from", path, "--json")[0])
    assert [(one["student"], one["hours"], one["to"]) for one in found] == [("ada", 0.0, 4.8), ("bob", 168.0, 6.0)]
    assert "ada" not in (made.root / "extensions.csv").read_text()
    assert "5.4 → 4.8 of 6 points: the extension was removed" in " ".join(invoke(made, "log")[0].split())


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("{'per_day': 2}", "a dictionary of shares from 0 to 1, but 'per_day' has the value 2"),
        ("{'at_most': 0.5}", "a dictionary with the key per_day"),
        ("{'per_week': 0.5}", "a dictionary with only the keys per_day, at_most, but it has the key 'per_week'"),
    ],
)
def test_a_penalty_that_means_nothing_is_rejected(tmp_path, config, sentence):
    """A share above 1, a missing share and an unknown key are rejected with an error that names the setting."""
    with pytest.raises(CourseError, match=r"c\.Course\.late_penalty in .* must be") as error:
        copy_course(tmp_path / "mini", config=f"c.Course.late_penalty = {config}\n")
    assert sentence in str(error.value)


def test_two_rules_for_penalties_are_rejected(tmp_path):
    """A course that sets both a late penalty and its own penalty plugin is rejected."""
    both = f"{PENALTY}c.AssignLatePenalties.plugin_class = 'late.Mine'\n"
    course = with_book(copy_course(tmp_path / "mini", config=both))
    hand_in(course, "ada", document(course))
    with pytest.raises(CourseError, match=r"plugin_class \('late.Mine'\) are both set. Remove one of them"):
        grade(course)


def test_a_length_of_time_has_a_unit():
    """A duration combines minutes, hours, days and weeks. Any other text is an error."""
    assert parse_duration("1d 12h") == dt.timedelta(hours=36)
    assert parse_duration("90m") == dt.timedelta(minutes=90)
    for text in ("48", "h", "-2d", "2 days", "", "400d"):
        with pytest.raises(CourseError, match=r"is not a duration|is longer than a year"):
            parse_duration(text)


def test_nbgraders_own_command_takes_off_the_same(tmp_path):
    """`nbgrader autograde` applies the course's penalty and extensions like `autograder grade`."""
    course = with_book(copy_course(tmp_path / "mini", config=PENALTY))
    with book_of(course) as book:
        book.update_or_create_assignment(CHAPTER, duedate="2026-02-01 10:00:00 UTC")
        book.add_student("ada")
    hand_in(course, "ada", document(course, **RIGHT), "2026-02-09 10:00:00 UTC")
    nbgrader("generate_assignment", CHAPTER, "--force", folder=course.root, home=tmp_path)
    with book_of(course) as book:
        book.update_or_create_assignment(CHAPTER, duedate="2026-02-01 10:00:00 UTC")
    nbgrader("autograde", CHAPTER, folder=course.root, home=tmp_path)
    assert penalty(course) == 3.0, "eight days, and at most half"
    invoke(course, "extend", CHAPTER, "ada", "1w")
    assert penalty(course) == 0.6
    nbgrader("autograde", CHAPTER, "--force", folder=course.root, home=tmp_path)
    assert penalty(course) == 0.6


def penalty(course):
    """Return the late penalty of the only student."""
    with book_of(course) as book:
        return round(book.find_submission_notebook(CHAPTER, CHAPTER, "ada").late_submission_penalty, 9)
