"""Tests of the misconceptions that an audit suggests: once the author adds a message, each is accepted without other changes."""

import json
import re
import sys

import pytest
from click.testing import CliRunner

from autograder.authoring.audit import audit
from autograder.authoring.release.inspection import inspect_chapter
from autograder.authoring.release.validation import validate
from autograder.authoring.scaffold.course import new_course
from autograder.authoring.scaffold.writing import check_cell, stub_cell
from autograder.cli.app import app
from autograder.course.course import load_course
from autograder.misconception import misconceptions_of
from tests.support.mini import change

CHAPTER = "ch1_shares"
CHECKS = f"tests/chapters/test_{CHAPTER}.py"
WRONG = f"solutions/misconceptions/{CHAPTER}.py"

# The reference of this exercise uses a helper, a constant and an import. The exercise's hidden check compares only the shape.
REFERENCE = '''

import numpy as np
from math import factorial as permutations

LOWEST = 0.0


def _at_least(x, low):
    return np.maximum(x, low) + LOWEST


def raised(x, low=0.0, kind='plain'):
    """No entry of `x` is below `low`, and each is shifted by 2."""
    if kind == 'plain':
        return _at_least(x, low) + permutations(2) + LOWEST
    return x
'''
CLASS = '''

@exercise("raised", points=2)
class TestRaised:
    @check(points=1, visible=True)
    def test_example(self, agrees):
        """an example"""
        agrees.raised(np.array([1.0, 2.0, 5.0]))

    @check(points=1, after="test_example")
    @given(x=arrays_nd(max_dims=1))
    def test_shape(self, student, reference, x):
        """the shape"""
        assert student.raised(x).shape == reference.raised(x).shape
'''


def fresh(course):
    """Reload the course without its cached solutions, as a new process would."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "solutions"]:
        del sys.modules[name]
    return load_course(course.root)


@pytest.fixture
def course(tmp_path):
    """Return a new course, whose only exercise is quick to audit."""
    return new_course(tmp_path / "course")


def with_raised(course):
    """Return the course with the exercise ``raised`` added."""
    for path, more in ((f"solutions/{CHAPTER}.py", REFERENCE), (CHECKS, CLASS)):
        with (course.root / path).open("a") as file:
            file.write(more)
    change(course.root / CHECKS, "import Contract,", "import given, arrays_nd, Contract,")
    path = course.source(CHAPTER)
    document = json.loads(path.read_text())
    docstring = '    """No entry of `x` is below `low`, and each is shifted by 2."""\n    raise NotImplementedError'
    imports = next(cell for cell in document["cells"] if cell["cell_type"] == "code")
    imports["source"] = f"from math import factorial as permutations\n{''.join(imports['source'])}"
    document["cells"] += [
        stub_cell("raised", f"def raised(x, low=0.0, kind='plain'):\n{docstring}"),
        check_cell("raised", 2),
    ]
    path.write_text(json.dumps(document))
    return fresh(course)


def test_what_is_offered_is_accepted_once_it_has_a_sentence(course):
    """Mutations and survivors without a name are suggested, with a call that reveals them. The release lists suggestions without a message."""
    course = with_raised(course)
    done = CliRunner().invoke(app, ["audit", "--suggest", "--course", str(course.root)])
    assert done.exit_code == 1
    report, _, text = done.stdout.partition("# To paste into ")
    assert text.startswith(f"{WRONG}. Write each message first")
    [alive] = re.findall(r"^  alive: raised: (.*)", report, re.MULTILINE)
    text = f"# To paste into {text}"
    with (course.root / WRONG).open("a") as file:
        file.write(f"\n\n{text}")
    course = fresh(course)
    places = [str(m) for m in inspect_chapter(course, CHAPTER).mistakes]
    assert len(places) == text.count("@wrong") > 5
    assert all(re.match(rf"{WRONG}, line \d+: still to be written: say what the student did", p) for p in places)
    # Each message is different, so that the test can tell which mistake is reported.
    path = course.root / WRONG
    count = iter("abcdefghijklmnopqrstuvwxyz")
    path.write_text(
        re.sub(
            r"TODO\(author\): say.*code\.", lambda _: f"A sentence of its own, called {next(count)}.", path.read_text()
        )
    )
    # The survivor keeps its marks until a check makes the call shown above it.
    [survivor] = re.findall(r"@wrong\ndef (\w+)", text.partition("No check detects it yet")[2])[:1]
    [ask] = re.findall(r"Add (agrees\.raised\(np\.array\(.*\)\)) to a visible check\.$", text, re.MULTILINE)
    course = fresh(course)
    [found] = audit(course, [CHAPTER], mutants=False)
    assert [e.uncaught for e in found.exercises if e.name == "raised"] == [(survivor,)]
    assert alive in text
    change(
        course.root / CHECKS,
        "agrees.raised(np.array([1.0, 2.0, 5.0]))",
        f"agrees.raised(np.array([1.0, 2.0, 5.0]))\n        {ask}",
    )
    course = fresh(course)
    assert validate(course, CHAPTER, mutants=False).refused == ""
    # A named mutation is not suggested again.
    [found] = audit(course, [CHAPTER], suggest=True)
    again = {one.change for e in found.exercises for one in e.suggestions if not one.survives}
    assert not again & set(re.findall(r"^# (`.*)", text, re.MULTILINE))


def test_suggestions_are_data_too_and_only_where_they_are_asked_for(course):
    """With ``--suggest``, the JSON has each suggestion's exercise, name, change, code and imports. Without it, the JSON has no suggestions."""
    command = ["audit", CHAPTER, "--suggest", "--json", "--course", str(fresh(course).root)]
    done = CliRunner().invoke(app, command)
    exercises = {e["name"]: e for e in json.loads(done.stdout)[0]["exercises"]}
    first = exercises["shares"]["suggestions"][0]
    assert list(first) == ["exercise", "name", "change", "code", "imports", "survives", "ask"]
    assert first["change"].startswith("`amounts / amounts.sum()` → ")
    assert (
        re.fullmatch(r'@wrong\ndef (\w+)\(amounts\):\n    """TODO\(author\): .*"""\n    return .*', first["code"])[1]
        == first["name"]
    )
    assert (
        "suggestions" not in json.loads(CliRunner().invoke(app, [*command[:2], *command[3:]]).stdout)[0]["exercises"][0]
    )


STACK = '''

class Stack:
    """What was put on it last comes off first."""

    def __init__(self, items=()):
        self._items = list(items)

    def push(self, item):
        """Put `item` on top."""
        self._items.append(item)

    def top(self):
        """The item that lies on top."""
        return self._items[-1]
'''
STACK_CHECKS = '''

@exercise("Stack", points=1)
class TestStack:
    @check(points=1, visible=True)
    def test_example(self, agrees):
        """an example"""
        made = agrees.Stack((1, 2, 5))
        made.push(3)
        made.top()
'''


def test_slips_in_a_class_are_offered_as_classes(course):
    """Each suggested class changes one method, contains only the docstring that the author must write, and keeps the name `self`."""
    for path, more in ((f"solutions/{CHAPTER}.py", STACK), (CHECKS, STACK_CHECKS)):
        with (course.root / path).open("a") as file:
            file.write(more)
    [found] = audit(fresh(course), [CHAPTER], suggest=True)
    offered = {one.name: one for one in found.exercises[-1].suggestions}
    assert offered["WithoutMinus"].change == "top: `-1` → `1`"
    for name, one in offered.items():
        assert one.code.startswith(f'@wrong\nclass {name}:\n    """TODO(author): ')
        assert one.code.count('"""') == 2
        assert "`self`" not in one.change
        namespace = {"wrong": misconceptions_of("Stack")}
        exec(one.code, namespace)  # noqa: S102 - the course's own code, changed by the test
        assert namespace[name]((1, 2, 5))
