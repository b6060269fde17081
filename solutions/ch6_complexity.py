"""Reference solutions of chapter 6: what attention costs, and how to pay less."""

from collections.abc import Callable

import numpy as np

from autograder.checking import choice, number, quiz
from solutions.ch1_weighted_averaging import softmax

__all__ = [
    "attention_cost",
    "chunked_attention",
    "decode_step",
    "layer_flops",
    "linear_attention",
    "quiz_ch6",
    "sliding_window_mask",
]


def attention_cost(n_q: int, n_k: int, d_k: int, d_v: int) -> dict[str, int]:
    """Count what softmax(Q K^T / sqrt(d_k)) V costs, for Q (n_q, d_k), K (n_k, d_k), V (n_k, d_v).

    Only the two matrix products are counted. One multiply-add is one product of two numbers,
    added to a sum: the dot product of two vectors of 4 entries takes 4 of them.

    n_q, n_k, d_k, d_v: whole numbers, at least 1
    returns: a dictionary with two counts, as numbers of any type,
             "multiply_adds": those of both matrix products together
             "stored_scores": how many numbers the table of scores holds

    Example: attention_cost(2, 3, 4, 5) is {"multiply_adds": 54, "stored_scores": 6}

    You may assume that n_q and n_k are at most 100 000, and that d_k and d_v are at most 20 000.
    """
    pairs = n_q * n_k
    return {"multiply_adds": pairs * (d_k + d_v), "stored_scores": pairs}


def layer_flops(n: int, d_model: int) -> int:
    """Count the floating-point operations (FLOPs) of a multi-head self-attention layer.

    Count these matrix products: X (n, d_model) times each of W_Q, W_K and W_V; the scores and
    the mixing of the values, in all heads together; and the merged heads times W_O. The four
    matrices have shape (d_model, d_model), and h heads of width d_model / h share the columns.
    One multiply-add is 2 FLOPs. Softmax, scaling and biases are left out.

    n:       the number of positions, at least 1
    d_model: the width of the layer, at least 1
    returns: one number, of any type. The number of heads makes no difference to it

    Example: layer_flops(2, 3) is 192. The projections take 144 of these, the attention 48

    You may assume that n is at most 100 000 and d_model is at most 20 000.
    """
    return 8 * n * d_model**2 + 4 * n**2 * d_model


def sliding_window_mask(n: int, window: int) -> np.ndarray:
    """Say which keys each query may see if it looks back only a few steps: True = may attend.

    The queries and the keys are at the same positions 0 to n - 1. A query sees `window` keys: the
    key at its own position and the window - 1 keys right before it, as far as these exist. It
    sees nothing that comes later.

    n:       the number of positions, at least 1
    window:  the number of keys that a query sees at most, at least 1; it may exceed n
    returns: shape (n, n), boolean (dtype bool, not 0 and 1)

    Example: sliding_window_mask(4, 2) is
    [[True,  False, False, False],
     [True,  True,  False, False],
     [False, True,  True,  False],
     [False, False, True,  True]]

    You may assume that window is at most 1000. (A picture below the check also uses n = 512.)
    """
    back = np.arange(n)[:, None] - np.arange(n)
    return (back >= 0) & (back < window)


def linear_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, feature_map: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Let every query average all the values, with weights that are made without a softmax.

    The features of a query or a key are what feature_map returns for it. Query i gives key j a weight
    proportional to the dot product of their features, and its weights add up to 1. There is no
    sqrt(d_k) and no mask. But no table of size n_q x n_k may be made on the way: with 2200 queries
    and 2700 keys, the function must need less than 20 MiB of memory.

    Q:           shape (..., n_q, d_k)
    K:           shape (..., n_k, d_k)
    V:           shape (..., n_k, d_v)
    feature_map: a function that turns each row of d_k numbers, by itself, into a row of m positive
                 numbers; it takes arrays of shape (..., d_k) and returns arrays of shape (..., m),
                 perhaps its argument itself, which it does not change
    returns:     shape (..., n_q, d_v), the output alone

    The dots stand for any number of batch axes, the same on Q, K and V.

    Example: take the query [1, 0], the keys [0, 1] and [2, 0], and a feature_map that adds 1 to every
    entry. The features are [2, 1] for the query and [1, 2] and [3, 1] for the keys, with dot
    products 4 and 7, so the weights are 4/11 and 7/11. The values [11] and [22] give [18]

    You may assume that n_q and n_k are at most 2700, and that the dot products of one query's features
    with those of all keys add up to at least 0.2.
    """
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    mixed = phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V)
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


def chunked_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, block_size: int) -> np.ndarray:
    """Compute scaled dot-product attention block by block, with the same output but in little memory.

    The output is that of softmax(Q K^T / sqrt(d_k)) V, up to rounding, whatever block_size is.
    But no table of size n_q x n_k may be made on the way: with 2200 queries, 2700 keys and blocks
    of 64, the function must need less than 20 MiB of memory. A block is `block_size` keys with
    their values (or, if you prefer, `block_size` queries); the last one may be smaller.

    Q:          shape (..., n_q, d_k)
    K:          shape (..., n_k, d_k)
    V:          shape (..., n_k, d_v)
    block_size: a whole number, at least 1; it need not divide n_k or n_q, and may exceed them
    returns:    shape (..., n_q, d_v), the output alone

    The dots stand for any number of batch axes, the same on Q, K and V.

    Example: the query [2, 0, 0, 0] and the keys [1, 0, 0, 0], [0, 1, 0, 0], [3, 0, 0, 0] have
    the scaled scores 1, 0 and 3. The values [10], [20], [90] are averaged into about [77.924],
    with block_size 2 (a block of two keys and a block of one) just as with 1 or 3 or 100

    You may assume that n_q and n_k are at most 2700 and block_size is at most 400, that each product of a number in
    Q and a number in K is between -10 000 000 and 10 000 000, and that all scaled scores are between -10 000 and
    10 000. (A picture below the check also calls your function with blocks of 512 and 1500.)
    """
    top = np.full((*Q.shape[:-1], 1), -np.inf)
    total, mixed = np.zeros_like(top), np.zeros((*Q.shape[:-1], V.shape[-1]))
    for start in range(0, K.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = Q @ np.swapaxes(K[..., block, :], -1, -2) / np.sqrt(Q.shape[-1])
        old_top, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        fade, e = np.exp(old_top - top), np.exp(scores - top)
        total = total * fade + e.sum(axis=-1, keepdims=True)
        mixed = mixed * fade + e @ V[..., block, :]
    return mixed / total


def decode_step(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, cache_K: np.ndarray, cache_V: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Take one step of writing: the newest position attends to all positions so far, itself included.

    The caches hold the keys and the values of the t positions before, in their order, so that
    none of them is computed again. The newest key and value come last. The scores are divided
    by sqrt(d_k). The arrays cache_K and cache_V themselves stay unchanged.

    q, k:    shape (d_k,), the query and the key of the newest position
    v:       shape (d_v,), its value
    cache_K: shape (t, d_k); t may be 0: the very first step starts with empty caches
    cache_V: shape (t, d_v)
    returns: (output, new_cache_K, new_cache_V) of shapes (d_v,), (t + 1, d_k), (t + 1, d_v)

    Example: the caches hold the key [1, 0, 0, 0] and the value [10]; q = [2, 0, 0, 0],
    k = [0, 1, 0, 0] and v = [20] arrive. The scaled scores are 1 and 0, the output is about
    [12.689], and the new caches have two rows each: [1, 0, 0, 0], [0, 1, 0, 0] and [10], [20]

    You may assume that all scaled scores are between -10 000 and 10 000.
    """
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    weights = softmax(K @ q / np.sqrt(len(q)))
    return weights @ V, K, V


quiz_ch6 = quiz(
    "quiz_ch6",
    points=3,
    hints="""
    Use your own `layer_flops`, in a cell of your own, to work out questions 1 and 2.

    Question 1: set the two parts of a layer's cost equal, and divide by what they share. Question 3: does each method
    use the weights of the softmax? Question 4: what does `decode_step` take and return?

    Question 2: write the cost at n = 512 as two numbers, then multiply one of them by two and the other by four.
    Question 5: the text gives the years and the cost of a fixed number of keys. Question 6: remember what a weight is
    multiplied by.
    """,
    questions={
        "q1": number(
            "where both parts cost the same",
            right=1536,
            wrong={
                (768, "equal_where_n_is_d"): """
                Question 1: At n = 768 = d_model, the projections still cost twice as much: 8nd² is then 8d³, and 4n²d
                is 4d³. Set the two equal and solve for n.""",
                (384, "equal_at_half_of_d"): """
                Question 1: Your factor is the inverse of the right one. At n = 384, the projections cost four times as
                much as the part with n². Set 8nd² equal to 4n²d and divide both sides by 4nd.""",
                (3072, "equal_at_four_times_d"): """
                Question 1: At n = 3072 the part with n² costs twice as much as the projections. Set 8nd² equal to 4n²d and
                divide both sides by 4nd.""",
                (4608, "equal_at_six_times_d"): """
                Question 1: 4608 is 6 · 768. At this length, the part with n² costs as much as all the rest of a block with its
                feed-forward part. The question is about the projections alone, 8nd².""",
                (1152, "equal_at_three_halves_of_d"): """
                Question 1: 1152 is what three projections, 6nd², would give. There are four: W_O counts too.""",
            },
        ),
        "q2": choice(
            "what doubling n costs a layer",
            right="b",
            wrong={
                ("a", "doubling_doubles"): """
                Question 2: It would be times 2 if there were only projections. At n = 512, the part with n² is a third
                of the cost, and that part grows fourfold.""",
                ("c", "doubling_triples"): """
                Question 2: Times 3 is right when both parts cost the same, which for this layer is at n = 1024. At n =
                512, the projections are still two thirds of the cost.""",
                ("d", "doubling_quadruples"): """
                Question 2: Only the part with n² grows fourfold. The projections treat every position by itself, so
                twice as many positions cost twice as much. At n = 512, the projections are two thirds of the cost.""",
            },
        ),
        "q3": choice(
            "which method is exact",
            right="c",
            wrong={
                ("a", "a_window_is_exact"): """
                Question 3: A sliding window gives weight 0 to keys that are further back. Unless these weights were 0
                anyway, the output is different.""",
                ("b", "linear_is_exact"): """
                Question 3: Linear attention has different weights: dot products of features instead of exp(score). It
                computes these exactly, but they are not those of softmax attention.""",
                ("d", "nothing_is_exact"): """
                Question 3: One of the methods is exact. It uses the same scores, the same exps and the same sums, in a
                different order. Your own `chunked_attention` gives the plain output up to rounding, with any block
                size.""",
            },
        ),
        "q4": choice(
            "what a cache saves",
            right="d",
            wrong={
                ("a", "the_cache_makes_steps_constant"): """
                Question 4: The new query still meets every key in the cache, and there is one more at each step. The
                cache only saves computing the old keys and values again.""",
                ("b", "the_cache_approximates"): """
                Question 4: Nothing is approximated. Under a causal mask, the keys and values of earlier positions do
                not depend on later ones, so they stay the same. Your own `decode_step` gave exactly the rows of the
                whole attention.""",
                ("c", "the_cache_saves_memory"): """
                Question 4: A cache uses memory to save time. Each new position adds two rows in every layer, for as
                long as the text goes on.""",
            },
        ),
        "q5": choice(
            "history and applications",
            right="a",
            wrong={
                ("b", "attention_came_in_2017"): """
                Question 5: 2017 is the year of the Transformer, which does without recurrence. Attention for
                translation dates from 2014 (Bahdanau, Cho, Bengio), and Luong, Pham and Manning compared variants of it
                in 2015.""",
                ("c", "attention_needs_words"): """
                Question 5: Attention works on rows of numbers, wherever they come from. The Vision Transformer makes
                rows of the patches of an image. Speech, music and proteins work in the same way.""",
                ("d", "longformer_is_n_root_n"): """
                Question 5: Longformer and BigBird let each query see a fixed number of keys (a window, a few global
                tokens, in BigBird some random ones). So their cost is linear in n. The cost n√n belongs to the Sparse
                Transformer of 2019.""",
            },
        ),
        "q6": choice(
            "a weight and what it means",
            right="b",
            wrong={
                ("a", "weight_is_importance"): """
                Question 6: A key contributes its weight times its value. If that value is near zero, a weight of 0.6
                changes almost nothing. The output then goes through W_O, is added to that of other heads, and passes
                through more layers. The weight alone says only where this head looked.""",
                ("c", "small_weight_is_harmless"): """
                Question 6: A small weight on a large value can move the output more than a large weight on a small
                value. Other heads can also give "the" more weight. To find out, take the word away and look at the
                answer.""",
                ("d", "weights_explain_the_decision"): """
                Question 6: The weights add up to 1, but they are shares of this head's average, not of a decision. Very
                different weights can lead to the same answer (Jain and Wallace, 2019).""",
            },
        ),
    },
)
