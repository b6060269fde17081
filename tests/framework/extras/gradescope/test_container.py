"""Unpack the zip for Gradescope into a folder tree like Gradescope's, and run its ``run_autograder``."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner

from autograder.cli.app import app
from autograder.course.notebook import document_bytes
from autograder.extras.gradescope.container import notebook_of_submission
from autograder.sandbox.probes import probe
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, WRONG_SIGN, copy_course, document

SECRET = "only-for-this-test"  # noqa: S105
METADATA = {"assignment": {"total_points": "10.0"}, "users": [{"name": "Ada", "email": "a@example.org", "id": 1}]}

needs_landlock = pytest.mark.usefixtures("landlock")


@pytest.fixture(scope="module")
def landlock():
    """Skip the test if this kernel has no Landlock."""
    if not probe("landlock")[0].holds:
        pytest.skip("this kernel has no Landlock")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The mini course with its own secret."""
    return copy_course(tmp_path_factory.mktemp("gradescope") / "mini", files={".course_secret": f"{SECRET}\n"})


@pytest.fixture(scope="module")
def archive(course):
    """The zip file that ``autograder gradescope`` creates."""
    path = course.root.parent / "ch1.zip"
    done = CliRunner().invoke(app, ["gradescope", CHAPTER, "--output", str(path), "--course", str(course.root)])
    assert done.exit_code == 0, done.output
    assert "Upload it to Gradescope, and do not share it with anyone else" in done.stderr
    return path


@pytest.fixture
def container(archive, tmp_path):
    """A copy of the folder ``/autograder`` that Gradescope creates. An environment variable tells the scripts where it is."""
    root = tmp_path / "autograder"
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(archive) as file:
        file.extractall(root / "source")
    (root / "submission_metadata.json").write_text(json.dumps(METADATA))
    (root / "run_autograder").symlink_to(root / "source" / "run_autograder")
    tmp_path.chmod(0o755)
    return root


def run(root):
    """Run the script that Gradescope runs, with this interpreter. Return the exit status, the output for instructors, and the results."""
    variables = {"PATH": os.environ["PATH"], "AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": sys.executable}
    (root / "results" / "results.json").write_text('{"score": 99}')  # left by an earlier submission
    command = ["bash", str(root / "run_autograder")]
    done = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, check=False)
    results = root / "results" / "results.json"
    return done.returncode, done.stdout + done.stderr, json.loads(results.read_text()) if results.is_file() else None


def total(results):
    """Return the score that Gradescope adds up, or None if there is none."""
    scores = [test["score"] for test in results["tests"] if "score" in test]
    return sum(scores) if scores else results.get("score")


def shown(results):
    """Return the text that a student sees before grades are published."""
    return "\n".join(f"{t['name']}\n{t.get('output', '')}" for t in results["tests"] if t["visibility"] == "visible")


def test_the_zip_is_what_gradescope_asks_for(archive):
    """The zip's two scripts are executable and at the top level, the zip is private, and its requirements are pinned."""
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    with zipfile.ZipFile(archive) as file:
        modes = {name: file.getinfo(name).external_attr >> 16 for name in ("setup.sh", "run_autograder")}
        names, required = file.namelist(), file.read("requirements.txt").decode().split()
    assert all(mode & 0o111 == 0o111 for mode in modes.values())
    assert not [
        name for name in names if "__pycache__" in name or name.startswith(("course/submitted", "course/.autograder"))
    ]
    assert all("==" in line for line in required)
    assert [line for line in required if line.startswith("numpy==")]


@needs_landlock
@pytest.mark.slow
def test_partial_credit_and_who_sees_what(container):
    """A wrong exercise loses its points. Hidden checks are shown after publication, and the message about the mistake is shown at once."""
    notebook = document(copy_of(container), **{**RIGHT, "to_kelvin": WRONG_SIGN})
    (container / "submission" / "mine.ipynb").write_bytes(document_bytes(notebook))
    status, said, results = run(container)
    assert status == 0, said
    assert total(results) == MAX_SCORE - 2
    assert sum(test["max_score"] for test in results["tests"]) == MAX_SCORE
    assert {test["visibility"] for test in results["tests"]} == {"visible", "after_published"}
    assert "You subtracted the offset" in shown(results)
    assert "leaves its inputs unchanged" not in shown(results)
    assert results["extra_data"]["sandbox"] == "landlock"
    assert "set to 10 points on Gradescope, but these checks give 6" in said
    assert SECRET not in json.dumps(results) + said


def copy_of(container):
    """Return the course in the container."""
    from autograder.course.course import load_course  # noqa: PLC0415

    return load_course(container / "source" / "course")


@needs_landlock
@pytest.mark.slow
def test_no_code_of_a_student_reads_the_checks_or_writes_the_results(container):
    """A notebook that looks for the secret, the solutions and the results finds none of them, and gets only the marks that it earned."""
    spy = (
        "import os\nfound = []\n"
        f"for path in ['{container}/source/secret', '{container}/source/course/solutions/{CHAPTER}.py', "
        f"'{container}/results/results.json', '{container}/submission_metadata.json']:\n"
        "    for mode in ('r', 'a'):\n        try:\n            open(path, mode).close(); found.append(path)\n"
        "        except OSError:\n            pass\n"
        "def to_kelvin(celsius):\n    return celsius + 273.15 + 1000 * len(found)"
    )
    notebook = document(copy_of(container), **{**RIGHT, "to_kelvin": spy})
    (container / "submission" / f"{CHAPTER}.ipynb").write_bytes(document_bytes(notebook))
    _status, said, results = run(container)
    assert total(results) == MAX_SCORE, said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("breaks", "status", "told", "hidden"),
    [
        (
            "nothing handed in",
            0,
            "The submission contains no notebook. Submit a notebook called ch1_units.ipynb",
            "contains no notebook",
        ),
        ("no notebook", 0, "is not a valid notebook", "is not a valid notebook"),
        ("the course", 1, "This is not your fault. Your instructors can see what went wrong", "solutions/ch1_units.py"),
    ],
)
def test_what_cannot_be_graded_has_no_score(container, breaks, status, told, hidden):
    """A submission that cannot be graded has no score, not even 0. The student reads what to do, and the instructors read why."""
    if breaks == "no notebook":
        (container / "submission" / f"{CHAPTER}.ipynb").write_bytes(b"{cut")
    elif breaks == "the course":
        notebook = document(copy_of(container), **RIGHT)
        (container / "submission" / f"{CHAPTER}.ipynb").write_bytes(document_bytes(notebook))
        (container / "source" / "course" / "solutions" / f"{CHAPTER}.py").unlink()
    code, said, results = run(container)
    assert code == status
    assert total(results) is None
    assert told in results["output"]
    [test] = results["tests"]
    assert (test["visibility"], hidden in test["output"], hidden in said) == ("hidden", True, True)
    assert "solutions" not in results["output"]


def test_a_python_that_is_not_there_leaves_no_results(container):
    """If the setup failed, an earlier submission's results are removed, and the instructors read where to look."""
    (container / "source" / "autograder" / "extras" / "gradescope" / "container.py").unlink()
    code, said, results = run(container)
    assert (code, results) == (1, None)
    assert "This submission has no score" in said


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (["work.ipynb"], "work.ipynb"),
        (["a.ipynb", f"deep/er/{CHAPTER}.ipynb"], f"deep/er/{CHAPTER}.ipynb"),
        ([f"{CHAPTER}.ipynb", f".ipynb_checkpoints/{CHAPTER}.ipynb", f"old/{CHAPTER}.ipynb"], f"{CHAPTER}.ipynb"),
        (["a.ipynb", "b.ipynb"], "The submission contains 2 notebooks (a.ipynb, b.ipynb), but none is"),
        (["notes.txt"], "The submission contains no notebook"),
    ],
)
def test_the_notebook_that_is_meant(tmp_path, files, wanted):
    """The notebook with the chapter's name is chosen from any folder. If none has that name, the only notebook is chosen."""
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    path, why = notebook_of_submission(tmp_path, CHAPTER)
    assert (str(path.relative_to(tmp_path)) if path else why).startswith(wanted)


def test_a_package_that_is_not_here_is_said(tmp_path):
    """If a package of the course is not installed here, the command says how to install it, and creates no zip file."""
    course = copy_course(tmp_path / "mini")
    with (course.root / "course_config.py").open("a") as file:
        file.write('c.Course.packages = ["numpy", "nosuchpackage"]\n')
    out = tmp_path / "out.zip"
    done = CliRunner().invoke(app, ["gradescope", CHAPTER, "-o", str(out), "--course", str(course.root)])
    assert (done.exit_code, out.exists()) == (2, False)
    assert "pip install nosuchpackage" in done.stderr
