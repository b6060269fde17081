"""Reference solutions of chapter 5: many lookups at once."""

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from autograder.checking import choice, number, quiz
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
    """Divide the columns of X among h heads: each head gets d columns of every row.

    The first d columns belong to head 0, the next d to head 1, and so on.

    X:       shape (..., n, h * d), one position in each row
    h:       the number of heads, at least 1
    returns: shape (..., h, n, d): the axis of the heads is before the axis of the positions

    The dots stand for any number of batch axes: none, one or more.

    Example: the rows [1, 2, 3, 4], [5, 6, 7, 8] and [9, 10, 11, 12] with h = 2 give head 0
    the rows [1, 2], [5, 6], [9, 10] and head 1 the rows [3, 4], [7, 8], [11, 12].
    The shape (3, 4) has become (2, 3, 2)
    """
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), -2, -3)


def merge_heads(O: np.ndarray) -> np.ndarray:
    """Put the heads side by side again, head 0 first: undo split_heads.

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
    """Let h heads attend side by side, each in its own columns, and mix their results with W_O.

    The queries are X_q W_Q, the keys are X_kv W_K, and the values are X_kv W_V. Head i takes the
    i-th block of columns of each, and attends with scores divided by sqrt(d_k). The heads' results
    are put side by side, head 0 first, and multiplied by W_O.

    X_q:      shape (..., n_q, d_model), the sequence that asks
    X_kv:     shape (..., n_k, d_model), the sequence that is asked; for self-attention X_q again
    W_Q, W_K: shape (d_model, h * d_k); h * d_k need not be d_model
    W_V:      shape (d_model, h * d_v)
    W_O:      shape (h * d_v, d_model)
    h:        the number of heads, at least 1
    mask:     boolean, True = may attend; its shape is that of the weights, or broadcasts to it.
              Every query may see at least one key. If there is no mask, every key may be seen
    returns:  the pair (output, weights) of shapes (..., n_q, d_model) and (..., h, n_q, n_k)

    The dots stand for any number of batch axes, the same on X_q and X_kv.

    Example: X_q = X_kv has the rows [1, 0] and [0, 1], h = 2, W_Q and W_V are [[1, 0], [0, 1]],
    W_K is [[3, 0], [0, 0]] and W_O is [[1, 0], [2, 1]]. Each head has one column, so sqrt(d_k)
    is 1. Head 0 has the scores [3, 0] and [0, 0], so its weights are about [0.9526, 0.0474] and
    [0.5, 0.5]. Head 1 has only scores of 0, so all its weights are 0.5. Side by side, the results
    have the rows [0.9526, 0.5] and [0.5, 0.5]. Multiplied by W_O, these are about [1.9526, 0.5]
    and [1.5, 0.5]

    You may assume that all scaled scores are between -10 000 and 10 000. With a mask, they are between -1000 and
    1000, and a forbidden score is at most 5 above the largest allowed score of its query. So every usual way of
    hiding a score works.
    """
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


def head_contributions(O: np.ndarray, W_O: np.ndarray) -> np.ndarray:
    """Compute what each head adds to the output, which is a sum with one part for each head.

    O:       shape (h, n_q, d_v), the result of each head (there is no batch here)
    W_O:     shape (h * d_v, d_model)
    returns: shape (h, n_q, d_model); the sum over the heads is merge_heads(O) @ W_O

    Example: head 0 has the row [1], head 1 has the row [10], and W_O has the rows [1, 2, 3] and
    [4, 5, 6]. The output is the row [41, 52, 63]. Head 0 adds [1, 2, 3] to it, and head 1 adds
    [40, 50, 60]

    You may assume that all numbers are between -1000 and 1000.
    """
    h, _, d_v = O.shape
    return O @ W_O.reshape(h, d_v, -1)


def pattern_scores(weights: np.ndarray) -> dict[str, float]:
    """Say how much the weights of one head look like each of four patterns.

    Each score is between 0 and 1. It is the average, over all queries i, of one number:

    "copying":  the largest weight of query i
    "uniform":  the sum over all keys j of min(weights[i, j], 1 / n)
    "local":    the sum of the weights of query i on the keys i - 1, i and i + 1,
                as far as these exist
    "previous": the weight of query i on the key i - 1; here the average is over the queries
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
    key j, and the first key is on the left. Each row has its query's token next to it, and each
    column its key's token above or below it. A token that occurs twice has two rows or columns.

    weights:      shape (n_q, n_k); each row adds up to 1
    query_tokens: n_q strings, some of them perhaps equal
    key_tokens:   n_k strings, some of them perhaps equal
    ax:           the matplotlib Axes to draw into; if it is left out, make new Axes (plt.gca()
                  does not: it may return the Axes of another picture)
    returns:      the Axes that hold the heatmap

    Example: with the weights [[0.9, 0.1, 0], [0.2, 0.2, 0.6]], the queries ["sat", "on"] and
    the keys ["the", "cat", "the"], the top row shows 0.9, 0.1, 0 and has "sat" next to it. The
    columns are labeled "the", "cat" and "the", from left to right

    You may assume that there are at most 20 queries and 20 keys.
    """
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


def equivariance_gap(attend: Callable[[np.ndarray], np.ndarray], X: np.ndarray, perm: np.ndarray) -> float:
    """Measure how much the order of the rows of X matters to `attend`.

    If the order does not matter, you can shuffle the rows of X before the call, or shuffle the
    rows of the output in the same way after the call, and get the same result. Return the largest
    absolute difference between the entries of these two results.

    attend:  a function that takes an array of shape (n, d) and returns an array of shape (n, m), for
             some m; it may return its argument itself, but does not change it
    X:       shape (n, d), one position in each row
    perm:    shape (n,), the whole numbers 0 to n - 1 in some order; shuffling an array of n rows
             makes its row perm[0] the first one, its row perm[1] the second one, and so on
    returns: one number, 0 or more; 0 (up to rounding) if the order does not matter

    Example: X has the rows [1], [2] and [4], perm is [2, 0, 1], and `attend` is the running sum
    np.cumsum(X, axis=0). If you shuffle before the call, the rows 4, 1, 2 become 4, 5, 7. If you
    shuffle after it, the sums 1, 3, 7 become 7, 1, 3. The differences are -3, 4 and 4, so the
    answer is 4
    """
    return np.abs(attend(X[perm]) - attend(X)[perm]).max()


quiz_ch5 = quiz(
    "quiz_ch5",
    points=3,
    hints="""
    Questions 1 and 2: write down the shapes of W_Q, W_K, W_V and W_O, and multiply. Question 3: draw the matrix, or
    make it in a cell of your own and call your `pattern_scores` on it.

    Question 4: try it with 4 positions and 2 heads of 2 columns, X = `np.arange(16).reshape(4, 4)`. Which rows of X are
    in head 0? Question 5: your `equivariance_gap` answers it.

    Question 1: all the heads together have h · d_k columns, and there are four matrices. Question 6: who decides how
    many heads a model has, and when?
    """,
    questions={
        "q1": number(
            "how many numbers the four matrices hold",
            right=16384,
            wrong={
                (12288, "q1_without_w_o"): """
                Question 1: 12288 is 3 · 64 · 64, the numbers in W_Q, W_K and W_V. The heads' results go through a fourth matrix.""",
                (2048, "q1_one_head"): """
                Question 1: 2048 is 4 · 64 · 8, the numbers that belong to one head. There are 8 heads.""",
                (131072, "q1_full_width_heads"): """
                Question 1: 131072 would be right if each of the 8 heads were 64 wide. Here each head is 8 wide, because
                the heads share the width.""",
                (4096, "q1_one_matrix"): """
                Question 1: 4096 is 64 · 64, the numbers in one of the matrices. There are four.""",
                (5632, "q1_three_small_and_w_o"): """
                Question 1: 5632 is 3 · 64 · 8 + 64 · 64. You took W_Q, W_K and W_V for one head, and W_O for all of them. The first
                three have h · d_k = 64 columns too.""",
                (1536, "q1_without_w_o_one_head"): """
                Question 1: 1536 is 3 · 64 · 8: W_Q, W_K and W_V of a single head. There are 8 heads, and W_O counts
                too.""",
            },
        ),
        "q2": choice(
            "fewer, wider heads",
            right="c",
            wrong={
                ("a", "q2_half"): """
                Question 2: there are half as many heads, but each is twice as wide: 4 · 16 is again 64 columns.""",
                ("b", "q2_twice"): """
                Question 2: each head is twice as wide, but there are half as many: 4 · 16 is again 64 columns.""",
                ("d", "q2_a_quarter"): """
                Question 2: write down the shape of W_Q before and after: (64, 8 · 8) and (64, 4 · 16).""",
            },
        ),
        "q3": choice(
            "the name of a pattern",
            right="a",
            wrong={
                ("b", "q3_uniform"): """
                Question 3: uniform means that each query spreads its weight evenly over the keys. Here all the queries
                agree, but each of them puts everything on one key, so "uniform" is only 1/6.""",
                ("c", "q3_local"): """
                Question 3: position 0 is near queries 0 and 1 only. The other four queries have no weight in their
                neighborhood, so "local" is 2/6.""",
                ("d", "q3_previous"): """
                Question 3: position 0 comes right before query 1 only, so "previous" is 1/5. Queries 2 to 5 look back
                further than one step.""",
            },
        ),
        "q4": choice(
            "reshape alone",
            right="d",
            wrong={
                ("a", "q4_right_after_all"): """
                Question 4: the shape is right, but the contents are not. A reshape reads row by row: what are the first
                n · d numbers of X in that order?""",
                ("b", "q4_cards"): """
                Question 4: a reshape never skips a number. It only cuts one long line of numbers into pieces. To give a
                head every h-th column, you would reshape to (n, d, h) and move the last axis.""",
                ("c", "q4_wrong_order"): """
                Question 4: if only the order of the heads were wrong, each head would still have its own columns of
                every position. Try it with the numbers 0 to 11 in 4 rows and h = 2: which rows of X are in head 0?""",
            },
        ),
        "q5": choice(
            "shuffled words",
            right="b",
            wrong={
                ("a", "q5_invariant"): """
                Question 5: each word's output moves with its word. If the outputs stayed in place, the word now at
                position 0 would have the output of the word that was there before. So this is equivariance, not
                invariance.""",
                ("c", "q5_other_numbers"): """
                Question 5: without positions and without a mask, a query sees a set of keys and values, and a weighted
                average does not depend on their order. The numbers are the same. In which rows are they now?""",
                ("d", "q5_all_alike"): """
                Question 5: the outputs differ because the queries differ, and each word still has its own query.""",
            },
        ),
        "q6": choice(
            "twelve heads",
            right="c",
            wrong={
                ("a", "q6_twelve_is_best"): """
                Question 6: no number of heads is best for all models. The first Transformer had 8 in its base version
                and 16 in its big version, and the GPT-2 models have from 12 to 25.""",
                ("b", "q6_forced_by_the_width"): """
                Question 6: the width restricts the number of heads only if the heads share it evenly. Even then, 6, 8
                or 16 heads would do as well: they share 768 evenly too.""",
                ("d", "q6_as_many_as_layers"): """
                Question 6: it is a coincidence that GPT-2 small also has 12 layers. The largest GPT-2 has 48 layers,
                with 25 heads in each.""",
            },
        ),
    },
)
