"""Reference solutions of chapter 0: shapes, axes, and how the checks work."""

import numpy as np

__all__ = ["normalize_rows", "pairwise_dot"]


def normalize_rows(A: np.ndarray) -> np.ndarray:
    """Divide every row by its own sum, so that each row adds up to 1.

    A:       shape (n, m), every entry above 0
    returns: shape (n, m), a new array; A stays as it was

    Example: the rows [1, 3, 4] and [2, 2, 6] add up to 8 and 10, so the result has the rows
    [0.125, 0.375, 0.5] and [0.2, 0.2, 0.6]

    You may assume that each row adds up to at least 0.01.
    """
    return A / A.sum(axis=1, keepdims=True)


def pairwise_dot(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Take the dot product of every row of X with every row of Y.

    X:       shape (n_q, d)
    Y:       shape (n_k, d), its rows have the same length as those of X
    returns: shape (n_q, n_k); the entry in row i and column j is the dot product of row i of X
             with row j of Y

    Example: X has the rows [1, 0, 2] and [0, 1, -1], and Y has the rows [3, 1, 0], [0, 4, 1],
    [1, 1, 2] and [-1, 0, 4]. The result has the rows [3, 2, 5, 7] and [1, 3, -1, -4]. The 5
    comes from [1, 0, 2] and [1, 1, 2]: 1*1 + 0*1 + 2*2
    """
    return X @ Y.T
