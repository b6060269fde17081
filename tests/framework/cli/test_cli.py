"""Tests of the command line as programs and people use it: JSON, exit status, and what is written to stdout and stderr."""

from __future__ import annotations

import dataclasses
import errno
import json
import re
import shutil

import pytest
from click.testing import CliRunner

import autograder
import autograder.extras.demo
from autograder import extras
from autograder.authoring.release import record_examples
from autograder.base.verdict import CheckResult, ExerciseVerdict, Verdict
from autograder.classroom.gradebook.database import GradebookError
from autograder.cli import grading, student
from autograder.cli.app import app
from autograder.cli.output import needs_review, summary, verdict_text
from autograder.course.course import load_course
from autograder.sandbox.protocol import SandboxStartError
from autograder.student.terminal.checking import check_by_examples
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, WRONG_SIGN, change, copy_course, document, hand_in

KEYS = {"notebook", "student", "chapter", "status", "reason", "score", "max_score", "sandbox", "exercises"}
EXERCISE_KEYS = {"name", "score", "max_score", "status", "misconception", "message", "follow_through", "checks"}
CHECK_KEYS = {"name", "title", "status", "message", "visible"}


def run(*arguments, cwd, check=None):
    """Run the real command in a process. With ``check``, it must exit with that status."""
    return python("-m", "autograder", *arguments, cwd=cwd, status=check, COLUMNS="200")


def verdicts_of(*arguments, cwd, check=0):
    """Return the verdicts that ``autograder check … --json`` prints."""
    return json.loads(run("check", *arguments, "--json", cwd=cwd, check=check).stdout)


@pytest.fixture(scope="module")
def course_folder(tmp_path_factory):
    """Return a course folder with three submissions: one is right, one has a mistake, and one is not a notebook."""
    course = copy_course(tmp_path_factory.mktemp("cli") / "course")
    hand_in(course, "ada", document(course, **RIGHT))
    hand_in(course, "ben", document(course, **{**RIGHT, "to_kelvin": WRONG_SIGN}))
    hand_in(course, "cleo", b"{not json")
    return course.root


def handed_in_by(folder, student):
    """Return the path of the notebook that a student submitted."""
    return folder / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"


# --- starting ----------------------------------------------------------------------------------------------------------


def test_version_is_told_without_loading_anything():
    """`autograder --version` prints the version without loading NumPy, Click or Rich."""
    asked = (
        "import sys, atexit; sys.argv = ['autograder', '--version']; "
        "atexit.register(lambda: print(sorted({'numpy', 'click', 'rich', 'traitlets'} & set(sys.modules)))); "
        "from autograder.cli import main; main()"
    )
    assert python("-c", asked, status=0).stdout.splitlines() == [f"autograder {autograder.__version__}", "[]"]


def test_version_is_told_among_other_options_too(tmp_path):
    """If the option is given twice, the version is printed once."""
    assert run("--version", "--version", cwd=tmp_path, check=0).stdout == f"autograder {autograder.__version__}\n"


def test_help_names_every_verb(tmp_path):
    """`autograder --help` lists the commands in the order in which a course needs them, students' commands first."""
    told = run("--help", cwd=tmp_path, check=0).stdout
    verbs = re.findall(r"^  ([\w-]+)  ", told, re.MULTILINE)
    assert verbs == app.list_commands()
    assert verbs[:3] == ["start", "watch", "check"] == student.app.list_commands()[:3]
    assert re.findall(r"^(To .*):", told, re.MULTILINE)[:2] == ["To learn", "To teach"]


@pytest.mark.parametrize(
    "call",
    [
        "frobnicate", "check", "check --nonsense x.ipynb", "grade", "grade ch1_units --workers 0", "release",
        "release ch1_units --all", "demo --students none",
    ],
)  # fmt: skip
def test_wrong_usage_is_status_two(course_folder, call):
    """An invalid call ends with status 2, prints an error to stderr, and prints nothing to stdout."""
    done = run(*call.split(), cwd=course_folder, check=2)
    assert done.stdout == ""
    assert done.stderr.strip()


@pytest.mark.parametrize("call", ["grade ch1_units", "release --all", "demo", "audit", "examples"])
def test_outside_a_course_it_says_what_to_do(tmp_path, call):
    """Outside a course, a command that needs a course says how to name one."""
    done = run(*call.split(), cwd=tmp_path, check=2)
    assert "There is no course_config.py in" in done.stderr
    assert "--course FOLDER" in done.stderr


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("grade ch9_nothing", ["There is no chapter 'ch9_nothing'", "The chapters are: ch1_units"]),
        ("grade ch1_units --student zoe", ["zoe submitted nothing for ch1_units"]),
        (f"check submitted/ada/{CHAPTER}/{CHAPTER}.ipynb --exercise to_kelvim", ["no exercise to_kelvim", "to_kelvin, mean_kelvin"]),
    ],
    ids=["chapter", "student", "exercise"],
)  # fmt: skip
def test_what_the_course_does_not_have_is_wrong_usage(course_folder, call, words):
    """The message names what is missing and lists what the course has."""
    told = run(*call.split(), cwd=course_folder, check=2).stderr
    assert [word for word in words if word not in told] == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("grade", CHAPTER), "Stopped. Graded notebooks are saved. Run the same command to continue.\n"),
        (("check", "x.ipynb", "--course", "."), "Stopped.\n"),
        (("demo", "--course", "."), "Stopped.\n"),
    ],
)
def called(monkeypatch, error, *arguments):
    """Return the output and status of the command if loading the course raises ``error``."""

    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr(grading, "load_course", fail)
    monkeypatch.setattr(extras.demo, "load_course", fail)
    done = CliRunner().invoke(app, arguments)
    return done.stderr, done.exit_code


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("grade", CHAPTER), "Stopped. Graded notebooks are saved. Run the same command to continue.\n"),
        (("check", "x.ipynb", "--course", "."), "Stopped.\n"),
        (("demo", "--course", "."), "Stopped.\n"),
    ],
)
def test_what_is_kept_is_said_where_it_is(course_folder, monkeypatch, arguments, told):
    """Only `grade` can continue a stopped run, so only `grade` says so."""
    monkeypatch.chdir(course_folder)
    assert called(monkeypatch, KeyboardInterrupt, *arguments) == (told, 130)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/course/x"), "Cannot write /course/x: the disk is full."),
        (OSError(errno.EROFS, "Read-only file system", "/course/x"), "Cannot use /course/x: Read-only file system."),
        (GradebookError("The gradebook is down."), "The gradebook is down."),
        (SandboxStartError("The sandbox failed to start."), "The sandbox failed to start."),
    ],
)  # fmt: skip
def test_what_a_machine_lacks_is_told_in_a_sentence(course_folder, monkeypatch, error, words):
    """The error is reported without a traceback and with status 1. If the sandbox fails, the code is never run without it."""
    told, status = called(monkeypatch, error, "check", "x.ipynb", "--course", str(course_folder))
    assert status == 1
    assert words in told
    assert "runs as you" not in told


# --- check -------------------------------------------------------------------------------------------------------------


def test_check_gives_one_verdict_a_notebook_in_order(course_folder):
    """The JSON is one array with a verdict for each named file, in the order of the files. Each verdict has the documented keys."""
    files = [handed_in_by(course_folder, s) for s in ("ben", "ada")]
    wrong, right = verdicts_of(*files, cwd=course_folder)
    assert [wrong["notebook"], right["notebook"]] == [str(f) for f in files]
    for verdict in (wrong, right):
        assert verdict.keys() >= KEYS
        found = [verdict[key] for key in ("status", "reason", "chapter", "max_score")]
        assert found == ["graded", None, CHAPTER, 6]
        for exercise in verdict["exercises"]:
            assert exercise.keys() >= EXERCISE_KEYS
            assert all(check.keys() >= CHECK_KEYS for check in exercise["checks"])
    assert right["score"] == 6
    assert wrong["exercises"][0]["misconception"] == "wrong_sign"
    assert any(not check["visible"] for e in right["exercises"] for check in e["checks"])


def test_check_keeps_to_what_is_asked_for(course_folder):
    """With --visible, the verdict has no hidden check. With --exercise, only that exercise is judged and counted."""
    [verdict] = verdicts_of(handed_in_by(course_folder, "ada"), "--visible", cwd=course_folder)
    assert all(check["visible"] for e in verdict["exercises"] for check in e["checks"])
    [verdict] = verdicts_of(handed_in_by(course_folder, "ada"), "--exercise", "to_kelvin", cwd=course_folder)
    assert [e["name"] for e in verdict["exercises"]] == ["to_kelvin"]
    assert verdict["score"] == verdict["max_score"] == 2


def test_check_goes_on_past_what_cannot_be_graded(course_folder, tmp_path):
    """A missing file, a folder and a broken notebook get verdicts with reasons. Other notebooks are graded, and the status is 1."""
    files = [tmp_path / "gone.ipynb", tmp_path, handed_in_by(course_folder, "cleo"), handed_in_by(course_folder, "ada")]
    done = run("check", *files, "--json", cwd=course_folder, check=1)
    verdicts = json.loads(done.stdout)
    assert [v["status"] for v in verdicts] == ["ungradable", "ungradable", "ungradable", "graded"]
    assert "There is no file gone.ipynb" in verdicts[0]["reason"]
    assert "is not a valid notebook" in verdicts[2]["reason"]
    assert verdicts[3]["score"] == 6
    assert "Needs your review:" in done.stderr


def test_check_reads_well_in_a_terminal(course_folder):
    """The output shows points by exercise, a sign for each check, the failing case, and the mistake's message."""
    told = run("check", handed_in_by(course_folder, "ben"), cwd=course_folder, check=0).stdout
    assert "to_kelvin   0 of 2 points" in told
    assert "  ✗ water freezes\n" in told
    assert "You subtracted the offset." in told
    assert told.count("You subtracted the offset.") == 1
    assert "did not run because “water freezes” failed." in told


def test_check_by_the_examples_beside_a_notebook(course_folder, tmp_path):
    """Outside a course, a notebook is checked with the examples that were released with it."""
    shutil.copy(handed_in_by(course_folder, "ben"), tmp_path / "mine.ipynb")
    shutil.copy(record_examples(load_course(course_folder), CHAPTER), tmp_path / "examples.json")
    [verdict] = verdicts_of("mine.ipynb", cwd=tmp_path)
    assert verdict["chapter"] == CHAPTER
    assert verdict["exercises"][0]["misconception"] == "wrong_sign"
    assert all(check["visible"] for e in verdict["exercises"] for check in e["checks"])
    assert verdict["sandbox"] in {"bubblewrap", "landlock", "local"}
    done = run("check", "mine.ipynb", "--exercise", "nothing", cwd=tmp_path, check=2)
    assert "has no exercise nothing" in done.stderr


def test_check_without_course_or_examples_says_what_is_missing(course_folder, tmp_path):
    """Without a course or examples, a notebook is ungradable, and the reason says which file is needed."""
    shutil.copy(handed_in_by(course_folder, "ada"), tmp_path / "mine.ipynb")
    [verdict] = verdicts_of("mine.ipynb", cwd=tmp_path, check=1)
    assert "There is no examples.json next to mine.ipynb" in verdict["reason"]


def test_a_notebook_that_breaks_the_replay_is_that_notebooks_reason(tmp_path, monkeypatch):
    """If our code crashes on one file, the other files still get their verdicts."""

    def breaks(path):
        raise RuntimeError(f"our own mistake over {path.stem}")

    monkeypatch.setattr("autograder.student.terminal.checking.read_notebook", breaks)
    verdicts = check_by_examples([tmp_path / "a.ipynb", tmp_path / "b.ipynb"], None, "auto", lambda _: None)
    assert [verdict.status for verdict in verdicts] == ["ungradable"] * 2
    assert "our own mistake over b (checking.py, line" in verdicts[1].reason


def test_a_course_config_beside_a_strangers_notebook_is_not_run(course_folder, tmp_path):
    """Checking a file in another folder never runs a course_config.py in that folder."""
    shutil.copy(handed_in_by(course_folder, "ada"), tmp_path / "mine.ipynb")
    (tmp_path / "course_config.py").write_text("open('ran', 'w')\n")
    run("check", tmp_path / "mine.ipynb", cwd=course_folder, check=0)
    assert not (tmp_path / "ran").exists()
    assert not (course_folder / "ran").exists()


def test_unsafe_local_is_said_and_stamped(course_folder):
    """With --unsafe-local, a banner and the verdict say that no sandbox was used."""
    done = run("check", handed_in_by(course_folder, "ada"), "--unsafe-local", "--json", cwd=course_folder, check=0)
    assert done.stderr.startswith("UNSAFE: ")
    assert json.loads(done.stdout)[0]["sandbox"] == "local"


# --- grade, examples, doctor -------------------------------------------------------------------------------------------


def test_grade_fills_the_gradebook_and_lists_what_needs_a_person(course_folder):
    """All verdicts are printed, marks are in the gradebook, pages are written, and broken notebooks are listed."""
    done = run("grade", CHAPTER, "--json", cwd=course_folder, check=1)
    verdicts = {v["student"]: v for v in json.loads(done.stdout)}
    expected = {"ada": ("graded", 6), "ben": ("graded", 4), "cleo": ("ungradable", 0)}
    assert {s: (v["status"], v["score"]) for s, v in verdicts.items()} == expected
    assert "Graded 2 of 3 notebooks in " in done.stderr
    assert "  - cleo: " in done.stderr
    assert (course_folder / "gradebook.db").is_file()
    assert (course_folder / "autograded" / "ada" / CHAPTER / f"{CHAPTER}.ipynb").is_file()
    assert (course_folder / "feedback" / "ben" / CHAPTER / f"{CHAPTER}.html").is_file()


def test_grade_keeps_to_the_students_named(course_folder):
    """With --student, only the named students are graded."""
    done = run("grade", CHAPTER, "--student", "ada", "--json", cwd=course_folder, check=0)
    assert [v["student"] for v in json.loads(done.stdout)] == ["ada"]


def test_examples_are_recorded(course_folder):
    """`autograder examples` writes the file that check() reads in the course's notebook, and prints its path."""
    done = run("examples", CHAPTER, cwd=course_folder, check=0)
    written = course_folder / ".autograder" / "examples" / f"{CHAPTER}.json"
    assert json.loads(written.read_text())["chapter"] == CHAPTER
    assert str(written) in done.stderr


def test_doctor_says_whether_notebooks_can_be_graded_here(tmp_path):
    """`autograder doctor` ends with a plain yes or no, and its exit status agrees."""
    done = run("doctor", cwd=tmp_path)
    assert done.returncode in {0, 1}
    assert done.stdout.strip().splitlines()[-1].startswith("Ready" if done.returncode == 0 else "Not ready")


# --- words -------------------------------------------------------------------------------------------------------------


def verdict(student="ada", score=3.0, *, reason=None, misconception=None):
    """Return an invented verdict."""
    status = "ungradable" if reason else "graded"
    check = CheckResult("test_it", "it is right", "failed" if misconception else "passed", message="It is not.")
    exercise = ExerciseVerdict("softmax", score, 4, "partial", misconception, "You did that.", None, (check,))
    return Verdict(f"{student}.ipynb", student, "ch1", status, reason, score, 4, "bubblewrap", (exercise,))


def test_a_summary_can_be_read_aloud():
    """The summary gives the number of notebooks, the time, the marks and the most frequent mistake."""
    told = summary([verdict(score=s, misconception="no_max_shift") for s in (0, 1, 2, 3, 4)], 3.14)
    assert told.splitlines() == [
        "Graded 5 of 5 notebooks in 3.1 seconds.",
        "The median is 2 of 4 points. The lowest mark is 0, and the highest is 4.",
        "The most frequent mistake is no_max_shift in softmax: 5 times.",
    ]
    with_an_essay = summary([verdict(score=s) for s in (0, 1, 2, 3, 4)], 3.14, 6).splitlines()[1:]
    assert with_an_essay == [
        "The median of the automatic marks is 2 of 4 points. The lowest mark is 0, and the highest is 4.",
        "6 more points must be graded manually, in formgrader.",
    ]


def test_what_needs_a_person_is_listed_with_its_reason():
    """Ungradable notebooks and warnings are listed by student, and students with the same reason share a line."""
    assert needs_review([verdict(), verdict("ben", reason="It is not JSON.")]) == (
        "Needs your review:\n  - ben: It is not JSON."
    )
    assert needs_review([verdict()]) == ""
    late = dataclasses.replace(verdict("cyd"), warning="timestamp.txt is empty.")
    assert needs_review([verdict(), late]) == "Needs your review:\n  - cyd: timestamp.txt is empty."
    also = dataclasses.replace(late, student="dan")
    same = [verdict(f"s{number:02}", reason="It is empty.") for number in range(14)]
    assert needs_review(same).split() == (
        f"Needs your review: - {', '.join(f's{number:02}' for number in range(14))}: It is empty.".split()
    )
    assert needs_review([late, also]) == "Needs your review:\n  - cyd, dan: timestamp.txt is empty."


def test_nothing_in_a_notebook_drives_the_terminal():
    """Terminal codes in names and reasons are removed, and the names remain."""
    told = verdict_text(verdict("ev\x1b[2Jil", reason="It is\x1b]0;owned\x07 empty."))
    assert told == "evil.ipynb\n  could not be graded: It is empty."
    assert "  - evil: It is empty." in needs_review([verdict("ev\x1b[2Jil", reason="It is\x1b[31m empty.")])


@pytest.mark.parametrize(("verb", "status"), [("audit", 2), ("release", 1), ("grade", 2)])
def test_a_fixture_that_grading_does_not_have_is_refused_by_every_verb(tmp_path, verb, status):
    """One sentence names the file and line of the fixture, and nothing is graded or released."""
    course = copy_course(tmp_path / "course")
    hand_in(course, "ada", document(course, **RIGHT))
    change(course.checks(CHAPTER), "def test_freezing(self, ", "def test_freezing(self, tmp_path, ")
    done = run(verb, CHAPTER, cwd=course.root, check=status)
    said = " ".join(done.stderr.split())
    assert f"test_{CHAPTER}.py, line " in said
    assert "requests the fixture 'tmp_path', which grading does not provide" in said
    assert "Traceback" not in done.stderr
