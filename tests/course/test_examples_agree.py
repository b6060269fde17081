"""What a student sees before grading agrees with what the grader finds: recorded examples judge as the live checks do."""

import pytest

from autograder.course import load_course
from autograder.examples import parse_examples, replay
from autograder.examples.record import recorded
from autograder.judging.functions import InProcessSession
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from autograder.judging.solutions import known_alternatives, known_misconceptions
from tests.support import ROOT

COURSE = load_course(ROOT)


class StandIn:
    """A subject made of functions and values."""

    label = "stand-in"
    blank = frozenset()

    def __init__(self, namespace):
        self.notes = {}
        self.namespace = namespace

    def open(self, *, memory_mb=None):  # noqa: ARG002 - a call carries its own limit
        """A session over the namespace."""
        return InProcessSession(self.namespace, call_seconds=2.0)

    def before_redefined(self, exercise):
        """Nothing is defined twice in a dictionary."""


@pytest.mark.slow
@pytest.mark.parametrize("chapter", COURSE.finished_chapters())
def test_replayed_examples_judge_and_name_as_the_grader_does(chapter):
    """Every wrong and every right solution: the same visible checks pass, and no mistake is told as another."""
    differ, renamed, refused = [], [], []

    def compare(judge):
        judge.shrinks = False
        examples = parse_examples(recorded(judge.checks)).exercises
        right = dict(judge.checks.references)
        for spec in judge.checks.specs.values():
            if spec.answers:
                right.update(right[spec.name]())
        solutions = [(m, True) for m in known_misconceptions(COURSE, chapter)]
        told = {(m.exercise, m.name): m.message for m, _ in solutions}
        solutions += [(a, False) for a in known_alternatives(COURSE, chapter)]
        for solution, wrong in solutions:
            spec = judge.checks.specs[solution.exercise]
            own = solution.function() if spec.answers else {spec.name: solution.function}
            namespace = {**right, **own}
            [live] = judge.judge(StandIn(namespace), only=frozenset({spec.name}), visible_only=True)
            ours = replay(examples[spec.name], InProcessSession(namespace, call_seconds=2.0))
            passed = {c.name for c in live.checks if c.status == "passed"}
            replayed = {c.name for c in ours.checks if c.status == "passed"}
            if passed != replayed:
                differ.append((solution.name, passed ^ replayed))
            # One mistake may be written in two ways that only a hidden check tells apart: what the student reads is the same.
            if wrong and told.get((spec.name, ours.misconception), solution.message) != solution.message:
                renamed.append((solution.name, ours.misconception))
            if not wrong and ours.status != "passed":
                refused.append((solution.name, ours.message))

    compare(Judge(load_checks(COURSE, chapter)))
    assert differ == []
    assert refused == []
    assert renamed == []
