"""Test wrong answers that students might write and that match no misconception of the course: the wrong line is found in each."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

from autograder.authoring.audit.localization_benchmark import SolutionLocator
from autograder.course.course import load_course
from autograder.course.secret import VARIABLE
from autograder.judging.functions import FunctionSession
from autograder.judging.loader import load_checks
from autograder.mistakes.edits.donors import Donor
from autograder.mistakes.edits.source_text import Edit
from autograder.mistakes.fault_localization.program import Variant, program_of
from autograder.mistakes.fault_localization.variable_matching import DonorTrace, match_variables, traced_values
from autograder.sandbox.protocol import Call
from tests.support import ROOT

THREE_TIMES = """\
def project_qkv(X_q, X_kv, W_Q, W_K, W_V):
    Q = np.einsum("nd,dk->nk", X_q, W_Q)
    K = np.einsum("nd,dk->nk", X_kv, W_K)
    V = np.einsum("nd,dk->nk", X_kv, W_V)
    return Q, K, V
"""
HELPER = """\
def dot(u, v):
    s = 0
    for a, b in zip(u, v):
        s += a * b
        return s

def pairwise_dot(X, Y):
    return np.array([[dot(x, y) for y in Y] for x in X])
"""
WRONG_WAY_ROUND = """\
def hard_lookup(q, K, V):
    best, out = -np.inf, None
    for k, v in zip(K, V):
        score = q @ k
        if score > best:
            score = best
            out = v
    return out
"""
BY_VALUE = """\
def soft_lookup(q, K, V, temperature=1.0):
    s = K @ q
    t = s / temperature
    w = softmax(t)
    return softmax(t + w) @ V
"""
TWO_SLIPS = """\
def project_qkv(X_q, X_kv, W_Q, W_K, W_V):
    Q = X_kv @ W_Q
    K = X_kv @ W_K
    return Q, K, X_q @ W_V
"""
# The matrices may differ from the reference's. The mistake is that the last token is left out.
OWN_HEAD = """\
def previous_token_head(n, d_model):
    t = d_model - n
    W_Q, W_K, W_V = np.zeros((d_model, n)), np.zeros((d_model, n)), np.zeros((d_model, t))
    for i in range(n):
        W_K[t + i, i] = 50 * np.sqrt(n)
        if i > 0:
            W_Q[t + i, i - 1] = 1
    for c in range(t - 1):
        W_V[c, c] = 1
    return {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_V.T}
"""

ONE_BUFFER = """\
def head_contributions(O, W_O):
    part, parts = np.empty((O.shape[1], W_O.shape[1])), []
    for result, rows in zip(O, np.split(W_O, len(O))):
        parts.append(np.matmul(result, rows, out=part))
    return np.stack(parts)
"""
MOVED_INTO_THE_LOOP = """\
def head_contributions(O, W_O):
    part = np.empty((O.shape[1], W_O.shape[1]))
    parts = []
    for result, rows in zip(O, np.split(W_O, len(O))):
        np.matmul(result, rows, out=part)
        parts.append(part)
    return np.stack(parts)
"""
# The first line of this special case is the mistake, not its last line.
LONG_SPECIAL_CASE = """\
def project_qkv(X_q, X_kv, W_Q, W_K, W_V):
    if X_q.shape == X_kv.shape:
        d_k = W_K.shape[1]
        joined = X_q @ np.concatenate([W_Q, W_K, W_V], axis=1)
        return joined[..., :d_k], joined[..., d_k : 2 * d_k], joined[..., 2 * d_k :]
    return X_q @ W_Q, X_kv @ W_K, X_kv @ W_V
"""
# Without the special case, the code is right, too.
ITS_OWN_ARGUMENT = """\
def normalize_rows(A):
    totals = A.sum(axis=1, keepdims=True)
    if (totals == 1).all():
        return A
    return A / totals
"""
# The shift could also be written into the call of exp.
ONLY_IF_LARGE = """\
def softmax(x, axis=-1):
    if x.max() > 700:
        x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""
# Two changes in line 4 would use Q and K instead.
IN_FLOAT32 = """\
def attention_scores(Q, K):
    Q32, K32 = Q.astype(np.float32), K.astype(np.float32)
    return (Q32 @ np.swapaxes(K32, -1, -2)).astype(np.float64)
"""
SPECIAL_CASE = """\
def weighted_average(weights, X):
    average = np.zeros(X.shape[1])
    for w, x in zip(weights, X):
        if w < 0.001:
            continue
        average += w * x
    return average
"""
ONE_FACTOR_TOO_MANY = """\
def combine_masks(causal, padding):
    queries = padding[:, 0, -len(causal):, None]
    return causal & padding & queries
"""
WHOLE_NUMBERS = """\
def pairwise_dot(X, Y):
    table = np.full((len(X), len(Y)), 0)
    for i in range(len(X)):
        for j in range(len(Y)):
            table[i, j] = X[i] @ Y[j]
    return table
"""
RIGHT_FOR_TWO = """\
def layer_norm(X, gain, bias, eps=1e-5):
    centered = X - np.mean(X, axis=-1, keepdims=True)
    variance = np.sum(centered**2, axis=-1, keepdims=True) / 2
    return centered / np.sqrt(variance + eps) * gain + bias
"""
UPDATED_TOO_SOON = """\
def query_gradient(q, K, V, g):
    p = softmax(K @ q / np.sqrt(len(q)))
    scores = p * (V @ g)
    for i in range(len(p)):
        scores[i] -= p[i] * scores.sum()
    return scores @ K / np.sqrt(len(q))
"""


@pytest.fixture(scope="module")
def locate():
    """Return a function that finds the wrong line in an answer to an exercise of the course. All earlier exercises are right."""
    course, known = load_course(ROOT), {}

    def located(chapter, exercise, source):
        if chapter not in known:
            checks = load_checks(course, chapter)
            known[chapter] = checks, SolutionLocator(checks, seconds=20.0)
        checks, locator = known[chapter]
        names = {"np": np, **checks.right_names()}
        exec(source, names)  # noqa: S102 - our own text
        return locator.locate(exercise, [(exercise, source)], names)

    return located


@pytest.mark.parametrize(
    ("chapter", "exercise", "source", "lines", "edits"),
    [
        ("ch2_query_key_value", "project_qkv", THREE_TIMES, [2, 3, 4], 3),
        ("ch2_query_key_value", "project_qkv", TWO_SLIPS, [2, 4], 2),
        ("ch0_orientation", "pairwise_dot", HELPER, [5], 1),
        ("ch1_weighted_averaging", "hard_lookup", WRONG_WAY_ROUND, [6], 1),
        ("ch1_weighted_averaging", "soft_lookup", BY_VALUE, [5], 1),
        ("ch7_capstone", "previous_token_head", OWN_HEAD, [8], 1),
    ],
    ids=[
        "one slip in three lines",
        "two slips",
        "a helper",
        "an assignment the wrong way round",
        "a step too many",
        "own matrices",
    ],
)
def test_the_line_is_found(locate, chapter, exercise, source, lines, edits):
    """The reported lines are the wrong lines."""
    found = locate(chapter, exercise, source)
    assert [line for _, line in found.places] == lines
    assert found.edits == edits


@pytest.mark.parametrize(
    ("chapter", "exercise", "source", "line", "kind"),
    [
        ("ch5_multi_head", "head_contributions", ONE_BUFFER, 4, "inplace"),
        ("ch5_multi_head", "head_contributions", MOVED_INTO_THE_LOOP, 2, "place"),
        ("ch1_weighted_averaging", "weighted_average", SPECIAL_CASE, 4, "case"),
        ("ch2_query_key_value", "project_qkv", LONG_SPECIAL_CASE, 2, "case"),
        ("ch0_orientation", "normalize_rows", ITS_OWN_ARGUMENT, 4, "inplace"),
        ("ch1_weighted_averaging", "softmax", ONLY_IF_LARGE, 2, "always"),
        ("ch2_query_key_value", "attention_scores", IN_FLOAT32, 2, "dtype"),
        ("ch4_masking", "combine_masks", ONE_FACTOR_TOO_MANY, 3, "extra"),
        ("ch0_orientation", "pairwise_dot", WHOLE_NUMBERS, 2, "dtype"),
        ("ch8_language_model", "layer_norm", RIGHT_FOR_TWO, 3, "number"),
        ("ch3_scaling", "query_gradient", UPDATED_TOO_SOON, 3, "expression"),
    ],
)
def test_one_line_and_one_kind_of_mistake_are_reported(locate, chapter, exercise, source, line, kind):
    """Other lines can be corrected, too. But they only hide the mistake, or compute the whole result again."""
    found = locate(chapter, exercise, source)
    assert ([line for _, line in found.places], found.kind) == ([line], kind)


@pytest.mark.parametrize("number", [0, 1, 7])
def test_the_line_is_the_same_with_every_secret(monkeypatch, number):
    """Adding the temperature instead of the weights also corrects the code, unless a secret draws a temperature that rounds the scores."""
    monkeypatch.setenv(VARIABLE, f"try-{number}-of-some-secrets-to-draw")
    checks = load_checks(load_course(ROOT), "ch1_weighted_averaging")
    names = {"np": np, **checks.right_names()}
    exec(BY_VALUE, names)  # noqa: S102 - our own text
    found = SolutionLocator(checks, seconds=20.0).locate("soft_lookup", [("soft_lookup", BY_VALUE)], names)
    assert [line for _, line in found.places] == [5]


def spread(x, width):
    """Return the distances from the mean, relative to ``width``."""
    middle = x.mean()
    away = x - middle
    return away / width


def test_a_variable_of_a_right_program_is_known_by_what_it_holds():
    """Variables are matched by their values, whatever their names, even if the student's code raises an error. Parameters are matched by position."""
    own = "def spread(values, w):\n    m = values.mean()\n    d = values - m\n    return d @ nothing"
    call = Call("spread", (np.array([1.0, 2.0, 6.0]), 2.0))
    text = inspect.getsource(spread)
    lender = DonorTrace(Donor(text), traced_values(spread, text, call))
    names = {"np": np}
    exec(own, names)  # noqa: S102 - our own text
    program = program_of("spread", [("spread", own)], donors=[lender.donor])
    [called] = match_variables(program, [lender], call, FunctionSession(names), 1.0)
    assert called == {"x": "values", "width": "w", "middle": "m", "away": "d"}
    changed = {edit.text for variant in replace(program, called=(called,)).singles() for _, edit in variant.edits}
    assert "(d / w)" in changed


RESET_TOO_EARLY = """\
def dot_product_attention(Q, K, V):
    weights = softmax(attention_scores(Q, K))
    output = np.zeros((len(Q), V.shape[-1]))
    mixed = np.zeros(V.shape[-1])
    for i in range(len(Q)):
        for j in range(len(K)):
            mixed = mixed + weights[i, j] * V[j]
        output[i] = mixed
    return output, weights
"""
LIST_OF_BLOCKS = """\
def split_heads(X, h):
    heads = []
    for i in range(h):
        heads.append(X[..., i * h : (i + 1) * h])
    return np.stack(heads, axis=-3)
"""
CLIPPED = """\
def softmax(x, axis=-1):
    x = np.minimum(x, 500)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""
OWN_PROJECTION = """\
def project(X, W):
    return (X @ W).reshape(-1, W.shape[1])

def project_qkv(X_q, X_kv, W_Q, W_K, W_V):
    return project(X_q, W_Q), project(X_kv, W_K), project(X_kv, W_V)
"""


SHORTER_FIRST = """\
def pairwise_dot(X, Y):
    short, long = X, Y
    if len(short) > len(long):
        short, long = long, short
    table = [long @ row for row in short]
    return np.stack(table)
"""
SWAP = SHORTER_FIRST.partition("Y\n")[2].partition("    return")[0]
SWAP_TOO_LATE = "".join(SWAP.splitlines(keepends=True)[i] for i in (2, 0, 1))


@pytest.mark.parametrize(
    ("exercise", "source", "changes", "useless"),
    [
        ("dot_product_attention", RESET_TOO_EARLY, {"return output": "return (weights @ V)"}, True),
        ("dot_product_attention", RESET_TOO_EARLY, {"output[i] = mixed": "output[i] = weights[i] @ V"}, True),
        ("dot_product_attention", RESET_TOO_EARLY, {"mixed + ": "output[i] + "}, False),
        ("pairwise_dot", SHORTER_FIRST, {SWAP: SWAP_TOO_LATE}, True),
        ("pairwise_dot", SHORTER_FIRST, {"    short, long = X, Y": "    long, short = X, Y"}, False),
        ("split_heads", LIST_OF_BLOCKS, {"stack(heads": "stack(np.split(X, h, axis=-1)"}, True),
        ("split_heads", LIST_OF_BLOCKS, {"range(h)": "range(X.shape[-1] // h)"}, False),
        (
            "project_qkv",
            OWN_PROJECTION,
            {"project(X_q, ": "(X_q @ ", "project(X_kv, W_K": "(X_kv @ W_K", "project(X_kv, W_V": "(X_kv @ W_V"},
            True,
        ),
        ("project_qkv", OWN_PROJECTION, {"project(X_q, ": "(X_q @ "}, False),
        ("softmax", CLIPPED, {"    return": "    e = np.exp(x - x.max(axis=axis, keepdims=True))\n    return"}, True),
        ("softmax", CLIPPED, {"e = np.exp(x)": "e = np.exp(x - x.max(axis=axis, keepdims=True))"}, False),
    ],
)
def test_a_change_that_makes_the_students_own_steps_useless_is_not_reported(exercise, source, changes, useless):
    """A change leaves something unused if it replaces the result of a loop, of a list or of a helper."""
    program = program_of(exercise, [("cell", source)])
    edits = []
    for old, new in changes.items():
        [definition] = [one for one in program.definitions if old in one.text]
        start = definition.text.index(old)
        edits.append((definition, Edit(start, start + len(old), new, 1, "expression", 1.5)))
    assert program.leaves_unused(Variant(tuple(edits))) is useless
