"""Reference solutions of chapter 5: many lookups at once."""

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from solutions.ch4_masking import masked_attention

__all__ = [
    "equivariance_gap",
    "head_contributions",
    "merge_heads",
    "multi_head_attention",
    "pattern_scores",
    "plot_attention",
    "quiz_ch5",
    "split_heads",
]


def split_heads(X: np.ndarray, h: int) -> np.ndarray:
    """Deal the columns of X out to h heads, side by side: each head gets d columns of every row.

    The first d columns belong to head 0, the next d to head 1, and so on.

    X:       shape (..., n, h * d), one position in each row
    h:       the number of heads, at least 1
    returns: shape (..., h, n, d): the heads stand before the positions

    The dots stand for any number of batch axes: none, one or more.

    Example: the rows [1, 2, 3, 4], [5, 6, 7, 8] and [9, 10, 11, 12] with h = 2 give head 0
    the rows [1, 2], [5, 6], [9, 10] and head 1 the rows [3, 4], [7, 8], [11, 12].
    The shape (3, 4) has become (2, 3, 2)
    """
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), -2, -3)


def merge_heads(O: np.ndarray) -> np.ndarray:
    """Put the heads back side by side, head 0 first: what split_heads took apart.

    O:       shape (..., h, n, d), the rows of each head
    returns: shape (..., n, h * d), for each position the rows of all the heads, end to end

    The dots stand for any number of batch axes: none, one or more.

    Example: head 0 with the rows [1, 2], [5, 6], [9, 10] and head 1 with the rows [3, 4],
    [7, 8], [11, 12] give the rows [1, 2, 3, 4], [5, 6, 7, 8] and [9, 10, 11, 12].
    The shape (2, 3, 2) has become (3, 4)
    """
    *batch, h, n, d = O.shape
    return np.swapaxes(O, -2, -3).reshape(*batch, n, h * d)


def multi_head_attention(
    X_q: np.ndarray,
    X_kv: np.ndarray,
    W_Q: np.ndarray,
    W_K: np.ndarray,
    W_V: np.ndarray,
    W_O: np.ndarray,
    h: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Let h heads attend side by side, each in its own columns, and mix what they bring with W_O.

    The queries are X_q W_Q, the keys X_kv W_K, the values X_kv W_V. Head i takes the i-th block
    of columns of each, and attends with scores divided by sqrt(d_k). What the heads bring is put
    side by side, head 0 first, and multiplied with W_O.

    X_q:      shape (..., n_q, d_model), the sequence that asks
    X_kv:     shape (..., n_k, d_model), the sequence that is asked; for self-attention X_q again
    W_Q, W_K: shape (d_model, h * d_k); h * d_k need not be d_model
    W_V:      shape (d_model, h * d_v)
    W_O:      shape (h * d_v, d_model)
    h:        the number of heads, at least 1
    mask:     boolean, True = may attend; its shape is that of the weights, or broadcasts to it.
              Every query may see at least one key. When there is no mask, every key may be seen
    returns:  the pair (output, weights) of shapes (..., n_q, d_model) and (..., h, n_q, n_k)

    The dots stand for any number of batch axes, the same on X_q and X_kv.

    Example: X_q = X_kv has the rows [1, 0] and [0, 1], h = 2, W_Q and W_V are [[1, 0], [0, 1]],
    W_K is [[3, 0], [0, 0]] and W_O is [[1, 0], [2, 1]]. Each head has one column, so sqrt(d_k)
    is 1. Head 0 scores [3, 0] and [0, 0], its weights are about [0.9526, 0.0474] and [0.5, 0.5].
    Head 1 has only scores of 0, and all its weights are 0.5. Side by side they bring
    [0.9526, 0.5] and [0.5, 0.5]; times W_O that is about [1.9526, 0.5] and [1.5, 0.5]
    """
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


def head_contributions(O: np.ndarray, W_O: np.ndarray) -> np.ndarray:
    """Tell what each head adds to the output: it is a sum, with one part for each head.

    O:       shape (h, n_q, d_v), what each head brings (there is no batch here)
    W_O:     shape (h * d_v, d_model)
    returns: shape (h, n_q, d_model); the sum over the heads is merge_heads(O) @ W_O

    Example: head 0 brings the row [1], head 1 the row [10], and W_O has the rows [1, 2, 3] and
    [4, 5, 6]. The output is the row [41, 52, 63]. Head 0 adds [1, 2, 3] to it, head 1 adds
    [40, 50, 60]
    """
    h, _, d_v = O.shape
    return O @ W_O.reshape(h, d_v, -1)


def pattern_scores(weights: np.ndarray) -> dict[str, float]:
    """Say how much the weights of one head look like each of four patterns.

    Each score is an average over queries, and lies between 0 and 1:

    "copying":  of the largest weight of query i
    "uniform":  of the sum over all keys j of min(weights[i, j], 1 / n)
    "local":    of the sum of the weights of query i on the keys i - 1, i and i + 1,
                as far as these exist
    "previous": of the weight of query i on the key i - 1; here the average is over the queries
                1 to n - 1 only, since query 0 has no key before it

    weights: shape (n, n), n at least 2; no weight is negative, every row adds up to 1
    returns: a dictionary with these four keys, each with one number

    Example: the weights [[1, 0, 0], [0.8, 0.2, 0], [0, 0.5, 0.5]] have the scores
    copying (1 + 0.8 + 0.5) / 3, uniform (1/3 + (1/3 + 0.2) + 2/3) / 3,
    local (1 + 1 + 1) / 3 and previous (0.8 + 0.5) / 2:
    about 0.7667, 0.5111, 1 and 0.65
    """
    n = len(weights)
    i, j = np.indices((n, n))
    return {
        "copying": weights.max(axis=1).mean(),
        "uniform": np.minimum(weights, 1 / n).sum(axis=1).mean(),
        "local": (weights * (abs(i - j) <= 1)).sum(axis=1).mean(),
        "previous": np.diagonal(weights, -1).mean(),
    }


def plot_attention(
    weights: np.ndarray, query_tokens: Sequence[str], key_tokens: Sequence[str], ax: Axes | None = None
) -> Axes:
    """Draw the weights of one head as a heatmap: queries down, keys across.

    Row i of the picture belongs to query i, and the first query is on top. Column j belongs to
    key j, and the first key is on the left. Each row has its query's token beside it, each
    column its key's token above or below it. A token that occurs twice has two rows or columns.

    weights:      shape (n_q, n_k)
    query_tokens: n_q strings, some of them perhaps equal
    key_tokens:   n_k strings, some of them perhaps equal
    ax:           the matplotlib Axes to draw into; when it is left out, make new ones
    returns:      the Axes that hold the heatmap

    Example: with the weights [[0.9, 0.1, 0], [0.2, 0.2, 0.6]], the queries ["sat", "on"] and
    the keys ["the", "cat", "the"] the top row shows 0.9, 0.1, 0 and has "sat" beside it; the
    columns are called "the", "cat" and "the", from left to right
    """
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


def equivariance_gap(attend: Callable[[np.ndarray], np.ndarray], X: np.ndarray, perm: np.ndarray) -> float:
    """Measure how far `attend` is from not caring in which order the rows of X come.

    If it does not care, then shuffling the rows before it is as good as shuffling the rows of
    the output after it, in the same way. Return the largest difference between the two results,
    its size without its sign.

    attend:  a function that takes an array of shape (n, d) and returns an array of n rows
    X:       shape (n, d), one position in each row
    perm:    shape (n,), the whole numbers 0 to n - 1 in some order; shuffling an array of n rows
             makes its row perm[0] the first one, its row perm[1] the second one, and so on
    returns: one number, 0 or more; 0 (up to rounding) when `attend` does not care

    Example: X has the rows [1], [2] and [4], perm is [2, 0, 1], and `attend` is the running sum
    np.cumsum(X, axis=0). Shuffled before, the rows 4, 1, 2 become 4, 5, 7. Shuffled after,
    the sums 1, 3, 7 become 7, 1, 3. The differences are -3, 4 and 4, so the answer is 4
    """
    return np.abs(attend(X[perm]) - attend(X)[perm]).max()


def quiz_ch5() -> dict[str, object]:
    """The answers to the quiz."""
    return {"q1": 16384, "q2": "c", "q3": "a", "q4": "d", "q5": "b", "q6": "c"}
