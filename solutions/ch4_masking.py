"""Reference solutions of chapter 4: who may look where."""

from collections.abc import Callable

import numpy as np

from autograder.checking import choice, number, quiz
from solutions.ch1_weighted_averaging import softmax

__all__ = [
    "causal_mask",
    "combine_masks",
    "is_causal",
    "masked_attention",
    "masked_softmax",
    "padding_mask",
    "quiz_ch4",
]


def causal_mask(n_q: int, n_k: int | None = None) -> np.ndarray:
    """Say which keys each query may see if no query may look ahead: True = may attend.

    The keys are at positions 0 to n_k - 1. The queries are at the last n_q of these positions:
    query i is at position i + n_k - n_q and may see the key there and every key before it.
    So the last query always sees all the keys.

    n_q:     the number of queries, at least 1
    n_k:     the number of keys, at least n_q; if it is left out, there are as many keys as queries
    returns: shape (n_q, n_k), boolean (dtype bool, not 0 and 1)

    Examples: causal_mask(3) is
    [[True, False, False],
     [True, True,  False],
     [True, True,  True]]
    and causal_mask(2, 4) is
    [[True, True, True, False],
     [True, True, True, True]]
    """
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) <= np.arange(n_q)[:, None] + (n_k - n_q)


def padding_mask(lengths: np.ndarray, n_k: int) -> np.ndarray:
    """Say which keys are real in a batch of sequences that were padded at the end: True = may attend.

    Sequence b has lengths[b] real keys, and they come first; every key after them is padding,
    which no query may see.

    lengths: shape (B,), whole numbers from 0 to n_k, one for each sequence (the dtype is int64)
    n_k:     the number of keys of every sequence, padding included
    returns: shape (B, 1, n_k), boolean. The axis of length 1 is for the queries: a key that
             is padding is padding for every query

    Example: padding_mask(np.array([3, 1]), 4) is
    [[[True, True,  True,  False]],
     [[True, False, False, False]]]
    """
    return np.arange(n_k) < lengths[:, None, None]


def masked_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Turn scores into weights along the last axis, with weight 0 wherever the mask says False.

    The allowed weights of a row add up to 1: they are the softmax of the allowed scores alone.
    A row in which nothing is allowed has only zeros. But a NaN among the allowed scores must
    still show as NaN in its row: zeros there would hide that something went wrong before. One NaN
    among the weights is enough, but if all scores of the row are NaN, all its weights are.

    scores:  shape (..., n_k)
    mask:    boolean, True = may attend; its shape is that of the scores, or broadcasts to it
    returns: the shape of the scores

    Example: the scores [1, 2, 3] with the mask [True, True, False] give about
    [0.2689, 0.7311, 0]: the softmax of [1, 2], and a zero. With [False, False, False] they
    give [0, 0, 0]

    You may assume that all scores are between -1000 and 1000, and that a forbidden score is at most 5 above the
    largest allowed score of its row. So every usual way of hiding a score works. No row has both a NaN and a
    forbidden score.
    """
    weights = softmax(np.where(mask, scores, -1e9))
    return np.where(mask, weights, 0.0)


def masked_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute scaled dot-product attention in which each query sees only the keys that the mask allows.

    Q:       shape (..., n_q, d_k)
    K:       shape (..., n_k, d_k)
    V:       shape (..., n_k, d_v)
    mask:    boolean, True = may attend; its shape is (..., n_q, n_k), or broadcasts to it.
             Every query may see at least one key. If there is no mask, every key may be seen
    returns: the pair (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)

    The dots stand for any number of batch axes, the same on Q, K and V.

    Example: the query [2, 0, 0, 0] and the keys [1, 0, 0, 0], [0, 1, 0, 0], [3, 0, 0, 0] have
    the scaled scores 1, 0 and 3. With the mask [[True, True, False]] the weights are about
    [0.7311, 0.2689, 0], and the values [10], [20], [90] are averaged into about [12.689]

    You may assume that with a mask, all scaled scores are between -1000 and 1000, and a forbidden score is at
    most 5 above the largest allowed score of its query. So every usual way of hiding a score works. Without a
    mask, all scaled scores are between -10 000 and 10 000.
    """
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


def combine_masks(causal: np.ndarray, padding: np.ndarray) -> np.ndarray:
    """Allow what both masks allow.

    causal:  shape (n_q, n_k), boolean, True = may attend; the same for every sequence
    padding: shape (B, 1, n_k), boolean, True = may attend; the same for every query
    returns: shape (B, n_q, n_k), boolean

    True and False may be at any place of either mask.

    Example: with causal_mask(3) and a single sequence of which only two keys are real,
    [[[True, True, False]]], the answer is
    [[[True, False, False],
      [True, True,  False],
      [True, True,  False]]]
    """
    return causal & padding


def is_causal(attend: Callable[[np.ndarray], np.ndarray], X: np.ndarray) -> bool:
    """Find out by experiment whether `attend` is causal, that is, whether it never looks ahead.

    The output is attend(X), and row i of the output belongs to position i, as row i of X does.
    `attend` is causal if no row of the output depends on a later row of X: whatever you change
    in rows i + 1, i + 2, ... of X, output row i stays the same. It may depend on row i of X
    itself.

    attend:  a function that takes an array of shape (n, d), with any n from 1 on and without NaN,
             and returns an array of shape (n, m); it may return its argument itself, or a view of
             it, but does not change it
    X:       shape (n, d), random numbers to try `attend` on
    returns: True if no later position changes an earlier output row, else False.
             Rounding is no change

    Examples: for the running sum, np.cumsum(X, axis=0), the answer is True. For
    X - X.mean(axis=0) it is False, because the mean of all rows depends on the later ones

    You may assume that the same X always gives the same output, that a leak is far above 0.00001, also in
    proportion to the output, that it shows for small changes and for large ones, and that X has 1 to 80 rows of
    numbers between -2 and 2, none of which has only zeros. The number of rows by itself changes nothing: a causal
    `attend` gives the first rows the same output if the others are left out. So the number of columns of its
    output does not depend on n.
    """
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = 0.0
        if not np.allclose(attend(changed)[:t], Y[:t]):
            return False
    return True


quiz_ch4 = quiz(
    "quiz_ch4",
    points=3,
    hints="""
    You can try out questions 1 to 3 in a cell of your own: make the mask or the three scores, and look.

    For 2 and 3, compute the scores after the addition before you think of the softmax. What is 3 - 1e9 in float64, and
    in float32? For 4, write down the divisor of an allowed exp.

    For 5, a padding mask forbids keys, that is, columns. What does the row of a padded query get? For 6, think of the
    functions in the tests of `is_causal`: which of them would pass this test?
    """,
    questions={
        "q1": number(
            "how many places are allowed",
            right=9,
            wrong={
                (3, "count_from_the_top_left"): """
                3 is the count if the two queries are at positions 0 and 1. They are the last two of five positions, 3
                and 4. How many keys does each of them see?""",
                (7, "count_without_itself"): """
                7 is the count if no query may see its own position. But a query may see itself: the queries are at
                positions 3 and 4, and see everything up to and including their own position.""",
                (10, "count_of_everything"): """
                10 is the number of all places, 2 times 5. One place is in the future: the query at position 3 must not
                see the key at position 4.""",
                (1, "count_of_the_blocked"): """
                1 is the number of places that are False. The question asks for the True ones.""",
                (15, "count_of_five_queries"): """
                15 is the count for five queries. There are only two queries here, so the mask has two rows.""",
            },
        ),
        "q2": choice(
            "-1e9 added to a whole row, in float64",
            right="c",
            wrong={
                ("a", "adding_gives_zeros"): """
                `masked_softmax` returns zeros, but a plain softmax always gives a total of 1. It depends only on
                differences between scores. What are the differences after you add the same number to all three?""",
                ("b", "adding_gives_equal_shares"): """
                You get a third each if -1e9 replaces the scores, or if float64 rounds away their differences. But
                float64 keeps them: near 1e9, its numbers are about 1e-7 apart. What are the differences after the
                addition?""",
                ("d", "adding_gives_nan"): """
                nan comes from -inf, because its differences are undefined. -1e9 is an ordinary number, and adding it to
                all three scores does not change their differences.""",
            },
        ),
        "q3": choice(
            "the same in float32",
            right="a",
            wrong={
                ("b", "float32_remembers"): """
                This is the float64 result. float32 keeps about 7 digits: near 1e9 its numbers are 64 apart. What do 3 -
                1e9 and 1 - 1e9 become?""",
                ("c", "float32_gives_zeros"): """
                A plain softmax always gives a total of 1, in float32 as well, whatever the scores are. What are the
                three scores after rounding?""",
                ("d", "float32_overflows"): """
                float32 goes up to 3.4e38, so -1e9 is not too large. But it has too few digits: near 1e9 its numbers are
                64 apart.""",
            },
        ),
        "q4": choice(
            "a mask applied after the softmax",
            right="d",
            wrong={
                ("a", "masking_late_is_harmless"): """
                It is true that the forbidden weights are 0 either way. But look at the allowed ones: by what was each
                exp divided?""",
                ("b", "masking_late_hurts_only_the_sum"): """
                It is true that the rows do not add up to 1. But the divisor of each exp contains the later scores. If a
                later token changes, what happens to the weights of an earlier query?""",
                ("c", "masking_late_gives_negative_weights"): """
                Softmax is never negative, and setting weights to 0 makes none negative. By what was each exp
                divided?""",
            },
        ),
        "q5": choice(
            "what happens to padded queries",
            right="b",
            wrong={
                ("a", "padded_queries_disturb_the_real_ones"): """
                A row of the weights says what one query takes from the values. It says nothing about the other queries.
                Only a padded key, that is, a column, could disturb a real query, and the padding mask blocks those.""",
                ("c", "padded_queries_give_zeros"): """
                They would be zeros only if these rows had nothing to look at. But the mask blocks only columns, and
                every row may see columns 0 and 1.""",
                ("d", "padded_queries_give_nan"): """
                A row with nothing allowed would give nan (or zeros). But the mask blocks only columns, and every row
                may see columns 0 and 1.""",
            },
        ),
        "q6": choice(
            "what one test shows",
            right="c",
            wrong={
                ("a", "one_test_proves_it"): """
                Only the last token was tried. A model in which position 0 looks at position 1 would also pass this
                test. What does it show about tokens 1 to 4?""",
                ("b", "no_change_is_suspicious"): """
                In a causal model, nothing earlier should change, so that is not a sign of a mistake. But only the last
                token was tried.""",
                ("d", "the_last_token_is_padding"): """
                A causal model gives this answer without any padding, because the last token is in the future of every
                earlier position. What does the test show, and about which tokens?""",
            },
        ),
    },
)
