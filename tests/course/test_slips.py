"""Tests of mistakes from public code, written as students write them: one mistake is named, and two mistakes are not guessed."""

from __future__ import annotations

from functools import cache
from textwrap import indent

import numpy as np
import pytest

from autograder.course.course import load_course
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from tests.support import ROOT

ATTEND = "w = softmax({}); return {}, w"
MASKED = (
    "s = {} / np.sqrt(K.shape[-1]); s = s if mask is None else np.where(mask, s, -1e9); w = softmax(s); return {}, w"
)
EPS = "g = np.zeros_like(x); h = 1e-6\nfor i in np.ndindex(x.shape):\n    e = np.zeros_like(x); e[i] = h; g[i] = {}\nreturn g"
DOT = "dot_with_every_axis_turned"
NAMED = [
    ("ch1", "softmax(x, axis=-1)", "e = np.exp(x); return e / e.sum()", "one_sum_without_a_shift"),
    ("ch2", "attention_scores(Q, K)", "return np.dot(Q, K.T)", DOT),
    ("ch2", "attention_scores(Q, K)", "return np.einsum('bqd,bkd->bqk', Q, K)", "letters_for_exactly_one_batch_axis"),
    ("ch2", "dot_product_attention(Q, K, V)", ATTEND.format("Q @ K.transpose(0, 2, 1)", "w @ V"), "exactly_one_batch_axis"),
    ("ch3", "scaled_dot_product_attention(Q, K, V)", ATTEND.format("np.dot(Q, K.T) / np.sqrt(Q.shape[-1])", "np.dot(w, V)"), DOT),
    ("ch3", "softmax_jacobian(p)", "return np.diag(p) - p * p", "entry_by_entry_for_the_outer_product"),
    ("ch4", "masked_attention(Q, K, V, mask=None)", MASKED.format("Q @ K.transpose(0, 2, 1)", "w @ V"), "exactly_one_batch_axis"),
    ("ch4", "masked_attention(Q, K, V, mask=None)", MASKED.format("np.dot(Q, K.T)", "w @ V"), DOT),
    ("ch4", "causal_mask(n_q, n_k=None)", "return np.triu(np.ones((n_q, n_k or n_q), dtype=bool))", "upper_triangle_from_the_top_left"),
    ("ch4", "causal_mask(n_q, n_k=None)", "return np.triu(np.ones((n_q, n_k or n_q), dtype=bool), 1)", "blocked_above_the_top_left_diagonal"),
    ("ch5", "head_contributions(O, W_O)", "d = O.shape[2]; return np.stack([o @ W_O[:, i * d : (i + 1) * d].T for i, o in enumerate(O)])", "columns_of_w_o_turned_into_rows"),
]  # fmt: skip
TWO = [
    ("ch2", "attention_scores(Q, K)", "return Q @ K.T / np.sqrt(K.shape[-1])"),
    ("ch3", "numerical_gradient(f, x, eps=1e-5)", EPS.format("(f(x + e) - f(x - e)) / h")),
]
IN_SPARE_ROOM = """
def with_row(cache, row):
    room = cache.base
    if room is None or len(room) == len(cache):
        room = np.empty((len(cache) + 9, len(row)))
        room[: len(cache)] = cache
    room[len(cache)] = row
    return room[: len(cache) + 1]

K, V = with_row(cache_K, k), with_row(cache_V, v)
return softmax(K @ q / np.sqrt(len(q))) @ V, K, V
"""
RARE = [  # answers that are wrong only for few inputs, by people who had not read the checks
    ("ch0", "pairwise_dot(X, Y)", "return X * Y if X.shape[1] == 1 and X.shape == Y.shape else X @ Y.T"),
    ("ch6", "decode_step(q, k, v, cache_K, cache_V)", IN_SPARE_ROOM),
    ("ch5", "merge_heads(O)", "return np.swapaxes(O, -2, -3).reshape((*O.shape[:-3], O.shape[-2], -1), order='A')"),
]


@cache
def judge_of(chapter):
    """Return the judge of the chapter whose name starts with ``chapter``."""
    course = load_course(ROOT)
    name = next(name for name in course.finished_chapters() if name.startswith(chapter))
    return Judge(load_checks(course, name))


def verdict_on(chapter, signature, body):
    """Return the verdict on a function with this signature and body."""
    judge = judge_of(chapter)
    name = signature.partition("(")[0]
    names = {"np": np, **vars(__import__(f"solutions.{judge.checks.chapter}", fromlist=["x"]))}
    exec(f"def {signature}:\n{indent(body, '    ')}\n", names)  # noqa: S102 - the lines above
    subject = FunctionSubject("a student", {**judge.checks.right_names(), name: names[name]}, call_seconds=5)
    [verdict] = judge.judge(subject, only=frozenset({name}))
    return verdict


@pytest.mark.parametrize(("chapter", "signature", "body", "mistake"), NAMED)
def test_a_common_slip_is_named(chapter, signature, body, mistake):
    """The reported name is the name of the mistake, or of another mistake with the same message."""
    verdict = verdict_on(chapter, signature, body)
    told = {m.name: m.message for m in judge_of(chapter).checks.misconceptions[verdict.name]}
    found = verdict.misconception or ""
    assert found == mistake or told.get(found, found) == told.get(mistake)
    assert verdict.score < verdict.max_score


@pytest.mark.parametrize(("chapter", "signature", "body"), RARE)
def test_a_mistake_that_few_inputs_show_loses_marks(chapter, signature, body):
    """The function loses marks, and no misconception is named instead."""
    verdict = verdict_on(chapter, signature, body)
    assert verdict.score < verdict.max_score
    assert verdict.misconception is None


@pytest.mark.parametrize(("chapter", "signature", "body"), TWO)
def test_two_mistakes_are_not_guessed_from_the_answers(chapter, signature, body):
    """Two misconceptions together may give the same answers as some other mistake, so neither is reported."""
    verdict = verdict_on(chapter, signature, body)
    assert verdict.misconception is None
    assert not any(m.message in verdict.message for m in judge_of(chapter).checks.misconceptions[verdict.name])


def test_two_slips_in_two_scores_are_told_beside_the_check_of_each():
    """If no single mistake explains all scores, each failing check reports the mistake in its own score."""
    body = (
        "n = len(weights); far = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))\n"
        "return {'copying': weights.max(axis=0).mean(), 'uniform': np.minimum(weights, 1 / n).sum(axis=1).mean(),\n"
        "        'local': (weights * (far <= 2)).sum(axis=1).mean(), 'previous': np.diagonal(weights, -1).mean()}"
    )
    verdict = verdict_on("ch5", "pattern_scores(weights)", body)
    told = {c.name: c.reason for c in verdict.checks if c.status == "failed"}
    assert verdict.misconception is None
    assert "you took the largest weight of each column" in told["test_copying"]
    assert "you counted keys up to two steps away" in told["test_local"]
    assert "two steps" not in told["test_copying"]
