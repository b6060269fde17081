"""Test exports for Canvas, Moodle and spreadsheets, read as those systems read them."""

import csv
import io
import sqlite3
from dataclasses import replace

import pytest
from click.testing import CliRunner

from autograder.base.errors import CourseError
from autograder.classroom.gradebook.database import GradebookError
from autograder.classroom.gradebook.entries import gradebook_url, write_entries
from autograder.cli.app import app
from autograder.extras.export.formats import export_marks, moodle
from autograder.extras.export.gradebook import Policy, read_class
from autograder.extras.export.roster import merged, read_roster
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
    """A course: Ada has all points, Bob has some and a manual comment, Carl's file was broken, and Dot submitted nothing."""
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
    """Return the rows of an export, parsed as CSV, and the messages."""
    done = export_marks(gradebook_url(course), to, [CHAPTER], **options)
    return list(csv.reader(io.StringIO(done.data.decode("utf-8-sig"), newline=""))), done.remarks


def test_canvas_gets_its_columns_and_no_zero_that_nobody_gave(course):
    """Names, ids and points are in Canvas's columns, ungradable and missing submissions are blank, and no name is a formula."""
    rows, told = exported(course, "canvas")
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", CHAPTER],
        ["    Points Possible", "", "", "", "", "6"],
        ["Byron, Ada", "101", "", "ada", "", "6"],
        ["'=HYPERLINK(1), Bob", "102", "", "bob", "", "4.5"],
        ["Cut, Carl", "", "", "cut", "", ""],
        ["'@sum, Dot", "", "S-4", "dot", "", ""],
    ]
    assert told == ("1 mark needs manual grading and is left blank, not zero: cut (ch1_units).",)
    with_zero, _ = exported(course, "canvas", policy=Policy("zero"))
    assert [row[-1] for row in with_zero[2:]] == ["6", "4.5", "", "0"]


def test_a_file_from_canvas_keeps_its_columns_and_takes_the_marks(course, tmp_path):
    """Rows are matched by id, not by name. Rows without a mark stay unchanged, and unmatched students are reported."""
    path = tmp_path / "canvas.csv"
    path.write_bytes(CANVAS.encode())
    with pytest.raises(CourseError) as error:
        export_marks(gradebook_url(course), "canvas", [CHAPTER], roster=path, output=tmp_path / "none.csv")
    assert str(error.value) == (
        "ch1_units has 6 points in the gradebook, but 10 in Canvas. Nothing was written. Use --scale to convert the marks (6 becomes 10), or --as-is "
        "to export them unchanged (6 stays 6 of 10)."
    )
    assert not (tmp_path / "none.csv").exists()
    done = export_marks(gradebook_url(course), "canvas", [CHAPTER], roster=path, scale="scale")
    assert [row[6] for row in csv.reader(io.StringIO(done.data.decode("utf-8-sig")))][3:5] == ["10", "7.5"]
    assert (
        "ch1_units has 6 points in the gradebook, but 10 in Canvas. Marks are converted: 6 becomes 10." in done.remarks
    )
    done = export_marks(gradebook_url(course), "canvas", [CHAPTER], roster=path, scale="as-is")
    expected = CANVAS.replace('"Mon, 9:00",3,,88', '"Mon, 9:00",3,6,88').replace("Tue,,2,", "Tue,,4.5,")
    assert done.data.decode() == expected.replace('"=HYPERLINK', "\"'=HYPERLINK")
    assert path.read_bytes() == CANVAS.encode()
    assert done.remarks[1:] == (
        "ch1_units has 6 points in the gradebook, but 10 in Canvas. Marks are exported unchanged.",
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


def test_moodles_own_worksheet_takes_the_marks(course, tmp_path):
    """Rows are matched by address, never by participant number. Each manual comment becomes one line, and locked rows stay unchanged."""
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET)
    with pytest.raises(
        CourseError, match=r"has 6 points in the gradebook, but 10 in Moodle\. Nothing was written\. Use --scale"
    ):
        exported(course, "moodle", roster=path)
    rows, told = exported(course, "moodle", roster=path, scale="as-is")
    assert [row[4] for row in rows[1:]] == ["6", "4.5", ""]
    assert rows[2][-1].startswith("mean_kelvin: 1.5 of 3 points. =See me")
    assert rows[1][2] == "ADA@x.org"
    assert told[1:] == ("ch1_units has 6 points in the gradebook, but 10 in Moodle. Marks are exported unchanged.",)
    # Ada's LMS id is 101, but Participant 101 is somebody else here.
    swapped = WORKSHEET.replace("Participant 101,", "Participant 7,").replace("Participant 5,", "Participant 101,")
    path.write_text(swapped.replace("10.00,Yes,-,-,old", "10.00,No,-,-,old"))
    rows, told = exported(course, "moodle", roster=path, scale="as-is")
    assert [row[4] for row in rows[1:]] == ["6", "1", ""]
    assert rows[2][-1] == "old"
    assert "1 row of ch1_units was left unchanged, because these grades cannot be changed in Moodle: bob." in told


def test_without_its_worksheet_moodle_gets_no_participant_numbers(course):
    """An export of one chapter needs the worksheet, because only Moodle knows participant numbers. An export of several uses ids and addresses."""
    with pytest.raises(CourseError) as error:
        exported(course, "moodle")
    assert str(error.value) == (
        "In Moodle, participants have different numbers in each assignment, so only the assignment's own grading worksheet identifies them. "
        "Nothing was written. In the assignment, choose “Download grading worksheet”, then add that file to the command: --roster FILE.csv."
    )
    found = read_class(gradebook_url(course), [CHAPTER])
    heads, ada, *_rest = moodle(replace(found, chapters=(CHAPTER, CHAPTER)))
    assert heads[:4] == ["Full name", "ID number", "Email address", "ch1_units (Real)"]
    assert ada[:4] == ["Ada Byron", "ada", "ada@x.org", "6"]
    assert "Participant" not in str(ada)


# The columns of a worksheet that German Moodle writes: mod/assign/gradingtable.php with the language pack "de".
GERMAN = (
    "ID,Vollständiger Name,E-Mail-Adresse,Status,Gruppe,Bewertung,Bestwertung,Bewertung kann geändert werden,Zuletzt geändert (Abgabe),"
    "Zuletzt geändert (Bewertung),Feedback als Kommentar\n"
    'Teilnehmer/in101,Ada Byron,ada@x.org,Zur Bewertung abgegeben,G1,,"6,00",Ja,"Mittwoch, 23. September 2020, 21:00",-,\n'
    'Teilnehmer/in102,Bob,bob@x.org,Zur Bewertung abgegeben,G2,"1,50","6,00",Nein,-,-,\n'
)


def test_a_worksheet_in_another_language_is_recognized_by_its_columns(course, tmp_path):
    """The columns are found by their content. An unknown word for yes or no ends the export with status 1, and no file is written."""
    path, output = tmp_path / "german.csv", tmp_path / "out.csv"
    path.write_text(GERMAN)
    rows, told = exported(course, "moodle", roster=path)
    assert [(row[5], row[10][:12]) for row in rows[1:]] == [("6", "mean_kelvin:"), ("1,50", "")]
    assert any("bob" in line and "cannot be changed" in line for line in told)
    command = [
        "export",
        CHAPTER,
        "--to",
        "moodle",
        "--roster",
        str(path),
        "-o",
        str(output),
        "--course",
        str(course.root),
    ]
    path.write_text(GERMAN.replace("Nein", "Naa"))
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert (
        "No column of the worksheet says in a known language whether a grade can be changed. Its columns are: ID, Voll"
        in done.stderr
    )
    path.write_text(WORKSHEET.replace("10.00,Yes", "10.00,Yep"))
    done = CliRunner().invoke(app, [*command, "--as-is"])
    assert done.exit_code == 1
    assert "contains 'yep', which is not a known word for yes or no. Nothing was written." in done.stderr
    path.write_text("Nom,Note\nAda,1\n")
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert "Username, Email address, and no other column looks like them. Its columns are: Nom, Note." in done.stderr
    assert not output.exists()


def test_excused_students_and_calculated_columns_stay(course, tmp_path):
    """A row that is excused in Canvas keeps its EX, and a column that Canvas calculates is refused."""
    path = tmp_path / "canvas.csv"
    path.write_text("Student,ID,ch1_units (4)\n    Points Possible,,6\nAda,101,EX\nBob,102,\n")
    rows, told = exported(course, "canvas", roster=path)
    assert [row[2] for row in rows[2:]] == ["EX", "4.5"]
    assert "1 row of ch1_units was left unchanged, because these students are excused in Canvas: ada." in told
    path.write_text("Student,ID,ch1_units\n    Points Possible,,(read only)\nAda,101,\n")
    with pytest.raises(CourseError, match="Canvas calculates the column ch1_units itself"):
        exported(course, "canvas", roster=path)


def test_a_spreadsheet_gets_nbgraders_columns_and_what_a_blank_means(course):
    """Each student has a row with score and status. With ``bom=True``, the file starts with a byte order mark."""
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
        ("moodle", "Name,Mark\nAda,1\n", r"is not a worksheet or grades file downloaded from Moodle in which students can be found: it has none of the columns ID number, .*\. Its columns are: Name, Mark\."),
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
    """Two students with the same id end the export, and a gradebook with an unknown format is not changed."""
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
        with pytest.raises(GradebookError, match=f"gradebook.db was created by {what}"):
            export_marks(f"sqlite:///{book}", "csv")
        assert book.read_bytes() == before
    with pytest.raises(GradebookError, match="There is no gradebook yet"):
        export_marks(f"sqlite:///{tmp_path / 'none.db'}", "csv")


def test_the_commands_write_the_same_file(course, tmp_path):
    """`autograder export` and `nbgrader export` with our exporter write the same file."""
    done = python("-m", "autograder", "export", "--all", "--to", "canvas", cwd=course.root, status=0)
    assert done.stderr.splitlines()[-1] == "The marks of ch1_units for canvas are in grades-canvas.csv."
    ours = (course.root / "grades-canvas.csv").read_bytes()
    exporter = "--exporter=autograder.extras.export.plugins.CanvasExport"
    said = nbgrader("export", exporter, "--to", "theirs.csv", folder=course.root, home=tmp_path)
    assert (course.root / "theirs.csv").read_bytes() == ours
    assert "left blank, not zero: cut" in said
    missing = "--CanvasExport.roster=/none.csv"
    said = nbgrader("export", exporter, missing, folder=course.root, home=tmp_path, status=1)
    assert "/none.csv cannot be read: No such file or directory. Nothing was written." in said
    assert "Traceback" not in said


def test_two_chapters_reach_the_same_rows_of_a_file_without_points(course, tmp_path):
    """A row of points that is added at the top does not shift the marks of the second chapter."""
    path = tmp_path / "canvas.csv"
    path.write_text("Student,ID\nAda,101\nBob,102\n")
    one = read_class(gradebook_url(course), [CHAPTER])
    both = replace(
        one, chapters=(CHAPTER, "ch2"), worth={**one.worth, "ch2": 6.0}, marks={**one.marks, "ch2": one.marks[CHAPTER]}
    )
    rows = merged(both, read_roster(path), "canvas").rows
    assert [row[2:] for row in rows[1:]] == [["6", "6"], ["6", "6"], ["4.5", "4.5"]]
