"""Reference solutions of chapter 1: attention is a weighted average."""

import numpy as np

__all__ = ["hard_lookup", "quiz_ch1", "soft_lookup", "softmax", "weighted_average"]


def weighted_average(weights: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Average the rows of X, each counted as much as its weight says.

    weights: shape (n,), none of them negative, adding up to 1
    X:       shape (n, d), one row for each weight
    returns: shape (d,)

    Example: weights [0.5, 0.3, 0.2] and rows [10, 0], [20, 10], [0, 5] give
    0.5 * [10, 0] + 0.3 * [20, 10] + 0.2 * [0, 5] = [5, 0] + [6, 3] + [0, 1] = [11, 4]
    """
    return weights @ X


def hard_lookup(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the value whose key has the largest dot product with the query.

    q:       shape (d_k,), the query
    K:       shape (n, d_k), one key in each row
    V:       shape (n, d_v), the value in row i belongs to the key in row i
    returns: shape (d_v,), one row of V (there are never two equally good keys)

    Example: q = [2, 1] and keys [1, 0], [0, 3], [-1, 1] have dot products 2, 3 and -1.
    The second is largest, so the answer is the second row of V.
    """
    return V[np.argmax(K @ q)]


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights: all positive, adding up to 1 along `axis`.

    Each score s becomes exp(s), divided by the sum of all the exp(...) along `axis`.

    x:       any shape, any finite numbers (1000 is a fine score)
    axis:    the axis along which the weights add up to 1
    returns: the shape of x

    Example: exp of [1, 2, 3] is about [2.718, 7.389, 20.086], which adds up to 30.193,
    so softmax([1, 2, 3]) is about [0.0900, 0.2447, 0.6652]
    """
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def soft_lookup(q: np.ndarray, K: np.ndarray, V: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Mix all the values; the better a key matches the query, the more its value counts.

    The weights are the softmax of the scores divided by the temperature. A score is the dot
    product of the query with one key.

    q:           shape (d_k,), the query
    K:           shape (n, d_k), one key in each row
    V:           shape (n, d_v), the value in row i belongs to the key in row i
    temperature: a number above 0; near 0 the best key takes all, far above 1 all count alike
    returns:     shape (d_v,)

    Example: q = [1, 1] and keys [2, 0], [0, 0], [0, 1] have scores 2, 0 and 1. With
    temperature 1 the weights are about [0.6652, 0.0900, 0.2447], so the values
    [10, 0], [20, 0], [0, 10] are mixed into about [8.453, 2.447]
    """
    return softmax(K @ q / temperature) @ V


def quiz_ch1() -> dict[str, object]:
    """The answers to the quiz."""
    return {"q1": "c", "q2": "a", "q3": "b", "q4": "d", "q5": "c", "q6": 0.8808}
