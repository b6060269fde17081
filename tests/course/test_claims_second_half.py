"""Tests that compute the numbers in the prose of chapters 4 to 7, and look for each number in the text."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from nbconvert.filters.markdown import markdown2html

from solutions.ch1_weighted_averaging import softmax
from solutions.ch3_scaling import scaled_dot_product_attention
from solutions.ch4_masking import causal_mask, masked_attention
from solutions.ch5_multi_head import (
    equivariance_gap,
    head_contributions,
    multi_head_attention,
    pattern_scores,
    split_heads,
)
from solutions.ch6_complexity import (
    attention_cost,
    chunked_attention,
    layer_flops,
    linear_attention,
    sliding_window_mask,
)
from solutions.ch7_capstone import decoder_attention, previous_token_head
from tests.support.prose import assert_says, cells


@cache
def run(chapter, *names):
    """Run the given cells of a notebook, and return a namespace with the names that they define."""
    found = {"masked_attention": masked_attention, "softmax": softmax}
    for name in names:
        exec(compile(cells(chapter)[name], name, "exec"), found)  # noqa: S102 - the course's own cells
    return SimpleNamespace(**found)


def test_floats_at_the_edge():
    """Chapter 4: exp(-746) is 0 in float64, float32 numbers near 1e9 are 64 apart, and -1e9 is -inf in float16."""
    assert np.exp(-745.0) > 0 == np.exp(-746.0)
    assert_says("ch4", "softmax", "exp(-746)")
    assert np.spacing(np.float32(0.999e9)) == 64
    assert_says("ch4", "reading-empty", "64 apart")
    with np.errstate(over="ignore"):
        assert np.isinf(np.float16(-1e9))
    assert np.finfo(np.float16).max == 65504
    assert_says("ch4", "deep-published", "65504")


def test_ways_to_forbid_a_score():
    """Chapter 4: three ways to forbid a score give the stated weights, even in an empty row."""
    scores = np.array([1.0, 2.0, 3.0])
    assert f"{softmax(scores)[:2].sum():.2f}" == "0.33"
    assert_says("ch4", "softmax", ", ".join(f"{w:.4f}" for w in softmax(np.array([1.0, 2.0, 0.0]))), "| 0.33 |")
    ways = run("ch4", "imports", "pictures", "given-softmax", "picture-empty").three_ways
    for kind, last in ((np.float64, "0.665, 0.245 and 0.090"), (np.float32, "a third each")):
        removed, replaced, added = ways(kind).values()
        assert np.isnan(removed).all()
        assert replaced == pytest.approx(1 / 3)
        told = "{:.3f}, {:.3f} and {:.3f}".format(*added)
        assert told == last or added == pytest.approx(1 / 3)
        assert_says("ch4", "reading-empty", last)


def test_a_changed_last_word():
    """Chapter 4: without a mask, a changed last word changes all outputs. Under the causal mask, it changes only the last."""
    parts = run("ch4", "imports", "pictures", "given-softmax", "picture-attention-parts")
    Q, K, V = parts.six_words()
    K2, V2 = K.copy(), V.copy()
    K2[5], V2[5] = 1.0, 3.0
    free, causal = (
        np.abs(masked_attention(Q, K2, V2, mask)[0] - masked_attention(Q, K, V, mask)[0]).max(axis=-1)
        for mask in (None, parts.LOOK_BACK)
    )
    assert not causal[:5].any()
    assert_says("ch4", "reading-change", f"{free.min():.2f} to {free.max():.2f}", f"by {causal[5]:.2f}")


def test_what_each_head_adds():
    """Chapter 5 states correctly what each head adds to the two rows in the picture, and the largest weight in the average of all heads."""
    toy = run("ch5", "imports", "toy-layer")
    output, weights = multi_head_attention(toy.X, toy.X, toy.W_Q, toy.W_K, toy.W_V, toy.W_O, 6)
    parts = head_contributions(weights @ split_heads(toy.X @ toy.W_V, 6), toy.W_O)
    adds = dict(zip(toy.HEADS, parts, strict=True))
    the, cat, _, on, mat = range(5)
    assert output[2, :5].argmax() == cat
    tallest, together = f"It has {output[2, cat]:.2f}", f"together have {output[2, :5].sum():.2f}"
    assert_says("ch5", "reading-contributions", tallest, together)
    assert {f"{adds[name][2, cat]:.2f}" for name in ("previous", "grammar")} == {"0.96"}
    assert_says(
        "ch5", "reading-contributions", f"*on* is {output[4, on]:.2f} high", f"*the*, {output[4, the]:.2f} high"
    )
    assert f"{adds['previous'][4, on]:.2f}" == "0.96"
    assert {f"{adds['grammar'][4, noun]:.2f}" for noun in (cat, mat)} == {"0.49"}
    sources = [f"{adds[name][4, the]:.2f}" for name in ("same word", "first", "next door", "everybody")]
    assert sources == ["0.49", "0.24", "0.17", "0.17"]
    assert {f"{weights[head].max():.2f}" for head in (0, 2)} == {"0.96"}
    average = weights.mean(axis=0)
    assert average.max() < 0.41 < average.max() + 0.01
    assert average.min() > 0.03
    assert_says("ch5", "reading-sentence", "no weight above 0.41")


def test_pattern_scores_of_two_heads():
    """Chapter 5 states the right pattern scores for a head that looks at neighbors and for a random head."""
    toy, rng = run("ch5", "imports", "toy-layer"), np.random.default_rng(5)
    near = pattern_scores(softmax(np.where(abs(toy.steps) <= 1, 2.0, -2.0)))
    others = sorted(float(near[key]) for key in ("copying", "uniform", "previous"))
    assert_says("ch5", "reading-patterns", f"({near['local']:.2f})", f"from {others[0]:.2f} to {others[-1]:.2f}")
    chance = pattern_scores(softmax(rng.normal(size=(6, 6))))
    assert_says("ch5", "reading-patterns", *(f"{key} {score:.2f}" for key, score in chance.items()))


def test_gaps_of_five_functions():
    """Chapter 5: positions, a causal mask and a running mean make the order of rows matter."""
    rng = np.random.default_rng(7)
    rows, perm = rng.normal(size=(6, 4)), np.array([5, 0, 3, 1, 4, 2])
    waves = np.sin(np.arange(6)[:, None] * np.array([1.0, 0.5, 0.25, 0.125]))
    functions = (
        lambda A: masked_attention(A + waves, A + waves, A + waves)[0],
        lambda A: masked_attention(A, A, A, causal_mask(6))[0],
        lambda A: np.cumsum(A, axis=0) / np.arange(1.0, 7.0)[:, None],
    )
    assert equivariance_gap(lambda A: masked_attention(A, A, A)[0], rows, perm) < 1e-12
    assert_says("ch5", "reading-gap", *(f"{equivariance_gap(f, rows, perm):.2f}" for f in functions))


def test_what_a_layer_costs():
    """Chapter 6 says how much more a layer costs when n doubles, and which share of the cost grows with n²."""
    for n in (128, 1024, 8192):
        ratio = layer_flops(2 * n, 512) / layer_flops(n, 512)
        assert_says("ch6", "reading-layer", f"×{ratio:.2f} at n = {n}")
    for n in (128, 8192):
        assert_says(
            "ch6",
            "reading-layer",
            f"{2 * attention_cost(n, n, 512, 512)['multiply_adds'] / layer_flops(n, 512):.0%}".replace("%", " %"),
        )
    assert_says("ch6", "deep-cache", f"{2 * 32 * 4096 * 2:,} bytes".replace(",", " "))
    assert 4096 * 2 * 32 * 4096 * 2 == 2 * 2**30
    assert_says("ch6", "history", f"{(224 * 224 // 196) ** 2:,}".replace(",", " "))


def test_the_counter():
    """Chapter 6 states the right counts for plain, chunked and linear attention. The counter misses `np.tensordot`."""
    counter = run("ch6", "imports", "pictures", "counter-cell")
    count, inputs = counter.count, counter.random_inputs
    plain = count(scaled_dot_product_attention, *inputs(1024))
    linear = count(lambda *a: linear_attention(*a, np.exp), *inputs(1024))
    blocks = count(lambda *a: chunked_attention(*a, 32), *inputs(1024))
    assert plain["multiply_adds"] > 100 * linear["multiply_adds"]
    assert plain["largest"] > 100 * linear["largest"]
    assert linear["largest"] == 1024 * 8, "the features grow with n"
    assert 1 < blocks["multiply_adds"] / plain["multiply_adds"] < 1.05
    assert count(np.tensordot, np.ones((2, 4)), np.ones((4, 3)), 1)["multiply_adds"] == 0
    pairs = [int(sliding_window_mask(n, 16).sum()) for n in (64, 128, 256, 512)]
    assert_says("ch6", "reading-window", f"slope is {counter.slope([64, 128, 256, 512], pairs):.2f}")


def test_linear_attention_can_be_sharp():
    """Chapter 6: the best of 21 keys gets the weight 0.12 with elu + 1, 0.43 with softmax, and 0.55 with exp(4x)."""
    elu = run("ch6", "imports", "picture-linear-parts").elu_plus_one
    q = np.ones((1, 8))
    K = np.linspace(-2, 2, 21)[:, None] * q
    _, exact = scaled_dot_product_attention(q, K, np.eye(21))
    best = [exact[0, -1]] + [linear_attention(q, K, np.eye(21), f)[0, -1] for f in (elu, lambda X: np.exp(4 * X))]
    assert_says("ch6", "reading-sharpness", *(f"gets {b:.2f}" for b in best[1:]), f"best key {best[0]:.2f}")
    assert exact[0, :10].sum() < 0.005


@pytest.mark.parametrize("n", [8, 16, 32, 64, 128, 256])
def test_m_features_find_m_keys_at_most(n):
    """Chapter 6: with 8 features, n queries give their own keys an average weight of at most 8 / n. With softmax, the weight is nearly 1."""
    elu = run("ch6", "imports", "picture-linear-parts").elu_plus_one
    K = np.random.default_rng(6).normal(size=(n, 8))
    K *= 5 / np.linalg.norm(K, axis=1, keepdims=True)
    _, exact = scaled_dot_product_attention(4 * K, K, np.eye(n))
    assert np.diag(exact).mean() > 0.98
    assert np.linalg.matrix_rank(exact) == n
    own = []
    for feature_map in (elu, lambda X: np.exp(4 * X)):
        weights = linear_attention(4 * K, K, np.eye(n), feature_map)
        own.append(np.diag(weights).mean())
        assert own[-1] <= 8 / n
        assert np.linalg.matrix_rank(weights) <= 8
    if n == 256:
        assert_says("ch6", "reading-sharpness", f"{own[0]:.2f} and {own[1]:.2f} at n = 256")


def test_the_translator():
    """Chapter 7: each row reads the stated weights, and other weights if padding is read. The result is zero for an empty memory."""
    toy = run("ch7", "imports", "toy-cell")
    weights, target, memory = toy.TRANSLATOR, toy.TARGET, toy.MEMORY
    read, padded, empty = (decoder_attention(target, memory, weights, 1, np.array([n]))[0, :, :4] for n in (4, 6, 0))
    assert [f"{x:.2f}" for x in np.diag(read)] == ["0.96", "0.96", "0.96", "1.00"]
    assert_says("ch7", "reading-translator", "*the* gets 0.96", "full stop gets 1.00", f"{padded[0, 0]:.2f}")
    assert np.diag(padded)[1:].max() < 0.03
    assert not empty.any()


def test_which_position_adds_the_most():
    """Chapter 7 states the right norms of the weighted values."""
    weights, values = np.array([0.80, 0.15, 0.05]), np.array([[0.1, 0.1], [3.0, -1.0], [-4.0, 6.0]])
    norms = np.linalg.norm(weights[:, None] * values, axis=1)
    assert_says("ch7", "reading-contribution", "{:.2f}, {:.2f} and {:.2f}".format(*norms))


@pytest.mark.parametrize("n", [4, 5, 12])
def test_one_column_finds_the_token_before_only_under_a_mask(n):
    """Chapter 7, question 1: with d_k = 1, only two keys can win without a mask, but all keys can win under a causal mask."""
    j = np.arange(n)
    keys = (-1.0) ** j * (j + 1)
    scores = np.outer(-((-1.0) ** j), keys)
    assert (np.where(causal_mask(n), scores, -np.inf).argmax(axis=1)[1:] == j[:-1]).all()
    rng = np.random.default_rng(n)
    assert len(set(np.outer(rng.normal(size=1000), rng.normal(size=n)).argmax(axis=1))) == 2 < n - 1


def test_notes_need_columns_of_their_own():
    """Chapter 7, question 4: if notes are added to the token columns, each row attends most to itself and reads its own token and the token before it."""
    words = run("ch7", "imports", "induction-cell").STORY
    kinds = sorted(set(words))
    n, k = len(words), len(kinds)
    X = np.concatenate([np.eye(k)[[kinds.index(word) for word in words]], np.eye(n)], axis=1)
    before, _ = multi_head_attention(X, X, **previous_token_head(n, k + n), h=1, mask=causal_mask(n))
    before[0] = 0
    tokens = np.eye(k + n, k)
    own = X + np.pad(before[:, :k], ((0, 0), (0, n)))
    guess, weights = multi_head_attention(own, own, 40 * tokens, tokens, tokens, tokens.T, h=1, mask=causal_mask(n))
    assert (np.diag(weights[0]) == weights[0].max(axis=1)).all()
    for row in range(6, 10):
        told = {kinds[c] for c in np.flatnonzero(guess[row, :k] > 0.5)}
        assert told == {words[row], words[row - 1]}


def test_folded_answers_unfold():
    """Chapter 7: in nbgrader's feedback, each answer is folded, and Markdown inside it is rendered."""
    page = markdown2html(cells("ch7")["patterns"])
    assert page.count("<details><summary>Answer</summary>") == page.count("</details>") == 4
    assert "<em>attention sink</em>" in page
