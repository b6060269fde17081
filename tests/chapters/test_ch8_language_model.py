"""The checks of chapter 8: a language model, its parts, and the text that it writes."""

import inspect
from functools import cache
from pathlib import Path

import multiply_adds
import numpy as np
from inputs import CHANGE, Contract, array, arrays_of, other_first

from autograder.checking import (
    CheckFailed,
    Draws,
    InputCategory,
    Rng,
    all_categories,
    among,
    arrays_nd,
    assert_drawn,
    assert_matches,
    assert_shape,
    check,
    drawn_from,
    exercise,
    floats,
    given,
    group,
    integers,
    pure,
    real,
    size,
    whole,
    whole_numbers,
)
from solutions.ch8_language_model import layer_norm, next_token_logits, quiz_ch8, rotate_positions

MODEL = Path(__file__).resolve().parents[2] / "source" / "ch8_language_model" / "model.npz"
SEEDS = integers(0, 9999)


def numbers(rng, *shape, high=1.5):
    """Return random numbers with one digit after the point."""
    return rng.uniform(-high, high, size=shape).round(1) + 0.0


# layer_norm


@exercise(
    "layer_norm",
    points=3,
    takes=Contract(
        {
            "X": array("... d", low=-1e4, high=1e4),
            "gain": array("d", low=-10, high=10, tiny=1e-3),
            "bias": array("d", low=-10, high=10, tiny=1e-3),
            "eps": real(1e-8, 1, default=True),
        },
    ),
)
class TestLayerNorm:
    """Apply the formula to the row [1, 3] on paper: its mean, the two distances from it, the mean of their squares.

    `X.mean(axis=-1, keepdims=True)` gives one number for each row, in a shape that still fits X. `X.var` takes the same
    arguments.

    Take four steps in this order: subtract the mean, divide by the root of variance plus eps, multiply by gain, add
    bias.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example: one row, and a large eps"""
        agrees.layer_norm(*arrays_of([1, 3], [1, 10], [0, 5]), 0.44)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_several_rows(self, agrees):
        """three rows of four numbers, each with its own mean and variance"""
        X = np.array([[1, 2, 3, 6], [100, 300, 200, 0], [-0.5, 0, 0.25, 0.5]])
        agrees.layer_norm(X, *arrays_of([1, 2, -1, 0.5], [0, 1, 2, 3]))

    @check(points=0.25, visible=True, after="test_several_rows")
    def test_batch(self, agrees):
        """four axes, and as many rows as columns"""
        X = np.random.default_rng(81).uniform(-3, 3, size=(2, 3, 3, 3)).round(1)
        agrees.layer_norm(X, *arrays_of([1, -2, 3], [0.5, 0, -1]))

    @check(points=0.25, visible=True, after="test_several_rows")
    def test_equal_numbers(self, agrees):
        """a row of equal numbers, one of tiny numbers, and one of large numbers that nearly agree"""
        X = np.array([[5, 5, 5], [0.001, 0.003, 0.002], [9000, 9000.01, 9000.005]])
        agrees.layer_norm(X, *arrays_of([1, 2, 3], [4, 5, 6]))
        agrees.layer_norm(X[:1], *arrays_of([1, 2, 3], [4, 5, 6]))

    @check(points=0.5, after="test_several_rows")
    @given(X=arrays_nd(max_dims=3, elements=floats(-5, 5)), eps=drawn_from([1e-6, 1e-3, 0.5]), seed=SEEDS, examples=5)
    def test_any_rows(self, agrees, X, eps, seed):
        """random rows, gain, bias and eps"""
        rng = np.random.default_rng(seed)
        agrees.layer_norm(X, numbers(rng, X.shape[-1]), numbers(rng, X.shape[-1]), eps)
        if X.shape[-1] > 1:  # the same rows, far from zero and close together
            agrees.layer_norm(9000 + 1e-3 * X, numbers(rng, X.shape[-1]), numbers(rng, X.shape[-1]), 1e-8)
            agrees.layer_norm(X, numbers(rng, X.shape[-1]), numbers(rng, X.shape[-1]), 1e-5)
        row = numbers(rng, X.shape[-1])
        agrees.layer_norm(row, row, row)
        agrees.layer_norm(numbers(rng, 3, 3, 3), *numbers(rng, 2, 3))  # means along a wrong axis fit, too
        for rows in (X, other_first(X)):
            agrees.layer_norm(rows, row, row, eps)
        agrees.layer_norm(*arrays_of([4, 1, 2], [9, 3e-6, 1], [9, -4e-6, 2]))
        agrees.layer_norm(*arrays_of([[-1, 1], [1, -1]]), *numbers(rng, 2, 2), 0.5)  # mean 0 and variance 1 already
        lonely = np.append(1000.0, np.zeros(329))  # becomes a number near 18
        agrees.layer_norm(lonely, *numbers(rng, 2, 330), eps)
        # A single row of equal numbers becomes the bias.
        agrees.layer_norm(np.full(X.shape[-1], X.flat[0]), numbers(rng, X.shape[-1]), numbers(rng, X.shape[-1]), eps)

    test_every_kind = all_categories(points=0.5, after="test_several_rows")

    test_care = pure(points=0.5, after="test_small_example")


# rotate_positions


@exercise(
    "rotate_positions",
    points=6,
    takes=Contract(
        {
            "X": array("... n 2*m", low=-1000, high=1000),
            "positions": whole_numbers("n", -100_000, 100_000),
            "base": real(2, 1e6, default=True),
        },
    ),
)
class TestRotatePositions:
    """Begin with one pair. A point (a, b) in the plane, turned by an angle t, is at (a cos t - b sin t, a sin t + b cos
    t). Try it with (1, 0) and a quarter of a circle.

    The angles make a table with one row per position and one column per pair: positions as a column times base ** (-2 i
    / d) as a row. `X[..., 0::2]` has the first entries of all pairs, and `X[..., 1::2]` the second entries. Both have
    the shape (…, n, d / 2), and the table fits them.

    The results are two arrays of shape (…, n, d / 2). They have to go back into the even and the odd columns of one
    array. Make an empty array of X's shape and fill both in, or stack the two along a new last axis and reshape.
    Compute the new second entries from the old first entries, not from the new ones.
    """

    @check(points=0.75, visible=True)
    def test_small_example(self, agrees):
        """the example: one row at position 3, with base 100"""
        agrees.rotate_positions(*arrays_of([[1, 0, 0, 2]]), np.array([3]), 100.0)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_several_rows(self, agrees):
        """four rows of six numbers at positions 0 to 3, with the usual base"""
        X = np.array([[1, 2, 3, 4, 5, 6], [0, 1, 0, -1, 0, 1], [2, -1, 0.5, 0, 1, 1], [-3, 1, 2, -2, 0, 4]])
        agrees.rotate_positions(X, np.arange(4))

    @check(points=0.75, visible=True, after="test_several_rows")
    def test_other_positions(self, agrees):
        """positions in any order, also very large, repeated and negative"""
        X = np.random.default_rng(82).integers(-4, 5, size=(5, 4)) / 2
        agrees.rotate_positions(X, np.array([57, 3, 90_001, -2, 3]))

    @check(points=0.5, visible=True, after="test_several_rows")
    def test_batch(self, agrees):
        """two heads, and a batch of two heads, which all share the positions"""
        X = np.random.default_rng(83).integers(-4, 5, size=(2, 2, 3, 4)) / 2
        agrees.rotate_positions(X[0], np.array([5, 6, 7]))
        agrees.rotate_positions(X, np.array([0, 1, 2]), 50.0)

    @check(points=0.5, visible=True, after="test_other_positions")
    def test_only_the_distance_counts(self, student):
        """the dot product of two turned rows stays the same if both move on by 10"""
        X = np.array([[1, 2, -1, 0.5], [0.5, -1, 2, 1]])
        found = student.measure(CHANGE_OF_PRODUCT, "rotate_positions", X, np.array([3, 7]), np.array([13, 17]))
        call = "the change of the dot product of the two rows of rotate_positions(X, positions) from [3, 7] to [13, 17]"
        assert_matches(found, 0.0, call=call, X=X)

    @check(points=1, after="test_several_rows")
    @given(
        n=integers(1, 5),
        m=integers(1, 4),
        start=integers(-30, 30),
        base=drawn_from([3.0, 100.0, 10000.0]),
        seed=SEEDS,
        examples=6,
    )
    def test_any_sizes(self, agrees, n, m, start, base, seed):
        """random numbers of rows and pairs, with and without a batch, at random positions"""
        batch = (n,) * (seed % 3)  # batch axes as long as the axis of the positions
        X = numbers(np.random.default_rng(seed), *batch, n, 2 * m)
        agrees.rotate_positions(X, start + np.arange(n), base)
        agrees.rotate_positions(X, np.zeros(n, dtype=int), base)  # nothing turns
        X = numbers(np.random.default_rng(seed), 2, 4, 4)  # as many rows as columns, a single pair, a single row
        for part in (X, X[..., :2], X[:, :1]):
            agrees.rotate_positions(part, start + np.arange(part.shape[1]), base)
        agrees.rotate_positions(other_first(part), start + np.arange(part.shape[1]), base)
        # The ends are as far apart as for consecutive positions. Then a turn that is slow, but not at a large position.
        agrees.rotate_positions(X, start + np.array([0, 2, 1, 3]), base)
        agrees.rotate_positions(numbers(np.random.default_rng(seed), 2, 24), np.array([100_000, -90_000]), 1e6)
        agrees.rotate_positions(numbers(np.random.default_rng(seed), 1, 98), np.array([3]))  # 49 * (2 / 98) is below 1
        agrees.rotate_positions(np.array([[900, -800, 5e-4, 4e-4]]), np.array([3]))

    test_every_kind = all_categories(points=1.5, after="test_several_rows")

    test_care = pure(points=0.5, after="test_small_example")


CHANGE_OF_PRODUCT = """
import numpy as np

def probe(rotate_positions, X, one, other):
    turned = (np.asarray(rotate_positions(X, positions), dtype=float) for positions in (one, other))
    before, after = (q @ k for q, k in turned)
    return float(after - before)
"""


# transformer_block


def some_block(rng, d_model, h, m, d_v, w, high=0.8):
    """Return the weights of a block, with numbers of two digits. Gains are near 1 and biases near 0."""
    shapes = {
        "W_Q": (d_model, h * 2 * m),
        "W_K": (d_model, h * 2 * m),
        "W_V": (d_model, h * d_v),
        "W_O": (h * d_v, d_model),
    }
    mlp = {"W_1": (d_model, w), "b_1": (w,), "W_2": (w, d_model), "b_2": (d_model,)}

    def norm():
        return {"gain": (1 + numbers(rng, d_model, high=0.5)).round(1), "bias": numbers(rng, d_model, high=0.5)}

    def some(parts):
        return {name: rng.uniform(-high, high, size=shape).round(2) + 0.0 for name, shape in parts.items()}

    return {"norm_1": norm(), "norm_2": norm(), "attention": some(shapes), "mlp": some(mlp)}


def far_apart(rng):
    """Return four rows and a block of two heads. The first head's scores are near 884 and -884, the second's all near -884.

    Only the largest score of a row, subtracted in each head, keeps every exp finite and every sum above 0.
    """
    block, slow = some_block(rng, 2, 2, 4, 2, 3, 0.4), np.eye(1, 8, 6)  # the last pair turns slowly
    block["norm_1"] = {"gain": np.ones(2), "bias": np.array([0.0, 1.0])}  # after this norm, a row adds up to 1
    one, both = np.array([[50.0], [0.0]]) * slow, np.full((2, 1), 50.0) * slow
    block["attention"]["W_Q"], block["attention"]["W_K"] = np.hstack([one, both]), np.hstack([one, -both])
    return np.outer([1.0, -1.0, -1.0, 1.0], [1.0, -1.0]) * rng.uniform(1, 9, size=(4, 1)), block


def at_level(block, h, level):
    """Return the block with ``level`` added to every score, through a feature that is 1 in every row and is hardly turned.

    Queries and keys need at least 8 columns.
    """
    norm = {name: np.append(block["norm_1"][name][:-1], one) for name, one in (("gain", 0.0), ("bias", 1.0))}
    attention = dict(block["attention"])
    for name, factor in (("W_Q", 1.0), ("W_K", level / 900)):
        W = attention[name].reshape(len(attention[name]), h, -1).copy()
        W[..., -2:], W[-1] = 0.0, 0.0
        W[-1, :, -2] = 30 * np.sqrt(W.shape[-1]) ** 0.5 * factor
        attention[name] = W.reshape(attention[name].shape)
    return {**block, "norm_1": norm, "attention": attention}


def scores_of_a_block(X, weights, h):
    """Return the scaled scores of every head."""
    normed, n = layer_norm(X, **weights["norm_1"]), X.shape[-2]
    Q, K = (
        np.swapaxes((normed @ weights["attention"][name]).reshape(*X.shape[:-1], h, -1), -2, -3)
        for name in ("W_Q", "W_K")
    )
    Q, K = rotate_positions(Q, np.arange(n)), rotate_positions(K, np.arange(n))
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])


def scaled(part, names, factor):
    """Return one dictionary with some of its arrays multiplied by a factor. No number exceeds 100."""
    found = dict(part)
    for name in names:
        found[name] = (part[name] * min(factor, 100 / max(np.abs(part[name]).max(initial=0), 1e-300))).astype(
            part[name].dtype
        )
    return found


def with_close_scores(X, weights, h):
    """Return the weights with W_Q or W_K so small that the scores of a query are within 3 of each other."""
    with np.errstate(all="ignore"):
        scores = scores_of_a_block(X.astype(float), weights, h)
        spread = max(np.ptp(scores, axis=-1).max(), np.abs(scores).max() / 300)
        if spread <= 3:
            return weights
        top = {name: np.abs(weights["attention"][name]).max() for name in ("W_Q", "W_K")}
        return {**weights, "attention": scaled(weights["attention"], [min(top, key=top.get)], 3 / spread)}


def scores_in_bounds(values, _rng):
    """Return the same inputs with scores close to each other, so that every part affects the output."""
    return {**values, "weights": with_close_scores(values["X"], values["weights"], values["h"])}


def inner_part(names):
    """Return the contract of a dictionary of weights, by name and shape."""
    return group({name: array(shape, low=-100, high=100, tiny=1e-2) for name, shape in names.items()})


NORM = group({name: array("d_model", low=-10, high=10, tiny=1e-2) for name in ("gain", "bias")})


def with_a_tiny_weight():
    """Return two rows and a block. The second row gives the first a weight of 5e-7, and its value is large enough to count."""
    eye, zeros = np.eye(3), np.zeros(3)
    keys = np.array([[0.0, 0.0], [0.0, 0.0], [0.137, 0.0]])
    weights = {
        "norm_1": {"gain": np.full(3, 10.0), "bias": zeros},
        "norm_2": {"gain": np.ones(3), "bias": zeros},
        "attention": {"W_Q": np.sign(keys), "W_K": keys, "W_V": 100 * eye[:, :1], "W_O": 100 * eye[:1]},
        "mlp": {"W_1": eye, "b_1": zeros, "W_2": eye, "b_2": zeros},
    }
    return np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]), weights


@exercise(
    "transformer_block",
    points=8,
    depends_on=("layer_norm", "rotate_positions"),
    takes=Contract(
        {
            "X": array("... n d_model", low=-1000, high=1000),
            "weights": group(
                {
                    "norm_1": NORM,
                    "norm_2": NORM,
                    "attention": inner_part(
                        {"W_Q": "d_model h*2*m", "W_K": "d_model h*2*m", "W_V": "d_model h*d_v", "W_O": "h*d_v d_model"}
                    ),
                    "mlp": inner_part({"W_1": "d_model w", "b_1": "w", "W_2": "w d_model", "b_2": "d_model"}),
                }
            ),
            "h": size("h"),
        },
        sizes={"d_model": (2, 140), "w": (1, 140), "h": (1, 70), "m": (1, 70), "d_v": (1, 70)},
        constrain=scores_in_bounds,
    ),
)
class TestTransformerBlock:
    """Draw the block first: X goes straight through, and twice a result is computed from it and added to it. Which norm
    does each of the two computations begin with, and what is the input of that norm?

    The attention is that of chapter 5 with one addition: after `split_heads`, queries and keys go through
    `rotate_positions` with the positions `np.arange(n)`. n is the number of rows, `X.shape[-2]`. Then come
    `masked_attention` with `causal_mask(n)`, `merge_heads`, and W_O.

    Write two lines that look alike, Y = X + attention(norm(X)) and return Y + mlp(norm(Y)), and fill them in. The mlp
    is `np.maximum(… @ W_1 + b_1, 0) @ W_2 + b_2`. Use a dictionary of gain and bias like this: `layer_norm(X,
    **weights["norm_1"])`.
    """

    @check(points=1, visible=True)
    def test_small_example(self, agrees):
        """the example: a single row"""
        norm, eye = {"gain": np.ones(2), "bias": np.zeros(2)}, np.eye(2)
        weights = {
            "norm_1": norm,
            "norm_2": norm,
            "attention": {"W_Q": np.zeros((2, 2)), "W_K": np.zeros((2, 2)), "W_V": eye, "W_O": eye},
            "mlp": {"W_1": eye, "b_1": np.zeros(2), "W_2": np.array([[5.0, 6], [7, 8]]), "b_2": np.array([0.0, 1])},
        }
        agrees.transformer_block(np.array([[1.0, 3.0]]), weights, 1)

    @check(points=1, visible=True, after="test_small_example")
    def test_one_head(self, agrees):
        """five rows and one head"""
        rng = np.random.default_rng(84)
        agrees.transformer_block(numbers(rng, 5, 3), some_block(rng, 3, 1, 2, 2, 4), 1)

    @check(points=1.5, visible=True, after="test_one_head")
    def test_several_heads(self, agrees):
        """three heads, with widths that differ from the width of X"""
        rng = np.random.default_rng(85)
        agrees.transformer_block(numbers(rng, 4, 5), some_block(rng, 5, 3, 2, 2, 7), 3)

    @check(points=0.5, visible=True, after="test_several_heads")
    def test_batch(self, agrees):
        """a batch of two, as many rows as columns"""
        rng = np.random.default_rng(86)
        agrees.transformer_block(numbers(rng, 2, 4, 4), some_block(rng, 4, 2, 1, 2, 4), 2)

    @check(points=0.5, visible=True, after="test_one_head")
    def test_large_rows(self, agrees):
        """large rows"""
        rng = np.random.default_rng(87)
        agrees.transformer_block(100 * numbers(rng, 3, 4), some_block(rng, 4, 2, 2, 1, 3), 2)

    @check(points=1, after="test_several_heads")
    @given(n=integers(1, 5), d_model=integers(2, 5), h=integers(1, 3), m=integers(1, 3), seed=SEEDS, examples=5)
    def test_any_sizes(self, agrees, n, d_model, h, m, seed):
        """random sizes"""
        rng = np.random.default_rng(seed)
        X, weights = numbers(rng, n, d_model), some_block(rng, d_model, h, m, 2, 3)
        both = np.stack([X, X[::-1]])
        for rows, heads in ((X, h), (X, 1), (both, 1), (other_first(X), 1)):  # the same arrays in one head
            agrees.transformer_block(rows, with_close_scores(rows, weights, heads), heads)
        for level in (-880.0, 880.0):
            block = at_level(some_block(rng, d_model, h, 4, 2, 3, 0.4), h, level)
            agrees.transformer_block(X, block, h)
        agrees.transformer_block(*far_apart(rng), 2)
        agrees.transformer_block(*with_a_tiny_weight(), 1)
        # Numbers above 3000 in the hidden layer.
        signs = np.resize([1.0, -1.0], 6)
        loud = some_block(rng, 6, 2, 1, 1, 3, 0.1)
        loud["norm_2"]["gain"], loud["mlp"]["W_1"] = np.full(6, 9.0), 90 * signs[:, None] + numbers(rng, 6, 3)
        agrees.transformer_block(5 * signs + numbers(rng, 3, 6), loud, 2)

    @check(points=0.5, after="test_several_heads")
    @given(t=integers(1, 3), more=integers(1, 3), seed=SEEDS, examples=3)
    def test_no_future(self, student, t, more, seed):
        """later rows change no earlier row"""
        rng = np.random.default_rng(seed)
        X, weights = numbers(rng, t + more, 4), some_block(rng, 4, 2, 2, 3, 5)
        later = X.copy()
        later[t:] = numbers(rng, more, 4)
        weights = with_close_scores(np.stack([X, later]), weights, 2)
        found = student.measure(CHANGE, "transformer_block", [X, weights, 2], [later, weights, 2], t)
        call = f"the change of transformer_block(X, weights, 2)[:{t}] if later takes the place of X"
        assert_matches(found, np.zeros((t, 4)), call=call, X=X, later=later, weights=weights)

    test_every_kind = all_categories(points=1.5, after="test_several_heads")

    test_care = pure(points=0.5, after="test_small_example")


# next_token_logits and generate are checked with a few small models that differ in everything that can vary.


def some_model(seed, n_vocab, d_model, blocks, h, m, d_v, w, high=1.0):
    """Return a model with random weights."""
    rng = np.random.default_rng(seed)
    norm = {"gain": (1 + numbers(rng, d_model, high=0.5)).round(1), "bias": numbers(rng, d_model, high=0.5)}
    return {
        "embedding": numbers(rng, n_vocab, d_model, high=2.0),
        "blocks": [some_block(rng, d_model, h, m, d_v, w, high) for _ in range(blocks)],
        "norm": norm,
        "h": h,
    }


def other_order(parts):
    """Return the dictionary, and each dictionary in it, with its keys in reverse order."""
    return {key: other_order(parts[key]) if isinstance(parts[key], dict) else parts[key] for key in reversed(parts)}


N_VOCAB = 5
MODELS = {  # most matrices could also be split into a different number of heads
    "one block": some_model(801, N_VOCAB, 4, 1, 2, 1, 2, 3),
    "two blocks": other_order(some_model(802, N_VOCAB, 6, 2, 3, 2, 2, 4)),
    "three blocks": some_model(803, N_VOCAB, 3, 3, 1, 4, 4, 5),
    "as many columns as tokens": some_model(804, N_VOCAB, N_VOCAB, 2, 2, 3, 3, 4),
    "no block": some_model(805, N_VOCAB, 4, 0, 1, 1, 1, 1),
}


# A single head averages the signs of all tokens so far. Their sum decides the next token, so every token counts.
SIGNS = np.array([[-1.0, 1.0], [1.0, -1.0]])
NO_MLP = {"W_1": np.zeros((2, 1)), "b_1": np.zeros(1), "W_2": np.zeros((1, 2)), "b_2": np.zeros(2)}
PLAIN_NORM = {"gain": np.ones(2), "bias": np.zeros(2)}
AVERAGE = {"W_Q": np.zeros((2, 2)), "W_K": np.zeros((2, 2)), "W_V": np.eye(2), "W_O": 100 * np.eye(2)}
MAJORITY = {
    "embedding": SIGNS,
    "blocks": [{"norm_1": PLAIN_NORM, "norm_2": PLAIN_NORM, "attention": AVERAGE, "mlp": NO_MLP}],
    "norm": PLAIN_NORM,
    "h": 1,
}


def majority(n, **more):
    """Return the input category of the model that counts its tokens, and an odd number ``n`` of tokens. ``more`` are further arguments."""
    return InputCategory.custom(
        "model: the majority",
        "a long text and a model that counts all of its tokens",
        lambda v: len(v["tokens"]) == n and v["model"]["embedding"].shape == SIGNS.shape,
        # Without a few tokens at the start or at the end, the other token has the majority.
        lambda v, _rng: {
            **v,
            "tokens": np.repeat([1, 0, 1], [n - n // 2 - n // 4, n // 2, n // 4]),
            "model": MAJORITY,
            **more,
        },
        sizes={"n": n},
    )


def of_model(name):
    """Return the input category of this model."""
    return InputCategory.custom(
        f"model: {name}",
        f"a model with {name}",
        lambda v: (
            len(v["model"]["blocks"]) == len(MODELS[name]["blocks"])
            and v["model"]["embedding"].shape == MODELS[name]["embedding"].shape
        ),
        lambda v, _rng: {**v, "model": MODELS[name]},
    )


def one_block_for_long_texts(values, _rng):
    """Allow several blocks only for short texts, because a right solution may loop over every pair of tokens in each block."""
    is_short = len(values["tokens"]) <= 63 or len(values["model"]["blocks"]) <= 1
    return values if is_short else {**values, "model": MODELS["one block"]}


@cache
def trained_model():
    """Return the chapter's model in float64, a text, and its logits as another program computed them."""
    with np.load(MODEL) as stored:
        arrays = {name: stored[name] for name in stored.files}
    nested = {}
    for name, value in arrays.items():
        place = nested
        *parents, last = name.split(".")
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value.astype(np.float64) if value.dtype.kind == "f" else value
    model = {
        "embedding": nested["embedding"],
        "blocks": [nested["blocks"][str(i)] for i in range(len(nested["blocks"]))],
        "norm": nested["norm"],
        "h": int(nested["h"]),
    }
    return model, nested["recorded"]["tokens"], nested["recorded"]["logits"]


@exercise(
    "next_token_logits",
    points=4,
    depends_on=("layer_norm", "rotate_positions", "transformer_block"),
    takes=Contract(
        {"tokens": whole_numbers("n", 0, N_VOCAB - 1), "model": among(*MODELS.values())},
        sizes={"n": (1, 300)},
        categories=[*(of_model(name) for name in MODELS), majority(299)],
        constrain=one_block_for_long_texts,
    ),
)
class TestNextTokenLogits:
    """There are four steps: rows of the embedding, the blocks, the last norm, the embedding again. Write down the shape
    after each.

    `model["embedding"][tokens]` picks one row for each token, as often as it occurs. Then write a loop that passes the
    output of each block to the next.

    At the end there are (n, d_model) numbers. Compare each of the n rows with each of the n_vocab rows of the
    embedding: multiply by the embedding's transpose. Do not apply a softmax.
    """

    @check(points=0.75, visible=True)
    def test_no_block(self, agrees):
        """the example: a model without any block"""
        model = {
            "embedding": np.array([[1.0, 0], [0, 2], [3, 3]]),
            "blocks": [],
            "norm": {"gain": np.ones(2), "bias": np.zeros(2)},
            "h": 1,
        }
        agrees.next_token_logits(np.array([1]), model)

    @check(points=0.75, visible=True, after="test_no_block")
    def test_two_blocks(self, agrees):
        """four tokens and two blocks"""
        agrees.next_token_logits(np.array([2, 0, 2, 4]), some_model(88, 5, 3, 2, 1, 1, 2, 2))

    @check(points=0.5, visible=True, after="test_two_blocks")
    def test_square_embedding(self, agrees):
        """as many columns as tokens in the vocabulary, three blocks, and the tokens as a list"""
        agrees.next_token_logits([1, 3, 0], some_model(89, 4, 4, 3, 2, 1, 1, 2))

    @check(points=0.5, after="test_two_blocks")
    def test_any_text(self, agrees, student, reference, rng):
        """random texts, with models of random sizes"""
        for model in MODELS.values():
            agrees(call="next_token_logits(tokens, model)").next_token_logits(rng.integers(0, N_VOCAB, size=7), model)
        agrees(call="next_token_logits(tokens, model)").next_token_logits([3], MODELS["two blocks"])
        for model in (MODELS["one block"], some_model(807, N_VOCAB, 4, 1, 2, 1, 2, 3)):  # two models of one size
            agrees(call="next_token_logits(tokens, model)").next_token_logits(np.array([3, 0, 3]), model)
        # A first block that changes nothing.
        first, last = MODELS["two blocks"]["blocks"]
        mlp, attention = ({name: 0 * W for name, W in first[part].items()} for part in ("mlp", "attention"))
        idle = {**MODELS["two blocks"], "blocks": [{**first, "mlp": mlp, "attention": attention}, last]}
        agrees(call="next_token_logits(tokens, model)").next_token_logits(np.array([3, 1, 4]), idle)
        many = some_model(806, 330, 2, 1, 1, 1, 1, 1)
        agrees(call="next_token_logits(tokens, model)").next_token_logits(np.array([127, 329, 128, 256, 0, 255]), many)
        given = SAME_BLOCK, "next_token_logits", np.array([3, 1, 4]), MODELS["two blocks"]
        call = "next_token_logits(tokens, model) for a model that uses one block twice"
        assert_matches(student.measure(*given), reference.probe(*given), call=call)

    @check(points=0.5, after="test_two_blocks")
    def test_recorded_logits(self, student):
        """the trained model gives the logits that another program computed"""
        model, tokens, logits = trained_model()
        found = student.next_token_logits(tokens, model)
        assert_matches(found, logits, rtol=0, atol=1e-5, call="next_token_logits(tokens, model)", tokens=tokens)

    test_every_kind = all_categories(points=0.5, after="test_two_blocks")

    test_care = pure(points=0.5, after="test_no_block")


SAME_BLOCK = """
def probe(next_token_logits, tokens, model):
    return next_token_logits(tokens, {**model, "blocks": 2 * model["blocks"][:1]})
"""

# Checks of sample_next and generate count how often each token is drawn. Under Bernstein and Freedman's bound, a right
# function fails less than once in ten million times, however it uses its generator.

CHANCE = float(np.log(2e7))


def assert_tokens_drawn(draws, shares, call, example=""):
    """Raise ``CheckFailed`` unless the tokens in ``draws`` occur as often as ``shares`` says, with a row of shares for each draw."""
    draws, shares = np.asarray(draws), np.asarray(shares)
    n_vocab = shares.shape[1]
    if draws.shape != shares.shape[:1] or draws.dtype.kind not in "iuf" or (draws != np.round(draws)).any():
        raise CheckFailed(f"{call} should give whole numbers.", kind="wrong")
    if (draws < 0).any() or (draws >= n_vocab).any():
        odd = draws[(draws < 0) | (draws >= n_vocab)][0]
        raise CheckFailed(f"{call} gave {odd:g}, but there are only the tokens 0 to {n_vocab - 1}.", kind="chance")
    impossible = shares[np.arange(len(draws)), draws.astype(int)] < 1e-12
    if impossible.any():
        token = draws[impossible][0]
        there = shares[np.flatnonzero(impossible)[0]]
        only = np.ptp(there[there > 0]) == 0  # as at temperature 0
        why = (
            "Only the token with the largest logit can be drawn."
            if only
            else "Its logit is too far below the largest one."
        )
        raise CheckFailed(f"{call} gave {token:g}, a token that should never be drawn. {why}", example, kind="chance")
    expected, variance = shares.sum(axis=0), (shares * (1 - shares)).sum(axis=0)
    found = np.bincount(draws.astype(int), minlength=n_vocab)
    far = np.abs(found - expected) - CHANCE / 3 - np.sqrt((CHANCE / 3) ** 2 + 2 * CHANCE * variance)
    if far.max() > 0:
        worst = int(far.argmax())
        raise CheckFailed(
            f"In {len(draws)} calls of {call} with {n_vocab} logits, token {worst} was drawn {found[worst]} times, but it should be about {expected[worst]:.0f}. "
            "At this temperature, are the probabilities softmax(logits / temperature), and is the token drawn from them?",
            example,
            kind="chance",
        )


def shares_of(logits, temperature):
    """Return the share of each token. At temperature 0, only the tokens with the largest logit have a share."""
    logits = np.asarray(logits, dtype=np.float64)
    if temperature == 0:
        best = logits == logits.max(axis=-1, keepdims=True)
        return best / best.sum(axis=-1, keepdims=True)
    e = np.exp((logits - logits.max(axis=-1, keepdims=True)) / temperature)
    return e / e.sum(axis=-1, keepdims=True)


DRAWS = """
import numpy as np

def probe(sample_next, logits, temperature, rng, count):
    return np.array([float(sample_next(logits, temperature, rng)) for _ in range(count)])
"""


def within(low, high):
    """Return the phrase for a share within these bounds."""
    return f"{100 * low:.0f} %" if low == high else f"{100 * low:.0f} % to {int(100 * high + 1e-9)} %"


# This probe describes in a phrase how often a token is drawn. The phrase is the same for all solutions with the same
# shares, however they use their generator, so it can identify a misconception, even in a notebook.
WORDS = f"""
import numpy as np

{inspect.getsource(within)}
def word(share, low, high):
    if low <= share <= high:
        return within(low, high)
    if share in (0, 1):
        return within(share, share)
    return f"below {{100 * low:.0f}} %" if share < low else f"above {{int(100 * high + 1e-9)}} %"
"""
SHARE = (
    WORDS
    + """
def probe(sample_next, logits, temperature, rng, count, token, low, high):
    return word(np.mean([sample_next(logits, temperature, rng) == token for _ in range(count)]), low, high)
"""
)


def share_of(student, logits, temperature, token, low, high, count=300):
    """Check that the share of a token among many draws is within its bounds."""
    logits = np.array(logits)
    found = student.probe(SHARE, "sample_next", logits, temperature, Rng(5), count, token, low, high)
    call = f"the frequency of token {token} among {count} draws of sample_next(logits, {temperature:g}, rng)"
    assert_matches(found, within(low, high), call=call, logits=logits)


AGAIN = """
import numpy as np

def probe(sample_next, logits, temperature, rng, count):
    first, again = ([int(sample_next(logits, temperature, own)) for _ in range(count)] for own in twins(rng))
    return "the same tokens" if first == again else "other tokens"

def twins(rng):
    seed = int(rng.integers(2**32))
    return np.random.default_rng(seed), np.random.default_rng(seed)
"""


def draws_of(student, logits, temperature, rng, count=300):
    """Check many draws against the shares of the tokens. At temperature 0, three draws are enough."""
    call = f"sample_next(logits, {temperature:g}, rng)"
    count = count if temperature else 3
    found = student.measure(DRAWS, "sample_next", logits, temperature, Rng(int(rng.integers(2**32))), count)
    assert_shape(found, (count,))
    example = f"logits = np.array({np.asarray(logits).tolist()})\n{call}" if np.size(logits) <= 60 else ""
    assert_tokens_drawn(found, np.tile(shares_of(logits, temperature), (count, 1)), call, example)


def one_likely(n_vocab, place, temperature, odds=2):
    """Return logits with which one token is ``odds`` times as likely as all others together, at the given temperature.

    With odds of 2, the fewest draws detect a wrong temperature.
    """
    logits = np.zeros(n_vocab)
    logits[place] = temperature * np.log(odds * (n_vocab - 1))
    return logits


def off_by_a_tenth(logits, temperature):
    """Return the test that detects a temperature that is off by 10 %."""
    return Draws(
        shares_of(logits, temperature),
        {
            "a temperature 10 % too high": shares_of(logits, 1.1 * temperature),
            "a temperature 10 % too low": shares_of(logits, temperature / 1.1),
        },
    )


ONE_MISSING = Draws(np.full(60, 1 / 60), {"one missing token of 60": np.append(0, np.full(59, 1 / 59))})


@exercise(
    "sample_next",
    points=3,
    takes=Contract(
        {
            "logits": array("n_vocab", low=-1e4, high=1e4),
            "temperature": real(0, 1000),
            "rng": among(Rng(0)),
        },
        sizes={"n_vocab": (1, 330)},
        categories=[
            InputCategory.custom(
                "temperature: 0",
                "a temperature of 0",
                lambda v: v["temperature"] == 0 and np.size(v["logits"]) > 1,
                lambda v, _rng: {**v, "temperature": 0},
            ),
            InputCategory.custom(
                "temperature: near 0",
                "a temperature of nearly 0",
                lambda v: 0 < v["temperature"] < 0.01 and np.size(v["logits"]) > 1,
                lambda v, _rng: {**v, "temperature": 0.001},
            ),
            InputCategory.custom(
                "temperature: about 1",
                "a temperature near 1, and logits that leave every token a chance",
                lambda v: 0.5 < v["temperature"] < 2 and 0.2 < np.ptp(v["logits"]) < 3,
                lambda v, rng: {
                    **v,
                    "logits": rng.uniform(-1, 1, size=np.shape(v["logits"])),
                    "temperature": float(rng.choice([0.7, 1.5])),
                },
            ),
        ],
        constrain=lambda v, _rng: {
            **v,
            "temperature": 0 if v["temperature"] < 0.0005 else max(v["temperature"], 0.001),
        },
        corrupt=1.0,  # answers are checked by their distribution
    ),
)
class TestSampleNext:
    """Begin with temperature 0, which needs no randomness and no division. `np.argmax` gives the place of the largest
    number.

    At any other temperature, divide first, then take the `softmax`. The result is a list of probabilities, one for each
    token.

    `rng.choice(n, p=probabilities)` draws one of the numbers 0 to n - 1 with these probabilities.
    """

    @check(points=0.5, visible=True)
    def test_cold(self, agrees):
        """at temperature 0, the token whose logit is the largest by at least 0.1, whatever the generator"""
        agrees.sample_next(np.array([0.0, 2.0, 1.9, -1.0]), 0, Rng(1))
        agrees.sample_next(np.array([-3.0, -2.0, -700.0]), 0, Rng(3))
        share_of(agrees.student, [0.0, 2.0, 1.9, -1.0], 0, 1, 1.0, 1.0, 20)
        share_of(agrees.student, [0.0, 1.0, 0.9, -1.0], 0, 1, 1.0, 1.0, 20)  # the largest logit equals its own index

    @check(points=0.5, visible=True, after="test_cold")
    def test_the_example(self, student):
        """the example: at temperature 2, token 1 has a share of about 0.73"""
        share_of(student, [0.0, 2.0], 2.0, 1, 0.637, 0.825, 800)  # share 0.731, bounds six standard deviations away

    @check(points=0.25, visible=True, after="test_the_example")
    def test_three_tokens(self, student):
        """several tokens, at low and high temperatures, and up to 40 tokens at temperature 1"""
        share_of(student, [-2.0, -0.5, -3.0], 0.5, 1, 0.86, 0.995)
        share_of(student, [-2.0, -0.5, -3.0], 100.0, 2, 0.17, 0.5)
        share_of(student, [0.0, 800.0], 1000.0, 1, 0.53, 0.85)  # share 0.69, bounds six standard deviations away
        share_of(student, [0.0, 3.0], 1.0, 0, 0.01, 0.0925, 800)  # share 0.047, six standard deviations below 0.0925
        # Noise with another distribution gives the likeliest of many tokens a different share.
        share_of(
            student, [3.0] + [0.0] * 39, 1.0, 0, 0.18, 0.5
        )  # share 0.34, bounds at least 5.8 standard deviations away
        # A solution with its own seed draws the same token each time, which is hardly ever the likeliest here.
        share_of(student, [0.3] + [0.0] * 9, 1.0, 0, 0.01, 0.25)  # share 0.13, bounds six standard deviations away
        # With a new random number for each token, the last token comes too often or, compared with sums, too rarely.
        share_of(student, [0.0] * 5, 1.0, 4, 0.115, 0.285, 800)  # share 0.2, bounds six standard deviations away

    @check(points=0.25, visible=True, after="test_cold")
    def test_nearly_cold(self, student):
        """near temperature 0, the token with the largest logit, and also at 0 if two logits nearly agree"""
        share_of(student, [1.0, 3.0, 2.0], 0.001, 1, 1.0, 1.0, 20)
        share_of(student, [2000.0, -3000.0, 1000.0], 1.0, 0, 1.0, 1.0, 20)
        share_of(student, [1.0, 1.000001, 0.999999], 0, 1, 1.0, 1.0, 20)
        share_of(student, [2.0, 0.0, 2.0], 0, 1, 0.0, 0.0, 20)  # token 0 or 2

    @check(points=0.25, visible=True, after="test_the_example")
    def test_same_again(self, student):
        """the same seed gives the same tokens"""
        found = student.probe(AGAIN, "sample_next", np.zeros(9), 1.0, Rng(8), 20)
        call = "what a second series of 20 draws with the same seed gives"
        assert_matches(found, "the same tokens", call=call)

    @check(points=0.5, after="test_the_example")
    def test_any_logits(self, student, rng):
        """random logits at several temperatures: each token comes as often as it should"""
        for n_vocab, temperature in ((6, 1.0), (4, 0.3), (9, 3.0)):
            draws_of(student, numbers(rng, n_vocab), temperature, rng, 100)
        for temperature in (
            0.001,
            float(10 ** rng.uniform(-2.5, -1)),
            40.0,
            1000.0,
        ):  # logits as far apart as the temperature
            draws_of(student, one_likely(300, int(rng.integers(256, 300)), temperature, 1), temperature, rng, 100)
        draws_of(student, np.array([-0.9, 0.9]) * rng.uniform(0.9, 1.1), 2.0, rng)  # not rounded to whole numbers
        draws_of(student, rng.uniform(-9, 9) + 1e-6 * rng.permutation(60), 0.0, rng)  # almost equal logits, float 0
        draws_of(student, np.append(0.0, -1.0 - rng.permutation(8)), 0.0, rng)  # the largest logit is exactly 0
        draws_of(student, 9000 + 3e-4 * np.append(0.0, 1.0 + rng.permutation(8)), 0.0, rng)  # equal in float32
        found = student.measure(CHANGED_LOGITS, "sample_next", np.array([0.0, 90.0]), 1.0, Rng(11))
        assert_matches(found, np.array([1.0, 0.0]), call=CHANGED_CALLS)
        # Enough draws to detect a temperature that is off by a tenth, and a token that is never drawn.
        temperature = float(rng.uniform(0.5, 3))
        likely, rare = (one_likely(330, int(rng.integers(256, 330)), temperature, odds) for odds in (2, 7))
        for logits, test in (
            (likely, off_by_a_tenth(likely, temperature)),
            (rng.uniform(-9, 9) + 1e-6 * rng.permutation(60), ONE_MISSING),  # a cut-off would keep all equal logits
            (rare, Draws(shares_of(rare, temperature), {"no rare tokens": np.eye(330)[rare.argmax()]})),
        ):
            call = f"sample_next(logits, {temperature:g}, rng)"
            seed = Rng(int(rng.integers(2**32)))
            found = student.measure(DRAWS, "sample_next", logits, temperature, seed, test.number)
            assert_drawn(found, test, call=call)

    test_every_kind = all_categories(
        points=0.5,
        after="test_the_example",
        ask=lambda agrees, _name, values: draws_of(
            agrees.student, values["logits"], values["temperature"], np.random.default_rng(9), 30
        ),
    )

    test_care = pure(
        points=0.25,
        after=("test_cold", "test_same_again"),
        title="leaves its inputs unchanged, and a second call with the same input gives the same result",
    )


CHANGED_LOGITS = """
import numpy as np

def probe(sample_next, logits, temperature, rng):
    logits = logits.copy()  # only the probe changes this array
    before = float(sample_next(logits, temperature, rng))
    logits[:] = logits[::-1].copy()
    return np.array([before, float(sample_next(logits, temperature, rng))])
"""
CHANGED_CALLS = (
    "two calls of sample_next with the same array, np.array([0.0, 90.0]) and then np.array([90.0, 0.0]) in it,"
)
TEXTS = """
import numpy as np

def probe(generate, tokens, n_new, model, temperature, rng, count):
    return np.array([[float(t) for t in generate(tokens, n_new, model, temperature, rng)] for _ in range(count)])
"""
SAME_TEXT = """
import numpy as np

def probe(generate, tokens, n_new, model, temperature, rng, count):
    seeds = rng.integers(2**32, size=count).tolist()
    same = all(
        list(generate(tokens, n_new, model, temperature, np.random.default_rng(seed)))
        == list(generate(tokens, n_new, model, temperature, np.random.default_rng(seed)))
        for seed in seeds
    )
    return "the same texts" if same else "other texts"
"""
COLD_TEXT = """
import numpy as np

def probe(generate, tokens, n_new, model, rng):
    return np.array([float(t) for t in generate(tokens, n_new, model, 0, rng)])
"""
BLOCKS_TWICE = """
import numpy as np

def probe(generate, tokens, n_new, model, rng):
    model = {**model, "blocks": 2 * model["blocks"]}
    return np.array([float(t) for t in generate(tokens, n_new, model, 0, rng)])
"""
EACH_IN_TURN = """
import numpy as np

def probe(generate, texts, n_new, models, rng):
    found = [generate(tokens, n_new, model, 0.0, rng) for tokens in texts for model in models]
    return np.array([float(token) for text in found for token in text])
"""
SHARE_OF_TEXTS = (
    WORDS
    + """
def probe(generate, tokens, n_new, model, temperature, rng, count, ending, low, high):
    texts = [list(generate(tokens, n_new, model, temperature, rng))[len(tokens):] for _ in range(count)]
    return word(np.mean([text == ending for text in texts]), low, high)
"""
)
COUNTED = inspect.getsource(multiply_adds)


def texts_of(student, tokens, n_new, model, temperature, rng, count=60):
    """Check many drawn texts against the model's shares for each of their tokens."""
    tokens, seed = np.asarray(tokens), Rng(int(rng.integers(2**32)))
    call = f"generate(tokens, {n_new}, model, {temperature:g}, rng)"
    found = student.measure(TEXTS, "generate", tokens, n_new, model, temperature, seed, count)
    assert_shape(found, (count, len(tokens) + n_new))
    if (found[:, : len(tokens)] != tokens).any():
        raise CheckFailed(f"{call} should begin with the given tokens.")
    n_vocab = len(model["embedding"])
    for place in range(len(tokens), len(tokens) + n_new):
        if not np.isin(found[:, place], np.arange(n_vocab)).all():
            raise CheckFailed(f"{call} wrote a token that does not exist. There are the tokens 0 to {n_vocab - 1}.")
        beginnings, which = np.unique(found[:, :place].astype(int), axis=0, return_inverse=True)
        shares = np.array([shares_of(next_token_logits(text, model)[-1], temperature) for text in beginnings])
        for last in np.unique(
            found[:, place - 1]
        ):  # counted together, too many draws after one token could hide too few after another
            after = found[:, place - 1] == last
            assert_tokens_drawn(found[after, place], shares[which.ravel()][after], f"{call}[{place}]")


def counted(student, tokens, n_new, model):
    """Check the text, and that it took at most a third of the multiply-adds needed without a cache."""
    plain = sum(multiply_adds.matrix_products(model, len(tokens) + i) for i in range(n_new))
    least = n_new * sum(multiply_adds.block_products(weights, 1) for weights in model["blocks"]) // 2
    found = student.probe(COUNTED, "generate", tokens, n_new, model, 0, Rng(0), least, plain // 3)
    right = greedy(tuple(np.asarray(tokens).tolist()), n_new, model)
    call = f"generate(tokens, {n_new}, model, 0, rng)"
    assert_matches(found["text"], right, call=call, tokens=tokens)
    work = f"the number of multiply-adds in {call}"
    assert_matches(found["multiply-adds"], multiply_adds.FEW, call=work, tokens=tokens)


def greedy(tokens, n_new, model):
    """Return the likeliest continuation, computed without a cache."""
    text = list(tokens)
    for _ in range(n_new):
        text.append(int(np.argmax(next_token_logits(text, model)[-1])))
    return np.array(text)


def told_apart(values, _rng):
    """Return the same inputs, or None if a text at temperature 0 has nearly equal best logits. Texts are sampled only if they are short, because many samples are needed."""
    model = values["model"]
    long = len(values["tokens"]) > 7 or values["n_new"] > 2
    temperature = 0 if values["temperature"] < 0.005 or long else values["temperature"]
    if temperature:
        return {**values, "temperature": temperature}
    text = list(values["tokens"])
    for _ in range(values["n_new"]):
        logits = next_token_logits(text, model)[-1]
        if np.diff(np.sort(logits)[-2:])[0] < 1e-3:
            return None
        text.append(int(np.argmax(logits)))
    return {**values, "temperature": 0}


def asked_for(agrees, _name, values):
    """Check the text itself at temperature 0, and the distribution of texts at other temperatures."""
    if values["temperature"] == 0:
        agrees(call=f"generate(tokens, {values['n_new']}, model, 0, rng)").generate(*values.values())
    else:
        texts_of(agrees.student, *list(values.values())[:4], np.random.default_rng(10), 3)


WRITERS = {name: MODELS[name] for name in MODELS if name != "no block"}
LONGER = some_model(819, 7, 8, 2, 2, 2, 4, 12, 1.5)
MANY_TOKENS = some_model(863, 300, 4, 1, 1, 1, 1, 1, 2.5)  # most multiply-adds are in the logits


def with_large_scores(model):
    """Return a model of one block whose scores are 300 times as large."""
    [block] = model["blocks"]
    attention = {**block["attention"], "W_Q": 300 * block["attention"]["W_Q"]}
    return {**model, "blocks": [{**block, "attention": attention}]}


@exercise(
    "generate",
    points=8,
    depends_on=("layer_norm", "rotate_positions", "transformer_block", "next_token_logits", "sample_next"),
    takes=Contract(
        {
            "tokens": whole_numbers("n", 0, N_VOCAB - 1),
            "n_new": whole(1, 9),
            "model": among(*WRITERS.values()),
            "temperature": real(0, 1000),
            "rng": among(Rng(0)),
        },
        sizes={"n": (1, 70)},
        categories=[
            *(of_model(name) for name in WRITERS),
            InputCategory.custom(
                "temperature: 0",
                "a temperature of 0",
                lambda v: v["temperature"] == 0,
                lambda v, _rng: {**v, "temperature": 0, "n_new": 9},
            ),
            majority(69, temperature=0),
            InputCategory.custom(
                "temperature: about 1",
                "a temperature near 1",
                lambda v: 0.5 < v["temperature"] < 3,
                lambda v, rng: {**v, "temperature": float(rng.choice([1.0, 2.5])), "n_new": 2},
            ),
        ],
        constrain=told_apart,
        corrupt=1.0,  # drawn texts are checked by their distribution
    ),
)
class TestGenerate:
    """First write it without a cache: call `next_token_logits` on the text so far, `sample_next` on its last row, and
    append the token. This is right except for the number of multiply-adds, and the checks show whether everything else
    is right.

    What can you keep? No position looks ahead, so a row never changes after you have computed it. From the earlier
    tokens, a new token needs only their turned keys and their values, in every block. Write the block once more, for
    the new rows only: in the first round these are the given tokens, later a single token.

    Three things differ from `transformer_block`. The positions of the new rows do not start at 0, but continue after
    the earlier ones. The new keys and values, of shape (h, new, …), go after the old ones with `np.concatenate(…,
    axis=-2)`, and you keep the result. The mask is `causal_mask(new, all)`, with fewer queries than keys.
    """

    @check(points=1, visible=True)
    def test_no_block(self, agrees):
        """the example: a model without any block, from one token"""
        norm = {"gain": -np.ones(2), "bias": np.zeros(2)}
        model = {"embedding": np.array([[1.0, 0], [0, 2]]), "blocks": [], "norm": norm, "h": 1}
        agrees.generate(np.array([0]), 4, model, 0, Rng(1))

    @check(points=1.5, visible=True, after="test_no_block")
    def test_a_text(self, agrees):
        """eight new tokens after three given tokens, with two blocks, at temperature 0"""
        agrees.generate(np.array([2, 0, 4]), 8, some_model(813, 6, 4, 2, 2, 1, 1, 3, 2.5), 0, Rng(2))

    @check(points=0.5, visible=True, after="test_a_text")
    def test_one_token(self, agrees):
        """after a single token, after a list of tokens, and after a list of 69 tokens, all of which matter"""
        agrees.generate(np.array([3]), 6, some_model(812, 5, 3, 1, 1, 1, 2, 2), 0, Rng(3))
        agrees.generate([1, 3, 3, 0], 5, some_model(813, 4, 4, 2, 1, 2, 1, 2), 0, Rng(4))
        # Probes, because the diagnosis compares their results.
        for tokens, n_new, model in (
            ([1] * 18 + [0] * 34 + [1] * 17, 2, MAJORITY),  # without the first or the last few, 0 has the majority
            ([1] * 35 + [0] * 34, 2, MAJORITY),  # with only the last few, 0 has the majority
            ([2, 0, 4], 8, some_model(813, 6, 4, 2, 2, 1, 1, 3, 2.5)),
            ([3], 6, some_model(812, 5, 3, 1, 1, 1, 2, 2)),
        ):
            found = agrees.student.probe(COLD_TEXT, "generate", tokens, n_new, model, Rng(2))
            right = greedy(tokens, n_new, model).astype(float)
            assert_matches(found, right, call=f"generate(tokens, {n_new}, model, 0, rng)", tokens=tokens, model=model)

    @check(points=0.5, visible=True, after="test_no_block")
    def test_temperature(self, student):
        """without blocks, each text comes as often as it should at the given temperature"""
        norm = {"gain": -np.ones(2), "bias": np.zeros(2)}
        model = {"embedding": np.array([[1.0, 0], [0, 2]]), "blocks": [], "norm": norm, "h": 1}
        # The shares are 0.53, 0.07, 0.91, 0.33 and 0.26. The bounds are at least six standard deviations away.
        cases = (
            (3.0, [1, 0], 0.26, 0.8, 120),
            (3.0, [0, 0], 0.0, 0.18, 200),
            (1.0, [1, 0], 0.68, 1.0, 60),
            (10.0, [1, 0], 0.07, 0.59, 120),
            # The same random number for both tokens gives a share of 0.015.
            (100.0, [1, 0], 0.07, 0.45, 200),
            # The likeliest text of twelve tokens, which a solution with its own seed does not give.
            (10.0, [1, 0] * 6, 0.0, 0.18, 20),
        )
        for temperature, ending, low, high, count in cases:
            n_new = len(ending)
            asked = np.array([0]), n_new, model, temperature, Rng(5), count, ending, low, high
            call = f"the frequency of {ending} after [0] among {count} texts of generate(np.array([0]), {n_new}, model, {temperature:g}, rng)"
            found = student.probe(SHARE_OF_TEXTS, "generate", *asked)
            assert_matches(found, within(low, high), call=call, model=model)

    @check(points=0.25, visible=True, after="test_temperature")
    def test_same_again(self, student):
        """the same seed gives the same text"""
        model = some_model(814, 5, 2, 1, 1, 1, 1, 1)
        found = student.probe(SAME_TEXT, "generate", np.array([1, 0]), 5, model, 2.0, Rng(6), 3)
        call = "what a second series of 3 texts with the same seeds gives"
        assert_matches(found, "the same texts", call=call)

    @check(points=1.5, visible=True, after="test_a_text")
    def test_multiply_adds(self, student):
        """the right text, with at most a third of the multiply-adds that are needed without a cache"""
        counted(student, np.array([1, 0, 3]), 14, some_model(859, 5, 4, 1, 2, 1, 2, 8, 2.5))

    @check(points=0.75, after="test_a_text")
    @given(n=integers(1, 4), which=drawn_from(list(WRITERS)), seed=SEEDS, examples=5)
    def test_any_text(self, agrees, n, which, seed):
        """random texts, at temperature 0"""
        values = {
            "tokens": np.random.default_rng(seed).integers(0, N_VOCAB, size=n),
            "n_new": 7,
            "model": WRITERS[which],
            "temperature": 0,
        }
        if told_apart(values, None) is not None:
            agrees(call="generate(tokens, 7, model, 0, rng)").generate(*values.values(), Rng(seed))
        # The largest scores are between 709 and 1000.
        loud = with_large_scores(WRITERS["one block"])
        agrees(call="generate(tokens, 5, model, 0, rng)").generate(np.array([1, 0, 3]), 5, loud, 0, Rng(0))

    @staticmethod
    def in_turn(student):
        """Check texts that are continued one after another in one process.

        First, two models continue texts of the same length and with the same last token. Then one model continues longer
        and longer texts, and a short one.
        """
        alike = [np.array([i, 4 - i, 2 * i, 1]) for i in range(3)]
        # Each is longer than the text before it with its continuation.
        longer = [np.arange(3 * i, 3 * i + n) % N_VOCAB for i, n in enumerate((3, 9, 15, 5))]
        one, two = WRITERS["one block"], WRITERS["two blocks"]
        for texts, models in ((alike, [one, two]), (longer, [two])):
            found = student.measure(EACH_IN_TURN, "generate", texts, 4, models, Rng(7))
            right = np.concatenate([greedy(tokens, 4, model) for tokens in texts for model in models]).astype(float)
            call = "[generate(tokens, 4, model, 0.0, rng) for tokens in texts for model in models], one text after the other,"
            assert_matches(found, right, call=call, texts=texts)

    @check(points=0.5, after=("test_a_text", "test_temperature"))
    def test_drawn_texts(self, student, rng):
        """each token of a drawn text comes as often as it should after the text before it"""
        texts_of(student, [2, 0, 1], 2, WRITERS["two blocks"], 2.0, rng, 25)
        self.in_turn(student)
        # A model that uses the same block twice.
        tokens, model = [2, 0, 4, 1], some_model(813, 6, 4, 2, 2, 1, 1, 3, 2.5)
        found = student.measure(BLOCKS_TWICE, "generate", tokens, 8, model, Rng(2))
        model = {**model, "blocks": 2 * model["blocks"]}
        call = "generate(tokens, 8, model, 0, rng), with each of the two blocks used twice,"
        assert_matches(found, greedy(tokens, 8, model).astype(float), call=call, tokens=tokens, model=model)
        # Enough draws to detect a temperature that is off by a tenth, or that is used only in some of the steps.
        temperature = float(rng.uniform(1.5, 3))
        likely = one_likely(330, int(rng.integers(256, 330)), temperature)
        # The gain is 0, so the logits are the same after every text.
        model = {"embedding": np.stack([likely, np.arange(330.0)], axis=1), "blocks": [], "h": 1}
        model["norm"] = {"gain": np.zeros(2), "bias": np.array([1.0, 0.0])}
        test = off_by_a_tenth(likely, temperature)
        steps = 16
        texts = -(-test.number // steps)
        seed = Rng(int(rng.integers(2**32)))
        found = student.measure(TEXTS, "generate", np.array([1]), steps, model, temperature, seed, texts)
        assert_shape(found, (texts, 1 + steps))
        assert_drawn(found[:, 1:].ravel(), test, call=f"generate(tokens, {steps}, model, {temperature:g}, rng)")

    test_every_kind = all_categories(points=0.5, after=("test_a_text", "test_temperature"), ask=asked_for)

    @check(points=0.75, after="test_multiply_adds")
    def test_fewer_multiply_adds(self, student):
        """for longer texts, the right text within the same limit on multiply-adds"""
        counted(student, np.array([5, 1, 6, 0, 0, 2]), 16, LONGER)
        counted(student, np.array([5, 1, 6, 0, 0, 2] * 9), 16, LONGER)
        counted(student, np.arange(20) % 7, 14, MANY_TOKENS)

    test_care = pure(
        points=0.25,
        after=("test_no_block", "test_same_again"),
        title="leaves its inputs unchanged, and a second call with the same input gives the same result",
    )


TestQuiz = quiz_ch8.checks()
