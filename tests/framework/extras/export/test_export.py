"""Marks on their way to Canvas, Moodle and spreadsheets, read back as those systems read them."""

import csv
import io
import sqlite3

import pytest

from autograder.base.errors import CourseError
from autograder.classroom.gradebook.database import GradebookError
from autograder.classroom.gradebook.entries import gradebook_url, write_entries
from autograder.extras.export.formats import export_marks
from autograder.extras.export.gradebook import Policy
from tests.framework.classroom.gradebook.test_entries import ungradable, verdict
from tests.support.books import book_of, outcome, with_book
from tests.support.commands import python
from tests.support.mini import CHAPTER, copy_course
from tests.support.nbgrader import nbgrader

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Old quiz (11),Ch1_Units (4711),Final Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,5,10,(read only)\r\n"
    '"Byron, Ada",101,s-ada,ada,"Mon, 9:00",3,,88\r\n'
    '"=HYPERLINK(1), Bob",102,,other,Tue,,2,\r\n'
    '"Nobody, Nora",199,,nora,Tue,4,1,\r\n'
    '"Cut, Carl",,cut,cut,Tue,1,EX,\r\n'
    '"Student, Test",7,,4f3a,Tue,,,\r\n'
)
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,Last modified (submission),"
    "Last modified (grade),Feedback comments\n"
    "Participant 101,Ada Byron,ADA@x.org,Submitted,,10.00,Yes,-,-,\n"
    "Participant 5,Bob,bob@x.org,Submitted,1,10.00,Yes,-,-,old\n"
    "Participant 6,Carl Cut,cut@x.org,Submitted,,10.00,Yes,-,-,\n"
)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Ada has all points, Bob some with a person's comment, Carl's file was broken, and Dot handed in nothing."""
    made = with_book(copy_course(tmp_path_factory.mktemp("export") / "mini"))
    write_entries(made, [outcome(one) for one in (verdict("ada"), verdict("bob", mean_kelvin=1.5), ungradable("cut"))])
    with book_of(made) as book:
        names = {"ada": ("Ada", "Byron", "101"), "bob": ("Bob", "=HYPERLINK(1)", "102"), "cut": ("Carl", "Cut", "")}
        for student, (first, last, lms) in {**names, "dot": ("\tDot", "@sum", "S-4")}.items():
            fields = {"first_name": first, "last_name": last, "lms_user_id": lms or None}
            book.update_or_create_student(student, email=f"{student}@x.org", **fields)
        book.find_comment("mean_kelvin", CHAPTER, CHAPTER, "bob").manual_comment = "=See\nme"
        book.db.commit()
    return made


def exported(course, to, **options):
    """Return the rows of an export, as a system reads them, and the messages."""
    done = export_marks(gradebook_url(course), to, [CHAPTER], **options)
    return list(csv.reader(io.StringIO(done.data.decode("utf-8-sig"), newline=""))), done.remarks


def test_canvas_gets_its_columns_and_no_zero_that_nobody_gave(course):
    """Names, ids and points are in Canvas's columns, broken and missing work is blank, and no name is a formula."""
    rows, told = exported(course, "canvas")
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", CHAPTER],
        ["    Points Possible", "", "", "", "", "6"],
        ["Byron, Ada", "101", "", "ada", "", "6"],
        ["'=HYPERLINK(1), Bob", "102", "", "bob", "", "4.5"],
        ["Cut, Carl", "", "", "cut", "", ""],
        ["'@sum, Dot", "", "S-4", "dot", "", ""],
    ]
    assert told == ("1 mark needs manual grading and is left blank, which is not a zero: cut (ch1_units).",)
    with_zero, _ = exported(course, "canvas", policy=Policy("zero"))
    assert [row[-1] for row in with_zero[2:]] == ["6", "4.5", "", "0"]


def test_a_file_from_canvas_keeps_its_columns_and_takes_the_marks(course, tmp_path):
    """Rows are matched by id, not by name. Rows without a mark stay unchanged, and unmatched students are reported."""
    path = tmp_path / "canvas.csv"
    path.write_bytes(CANVAS.encode())
    done = export_marks(gradebook_url(course), "canvas", [CHAPTER], roster=path)
    expected = CANVAS.replace('"Mon, 9:00",3,,88', '"Mon, 9:00",3,6,88').replace("Tue,,2,", "Tue,,4.5,")
    assert done.data.decode() == expected.replace('"=HYPERLINK', "\"'=HYPERLINK")
    assert path.read_bytes() == CANVAS.encode()
    assert done.remarks[1:] == (
        "ch1_units is worth 6 in the gradebook and 10 in Canvas. Marks are exported unchanged.",
        "1 row of canvas.csv matches no student in the gradebook: Nobody, Nora.",
    )
    path.write_text("Student,ID,Section\n,,\n,101,Mon\n")  # a row without a name
    done = export_marks(gradebook_url(course), "canvas", [CHAPTER], roster=path)
    assert done.data.decode().endswith("\n,,,\n,101,Mon,6\n")
    path.write_text("Student;ID;Section\nByron, Ada;101;Mon\n")
    done = export_marks(gradebook_url(course), "canvas", [CHAPTER], roster=path)
    assert done.data.decode() == ("Student;ID;Section;ch1_units\n    Points Possible;;;6\nByron, Ada;101;Mon;6\n")
    assert "a new assignment ch1_units was added at its end" in done.remarks[1]
    assert done.remarks[2].startswith("2 students with marks have no row in canvas.csv: bob, cut.")


def test_moodle_gets_a_worksheet_and_a_downloaded_one_takes_the_marks(course, tmp_path):
    """Moodle's worksheet has its columns, matched by participant or address. Manual comments become one line."""
    rows, _told = exported(course, "moodle")
    assert rows[0][:4] == ["Identifier", "Full name", "ID number", "Email address"]
    ada, bob, cut, dot = (dict(zip(rows[0], row, strict=True)) for row in rows[1:])
    assert (ada["Identifier"], ada["Grade"], ada["Maximum grade"]) == ("Participant 101", "6", "6")
    assert "mean_kelvin: 1.5 of 3 points. =See me" in bob["Feedback comments"]
    assert (cut["Grade"], cut["Feedback comments"], dot["Grade"], dot["Status"]) == ("", "", "", "No submission")
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET)
    rows, told = exported(course, "moodle", roster=path)
    assert [row[4] for row in rows[1:]] == ["6", "4.5", ""]
    assert rows[2][-1].startswith("mean_kelvin: 1.5")
    assert rows[1][2] == "ADA@x.org"
    assert len(told) == 1


def test_a_spreadsheet_gets_nbgraders_columns_and_what_a_blank_means(course):
    """Each student has a row with the final state. An Excel file starts with a byte order mark."""
    rows, _told = exported(course, "csv")
    assert rows[0][:11] == [
        "assignment",
        "duedate",
        "timestamp",
        "student_id",
        "last_name",
        "first_name",
        "email",
        "raw_score",
        "late_submission_penalty",
        "score",
        "max_score",
    ]
    assert [(row[3], row[9], row[12]) for row in rows[1:]] == [
        ("ada", "6", "graded"), ("bob", "4.5", "graded"), ("cut", "", "waits"), ("dot", "", "missing"),
    ]  # fmt: skip
    assert export_marks(gradebook_url(course), "csv", [CHAPTER], bom=True).data.startswith(b"\xef\xbb\xbfassign")


@pytest.mark.parametrize(
    ("to", "text", "told"),
    [
        ("canvas", "Name,Mark\nAda,1\n", r"is not a gradebook downloaded from Canvas: it has no column “Student” or “ID”\. Its columns are: Name, Mark\."),
        ("moodle", "Name,Mark\nAda,1\n", r"is not a worksheet or grades file downloaded from Moodle: it has none of the columns Identifier, .*\. Its columns are: Name, Mark\."),
        ("canvas", "Student,ID\nAda,101\nEve,101\n", r"Rows 2 and 3 of .* have the same ID, '101'"),
        ("canvas", "", "is empty"),
        ("canvas", b"\xff\xfeS\x00t\x00", "is not UTF-8 text"),
        ("csv", "Student,ID\n", "--roster merges marks into a file downloaded from canvas or moodle"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_one_sentence(course, tmp_path, to, text, told):
    """The error names the problem and the file, and says that nothing was written."""
    path, output = tmp_path / "roster.csv", tmp_path / "out.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CourseError, match=told) as error:
        export_marks(gradebook_url(course), to, [CHAPTER], roster=path, output=output)
    assert "\n" not in str(error.value)
    assert not output.exists()


def test_two_students_with_one_id_and_another_nbgraders_gradebook_are_one_sentence(course, tmp_path):
    """No mark goes to another student, and a gradebook with an unknown format is not changed."""
    book = tmp_path / "gradebook.db"
    book.write_bytes((course.root / "gradebook.db").read_bytes())
    with sqlite3.connect(book) as database:
        database.execute("UPDATE student SET lms_user_id = '101' WHERE id = 'bob'")
    with pytest.raises(
        CourseError, match=r"ada and bob have the same LMS id in the gradebook, '101'.*Nothing was written"
    ):
        export_marks(f"sqlite:///{book}", "canvas")
    for version, what in (("282d30a0218e", r"an older nbgrader .*`nbgrader db upgrade`"), ("ffff", "a newer nbgrader")):
        with sqlite3.connect(book) as database:
            database.execute("UPDATE alembic_version SET version_num = ?", (version,))
        before = book.read_bytes()
        with pytest.raises(GradebookError, match=f"gradebook.db was made by {what}"):
            export_marks(f"sqlite:///{book}", "csv")
        assert book.read_bytes() == before
    with pytest.raises(GradebookError, match="There is no gradebook yet"):
        export_marks(f"sqlite:///{tmp_path / 'none.db'}", "csv")


def test_the_commands_write_the_same_file(course, tmp_path):
    """`autograder export` and `nbgrader export` with our exporter, as people run them."""
    done = python("-m", "autograder", "export", "--all", "--to", "canvas", cwd=course.root, status=0)
    assert done.stderr.splitlines()[-1] == "Marks of ch1_units for canvas are in grades-canvas.csv."
    ours = (course.root / "grades-canvas.csv").read_bytes()
    exporter = "--exporter=autograder.extras.export.plugins.CanvasExport"
    said = nbgrader("export", exporter, "--to", "theirs.csv", folder=course.root, home=tmp_path)
    assert (course.root / "theirs.csv").read_bytes() == ours
    assert "left blank, which is not a zero: cut" in said
    missing = "--CanvasExport.roster=/none.csv"
    said = nbgrader("export", exporter, missing, folder=course.root, home=tmp_path, status=1)
    assert "/none.csv cannot be read: No such file or directory. Nothing was written." in said
    assert "Traceback" not in said
