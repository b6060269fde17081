"""Tests of ``autograder new``: it creates a working course and never overwrites files."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.authoring.simulate import solved_notebook, write_notebook
from autograder.cli.app import app
from autograder.course.course import load_course
from tests.support import ROOT


def new(*arguments, status=0):
    """Return what ``autograder new`` prints to stdout and stderr."""
    done = CliRunner().invoke(app, ["new", *map(str, arguments)])
    assert done.exit_code == status, done.output
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done.output


def shell(command, folder):
    """Run a command line in ``folder`` as typed in a terminal, and return its output."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(folder), "COLUMNS": "80"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def test_a_new_course_is_green_in_every_command_of_its_own_page(tmp_path):
    """The commands in the README work as typed, and a right, a wrong and a blank notebook get the expected marks."""
    folder = tmp_path / "my course"
    told = shell(f"autograder new '{folder}' --title 'Numbers & \"words\"'", tmp_path)
    assert f"cd '{folder}'" in told
    course = load_course(folder)
    assert (course.title, course.course_id, course.chapters) == ('Numbers & "words"', "my-course", ["ch1_shares"])
    [five, another] = re.findall(r"^```sh\n(.*?)^```$", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    said = {}
    for command in (line.partition("#")[0].strip() for line in five.splitlines()):
        if "grade" in command.split():
            right, wrong = (
                (folder / "solutions" / kind / "ch1_shares.py").read_text()
                for kind in ("alternatives", "misconceptions")
            )
            for student, text in {"ada": right, "ben": wrong, "cleo": ""}.items():
                code = {"shares": text[text.index("def ") :].replace("one_by_one", "shares").replace("the_largest_share_is_one", "shares")} if text else {}  # fmt: skip
                notebook = solved_notebook(course, "ch1_shares", {k: v.partition("\n\n\n")[0] for k, v in code.items()})
                write_notebook(folder / "submitted" / student / "ch1_shares" / "ch1_shares.ipynb", notebook)
        said[command.split()[min(1, len(command.split()) - 1)]] = shell(command, folder)
    assert list(said) == ["pytest", "audit", "release", "grade", "marks"]
    assert "4 passed" in said["pytest"]
    assert "ch1_shares   meets every target" in said["audit"]
    assert re.findall(r"^(\w+) +([\d.]+)$", said["marks"], re.MULTILINE) == [("ada", "4"), ("ben", "0"), ("cleo", "0")]
    assert "the largest share is 1" in (folder / "feedback/ben/ch1_shares/ch1_shares.html").read_text()
    # git keeps only files that the course team wrote.
    listed = subprocess.run(["git", "add", "-An"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"add '(.*)'", listed)) == [
        ".gitignore", "README.md", "course_config.py", "nbgrader_config.py", "pytest.ini", "solutions/alternatives/ch1_shares.py",
        "solutions/ch1_shares.py", "solutions/misconceptions/ch1_shares.py", "source/ch1_shares/ch1_shares.ipynb",
        "tests/chapters/test_ch1_shares.py",
    ]  # fmt: skip
    shell(another, folder)
    assert load_course(folder).chapters == ["ch1_shares", "ch2_means"]


def test_its_configuration_is_a_handful_of_lines(tmp_path):
    """The two configuration files have at most six lines together."""
    new(tmp_path / "units")
    texts = [(tmp_path / "units" / name).read_text() for name in ("course_config.py", "nbgrader_config.py")]
    assert sum(bool(line.strip()) for text in texts for line in text.splitlines()) <= 6


def test_nothing_that_is_there_is_written_over(tmp_path):
    """Files that would be overwritten are named, and nothing changes. Other files in the folder do not matter."""
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "LICENSE").write_text("mine too")
    told = new(tmp_path, status=2)
    assert told == f"Nothing was written, because these already exist: {tmp_path / 'README.md'}.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["LICENSE", "README.md"]
    (tmp_path / "README.md").unlink()
    new(tmp_path)
    assert (tmp_path / "LICENSE").read_text() == "mine too"
    again = new(tmp_path, status=2)
    assert "course_config.py" in again
    assert "solutions/misconceptions/ch1_shares.py" in again


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["file"], "file is a file. Name a new or empty folder."),
        (["file/course"], "file is a file, not a folder."),
        (["/proc/none/course"], "Cannot create the folder /proc/none: No such file or directory. Name another folder."),
        (["x", "--id", "a b"], "'a b' cannot be the id of a course"),
        (["x", "--id", "../x"], "'../x' cannot be the id of a course"),
        (["x", "--id", ""], "'' cannot be the id of a course"),
        (["Äö"], "Cannot create a course id from 'Äö'. Give one, such as --id my-course."),
        (["x", "--title", "two\nlines"], "cannot be the title of a course: write one line"),
        (["x", "--title", "\udcff"], "cannot be the title of a course"),
        (["x", "--title", " "], "cannot be the title of a course"),
    ],
)
def test_a_name_or_place_that_cannot_be_is_said(tmp_path, monkeypatch, arguments, told):
    """Invalid names and folders are reported, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["new", *arguments])
    assert told in done.output
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_takes_no_files_is_left_as_it_was(tmp_path, monkeypatch):
    """If a file cannot be written, the files written before it are removed."""
    from autograder.authoring.scaffold import writing  # noqa: PLC0415 - the test makes it fail

    written = []

    def full(path, data, _mode=0o644):
        if len(written) == 4:
            raise OSError(28, "No space left on device", str(path))
        written.append(path)
        path.write_bytes(data)

    monkeypatch.setattr(writing, "write_atomically", full)
    told = new(tmp_path / "deep" / "course", status=1)
    assert "the disk is full" in told
    assert list(tmp_path.iterdir()) == []
