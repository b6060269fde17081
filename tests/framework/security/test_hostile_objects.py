"""Tests that hostile classes, tests and functions gain no marks, and that the next submission is judged as usual."""

import pytest

from autograder.authoring.simulate import cell_source
from autograder.course.course import load_course
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import Limits
from tests.framework.security.hostile_objects import INDEXES, SLOW, TESTS, Handed
from tests.support import ROOT

LIMITS = Limits(call_seconds=0.7, cell_seconds=1.0, submission_seconds=6.0, memory_mb=256, result_mb=4)
COURSE = ROOT / "examples" / "plain_python"


@pytest.fixture(scope="module")
def worker():
    """A worker that runs all submissions one after another, as in a class."""
    with open_worker(LIMITS, ["numpy"], confinement="bubblewrap") as made:
        yield made


@pytest.fixture(scope="module")
def judges():
    """The judge and the source of the right solution for each exercise of the two chapters."""
    course = load_course(COURSE)
    found = {}
    for chapter in course.chapters:
        checks = load_checks(course, chapter)
        for name in checks.specs:
            found[name] = Judge(checks), cell_source(course, chapter, name, checks.references[name])
    return found


@pytest.fixture
def mark(worker, judges):
    """A function that returns the verdict on an exercise's source, and judges a right solution after it."""

    def run(name, source):
        judge, right = judges[name]
        [verdict] = judge.judge(Handed(worker, name, source), only=frozenset({name}))
        [honest] = judge.judge(Handed(worker, name, f'SIGNS = ""\n{right}'), only=frozenset({name}))
        assert honest.status == "passed"
        return verdict

    return run


@pytest.mark.parametrize("name", INDEXES)
def test_a_class_that_lies_earns_nothing(mark, name):
    """A class's claims about itself are not trusted, and the next student's class is judged as usual."""
    verdict = mark("Index", INDEXES[name])
    # A class may remember the results of earlier steps, but it cannot find those of later ones.
    assert verdict.score <= 1.5
    assert "Traceback" not in verdict.message


@pytest.mark.parametrize("name", TESTS)
def test_tests_that_guess_earn_nothing(mark, name):
    """A student's tests can find out whether a function has a bug only by calling it."""
    assert mark("test_is_anagram", TESTS[name]).score <= 2
    assert any(check.status != "passed" for check in mark("test_is_anagram", TESTS[name]).checks)


@pytest.mark.parametrize("name", SLOW)
def test_a_counter_that_is_tampered_with_says_so(mark, name):
    """Slow code fails the check of its steps even if it tampers with the counter."""
    verdict = mark("first_again", SLOW[name])
    [steps] = [check for check in verdict.checks if check.name == "test_steps"]
    assert steps.status == "failed"
    assert "steps. The limit is 30,000" in steps.reason or "could not be counted" in steps.reason
