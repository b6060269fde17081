"""Test visible checks of strings, dictionaries, errors and prints: replaying the recorded checks gives the grader's messages."""

import json

import pytest

from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from autograder.student.examples import parse_examples, replay
from autograder.student.examples.record import recorded
from tests.support.mini import copy_course

RIGHT = """
import datetime as dt

def word_counts(text):
    return {word: text.split().count(word) for word in text.split()}

def greet(name):
    if not name:
        raise ValueError("nobody")
    print(f"Hello, {name}!")

def seats(rows):
    return {(row, n): dt.date(2024, 2, n) for row in rows for n in (1, 2)}

def evens():
    n = 0
    while True:
        yield n
        n += 2

def countdown(n):
    while n:
        n -= 1
        yield n

def first_again(words):
    met = set()
    return next((word for word in words if word in met or met.add(word)), None)
"""
CHECKS = '''
from autograder.checking import assert_matches, check, exercise

@exercise("word_counts", points=1)
class TestWordCounts:
    @check(points=1, visible=True)
    def test_line(self, agrees):
        """a line"""
        agrees.word_counts("to be or not to be")

@exercise("greet", points=2)
class TestGreet:
    @check(points=1, visible=True)
    def test_ann(self, agrees):
        """a greeting"""
        agrees.printed().greet("Ann")

    @check(points=1, visible=True)
    def test_nobody(self, agrees):
        """nobody"""
        agrees.raises(ValueError, says="nobody").greet("")

@exercise("seats", points=1)
class TestSeats:
    @check(points=1, visible=True)
    def test_rows(self, agrees):
        """two rows"""
        agrees.seats({"a", "b"})

@exercise("evens", points=1)
class TestEvens:
    @check(points=1, visible=True)
    def test_first(self, student, agrees):
        """the first"""
        agrees.take(3).evens()
        assert_matches(student.take(2).evens(), [0, 2])

@exercise("countdown", points=1)
class TestCountdown:
    @check(points=1, visible=True)
    def test_long(self, agrees):
        """three thousand steps"""
        agrees.countdown(3000)

@exercise("first_again", points=1)
class TestFirstAgain:
    @check(points=1, visible=True)
    def test_many(self, agrees):
        """many words"""
        agrees.within(larger=[[f"w{n}" for n in range(2000)]]).first_again([f"w{n}" for n in range(500)])
'''
WRONG = '''
@misconceptions_of("word_counts")
def each_once(text):
    """You counted each word once."""
    return dict.fromkeys(text.split(), 1)

@misconceptions_of("greet")
def returned(name):
    """You hand the greeting back."""
    if not name:
        raise ValueError("nobody")
    return f"Hello, {name}!"
'''
CASES = {
    "word_counts": "def word_counts(text): return dict.fromkeys(text.split(), 1)",
    "greet": "def greet(name):\n    if not name: raise ValueError('nobody')\n    return f'Hello, {name}!'",
    "seats": "def seats(rows): return {row: 1 for row in rows}",
    "evens": "def evens(): return iter([0, 2, 5])",
    "countdown": "def countdown(n): return (0 if i > 2000 else n - 1 - i for i in range(n))",
    "first_again": "def first_again(words):\n    for i in range(len(words)):\n        if words[i] in words[:i]:\n            return words[i]",
}


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    """Return a chapter's checks, and the exercises that a release records for them, after storing and loading as strict JSON."""
    files = {
        "solutions/ch1_units.py": RIGHT,
        "tests/chapters/test_ch1_units.py": CHECKS,
        "solutions/alternatives/ch1_units.py": "",
    }
    files["solutions/misconceptions/ch1_units.py"] = "from autograder.misconception import misconceptions_of\n" + WRONG
    checks = load_checks(copy_course(tmp_path_factory.mktemp("plain"), files=files), "ch1_units")
    return checks, parse_examples(json.loads(json.dumps(recorded(checks), allow_nan=False))).exercises


def test_right_functions_pass_by_the_record(chapter):
    """Dates, tuples as keys, sets as arguments, generators and errors survive the file unchanged."""
    names = {}
    exec(RIGHT, names)  # noqa: S102 - our own text
    assert {v.name: v.status for v in replay(chapter[1], FunctionSubject("notebook", names))} == dict.fromkeys(
        CASES, "passed"
    )


@pytest.mark.parametrize("name", CASES)
def test_a_notebook_says_what_the_grader_says(chapter, name):
    """A check in a notebook gives the same messages as the grader and names the same mistake."""
    names = {}
    exec(RIGHT + CASES[name], names)  # noqa: S102 - our own text
    subject = FunctionSubject("notebook", names)
    [there] = Judge(chapter[0]).judge(subject, only=frozenset({name}), visible_only=True)
    [here] = replay(chapter[1], subject, only=frozenset({name}))
    assert [c.message for c in here.checks] == [c.message for c in there.checks]
    assert here.status == there.status != "passed"
    assert here.misconception == there.misconception == {"word_counts": "each_once", "greet": "returned"}.get(name)
