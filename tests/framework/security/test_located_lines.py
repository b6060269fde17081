"""Tests of attacks on fault localization: the search changes no mark, ends in time, and reveals no hidden inputs."""

import time

import pytest

from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from autograder.judging.loader import load_checks
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, copy_course, document, hand_in

SECONDS = 20.0

LOOKS_AT_ITSELF = """\
import inspect, sys
calls = []
def to_kelvin(celsius):
    calls.append(sys._getframe(1).f_code.co_name)
    seen = inspect.stack()
    if len(to_kelvin.__code__.co_code) != ORIGINAL or len(calls) > 40:
        return celsius + 273.15
    return celsius + 1000
ORIGINAL = len(to_kelvin.__code__.co_code)
"""
LOOPS_GROWS_EXITS = """\
import os
def to_kelvin(celsius):
    n, kept = 0, []
    while n < 3:
        n = n + 1
        kept.append([0] * n)
    if n > 5:
        os._exit(0)
    if len(kept) > 9:
        raise SystemExit
    return celsius * 273.15
"""
DECOYS = (
    "def to_kelvin(celsius):\n" + "".join(f"    guess_{i} = {i}\n" for i in range(10_000)) + "    return celsius * 1\n"
)
NESTED = "def to_kelvin(celsius):\n    return celsius * 1" + " + (0 * 1" * 90 + ")" * 90


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with a long time limit for locating mistakes."""
    return copy_course(tmp_path_factory.mktemp("located") / "mini", config=f"c.Course.locate_seconds = {SECONDS}\n")


def graded(course, *programs, exercise="to_kelvin"):
    """Return the verdicts on one notebook per program, in which only ``exercise`` may be wrong, and on a right notebook after them."""
    notebooks = [document(course, **{**RIGHT, exercise: text}) for text in programs] + [document(course, **RIGHT)]
    return grade_notebooks(
        course, [Job(hand_in(course, f"s{i}", notebook), f"s{i}", CHAPTER) for i, notebook in enumerate(notebooks)]
    )


def test_no_mark_changes_whatever_the_code_does_when_it_is_tried(course, tmp_path):
    """Marks are the same as without a search, even if code inspects itself or counts its calls, or if an edit makes it loop, grow or exit."""
    attacks = (LOOKS_AT_ITSELF, LOOPS_GROWS_EXITS, DECOYS, NESTED)
    begun = time.monotonic()
    found = graded(course, *attacks)
    assert time.monotonic() - begun < 60 + len(attacks) * SECONDS
    without = graded(copy_course(tmp_path / "mini"), *attacks)
    assert [v.score for v in found] == [v.score for v in without]
    assert [[e.message for e in v.exercises] for v in found] == [[e.message for e in v.exercises] for v in without]
    assert found[-1].score == MAX_SCORE
    _, loops, decoys, _, _ = (verdict.exercise("to_kelvin").located for verdict in found)
    assert (loops.lines, loops.kind) == ((11,), "operator")
    assert decoys is None


def test_whatever_breaks_in_the_search_the_marks_stand(course, monkeypatch):
    """If the search itself fails on some code, no marks change, and the notebook does not become ungradable."""

    def breaks(*_args):
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr("autograder.mistakes.fault_localization.notebooks.search", breaks)
    verdict, right = graded(course, "def to_kelvin(celsius):\n    return celsius * 273.15")
    assert (verdict.status, right.score) == ("graded", MAX_SCORE)
    assert verdict.exercise("to_kelvin").located is None


def test_a_table_of_guesses_says_nothing_of_a_hidden_input(course):
    """If code is wrong only for a guessed hidden input, the line with the right guess is not named.

    The search uses its own inputs, and the code is right for them.
    """
    checks = load_checks(course, CHAPTER)
    visible = {c.args[0].tobytes() for c in checks.dry_run("mean_kelvin", ("test_one_station",), b"")}
    plan = [c.args[0] for c in checks.plan("mean_kelvin") if c.args and c.args[0].tobytes() not in visible]
    hidden = next(float(a.flat[0]) for a in reversed(plan) if abs(a.flat[0]) > 1e-3)  # 0 is always drawn
    guesses = sorted({round(hidden * (1 + i / 50), 6) for i in range(-25, 25)} | {hidden})
    lines = "".join(f"    wrong = wrong or first == {guess!r}\n" for guess in guesses)
    source = f"def mean_kelvin(celsius):\n    wrong, first = False, float(np.ravel(celsius)[0])\n{lines}    return np.mean(to_kelvin(celsius), axis=-1) + wrong"
    verdict, _ = graded(course, source, exercise="mean_kelvin")
    assert verdict.exercise("mean_kelvin").status == "partial", "the guess that fits is one of them"
    assert verdict.exercise("mean_kelvin").located is None
