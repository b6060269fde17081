"""Tests of a verdict as JSON, which programs outside the project read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from autograder.base.verdict import CheckResult, ExerciseVerdict, Verdict, json_lines

CHECKS = (
    CheckResult("test_a", "rows sum to 1", "passed", visible=True, points=1.0),
    CheckResult("test_b", "é", "failed"),
)
EXERCISE = ExerciseVerdict("softmax", 1.0, 2.0, "partial", "columns", "“You” normalised\nthe columns.", None, CHECKS)
VERDICT = Verdict(
    "a.ipynb", "ada", "ch1", "graded", None, 1.0, 2.0, "bubblewrap", (EXERCISE, replace(EXERCISE, name="x"))
)


@pytest.mark.parametrize(
    "verdict",
    [
        VERDICT,
        replace(VERDICT, exercises=()),
        replace(VERDICT, exercises=(replace(EXERCISE, score=0.0),)),
        replace(VERDICT, exercises=(replace(EXERCISE, score=0),)),
        replace(VERDICT, exercises=(replace(EXERCISE, checks=()),)),
        replace(VERDICT, student=None, status="ungradable", reason='It is "cut" off: 雪', sandbox=None, exercises=()),
    ],
)
def test_a_line_is_the_object_as_text(verdict):
    """The line is exactly what ``json.dumps`` writes, even if parts of it come from the cache."""
    lines = list(json_lines([verdict, verdict.relabelled(notebook="other.ipynb", student=None), verdict]))
    assert lines[0] == lines[2] == json.dumps(verdict.to_json(), ensure_ascii=False)
    assert Verdict.from_json(json.loads(lines[0])) == verdict
    assert Verdict.from_json(json.loads(lines[1])).notebook == "other.ipynb"


def test_what_a_check_says_is_no_book():
    """A check's result cuts a text of megabytes. Shorter texts stay as they are."""
    check = CheckResult("a", "t", "failed", "x" * 10**6, reason="y" * 10**6, example="short")
    assert (len(check.message), len(check.reason), check.example) == (8000, 8000, "short")
    assert check.message.endswith("x…")
    assert replace(check, message="z" * 10**6).message.endswith("z…")
