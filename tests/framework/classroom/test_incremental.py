"""Tests that graded and delivered work is skipped, and that anything doubtful is written again."""

import json
import os
import sqlite3

import pytest

from autograder.classroom.gradebook import entries
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.grading.verdict_cache import VerdictCache
from tests.framework.classroom.conftest import cells, class_of_many, given_back
from tests.support.books import with_book
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, copy_course, document, hand_in


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A small course, in which the tests of this file grade one class over and over: a new gradebook takes seconds."""
    return with_book(copy_course(tmp_path_factory.mktemp("resting") / "mini"))


@pytest.fixture
def graded(shared):
    """A graded class of four. One of them submitted half a file."""
    class_of_many(shared, 3)
    hand_in(shared, "s009", b"{")
    again(shared)
    return shared


@pytest.fixture
def entered(monkeypatch):
    """The students whose marks are written to the gradebook, in order."""
    students = []
    whole = entries.write_entries

    def noted(course, outcomes, **more):
        students.extend(outcome.verdict.student for outcome in outcomes)
        return whole(course, outcomes, **more)

    monkeypatch.setattr(entries, "write_entries", noted)
    return students


def again(course):
    """Grade the class once more, as the next command would."""
    course = load_course(course.root)
    return grade_class(course, CHAPTER, handed_in(course, CHAPTER))


@pytest.fixture
def kept(graded):
    """Return the file that records what was graded, entered and delivered."""
    return VerdictCache.of(graded, CHAPTER).folder / "uptodate.jsonl"


def test_an_unchanged_class_is_not_written_again(graded, entered, monkeypatch):
    """The second run decodes, renders and enters nothing, and returns the same verdicts, also for the ungradable notebook."""
    before = given_back(graded)
    monkeypatch.setattr(VerdictCache, "load_cells", lambda *_: pytest.fail("outputs were decoded"))
    verdicts = again(graded)
    assert [v.status for v in verdicts] == ["graded", "graded", "graded", "ungradable"]
    assert entered == []
    assert given_back(graded) == before


def test_nothing_heavy_is_imported_for_an_unchanged_class(graded):
    """Not even NumPy: the second run is over before nbgrader would have been read."""
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
    """Lose one student's feedback page."""
    (course.root / "feedback" / "s001" / CHAPTER / f"{CHAPTER}.html").unlink()


def spoil_notebook(course):
    """Change one student's graded notebook."""
    path = course.root / "autograded" / "s001" / CHAPTER / f"{CHAPTER}.ipynb"
    path.chmod(0o644)
    path.write_text("{}")


def spoil_book(course, statement="DELETE FROM grade"):
    """Take one student's grades out of the gradebook."""
    mine = "SELECT part.id FROM submitted_notebook AS part "
    mine += "JOIN submitted_assignment AS s ON s.id = part.assignment_id WHERE s.student_id = 's001'"
    with sqlite3.connect(course.root / "gradebook.db") as book:
        book.execute(f"{statement} WHERE notebook_id IN ({mine})")


def spoil_score(course):
    """Change one score behind everybody's back."""
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
    """Pages also depend on the course title and on how much is disclosed."""
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
    """Half a line, as a power cut may leave it, is not believed and spoils no other."""
    kept.write_text(kept.read_text()[:-40])
    again(graded)
    assert len(entered) == 1
    entered.clear()
    again(graded)
    assert entered == []


def test_the_file_stays_small(graded, kept):
    """However often a class is graded, a submission keeps one line, and so does each outcome that is in use."""
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
    """A line without its outcomes, for example after a power cut, is ignored, and the verdict is the same."""
    before = again(graded)
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(line for line in lines if not line.startswith('{"outcome"')))
    assert again(graded) == before
    assert sorted(entered) == ["s000", "s001", "s002"]
    entered.clear()
    assert again(graded) == before
    assert entered == []


def test_lines_of_another_version_are_passed_by(graded, entered, kept):
    """Files of older and newer versions are ignored and stop nothing."""
    with kept.open("a") as lines:
        lines.write('{"student": "s000", "base": "older", "key": "ab", "verdict": null}\n')
        lines.write('{"outcome": "newer", "exercise": {"colour": "green", "checks": []}}\n')
        lines.write('{"outcome": "newer", "exercise": null}\n[]\n7\n')
    again(graded)
    assert entered == ["s000"]
