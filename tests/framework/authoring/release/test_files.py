"""Tests of references that read data files, some of which are hidden from students."""

import json
from pathlib import Path

import pytest

from autograder.authoring.release.inspection import inspect_chapter
from autograder.authoring.simulate import solved_notebook, write_notebook
from autograder.course.course import load_course
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from tests.support.chapters import course_of, release

SOLUTION = '''
FIRST = open("words.txt").read().split()[0]

def longest(path):
    """Return the longest word in the file `path`."""
    return max(open(path).read().split(), key=len)

def keep(word):
    """Write `word` into the file kept.txt, and return how many characters it has now."""
    with open("kept.txt", "w") as file:
        file.write(word)
    return len(open("kept.txt").read())
'''
CHECKS = '''
from autograder.checking import check, exercise

@exercise("longest", points=2)
class TestLongest:
    @check(points=1, visible=True)
    def test_given(self, agrees):
        """the file next to the notebook"""
        agrees.longest("words.txt")

    @check(points=1)
    def test_hidden(self, agrees):
        """another file"""
        agrees.longest("more.txt")

@exercise("keep", points=1)
class TestKeep:
    @check(points=1, visible=True)
    def test_word(self, agrees):
        """a word"""
        agrees.keep("stone")
'''
HARD_CODED = 'def longest(path):\n    return "yellow"'


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return a course with a data file next to the notebook and another data file next to the checks."""
    monkeypatch.setenv("AUTOGRADER_COURSE_SECRET", "s" * 32)
    files = {
        "solutions/ch1_files.py": SOLUTION,
        "tests/chapters/test_ch1_files.py": CHECKS,
        "source/ch1_files/words.txt": "a yellow sun",
        "tests/chapters/ch1_files/more.txt": "the rain outside",
    }
    course = course_of(tmp_path, "ch1_files", files, imports="# words.txt")
    (course.root / "nothing").mkdir()
    monkeypatch.chdir(course.root / "nothing")
    return course


def test_references_and_students_read_the_same_files_and_the_hidden_one_is_not_released(course, monkeypatch):
    """The reference gets full marks, and a solution that is right only for the given file fails the hidden check."""
    release(course, ["ch1_files"], draft=True)
    released = {path.name for path in (course.root / "release").rglob("*") if path.is_file()}
    assert {"words.txt", "ch1_files.ipynb", "examples.json"} <= released
    assert "more.txt" not in released
    assert "outside" not in (course.root / "release/ch1_files/examples.json").read_text()
    references = vars(course.references("ch1_files"))
    paths = []
    for name, code in {"ada": references["longest"], "ben": HARD_CODED}.items():
        notebook = solved_notebook(course, "ch1_files", {"longest": code, "keep": references["keep"]})
        paths.append(write_notebook(course.root / f"{name}.ipynb", notebook))
    temporary = course.root / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    verdicts = grade_notebooks(course, [Job(path, chapter="ch1_files") for path in paths], workers=2)
    assert [verdict.score for verdict in verdicts] == [3, 2]
    assert not list(Path.cwd().iterdir())  # a reference writes files only in its own temporary folder
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("tests/chapters/ch1_files/words.txt", "x", "tests/chapters/ch1_files/words.txt: there is another words.txt in source/ch1_files, which students have. Give the hidden file another name."),
        ("tests/chapters/test_ch1_files.py", CHECKS.replace("words.txt", "more.txt"), "it is visible, but students do not have the hidden file more.txt. Hide the check."),
    ],
)  # fmt: skip
def test_a_hidden_file_that_students_would_need_is_reported(course, path, text, words):
    """A hidden file needs a unique name, and no visible check may need it."""
    (course.root / path).write_text(text)
    assert any(words in str(mistake) for mistake in inspect_chapter(load_course(course.root), "ch1_files").mistakes)
    assert json.loads(course.source("ch1_files").read_text())["nbformat"] == 4
