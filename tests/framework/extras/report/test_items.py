"""Tests that item analysis computes the same figures as NumPy, and says if a class is too small."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.extras.report.class_marks import ChapterMarks, StudentMark
from autograder.extras.report.findings import FEW, analyse


def class_of(scores):
    """Return a class in which row i of ``scores`` has the scores of student i, in exercises worth 2 points each."""
    scores = np.asarray(scores, float)
    names = [f"e{i}" for i in range(scores.shape[1])]
    marks = {
        f"s{i}": StudentMark(f"s{i}", "graded", sum(row), dict(zip(names, map(float, row), strict=True)))
        for i, row in enumerate(scores)
    }
    return ChapterMarks("ch", dict.fromkeys(names, 2.0), marks, {}, listed=False)


def test_the_figures_are_the_textbooks():
    """Difficulty, corrected discrimination and alpha equal the values that their definitions give for the same scores."""
    rng = np.random.default_rng(5)
    scores = np.clip(np.round(rng.normal(1, 0.6, (40, 1)) + rng.normal(0, 0.5, (40, 4)), 1), 0, 2)
    found = analyse(class_of(scores))
    total = scores.sum(axis=1)
    alpha = 4 / 3 * (1 - scores.var(axis=0).sum() / total.var())
    assert found.alpha == pytest.approx(alpha)
    for i, item in enumerate(found.items):
        assert item.difficulty == pytest.approx(scores[:, i].mean() / 2)
        assert item.discrimination == pytest.approx(np.corrcoef(scores[:, i], total - scores[:, i])[0, 1])
        assert item.low < item.discrimination < item.high


def test_an_exercise_that_the_strong_fail_is_named():
    """If students who are strong elsewhere do worse in an exercise, the report says to review it."""
    scores = [[2, 2, 0]] * 6 + [[0, 0, 2]] * 6 + [[2, 0, 1]]
    item = analyse(class_of(scores)).items[2]
    assert item.discrimination < 0
    assert "Review the exercise and its checks" in item.sentence


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ([[1, 2]], "1 with a mark in every exercise is too few"),
        ([[1, 2]] * (FEW - 1), f"{FEW - 1} with a mark in every exercise are too few"),
        ([[1, 2]] * FEW, "everybody has the same total"),
        ([[i % 3] for i in range(FEW)], "there is only one exercise"),
    ],
)
def test_too_little_to_say_is_said(scores, sentence):
    """For one student, few students, equal scores or a single exercise, there is no alpha, and a sentence gives the reason."""
    found = analyse(class_of(scores))
    assert found.alpha is None
    assert sentence in found.sentence
    assert all(item.discrimination is None for item in found.items)


def test_without_a_mark_there_is_nothing():
    """A class without submissions has no figures."""
    marks = {"s": StudentMark("s", "missing")}
    assert analyse(ChapterMarks("ch", {"e": 2.0}, marks, {}, listed=True)).items == ()
