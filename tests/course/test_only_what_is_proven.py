"""Tests that messages state only what is certain: no misconception for its mirror image, and no input category that is not the cause."""

from __future__ import annotations

import re
from functools import cache
from textwrap import indent

import numpy as np
import pytest

from autograder.authoring.simulate import reference_code, solved_notebook, write_notebook
from autograder.course.course import load_course
from autograder.course.secret import VARIABLE
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from tests.support import ROOT

BLOCKS = "X = model['embedding'][np.asarray(tokens)]\nfor weights in model['blocks']{}:\n    X = transformer_block(X, weights, model['h'])\nreturn layer_norm(X, **model['norm']) @ model['embedding'].T"
OWN_SEED = "return _right(tokens, n_new, model, temperature, np.random.default_rng(0))"
POSITIONS = "return _right(X, {}, base)"
PAIRS = "{} = rng.standard_normal((n_samples, d_k))\n{} = rng.standard_normal(d_k)\nreturn (q * k).sum(axis=-1).var()"
CASES = [
    ("ch8", "next_token_logits(tokens, model)", BLOCKS.format("[:1]"), "only_the_first_block", True),
    ("ch8", "next_token_logits(tokens, model)", BLOCKS.format("[:-1]"), "only_the_first_block", False),
    ("ch8", "generate(tokens, n_new, model, temperature, rng)", OWN_SEED, "greedy_at_every_temperature", False),
    ("ch8", "rotate_positions(X, positions, base=10000.0)", POSITIONS.format("np.arange(len(positions))"), "index_for_position", True),
    ("ch8", "rotate_positions(X, positions, base=10000.0)", POSITIONS.format("positions - positions.min()"), "index_for_position", False),
    # No result separates the next two mistakes, so the message fits both.
    ("ch3", "score_variance(d_k, n_samples, rng)", PAIRS.format("q", "k"), "one_key_for_all", True),
    ("ch3", "score_variance(d_k, n_samples, rng)", PAIRS.format("k", "q"), "one_key_for_all", True),
]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _same_secret():
    """Draw the same inputs in every clone. With some secrets, a limit cannot be proven, and the message has no heading."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "the tests of this repository")
        yield


@cache
def judge_of(chapter):
    """Return the judge of the chapter whose name starts with ``chapter``."""
    course = load_course(ROOT)
    name = next(name for name in course.finished_chapters() if name.startswith(chapter))
    return Judge(load_checks(course, name))


def verdict_on(chapter, signature, body, *, visible_only=False):
    """Return the verdict on a function with this signature and body, in which ``_right`` is the reference."""
    judge = judge_of(chapter)
    exercise = signature.partition("(")[0]
    names = {**vars(__import__(f"solutions.{judge.checks.chapter}", fromlist=["x"])), "np": np}
    names["_right"] = names[exercise]
    exec(f"def {signature}:\n{indent(body, '    ')}\n", names)  # noqa: S102 - lines of this file
    subject = FunctionSubject("a student", {**judge.checks.right_names(), exercise: names[exercise]}, call_seconds=5)
    [verdict] = judge.judge(subject, only=frozenset({exercise}), visible_only=visible_only)
    assert verdict.status != "passed"
    return verdict


@pytest.mark.parametrize("visible_only", [True, False])
@pytest.mark.parametrize(("chapter", "signature", "body", "name", "is_named"), CASES)
def test_a_mistake_is_not_named_as_its_mirror_image(chapter, signature, body, name, is_named, visible_only):
    """Neither the grader nor ``check()`` reports a misconception for its mirror image."""
    verdict = verdict_on(chapter, signature, body, visible_only=visible_only)
    message = next(m.message for m in judge_of(chapter).checks.misconceptions[verdict.name] if m.name == name)
    assert (verdict.misconception == name, message in verdict.message) == (is_named, is_named)


LIMITS = [
    (
        "ch1",
        "softmax(x, axis=-1)",
        "return _right(x * 1.01 if x.shape[axis] > 17 else x, axis)",
        "With n = 18 (n = 17 passes): ",
    ),
    (
        "ch3",
        "scaled_dot_product_attention(Q, K, V)",
        "return _right(Q, K * (np.arange(K.shape[-2]) < 128)[:, None], V)",
        "With n_k = 129 (n_k = 128 passes): ",
    ),
    (
        "ch4",
        "causal_mask(n_q, n_k=None)",
        "mask = _right(n_q, n_k)\nmask[9:] = mask[8] if n_q > 9 else False\nreturn mask",
        "With n_q = 10 (n_q = 9 passes): ",
    ),
    (
        "ch4",
        "causal_mask(n_q, n_k=None)",
        "return _right(n_q, n_k)[:, : n_k and 128]",  # the drawn n_k grows with n_q, but n_q is not the cause
        "With n_k = 129 (n_k = 128 passes): ",
    ),
    (
        "ch4",
        "masked_attention(Q, K, V, mask=None)",
        "return _right(*(x[:1] if x.ndim > 3 else x for x in (Q, K, V)), mask)",
        "With two batch axes: ",
    ),
]


def test_no_size_is_named_if_the_check_may_pass_by_chance():
    """A function that compares one number with each share is wrong for every size, although a few draws may look right."""
    body = """
if temperature == 0:
    return int(np.argmax(logits))
p, number = softmax(logits / temperature), rng.random()
return next((token for token in range(len(p)) if number < p[token]), len(p) - 1)
"""
    verdict = verdict_on("ch8", "sample_next(logits, temperature, rng)", body)
    [message] = [c.message for c in verdict.checks if c.name == "test_every_kind"]
    assert message.startswith("In 30 calls of ")


def test_a_changed_input_may_be_the_only_reason_for_wrong_draws():
    """A probe calls the function again with the changed array. So nothing says that the results are wrong, too."""
    body = "np.divide(logits, temperature, out=logits)\nreturn int(rng.choice(len(logits), p=softmax(logits)))"
    if_cold = "if temperature == 0:\n    return int(np.argmax(logits))\n"
    verdict = verdict_on("ch8", "sample_next(logits, temperature, rng)", if_cold + body)
    [reason] = [c.reason for c in verdict.checks if c.name == "test_the_example"]
    assert reason.startswith("sample_next changes its input `logits`.")
    assert "below 64 %" in reason
    assert ", below" not in reason


@pytest.mark.parametrize(("chapter", "signature", "body", "heading"), LIMITS)
def test_the_heading_gives_the_limit_of_the_code(chapter, signature, body, heading):
    """The heading names the smallest length that fails, although the drawn axes are much longer."""
    found = next(c for c in verdict_on(chapter, signature, body).checks if c.name == "test_every_kind")
    assert found.reason.startswith(heading)
    if " gave " in found.example:
        gave, right = (line.split("  ", 1)[1].strip() for line in found.example.splitlines()[-2:])
    else:  # for a wrong shape, the message gives both shapes
        gave, right = re.findall(r"shape (\([\d, ]+\))", found.reason)
    assert gave != right


def test_a_right_number_is_not_told_as_a_wrong_one_near_it():
    """The answer 1.38 is reported as cut off. The right answer 1.386 is not, although it is within one percent of 1.38."""
    judge = judge_of("ch3")
    answers = {**judge.checks.right_names(), **judge.checks.references["quiz_ch3"](), "q3": "c"}
    for entropy, told in ((1.386, False), (1.38, True)):
        subject = FunctionSubject("a student", {**answers, "q6": entropy}, call_seconds=5)
        [verdict] = judge.judge(subject, only=frozenset({"quiz_ch3"}))
        assert ("cut off" in verdict.message) == told
        assert "diag(p)" in verdict.message


ALL_ROWS = """
def linear_attention(Q, K, V, feature_map):
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    rows = [(phi_Q[..., i : i + 1, :] * phi_K).sum(axis=-1) for i in range(Q.shape[-2])]
    weights = np.stack(rows, axis=-2)
    return weights / weights.sum(axis=-1, keepdims=True) @ V
"""


# This function stores its results under the query and the keys alone.
STORED = """
_known = {}

def hard_lookup(q, K, V):
    key = q.tobytes(), K.tobytes(), V.shape
    if key not in _known:
        _known[key] = V[np.argmax(K @ q)].copy()
    return _known[key].copy()
"""


def failed_checks(folder, chapter, exercise, code):
    """Return the failed checks of an exercise with the solution ``code``, graded in a sandbox."""
    course = load_course(ROOT)
    solved = solved_notebook(course, chapter, {**reference_code(course, chapter), exercise: code.strip()})
    [verdict] = grade_notebooks(course, [Job(write_notebook(folder / "a.ipynb", solved), chapter=chapter)])
    failed = [c for c in verdict.exercise(exercise).checks if c.status not in {"passed", "not_tried"}]
    assert failed
    return failed


def test_data_from_an_earlier_call_is_told_with_the_case_that_shows_it(tmp_path):
    """The shown call gives the right result in a new process, and the message says so. The search for other cases does not hide this."""
    of_kinds, of_purity = failed_checks(tmp_path, "ch1_weighted_averaging", "hard_lookup", STORED)
    assert of_kinds.reason.startswith("hard_lookup keeps data from one call to the next: this call returns the right")
    assert of_purity.reason.startswith("hard_lookup keeps data from one call to the next, as the check")


def test_a_lack_of_memory_is_not_told_as_data_from_earlier_calls(tmp_path):
    """In a new process, a call with a memory limit may need less. So it says nothing about earlier calls."""
    for check in failed_checks(tmp_path, "ch6_complexity", "linear_attention", ALL_ROWS):
        assert "memory" in check.reason or "MiB" in check.reason
        assert "keeps data" not in check.reason
