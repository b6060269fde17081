"""Tests that graded and delivered submissions are skipped, and that everything that may have changed is written again."""

import json
import os
import shutil
import sqlite3

import pytest

from autograder.classroom.gradebook import entries
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.grading.verdict_cache import VerdictCache
from autograder.judging.judge import Judge
from tests.framework.classroom.conftest import cells, class_of_many, given_back
from tests.support.books import with_book
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, change, copy_course, document, hand_in


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Return a small course that all tests of this file share, because creating a gradebook takes seconds."""
    return with_book(copy_course(tmp_path_factory.mktemp("resting") / "mini"))


@pytest.fixture
def graded(shared):
    """Return a course with four graded submissions, one of which is a truncated file."""
    class_of_many(shared, 3)
    hand_in(shared, "s009", b"{")
    again(shared)
    return shared


@pytest.fixture
def entered(monkeypatch):
    """Return a list that records the students whose marks are written to the gradebook, in order."""
    students = []
    whole = entries.write_entries

    def noted(course, outcomes, **more):
        students.extend(outcome.verdict.student for outcome in outcomes)
        return whole(course, outcomes, **more)

    monkeypatch.setattr(entries, "write_entries", noted)
    return students


def again(course, **how):
    """Grade the class once more, as the next command would."""
    course = load_course(course.root)
    return grade_class(course, CHAPTER, handed_in(course, CHAPTER), **how)


@pytest.fixture
def judged(monkeypatch):
    """Return a list that records the exercises whose checks are run, in order."""
    names = []
    run_checks = Judge._run_checks

    def noted(judge, spec, submission):
        names.append(spec.name)
        return run_checks(judge, spec, submission)

    monkeypatch.setattr(Judge, "_run_checks", noted)
    return names


@pytest.fixture
def edited(graded):
    """Return a function that edits a file of the course. The file is restored at the end of the test."""
    before = {}

    def edit(name, old, new):
        path = graded.root / name
        before.setdefault(path, path.read_text())
        change(path, old, new)

    yield edit
    for path, text in before.items():
        path.write_text(text)


@pytest.fixture
def kept(graded):
    """Return the file that records what was graded, entered and delivered."""
    return VerdictCache.of(graded, CHAPTER).folder / "uptodate.jsonl"


def test_an_unchanged_class_is_not_written_again(graded, entered, monkeypatch):
    """The second run decodes, renders and enters nothing, and returns the same verdicts, including the verdict on the ungradable notebook."""
    before = given_back(graded)
    monkeypatch.setattr(VerdictCache, "load_cells", lambda *_: pytest.fail("outputs were decoded"))
    verdicts = again(graded)
    assert [v.status for v in verdicts] == ["graded", "graded", "graded", "ungradable"]
    assert entered == []
    assert given_back(graded) == before


def test_nothing_heavy_is_imported_for_an_unchanged_class(graded):
    """For an unchanged class, neither NumPy nor nbgrader nor any other large package is imported."""
    code = (
        "import sys; from autograder.course.course import load_course;"
        "from autograder.classroom.run import grade_class, handed_in; course = load_course();"
        f"grade_class(course, {CHAPTER!r}, handed_in(course, {CHAPTER!r}), workers=2);"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = python("-c", code, cwd=graded.root, status=0)
    heavy = {"numpy", "pytest", "nbgrader", "nbformat", "sqlalchemy", "jinja2", "hypothesis", "multiprocessing"}
    assert set(done.stdout.split()) & heavy == set()


def spoil_page(course):
    """Delete one student's feedback page."""
    (course.root / "feedback" / "s001" / CHAPTER / f"{CHAPTER}.html").unlink()


def spoil_notebook(course):
    """Change one student's graded notebook."""
    path = course.root / "autograded" / "s001" / CHAPTER / f"{CHAPTER}.ipynb"
    path.chmod(0o644)
    path.write_text("{}")


def spoil_book(course, statement="DELETE FROM grade"):
    """Delete one student's grades from the gradebook."""
    mine = "SELECT part.id FROM submitted_notebook AS part "
    mine += "JOIN submitted_assignment AS s ON s.id = part.assignment_id WHERE s.student_id = 's001'"
    with sqlite3.connect(course.root / "gradebook.db") as book:
        book.execute(f"{statement} WHERE notebook_id IN ({mine})")


def spoil_score(course):
    """Change one score in the database directly."""
    spoil_book(course, "UPDATE grade SET auto_score = auto_score + 1")


@pytest.mark.parametrize("spoil", [spoil_page, spoil_notebook, spoil_book, spoil_score])
def test_what_is_in_doubt_is_written_again(graded, entered, spoil):
    """A missing or changed page, notebook or row is restored, and no other student's files change."""
    pages, book = given_back(graded), cells(graded)
    spoil(graded)
    again(graded)
    assert entered == ["s001"]
    assert (given_back(graded), cells(graded)) == (pages, book)


def test_a_new_setting_reaches_every_page(graded, entered):
    """If the course title changes, every page is written again."""
    config = graded.root / "course_config.py"
    before = config.read_text()
    config.write_text(before + 'c.Course.title = "Units, renamed"\n')
    again(graded)
    config.write_text(before)
    assert sorted(entered) == ["s000", "s001", "s002", "s009"]
    assert "Units, renamed" in (graded.root / "feedback" / "s000" / CHAPTER / f"{CHAPTER}.html").read_text()


def test_a_copy_of_the_same_bytes_is_the_same_submission(graded, entered):
    """A copied or touched file is recognized by its bytes. A changed file is graded."""
    os.utime(graded.root / "submitted" / "s000" / CHAPTER / f"{CHAPTER}.ipynb", (1, 1))
    again(graded)
    assert entered == []
    hand_in(graded, "s000", document(graded, **{**RIGHT, "quiz_ch1_units": 'q1 = "c"\nq2 = 0.0'}))
    assert again(graded)[0].exercise("quiz_ch1_units").status == "partial"
    assert entered == ["s000"]


def test_another_time_of_handing_in_is_entered(graded, entered):
    """``timestamp.txt`` decides about late penalties, so it is part of a submission."""
    (graded.root / "submitted" / "s000" / CHAPTER / "timestamp.txt").write_text("2030-01-01 00:00:00 UTC")
    again(graded)
    assert entered == ["s000"]


def test_a_file_cut_short_costs_its_last_lines_only(graded, entered, kept):
    """An incomplete line, for example after a power cut, is ignored and does not affect other lines."""
    kept.write_text(kept.read_text()[:-40])
    again(graded)
    assert len(entered) == 1
    entered.clear()
    again(graded)
    assert entered == []


def test_the_file_stays_small(graded, kept):
    """However often a class is graded, the file has one line for each submission and one for each outcome in use."""
    gone = {"name": "gone", "score": 0, "max_score": 1, "status": "failed", "checks": []}
    unused = json.dumps({"outcome": "unused", "exercise": gone})
    kept.write_text(kept.read_text() * 60 + f"{unused}\n")
    before = again(graded)
    lines = [json.loads(line) for line in kept.read_text().splitlines() if line]
    outcomes = {line["outcome"] for line in lines if "outcome" in line}
    assert outcomes == {name for line in lines if "student" in line for name in line["verdict"]["exercises"]}
    assert len(lines) == 4 + len(outcomes)
    assert again(graded) == before


def test_an_outcome_that_is_missing_is_looked_up_elsewhere(graded, entered, kept):
    """If a line's outcomes are missing, for example after a power cut, the line is ignored and grading gives the same verdict."""
    before = again(graded)
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(line for line in lines if not line.startswith('{"outcome"')))
    assert again(graded) == before
    assert sorted(entered) == ["s000", "s001", "s002"]
    entered.clear()
    assert again(graded) == before
    assert entered == []


def test_lines_of_another_version_are_passed_by(graded, entered, kept):
    """Lines from older and newer versions are ignored and do not stop the run."""
    with kept.open("a") as lines:
        lines.write('{"student": "s000", "base": "older", "key": "ab", "verdict": null}\n')
        lines.write('{"outcome": "newer", "exercise": {"colour": "green", "checks": []}}\n')
        lines.write('{"outcome": "newer", "exercise": null}\n[]\n7\n')
    again(graded)
    assert entered == ["s000"]


CHECK_FILE = f"tests/chapters/test_{CHAPTER}.py"


def test_a_comment_in_a_check_file_grades_nothing(graded, entered, judged, edited):
    """A new comment in the checks or solutions, or a new folder for nbgrader's exchange, causes no notebook to be graded again."""
    edited(CHECK_FILE, "import numpy as np\n", "import numpy as np  # a comment\n")
    edited(f"solutions/{CHAPTER}.py", '"""Reference solutions."""', '"""The reference solutions."""')
    edited("nbgrader_config.py", "configure(", "c = get_config()\nc.Exchange.root = '/srv/elsewhere'\nconfigure(")
    before = again(graded)
    entered.clear()
    edited("nbgrader_config.py", "/srv/elsewhere", "/srv/moved")
    assert (again(graded), entered, judged) == (before, [], [])


LENIENT = 'assert_choice(student["q1"], reference["q1"])', 'assert student["q1"] in ("a", "b")'


@pytest.fixture
def mistaken(graded):
    """Return the graded class, in which one student's quiz has a wrong answer."""
    hand_in(graded, "s001", document(graded, **{**RIGHT, "quiz_ch1_units": 'q1 = "a"\nq2 = 0.0'}))
    assert quiz_scores(again(graded)) == [1.0, 0.5, 1.0]
    return graded


def quiz_scores(verdicts):
    """Return the points of the three students for the quiz."""
    return [verdict.exercise("quiz_ch1_units").score for verdict in verdicts[:3]]


def test_only_the_changed_exercise_is_judged_again(mistaken, judged, edited):
    """After a change to one exercise's checks, only that exercise is judged. The verdicts equal those of grading everything again."""
    edited(CHECK_FILE, *LENIENT)
    verdicts = again(mistaken)
    assert set(judged) == {"quiz_ch1_units"}
    assert quiz_scores(verdicts) == [1.0, 1.0, 1.0]
    shutil.rmtree(mistaken.root / ".autograder")
    assert again(mistaken) == verdicts
    assert set(judged) == {"quiz_ch1_units", "to_kelvin", "mean_kelvin"}


def test_a_notebook_that_keeps_state_is_judged_whole(graded, judged, edited):
    """If a student's functions share a variable, one exercise may affect another one, so all exercises are judged."""
    code = {**RIGHT, "to_kelvin": "seen = []\ndef to_kelvin(celsius):\n    seen.append(1)\n    return celsius + 273.15"}
    hand_in(graded, "s001", document(graded, **code))
    again(graded)
    judged.clear()
    edited(CHECK_FILE, "question 1: absolute zero", "question 1: the absolute zero")
    again(graded)
    assert judged.count("to_kelvin") == 1
    assert judged.count("quiz_ch1_units") == 3


def test_only_leaves_the_other_exercises_as_they_are(mistaken, judged, edited):
    """With ``only``, changed checks of other exercises do not run, and their marks stay until the next run without ``only``."""
    edited(CHECK_FILE, *LENIENT)
    edited(CHECK_FILE, "one station", "a station")
    verdicts = again(mistaken, only=frozenset({"mean_kelvin"}))
    assert (set(judged), quiz_scores(verdicts)) == ({"mean_kelvin"}, [1.0, 0.5, 1.0])
    judged.clear()
    assert again(mistaken, only=frozenset({"mean_kelvin"})) == verdicts
    assert judged == []
    assert quiz_scores(again(mistaken)) == [1.0, 1.0, 1.0]
    assert set(judged) == {"quiz_ch1_units"}
