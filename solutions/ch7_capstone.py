"""Reference solutions of chapter 7: a decoder block's attention, and a head whose weights are set by hand."""

import numpy as np

from solutions.ch4_masking import causal_mask, padding_mask
from solutions.ch5_multi_head import multi_head_attention

__all__ = ["decoder_attention", "previous_token_head"]


def decoder_attention(
    target: np.ndarray,
    memory: np.ndarray,
    weights: dict[str, dict[str, np.ndarray]],
    h: int,
    memory_lengths: np.ndarray,
) -> np.ndarray:
    """Let the target read itself, and then the memory: the two attentions of a decoder block.

    First, causal self-attention: every position of the target attends to the target's positions
    up to its own. Second, cross-attention: its queries come from the result of the first, and its
    keys and values from the memory. Every query may see all the real rows of its memory and no
    padding. Both are multi-head attention with h heads. Nothing is added to what they return (no
    residual connections).

    target:         shape (B, n_q, d_model), what has been written so far
    memory:         shape (B, n_k, d_model), what is being read; n_k need not be n_q
    weights:        a dictionary of two dictionaries, weights["self"] and weights["cross"].
                    Each holds four arrays under "W_Q", "W_K", "W_V" and "W_O": W_Q and W_K of
                    shape (d_model, h * d_k), W_V of shape (d_model, h * d_v), and W_O of shape
                    (h * d_v, d_model). h * d_k need not be d_model, and "cross" may have
                    other d_k and d_v than "self"
    h:              the number of heads, at least 1, the same in both
    memory_lengths: shape (B,), whole numbers from 1 to n_k: how many rows of each memory
                    are real. They come first, and the rows after them are padding
    returns:        shape (B, n_q, d_model)

    Example: B = 1, h = 1. The target has the rows [2, 0] and [0, 4]. The memory has the rows
    [1, 0], [0, 1] and [3, 3], and its length is 2. In weights["self"], W_Q and W_K are
    [[0], [0]], and W_V and W_O are [[1, 0], [0, 1]]. All scores are 0, so the first row sees only
    itself and the second averages both: [2, 0] and [1, 2]. In weights["cross"], W_Q and W_K are
    [[1], [0]], W_V is [[1, 0], [0, 1]] and W_O is [[10, 0], [0, 10]]. The queries are 2 and 1,
    the real keys are 1 and 0, and sqrt(d_k) is 1. So the scores are [2, 0] and [1, 0], and the
    weights are about [0.8808, 0.1192] and [0.7311, 0.2689]. The output has about the rows
    [8.808, 1.192] and [7.311, 2.689]

    You may assume that all scaled scores are between -1000 and 1000, and that a hidden score is at most 5 above
    the largest score that its row may see. So every usual way of hiding a score works. All numbers in target and
    memory are between -1000 and 1000, and all numbers in the matrices between -100 and 100.
    """
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


def previous_token_head(n: int, d_model: int) -> dict[str, np.ndarray]:
    """Set the weights of one head by hand, so that every position finds the token before it.

    Row i of the head's input X, of shape (n, d_model), says two things. Its first d_model - n
    columns hold the one-hot of its token: a 1 in the token's column, and zeros elsewhere. Its last n
    columns hold the one-hot of its position: a 1 in column d_model - n + i. The same token may
    be at several positions.

    The head is run as multi_head_attention(X, X, W_Q, W_K, W_V, W_O, h=1), without a mask
    and with the mask causal_mask(n). Each time, for i = 1 to n - 1, row i of its output must
    hold the one-hot of token i - 1 in the first columns and zeros in the position columns, to
    within 0.001. Row 0 has nothing before it, so it may be anything.

    n:       the number of positions, at least 2
    d_model: the width of X, at least n + 1, so there are d_model - n different tokens
    returns: a dictionary of four arrays, "W_Q" and "W_K" of shape (d_model, d_k), "W_V" of
             shape (d_model, d_v) and "W_O" of shape (d_v, d_model). You choose d_k and d_v,
             from 1 to 1000

    Example: previous_token_head(2, 5) is for two positions and three tokens. For token 2, then
    token 0, X has the rows [0, 0, 1, 1, 0] and [1, 0, 0, 0, 1]. Row 1 of the output must be
    [0, 0, 1, 0, 0]: token 2, and no position

    You may assume that n is at most 120 and d_model is at most 130.
    """
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}
