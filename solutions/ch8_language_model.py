"""Reference solutions of chapter 8: a language model that runs on your code."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.checking import choice, number, quiz
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import causal_mask, masked_attention
from solutions.ch5_multi_head import merge_heads, split_heads

__all__ = [
    "generate",
    "layer_norm",
    "next_token_logits",
    "quiz_ch8",
    "rotate_positions",
    "sample_next",
    "transformer_block",
]


def layer_norm(X: np.ndarray, gain: np.ndarray, bias: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Bring every row to mean 0 and variance 1, then stretch it by gain and move it by bias.

    The mean and the variance of a row are those of its own d numbers. The variance is the mean
    of the squared distances from the mean (divided by d, not by d - 1). Each number x becomes
    (x - mean) / sqrt(variance + eps) * gain + bias, with the gain and the bias of its column.

    X:       shape (..., d)
    gain:    shape (d,), one number for each column
    bias:    shape (d,), one number for each column
    eps:     a small positive number that keeps a row of equal numbers from dividing by 0
    returns: shape (..., d), a new array

    The dots stand for any number of batch axes: none, one or more.

    Example: the row [1, 3] has mean 2 and variance 1. With eps = 0.44, [-1, 1] is divided by
    sqrt(1.44) = 1.2, which is about [-0.8333, 0.8333]. With gain [1, 10] and bias [0, 5], the
    result is about [-0.8333, 13.3333]

    You may assume that all numbers in X are between -10 000 and 10 000, that all numbers in gain and bias are
    between -10 and 10, and that eps is from 0.00000001 to 1.
    """
    mean = X.mean(axis=-1, keepdims=True)
    variance = X.var(axis=-1, keepdims=True)
    return (X - mean) / np.sqrt(variance + eps) * gain + bias


def rotate_positions(X: np.ndarray, positions: np.ndarray, base: float = 10000.0) -> np.ndarray:
    """Turn each pair of neighboring entries of a row by an angle that depends on the row's position.

    Entries 0 and 1 of a row are a pair, entries 2 and 3 the next, and so on. Pair i of the row at
    position p is turned by the angle p * base ** (-2 * i / d), in radians, in the
    direction from (1, 0) to (0, 1): a pair (1, 0), turned by a quarter of a circle, becomes (0, 1).

    X:         shape (..., n, 2*m), one position in each row; the last axis is the d of the formula
    positions: shape (n,), the position of each row: whole numbers, in any order; they need not start at 0
    base:      the base of the formula
    returns:   shape (..., n, 2*m), a new array

    The dots stand for any number of batch axes: none, one or more. All of them share the positions.

    Example: take one row, [1, 0, 0, 2], at position 3, with base = 100. d is 4. Pair 0 is turned by
    3 * 100 ** 0 = 3: (1, 0) becomes (cos 3, sin 3), about (-0.98999, 0.14112). Pair 1 is turned by
    3 * 100 ** (-2 / 4) = 0.3: (0, 2) becomes (-2 sin 0.3, 2 cos 0.3), about (-0.59104, 1.91067)

    You may assume that all numbers in X are between -1000 and 1000, that the positions are from -100 000 to
    100 000, and that base is from 2 to 1 000 000.
    """
    d = X.shape[-1]
    angles = positions[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = X[..., 0::2], X[..., 1::2]
    return np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(X.shape)


def transformer_block(X: np.ndarray, weights: dict[str, dict[str, np.ndarray]], h: int) -> np.ndarray:
    """Let every position look at itself and those before it, and then send each row through the mlp by itself.

    First, Y is X + attention(layer_norm(X)), with norm_1. Then the output is
    Y + mlp(layer_norm(Y)), with norm_2. Both norms have layer_norm's usual eps, 0.00001.

    The attention is causal and has h heads, and its scores are divided by the square root of the
    width of one head. In every head the queries and the keys, but not the values, are turned by
    their positions 0, 1, ..., n - 1 (rotate_positions, with its usual base). The mlp turns each
    row x into relu(x W_1 + b_1) W_2 + b_2, where relu replaces each negative number with 0.

    X:       shape (..., n, d_model), one position in each row
    weights: a dictionary of four dictionaries. weights["norm_1"] and weights["norm_2"] hold
             gain of shape (d_model,) and bias of shape (d_model,). weights["attention"] holds
             W_Q of shape (d_model, h*2*m) and W_K of shape (d_model, h*2*m): a head's queries have 2*m
             entries; W_V of shape (d_model, h*d_v) and W_O of shape (h*d_v, d_model).
             weights["mlp"] holds W_1 of shape (d_model, w), b_1 of shape (w,),
             W_2 of shape (w, d_model) and b_2 of shape (d_model,)
    h:       the number of heads, at least 1
    returns: shape (..., n, d_model), a new array

    The dots stand for any number of batch axes: none, one or more.

    Example: X has the single row [1, 3], and h = 1. In both norms, gain is [1, 1] and bias is [0, 0].
    W_Q and W_K are [[0, 0], [0, 0]], and W_V and W_O are [[1, 0], [0, 1]]. The normed row is about
    [-1, 1], and a single position attends only to itself, so Y is about [0, 4]. Normed, Y is again
    about [-1, 1]. With W_1 = [[1, 0], [0, 1]] and b_1 = [0, 0], relu returns about [0, 1]. With
    W_2 = [[5, 6], [7, 8]] and b_2 = [0, 1], the mlp returns about [7, 9]. The output is about [7, 13]

    You may assume that all scaled scores are between -1000 and 1000, and that a hidden score is at most 5 above
    the largest score that its row may see. So every usual way of hiding a score works. All numbers in X are between
    -1000 and 1000, in gain and bias between -10 and 10, and in the matrices between -100 and 100.
    """
    normed, W, mlp = layer_norm(X, **weights["norm_1"]), weights["attention"], weights["mlp"]
    n = X.shape[-2]
    Q, K, V = (split_heads(normed @ W[name], h) for name in ("W_Q", "W_K", "W_V"))
    O, _ = masked_attention(rotate_positions(Q, np.arange(n)), rotate_positions(K, np.arange(n)), V, causal_mask(n))
    Y = X + merge_heads(O) @ W["W_O"]
    hidden = np.maximum(layer_norm(Y, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
    return Y + hidden @ mlp["W_2"] + mlp["b_2"]


def next_token_logits(tokens: list[int] | np.ndarray, model: Mapping[str, Any]) -> np.ndarray:
    """After each of the given tokens, score every token of the vocabulary as a candidate for the next token.

    Every token takes its row of the embedding. These rows go through all the blocks of the model,
    one after the other, and through the last norm. A token's logit is the dot product of the
    resulting row with the row that this token has in the embedding.

    tokens:  shape (n,), an array or a list of whole numbers from 0 to n_vocab - 1, at least one
    model:   a dictionary: "embedding" of shape (n_vocab, d_model), "blocks", a list of dictionaries
             as transformer_block takes them, "norm" with gain and bias of shape (d_model,), and "h",
             the number of heads in every block
    returns: shape (n, n_vocab): row i has the logits of what comes after tokens 0 to i. They are
             scores, not probabilities: no softmax

    Example: a model without any block has the embedding [[1, 0], [0, 2], [3, 3]], and a norm with
    gain [1, 1] and bias [0, 0]. For the tokens [1] the row is [0, 2], the normed row is about [-1, 1],
    and the logits are about [-1, 2, 0]: one dot product for each of the three tokens of the vocabulary
    """
    X = model["embedding"][tokens]
    for block in model["blocks"]:
        X = transformer_block(X, block, model["h"])
    return layer_norm(X, **model["norm"]) @ model["embedding"].T


def sample_next(logits: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """Draw the next token, with the probabilities softmax(logits / temperature).

    A temperature of 0 means the limit: always draw the token with the largest logit.

    logits:      shape (n_vocab,), one score for each token
    temperature: 0 or above
    rng:         a numpy.random.Generator; all that is random comes from it
    returns:     a whole number from 0 to n_vocab - 1. If several logits are equally the largest, any
                 of their tokens is right at temperature 0

    Example: at temperature 2, the logits [0, 2] become [0, 1] before the softmax. The probabilities are
    about [0.2689, 0.7311], so of a thousand draws about 731 are a 1. At temperature 0, every draw is a 1

    You may assume that all logits are between -10 000 and 10 000, and that the temperature is 0 or from 0.001 to 1000.
    """
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.choice(len(logits), p=softmax(logits / temperature)))


def generate(
    tokens: list[int] | np.ndarray,
    n_new: int,
    model: Mapping[str, Any],
    temperature: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Continue a text: draw a token, append it to the text, and go on from there, n_new times.

    Each token is drawn as sample_next does it, from the last row that next_token_logits returns for the
    text so far. But nothing is computed twice: the keys and values of earlier tokens are kept (a
    cache for each block), and only tokens that are new go through the blocks. The text is the same
    as without a cache. With 14 or more new tokens, it takes a third of the multiply-adds that are
    needed without a cache, or less. Without a cache, each new token needs all the matrix products
    of next_token_logits for the text so far.

    tokens:      shape (n,), an array or a list of whole numbers from 0 to n_vocab - 1, at least one
    n_new:       how many tokens to append, at least 1
    model:       a dictionary as next_token_logits takes it. In one check, its arrays count your
                 multiply-adds, so work with the arrays themselves, not with lists made of them
    temperature: 0 or above
    rng:         a numpy.random.Generator; all that is random comes from it
    returns:     shape (n + n_new,), the given tokens and then the drawn tokens

    Example: a model without any block has the embedding [[1, 0], [0, 2]], and a norm with gain [-1, -1]
    and bias [0, 0]. After the token 0 the logits are about [-1, 2], and after 1 they are about [1, -2].
    So the text [0], at temperature 0 and with n_new = 4, becomes [0, 1, 0, 1, 0]

    You may assume that there are at most 70 given tokens and 16 new ones, and that the temperature is 0, or
    from 0.001 to 1000. (The cells below the check write longer texts, with up to 200 new tokens.)
    """
    text, new, caches = list(tokens), list(tokens), [(None, None) for _ in model["blocks"]]
    for _ in range(n_new):
        X, places = model["embedding"][new], np.arange(len(text) - len(new), len(text))
        for i, block in enumerate(model["blocks"]):
            normed, W, mlp = layer_norm(X, **block["norm_1"]), block["attention"], block["mlp"]
            Q, K, V = (split_heads(normed @ W[name], model["h"]) for name in ("W_Q", "W_K", "W_V"))
            Q, K = rotate_positions(Q, places), rotate_positions(K, places)
            if caches[i][0] is not None:
                K, V = (np.concatenate(pair, axis=-2) for pair in zip(caches[i], (K, V), strict=True))
            caches[i] = K, V
            O, _ = masked_attention(Q, K, V, causal_mask(len(new), len(text)))
            X = X + merge_heads(O) @ W["W_O"]
            hidden = np.maximum(layer_norm(X, **block["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
            X = X + hidden @ mlp["W_2"] + mlp["b_2"]
        logits = layer_norm(X[-1], **model["norm"]) @ model["embedding"].T
        new = [sample_next(logits, temperature, rng)]
        text += new
    return np.array(text)


quiz_ch8 = quiz(
    "quiz_ch8",
    points=3,
    hints="""
    Question 1: read the two lines of a block as sums, and put 0 for one of the parts. Question 2: what did your
    `rotate_positions` show about two rows that both move on by the same number of positions?

    Question 5: go through it step by step. Which rows go through the first block before the first new token is drawn,
    and which before the second? Does the last new token go through it at all?

    Question 6: divide both logits by 2, then compare the exp of one with the exp of the other. Question 4: what do the
    other heads do while one is off?
    """,
    questions={
        "q1": choice(
            "what the residual carries",
            right="b",
            wrong={
                ("a", "q1_zeros"): """
                Question 1: the two results are added to the row and do not replace it. What is a row, plus 0, plus
                0?""",
                ("c", "q1_normed"): """
                Question 1: only the attention and the mlp read the normed row. Their results are added to the row
                itself, without a norm.""",
                ("d", "q1_mean"): """
                Question 1: a mean of other rows could only come from the attention, and the attention added 0 here.""",
            },
        ),
        "q2": number(
            "the same distance",
            right=100,
            wrong={
                (106, "q2_other_side"): """
                Question 2: that key would be three positions after its query. In the first pair, the key is three
                positions before its query.""",
                (94, "q2_sum"): """
                Question 2: 94 is 103 - 9. The distance of the query and the key stays the same: 12 - 9.""",
                (9, "q2_stays"): """
                Question 2: the query has moved on by 91 positions. If the key stays where it is, they are 94 apart.""",
                (91, "q2_shift"): """
                Question 2: 91 is how far the query has moved on. The key moves on by the same distance, starting from
                9.""",
            },
        ),
        "q3": choice(
            "why only the distance counts",
            right="c",
            wrong={
                ("a", "q3_cheaper"): """
                Question 3: turning costs a little extra and saves nothing. The advantage is in what a head can
                learn.""",
                ("b", "q3_no_mask"): """
                Question 3: turning hides nothing, so later keys still have scores. You still need the causal mask.""",
                ("d", "q3_any_length"): """
                Question 3: distances that never came up in training are new to the model, and it may write nonsense
                there. Turning does not change that.""",
            },
        ),
        "q4": choice(
            "a head switched off",
            right="d",
            wrong={
                ("a", "q4_only_this_head"): """
                Question 4: the other heads and the mlps were there too, and may be just as necessary. If you switch
                those off one by one, the loss may rise as well.""",
                ("b", "q4_for_this_alone"): """
                Question 4: only one kind of text was tried. On other texts, the same head may do something else.""",
                ("c", "q4_nothing"): """
                Question 4: something was shown: the loss rose, and everything else stayed the same. What can you
                conclude from that?""",
            },
        ),
        "q5": number(
            "rows with a cache",
            right=14,
            wrong={
                (15, "q5_last_too"): """
                Question 5: nothing comes after the last token that is drawn, so it need not go through any block.""",
                (60, "q5_no_cache"): """
                Question 5: 60 = 10 + 11 + 12 + 13 + 14 is the count without a cache, when the whole text goes through
                the block each time.""",
                (5, "q5_new_only"): """
                Question 5: the given tokens also have to go through the block once, because you need their keys and
                values.""",
                (4, "q5_four"): """
                Question 5: you are right that 4 of the new tokens go through it. What about the given tokens?""",
                (50, "q5_every_time"): """
                Question 5: 50 counts the given tokens 5 times. With a cache, they go through the block only once.""",
            },
        ),
        "q6": number(
            "how often at temperature 2",
            right=2.72,
            within=0.01,
            wrong={
                (7.39, "q6_temperature_one"): """
                Question 6: 7.39 is exp(2), which is right at temperature 1. At temperature 2, the logits become 0.5 and
                1.5.""",
                (54.6, "q6_times_two"): """
                Question 6: 54.6 is exp(4): you multiplied by the temperature. Divide the logits by it.""",
                (3, "q6_ratio_of_logits"): """
                Question 6: 3 is the ratio of the logits. Each share depends on the exp of its logit. So
                the difference between the logits matters, not their ratio.""",
                (0.37, "q6_upside_down"): """
                Question 6: this is the inverse of the right ratio. 0.37 is 1 / e, how often token 0 is drawn for every
                token 1.""",
            },
        ),
    },
)
