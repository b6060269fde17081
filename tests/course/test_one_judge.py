"""Tests that ``check`` in a notebook gives exactly the results that the grader gives for the same calls."""

import dataclasses
import json

import numpy as np
import pytest

from autograder.authoring.audit.mutants import mutants_of
from autograder.checking import CheckFailed
from autograder.course.course import load_course
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import known_alternatives, known_misconceptions, load_checks
from autograder.judging.proxies import StudentProxy
from autograder.student.examples import parse_examples, replay
from autograder.student.examples.record import recorded
from tests.support import ROOT

COURSE = load_course(ROOT)
SECONDS = 2.0  # time limit of one call
MUTANTS = 12  # for each function, chosen evenly from all its mutants


def solutions(checks, chapter):
    """Yield the exercise, the name and the global names of each known wrong or right solution and of some mutants."""
    for one in (*known_misconceptions(COURSE, chapter), *known_alternatives(COURSE, chapter)):
        answers = checks.specs[one.exercise].answers
        yield one.exercise, one.name, one.function() if answers else {one.exercise: one.function}
    for spec in checks.specs.values():
        if not spec.answers:
            mutants = mutants_of(checks.references[spec.name], spec.name)
            for mutant in mutants[:: max(1, len(mutants) // MUTANTS)]:
                yield spec.name, mutant.label, {spec.name: mutant.function}


@pytest.mark.slow
@pytest.mark.parametrize("chapter", COURSE.finished_chapters())
def test_recorded_checks_are_judged_as_live_ones(chapter, monkeypatch):
    """Live and recorded visible checks give the same status, points, mistake and messages, and name each known mistake that they find.

    Only the grader can look at a result itself (``when_graded``), so what this adds to a message is left out here.
    """
    found_more = []

    def look_only(student, look, *args):
        try:
            look(student, *args)
        except CheckFailed as failure:
            found_more.append(failure)

    monkeypatch.setattr(StudentProxy, "when_graded", look_only)
    checks = load_checks(COURSE, chapter)
    checks.shrinks = False  # a notebook shows the first case that fails, but the grader looks for a smaller case
    written = recorded(checks)
    assert len(json.dumps(written)) < 600_000  # bytes that every student downloads and that each check() reads
    examples = parse_examples(written).exercises
    right = dict(checks.references)
    for spec in checks.specs.values():
        if spec.answers:
            right.update(right[spec.name]())
    messages = {m.name: m.message for m in known_misconceptions(COURSE, chapter)}
    judge, differ, unnamed, wrong = Judge(checks), [], [], 0
    for exercise, name, own in solutions(checks, chapter):
        subject = FunctionSubject(name, {**right, **own}, call_seconds=SECONDS)
        found_more.clear()
        [live] = judge.judge(subject, only=frozenset({exercise}), visible_only=True)
        assert live.status != "passed" or found_more == []
        [replayed] = replay(examples, subject, only=frozenset({exercise}))
        wrong += live.status != "passed"
        is_error = not {check.status for check in live.checks} & {"failed", "partial"}  # explained by itself
        is_named = messages.get(live.misconception) == messages.get(name)
        if name in messages and not (is_error or is_named or checks.specs[exercise].answers):
            unnamed.append((exercise, name, live.misconception))
        if live != replayed:
            fields = [f.name for f in dataclasses.fields(live) if getattr(live, f.name) != getattr(replayed, f.name)]
            differ.append((exercise, name, {f: (getattr(live, f), getattr(replayed, f)) for f in fields}))
    assert differ == []
    assert unnamed == []
    assert wrong > 10  # otherwise, hardly any messages were compared


def test_a_notebook_notices_random_numbers_that_come_from_elsewhere():
    """Random numbers from elsewhere differ from run to run, but a repeated call shows this, and the notebook names the mistake."""

    def score_variance(d_k, n_samples, rng):  # noqa: ARG001 - that is the mistake
        q, k = np.random.standard_normal((2, n_samples, d_k))  # noqa: NPY002
        return (q * k).sum(axis=1).var()

    examples = parse_examples(recorded(load_checks(COURSE, "ch3_scaling"))).exercises
    subject = FunctionSubject("np.random", {"score_variance": score_variance})
    [verdict] = replay(examples, subject, only=frozenset({"score_variance"}))
    assert [c.name for c in verdict.checks if c.status != "passed"] == ["test_same_again"]
    assert verdict.misconception == "numbers_from_elsewhere"
