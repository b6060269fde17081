"""Test collecting downloads from Canvas and Moodle into ``submitted/``.

The file names follow the systems' own code. For Canvas, it is ``ContentZipper#get_filename`` and ``#add_upload_submission``
(``lib/content_zipper.rb`` of https://github.com/instructure/canvas-lms). For Moodle, it is the class ``downloader``
(``mod/assign/classes/downloader.php`` of https://github.com/moodle/moodle). The worksheet has the columns of ``mod/assign/gradingtable.php``.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import stat
import zipfile

import pytest
from click.testing import CliRunner

from autograder.base.errors import CourseError
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.gradebook.people import Person, enter_roster, read_class_list
from autograder.classroom.run import grade_class, handed_in
from autograder.cli.app import app
from autograder.course.notebook import document_bytes
from autograder.extras.lms import downloads
from autograder.extras.lms.collecting import RECORD, collect, record_of
from tests.framework.extras.export.test_canvas_api import canvas  # noqa: F401 - a fixture
from tests.support.books import book_of, with_book
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, copy_course, document

PEOPLE = [
    Person("ada", "Ada", "Byron", "ada@x.org", "101"),
    Person("bob", "Bob", "Ross", "bob@x.org", "102"),
    Person("cyd", "Cyd", "Ünal", "cyd@x.org"),
    Person("dot", "Dot", "Kay", "dot@x.org", "104"),
    Person("eve", "Eve", "Ash", "eve@x.org", "105"),
    Person("ned", "Ned", "Kent", "ned@x.org", "999"),
]


@pytest.fixture
def course(tmp_path):
    """A course with a class list and a due date."""
    made = with_book(copy_course(tmp_path / "mini"))
    enter_roster(made, PEOPLE)
    with book_of(made) as book:
        book.update_or_create_assignment(CHAPTER, duedate=dt.datetime(2026, 1, 10, 12))  # noqa: DTZ001 - as nbgrader keeps it
    return made


@pytest.fixture
def notebook(course):
    """A function that returns a solved notebook as bytes, with ``number`` in a comment."""
    return lambda number=0: document_bytes(
        document(course, **{**RIGHT, "to_kelvin": f"{RIGHT['to_kelvin']}  # {number}"})
    )


def packed(files):
    """Return the bytes of a zip file that contains ``files``, a dictionary of contents by name."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def download(tmp_path, files):
    """Write a zip file of ``files`` and return its path."""
    path = tmp_path / "submissions.zip"
    path.write_bytes(packed(files))
    return path


def submitted(course):
    """Return every file in ``submitted/`` with its content and the time of its last change."""
    found = (path for path in sorted((course.root / "submitted").rglob("*")) if path.is_file())
    return {path.relative_to(course.root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def by_student(done):
    """Return the results ``done`` as a dictionary by student."""
    return {one.student: one for one in done}


def test_a_download_from_canvas_reaches_the_right_students(course, notebook, tmp_path):
    """Students are found by LMS id, or else by name. The last attempt counts, LATE sets a late time, and a second run changes nothing."""
    path = download(
        tmp_path,
        {
            f"byronada_101_5001_{CHAPTER}.ipynb": notebook(1),
            f"rossbob_LATE_102_5002_{CHAPTER}-2.ipynb": notebook(2),
            f"rossbob_LATE_102_5003_{CHAPTER}-10.ipynb": notebook(10),
            f"ünalcyd_103_5004_{CHAPTER}.ipynb": notebook(3),
            "kaydot_104_5005_My answers.IPYNB": notebook(4),
            "asheve_105_5006_work.zip": packed(
                {"__MACOSX/._x.ipynb": b"", "inner.zip": packed({f"a/{CHAPTER}.ipynb": notebook(5)})}
            ),
        },
    )
    done = by_student(collect(course, CHAPTER, path, "canvas"))
    assert {name: one.status for name, one in done.items()} == dict.fromkeys(
        ["ada", "bob", "cyd", "dot", "eve"], "collected"
    )
    for student, number in {"ada": 1, "bob": 10, "cyd": 3, "dot": 4, "eve": 5}.items():
        assert (course.root / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb").read_bytes() == notebook(number)
    assert done["bob"].attempts == (f"{CHAPTER}-2.ipynb", f"{CHAPTER}-10.ipynb")
    assert done["bob"].notes[0] == f"2 attempts: {CHAPTER}-2.ipynb and {CHAPTER}-10.ipynb. The last one counts."
    assert (course.root / "submitted" / "bob" / CHAPTER / "timestamp.txt").read_text() == "2026-01-10 12:00:01 UTC"
    assert not (course.root / "submitted" / "ada" / CHAPTER / "timestamp.txt").exists()
    assert done["dot"].notes == (f"My answers.IPYNB was collected as {CHAPTER}.ipynb.",)
    assert done["eve"].notes == (f"work.zip/inner.zip/a/{CHAPTER}.ipynb was collected as {CHAPTER}.ipynb.",)
    before = submitted(course)
    assert {one.status for one in collect(course, CHAPTER, path, "canvas")} == {"unchanged"}
    assert submitted(course) == before
    graded = grade_class(course, CHAPTER, handed_in(course, CHAPTER))
    assert [one.score for one in graded] == [MAX_SCORE] * 5


def test_a_later_download_replaces_and_an_older_one_does_not(course, notebook, tmp_path):
    """The attempt with the higher number in Canvas counts. A corrected time stays, and a later attempt without LATE is not late."""
    first = download(tmp_path, {f"byronada_LATE_101_7_{CHAPTER}.ipynb": notebook(1)})
    [one] = collect(course, CHAPTER, first, "canvas")
    stamp = course.root / "submitted" / "ada" / CHAPTER / "timestamp.txt"
    stamp.write_text("2026-01-10 15:30:00 UTC")
    assert [o.status for o in collect(course, CHAPTER, first, "canvas")] == ["unchanged"]
    assert stamp.read_text() == "2026-01-10 15:30:00 UTC"
    stamp.write_text(one.timestamp)
    second = tmp_path / "second.zip"
    second.write_bytes(packed({f"byronada_101_9_{CHAPTER}-1.ipynb": notebook(2)}))
    assert [o.status for o in collect(course, CHAPTER, second, "canvas")] == ["replaced"]
    assert not stamp.exists()
    [old] = collect(course, CHAPTER, first, "canvas")
    assert (old.status, old.reason) == (
        "kept",
        "A later attempt was collected before. --force replaces it with this one.",
    )
    assert (stamp.parent / f"{CHAPTER}.ipynb").read_bytes() == notebook(2)


def test_a_notebook_that_came_in_another_way_is_kept(course, notebook, tmp_path):
    """Only --force replaces a notebook that came through the exchange or was put there manually."""
    target = course.root / "submitted" / "ada" / CHAPTER / f"{CHAPTER}.ipynb"
    target.parent.mkdir(parents=True)
    target.write_bytes(notebook(1))
    path = download(tmp_path, {f"byronada_101_7_{CHAPTER}.ipynb": notebook(2)})
    [one] = collect(course, CHAPTER, path, "canvas")
    assert one.reason == f"{target} already exists, and it did not come from `autograder collect`. --force replaces it."
    assert target.read_bytes() == notebook(1)
    assert [o.status for o in collect(course, CHAPTER, path, "canvas", force=True)] == ["replaced"]


def test_a_download_from_moodle_reaches_the_right_students(course, notebook, tmp_path):
    """Folders of Moodle 3 and 4, and file names without folders, are matched by name. The numbers in them are not LMS ids."""
    path = download(
        tmp_path,
        {
            f"Ada Byron_102_assignsubmission_file_/{CHAPTER}.ipynb": notebook(1),
            "Ada Byron_102_assignsubmission_onlinetext_/onlinetext.html": b"<p>See the file.</p>",
            f"Bob Ross_101_assignsubmission_file/homework/{CHAPTER}.ipynb": notebook(2),
            f"Cyd Ünal_77_assignsubmission_file_{CHAPTER}.ipynb": notebook(3),
        },
    )
    done = by_student(collect(course, CHAPTER, path, "moodle"))
    assert set(done) == {"ada", "bob", "cyd"}
    for student, number in {"ada": 1, "bob": 2, "cyd": 3}.items():
        assert (course.root / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb").read_bytes() == notebook(number)
    assert done["bob"].notes == (f"homework/{CHAPTER}.ipynb was collected as {CHAPTER}.ipynb.",)


def test_moodles_worksheet_says_who_is_who_and_when(course, notebook, tmp_path, monkeypatch):
    """The worksheet, which has addresses and times, is needed to identify two students with the same name."""
    monkeypatch.setenv("TZ", "UTC")
    enter_roster(course, [Person("ada2", "Ada", "Byron", "ada2@x.org")])
    names = [f"Ada Byron_{number}_assignsubmission_file_/{CHAPTER}.ipynb" for number in (31, 32)]
    path = download(tmp_path, {names[0]: notebook(1), names[1]: notebook(2)})
    [one, _two] = collect(course, CHAPTER, path, "moodle")
    assert one.reason == (
        "2 students in the gradebook match: ada, ada2. To identify each student, add --roster FILE with a file from Moodle."
    )
    worksheet = tmp_path / "worksheet.csv"
    worksheet.write_text(
        "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,Last modified (submission)\n"
        'Participant 31,Ada Byron,ada2@x.org,Submitted,,6.00,Yes,"Sunday, 11 January 2026, 8:15 AM"\n'
        'Participant 32,Ada Byron,ada@x.org,Submitted,,6.00,Yes,"Friday, January 9, 2026, 9:00 PM"\n'
    )
    done = by_student(collect(course, CHAPTER, path, "moodle", roster=worksheet))
    assert done["ada2"].timestamp.startswith("2026-01-11 ")
    assert done["ada"].timestamp.startswith("2026-01-09 ") or done["ada"].timestamp.startswith("2026-01-10 ")
    assert (course.root / "submitted" / "ada2" / CHAPTER / f"{CHAPTER}.ipynb").read_bytes() == notebook(1)
    assert {o.status for o in collect(course, CHAPTER, path, "moodle", roster=worksheet)} == {"unchanged"}


def test_what_is_there_is_listed_if_no_notebook_can_be_meant(course, notebook, tmp_path):
    """If a student has no notebook, or two that are possible, the message lists the files. Other students' notebooks are collected."""
    path = download(
        tmp_path,
        {
            "byronada_101_1_essay.docx": b"text",
            "byronada_101_2_photo.png": b"png",
            "rossbob_102_3_text.html": b"typed",
            "kaydot_104_4_mine.ipynb": notebook(1),
            "kaydot_104_5_final.ipynb": notebook(2),
            f"asheve_105_6_{CHAPTER}.ipynb": notebook(3),
            "asheve_105_7_other.ipynb": b"{}",
        },
    )
    done = by_student(collect(course, CHAPTER, path, "canvas"))
    assert done["ada"].reason == "None of the files is a notebook: essay.docx and photo.png."
    assert done["bob"].reason == "None of the files is a notebook: text.html."
    assert done["dot"].reason == (
        "It is unclear which notebook is meant: mine.ipynb and final.ipynb. Ask the student, or copy the right one to the folder yourself."
    )
    assert (done["eve"].status, done["eve"].notes) == ("collected", ("Other notebooks were left out: other.ipynb.",))
    assert sorted(p.name for p in (course.root / "submitted").iterdir()) == ["eve"]


def test_unknown_students_are_listed_and_entered_only_with_add(course, notebook, tmp_path):
    """A student with a known name but a different LMS id is unknown. With --add, unknown students are entered once."""
    names = [f"kentned_500_8_{CHAPTER}.ipynb", f"newnora_501_9_{CHAPTER}.ipynb", "readme.txt"]
    path = download(tmp_path, dict.fromkeys(names, notebook(1)))
    command = ["collect", CHAPTER, str(path), "--from", "canvas", "--course", str(course.root)]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert [one["status"] for one in found] == ["unknown", "unknown", "rejected"]
    assert list(found[0]) == [
        "chapter",
        "student",
        "file",
        "status",
        "reason",
        "late",
        "timestamp",
        "attempts",
        "notes",
    ]
    assert "Not in the gradebook: kentned (500), newnora (501).\nTo enter these students, add --add" in done.stderr
    assert "readme.txt: The file's name does not identify a student, so the file was left out." in " ".join(
        done.stderr.split()
    )
    assert not (course.root / "submitted").exists()
    assert CliRunner().invoke(app, [*command, "--add"]).exit_code == 1  # readme.txt still belongs to no student
    people = read_class_list(gradebook_url(course)).people
    assert (people["500"].lms_user_id, people["501"].lms_user_id) == ("500", "501")
    before = submitted(course)
    assert len(before) == 4
    CliRunner().invoke(app, [*command, "--add"])
    assert submitted(course) == before
    assert len(read_class_list(gradebook_url(course)).people) == len(PEOPLE) + 2


def test_a_roster_from_canvas_names_those_who_are_added(course, notebook, tmp_path):
    """Canvas's gradebook file supplies each new student's name, and the login as the id. Known students are found by SIS id."""
    roster = tmp_path / "canvas.csv"
    roster.write_text('Student,ID,SIS User ID,SIS Login ID\n"New, Nora",501,s9,nora\n"Kent, Ned",777,ned,ned@x.org\n')
    files = {f"newnora_501_9_{CHAPTER}.ipynb": notebook(1), f"kentned_777_8_{CHAPTER}.ipynb": notebook(2)}
    done = collect(course, CHAPTER, download(tmp_path, files), "canvas", roster=roster, add=True)
    assert [(one.student, one.status) for one in done] == [("nora", "collected"), ("ned", "collected")]
    assert read_class_list(gradebook_url(course)).people["nora"] == Person("nora", "Nora", "New", "", "501")


def test_a_folder_is_read_without_following_links(course, notebook, tmp_path):
    """Folders and files are matched by id, address or name. Timestamps are kept, and links are not followed."""
    folder = tmp_path / "handed in"
    for name, number in {"ada": 1, "bob@x.org": 2, "Dot Kay": 3}.items():
        (folder / name / "deep").mkdir(parents=True)
        (folder / name / "deep" / f"{CHAPTER}.ipynb").write_bytes(notebook(number))
    (folder / "ada" / "deep" / "timestamp.txt").write_text("2026-01-11 08:00:00 UTC")
    (folder / "ned.ipynb").write_bytes(notebook(4))
    (folder / "eve").mkdir()
    (folder / "eve" / f"{CHAPTER}.ipynb").symlink_to(folder / "ned.ipynb")
    done = by_student(collect(course, CHAPTER, folder, "folder"))
    assert {name: one.status for name, one in done.items()} == {
        **dict.fromkeys(["ada", "bob", "dot", "ned"], "collected"),
        "eve": "rejected",
    }
    assert done["eve"].reason == f"{CHAPTER}.ipynb is a link, so it was not read."
    assert (course.root / "submitted" / "ada" / CHAPTER / "timestamp.txt").read_text() == "2026-01-11 08:00:00 UTC"
    (course.root / "submitted" / "eve").mkdir()
    (course.root / "submitted" / "eve" / CHAPTER).symlink_to(tmp_path)
    (folder / "eve" / f"{CHAPTER}.ipynb").unlink()
    (folder / "eve" / f"{CHAPTER}.ipynb").write_bytes(notebook(5))
    assert by_student(collect(course, CHAPTER, folder, "folder"))["eve"].reason.endswith(
        "is a link. Nothing was written there."
    )


def linked(name, target):
    """Return the bytes of a zip file that contains a link called ``name`` to ``target``."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, target)
    return data.getvalue()


BOMB = {"zeros.ipynb": b"0" * (downloads._FREE + 1)}
HOSTILE = {
    "escape": (lambda: packed({"../../evil.ipynb": b"{}"}), "the path '../../evil.ipynb' in it points outside the folder."),
    "absolute": (lambda: packed({"/tmp/evil.ipynb": b"{}"}), "the path '/tmp/evil.ipynb' in it points outside the folder."),  # noqa: S108
    "windows": (lambda: packed({"a\\..\\..\\evil.ipynb": b"{}"}), "points outside the folder."),
    "link": (lambda: linked("x.ipynb", "/etc/passwd"), "x.ipynb in it is a link."),
    "bomb": (lambda: packed(BOMB), "as in a zip bomb."),
    "many": (lambda: packed({f"{i}.txt": b"" for i in range(downloads.MAX_INNER_FILES + 1)}), "2,001 files, more than the 2,000 that are allowed."),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_zip_file_hurts_nobody(course, notebook, tmp_path, kind):
    """A hostile zip file from a student affects only that student. If the whole download is hostile, nothing is collected."""
    make, told = HOSTILE[kind]
    files = {"byronada_101_1_work.zip": make(), f"rossbob_102_2_{CHAPTER}.ipynb": notebook(1)}
    done = by_student(collect(course, CHAPTER, download(tmp_path, files), "canvas"))
    assert (done["ada"].status, done["bob"].status) == ("rejected", "collected")
    assert done["ada"].reason.startswith("work.zip was not unpacked: ")
    assert done["ada"].reason.endswith(told)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mini", "submissions.zip"]
    if kind != "many":
        (tmp_path / "submissions.zip").write_bytes(make())
        with pytest.raises(CourseError, match=r"was not unpacked: .* Nothing was collected\."):
            collect(course, CHAPTER, tmp_path / "submissions.zip", "canvas")


def test_zip_files_in_zip_files_end_somewhere(course, tmp_path):
    """A zip file inside three others is rejected, and so are over a hundred zip files. A damaged zip file counts as an ordinary file."""
    data = b"PK not a zip file"
    files = {"rossbob_102_2_broken.zip": data}
    for _ in range(5):
        data = packed({"x.zip": data})
    done = by_student(collect(course, CHAPTER, download(tmp_path, {**files, "byronada_101_1_x.zip": data}), "canvas"))
    assert done["ada"].reason.endswith("is nested in 3 other zip files.")
    assert done["bob"].reason == "None of the files is a notebook: broken.zip."
    many = packed({f"{i}.zip": packed({f"{k}.zip": packed({}) for k in range(40)}) for i in range(40)})
    [one] = collect(course, CHAPTER, download(tmp_path, {"byronada_101_1_x.zip": many}), "canvas")
    assert one.reason.endswith("was not unpacked, because there are more than 100 zip files.")


def test_an_unpacked_download_is_read_like_the_zip_file(course, notebook, tmp_path):
    """Instructors may unpack a download first. The folders above the submissions do not matter."""
    flat = tmp_path / "unpacked" / "ch1 submissions"
    flat.mkdir(parents=True)
    (flat / f"byronada_101_1_{CHAPTER}.ipynb").write_bytes(notebook(1))
    assert [one.student for one in collect(course, CHAPTER, flat.parent, "canvas")] == ["ada"]
    deep = tmp_path / "moodle" / "Course-ch1-77" / "Bob Ross_31_assignsubmission_file"
    deep.mkdir(parents=True)
    (deep / f"{CHAPTER}.ipynb").write_bytes(notebook(2))
    assert [one.student for one in collect(course, CHAPTER, tmp_path / "moodle", "moodle")] == ["bob"]


@pytest.mark.parametrize(
    ("files", "system", "told"),
    [
        ({"Ada Byron_31_assignsubmission_file_/ch1.ipynb": b""}, "canvas", r"It contains Ada Byron_31_assignsubmission_file_/ch1\.ipynb\. It looks like a download from Moodle: use --from moodle\."),
        ({"byronada_101_1_ch1.ipynb": b""}, "moodle", r"has no file with a name like Ada Byron_12345_assignsubmission_file_/ch1_units\.ipynb, .* use --from canvas\."),
        ({"anon_x1y2z_77_ch1.ipynb": b""}, "canvas", "have no names, because the assignment is graded anonymously in Canvas"),
        ({f"Participant_{i}_assignsubmission_file_/ch1.ipynb": b"" for i in (4, 5)}, "moodle", "is called Participant, because the assignment has anonymous submissions in Moodle"),
        ({}, "canvas", "contains no files"),
        (b"<html>Log in</html>", "canvas", "cannot be read as a zip file: File is not a zip file. Download it again"),
        (None, "moodle", "There is no .*none.zip. Give the zip file"),
    ],
)  # fmt: skip
def test_a_download_that_does_not_fit_is_one_sentence(course, tmp_path, files, system, told):
    """The message says what the download contains, or which system it may come from."""
    path = tmp_path / "none.zip"
    if files is not None:
        path.write_bytes(files if isinstance(files, bytes) else packed(files))
    with pytest.raises(CourseError, match=told):
        collect(course, CHAPTER, path, system)


def test_four_hundred_submissions_are_collected_once(course, notebook, tmp_path):
    """A class of 400 is collected in full, and a second run changes nothing."""
    enter_roster(course, [Person(f"s{i}", "S", f"T{i}", "", str(1000 + i)) for i in range(400)])
    path = download(tmp_path, {f"ts_{1000 + i}_{i}_{CHAPTER}.ipynb": notebook(i) for i in range(400)})
    assert [one.status for one in collect(course, CHAPTER, path, "canvas")] == ["collected"] * 400
    assert {one.status for one in collect(course, CHAPTER, path, "canvas")} == {"unchanged"}
    assert len(list((course.root / "submitted").iterdir())) == 400


def test_the_real_times_come_from_canvas(course, notebook, tmp_path, canvas):  # noqa: F811
    """With --url, each submission gets the time that the API returns, and a second run with the same times changes nothing."""
    pytest.importorskip("canvasapi")
    path = download(
        tmp_path, {f"byronada_101_1_{CHAPTER}.ipynb": notebook(1), f"rossbob_LATE_202_2_{CHAPTER}.ipynb": notebook(2)}
    )
    enter_roster(course, [Person("bob", lms_user_id="202")])
    command = ["collect", CHAPTER, str(path), "--from", "canvas", "--course", str(course.root)]
    done = CliRunner().invoke(app, command)
    assert "To read the real time, add --url." in " ".join(done.stderr.split())
    done = CliRunner().invoke(app, [*command, "--url", canvas.url])
    assert done.exit_code == 0, done.output
    folder = course.root / "submitted"
    assert (folder / "ada" / CHAPTER / "timestamp.txt").read_text() == "2026-01-09 08:00:00 UTC"
    assert (folder / "bob" / CHAPTER / "timestamp.txt").read_text() == "2026-01-12 09:30:00 UTC"
    before = submitted(course)
    CliRunner().invoke(app, [*command, "--url", canvas.url])
    assert submitted(course) == before


def test_a_record_that_collect_did_not_write_counts_for_nothing(course, notebook, tmp_path):
    """A collection record without the course's signature is ignored, because a student can submit one through the exchange."""
    path = download(tmp_path, {f"byronada_101_1_{CHAPTER}.ipynb": notebook(1)})
    collect(course, CHAPTER, path, "canvas")
    record = course.root / "submitted" / "ada" / CHAPTER / RECORD
    assert record_of(course, CHAPTER, "ada")["number"] == 1
    forged = {**json.loads(record.read_text()), "number": 10**9, "file": "rossbob_102_5_x.ipynb"}
    record.write_text(json.dumps(forged))
    assert record_of(course, CHAPTER, "ada") == {}
    copied = course.root / "submitted" / "bob" / CHAPTER / RECORD
    copied.parent.mkdir(parents=True)
    copied.write_text(record.read_text())
    assert record_of(course, CHAPTER, "bob") == {}
    assert [one.status for one in collect(course, CHAPTER, path, "canvas")] == ["unchanged"]
    assert record_of(course, CHAPTER, "ada")["number"] == 1


def test_two_new_students_with_one_name_stay_unknown(course, notebook, tmp_path):
    """If two new students have the same name, neither gets an id that is derived from it. With the worksheet, each gets a different id."""
    files = {f"New Nora_{i}_assignsubmission_file_/{CHAPTER}.ipynb": notebook(i) for i in (4, 5)}
    path = download(tmp_path, files)
    assert [one.status for one in collect(course, CHAPTER, path, "moodle", add=True)] == ["unknown", "unknown"]
    assert len(read_class_list(gradebook_url(course)).people) == len(PEOPLE)
    worksheet = tmp_path / "worksheet.csv"
    worksheet.write_text(
        "Identifier,Full name,Email address,Grade\nParticipant 4,New Nora,n4@x.org,\nParticipant 5,New Nora,n5@x.org,\n"
    )
    done = collect(course, CHAPTER, path, "moodle", roster=worksheet, add=True)
    assert [(one.student, one.status) for one in done] == [("n4@x.org", "collected"), ("n5@x.org", "collected")]
