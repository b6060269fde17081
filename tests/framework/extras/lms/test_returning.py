"""Test the feedback zip files for Canvas and Moodle, whose file names are parsed as those systems parse them."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from click.testing import CliRunner

from autograder.classroom.run import grade_class, handed_in
from autograder.cli.app import app
from autograder.extras.lms.collecting import collect
from tests.framework.extras.lms.test_collecting import course, download, notebook, packed  # noqa: F401 - two are fixtures
from tests.support.books import book_of
from tests.support.mini import CHAPTER, RIGHT, WRONG_SIGN, document, hand_in


def returned(course, monkeypatch, system, status=0):  # noqa: F811
    """Create the feedback zip file for ``system``. Return its files by name, and the command's output."""
    monkeypatch.chdir(course.root)
    done = CliRunner().invoke(app, ["feedback", CHAPTER, "--zip", "--for", system])
    assert done.exit_code == status, (done.output, done.exception)
    with zipfile.ZipFile(course.root / f"feedback-{CHAPTER}-{system}.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}, " ".join(done.stderr.split())


def canvas_reads(name):
    """Return the numbers of the user and the file in ``name``, as Canvas's ``Assignment#infer_comment_context_from_filename`` does."""
    return tuple([part for part in name.split("_") if re.fullmatch(r"\d+", part)][:2])


def moodle_reads(path):
    """Return the participant, plugin and file in ``path``, as Moodle's ``assignfeedback_file_zip_importer::is_valid_filename_for_import`` does."""
    folder, _, rest = path.partition("/")
    info = folder.split("_", 4)
    assert len(info) >= 4
    assert info[1].isnumeric()
    return int(info[1]), info[2:4], "/".join([info[4] if len(info) > 4 else "", rest])


def test_canvas_takes_the_graded_notebooks_back(course, notebook, tmp_path, monkeypatch):  # noqa: F811
    """Each file has the same name as in the download, and the notebook in it shows the gradebook's marks."""
    wrong = json.dumps(document(course, **{**RIGHT, "to_kelvin": WRONG_SIGN}))
    names = [
        f"byronada_101_5001_{CHAPTER}-1.ipynb",
        f"rossbob_LATE_102_5002_{CHAPTER}.ipynb",
        "asheve_105_5006_work.zip",
    ]
    files = dict(zip(names, [wrong, notebook(1), packed({f"{CHAPTER}.ipynb": notebook(2)})], strict=True))
    collect(course, CHAPTER, download(tmp_path, files), "canvas")
    hand_in(course, "ned", notebook(3))
    grade_class(course, CHAPTER, handed_in(course, CHAPTER))
    with book_of(course) as book:
        book.find_comment("to_kelvin", CHAPTER, CHAPTER, "ada").manual_comment = "Look at the sign."
        book.db.commit()
    found, said = returned(course, monkeypatch, "canvas", status=1)
    assert set(found) == set(names)
    assert [canvas_reads(name) for name in names] == [("101", "5001"), ("102", "5002"), ("105", "5006")]
    first = json.loads(found[names[0]])["cells"][0]["source"]
    assert first == (
        "# Feedback\n\n**4 of 6 points**\n\nmean_kelvin: 3 of 3 points. quiz_ch1_units: 1 of 1 point. to_kelvin: 0 of 2 points. Look at the sign."
    )
    assert "You subtracted the offset" in found[names[0]].decode()
    with zipfile.ZipFile(io.BytesIO(found[names[2]])) as inner:
        assert inner.namelist() == [f"{CHAPTER}.ipynb"]
    assert (
        "The feedback of 3 students is in feedback-ch1_units-canvas.zip. Upload it in Canvas with “Upload Submissions”."
        in said
    )
    assert (
        "ned: The submission did not come from `autograder collect … --from canvas`, so Canvas cannot assign this feedback to a student."
        in said
    )


def test_moodle_takes_the_pages_back(course, notebook, tmp_path, monkeypatch):  # noqa: F811
    """Each page is in the student's folder from the download, whether or not its name ends with `_`. A second run gives the same bytes."""
    folders = ["Ada Byron_31_assignsubmission_file_", "Bob Ross_32_assignsubmission_file"]
    collect(
        course, CHAPTER, download(tmp_path, {f"{folder}/{CHAPTER}.ipynb": notebook() for folder in folders}), "moodle"
    )
    grade_class(course, CHAPTER, handed_in(course, CHAPTER))
    found, said = returned(course, monkeypatch, "moodle")
    assert list(found) == [f"{folder}/{CHAPTER}.html" for folder in folders]
    read = [moodle_reads(path) for path in found]
    assert [one[:2] for one in read] == [(31, ["assignsubmission", "file"]), (32, ["assignsubmission", "file"])]
    assert (
        found[f"{folders[0]}/{CHAPTER}.html"]
        == (course.root / "feedback" / "ada" / CHAPTER / f"{CHAPTER}.html").read_bytes()
    )
    assert "Upload it in Moodle with “Upload multiple feedback files in a zip”." in said
    before = (course.root / f"feedback-{CHAPTER}-moodle.zip").read_bytes()
    returned(course, monkeypatch, "moodle")
    assert (course.root / f"feedback-{CHAPTER}-moodle.zip").read_bytes() == before


def test_feedback_that_is_not_graded_is_left_out(course, notebook, tmp_path, monkeypatch):  # noqa: F811
    """A submission that is not graded yet is named, and the zip file contains only the other pages."""
    folders = ["Ada Byron_31_assignsubmission_file_", "Bob Ross_32_assignsubmission_file_"]
    files = {f"{folder}/{CHAPTER}.ipynb": notebook(i) for i, folder in enumerate(folders)}
    path = download(tmp_path, files)
    collect(course, CHAPTER, path, "moodle")
    grade_class(course, CHAPTER, handed_in(course, CHAPTER, ["ada"]))
    found, said = returned(course, monkeypatch, "moodle", status=1)
    assert list(found) == [f"{folders[0]}/{CHAPTER}.html"]
    assert "bob: The submission is not graded yet, so it is not in the zip file." in said


@pytest.mark.parametrize("options", [["--zip"], ["--for", "canvas"]])
def test_a_zip_file_needs_its_system(course, options):  # noqa: F811
    """If either --zip or --for is missing, the message asks for both."""
    done = CliRunner().invoke(app, ["feedback", CHAPTER, *options, "--course", str(course.root)])
    assert (done.exit_code, done.stderr) == (2, "Use --zip and --for together, such as --zip --for canvas.\n")
