"""The command line as programs and people use it: its JSON, its exit status, what it says and where it says it."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

import autograder
from autograder.cli import app as verbs
from autograder.cli.by_examples import check_by_examples
from autograder.cli.text import needs_a_person, summary, verdict_text
from autograder.course import load_course
from autograder.gradebook.errors import GradebookError
from autograder.release import record_examples
from autograder.sandbox.confinement import SandboxLost
from autograder.simulate import reference_code, solved_notebook, write_notebook
from autograder.verdict import CheckResult, ExerciseVerdict, Verdict
from tests.support import ROOT

MINI = ROOT / "tests" / "fixtures" / "mini_course"
CHAPTER = "ch1_units"
WRONG_SIGN = "def to_kelvin(celsius):\n    return celsius - 273.15\n"
KEYS = {"notebook", "student", "chapter", "status", "reason", "score", "max_score", "sandbox", "exercises"}
EXERCISE_KEYS = {"name", "score", "max_score", "status", "misconception", "message", "follow_through", "checks"}
CHECK_KEYS = {"name", "title", "status", "message", "visible"}


def run(*arguments, cwd, check=None):
    """Run the real command in a real process; with ``check``, its exit status must be that."""
    done = subprocess.run(
        [sys.executable, "-m", "autograder", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if check is not None:
        assert done.returncode == check, done.stderr + done.stdout
    return done


@pytest.fixture(scope="module")
def course_folder(tmp_path_factory):
    """A course folder with three things handed in: all right, one mistake, and no notebook at all."""
    folder = tmp_path_factory.mktemp("cli") / "course"
    shutil.copytree(MINI, folder)
    course = load_course(folder)
    right = reference_code(course, CHAPTER)
    for student, code in (("ada", right), ("ben", {**right, "to_kelvin": WRONG_SIGN})):
        path = folder / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"
        write_notebook(path, solved_notebook(course, CHAPTER, code))
    broken = folder / "submitted" / "cleo" / CHAPTER / f"{CHAPTER}.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text("{not json")
    return folder


def handed_in_by(folder, student):
    """The notebook that a student handed in."""
    return folder / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"


# --- starting ----------------------------------------------------------------------------------------------------------


def test_version_is_told_without_loading_anything():
    """`autograder --version` prints the version, and has loaded neither NumPy nor Click nor Rich to do so."""
    asked = (
        "import sys, atexit; sys.argv = ['autograder', '--version']; "
        "atexit.register(lambda: print(sorted({'numpy', 'click', 'rich', 'traitlets'} & set(sys.modules)))); "
        "from autograder.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"autograder {autograder.__version__}", "[]"]


def test_version_is_told_among_other_options_too(tmp_path):
    """The option works however it is given."""
    assert run("--version", "--version", cwd=tmp_path, check=0).stdout == f"autograder {autograder.__version__}\n"


def test_help_names_every_verb(tmp_path):
    """`autograder --help` lists the verbs."""
    told = run("--help", cwd=tmp_path, check=0).stdout
    for verb in ("release", "grade", "check", "demo", "doctor", "examples", "audit"):
        assert f" {verb} " in told


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("check",),
        ("check", "--nonsense", "x.ipynb"),
        ("grade",),
        ("grade", "ch1_units", "--workers", "0"),
        ("release",),
        ("release", "ch1_units", "--all"),
        ("demo", "--students", "none"),
    ],
)
def test_wrong_usage_is_status_two(course_folder, arguments):
    """A call that makes no sense ends with status 2, says so on stderr, and prints nothing to stdout."""
    done = run(*arguments, cwd=course_folder, check=2)
    assert done.stdout == ""
    assert done.stderr.strip()


@pytest.mark.parametrize("verb", [("grade", "ch1_units"), ("release", "--all"), ("demo",), ("audit",), ("examples",)])
def test_outside_a_course_it_says_what_to_do(tmp_path, verb):
    """Where there is no course, the verbs that need one say how to name one."""
    done = run(*verb, cwd=tmp_path, check=2)
    assert "There is no course_config.py in" in done.stderr
    assert "--course FOLDER" in done.stderr


def test_an_unknown_chapter_is_wrong_usage(course_folder):
    """A chapter that the course does not have is named, with those it has."""
    done = run("grade", "ch9_nothing", cwd=course_folder, check=2)
    assert "There is no chapter 'ch9_nothing'" in done.stderr
    assert "The chapters are: ch1_units" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("grade", CHAPTER), "Stopped. What was graded is kept: the same command goes on from here.\n"),
        (("check", "x.ipynb", "--course", "."), "Stopped.\n"),
        (("demo", "--course", "."), "Stopped.\n"),
    ],
)
def test_what_is_kept_is_said_where_it_is(course_folder, monkeypatch, arguments, told):
    """Only `grade` goes on where it was stopped, so only `grade` says so."""

    def stop(*_args):
        raise KeyboardInterrupt

    monkeypatch.chdir(course_folder)
    monkeypatch.setattr(verbs, "load_course", stop)
    done = CliRunner().invoke(verbs.app, arguments)
    assert (done.stderr, done.exit_code) == (told, 130)


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "/course/x"),
            1,
            "Cannot write /course/x: no space is left there.",
        ),
        (OSError(errno.EROFS, "Read-only file system", "/course/x"), 1, "Cannot use /course/x: Read-only file system."),
        (GradebookError("The gradebook is down."), 1, "The gradebook is down."),
        (SandboxLost("No jail can be had any more."), 1, "No jail can be had any more."),
    ],
)
def test_what_a_machine_lacks_is_told_in_a_sentence(course_folder, monkeypatch, error, status, told):
    """No traceback, the machine's status, and never without a jail because of what a notebook did to one."""

    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr(verbs, "load_course", fail)
    done = CliRunner().invoke(verbs.app, ["check", "x.ipynb", "--course", str(course_folder)])
    assert done.exit_code == status
    assert told in done.stderr
    assert "runs as you" not in done.stderr


# --- check -------------------------------------------------------------------------------------------------------------


def test_check_gives_one_verdict_a_notebook_in_order(course_folder):
    """The JSON is one array with the contract's keys, one verdict for each file named, in the order of the files."""
    files = [handed_in_by(course_folder, s) for s in ("ben", "ada")]
    done = run("check", *files, "--json", cwd=course_folder, check=0)
    wrong, right = json.loads(done.stdout)
    assert [wrong["notebook"], right["notebook"]] == [str(f) for f in files]
    for verdict in (wrong, right):
        assert verdict.keys() >= KEYS
        assert verdict["status"] == "graded"
        assert verdict["reason"] is None
        assert verdict["chapter"] == CHAPTER
        assert verdict["max_score"] == 6
        for exercise in verdict["exercises"]:
            assert exercise.keys() >= EXERCISE_KEYS
            assert all(check.keys() >= CHECK_KEYS for check in exercise["checks"])
    assert right["score"] == 6
    assert wrong["exercises"][0]["misconception"] == "wrong_sign"
    assert any(not check["visible"] for e in right["exercises"] for check in e["checks"])


def test_check_tries_the_visible_checks_only_when_asked(course_folder):
    """With --visible no hidden check is in the verdict."""
    done = run("check", handed_in_by(course_folder, "ada"), "--visible", "--json", cwd=course_folder, check=0)
    [verdict] = json.loads(done.stdout)
    assert all(check["visible"] for e in verdict["exercises"] for check in e["checks"])


def test_check_keeps_to_one_exercise(course_folder):
    """With --exercise only that one is tried and counted."""
    arguments = ["check", handed_in_by(course_folder, "ada"), "--exercise", "to_kelvin", "--json"]
    [verdict] = json.loads(run(*arguments, cwd=course_folder, check=0).stdout)
    assert [e["name"] for e in verdict["exercises"]] == ["to_kelvin"]
    assert verdict["score"] == verdict["max_score"] == 2


def test_check_refuses_an_unknown_exercise(course_folder):
    """An exercise that the chapter does not have is wrong usage, told with those it has."""
    done = run("check", handed_in_by(course_folder, "ada"), "--exercise", "to_kelvim", cwd=course_folder, check=2)
    assert "no exercise to_kelvim" in done.stderr
    assert "to_kelvin, mean_kelvin" in done.stderr


def test_check_goes_on_past_what_cannot_be_graded(course_folder, tmp_path):
    """A missing file, a folder and a broken notebook are verdicts with reasons, and the others are graded; status 1."""
    files = [tmp_path / "gone.ipynb", tmp_path, handed_in_by(course_folder, "cleo"), handed_in_by(course_folder, "ada")]
    done = run("check", *files, "--json", cwd=course_folder, check=1)
    verdicts = json.loads(done.stdout)
    assert [v["status"] for v in verdicts] == ["ungradable", "ungradable", "ungradable", "graded"]
    assert "There is no file gone.ipynb" in verdicts[0]["reason"]
    assert "is not JSON" in verdicts[2]["reason"]
    assert verdicts[3]["score"] == 6
    assert "Needs a person:" in done.stderr


def test_check_reads_well_in_a_terminal(course_folder):
    """For a person: points by exercise, a sign for each check, the case, and the mistake by its message."""
    told = run("check", handed_in_by(course_folder, "ben"), cwd=course_folder, check=0).stdout
    assert "to_kelvin   0 of 2 points" in told
    assert "  ✗ water freezes\n" in told
    assert "You subtracted the offset." in told
    assert told.count("You subtracted the offset.") == 1
    assert "(waits for a check above)" in told


def test_check_by_the_examples_beside_a_notebook(course_folder, tmp_path):
    """Where there is no course, the examples that were released with the notebook are what it is checked by."""
    here = tmp_path / "student"
    write_notebook(here / "mine.ipynb", json.loads(handed_in_by(course_folder, "ben").read_text()))
    shutil.copy(record_examples(load_course(course_folder), CHAPTER), here / "examples.json")
    [verdict] = json.loads(run("check", "mine.ipynb", "--json", cwd=here, check=0).stdout)
    assert verdict["chapter"] == CHAPTER
    assert verdict["exercises"][0]["misconception"] == "wrong_sign"
    assert all(check["visible"] for e in verdict["exercises"] for check in e["checks"])
    assert verdict["sandbox"] in {"bubblewrap", "landlock", "local"}
    done = run("check", "mine.ipynb", "--exercise", "nothing", cwd=here, check=2)
    assert "knows no exercise nothing" in done.stderr


def test_check_without_course_or_examples_says_what_is_missing(course_folder, tmp_path):
    """A notebook with nothing to check it by is ungradable, and the reason says what to bring."""
    shutil.copy(handed_in_by(course_folder, "ada"), tmp_path / "mine.ipynb")
    [verdict] = json.loads(run("check", "mine.ipynb", "--json", cwd=tmp_path, check=1).stdout)
    assert "There is no examples.json beside mine.ipynb" in verdict["reason"]


def test_a_notebook_that_breaks_the_replay_is_that_notebooks_reason(tmp_path, monkeypatch):
    """Whatever our side raises over one file, the others that were named get their verdicts."""

    def breaks(path):
        raise RuntimeError(f"our own mistake over {path.stem}")

    monkeypatch.setattr("autograder.cli.by_examples.read_notebook", breaks)
    verdicts = check_by_examples([tmp_path / "a.ipynb", tmp_path / "b.ipynb"], None, "auto", lambda _: None)
    assert [verdict.status for verdict in verdicts] == ["ungradable"] * 2
    assert "our own mistake over b (by_examples.py, line" in verdicts[1].reason


def test_a_course_config_beside_a_strangers_notebook_is_not_run(course_folder, tmp_path):
    """Checking a file elsewhere never runs a course_config.py that came with it."""
    shutil.copy(handed_in_by(course_folder, "ada"), tmp_path / "mine.ipynb")
    (tmp_path / "course_config.py").write_text("open('ran', 'w')\n")
    run("check", tmp_path / "mine.ipynb", cwd=course_folder, check=0)
    assert not (tmp_path / "ran").exists()
    assert not (course_folder / "ran").exists()


def test_unsafe_local_is_said_and_stamped(course_folder):
    """Without a jail a banner says so, and so does the verdict."""
    done = run("check", handed_in_by(course_folder, "ada"), "--unsafe-local", "--json", cwd=course_folder, check=0)
    assert done.stderr.startswith("UNSAFE: ")
    assert json.loads(done.stdout)[0]["sandbox"] == "local"


# --- grade, examples, audit, doctor ------------------------------------------------------------------------------------


def test_grade_fills_the_gradebook_and_lists_what_needs_a_person(course_folder):
    """Everybody's verdict is printed; marks are in the gradebook, pages are written, and what is broken is listed."""
    done = run("grade", CHAPTER, "--json", cwd=course_folder, check=1)
    verdicts = {v["student"]: v for v in json.loads(done.stdout)}
    assert {s: (v["status"], v["score"]) for s, v in verdicts.items()} == {
        "ada": ("graded", 6),
        "ben": ("graded", 4),
        "cleo": ("ungradable", 0),
    }
    assert "Graded 2 of 3 notebooks in " in done.stderr
    assert "  - cleo: " in done.stderr
    assert (course_folder / "gradebook.db").is_file()
    assert (course_folder / "autograded" / "ada" / CHAPTER / f"{CHAPTER}.ipynb").is_file()
    assert (course_folder / "feedback" / "ben" / CHAPTER / f"{CHAPTER}.html").is_file()


def test_grade_keeps_to_the_students_named(course_folder):
    """With --student only those are graded; one who handed in nothing is wrong usage."""
    done = run("grade", CHAPTER, "--student", "ada", "--json", cwd=course_folder, check=0)
    assert [v["student"] for v in json.loads(done.stdout)] == ["ada"]
    done = run("grade", CHAPTER, "--student", "zoe", cwd=course_folder, check=2)
    assert "zoe handed in nothing for ch1_units" in done.stderr


def test_examples_are_recorded(course_folder):
    """`autograder examples` writes what check() in a notebook of this folder reads, and says where."""
    done = run("examples", CHAPTER, cwd=course_folder, check=0)
    written = course_folder / ".autograder" / "examples" / f"{CHAPTER}.json"
    assert json.loads(written.read_text())["chapter"] == CHAPTER
    assert str(written) in done.stderr


def test_audit_tells_what_the_checks_are_worth(course_folder):
    """`autograder audit --json` prints one report a chapter, and its status says whether the targets are met."""
    done = run("audit", CHAPTER, "--json", cwd=course_folder)
    [report] = json.loads(done.stdout)
    assert report["chapter"] == CHAPTER
    assert done.returncode == (0 if report["ok"] else 1)


def test_doctor_says_whether_notebooks_can_be_graded_here(tmp_path):
    """`autograder doctor` ends in a plain yes or no, and its status agrees."""
    done = run("doctor", cwd=tmp_path)
    assert done.returncode in {0, 1}
    assert done.stdout.strip().splitlines()[-1].startswith("Ready" if done.returncode == 0 else "Not ready")


# --- words -------------------------------------------------------------------------------------------------------------


def verdict(student="ada", score=3.0, *, reason=None, misconception=None):
    """A verdict made up for the occasion."""
    status = "ungradable" if reason else "graded"
    check = CheckResult("test_it", "it is right", "failed" if misconception else "passed", message="It is not.")
    exercise = ExerciseVerdict("softmax", score, 4, "partial", misconception, "You did that.", None, (check,))
    return Verdict(f"{student}.ipynb", student, "ch1", status, reason, score, 4, "bubblewrap", (exercise,))


def test_a_summary_can_be_read_aloud():
    """How many, how long, how well, and the commonest mistake, in sentences."""
    told = summary([verdict(score=s, misconception="no_max_shift") for s in (0, 1, 2, 3, 4)], 3.14)
    assert told.splitlines() == [
        "Graded 5 of 5 notebooks in 3.1 seconds.",
        "Half of them reach 2 points or more of 4; the lowest has 0, the highest 4.",
        "The mistake seen most is no_max_shift in softmax: 5 times.",
    ]


def test_what_needs_a_person_is_listed_with_its_reason():
    """Only what could not be graded is listed, by student."""
    assert needs_a_person([verdict(), verdict("ben", reason="It is not JSON.")]) == (
        "Needs a person:\n  - ben: It is not JSON."
    )
    assert needs_a_person([verdict()]) == ""
    late = dataclasses.replace(verdict("cyd"), warning="timestamp.txt is empty.")
    assert needs_a_person([verdict(), late]) == "Needs a person:\n  - cyd: timestamp.txt is empty."


def test_nothing_in_a_notebook_drives_the_terminal():
    """Terminal codes in names and reasons are gone, and the names are still there."""
    told = verdict_text(verdict("ev\x1b[2Jil", reason="It is\x1b]0;owned\x07 empty."))
    assert told == "evil.ipynb\n  could not be graded: It is empty."
    assert "  - evil: It is empty." in needs_a_person([verdict("ev\x1b[2Jil", reason="It is\x1b[31m empty.")])
