"""Right solutions of chapter 4 that are written differently from the reference. The checks must accept all of them."""

import numpy as np

from autograder.misconception import alternatives_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import masked_softmax

right = alternatives_of("causal_mask")


@right.worth_reading
def triangle_with_tril(n_q, n_k=None):
    """np.tril of ones, made boolean: NumPy already has the triangle, and `k` sets the diagonal at which it ends."""
    n_k = n_k or n_q
    return np.tril(np.ones((n_q, n_k)), k=n_k - n_q).astype(bool)


@right
def triangle_with_triu(n_q, n_k=None):
    """Not the upper triangle above the diagonal."""
    n_k = n_q if n_k is None else n_k
    return ~np.triu(np.ones((n_q, n_k), dtype=bool), k=n_k - n_q + 1)


@right
def triangle_with_loops(n_q, n_k=None):
    """Two plain loops over an array of False."""
    if n_k is None:
        n_k = n_q
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        for j in range(n_k):
            if j <= i + n_k - n_q:
                mask[i, j] = True
    return mask


@right
def triangle_as_lists(n_q, n_k=None):
    """A list of lists of Python's own booleans, made into an array at the end."""
    n_k = n_q if n_k is None else n_k
    return np.array([[n_k - 1 - j >= n_q - 1 - i for j in range(n_k)] for i in range(n_q)])


@right
def last_rows_of_a_square(n_q, n_k=None):
    """The square triangle of all the keys, of which only the last n_q rows are kept."""
    n_k = n_q if n_k is None else n_k
    return np.tri(n_k, dtype=bool)[-n_q:]


@right
def past_beside_a_triangle(n_q, n_k=None):
    """A block of True for the past, beside a square triangle."""
    extra = 0 if n_k is None else n_k - n_q
    return np.hstack([np.ones((n_q, extra), dtype=bool), np.tri(n_q) > 0])


@right
def running_sum_along_the_rows(n_q, n_k=None):
    """A one at each query's own place. A running sum from the right then shows which keys are allowed."""
    n_k = n_q if n_k is None else n_k
    own = np.eye(n_q, n_k, k=n_k - n_q)
    return np.cumsum(own[:, ::-1], axis=1)[:, ::-1] == 1


@right
def outer_comparison(n_q, n_k=None):
    """NumPy's outer form of the comparison, over positions."""
    n_k = n_q if n_k is None else n_k
    return np.greater_equal.outer(np.arange(n_k - n_q, n_k), np.arange(n_k))


right = alternatives_of("padding_mask")


@right
def padding_with_loops(lengths, n_k):
    """A slice for each sequence."""
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, 0, :length] = True
    return mask


@right
def padding_as_lists(lengths, n_k):
    """Lists three deep: so many True, then False. They become an array at the end."""
    return np.array([[[True] * int(length) + [False] * (n_k - int(length))] for length in lengths])


@right
def padding_by_reshape(lengths, n_k):
    """A two-dimensional comparison, reshaped."""
    return (lengths.reshape(-1, 1) > np.arange(n_k)).reshape(-1, 1, n_k)


@right.worth_reading
def padding_with_expand_dims(lengths, n_k):
    """The missing axis is added at the end: compare first, and think about the shape afterwards."""
    return np.expand_dims(np.arange(n_k)[None, :] < lengths[:, None], axis=1)


@right
def padding_from_a_table(lengths, n_k):
    """A lookup in a table with one row for each possible length."""
    return np.tri(n_k + 1, n_k, -1, dtype=bool)[lengths][:, None]


@right
def padding_by_what_is_left(lengths, n_k):
    """Not the padding: where position minus length is zero or more."""
    return ~(np.subtract.outer(-lengths, -np.arange(n_k)) >= 0)[:, None, :]


@right
def padding_with_stack(lengths, n_k):
    """One row at a time, stacked."""
    return np.stack([np.arange(1, n_k + 1)[None] <= length for length in lengths])


right = alternatives_of("masked_softmax")


@right.worth_reading
def minus_infinity_with_care(scores, mask):
    """-inf, and a maximum replaced by 0 if nothing is allowed: exp(-inf) is exactly 0, whatever the scores are."""
    allowed = np.where(mask, scores, -np.inf)
    top = allowed.max(axis=-1, keepdims=True)
    e = np.exp(allowed - np.where(np.isneginf(top), 0.0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@right
def exps_times_the_mask(scores, mask):
    """Shifts by the largest score of all, allowed or not, and guards the division with 1e-9."""
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    return e / (e.sum(axis=-1, keepdims=True) + 1e-9)


@right
def shared_out_again(scores, mask):
    """Softmax first, zeros after it, and then division by the new sum."""
    weights = softmax(scores) * mask
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, np.where(total == 0, 1.0, np.nan))


@right
def empty_rows_found_in_the_mask(scores, mask):
    """-1e4 added, and empty rows found by asking the mask."""
    weights = softmax(scores + np.where(mask, 0.0, -1e4))
    return weights * mask.any(axis=-1, keepdims=True)


@right
def minus_infinity_and_empty_rows_after(scores, mask):
    """-inf gives nan in empty rows, and then only these rows are set to 0."""
    weights = softmax(np.where(mask, scores, -np.inf))
    return np.where(np.any(mask, axis=-1, keepdims=True), weights, 0)


@right
def smallest_number_of_the_type(scores, mask):
    """The lowest number that the type of the scores has, as a well-known library does."""
    filled = np.where(mask, scores, np.finfo(scores.dtype).min)
    return softmax(filled) * np.where(mask, 1.0, 0.0)


@right
def row_by_row(scores, mask):
    """A loop over rows, a softmax of the allowed scores alone."""
    rows = scores.reshape(-1, scores.shape[-1])
    masks = np.broadcast_to(mask, scores.shape).reshape(rows.shape)
    out = np.zeros_like(rows)
    for i in range(len(rows)):
        if masks[i].any():
            out[i, masks[i]] = softmax(rows[i, masks[i]])
    return out.reshape(scores.shape)


@right
def by_recursion_into_lists(scores, mask):
    """Splits off the first axis until single rows are left; plain numbers from there."""
    mask = np.broadcast_to(mask, scores.shape)
    if scores.ndim > 1:
        return np.array([by_recursion_into_lists(s, m) for s, m in zip(scores, mask, strict=True)])
    allowed = [float(s) for s, m in zip(scores, mask, strict=True) if m]
    if not allowed:
        return np.array([0.0] * len(scores))
    top = float(np.max(allowed))
    total = sum(float(np.exp(s - top)) for s in allowed)
    return np.array([float(np.exp(s - top)) / total if m else 0.0 for s, m in zip(scores, mask, strict=True)])


@right
def log_sum_exp_of_the_allowed(scores, mask):
    """np.logaddexp over the allowed scores, with a shift of 0 if nothing is allowed."""
    allowed = np.where(mask, scores, -np.inf)
    lse = np.logaddexp.reduce(allowed, axis=-1, keepdims=True)
    return np.exp(allowed - np.where(lse == -np.inf, 0.0, lse))


@right.worth_reading
def masked_reductions(scores, mask):
    """NumPy's own `where=` for maximum and sum: it ignores forbidden entries, so you need no huge negative number."""
    mask = np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e5)
    e = np.zeros(scores.shape)
    np.exp(scores - top, out=e, where=mask)
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros(scores.shape), where=total != 0)


@right
def on_a_copy(scores, mask):
    """Writes -1e4 into a copy of the scores, and zeros into the weights."""
    blocked = ~np.broadcast_to(mask, scores.shape)
    filled = scores.copy()
    filled[blocked] = -1e4
    weights = softmax(filled)
    weights[blocked] = 0
    return weights


right = alternatives_of("masked_attention")


@right.worth_reading
def attention_with_loops(Q, K, V, mask=None):
    """One query at a time, with only the keys that it may see: the meaning of a mask, without a mask."""
    n_q, n_k = Q.shape[-2], K.shape[-2]
    batch = Q.shape[:-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*batch, n_q, n_k))
    weights = np.zeros((*batch, n_q, n_k))
    output = np.zeros((*batch, n_q, V.shape[-1]))
    for b in np.ndindex(*batch):
        for i in range(n_q):
            seen = np.flatnonzero(allowed[b][i])
            w = softmax(K[b][seen] @ Q[b][i] / len(Q[b][i]) ** 0.5)
            weights[(*b, i, seen)] = w
            output[(*b, i)] = w @ V[b][seen]
    return output, weights


@right
def attention_with_einsum(Q, K, V, mask=None):
    """Einsums with an ellipsis, and -inf."""
    scores = np.einsum("...qd,...kd->...qk", Q, K) / np.sqrt(K.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return np.einsum("...qk,...kv->...qv", weights, V), weights


@right
def attention_adding_before_the_scaling(Q, K, V, mask=None):
    """Adds -1e9 to the unscaled scores and divides afterwards: a huge number stays huge."""
    scores = Q @ np.moveaxis(K, -1, -2)
    if mask is not None:
        scores = scores + (1.0 - mask) * -1e9
    weights = softmax(scores / Q.shape[-1] ** 0.5)
    return weights @ V, weights


@right
def attention_scaling_the_queries(Q, K, V, mask=None):
    """Scales the queries, makes a mask of True if there is none, and returns a list."""
    scores = (Q / np.sqrt(Q.shape[-1])) @ K.swapaxes(-2, -1)
    if mask is None:
        mask = np.ones(scores.shape[-2:], dtype=bool)
    weights = masked_softmax(scores, mask)
    return [np.matmul(weights, V), weights]


@right
def attention_shared_out_again(Q, K, V, mask=None):
    """Zeros after the softmax, and then division by the new sum, with 1e-9 in the denominator."""
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    if mask is not None:
        weights = weights * mask
        weights = weights / (weights.sum(-1, keepdims=True) + 1e-9)
    return weights @ V, weights


@right
def attention_dividing_last(Q, K, V, mask=None):
    """Mixes with the exps and divides the mix, and computes the weights separately."""
    scores = np.sum(Q[..., :, None, :] * K[..., None, :, :], axis=-1) / np.sqrt(Q.shape[-1])
    keep = 1.0 if mask is None else mask.astype(Q.dtype)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * keep
    total = e.sum(axis=-1)[..., None]
    return (e @ V) / total, e / total


@right
def attention_one_sequence_at_a_time(Q, K, V, mask=None):
    """Calls itself on each sequence of a batch until there is only one."""
    if Q.ndim > 2:
        full = None if mask is None else np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))
        pairs = [
            attention_one_sequence_at_a_time(Q[b], K[b], V[b], None if full is None else full[b]) for b in range(len(Q))
        ]
        return [np.array(parts) for parts in zip(*pairs, strict=True)]
    scores = Q @ K.T / np.sqrt(len(Q[0]))
    if mask is not None:
        scores = scores.copy()
        scores[~np.broadcast_to(mask, scores.shape)] = -1e4
    weights = softmax(scores)
    return weights @ V, weights


right = alternatives_of("combine_masks")


@right
def masks_with_logical_and(causal, padding):
    """NumPy's named function."""
    return np.logical_and(causal[None, :, :], padding)


@right
def masks_multiplied(causal, padding):
    """Between booleans, times is "and"."""
    return causal * padding


@right
def masks_by_minimum(causal, padding):
    """False is the smaller of the two."""
    return np.minimum(causal, padding)


@right
def masks_with_loops(causal, padding):
    """A loop over the batch and its queries."""
    batch, (n_q, n_k) = len(padding), causal.shape
    mask = np.zeros((batch, n_q, n_k), dtype=bool)
    for b in range(batch):
        for i in range(n_q):
            mask[b, i] = causal[i] & padding[b, 0]
    return mask


@right.worth_reading
def masks_by_what_is_forbidden(causal, padding):
    """Forbidden if either mask forbids it: by De Morgan's law, that means that both have to allow it."""
    return ~(~causal | ~padding)


@right
def masks_with_where(causal, padding):
    """The causal mask if a key is real, and False otherwise."""
    return np.where(padding, causal, np.zeros_like(causal))


@right
def masks_with_einsum(causal, padding):
    """An einsum of numbers, made boolean at the end."""
    return np.einsum("qk,bok->bqk", causal.astype(int), padding.astype(int)).astype(bool)


@right
def masks_as_lists(causal, padding):
    """Lists of Python's own booleans, made into an array at the end."""
    return np.array([[[bool(c and p) for c, p in zip(row, seq[0], strict=True)] for row in causal] for seq in padding])


right = alternatives_of("is_causal")


@right
def by_cutting_the_end_off(attend, X):
    """The output of the first t rows alone must be the first t rows of the output."""
    Y = attend(X)
    return all(np.allclose(attend(X[:t]), Y[:t]) for t in range(1, len(X)))


@right
def by_cutting_from_nothing_on(attend, X):
    """The same from the empty sequence on, with a fine comparison."""
    Y = attend(X)
    return all(np.allclose(attend(X[:t])[:t], Y[:t], rtol=0, atol=1e-9) for t in range(len(X) + 1))


@right
def by_one_large_change_at_a_time(attend, X):
    """Adds large numbers to one row at a time, another to each feature, and compares every earlier row by itself."""
    Y = attend(X)
    for j in range(len(X)):
        Z = np.array(X)
        Z[j] += 1000.0 * np.arange(1, X.shape[1] + 1)
        changed = attend(Z)
        for i in range(j):
            if np.abs(changed[i] - Y[i]).max() > 1e-6:
                return False
    return True


@right
def by_another_future(attend, X):
    """Another random future after each position, from a new generator. Returns a NumPy bool."""
    rng = np.random.default_rng(0)
    same = [
        np.isclose(attend(np.vstack([X[:t], rng.normal(size=X[t:].shape)]))[:t], attend(X)[:t]).all()
        for t in range(1, len(X))
    ]
    return np.all(same)


@right.worth_reading
def by_finite_differences(attend, X):
    """The derivative of each earlier row with respect to each later number: even a very small leak has a slope."""
    eps = 1e-5
    for j in range(len(X)):
        for a in range(X.shape[1]):
            up, down = X.copy(), X.copy()
            up[j, a] += eps
            down[j, a] -= eps
            slope = (attend(up) - attend(down)) / (2 * eps)
            if np.any(np.abs(slope[:j]) > 1e-5):
                return False
    return True


@right
def by_a_small_change_put_back(attend, X):
    """Changes X itself for a moment and restores it, with a small change and a fine comparison."""
    Y = attend(X.copy())
    for t in range(1, len(X)):
        kept = X[t].copy()
        X[t] = kept + 0.01 * np.arange(1, X.shape[1] + 1)
        noticed = np.abs(attend(X)[:t] - Y[:t]).max() > 1e-8
        X[t] = kept
        if noticed:
            return False
    return True


@right
def by_doubling_and_negating(attend, X):
    """The future negated and doubled, from the last position to the first."""
    Y = np.asarray(attend(X))
    leaks = 0
    for t in reversed(range(len(X))):
        Z = X.copy()
        Z[t + 1 :] *= -2
        leaks += not np.allclose(np.asarray(attend(Z))[: t + 1], Y[: t + 1], rtol=0, atol=1e-6)
    return leaks == 0


@right
def by_recursion(attend, X):
    """Without its last row, everything must stay the same, and so on for shorter and shorter arrays."""
    if len(X) < 2:
        return True
    return bool(np.allclose(attend(X)[:-1], attend(X[:-1]))) and by_recursion(attend, X[:-1])
