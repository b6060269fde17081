"""Reference solutions of chapter 2: where the weights come from."""

import numpy as np

from autograder.checking import choice, number, quiz
from solutions.ch1_weighted_averaging import softmax

__all__ = ["attention_scores", "dot_product_attention", "einsum_attention", "project_qkv", "quiz_ch2"]


def project_qkv(
    X_q: np.ndarray, X_kv: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make queries from one sequence, and keys and values from another (or from the same one).

    X_q:      shape (..., n_q, d_model), the sequence that asks, with one position in each row
    X_kv:     shape (..., n_k, d_model), the sequence that is asked; for self-attention X_q again
    W_Q, W_K: shape (d_model, d_k)
    W_V:      shape (d_model, d_v)
    returns:  Q of shape (..., n_q, d_k), K of shape (..., n_k, d_k), V of shape (..., n_k, d_v)

    Example: X_q has the row [1, 2], and X_kv has the rows [1, 0] and [0, 3]. Let W_Q have the
    rows [1, 0, 1] and [0, 1, 1], W_K the rows [2, 0, 0] and [0, 1, 0], and W_V the rows [10]
    and [1]. Then Q has the row [1, 2, 3], K has the rows [2, 0, 0] and [0, 3, 0], and V has
    the rows [10] and [3]
    """
    return X_q @ W_Q, X_kv @ W_K, X_kv @ W_V


def attention_scores(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Score every query against every key by their dot product, and nothing else.

    Q:       shape (..., n_q, d_k)
    K:       shape (..., n_k, d_k), with the same batch axes `...` as Q: none, one or more
    returns: shape (..., n_q, n_k); row i, column j is query i with key j of the same batch entry

    Example: the queries [1, 2] and [0, 1] with the keys [3, 0], [1, 2] and [0, 4] have the
    scores [3, 5, 8] and [0, 2, 4]
    """
    return Q @ np.swapaxes(K, -1, -2)


def dot_product_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let every query look at every key, and mix the values by how well they match.

    The weights are the softmax of each query's scores, without any scaling.

    Q:       shape (..., n_q, d_k)
    K:       shape (..., n_k, d_k)
    V:       shape (..., n_k, d_v)
    returns: the pair (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)

    Example: with the keys [2, 0], [0, 0], [0, 1] and the values [10, 0], [20, 0], [0, 10],
    the query [1, 1] has the weights [0.6652, 0.0900, 0.2447] and the output [8.453, 2.447];
    the query [0, 0] has the weights [1/3, 1/3, 1/3] and the output [10, 3.333]

    You may assume that all scores are between -10 000 and 10 000.
    """
    weights = softmax(attention_scores(Q, K))
    return weights @ V, weights


def einsum_attention() -> dict[str, object]:
    """The two equations of attention, for np.einsum."""
    return {"SCORES_EQ": "ia,ja->ij", "MIX_EQ": "ij,jb->ib"}


quiz_ch2 = quiz(
    "quiz_ch2",
    points=3,
    hints="""
    You can try out every question. Make small arrays of the given shapes and pass them to your own functions.

    For 1, think about who has a question and who has the answers. For 2, make arrays of ones and print shapes. For 4,
    draw q = [2, 0] with the keys [3, 9] and [1, 0]. For 5, add up the printed weights, then divide one by another.

    For 3, leave out the matrices: with Q = K = V = X, what is the score of a position with itself? For 5 and 6, write
    down exp of each of the three scores. Every weight is one of them, divided by the same number.
    """,
    questions={
        "q1": choice(
            "who asks in a translation",
            right="b",
            wrong={
                ("a", "q1_the_source_asks"): """
                Question 1: here the queries would come from the English sentence, and keys and values from the French
                one. But the French side has to know what to write next, so it asks: the queries come from it. It finds
                the answer in the English sentence.""",
                ("c", "q1_keys_and_values_apart"): """
                Question 1: keys and values come in pairs, one of each for every position. A key whose value belongs to
                another sentence has nothing to return. With sentences of different length, even their numbers would
                differ.""",
                ("d", "q1_the_source_alone"): """
                Question 1: with all three from the English sentence, this would be self-attention. Then the French
                words written so far would not affect where to look.""",
            },
        ),
        "q2": choice(
            "the shapes of the results",
            right="d",
            wrong={
                ("a", "q2_as_wide_as_the_queries"): """
                Question 2: the output has as many rows as the queries, but another width. It is a mix of values, and
                these are 5 wide. It has "the shape of the queries" only if d_v happens to equal d_k.""",
                ("b", "q2_a_row_for_each_key"): """
                Question 2: in that answer, there is a row for each key. But each query gets an output: 4 queries make 4
                rows in the output, and 4 rows of weights with a column for each of the 6 keys.""",
                ("c", "q2_weights_on_their_side"): """
                Question 2: the output is right, but the weights are transposed. A row of weights belongs to one query
                and adds up to 1 over the keys. Only then does weights @ V fit: (4, 6) with (6, 5).""",
            },
        ),
        "q3": choice(
            "why there are three projections",
            right="a",
            wrong={
                ("b", "q3_shapes_would_not_fit"): """
                Question 3: without any projection, Q = K = V = X fits very well. X @ X.T is (n, n), and its product
                with X has the shape of X again. It runs, but it cannot learn what to look for.""",
                ("c", "q3_so_that_each_attends_to_itself"): """
                Question 3: the opposite is true. Without projections, a position's score with itself is its squared
                norm, which is always the largest among rows of equal norm. Projections let a position look
                elsewhere.""",
                ("d", "q3_a_third_each"): """
                Question 3: each of the three matrices has d_model rows and uses every feature of the position. Chapter
                5 splits features among several heads.""",
            },
        ),
        "q4": choice(
            "what a large dot product means",
            right="c",
            wrong={
                ("a", "q4_direction_only"): """
                Question 4: a dot product is large because of the angle, the norms, or both. For q = [2, 0], the key [3,
                9] scores 6 and [1, 0] scores 2. But [1, 0] points exactly in the direction of q.""",
                ("b", "q4_nearest"): """
                Question 4: a dot product is not a distance. For q = [2, 0], the key [3, 9] scores 6 and [1, 0] scores
                2, but [1, 0] is much nearer.""",
                ("d", "q4_in_proportion"): """
                Question 4: weights are not proportional to the scores but to exp of them. If one score is larger by 4,
                its weight is larger by a factor of exp(4), about 55. With scores 106 and 102, it would be the same
                55.""",
            },
        ),
        "q5": choice(
            "what is wrong with the printed weights",
            right="b",
            wrong={
                ("a", "q5_sum"): """
                Question 5: add them up: 0.5308 + 0.0874 + 0.3818 is 1.0000. So they are weights, but not the weights of
                these scores.""",
                ("c", "q5_zero_score_zero_weight"): """
                Question 5: a score of 0 does not mean a weight of 0, because exp(0) is 1. Only differences between
                scores count, and 0 is just 2 below the best. Softmax of such scores never gives exactly 0.""",
                ("d", "q5_shares"): """
                Question 5: 2 / 3.8 would be a share of the scores, without exp. Softmax weights are shares of exp(2),
                exp(0) and exp(1.8).""",
            },
        ),
        "q6": number(
            "a query of twice the norm",
            right=0.3970,
            within=0.005,
            wrong={
                (0.39, "q6_cut_off"): """
                Question 6: that is near the right weight, but not near enough. Did you cut off a digit, or round on the
                way? Round only the result.""",
                (0.41899, "q6_as_before"): """
                Question 6: that is the weight for the query of half the norm, [1, 0, 1]. (You also get it if you divide
                the new scores by the square root of 3, but dividing comes in chapter 3.) The query has twice the norm,
                so every score is twice as large, and so are their differences. What does that do to the weights?""",
                (0.83798, "q6_twice_the_weight"): """
                Question 6: that is twice the old weight. The scores are twice as large, but weights are shares of a
                whole. If all three doubled, they would no longer add up to 1.""",
                (0.47368, "q6_share_of_the_scores"): """
                Question 6: that is 3.6 divided by 7.6, a share of the scores. Weights are shares of exp of the
                scores.""",
                (0.59219, "q6_first_weight"): """
                Question 6: that is the weight of the first key. Positions are counted from 0, so position 2 is the third.""",
                (0.010846, "q6_second_weight"): """
                Question 6: that is the weight of the second key. Positions are counted from 0, so position 2 is the third.""",
                (3.6, "q6_the_score"): """
                Question 6: that is the score of the third key. A weight is a share of a whole, between 0 and 1. Which
                function turns scores into weights?""",
                (36.598, "q6_not_normalised"): """
                Question 6: that is exp(3.6) itself. A weight is its share of the sum of all three exps, so it is
                between 0 and 1.""",
            },
        ),
    },
)
