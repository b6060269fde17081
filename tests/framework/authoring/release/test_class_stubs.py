"""Tests of class stubs: their methods are compared with the reference's, and a stub is blank until a student changes a method."""

import copy
import json

import pytest

from autograder.authoring.audit.mutants import mutants_of
from autograder.authoring.release.problems import SourceNotebook
from autograder.authoring.release.stubs import stub_mistakes
from autograder.base import attempt
from autograder.course.course import load_course
from autograder.course.notebook import parse_notebook
from autograder.judging.loader import known_alternatives, load_checks
from autograder.student.examples.record import solution_source
from tests.support import ROOT

CHAPTER = "ch2_index"


@pytest.fixture(scope="module")
def checks():
    """Return the checks of a chapter whose exercise is a class."""
    return load_checks(load_course(ROOT / "examples" / "plain_python"), CHAPTER)


@pytest.fixture(scope="module")
def document(checks):
    """Return the chapter's source notebook."""
    return json.loads(checks.course.source(CHAPTER).read_text())


def stub_in(document):
    """Return the cell with the stub of the class."""
    return next(c for c in document["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "Index")


MISTAKES = {
    "as it is": ("", "", ""),
    "another parameter": ("def find(self, word):", "def find(self, words):", "the stub is Index.find(self, words), but the reference in solutions/ch2_index.py, line 4 is Index.find(self, word)."),
    "another docstring": ("number of different words", "number of words", "the docstring of Index.__len__ and the docstring of the reference in solutions/ch2_index.py, line 4 differ in line 1"),
    "a method that is gone": ("def find(", "def finds(", "the stub has no method find, but the reference in solutions/ch2_index.py, line 4 has it. Write def find(self, word) with its docstring"),
    "a method too many": ("def find(", "def found(", "the stub has a method found, but the reference in solutions/ch2_index.py, line 4 has none."),
    "a mark": ("    def find(", "    @staticmethod\n    def find(", "the reference of Index.find in solutions/ch2_index.py, line 4 has no decorator above its def, but the stub has @staticmethod."),
    "another base": ("class Index:", "class Index(dict):", "the stub begins with `class Index(dict):`, but the reference in solutions/ch2_index.py, line 4 begins with `class Index:`. Make them equal: `autograder stubs`"),
    "another class": ("class Index:", "class Indices:", "it defines Indices, but its checks use the class Index, as in solutions/ch2_index.py, line 4. Write class Index."),
    "about the class": ("remembers in which", "knows in which", "the stub's docstring and the docstring of the reference in solutions/ch2_index.py, line 4 differ in line 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_what_an_author_hears_of_a_class(checks, document, name):
    """Each difference from the reference is reported with its line, and nothing else is reported."""
    old, new, words = MISTAKES[name]
    changed = copy.deepcopy(document)
    cell = stub_in(changed)
    cell["source"] = "".join(cell["source"]).replace(old, new) if old else cell["source"]
    notebook = parse_notebook(json.dumps(changed).encode())
    told = [mistake.what for mistake in stub_mistakes(SourceNotebook("notebook", changed, notebook), checks)]
    assert any(words in what for what in told) if words else told == []


STUB = 'class A:\n    """What it is."""\n\n    size = 3\n\n    def given(self):\n        return 1\n\n    def own(self):\n        """To do."""\n        raise NotImplementedError'


@pytest.mark.parametrize(
    ("source", "begun"),
    [
        (STUB, False),
        (STUB.replace("To do.", "Mine."), False),
        (STUB.replace("raise NotImplementedError", "pass"), True),
        (STUB.replace("raise NotImplementedError", "return 2"), True),
        (STUB.replace("return 1", "return 2"), True),
        ("class A:\n    def own(self): ...", False),
        ("class A(list):\n    pass", True),
        ("from b import A", True),
        ("class A:", True),
    ],
)
def test_when_a_class_is_begun(source, begun):
    """A class stub with a finished method is blank as long as its code is unchanged."""
    assert attempt.is_attempted("A", STUB, [source], []) == begun


def test_mutants_and_solutions_of_a_class(checks):
    """Each mutant changes one method. A solution is shown to students under the exercise's name."""
    reference = checks.references["Index"]
    mutants = mutants_of(reference, "Index")
    assert {mutant.label.split(": ")[1] for mutant in mutants} >= {"add", "find", "__contains__"}
    assert all(mutant.function.__name__ == "Index" and mutant.function is not reference for mutant in mutants)
    shown = solution_source(reference, "Index")
    assert shown.startswith("class Index:\n    def __init__(self):")
    assert "raise" not in shown
    [inherits] = [a for a in known_alternatives(checks.course, CHAPTER) if a.name == "IsADictionary"]
    assert solution_source(inherits.function, "Index").startswith("class Index(dict):\n    def add(")
    changed = checks.misconceptions["Index"][0].function  # written as a subclass of the reference
    assert solution_source(changed, "Index") == ""
