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
    "pairs that overlap": ("ch3", VARIANCE, "x = rng.normal(size=(n_samples + 1, d_k)); return (x[1:] * x[:-1]).sum(axis=1).var()"),
    "divided by the pairs minus the entries": ("ch3", VARIANCE, f"{PAIRS}; return s.var(ddof=d_k if d_k < n_samples else 0)"),
    "rounded": ("ch3", VARIANCE, f"{PAIRS}; return round(s.var(), 2)"),
    "a thousand seeds": ("ch3", VARIANCE, f"rng = np.random.default_rng(rng.integers(1000)); {PAIRS}; return s.var()"),
    "a thousand pairs": ("ch3", VARIANCE, f"n_samples = min(n_samples, 1000); {PAIRS}; return s.var()"),
    "first step only": ("ch8", GENERATE, STEPS.format("1.1 * temperature if i else temperature")),
    "every second step": ("ch8", GENERATE, STEPS.format("temperature if i % 2 else min(temperature, 1)")),
}  # fmt: skip
NAMED = {  # each in another order of draws than the misconception's own
    "standard_deviation": "s = [rng.standard_normal(d_k) @ rng.standard_normal(d_k) for _ in range(n_samples)]; return np.std(s)",
    "products_averaged": "s = [np.mean(np.prod(rng.normal(size=(2, d_k)), axis=0)) for _ in range(n_samples)]; return np.var(s)",
    "uniform_from_minus_1_to_1": "s = 2 * rng.random((2, d_k, n_samples)) - 1; return np.prod(s, axis=0).sum(axis=0).var()",
    "sums_over_the_pairs": "s = rng.standard_normal((2, d_k, n_samples)); return np.var(np.sum(s[0] * s[1], axis=1))",
    "one_key_for_all": "k = rng.normal(size=d_k); return np.mean([(rng.normal(size=d_k) @ k) ** 2 for _ in range(n_samples)])",
    "entries_of_variance_d_k": "s = np.sqrt(d_k) ** 0.5 * rng.normal(size=(n_samples, 2, d_k)); return s.prod(axis=1).sum(axis=1).var()",
    "a_generator_of_its_own": PAIRS.replace("rng", "np.random.default_rng(7)") + "; return s.var()",
    "numbers_from_elsewhere": PAIRS.replace("rng", "np.random") + "; return s.var()",
}
ODDS = "with probability 0.999, and reject a correct answer with probability 1e-09"
SPREAD = {"pairs that overlap", "rounded", "a thousand seeds"}
CHECKS = {VARIANCE: "test_centre", SAMPLE: "test_any_logits", GENERATE: "test_drawn_texts"}


@pytest.mark.parametrize("name", WRONG)
def test_a_small_bias_is_detected(name):
    """An error of 3 % in scale or 10 % in temperature, and a missing token, fail the check of many results."""
    chapter, signature, body = WRONG[name]
    failed = {c.name for c in verdict_on(chapter, signature, body).checks if c.status != "passed"}
    assert ("test_spread" if name in SPREAD else CHECKS[signature]) in failed


@pytest.mark.parametrize("name", NAMED)
def test_a_mistake_is_named_whatever_the_order_of_draws(name):
    """The name depends on how the answers are distributed, so it does not depend on the order of draws."""
    verdict = verdict_on("ch3", VARIANCE, NAMED[name])
    messages = {m.name: m.message for m in judge_of("ch3").checks.misconceptions[verdict.name]}
    assert messages.get(verdict.misconception) == messages[name]


def test_an_unusual_order_of_draws_is_right():
    """A right function that uses its generator in an unusual order keeps full marks."""
    body = "s = [rng.standard_normal(d_k) @ rng.standard_normal(d_k) for _ in range(n_samples)][::-1]; rng.random(); return np.var(s)"
    assert verdict_on("ch3", VARIANCE, body).status == "passed"
    body = PAIRS.replace("standard_normal((n_samples, d_k))", "standard_normal((d_k, n_samples)).T[::-1]")
    own = f"rng.random(3); {body}; return s.var()"
    assert verdict_on("ch3", VARIANCE, own).status == "passed"
    assert verdict_on("ch3", VARIANCE, f"{PAIRS}; return round(s.var(), 6)").status == "passed"
    one_by_one = (
        "s = [sum(rng.normal() * rng.normal() for _ in range(d_k)) for _ in range(n_samples)]; return np.var(s)"
    )
    assert verdict_on("ch3", VARIANCE, one_by_one).status == "passed"


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
