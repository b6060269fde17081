"""Tests of comparing code by its meaning: which exercises a change concerns, and which notebooks keep state between exercises."""

import pytest

from autograder.grading.meaning import Meanings, may_keep_state, meaning_of

CHECKS = """
from autograder.checking import check, exercise

SIZE = 3

def numbers():
    return [1] * SIZE

@exercise("double", points=1)
class TestDouble:
    def test_some(self, agrees):
        'some numbers'
        agrees.double(numbers())

@exercise("half", points=1)
class TestHalf:
    def test_one(self, agrees):
        'one number'
        agrees.half(1)
"""
WRONG = """
from autograder.misconception import misconceptions_of

wrong = misconceptions_of("double")

@wrong
def adds_one(x):
    'You add one.'
    return x + 1

wrong = misconceptions_of("half")

@wrong
def subtracts(x):
    'You subtract one.'
    return x - 1
"""
EXERCISES = ("double", "half")


def changed(old, new):
    """Return the exercises that a change in the checks or misconceptions affects, and whether anything else changed."""
    assert (CHECKS + WRONG).count(old) == 1
    before = Meanings(CHECKS.encode(), [WRONG.encode()], EXERCISES)
    after = Meanings(CHECKS.replace(old, new).encode(), [WRONG.replace(old, new).encode()], EXERCISES)
    return {name for name in EXERCISES if before.parts[name] != after.parts[name]}, before.rest != after.rest


@pytest.mark.parametrize(
    ("old", "new", "exercises"),
    [
        ("SIZE = 3", "SIZE = 4", {"double"}),
        ("return [1] *", "return [2] *", {"double"}),
        ("'some numbers'", "'three numbers'", {"double"}),
        ("agrees.half(1)", "agrees.half(2)", {"half"}),
        ("You add one.", "You added one.", {"double"}),
        ("return x - 1", "return x - 2", {"half"}),
        ("SIZE = 3", "SIZE = 3  # of a list", set()),
        ("agrees.half(1)", "agrees.half(\n            1,\n        )", set()),
        ("import check, exercise", "import check, exercise, pure", set()),
        ("SIZE = 3", "SIZE = 3\nprint(SIZE)", None),
        ("SIZE = 3", "SIZE = 3\nimport plots", None),
    ],
)
def test_a_change_concerns_the_exercises_that_use_it(old, new, exercises):
    """A changed helper affects the exercises that use it, a comment affects none, and code that no exercise uses affects all exercises."""
    assert changed(old, new) == ((set(), True) if exercises is None else (exercises, False))


def test_a_setting_that_no_mark_depends_on_is_left_out():
    """The folder of nbgrader's exchange is not part of a configuration's meaning. Every other setting is."""
    config = b"c = get_config()\nc.Exchange.root = '/tmp/a'\nc.Course.title = 'A'\n"
    moved, renamed = config.replace(b"/tmp/a", b"/srv/b"), config.replace(b"'A'", b"'B'")
    assert meaning_of(moved, without="Exchange") == meaning_of(config, without="Exchange")
    assert meaning_of(renamed, without="Exchange") != meaning_of(config, without="Exchange")


def test_a_file_with_a_syntax_error_means_its_text():
    """A file that cannot be parsed is compared byte by byte."""
    assert meaning_of(b"def f(:\n") != meaning_of(b"def f(:\n\n")


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return np.mean(x) * SCALE\nSCALE = 2.5\ntable = [1]",
        "def helper(x):\n    total = [x]\n    total.append(1)\n    return total\ndef f(x: Axes):\n    return helper(x)",
        "def f(x):\n    return sorted(x, key=lambda one: -one)\ndef other():\n    return seen",
    ],
)
def test_plain_functions_keep_no_state(code):
    """Functions that use only their arguments, constants, NumPy and each other can be judged separately from other exercises."""
    assert not may_keep_state(["import numpy as np\nfrom drawing import Axes", code], ["f"])


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    global calls\n    calls = 1",
        "seen = []\ndef f(x):\n    seen.append(x)",
        "seen = {}\ndef helper(x):\n    seen[x] = 1\ndef f(x):\n    return helper(x)",
        "def f(x, memo={}):\n    memo[x] = 1",
        "def f(x):\n    f.calls = 1",
        "def f(x):\n    return np.random.rand()",
        "from functools import lru_cache\n@lru_cache\ndef f(x):\n    return x",
        "def make():\n    return 1\nf = make()",
        "f = lambda x: x",
        "import os\ndef f(x):\n    return os.environ",
        "class Box:\n    items = []\ndef f(x):\n    Box.items.append(x)",
        "if True:\n    def f(x):\n        return x",
        "def f(x):\n    def inner():\n        return x\n    return inner()",
        "def f(x):\n    return globals()",
        "def f(x):\n    np.savetxt('a.txt', x)",
        "def f(x:",
        "X = np.ones(3)\ndef f(x):\n    X[0] = 1",
    ],
)
def test_anything_else_may_keep_state(code):
    """A variable, a cache, a random generator, a class, a file or unreadable code may affect the next exercise."""
    assert may_keep_state(["import numpy as np", code], ["f"])
