"""Tests of cached verdicts."""

import pytest

from autograder.base.files import write_atomically
from autograder.base.verdict import CheckResult, ExerciseVerdict, Verdict
from autograder.course.course import load_course
from autograder.grading.verdict_cache import VerdictCache
from autograder.sandbox.protocol import CellOutcome, StudentError
from tests.support.mini import CHAPTER, change

CHECKS = (CheckResult("c", "t", "failed", "m", visible=True, points=1.0, reason="r", example="e"),)
VERDICT = Verdict(
    "a.ipynb", "ada", CHAPTER, "graded", None, 0.1 + 0.2, 6.0, "bubblewrap",
    (ExerciseVerdict("to_kelvin", 0.1 + 0.2, 2.0, "partial", "wrong_sign", "m", "f", CHECKS),),
)  # fmt: skip
CELLS = (
    CellOutcome(1, ({"output_type": "stream"},), StudentError("E", "m", lineno=2)),
    CellOutcome(2, (), None, "timeout", StudentError("", "", "while True:", 3)),
)


@pytest.fixture
def cache(course):
    """Return the chapter's verdict cache."""
    return VerdictCache.of(course, CHAPTER)


def key_of(course, notebook=b"notebook", asked=()):
    """Return the current cache key of a verdict on ``notebook``."""
    return VerdictCache.of(course, CHAPTER, asked).key(notebook)


def test_what_was_kept_comes_back_whole(cache):
    """A verdict and its cells are unchanged after storing and loading. A truncated file, as after a power cut, is ignored."""
    key = cache.key(b"notebook")
    assert cache.load(key) is None
    cache.save(key, VERDICT, CELLS)
    assert cache.load(key) == VERDICT
    assert cache.load_cells(key) == CELLS
    for name in (f"{key}.json", f"{key}.cells.json"):
        path = cache.folder / name
        path.write_bytes(path.read_bytes()[:-20])
    assert cache.load(key) is None
    assert cache.load_cells(key) is None


def test_an_ungradable_notebook_is_tried_again(cache):
    """The cache never keeps a verdict on an ungradable notebook."""
    cache.save("key", Verdict("a", "ada", CHAPTER, "ungradable", "why", 0.0, 6.0, None), ())
    assert cache.load("key") is None


@pytest.mark.parametrize(
    "name",
    [
        f"tests/chapters/test_{CHAPTER}.py", f"solutions/{CHAPTER}.py", f"solutions/misconceptions/{CHAPTER}.py",
        f"source/{CHAPTER}/{CHAPTER}.ipynb",
    ],
)  # fmt: skip
def test_a_change_to_the_course_changes_every_key(course, name):
    """A verdict depends on checks, references, misconceptions and the chapter's notebook, so they are part of its key."""
    before = key_of(course)
    assert key_of(load_course(course.root)) == before, "a fresh process finds what the last one kept"
    with (course.root / name).open("a") as file:
        file.write("\n" if name.endswith(".ipynb") else "\nprint()\n")
    assert key_of(course) != before


@pytest.mark.parametrize("name", [f"tests/chapters/test_{CHAPTER}.py", f"solutions/{CHAPTER}.py"])
def test_a_comment_changes_no_key_and_no_part(course, name):
    """A comment, a blank line and the docstring of the file change no verdict, so stored verdicts stay valid."""
    before = VerdictCache.of(course, CHAPTER)
    path = course.root / name
    text = path.read_text().replace('"""', '"""Rewritten. ', 1).replace("\n\n\n", "\n\n\n# A comment.\n", 1)
    path.write_text(f"{text}\n# The end.\n")
    assert VerdictCache.of(course, CHAPTER) == before


def parts_that_differ(course, path, old, new):
    """Edit a file of the course, and return the exercises whose part changed.

    The cache's ``base`` hash, which all exercises share, must not change.
    """
    before = VerdictCache.of(course, CHAPTER)
    change(course.root / path, old, new)
    after = VerdictCache.of(course, CHAPTER)
    assert after.base == before.base
    return {name for name, part in after.parts.items() if part != before.parts[name]}


@pytest.mark.parametrize(
    ("path", "old", "new", "exercises"),
    [
        ("tests/chapters/test_{}.py", "[-5.0, 0.0, 5.0]", "[-6.0, 0.0, 5.0]", {"mean_kelvin"}),
        ("tests/chapters/test_{}.py", 'one station"', 'a station"', {"mean_kelvin"}),
        ("tests/chapters/test_{}.py", "water freezes", "Water freezes", {"to_kelvin", "mean_kelvin"}),
        ("tests/chapters/test_{}.py", '("a", "b", "c")', '("a", "b")', {"quiz_ch1_units"}),
        ("solutions/{}.py", "+ 273.15", "+ 273.16", {"to_kelvin", "mean_kelvin"}),
        ("solutions/{}.py", '"b"', '"c"', {"quiz_ch1_units"}),
        ("solutions/misconceptions/{}.py", "Your mean is right", "The mean is right", {"mean_kelvin"}),
        ("solutions/misconceptions/{}.py", "Nothing boils", "No water boils", {"quiz_ch1_units"}),
    ],
)
def test_a_change_concerns_the_exercises_that_depend_on_it(course, path, old, new, exercises):
    """A change to a check, a solution or a misconception affects its exercise and the exercises that depend on it."""
    assert parts_that_differ(course, path.format(CHAPTER), old, new) == exercises


def test_limits_secret_options_and_bytes_change_the_key(course, monkeypatch):
    """The key also depends on the submission, the limits, the secret and the options."""
    keys = {key_of(course), key_of(course, b"other"), key_of(course, asked=("visible",))}
    monkeypatch.setenv("AUTOGRADER_COURSE_SECRET", "another")
    keys.add(key_of(course))
    monkeypatch.delenv("AUTOGRADER_COURSE_SECRET")
    course.call_seconds = 1.0
    keys.add(key_of(course))
    assert len(keys) == 5


def test_an_atomic_write_leaves_no_litter(tmp_path):
    """If writing fails, the old file stays complete, and no temporary file remains."""
    path = tmp_path / "a.json"
    write_atomically(path, b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
    assert path.read_bytes() == b"old"


def test_another_chapters_solutions_count_where_they_are_mentioned(course):
    """A change to another module changes the key only if the chapter's solutions use the module, however they import or read it."""
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + '\nc.Course.chapters = ["ch0_more", "ch1_units"]\n')
    course = load_course(course.root)
    other = course.root / "solutions" / "misconceptions" / "ch0_more.py"
    before = key_of(course)
    other.write_text("x = 1\n")
    assert key_of(course) == before
    helper = course.root / "solutions" / "hélper.py"
    helper.write_text("from solutions.ch0_more import x\n")
    assert key_of(course) == before
    own = course.root / "solutions" / "ch1_units.py"
    text = own.read_text()
    for line in (
        "from solutions.hélper import x",
        "from solutions import (\n    hélper,\n)",
        "from solutions import \\\n    hélper",
        "if True: import solutions.hélper",
        "from pathlib import Path\nx = Path(__file__).with_name('hélper.py').read_text()",
        "import importlib\nx = importlib.import_module('solutions.' + 'hélper')",
    ):
        own.write_text(f"{text}\n\n{line}\n")
        with_helper = key_of(course)
        other.write_text(f"x = {line!r}\n")
        assert key_of(course) != with_helper != before, line
