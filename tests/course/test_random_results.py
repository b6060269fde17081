"""Tests of functions with random results: small biases lose marks, and right functions keep them however they draw."""

import pytest

from tests.course.test_slips import judge_of, verdict_on

VARIANCE = "score_variance(d_k, n_samples, rng)"
SAMPLE = "sample_next(logits, temperature, rng)"
GENERATE = "generate(tokens, n_new, model, temperature, rng)"
PAIRS = "q = rng.standard_normal((n_samples, d_k)); k = rng.standard_normal((n_samples, d_k)); s = (q * k).sum(axis=1)"
STEPS = """
text = list(tokens)
for i in range(n_new):
    logits = next_token_logits(np.array(text), model)[-1]
    text.append(sample_next(logits, {}, rng))
return np.array(text)
"""
WRONG = {
    "scale": ("ch3", VARIANCE, f"{PAIRS}; return 1.03 * s.var()"),
    "scale of long vectors": ("ch3", VARIANCE, f"{PAIRS}; return s.var() * (0.97 if d_k > n_samples else 1)"),
    "clipped": ("ch3", VARIANCE, f"{PAIRS.replace('s = ', 'q = q.clip(-2, 2); s = ')}; return s.var()"),
    "hotter": ("ch8", SAMPLE, "return int(rng.choice(len(logits), p=softmax(logits / (1.1 * temperature or 1e-9))))"),
    "colder": ("ch8", SAMPLE, "return int(rng.choice(len(logits), p=softmax(logits / (temperature / 1.1 or 1e-9))))"),
    "one missing": (
        "ch8",
        SAMPLE,
        "p = softmax(logits / (temperature or 1e-9)); p[-1] *= len(p) < 50; return int(rng.choice(len(p), p=p / p.sum()))",
    ),
    "first step only": ("ch8", GENERATE, STEPS.format("1.1 * temperature if i else temperature")),
    "every second step": ("ch8", GENERATE, STEPS.format("temperature if i % 2 else min(temperature, 1)")),
}  # fmt: skip
ODDS = "with probability 0.999, and reject a correct answer with probability 1e-09"
CHECKS = {VARIANCE: "test_centre", SAMPLE: "test_any_logits", GENERATE: "test_drawn_texts"}


@pytest.mark.parametrize("name", WRONG)
def test_a_small_bias_is_detected(name):
    """An error of 3 % in scale or 10 % in temperature, and a missing token, fail the check of many results."""
    chapter, signature, body = WRONG[name]
    failed = {c.name for c in verdict_on(chapter, signature, body).checks if c.status != "passed"}
    assert CHECKS[signature] in failed


def test_an_unusual_order_of_draws_is_right():
    """A right function that uses its generator in an unusual order keeps full marks."""
    body = "s = [rng.standard_normal(d_k) @ rng.standard_normal(d_k) for _ in range(n_samples)][::-1]; rng.random(); return np.var(s)"
    assert verdict_on("ch3", VARIANCE, body).status == "passed"
    body = PAIRS.replace("standard_normal((n_samples, d_k))", "standard_normal((d_k, n_samples)).T[::-1]")
    own = f"rng.random(3); {body}; return s.var()"
    assert verdict_on("ch3", VARIANCE, own).status == "passed"


def test_the_audit_states_what_is_detected():
    """The audit reports the effects, the numbers of draws and both probabilities."""
    from autograder.authoring.audit.exercise import MeasuredExercise  # noqa: PLC0415 - only here

    judge = judge_of("ch8")
    measured = MeasuredExercise(judge, judge, judge.checks.specs["sample_next"], [])
    audit = measured.measure(blank=True, mutants=False, draws=1)
    assert audit.experiments == (
        f"1280 draws detect a temperature 10 % too high, a temperature 10 % too low {ODDS}",
        f"1520 draws detect one missing token of 60 {ODDS}",
        f"204 draws detect no rare tokens {ODDS}",
    )
