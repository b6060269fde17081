"""Right solutions of chapter 7 that are written differently from the reference. The checks must accept all of them."""

import numpy as np

from autograder.misconception import alternatives_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import masked_softmax
from solutions.ch5_multi_head import multi_head_attention

right = alternatives_of("decoder_attention")


@right
def padding_cut_off(target, memory, weights, h, memory_lengths):
    """One sequence at a time, with the padding cut off: no padding mask is needed."""
    n_q = target.shape[1]
    mask = np.tri(n_q, dtype=bool)
    outputs = []
    for rows, read, length in zip(target, memory, memory_lengths, strict=True):
        seen, _ = multi_head_attention(rows, rows, *(weights["self"][k] for k in ("W_Q", "W_K", "W_V", "W_O")), h, mask)
        real = read[:length]
        output, _ = multi_head_attention(seen, real, *(weights["cross"][k] for k in ("W_Q", "W_K", "W_V", "W_O")), h)
        outputs.append(output)
    return np.array(outputs)


@right.worth_reading
def one_position_at_a_time(target, memory, weights, h, memory_lengths):
    """As in generation: each position is a single query over the positions so far, with no mask at all."""

    def attend(asks, asked, W_Q, W_K, W_V, W_O):
        d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h
        parts = []
        for head in range(h):
            a, b = slice(head * d_k, (head + 1) * d_k), slice(head * d_v, (head + 1) * d_v)
            scores = (asked @ W_K[:, a]) @ (asks @ W_Q[:, a]) / d_k**0.5
            parts.append(softmax(scores) @ (asked @ W_V[:, b]))
        return np.concatenate(parts) @ W_O

    result = np.zeros(target.shape)
    for b in range(len(target)):
        for i in range(target.shape[1]):
            seen = attend(target[b, i], target[b, : i + 1], **weights["self"])
            result[b, i] = attend(seen, memory[b, : memory_lengths[b]], **weights["cross"])
    return result


@right
def einsum_with_penalties(target, memory, weights, h, memory_lengths):
    """Einsum with the matrices cut into heads, -1e4 added where it is forbidden, the output as a sum over heads."""
    n_q, n_k = target.shape[1], memory.shape[1]
    future = np.triu(np.full((n_q, n_q), -1e4), 1)[None, None]
    padding = np.where(np.arange(n_k)[None] < np.asarray(memory_lengths)[:, None], 0.0, -1e4)[:, None, None, :]

    def attend(X, Y, W, penalty):
        A, B, C = (W[k].reshape(W[k].shape[0], h, -1) for k in ("W_Q", "W_K", "W_V"))
        Q, K, V = np.einsum("bnm,mhk->bhnk", X, A), np.einsum("bnm,mhk->bhnk", Y, B), np.einsum("bnm,mhk->bhnk", Y, C)
        S = np.einsum("bhik,bhjk->bhij", Q, K) / np.sqrt(A.shape[-1]) + penalty
        O = np.einsum("bhij,bhjv->bhiv", softmax(S), V)
        return np.einsum("bhiv,hvm->bim", O, W["W_O"].reshape(h, -1, W["W_O"].shape[1]))

    return attend(attend(target, target, weights["self"], future), memory, weights["cross"], padding)


@right
def one_mask_for_every_weight(target, memory, weights, h, memory_lengths):
    """Both masks written out for every batch, head and query; the projections, heads and softmax spelled out."""
    B, n_q, _ = target.shape
    n_k = memory.shape[1]
    causal = np.empty((B, h, n_q, n_q), dtype=bool)
    real = np.empty((B, h, n_q, n_k), dtype=bool)
    for i in range(n_q):
        causal[:, :, i] = np.arange(n_q) <= i
    for b in range(B):
        real[b] = np.arange(n_k) < memory_lengths[b]
    X = target
    for name, source, mask in (("self", target, causal), ("cross", memory, real)):
        W = weights[name]
        Q, K, V = (
            np.swapaxes((A @ W[k]).reshape(B, A.shape[1], h, -1), 1, 2)
            for A, k in ((X, "W_Q"), (source, "W_K"), (source, "W_V"))
        )
        O = masked_softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]), mask) @ V
        X = O.swapaxes(1, 2).reshape(B, n_q, -1) @ W["W_O"]
    return X


@right
def log_sum_exp_with_infinities(target, memory, weights, h, memory_lengths):
    """Scaled queries, -inf where it is forbidden, log-sum-exp in place of a softmax, W_V and W_O multiplied first."""
    n_q, n_k = target.shape[-2], memory.shape[-2]
    blocked_future = np.arange(n_q)[:, None] < np.arange(n_q)
    blocked_padding = (np.arange(n_k) >= memory_lengths[:, None])[:, None, :]

    def attend(X, Y, W, blocked):
        total = 0.0
        for W_Q, W_K, W_V, W_O in zip(
            np.split(W["W_Q"], h, axis=1),
            np.split(W["W_K"], h, axis=1),
            np.split(W["W_V"], h, axis=1),
            np.split(W["W_O"], h, axis=0),
            strict=True,
        ):
            S = (X @ W_Q / np.sqrt(W_Q.shape[1])) @ np.transpose(Y @ W_K, (0, 2, 1))
            S = np.where(blocked, -np.inf, S)
            top = S.max(axis=-1, keepdims=True)
            total = total + np.exp(S - top - np.log(np.exp(S - top).sum(axis=-1, keepdims=True))) @ Y @ (W_V @ W_O)
        return total

    return attend(attend(target, target, weights["self"], blocked_future), memory, weights["cross"], blocked_padding)


@right
def crossed_out_and_shared_out_again(target, memory, weights, h, memory_lengths):
    """Weights set to zero after the softmax and divided by what is left, with a 1e-9 for safety, one sequence after the other."""

    def heads(A):
        return np.stack(np.split(A, h, axis=-1))

    def attend(X, Y, W, allowed):
        Q, K, V = heads(X @ W["W_Q"]), heads(Y @ W["W_K"]), heads(Y @ W["W_V"])
        A = softmax(Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[2])) * allowed
        A = A / (A.sum(axis=-1, keepdims=True) + 1e-9)
        return np.concatenate(list(A @ V), axis=-1) @ W["W_O"]

    result = []
    for b, length in enumerate(memory_lengths):
        seen = attend(target[b], target[b], weights["self"], np.tril(np.ones((target.shape[1],) * 2)))
        real = np.concatenate([np.ones(length), np.zeros(memory.shape[1] - length)])
        result.append(attend(seen, memory[b], weights["cross"], real))
    return np.array(result)


@right
def batch_by_recursion(target, memory, weights, h, memory_lengths):
    """The first sequence, then the rest by recursion; the causal part by growing prefixes."""
    if len(target) == 0:
        return np.zeros((0, *target.shape[1:]))
    own, cross = weights["self"], weights["cross"]
    rows, read = target[0], memory[0][: int(memory_lengths[0])]
    seen = [multi_head_attention(rows[: i + 1], rows[: i + 1], **own, h=h)[0][-1:] for i in range(len(rows))]
    first = multi_head_attention(np.vstack(seen), read, **cross, h=h)[0]
    rest = batch_by_recursion(target[1:], memory[1:], weights, h, memory_lengths[1:])
    return np.concatenate([first[None], rest])


right = alternatives_of("previous_token_head")


@right
def shift_in_the_keys(n, d_model):
    """The keys are moved, not the queries; d_k and d_v are d_model; the position is taken off by W_O."""
    tokens = d_model - n
    W_Q = np.zeros((d_model, d_model))
    W_K = np.zeros((d_model, d_model))
    for i in range(n):
        W_Q[tokens + i, tokens + i] = 1000.0
        if i + 1 < n:
            W_K[tokens + i, tokens + i + 1] = 1.0
    keep = np.diag([1.0] * tokens + [0.0] * n)
    return {"W_Q": W_Q, "W_K": W_K, "W_V": np.eye(d_model), "W_O": keep}


@right
def round_the_corner(n, d_model):
    """np.roll: the first position looks at the last one, which does not matter."""
    tokens = d_model - n
    W_Q, W_K = np.zeros((d_model, n)), np.zeros((d_model, n))
    W_Q[tokens:] = np.roll(np.eye(n), -1, axis=1) * 20 * n
    W_K[tokens:] = 5 * np.eye(n)
    return {"W_Q": W_Q, "W_K": W_K, "W_V": np.eye(d_model, tokens), "W_O": np.eye(tokens, d_model)}


@right.worth_reading
def a_parabola_of_positions(n, d_model):
    """Two columns: the score is 2 j (i - 1) - j^2, which is largest at j = i - 1."""
    tokens = d_model - n
    place = np.arange(n, dtype=float)
    W_Q, W_K = np.zeros((d_model, 2)), np.zeros((d_model, 2))
    W_Q[tokens:] = 40.0 * np.stack([2 * (place - 1), -np.ones(n)], axis=1)
    W_K[tokens:] = np.stack([place, place**2], axis=1)
    W_V = np.vstack([np.eye(tokens), np.zeros((n, tokens))])
    return {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_V.T}


@right.worth_reading
def hands_of_a_clock(n, d_model):
    """Two columns: positions as angles on a circle, and the query turned back by one step, as in rotary embeddings."""
    angle = 2 * np.pi * np.arange(n) / (n + 1)
    step = 2 * np.pi / (n + 1)
    none = np.zeros((d_model - n, 2))
    sharp = 30.0 / (1 - np.cos(step))
    W_Q = np.vstack([none, sharp * np.column_stack([np.cos(angle - step), np.sin(angle - step)])])
    W_K = np.vstack([none, np.column_stack([np.cos(angle), np.sin(angle)])])
    W_V = np.eye(d_model)
    W_V[d_model - n :] = 0
    return {"W_O": np.eye(d_model), "W_V": W_V, "W_K": W_K, "W_Q": W_Q}


@right
def in_turned_coordinates(n, d_model):
    """Keys and values in coordinates turned at random (but always the same way), undone by the queries and W_O."""
    rng = np.random.default_rng(7)
    turn, _ = np.linalg.qr(rng.normal(size=(n, n)))
    mix = rng.normal(size=(d_model, d_model)) + 4 * np.eye(d_model)
    tokens = d_model - n
    W_Q, W_K, erase = np.zeros((d_model, n)), np.zeros((d_model, n)), np.eye(d_model)
    W_Q[tokens + 1 :] = 300 * turn[:-1]
    W_K[tokens:] = turn
    erase[tokens:, tokens:] = 0
    return {"W_Q": W_Q, "W_K": W_K, "W_V": erase @ mix, "W_O": np.linalg.inv(mix)}


@right
def very_sharp_and_in_lists(n, d_model):
    """Whole numbers from lists, and a scale of a million."""
    tokens = d_model - n
    token_at = [[int(r == c) for c in range(tokens)] for r in range(d_model)]
    ask = [[10**6 * int(r - tokens - 1 == c) for c in range(n)] for r in range(d_model)]
    offer = [[int(r - tokens == c) for c in range(n)] for r in range(d_model)]
    back = [[int(r == c) for c in range(d_model)] for r in range(tokens)]
    return {"W_Q": np.array(ask), "W_K": np.array(offer), "W_V": np.array(token_at), "W_O": np.array(back)}


@right
def codes_drawn_at_random(n, d_model):
    """Every position has a long random code, from a seed of its own: two of them are nearly at right angles."""
    tokens = d_model - n
    codes = np.random.default_rng(0).normal(size=(n, 200))
    W_Q, W_K = np.zeros((d_model, 200)), np.zeros((d_model, 200))
    W_Q[tokens + 1 :], W_K[tokens:] = 50 * codes[:-1], codes
    return {"W_Q": W_Q, "W_K": W_K, "W_V": np.eye(d_model, tokens), "W_O": np.eye(tokens, d_model)}


@right
def everything_else_pushed_away(n, d_model):
    """No score is raised: every other position's is lowered by 60, with d_k = n + 1; float32."""
    tokens = d_model - n
    W_Q = np.zeros((d_model, n + 1), dtype=np.float32)
    W_K = np.zeros((d_model, n + 1), dtype=np.float32)
    W_Q[tokens:, :n] = -60 * np.sqrt(n + 1) * (1 - np.eye(n, k=-1))
    W_K[tokens:, :n] = np.eye(n)
    W_K[:, n] = 1.0
    tokens_only = (np.arange(d_model) < tokens)[:, None] * np.eye(d_model, dtype=np.float32)
    return {"W_Q": W_Q, "W_K": W_K, "W_V": tokens_only / 4, "W_O": tokens_only * 4}
