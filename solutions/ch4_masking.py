"""Reference solutions of chapter 4: who may look where."""

from collections.abc import Callable

import numpy as np

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
    """Say which keys each query may see when nobody may look ahead: True = may attend.

    Keys stand at the positions 0 to n_k - 1. The queries are the last n_q of these positions:
    query i stands at position i + n_k - n_q and may see the key there and every key before it.
    So the last query always sees all the keys.

    n_q:     the number of queries, at least 1
    n_k:     the number of keys, at least n_q; when it is left out there are as many as queries
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

    lengths: shape (B,), whole numbers from 0 to n_k, one for each sequence
    n_k:     the number of keys of every sequence, padding included
    returns: shape (B, 1, n_k), boolean. The axis of length 1 is where the queries will be:
             what is padding is padding for every query

    Example: padding_mask(np.array([3, 1]), 4) is
    [[[True, True,  True,  False]],
     [[True, False, False, False]]]
    """
    return np.arange(n_k) < lengths[:, None, None]


def masked_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Turn scores into weights along the last axis, with weight 0 wherever the mask says False.

    The allowed weights of a row add up to 1: they are the softmax of the allowed scores alone.
    A row in which nothing is allowed has only zeros. But a NaN among the allowed scores must
    still show as NaN in its row: zeros there would hide that something went wrong before.

    scores:  shape (..., n_k), numbers up to 1000 in size
    mask:    boolean, True = may attend; its shape is that of the scores, or broadcasts to it
    returns: the shape of the scores

    Example: the scores [1, 2, 3] with the mask [True, True, False] give about
    [0.2689, 0.7311, 0]: the softmax of [1, 2], and a zero. With [False, False, False] they
    give [0, 0, 0]
    """
    weights = softmax(np.where(mask, scores, -1e9))
    return np.where(mask, weights, 0.0)


def masked_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Scaled dot-product attention in which each query sees only the keys that the mask allows.

    Q:       shape (..., n_q, d_k)
    K:       shape (..., n_k, d_k)
    V:       shape (..., n_k, d_v)
    mask:    boolean, True = may attend; its shape is (..., n_q, n_k), or broadcasts to it.
             Every query may see at least one key. When there is no mask, every key may be seen
    returns: the pair (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)

    The dots stand for any number of batch axes, the same on Q, K and V.

    Example: the query [2, 0, 0, 0] and the keys [1, 0, 0, 0], [0, 1, 0, 0], [3, 0, 0, 0] have
    the scaled scores 1, 0 and 3. With the mask [[True, True, False]] the weights are about
    [0.7311, 0.2689, 0], and the values [10], [20], [90] are averaged into about [12.689]
    """
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


def combine_masks(causal: np.ndarray, padding: np.ndarray) -> np.ndarray:
    """Allow what both masks allow.

    causal:  shape (n_q, n_k), boolean, True = may attend; the same for every sequence
    padding: shape (B, 1, n_k), boolean, True = may attend; the same for every query
    returns: shape (B, n_q, n_k), boolean

    Example: with causal_mask(3) and a single sequence of which only two keys are real,
    [[[True, True, False]]], the answer is
    [[[True, False, False],
      [True, True,  False],
      [True, True,  False]]]
    """
    return causal & padding


def is_causal(attend: Callable[[np.ndarray], np.ndarray], X: np.ndarray) -> bool:
    """Find out by trying whether `attend` keeps to what came before.

    Call what `attend` makes of X the output: row i of the output belongs to position i, as row i
    of X does. `attend` is causal when no row of the output depends on a later row of X: whatever
    is done to rows i + 1, i + 2, ... of X, output row i stays as it was. It may depend on row i
    of X itself.

    attend:  a function that takes an array of shape (n, d), with any n, and returns an array of
             n rows; the same X always gives the same output
    X:       shape (n, d), random numbers, no row of zeros; try it on these
    returns: True when no later position changes an earlier output row, else False.
             Rounding is no change: what leaks is always far above 1e-5

    Examples: for the running sum, np.cumsum(X, axis=0), the answer is True. For
    X - X.mean(axis=0) it is False, as the mean of all rows has the later ones in it
    """
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = 0.0
        if not np.allclose(attend(changed)[:t], Y[:t]):
            return False
    return True


def quiz_ch4() -> dict[str, object]:
    """The answers to the quiz."""
    return {"q1": 9, "q2": "c", "q3": "a", "q4": "d", "q5": "b", "q6": "c"}
