"""Tests that compute the numbers in the prose of chapters 0 to 3, and look for each number in the text."""

import numpy as np
import pytest

from solutions.ch1_weighted_averaging import soft_lookup, softmax
from solutions.ch3_scaling import (
    attention_entropy,
    numerical_gradient,
    query_gradient,
    scaled_dot_product_attention,
    score_variance,
    softmax_jacobian,
    training_step,
)
from tests.support.prose import assert_says

EXAMPLE_Q, EXAMPLE_K = np.array([1.0, 0.0, 1.0]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.8]])
EXAMPLE_V = np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])


def random_scores(d_k):
    """Return the unscaled scores of 400 random queries and 32 random keys, as in chapter 3's picture of entropies."""
    rng = np.random.default_rng(6)
    return rng.standard_normal((400, d_k)) @ rng.standard_normal((32, d_k)).T


def test_shares_of_the_first_picture():
    """Chapter 0: Cleo spends six sevenths on books. Compared with Ben, Ada spends more on sweets and less on the bus."""
    ada, ben, cleo = (np.array(row) / sum(row) for row in ([1, 3, 4], [2, 2, 6], [6, 0.5, 0.5]))
    assert cleo[0] == pytest.approx(6 / 7)
    assert ada[1] > ben[1]
    assert ada[2] < ben[2]
    assert_says("ch0", "reading-rows", "six sevenths")


def test_one_more_point_multiplies_ratios_and_not_weights():
    """Chapter 1: the weights of keys whose scores differ by one have the ratio e, but raising a score by one does not multiply its weight by e."""
    before, after = softmax(np.array([1.0, 2.0, 3.0])), softmax(np.array([1.0, 2.0, 4.0]))
    assert before[2] / before[1] == pytest.approx(np.e)
    assert after[2] / after[1] == pytest.approx(np.e**2)
    assert after[2] < np.e * before[2]
    assert_says("ch1", "softmax", f"{before[2]:.4f} / {before[1]:.4f}", f"{np.e:.3f}")
    assert_says("ch1", "deep-print", f"{before[2]:.4f}", f"{round(before[2], 4) * 2.718:.2f}")


def test_where_exp_leaves_float64():
    """Chapter 1: exp overflows beyond 709.78, and exp(-746) is exactly 0."""
    limit = np.log(np.finfo(np.float64).max)
    with np.errstate(all="ignore"):
        assert np.isfinite(np.exp(709.78))
        assert np.isinf(np.exp(709.79))
        assert np.exp(-746.0) == 0 < np.exp(-745.0)
    assert_says("ch1", "softmax-traps", f"exp({limit:.2f})", "1.8 · 10³⁰⁸")
    assert_says("ch1", "reading-softmax", "-746")


def test_weights_of_four_scores():
    """Chapter 1: in the picture of softmax the scores 0 and -1 keep small shares."""
    weights = softmax(np.array([2.0, 0.0, 1.8, -1.0]))
    assert_says("ch1", "reading-softmax", f"{weights[1]:.3f}", f"{weights[3]:.3f}")


def test_what_temperature_leaves_to_the_others():
    """Chapter 1: at low temperatures, one key has nearly all the weight, and the stated shares of the square have a weight above 0.9."""
    shares = [soft_lookup(np.ones(1), np.array([[2.0], [0.0], [1.0]]), np.eye(3), t)[0] for t in (0.1, 10**-1.5)]
    assert 1 - shares[0] == pytest.approx(0.00005, abs=5e-6)
    assert 1 - shares[1] < 1e-13

    keys = np.array([[1.0, 0.0], [0.0, 1.5], [-1.0, -1.0]])
    side = np.linspace(-2, 2, 101)
    queries = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    decided = [np.mean(softmax(queries @ keys.T / t).max(axis=1) > 0.9) for t in (0.1, 0.5, 2.0)]
    assert decided[0] == pytest.approx(0.92, abs=0.005)
    assert 0.57 < decided[1] < 0.6
    assert decided[2] < 0.01
    assert_says("ch1", "reading-soft", "92 %", "just under 60 %", "less than 1 %")


def test_the_worked_example_that_circulates():
    """Chapters 2 and 3 give the example's right weights and outputs, with and without the root, and the output for its printed weights."""
    plain = softmax(EXAMPLE_K @ EXAMPLE_Q)
    supplied = plain * EXAMPLE_V[:, 0]
    printed = np.array([0.5308, 0.0874, 0.3818]) @ EXAMPLE_V
    assert_says(
        "ch2", "reading-worked", *(f"{x:.2f}" for x in [*supplied, *printed]), *(f"{x:.4f}" for x in plain @ EXAMPLE_V)
    )
    assert_says("ch2", "reading-worked", f"{100 * supplied[2] / supplied.sum():.0f} %")

    output, weights = scaled_dot_product_attention(EXAMPLE_Q[None], EXAMPLE_K, EXAMPLE_V)
    assert_says("ch3", "printed-reading", *(f"{x:.4f}" for x in [*weights[0], *output[0]]))


def test_norm_and_angle():
    """Chapter 2: the key [3, 4] has norm 5, is 53 degrees from [1, 0], and scores more than [1, 0] itself."""
    q, k = np.array([1.0, 0.0]), np.array([3.0, 4.0])
    angle = np.degrees(np.arccos(q @ k / np.linalg.norm(q) / np.linalg.norm(k)))
    assert q @ k > q @ q
    assert_says("ch2", "deep-dot", f"norm {np.linalg.norm(k):.0f}", f"{angle:.0f}°")


def test_how_far_two_random_scores_lie_apart():
    """Chapter 3: with 64 entries, more than a third of all pairs of scores are 10 or more apart, and e^10 is 22026."""
    rng = np.random.default_rng(1)
    q, k, other = rng.standard_normal((3, 20000, 64))
    apart = np.mean(np.abs(np.sum(q * (k - other), axis=1)) >= 10)
    assert 0.35 < apart < 0.4
    assert_says("ch3", "growth", "more than a third", f"{np.exp(10):.0f}")


def test_the_root_does_nothing_about_a_single_query_of_large_norm():
    """Chapter 3: if a query is three times as long, its scores are three times as large, scaled or not."""
    rng = np.random.default_rng(2)
    q, keys = rng.standard_normal(64), rng.standard_normal((20000, 64))
    assert np.var(keys @ q) == pytest.approx(q @ q, rel=0.05)
    assert np.std(keys @ (3 * q) / 8) == pytest.approx(3 * np.std(keys @ q / 8))


def test_variances_with_a_condition_broken():
    """Chapter 3 gives the variance of scores if entries have mean 1 or variance 4, and if the key equals the query."""
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((2, 20000, 64))
    for queries, keys, variance, mean in (
        (a, b, 64, 0),
        (a + 1, b + 1, 192, 64),
        (2 * a, 2 * b, 1024, 0),
        (a, a, 128, 64),
    ):
        scores = np.sum(queries * keys, axis=1)
        assert np.var(scores) == pytest.approx(variance, rel=0.06)
        assert np.mean(scores) == pytest.approx(mean, abs=1)
        assert_says("ch3", "deep-assumptions-reading", str(variance))
    assert score_variance(64, 2000, rng) == pytest.approx(64, rel=0.2)


def test_the_best_of_eight_random_keys():
    """Chapter 3 states the right weights for its picture of saturation, with and without scaling."""
    plain, best, last = [], [], []
    for d_k in (4, 64, 1024):
        rng = np.random.default_rng(4)
        query, keys = rng.standard_normal((1, d_k)), rng.standard_normal((8, d_k))
        plain.append(softmax(query @ keys.T).max())
        scaled = scaled_dot_product_attention(query, keys, np.eye(8))[1]
        best.append(scaled.max())
        last.append(scaled.min())
    assert 0.29 < min(best) < max(best) < 0.41
    assert min(last) > 0.02
    assert_says("ch3", "reading-saturation", f"{plain[0]:.3f}", f"{plain[1]:.3f}", "0.3 to 0.4", "more than 0.02")


def test_entropies_of_random_queries():
    """Chapter 3: the weights of scaled scores have an entropy of 3 nats. Without scaling, at 512 entries, the stated numbers of queries prefer a single key."""
    for d_k in (1, 4, 64, 512):
        assert attention_entropy(softmax(random_scores(d_k) / np.sqrt(d_k))).mean() == pytest.approx(3, abs=0.15)
    weights = softmax(random_scores(512))
    entropy = attention_entropy(weights).mean()
    half, nearly = (np.sum(weights.max(axis=1) > share) for share in (0.5, 0.9))
    assert_says(
        "ch3", "reading-entropy", f"{entropy:.2f}", f"{np.exp(entropy):.2f}", f"{half} of the 400", f"{nearly} give"
    )

    rng = np.random.default_rng(1)
    normal = attention_entropy(softmax(2 * rng.standard_normal((20000, 32)))).mean()
    at_4 = attention_entropy(softmax(random_scores(4))).mean()
    assert_says("ch3", "deep-entropy", f"{normal:.2f}", f"{at_4:.2f}", f"{np.log(32) - 2:.2f}")


def test_slopes_of_a_saturated_softmax():
    """Chapter 3 states the right largest slopes for unchanged scores and for scores times 16, and the right slopes in the middle table."""
    scores = np.array([1.0, 0.5, 0.0, -0.5])
    tables = [np.abs(softmax_jacobian(softmax(factor * scores))) for factor in (1, 4, 16)]
    assert tables[1][:2, :2].min() > 0.1
    assert tables[1][2:].max() == pytest.approx(0.016, abs=5e-4)
    assert_says("ch3", "reading-jacobian", f"{tables[0].max():.3f}", "0.016", f"{tables[2].max():.4f}")


def test_what_a_saturated_softmax_still_passes_on():
    """Chapter 3: the values' slopes are the weights. The best value's slope is 1, while the query has almost no slope."""
    rng = np.random.default_rng(4)
    query, keys, values = 16 * rng.standard_normal((1, 64)), rng.standard_normal((8, 64)), rng.standard_normal((8, 1))
    slopes = numerical_gradient(lambda v: scaled_dot_product_attention(query, keys, v)[0].item(), values)
    assert slopes.max() == pytest.approx(1, abs=1e-3)
    assert np.linalg.norm(query_gradient(query[0], keys, values, np.ones(1))) < 1e-3


def test_errors_of_measured_slopes():
    """Chapter 3: the error against the step size is V-shaped, with its minimum below 1e-10 at a step near 1e-5."""
    errors = {
        eps: abs(numerical_gradient(np.exp, np.array(1.0), eps=eps).item() - np.e) for eps in (1e-1, 1e-2, 1e-5, 1e-11)
    }
    assert errors[1e-1] / errors[1e-2] == pytest.approx(100, rel=0.01)
    assert errors[1e-5] < 1e-10 < errors[1e-11]
    ahead = min(abs((np.exp(1 + eps) - np.e) / eps - np.e) for eps in 10.0 ** np.arange(-12, 0.5, 0.5))
    assert ahead > errors[1e-5]
    assert_says("ch3", "deep-why-square", f"{1e6 * (1e-16 / 2) ** (1 / 3):.1f} \\cdot 10^{{-6}}")

    scores = np.array([2.0, 0.0, 1.8])
    measured = [numerical_gradient(lambda s, i=i: softmax(s)[i], scores) for i in range(3)]
    assert np.abs(measured - softmax_jacobian(softmax(scores))).max() < 1e-10


def test_gradients_as_a_lottery():
    """Chapter 3 states the right gradients of a query in the picture, with and without scaling."""
    medians, plain = {}, {}
    for d_k in (8, 32, 128, 512, 2048):
        rng = np.random.default_rng(9)
        sizes, unscaled, root = [], [], np.sqrt(d_k)
        for _ in range(100):
            query, keys = rng.standard_normal(d_k), rng.standard_normal((16, d_k))
            values, wish = rng.standard_normal((16, 4)), rng.standard_normal(4)
            sizes.append(np.linalg.norm(query_gradient(query, keys, values, wish)))
            unscaled.append(root * np.linalg.norm(query_gradient(root * query, keys, values, wish)))
        low, medians[d_k], high = np.quantile(sizes, (0.1, 0.5, 0.9))
        assert medians[d_k] == pytest.approx(0.5, abs=0.05)
        assert medians[d_k] / 3 < low < high < 3 * medians[d_k]
        plain[d_k] = np.array(unscaled)
    assert np.median(plain[32]) / medians[32] == pytest.approx(2.3, abs=0.1)
    assert np.mean(plain[2048] < medians[2048] / 1000) == pytest.approx(0.6, abs=0.02)
    assert np.mean(plain[2048] > medians[2048] * 10) == pytest.approx(1 / 8, abs=0.02)


def test_a_head_that_learns():
    """Chapter 3 describes the training curves correctly, and says where the head looks after 100 steps."""
    task = np.random.default_rng(3)
    X, keys = task.standard_normal((2, 8, 8))
    values, before = np.eye(8), [0, 0, 1, 2, 3, 4, 5, 6]
    start = task.standard_normal((8, 8)) / 30

    def trained(rate, factor):
        W, losses = factor * start, []
        for _ in range(101):
            last = W
            W, loss = training_step(W, X, keys, values, values[before], rate)
            losses.append(loss)
        weights = scaled_dot_product_attention(X @ last, keys, values)[1]
        return np.array(losses), weights[range(8), before]

    (slow, _), (good, right), (hot, few) = (trained(*run) for run in ((0.3, 1), (3, 1), (3, 300)))
    assert_says("ch3", "reading-learning", f"from {good[0]:.3f} to {good[-1]:.3f}", f"at least {right.min():.3f}")
    assert_says("ch3", "reading-learning", f"still {slow[-1]:.3f}", f"from {hot[0]:.3f} to {hot[-1]:.3f}")
    # At such a rate, the rounding of a machine changes the curve. A different rounding must not make the text wrong.
    assert_says("ch3", "reading-learning", "in more than a third of the 100 steps", "After them it is about 0.1,")
    for other in (0, 1e-15, 1e-14, -1e-15):
        fast, some = trained(30, 1 + other)
        assert (np.diff(fast) > 0).sum() > 34
        assert 0.08 < fast[-1] < 0.13
        assert (some < 0.01).sum() == 1
    assert (few > 0.5).sum() == 1
    assert_says(
        "ch3", "reading-learning", "one of the eight tokens gives almost no weight", "one of the eight tokens looks"
    )
    assert abs(good[0] - 0.5 * (0.875**2 + 7 / 64)) < 0.006  # prediction p1 asks for this loss
    assert np.diff(good).max() < 0
