"""Tests that `autograder watch` checks each save and reacts to keys, and that `autograder start` overwrites no work."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from autograder.authoring.release import record_examples
from autograder.base.errors import CourseError
from autograder.base.files import disk_error_advice
from autograder.course.notebook import document_bytes, insert_code
from autograder.extras.watch.watching import Watch
from autograder.student.notebook_check import progress
from autograder.student.terminal.checking import packages_for
from autograder.student.terminal.layout import released_copy, reset, set_up_course
from autograder.student.terminal.starting import find_notebook, next_chapter, open_lab
from tests.support import ROOT
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, WRONG_SIGN, copy_course

ENDLESS = "def mean_kelvin(celsius):\n    while True:\n        pass"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The mini course with a second chapter, in the form in which `start` finds it in a wheel."""
    course = copy_course(tmp_path_factory.mktemp("released") / "clone")
    folder = tmp_path_factory.mktemp("released") / "course"
    for chapter in (CHAPTER, "ch2_more"):
        (folder / chapter).mkdir(parents=True)
        (folder / chapter / f"{chapter}.ipynb").write_bytes(course.source(CHAPTER).read_bytes())
        (folder / chapter / "examples.json").write_bytes(record_examples(course, CHAPTER).read_bytes())
    chapters = [{"id": CHAPTER}, {"id": "ch2_more"}]
    (folder / "course.json").write_text(json.dumps({"id": "units", "title": "Units", "chapters": chapters}))
    return folder


@pytest.fixture
def laid_out(released, tmp_path):
    """The notebook of the first chapter, after the course was set up in a student's folder."""
    set_up_course(released, tmp_path / "mine")
    return tmp_path / "mine" / CHAPTER / f"{CHAPTER}.ipynb"


def save(notebook: Path, **code: str) -> None:
    """Save ``notebook`` with ``code`` as most editors do: write a new file, then replace the old one with it."""
    new = notebook.with_suffix(".saving")
    new.write_bytes(document_bytes(insert_code(json.loads(notebook.read_text()), code)))
    new.replace(notebook)


class Watched:
    """A notebook that is watched in a terminal 60 columns wide. A test can read the terminal's screen."""

    def __init__(self, notebook, monkeypatch):
        monkeypatch.setenv("COLUMNS", "60")
        self.out = io.StringIO()
        console = Console(file=self.out, force_terminal=True, width=60, no_color=True, soft_wrap=True)
        monkeypatch.setattr("sys.stdin", io.StringIO())
        self.watch = Watch(notebook, console)
        self.watch.begin()

    def screen(self) -> str:
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", self.out.getvalue().rsplit("\x1b[2J", 1)[-1])

    def until(self, words: str, key: str = "") -> str:
        """Press ``key``, and wait until the screen shows ``words`` and no check is running."""
        give_up = time.monotonic() + 60
        while time.monotonic() < give_up:
            assert self.watch.step(key)
            key = ""
            if words in " ".join(self.screen().split()) and "checking …" not in self.screen():
                return self.screen()
            time.sleep(0.02)
        raise AssertionError(f"{words!r} never came:\n{self.screen()}")


@pytest.fixture
def watched(laid_out, monkeypatch):
    """The notebook of the first chapter, which is being watched."""
    found = Watched(laid_out, monkeypatch)
    yield found
    found.watch.close()


def test_a_save_is_checked_and_keys_do_what_they_say(watched, laid_out):
    """A student saves a mistake, reads a hint, lists the exercises, corrects the mistake and goes on. The progress is saved."""
    watched.until("to_kelvin not attempted yet")
    save(laid_out, to_kelvin=WRONG_SIGN)
    wrong = watched.until("✗")
    assert max(map(len, wrong.splitlines())) <= 60
    assert "to_kelvin hint 1 of" in " ".join(watched.until("hint 1 of", key="h").split())
    assert watched.until("→ ✗ to_kelvin", key="l").count("not started") == 2
    save(laid_out, to_kelvin=RIGHT["to_kelvin"])
    assert "Next is mean_kelvin." in " ".join(watched.until("1 of 3 exercises solved").split())
    watched.until("mean_kelvin not attempted yet", key="n")
    standing = progress.read(laid_out.parents[1]).of(CHAPTER, "to_kelvin")
    assert (standing.status, standing.failed, standing.hints) == ("done", 1, 1)
    save(laid_out, **RIGHT)
    watched.until("3 of 3 exercises solved")
    watched.until("ch2_more.ipynb 0 of 3 exercises solved", key="n")
    assert not watched.watch.step("q")


def test_an_endless_loop_is_stopped_and_told(watched, laid_out):
    """An endless loop is stopped in a called function and, at the next save, in a cell. Nothing keeps running."""
    examples = json.loads((laid_out.parent / "examples.json").read_text())
    (laid_out.parent / "examples.json").write_text(json.dumps({**examples, "call_seconds": 2}))
    watched.until("to_kelvin not attempted yet")
    save(laid_out, to_kelvin=RIGHT["to_kelvin"])
    watched.until("1 of 3 exercises solved")
    save(laid_out, mean_kelvin=ENDLESS)
    while "checking … 1 s" not in watched.screen():
        watched.watch.step("")
    assert re.search(r"\x1b\[2m *✓", watched.out.getvalue().rsplit("\x1b[2J", 1)[-1])  # the old result is gray
    assert "was stopped after 2 seconds" in " ".join(watched.until("loop that never ends").split())
    save(laid_out, to_kelvin="while True: pass")
    until = time.monotonic() + 20
    while not watched.watch._checker.busy and time.monotonic() < until:
        watched.watch.step("")
    save(laid_out, **RIGHT)
    began = time.monotonic()
    watched.until("3 of 3 exercises solved")
    assert time.monotonic() - began < 9  # the cell's time limit would have been ten seconds
    assert not watched.watch._checker.busy


def test_a_reset_asks_first_and_keeps_what_was_there(watched, laid_out):
    """After the key r, only y restores the stub, and the old notebook is saved next to the new one. Any other key changes nothing."""
    save(laid_out, to_kelvin=WRONG_SIGN, mean_kelvin=RIGHT["mean_kelvin"])
    watched.until("✗")
    before = laid_out.read_bytes()
    watched.until("Restore the original?", key="r")
    watched.until("Nothing was changed", key="n")
    assert laid_out.read_bytes() == before
    watched.until("Restore the original?", key="r")
    told = watched.until("to_kelvin not attempted yet", key="y")
    [kept] = laid_out.parent.glob("*.bak")
    assert kept.name in told.replace("\n", "")
    assert kept.read_bytes() == before
    assert RIGHT["mean_kelvin"].splitlines()[1] in laid_out.read_text()  # the other exercises stay as they are


def test_a_file_that_is_being_saved_or_is_gone_is_waited_for(watched, laid_out):
    """An incomplete file is ignored. A file that stays broken is reported, and the next save is checked again."""
    watched.until("to_kelvin not attempted yet")
    whole = document_bytes(insert_code(json.loads(laid_out.read_text()), RIGHT))
    laid_out.write_bytes(whole[:500])
    for _ in range(10):
        watched.watch.step("")
    assert "JSON" not in watched.screen()
    watched.until("is not a notebook" if "is not a notebook" in watched.screen() else "JSON")
    laid_out.unlink()
    watched.watch.step("")
    laid_out.write_bytes(whole)
    watched.until("3 of 3 exercises solved")


def test_no_examples_is_one_sentence(laid_out, monkeypatch):
    """If a notebook has no examples.json next to it, the message says so."""
    (laid_out.parent / "examples.json").unlink()
    alone = Watched(laid_out, monkeypatch)
    alone.until("There is no examples.json next to")
    alone.watch.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals of this kind")
def test_a_real_terminal_is_left_as_it_was(laid_out):
    """The command starts with a message, keys work without echo, q exits with 0 and restores the terminal, and NO_COLOR is respected."""
    import pty  # noqa: PLC0415
    import termios  # noqa: PLC0415

    ours, theirs = pty.openpty()
    modes = termios.tcgetattr(theirs)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "60", "NO_COLOR": "1", "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "autograder", "watch", str(laid_out.parents[1])]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    seen = ""
    for words, key in (("Watching", ""), ("not attempted yet", "l"), ("→ · to_kelvin", "q")):
        while words not in seen:
            seen += os.read(ours, 4096).decode()
        os.write(ours, key.encode())
    assert process.wait(20) == 0
    assert termios.tcgetattr(theirs) == modes
    os.close(theirs)
    os.close(ours)
    assert re.findall(r"\x1b\[[0-9;]*[34][0-7][;m]", seen) == []


def test_in_a_pipe_it_prints_each_result_once(laid_out):
    """In a pipe, nothing is cleared or colored, and the end of the input does not stop watching. Ctrl-C exits with 130."""
    command = [sys.executable, "-m", "autograder", "watch", str(laid_out)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "60", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env, text=True)
    seen = ""
    while "and save." not in seen:
        seen += process.stdout.readline()
    process.send_signal(2)
    assert process.wait(20) == 130
    assert "\x1b" not in seen + process.stdout.read()
    assert seen.count("not attempted yet") == 1


# --- start, and finding a notebook -----------------------------------------------------------------------------------


def test_a_second_start_keeps_the_work(released, tmp_path):
    """A second start adds missing files and updates unchanged ones to a later release. Changed notebooks and their examples stay."""
    mine, later = tmp_path / "mine", tmp_path / "later"
    first = set_up_course(released, mine)
    assert len(first.added) == 5
    assert set_up_course(released, mine).added == []
    begun = mine / CHAPTER / f"{CHAPTER}.ipynb"
    save(begun, to_kelvin=WRONG_SIGN)
    work = begun.read_bytes()
    (mine / "ch2_more" / "examples.json").unlink()
    (mine / CHAPTER / "notes.txt").write_text("mine")
    for path in released.rglob("*"):
        if path.is_file():
            (later / path.relative_to(released)).parent.mkdir(parents=True, exist_ok=True)
            (later / path.relative_to(released)).write_bytes(path.read_bytes() + b"\n")
    second = set_up_course(later, mine)
    assert second.added == ["ch2_more/examples.json"]
    assert second.renewed == ["course.json", "ch2_more/ch2_more.ipynb"]
    assert second.kept == [f"{CHAPTER}/{CHAPTER}.ipynb"]
    assert begun.read_bytes() == work
    assert (mine / CHAPTER / "examples.json").read_bytes() == (released / CHAPTER / "examples.json").read_bytes()
    assert (mine / CHAPTER / "notes.txt").read_text() == "mine"
    kept = reset(begun, None)
    assert kept.read_bytes() == work
    assert begun.read_bytes() == (released / CHAPTER / f"{CHAPTER}.ipynb").read_bytes()


def test_a_place_that_cannot_be_is_told_in_a_sentence(released, tmp_path):
    """A file or a different course in the chosen place is reported, and nothing is changed."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CourseError, match="file is a file"):
        set_up_course(released, tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "course.json").write_text('{"id": "x", "title": "Knitting", "chapters": []}')
    with pytest.raises(CourseError, match="contains another course, Knitting"):
        set_up_course(released, tmp_path / "other")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no folder that even root cannot write to")
def test_a_folder_that_cannot_be_written_to_is_one_line(released, tmp_path):
    """The message names the read-only folder and not a temporary file in it."""
    monkey = "import sys; from autograder.student.terminal import layout; from pathlib import Path"
    run = "from autograder.cli import main; sys.argv = ['autograder', 'start', '--no-open', '/sys/mine']; main()"
    told = python("-c", f"{monkey}; layout.material = lambda: Path({str(released)!r}); {run}", cwd=tmp_path, status=1)
    assert told.stderr == "Cannot write to /sys/mine: choose a folder that you can write to.\n"
    error = PermissionError(13, "Permission denied", "/course/.index.ipynb.17-42")
    assert disk_error_advice(error) == "Cannot write to /course: choose a folder that you can write to."


def test_progress_that_cannot_be_saved_is_one_line(watched, laid_out):
    """If progress cannot be saved, the checks still work, and a line that fits into the terminal says so."""
    (laid_out.parents[1] / progress.PROGRESS_NAME).mkdir()
    save(laid_out, **RIGHT)
    assert "Your progress cannot be saved in this folder." in watched.until("3 of 3 exercises solved").splitlines()


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="JupyterLab refuses only root")
def test_root_reads_what_to_add(laid_out):
    """If root starts JupyterLab, it exits with its own error, and the next line gives the command that works."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    told: list[str] = []
    assert open_lab(laid_out.parents[1], ["--no-browser"], told.append) == 1
    again = f"autograder start {laid_out.parents[1]} --lab=--allow-root"
    assert told[1:] == [f"You are root, as in many containers. JupyterLab then needs: {again}"]


def test_jupyterlab_is_started_without_nbgraders_panels(laid_out, monkeypatch, tmp_path):
    """JupyterLab gets the given options, nbgrader's extension is disabled only for this folder, and the user's settings do not change."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "settings"))
    folder, told = laid_out.parents[1], []
    assert open_lab(folder, ["--version"], told.append) == 0
    assert "Ctrl-C" in told[0]
    from jupyterlab_server.config import get_static_page_config  # noqa: PLC0415 - where it is installed

    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(folder / ".autograder" / "jupyter"))
    assert get_static_page_config(level="all")["disabledExtensions"]["@jupyter/nbgrader"] is True
    assert not (tmp_path / "settings" / "labconfig").exists()


def test_without_jupyterlab_it_says_how_to_go_on(laid_out, monkeypatch):
    """Without JupyterLab, the course is still set up, and the message names three ways to continue."""
    monkeypatch.setattr("autograder.student.terminal.starting.find_spec", lambda _name: None)
    told: list[str] = []
    assert open_lab(laid_out.parents[1], [], told.append) == 0
    assert [word for word in ('"nbautograder[lab]"', "index.ipynb", "autograder watch") if word not in told[0]] == []


def test_the_notebook_that_is_meant_is_found(laid_out, tmp_path):
    """A chapter is found by name, by folder, or as the first unfinished one of the course. A wrong name gets suggestions."""
    course = laid_out.parents[1]
    assert find_notebook(laid_out) == find_notebook(laid_out.parent) == find_notebook(course) == laid_out
    for name in RIGHT:
        progress.record(course, CHAPTER, name, passed=True)
    assert find_notebook(course).parent.name == "ch2_more"
    assert next_chapter(laid_out).parent.name == "ch2_more"
    assert released_copy(laid_out) is not None
    with pytest.raises(CourseError, match=r"Did you mean .*ch1_units\.ipynb\?"):
        find_notebook(laid_out.with_suffix(""))
    with pytest.raises(CourseError, match=r"There is no notebook in .*autograder start"):
        find_notebook(tmp_path)
    (laid_out.parent / "copy.ipynb").write_text("{}")
    with pytest.raises(CourseError, match="There are 2 notebooks"):
        find_notebook(laid_out.parent)


def test_a_notebook_may_import_what_is_installed(tmp_path):
    """The sandbox contains the packages that the notebook and its helper modules import, but nothing else that the framework installs."""
    (tmp_path / "helper.py").write_text("import packaging, no_such_package_zzz")
    source = "import json\nimport pandas as pd\nimport helper\nimport autograder"
    cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "mine.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "broken.ipynb").write_text("{")
    found = packages_for([tmp_path / "mine.ipynb", tmp_path / "broken.ipynb", tmp_path / "missing.ipynb"])
    assert found == ["numpy", "matplotlib", "packaging", "pandas"]
