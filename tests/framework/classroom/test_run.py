"""Test a run over a class: submissions are found, graded, entered, and returned."""

import contextlib
import errno
import json
import os
import signal
import stat
import threading

import pytest

from autograder.base.errors import CourseError
from autograder.base.files import grading_disk_error_advice
from autograder.classroom.gradebook.database import GradebookError
from autograder.classroom.gradebook.entries import GradebookWriter
from autograder.classroom.run import Terminated, grade_class, handed_in
from autograder.course.course import load_course
from autograder.grading.submission import Submission, beside
from tests.support.books import book_of
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, WRONG_SIGN, document, hand_in


@pytest.fixture
def opened(monkeypatch):
    """Return a list that records the students whose notebooks are run, in order."""
    students = []
    whole = Submission.open
    monkeypatch.setattr(Submission, "open", lambda self: students.append(self.job.student) or whole(self))
    return students


def regrade(course, **options):
    """Grade all submissions of the chapter."""
    return grade_class(course, CHAPTER, handed_in(course, CHAPTER), **options)


def page(course, kind, student, suffix):
    """Return the path of a file that grading creates for a student."""
    return course.root / kind / student / CHAPTER / f"{CHAPTER}{suffix}"


def test_a_class_is_graded_and_given_back(course):
    """Scores go into the gradebook, notebooks with outputs into autograded/, and pages into feedback/."""
    hand_in(course, "ada", document(course, **RIGHT), "2030-01-01 00:00:00.000000 UTC")
    hand_in(course, "bob", document(course, **{**RIGHT, "to_kelvin": WRONG_SIGN}))
    hand_in(course, "cut", b"{")
    verdicts = regrade(course)
    assert [(v.student, v.status) for v in verdicts] == [("ada", "graded"), ("bob", "graded"), ("cut", "ungradable")]
    with book_of(course) as book:
        assert book.find_submission(CHAPTER, "ada").score == MAX_SCORE
        assert book.find_submission(CHAPTER, "ada").timestamp.year == 2030
        assert book.find_submission(CHAPTER, "bob").score == verdicts[1].score
        assert book.find_submission(CHAPTER, "cut").needs_manual_grade
    notebook = json.loads(page(course, "autograded", "bob", ".ipynb").read_text())
    assert "mean of (2, 2)" in json.dumps(notebook)
    assert "far *above* absolute zero" in json.dumps(notebook)
    assert stat.S_IMODE(page(course, "autograded", "bob", ".ipynb").stat().st_mode) == 0o444
    assert "far *above* absolute zero" in page(course, "feedback", "bob", ".html").read_text()
    assert "could not be graded" in page(course, "feedback", "cut", ".html").read_text()
    assert (course.root / "feedback" / "ada" / CHAPTER / "timestamp.txt").is_file()


def test_what_has_not_changed_is_not_run_again(course, opened):
    """Running the same command again grades nothing and changes no byte. A resubmission is graded again."""
    hand_in(course, "ada", document(course, **RIGHT))
    hand_in(course, "bob", document(course, **RIGHT))
    first = regrade(course)
    files = {p: p.read_bytes() for kind in ("autograded", "feedback") for p in (course.root / kind).rglob("*.*")}
    opened.clear()
    assert regrade(course) == first
    assert opened == []
    assert files == {p: p.read_bytes() for p in files}
    hand_in(course, "bob", document(course, to_kelvin=WRONG_SIGN))
    regrade(course)
    assert set(opened) == {"bob"}


def test_an_interrupted_run_goes_on(course, opened):
    """After Ctrl-C, results so far are in the gradebook, and running the same command again continues."""
    for student in ("ada", "bob", "cyd"):
        # The notebooks differ, because equal files would share one stored verdict.
        quiz = f"# {student}\n{RIGHT['quiz_ch1_units']}"
        hand_in(course, student, document(course, **{**RIGHT, "quiz_ch1_units": quiz}))

    def stop(verdict):
        if verdict.student == "bob":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        regrade(course, on_verdict=stop)
    with book_of(course) as book:
        assert {student.id for student in book.students} == {"ada", "bob"}
    opened.clear()
    verdicts = regrade(course)
    assert [v.score for v in verdicts] == [MAX_SCORE] * 3
    assert set(opened) == {"cyd"}


def test_links_and_other_names_are_not_followed(course):
    """A link to another student's answers is rejected. A notebook with another name is graded if it is the only candidate."""
    theirs = hand_in(course, "ada", document(course, **RIGHT))
    mine = hand_in(course, "eve", document(course))
    mine.unlink()
    mine.symlink_to(theirs)
    renamed = hand_in(course, "bob", document(course, **RIGHT))
    renamed.rename(renamed.with_name("solution.ipynb"))
    two = hand_in(course, "dan", document(course, **RIGHT))
    two.with_name("mine.ipynb").write_bytes(two.read_bytes())
    two.rename(two.with_name("last.ipynb"))
    unrelated = hand_in(course, "fay", b'{"cells": [{"cell_type": "code", "source": "1"}], "nbformat": 4}')
    unrelated.rename(unrelated.with_name("scratch.ipynb"))
    [_, bob, dan, eve, fay] = regrade(course)
    assert bob.score == MAX_SCORE
    assert bob.warning == (
        "The notebook was submitted as solution.ipynb. It is the only notebook for ch1_units in its folder, so it was graded."
    )
    assert "has no ch1_units.ipynb, but it has last.ipynb, mine.ipynb" in dan.reason
    assert "has no ch1_units.ipynb, but it has scratch.ipynb" in fay.reason
    assert "is a link" in eve.reason
    assert (dan.max_score, eve.max_score) == (MAX_SCORE, MAX_SCORE)
    assert regrade(course)[1] == bob


def test_a_damaged_gradebook_is_found_before_anything_is_graded(course):
    """If the gradebook's file is damaged, the message says so, and no notebook is run."""
    hand_in(course, "ada", document(course, **RIGHT))
    regrade(course)
    hand_in(course, "bob", document(course))
    path = course.root / "gradebook.db"
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[4096 * 2 : 4096 * 40] = b"\xff" * (4096 * 38)
    path.write_bytes(damaged)
    for data in (bytes(damaged), b"not a gradebook, although long enough for a header" * 100):
        path.write_bytes(data)
        with pytest.raises(GradebookError, match=r"is damaged: .*Restore a backup|is not a gradebook"):
            regrade(course)
        assert not (course.root / "autograded" / "bob").exists()
    path.write_bytes(whole)
    assert [verdict.score for verdict in regrade(course)] == [MAX_SCORE, 0.0]


def test_one_student_and_nobody(course):
    """Grading can be limited to named students. A name without a submission, or a chapter without submissions, is an error."""
    with pytest.raises(CourseError, match="There are no submissions for ch1_units"):
        handed_in(course, CHAPTER)
    hand_in(course, "ada", document(course))
    hand_in(course, "bob", document(course))
    assert [job.student for job in handed_in(course, CHAPTER, ["bob"])] == ["bob"]
    with pytest.raises(CourseError, match="zoe submitted nothing for ch1_units") as error:
        handed_in(course, CHAPTER, ["zoe"])
    assert "atterns" not in str(error.value)
    with pytest.raises(CourseError, match=r"a\* submitted nothing .* Patterns are not supported: give each name\."):
        handed_in(course, CHAPTER, ["a*"])


def test_an_old_page_does_not_stay_for_a_new_submission(course):
    """If a student resubmits an invalid notebook, the old graded notebook is removed."""
    for notebook in (document(course, **RIGHT), b""):
        hand_in(course, "ada", notebook)
        regrade(course)
    assert not page(course, "autograded", "ada", ".ipynb").exists()
    assert "is empty" in page(course, "feedback", "ada", ".html").read_text()


def test_half_a_character_stops_nobody(course):
    """A lone surrogate in a picture's text, in a list of copied cells or in a file name does not stop the run."""
    source = course.source(CHAPTER)
    released = json.loads(source.read_text())
    next(c for c in released["cells"] if c["id"] == "picture")["metadata"]["tags"] = ["picture"]
    source.write_text(json.dumps(released))
    picture = document(course, **RIGHT)
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "<Figure> \ud800"}}
    next(c for c in picture["cells"] if c["id"] == "picture")["outputs"] = [shown]
    copied = document(course, **RIGHT)
    copied["metadata"]["autograder"] = {"copied": ["\ud800", "to_kelvin"]}
    hand_in(course, "ada", json.dumps(picture).encode())
    hand_in(course, "bob", json.dumps(copied).encode())
    file = hand_in(course, "eve", b"")
    file.rename(file.with_name(os.fsdecode(b"caf\xe9.ipynb")))
    hand_in(course, "zoe", document(course, **RIGHT))
    ada, bob, eve, zoe = regrade(course)
    assert [v.status for v in (ada, bob, eve, zoe)] == ["graded", "graded", "ungradable", "graded"]
    assert ada.score == zoe.score == MAX_SCORE
    assert r"caf\udce9.ipynb" in eve.reason
    assert regrade(course) == [ada, bob, eve, zoe]


def test_small_files_are_never_read_whole(course):
    """At most 1000 characters of timestamp.txt are read, even if the file is a terabyte large."""
    file = hand_in(course, "ada", document(course, **RIGHT), "2030-01-01 00:00:00.000000 UTC")
    os.truncate(file.with_name("timestamp.txt"), 1 << 40)
    file.with_name("submission_secret.txt").write_bytes(b"\xff" * 10_000)
    assert beside(file, "timestamp.txt").startswith("2030-01-01")
    assert len(beside(file, "timestamp.txt")) == 1000
    assert beside(file, "submission_secret.txt") == "\ufffd" * 1000


def test_names_of_other_files_are_not_all_told(course):
    """The message lists ten of the submitted files and counts the others."""
    file = hand_in(course, "ada", b"")
    file.unlink()
    for number in range(1000):
        file.with_name(f"{number:04}.ipynb").touch()
    [verdict] = regrade(course)
    assert "0009.ipynb, and 990 more. If one of them is the right notebook, rename it" in verdict.reason
    assert "0010" not in verdict.reason


def test_a_signal_that_nobody_could_raise_still_ends_the_run(course):
    """Python ignores an error raised in a destructor or a garbage collection callback, but the signal still ends the run."""
    for student in ("ada", "bob", "cyd"):
        hand_in(course, student, document(course, **RIGHT))
    seen = []

    def lose(verdict):
        seen.append(verdict.student)
        if verdict.student == "ada":
            with contextlib.suppress(Terminated):
                signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Terminated):
        regrade(course, on_verdict=lose)
    assert seen == ["ada"]
    with book_of(course) as book:
        assert [student.id for student in book.students] == ["ada"]


def test_what_is_no_folder_is_told_and_not_passed_over(course):
    """A broken link and a file instead of a folder are ungradable, each with its own reason."""
    for student in ("ada", "bob"):
        (course.root / "submitted" / student).mkdir(parents=True)
    (course.root / "submitted" / "ada" / CHAPTER).symlink_to("/nonexistent")
    (course.root / "submitted" / "bob" / CHAPTER).write_text("here it is")
    (course.root / "submitted" / "notes.txt").write_text("")
    ada, bob = regrade(course, confinement="local")
    assert "ch1_units is a link, not a submitted file" in ada.reason
    assert "ch1_units is a file, not a folder with a notebook in it" in bob.reason


def test_a_timestamp_that_is_no_time_is_told_beside_the_mark(course):
    """The mark is entered, and every run warns that no late penalty could be computed."""
    stamps = {"ada": b"yesterday evening", "bob": b"\xff\xfe\x00", "cyd": b" \n", "dot": b"2030-01-01 10:00:00 UTC"}
    stamps |= {"eli": b"2030-01-01 10:00:00.5 CET", "fay": b"2030-01-20T10:30:00+02:00", "gus": None}
    for student, stamp in stamps.items():
        path = hand_in(course, student, document(course, **RIGHT))
        if stamp is not None:
            (path.parent / "timestamp.txt").write_bytes(stamp)
    verdicts = regrade(course)
    warnings = [v.warning for v in verdicts]
    why = "so no late penalty could be computed."
    assert warnings[0] == f"timestamp.txt contains 'yesterday evening', which is not a timestamp, {why}"
    assert warnings[1].endswith(why)
    assert warnings[2:] == [f"timestamp.txt is empty, {why}", None, None, None, None]
    assert {v.score for v in verdicts} == {MAX_SCORE}
    with book_of(course) as book:
        assert book.find_submission(CHAPTER, "ada").score == MAX_SCORE
        without = [student for student in stamps if book.find_submission(CHAPTER, student).timestamp is None]
    assert without == ["ada", "bob", "cyd", "gus"]
    assert [v.warning for v in regrade(course)] == warnings


@pytest.fixture
def two_chapters(course):
    """Return the mini course with a second chapter, which is a copy of the first with different grade ids."""
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + '\nc.Course.chapters.append("ch2_more")\n')
    more = course.root / "source" / "ch2_more" / "ch2_more.ipynb"
    more.parent.mkdir()
    text = course.source(CHAPTER).read_text().replace(CHAPTER, "ch2_more")
    more.write_text(text.replace("to_kelvin", "to_more").replace("mean_kelvin", "mean_more"))
    (course.root / "tests" / "chapters" / "test_ch2_more.py").write_text("")
    return load_course(course.root)


def test_the_notebook_of_another_chapter_needs_a_person(two_chapters):
    """A notebook is ungradable if its metadata and all its cells belong to another chapter, but never because of its metadata alone."""
    course = two_chapters
    right = document(course, **RIGHT)
    other = json.loads(course.source("ch2_more").read_text())
    other["metadata"]["autograder"] = {"chapter": "ch2_more"}
    hand_in(course, "ada", other)
    hand_in(course, "bob", {**right, "metadata": other["metadata"]})
    hand_in(course, "cyd", {**right, "metadata": {"autograder": {"chapter": "ch9"}}})
    hand_in(course, "dot", {**right, "metadata": {"autograder": {"chapter": ["ch2_more"]}}})
    hand_in(course, "eli", {**right, "cells": [*other["cells"], *right["cells"]], "metadata": other["metadata"]})
    bare = [{**c, "metadata": {}} for c in right["cells"]]
    hand_in(course, "fay", {**right, "cells": bare, "metadata": other["metadata"]})
    ada, *others = regrade(course, confinement="local")
    assert ada.status == "ungradable"
    assert ada.reason.startswith("This is the notebook of ch2_more, and it has no cell of ch1_units.")
    assert [v.score for v in others] == [MAX_SCORE] * 5


def test_the_chapters_own_notebook_is_the_authors_to_mend(course):
    """Broken JSON in source/ is reported as an error of the course, with its location. No student is asked to resubmit."""
    hand_in(course, "ada", document(course, **RIGHT))
    course.source(CHAPTER).write_text("{")
    told = r"own notebook /\S+/source/\S+\.ipynb cannot be used: .* is not a valid notebook"
    with pytest.raises(CourseError, match=told) as error:
        regrade(course)
    assert "again" not in str(error.value)


def test_a_gradebook_that_cannot_be_used_ends_the_run_at_its_start(course, opened):
    """An error in the gradebook's configuration is found before a class is graded, or when the first notebook is entered."""
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('\nc.LateSubmissionPlugin.penalty_method = "half"\n')
    hand_in(course, "ada", document(course, **RIGHT))
    with pytest.raises(CourseError, match=r"plugin for late penalties .* cannot be used .*penalty_method"):
        regrade(course)
    assert opened == []
    writer = GradebookWriter(course, f"sqlite:///{course.root / 'gradebook.db'}", after=print)
    writer._start()
    writer._ready.wait()
    with pytest.raises(CourseError, match="plugin for late penalties"):
        writer.enter(None)
    writer.close()
    assert not any(thread.name == "gradebook" for thread in threading.enumerate())


def test_a_full_disk_ends_the_run_and_is_nobodys_notebooks_fault(course, monkeypatch):
    """No notebook becomes ungradable. The run ends with a message that names the file, and the same command continues."""
    hand_in(course, "ada", document(course, **RIGHT))
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr("autograder.base.files._create", lambda _path: os.dup(full))
    with pytest.raises(OSError, match="No space left") as error:
        regrade(course, confinement="local")
    assert error.value.errno == errno.ENOSPC
    os.close(full)
    told = grading_disk_error_advice(error.value)
    assert told.startswith(f"Cannot write {course.root}/.autograder/verdicts/")
    assert "Free up some space. Graded notebooks are saved." in told
    monkeypatch.undo()
    [ada] = regrade(course, confinement="local")
    assert ada.score == MAX_SCORE
