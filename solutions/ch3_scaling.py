"""Reference solutions of chapter 3: why scores are divided by the square root of d_k."""

from collections.abc import Callable

import numpy as np

from solutions.ch1_weighted_averaging import softmax

__all__ = [
    "attention_entropy",
    "numerical_gradient",
    "query_gradient",
    "quiz_ch3",
    "scaled_dot_product_attention",
    "score_variance",
    "softmax_jacobian",
]


def score_variance(d_k: int, n_samples: int, rng: np.random.Generator) -> float:
    """Measure how much the dot product of a random query with a random key varies.

    Draw `n_samples` pairs (q, k), every pair new. All the entries of q and k are independent
    draws from the standard normal distribution (mean 0, variance 1). Each pair has one score,
    q . k: return the variance of the scores.

    d_k:       the length of each query and each key
    n_samples: the number of pairs, at least 100
    rng:       where every random number comes from, a numpy.random.Generator
    returns:   one number (dividing by n_samples or by n_samples - 1 are both fine)

    Example: if three pairs had the scores 3, -1 and 1, their mean would be 1 and their
    variance (4 + 4 + 0) / 3, about 2.67
    """
    q = rng.standard_normal((n_samples, d_k))
    k = rng.standard_normal((n_samples, d_k))
    return (q * k).sum(axis=-1).var()


def scaled_dot_product_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let every query average the values: softmax(Q K^T / sqrt(d_k)) V.

    Q:       shape (..., n_q, d_k), one query in each row
    K:       shape (..., n_k, d_k), one key in each row
    V:       shape (..., n_k, d_v), the value that belongs to each key
    returns: the pair (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)

    The dots stand for any number of batch axes, the same on Q, K and V.

    Example: the query [2, 0, 0, 0] and the keys [1, 0, 0, 0] and [0, 1, 0, 0] have the scores
    2 and 0. Divided by sqrt(4) they are 1 and 0, so the weights are about [0.7311, 0.2689],
    and the values [10] and [20] are averaged into about [12.689]
    """
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


def attention_entropy(weights: np.ndarray) -> np.ndarray:
    """Measure how spread out each query's weights are: minus the sum of w * ln(w).

    The logarithm is the natural one (the entropy is then in nats), and a weight of exactly 0
    contributes exactly 0.

    weights: shape (..., n_q, n_k); every row adds up to 1, some weights may be 0
    returns: shape (..., n_q), one number for each query

    Example: the row [0.5, 0.5, 0] has -(0.5 * ln 0.5 + 0.5 * ln 0.5 + 0) = ln 2, about 0.6931,
    and the row [0, 1, 0] has 0
    """
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -(weights * logs).sum(axis=-1)


def softmax_jacobian(p: np.ndarray) -> np.ndarray:
    """Tell how each weight answers when each score is moved a little: diag(p) - p p^T.

    Entry (i, j) is the derivative of weight i with respect to score j.

    p:       shape (n,), the weights that softmax gave (not the scores)
    returns: shape (n, n)

    Example: p = [0.5, 0.3, 0.2] gives
    [[ 0.25, -0.15, -0.10],
     [-0.15,  0.21, -0.06],
     [-0.10, -0.06,  0.16]]
    """
    return np.diag(p) - np.outer(p, p)


def numerical_gradient(f: Callable[[np.ndarray], float], x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Estimate the slope of f in every entry of x, using nothing but values of f.

    For each entry by itself: move that entry up by eps and call f, move it down by eps and call
    f, and divide the difference of the two values by the distance 2 * eps.

    f:       takes one array of the shape of x and returns a single number
    x:       float64, any shape; it still holds the same numbers afterwards
    eps:     how far to move each entry, used exactly as given
    returns: the shape of x, one slope for each entry

    Example: f adds up the cubes of the entries, x = [2, 1] and eps = 0.5. The first slope is
    (2.5**3 - 1.5**3) / (2 * 0.5) = 12.25, because the other entry's cube cancels. The second is
    (1.5**3 - 0.5**3) / (2 * 0.5) = 3.25
    """
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


def query_gradient(q: np.ndarray, K: np.ndarray, V: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Tell how one query should move: the gradient of g . output with respect to q.

    The output is that of scaled attention for this one query:
    output = weights @ V with weights = softmax(K @ q / sqrt(d_k)).

    q:       shape (d_k,), the query
    K:       shape (n_k, d_k), one key in each row
    V:       shape (n_k, d_v), the value that belongs to each key
    g:       shape (d_v,), how much each entry of the output counts
    returns: shape (d_k,), one slope for each entry of the query; all arrays are float64

    Example: q = [0, 0, 0, 0], keys [1, 0, 0, 0] and [0, 1, 0, 0], values [10] and [20], g = [1].
    Both weights are 0.5 and the output is [15]. The gradient is [-1.25, 1.25, 0, 0]: moving q
    towards the second key raises the output.
    """
    root = np.sqrt(len(q))
    weights = softmax(K @ q / root)
    return K.T @ (softmax_jacobian(weights) @ (V @ g)) / root


def quiz_ch3() -> dict[str, object]:
    """The answers to the quiz."""
    return {"q1": "b", "q2": "c", "q3": "a", "q4": "d", "q5": "b", "q6": 1.3863}
