"""Verdicts kept as they are made."""

import pytest

from autograder.course import load_course
from autograder.files import write_atomically
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox.protocol import CellOutcome, StudentError
from autograder.verdict import CheckResult, ExerciseVerdict, Verdict
from tests.support.mini import CHAPTER

CHECKS = (CheckResult("c", "t", "failed", "m", visible=True, points=1.0, reason="r", example="e"),)
VERDICT = Verdict(
    "a.ipynb", "ada", CHAPTER, "graded", None, 0.1 + 0.2, 6.0, "bubblewrap",
    (ExerciseVerdict("to_kelvin", 0.1 + 0.2, 2.0, "partial", "wrong_sign", "m", "f", CHECKS),),
)  # fmt: skip
CELLS = (CellOutcome(1, ({"output_type": "stream"},), StudentError("E", "m", lineno=2), "timeout"), CellOutcome(2))


def test_what_was_kept_comes_back_whole(course):
    """A verdict and its cells are the same after a round through the disk."""
    cache = VerdictCache.of(course, CHAPTER)
    key = cache.key(b"notebook")
    assert cache.load(key) is None
    cache.save(key, VERDICT, CELLS)
    assert cache.load(key) == VERDICT
    assert cache.load_cells(key) == CELLS


def test_a_file_cut_short_is_made_again(course):
    """Whatever a power cut left behind is not believed."""
    cache = VerdictCache.of(course, CHAPTER)
    key = cache.key(b"notebook")
    cache.save(key, VERDICT, CELLS)
    for name in (f"{key}.json", f"{key}.cells.json"):
        path = cache.folder / name
        path.write_bytes(path.read_bytes()[:-20])
    assert cache.load(key) is None
    assert cache.load_cells(key) is None


def test_an_ungradable_notebook_is_tried_again(course):
    """What could not be graded is never answered from the cache."""
    cache = VerdictCache.of(course, CHAPTER)
    cache.save("key", Verdict("a", "ada", CHAPTER, "ungradable", "why", 0.0, 6.0, None), ())
    assert cache.load("key") is None


@pytest.mark.parametrize(
    "name",
    [
        f"tests/chapters/test_{CHAPTER}.py",
        f"solutions/{CHAPTER}.py",
        f"solutions/misconceptions/{CHAPTER}.py",
        f"source/{CHAPTER}/{CHAPTER}.ipynb",
    ],
)
def test_a_change_to_the_course_changes_every_key(course, name):
    """Checks, references, misconceptions and the notebook itself decide a verdict, so they are part of its key."""
    before = VerdictCache.of(course, CHAPTER).key(b"notebook")
    path = course.root / name
    path.write_text(path.read_text() + "\n")
    assert VerdictCache.of(course, CHAPTER).key(b"notebook") != before


def test_limits_secret_options_and_bytes_change_the_key(course, monkeypatch):
    """So do the submission itself, what it may use, the secret that inputs are drawn from, and what was asked for."""
    keys = {VerdictCache.of(course, CHAPTER).key(b"notebook"), VerdictCache.of(course, CHAPTER).key(b"other")}
    keys.add(VerdictCache.of(course, CHAPTER, ("visible",)).key(b"notebook"))
    monkeypatch.setenv("AUTOGRADER_COURSE_SECRET", "another")
    keys.add(VerdictCache.of(course, CHAPTER).key(b"notebook"))
    monkeypatch.delenv("AUTOGRADER_COURSE_SECRET")
    course.call_seconds = 1.0
    keys.add(VerdictCache.of(course, CHAPTER).key(b"notebook"))
    assert len(keys) == 5


def test_the_key_is_the_same_in_the_next_run(course):
    """A fresh process finds what the last one kept."""
    assert VerdictCache.of(course, CHAPTER).key(b"x") == VerdictCache.of(load_course(course.root), CHAPTER).key(b"x")


def test_an_atomic_write_leaves_no_litter(tmp_path):
    """Where writing fails the old file stays and no half one does."""
    path = tmp_path / "a.json"
    write_atomically(path, b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
    assert path.read_bytes() == b"old"
