"""Reference solutions of chapter 2: where the weights come from."""

import numpy as np

from solutions.ch1_weighted_averaging import softmax

__all__ = ["attention_scores", "dot_product_attention", "einsum_attention", "project_qkv", "quiz_ch2"]


def project_qkv(
    X_q: np.ndarray, X_kv: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make queries from one sequence, keys and values from another (or from the same one).

    X_q:      shape (..., n_q, d_model), the sequence that asks, a position in each row
    X_kv:     shape (..., n_k, d_model), the sequence that is asked; for self-attention X_q again
    W_Q, W_K: shape (d_model, d_k)
    W_V:      shape (d_model, d_v)
    returns:  Q of shape (..., n_q, d_k), K of shape (..., n_k, d_k), V of shape (..., n_k, d_v)

    Example: X_q has the row [1, 2], X_kv the rows [1, 0] and [0, 3]. With the rows [1, 0, 1]
    and [0, 1, 1] in W_Q, [2, 0, 0] and [0, 1, 0] in W_K, [10] and [1] in W_V, Q has the row
    [1, 2, 3], K the rows [2, 0, 0] and [0, 3, 0], and V the rows [10] and [3]
    """
    return X_q @ W_Q, X_kv @ W_K, X_kv @ W_V


def attention_scores(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Score every query against every key: the dot product of the two, and nothing else.

    Q:       shape (..., n_q, d_k)
    K:       shape (..., n_k, d_k), with the same batch axes `...` as Q: none, one or more
    returns: shape (..., n_q, n_k); row i, column j is query i with key j of the same batch entry

    Example: the queries [1, 2] and [0, 1] with the keys [3, 0], [1, 2] and [0, 4] have the
    scores [3, 5, 8] and [0, 2, 4]
    """
    return Q @ np.swapaxes(K, -1, -2)


def dot_product_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let every query look at every key, and mix the values by how well they match.

    The weights are the softmax of each query's scores, as they are, with no scaling.

    Q:       shape (..., n_q, d_k)
    K:       shape (..., n_k, d_k)
    V:       shape (..., n_k, d_v)
    returns: the pair (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)

    Example: with the keys [2, 0], [0, 0], [0, 1] and the values [10, 0], [20, 0], [0, 10],
    the query [1, 1] has the weights [0.6652, 0.0900, 0.2447] and the output [8.453, 2.447];
    the query [0, 0] has the weights [1/3, 1/3, 1/3] and the output [10, 3.333]
    """
    weights = softmax(attention_scores(Q, K))
    return weights @ V, weights


def einsum_attention() -> dict[str, object]:
    """The two equations of attention, for np.einsum."""
    return {"SCORES_EQ": "ia,ja->ij", "MIX_EQ": "ij,jb->ib"}


def quiz_ch2() -> dict[str, object]:
    """The answers to the quiz."""
    return {"q1": "b", "q2": "d", "q3": "a", "q4": "c", "q5": "b", "q6": 0.3970}
