"""Tests of storing a class's verdicts, with each shared outcome only once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from autograder.base.verdict import CheckResult, ExerciseVerdict, Verdict, json_lines
from autograder.classroom.incremental import SharedOutcomes

EXERCISE = ExerciseVerdict(
    "softmax", 1.0, 2.0, "partial", message="“Rows” 雪", checks=(CheckResult("test_a", "sums to 1", "passed"),)
)
ODD = replace(EXERCISE, message="no number", score=float("inf"))
CLASS = [
    Verdict(f"{name}.ipynb", name, "ch1", "graded", None, 1.0, 4.0, "bubblewrap", exercises)
    for name, exercises in [
        ("ada", (EXERCISE, replace(EXERCISE, name="mask"))),
        ("ben", (EXERCISE, replace(EXERCISE, name="mask", score=0))),
        ("cleo", (EXERCISE, replace(EXERCISE, name="mask", score=0.0))),
        ("dan", (replace(EXERCISE), ODD)),
        ("eve", ()),
    ]
]


def through_text(verdicts):
    """Return the verdicts after storing and loading them as text, and the lines of outcomes in that text."""
    there, back = SharedOutcomes(), SharedOutcomes()
    outcomes, told = [], []
    for verdict in verdicts:
        before, line = there.condense(verdict)
        outcomes += [json.dumps(one) for one in before]
        told.append(json.dumps(line))
    assert all(back.read(json.loads(line)) for line in outcomes)
    assert not any(back.read(json.loads(line)) for line in told)
    return [back.expand(json.loads(line)) for line in told], outcomes


def test_verdicts_come_back_to_the_letter():
    """Stored verdicts keep even the difference between 0 and 0.0, which are equal but are printed differently."""
    found, _ = through_text(CLASS)
    assert found == CLASS
    assert list(json_lines(found)) == list(json_lines(CLASS))


def test_what_is_shared_is_written_and_decoded_once():
    """Eight exercises have five outcomes, and equal outcomes share one object."""
    found, outcomes = through_text(CLASS)
    assert len(outcomes) == 5
    assert len({id(exercise) for verdict in found for exercise in verdict.exercises}) == 5


def test_lines_in_use_can_be_written_again():
    """If only one verdict's outcomes are written again, that verdict can be read, and other verdicts cannot."""
    kept, again = SharedOutcomes(), SharedOutcomes()
    lines = [kept.condense(verdict)[1] for verdict in CLASS]
    for line in kept.lines(lines[0]["exercises"]):
        again.read(json.loads(json.dumps(line)))
    assert again.expand(lines[0]) == CLASS[0]
    with pytest.raises(KeyError):
        again.expand(lines[1])
