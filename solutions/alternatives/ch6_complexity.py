"""Right solutions of chapter 6 that are written differently from the reference. The checks must accept all of them."""

import math
from collections import deque

import numpy as np

from autograder.misconception import alternatives_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch3_scaling import scaled_dot_product_attention as attention
from solutions.ch4_masking import causal_mask

right = alternatives_of("attention_cost")


@right.worth_reading
def product_by_product(n_q, n_k, d_k, d_v):
    """Each matrix product by itself, then their sum: each product costs its three sizes multiplied."""
    scores = n_q * d_k * n_k
    mixing = n_q * n_k * d_v
    return {"stored_scores": n_q * n_k, "multiply_adds": scores + mixing}


@right
def in_floats(n_q, n_k, d_k, d_v):
    """Floats."""
    pairs = float(n_q) * n_k
    return {"multiply_adds": pairs * d_k + pairs * d_v, "stored_scores": pairs}


@right
def in_numpy_integers(n_q, n_k, d_k, d_v):
    """NumPy's whole numbers, from products over shapes."""
    return {
        "multiply_adds": np.prod([n_q, n_k, d_k], dtype=np.int64) + np.prod([n_q, n_k, d_v], dtype=np.int64),
        "stored_scores": np.prod([n_q, n_k], dtype=np.int64),
    }


@right
def counted_row_by_row(n_q, n_k, d_k, d_v):
    """A loop over the queries, counting as it goes."""
    cost = {"multiply_adds": 0, "stored_scores": 0}
    for _ in range(n_q):
        cost["multiply_adds"] += n_k * d_k
        cost["stored_scores"] += n_k
        cost["multiply_adds"] += d_v * n_k
    return cost


@right
def with_both_products_apart(n_q, n_k, d_k, d_v):
    """More entries than were asked for."""
    parts = {"scores": n_q * n_k * d_k, "mixing": n_q * n_k * d_v}
    return {**parts, "multiply_adds": sum(parts.values()), "stored_scores": n_k * n_q}


@right
def as_small_arrays(n_q, n_k, d_k, d_v):
    """Arrays without axes, from a dot product."""
    return {"multiply_adds": np.dot([n_q * n_k] * 2, [d_k, d_v]), "stored_scores": np.array(n_q * n_k)}


right = alternatives_of("layer_flops")


@right
def product_after_product(n, d_model):
    """Each of the six products by itself."""
    one_projection = 2 * n * d_model * d_model
    scores = 2 * n * n * d_model
    mixing = 2 * n * n * d_model
    return 3 * one_projection + scores + mixing + one_projection


@right.worth_reading
def factored_flops(n, d_model):
    """The common factor is taken out, which shows at which length the scores cost as much as the projections."""
    return 4 * n * d_model * (2 * d_model + n)


@right
def flops_in_floats(n, d_model):
    """With pow, in floats."""
    return 8.0 * n * math.pow(d_model, 2) + 4.0 * math.pow(n, 2) * d_model


@right
def flops_from_shapes(n, d_model):
    """A list of the products' shapes, each costing twice the product of its three sizes."""
    shapes = [(n, d_model, d_model)] * 4 + [(n, d_model, n), (n, n, d_model)]
    return sum(2 * a * b * c for a, b, c in shapes)


@right
def flops_of_heads(n, d_model):
    """As if there were one head for each column."""
    projections = 4 * 2 * n * d_model**2
    heads = [2 * (n * n * 1 + n * n * 1) for _ in range(d_model)]
    return projections + sum(heads)


@right
def flops_by_numpy(n, d_model):
    """A NumPy number from a polynomial in n."""
    return np.polyval([4 * d_model, 8 * d_model**2, 0], n)


right = alternatives_of("sliding_window_mask")


@right
def difference_of_triangles(n, window):
    """A triangle without a lower one."""
    return np.tri(n, dtype=bool) & ~np.tri(n, k=-window, dtype=bool)


@right
def window_with_loops(n, window):
    """Two plain loops over an array of False."""
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(max(0, i - window + 1), i + 1):
            mask[i, j] = True
    return mask


@right
def window_from_the_causal_mask(n, window):
    """Chapter 4's mask, and a bound on how far back."""
    positions = np.arange(n)
    return causal_mask(n) & (positions[None, :] > positions[:, None] - window)


@right
def window_as_lists(n, window):
    """A list of lists of Python's own booleans, made into an array at the end."""
    return np.array([[i - window < j <= i for j in range(n)] for i in range(n)])


@right
def window_of_diagonals(n, window):
    """A sum of diagonals, made boolean."""
    return sum(np.eye(n, k=-back) for back in range(min(window, n))).astype(bool)


@right.worth_reading
def window_with_tril_and_triu(n, window):
    """Ones, cut off above and below: a band is the intersection of two triangles."""
    return np.triu(np.tril(np.ones((n, n))), k=1 - window) > 0


@right
def window_of_a_running_sum(n, window):
    """How many of the last diagonals have been met, by cumulative sums."""
    opened = np.cumsum(np.eye(n, dtype=int), axis=0)
    closed = np.cumsum(np.eye(n, k=-window, dtype=int), axis=0)
    return (opened - closed).astype(np.bool_)


@right
def window_by_indices(n, window):
    """np.indices, and a slice of the past for each query."""
    i, j = np.indices((n, n))
    return np.logical_and(j <= i, i < j + window)


right = alternatives_of("linear_attention")


@right
def linear_with_einsum(Q, K, V, feature_map):
    """Two einsums for the values, one for the sum, a 1e-6 below the line, as in programs in print."""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    state = np.einsum("...jm,...jb->...mb", phi_K, V)
    total = np.einsum("...im,...jm->...i", phi_Q, phi_K)
    return np.einsum("...im,...mb->...ib", phi_Q, state) / (total[..., None] + 1e-6)


@right.worth_reading
def linear_with_a_column_of_ones(Q, K, V, feature_map):
    """A column of ones is added to the values: mixed by the weights, it gives their sum."""
    V_and_one = np.concatenate([V, np.ones((*V.shape[:-1], 1))], axis=-1)
    both = feature_map(Q) @ (np.moveaxis(feature_map(K), -1, -2) @ V_and_one)
    return both[..., :-1] / both[..., -1:]


@right
def linear_key_by_key(Q, K, V, feature_map):
    """A loop over the keys, whose features and values are added up."""
    state, keys = 0.0, 0.0
    for j in range(K.shape[-2]):
        features = feature_map(K[..., j, :])
        state = state + features[..., :, None] * V[..., j, None, :]
        keys = keys + features
    phi_Q = feature_map(Q)
    return (phi_Q @ state) / (phi_Q @ keys[..., None])


@right
def linear_query_by_query(Q, K, V, feature_map):
    """A matrix at a time, a query at a time: the weights of one query are a short row."""
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for place in np.ndindex(Q.shape[:-2]):
        phi_K = feature_map(K[place])
        for i, q in enumerate(Q[place]):
            weights = phi_K @ feature_map(q)
            output[(*place, i)] = weights @ V[place] / weights.sum()
    return output


@right
def linear_in_blocks_of_queries(Q, K, V, feature_map):
    """The table after all, but never more than 50 rows of it."""
    phi_K = np.swapaxes(feature_map(K), -1, -2)
    pieces = []
    for start in range(0, Q.shape[-2], 50):
        weights = feature_map(Q[..., start : start + 50, :]) @ phi_K
        pieces.append((weights / weights.sum(axis=-1, keepdims=True)) @ V)
    return np.concatenate(pieces, axis=-2)


@right
def linear_by_recursion(Q, K, V, feature_map):
    """Matrices are attended to; anything with more axes is taken apart."""
    if Q.ndim > 2:
        return np.array([linear_by_recursion(*one, feature_map) for one in zip(Q, K, V, strict=True)])
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    return (phi_Q.dot(phi_K.T.dot(V)).T / phi_Q.dot(phi_K.sum(axis=0))).T


@right
def linear_with_normalised_queries(Q, K, V, feature_map):
    """Each query's features are divided by the sum of its weights before anything is mixed."""
    phi_Q, phi_K = feature_map(Q).copy(), feature_map(K)
    phi_Q /= phi_Q @ phi_K.sum(axis=-2)[..., None]
    return np.matmul(phi_Q, np.matmul(phi_K.swapaxes(-1, -2), V))


right = alternatives_of("chunked_attention")


@right
def blocks_of_queries(Q, K, V, block_size):
    """Plain attention for one block of queries at a time."""
    starts = range(0, Q.shape[-2], block_size)
    return np.concatenate([attention(Q[..., i : i + block_size, :], K, V)[0] for i in starts], axis=-2)


@right
def query_by_query(Q, K, V, block_size):
    """Every query by itself, whatever the block size."""
    output = np.empty((*Q.shape[:-1], V.shape[-1]))
    for i in range(Q.shape[-2]):
        output[..., i : i + 1, :] = attention(Q[..., i : i + 1, :], K, V)[0]
    return output


@right
def three_passes(Q, K, V, block_size):
    """One round for the maximum, one for the sum, one for the mix."""
    blocks = [slice(i, i + block_size) for i in range(0, K.shape[-2], block_size)]

    def scores(block):
        return Q @ K[..., block, :].swapaxes(-1, -2) / np.sqrt(Q.shape[-1])

    top = np.max([scores(b).max(axis=-1) for b in blocks], axis=0)[..., None]
    total = np.sum([np.exp(scores(b) - top).sum(axis=-1) for b in blocks], axis=0)[..., None]
    return np.sum([np.exp(scores(b) - top) / total @ V[..., b, :] for b in blocks], axis=0)


@right
def parts_brought_together_at_the_end(Q, K, V, block_size):
    """Each block keeps its maximum, sum and mix; they meet after the last."""
    tops, totals, mixes = [], [], []
    for start in range(0, K.shape[-2], block_size):
        end = min(start + block_size, K.shape[-2])
        scores = np.einsum("...ia,...ja->...ij", Q, K[..., start:end, :]) / math.sqrt(K.shape[-1])
        tops.append(scores.max(axis=-1, keepdims=True))
        e = np.exp(scores - tops[-1])
        totals.append(e.sum(axis=-1, keepdims=True))
        mixes.append(e @ V[..., start:end, :])
    factors = np.exp(np.array(tops) - np.max(tops, axis=0))
    return (factors * np.array(mixes)).sum(axis=0) / (factors * np.array(totals)).sum(axis=0)


@right.worth_reading
def outputs_mixed_by_log_sums(Q, K, V, block_size):
    """Attention on each block, then the outputs mixed by the softmax of the blocks' log-sum-exps."""
    outputs, logs = [], []
    rest_K, rest_V = K, V
    while rest_K.shape[-2]:
        head_K, rest_K = rest_K[..., :block_size, :], rest_K[..., block_size:, :]
        head_V, rest_V = rest_V[..., :block_size, :], rest_V[..., block_size:, :]
        scores = Q @ np.swapaxes(head_K, -1, -2) / np.sqrt(Q.shape[-1])
        top = scores.max(axis=-1, keepdims=True)
        logs.append(top + np.log(np.exp(scores - top).sum(axis=-1, keepdims=True)))
        outputs.append(softmax(scores) @ head_V)
    return (softmax(np.stack(logs), axis=0) * np.stack(outputs)).sum(axis=0)


@right
def running_average(Q, K, V, block_size):
    """The output is kept divided at every moment, and undone before the next block is added."""
    output, top, total = np.zeros((*Q.shape[:-1], V.shape[-1])), -np.inf, 0.0
    for start in range(0, K.shape[-2], block_size):
        part = range(start, min(start + block_size, K.shape[-2]))
        scores = (Q * Q.shape[-1] ** -0.5) @ np.swapaxes(np.take(K, part, axis=-2), -1, -2)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        e = np.exp(scores - new_top)
        kept = total * np.exp(top - new_top)
        total = kept + e.sum(axis=-1, keepdims=True)
        output = (kept * output + e @ np.take(V, part, axis=-2)) / total
        top = new_top
    return output


@right
def halves_of_halves(Q, K, V, block_size):
    """The keys are halved until they fit into a block; what two halves bring is put together on the way back."""

    def bring(keys, values):
        n = keys.shape[-2]
        if n <= block_size:
            scores = Q @ keys.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
            top = scores.max(axis=-1, keepdims=True)
            e = np.exp(scores - top)
            return top, e.sum(axis=-1, keepdims=True), e @ values
        left = bring(keys[..., : n // 2, :], values[..., : n // 2, :])
        right = bring(keys[..., n // 2 :, :], values[..., n // 2 :, :])
        top = np.maximum(left[0], right[0])
        a, b = np.exp(left[0] - top), np.exp(right[0] - top)
        return top, left[1] * a + right[1] * b, left[2] * a + right[2] * b

    _, total, mixed = bring(K, V)
    return mixed / total


@right
def tiles_of_queries_and_keys(Q, K, V, block_size):
    """Blocks both ways, for a matrix at a time, as on a graphics card."""
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for place in np.ndindex(Q.shape[:-2]):
        for start in range(0, Q.shape[-2], block_size):
            rows = slice(start, start + block_size)
            q = Q[place][rows] / np.sqrt(Q.shape[-1])
            top, total, mixed = np.full(len(q), -1e30), np.zeros(len(q)), 0.0
            for key in range(0, K.shape[-2], block_size):
                scores = q @ K[place][key : key + block_size].T
                before, top = top, np.maximum(top, scores.max(axis=1))
                e = np.exp(scores - top[:, None])
                fade = np.exp(before - top)
                total = fade * total + e.sum(axis=1)
                mixed = fade[:, None] * mixed + e @ V[place][key : key + block_size]
            output[place][rows] = mixed / total[:, None]
    return output


@right
def first_block_sets_the_start(Q, K, V, block_size):
    """A queue of blocks; the first one opens the sums, the others are merged into them."""

    def one(block):
        keys, values = block
        scores = Q @ np.swapaxes(keys, -1, -2) / np.sqrt(Q.shape[-1])
        top = scores.max(axis=-1, keepdims=True)
        e = np.exp(scores - top)
        return top, e.sum(axis=-1, keepdims=True), e @ values

    cuts = np.arange(block_size, K.shape[-2], block_size)
    queue = deque(zip(np.split(K, cuts, axis=-2), np.split(V, cuts, axis=-2), strict=True))
    top, total, mixed = one(queue.popleft())
    while queue:
        other_top, other_total, other_mixed = one(queue.popleft())
        high = np.maximum(top, other_top)
        left, right = np.exp(top - high), np.exp(other_top - high)
        total, mixed, top = left * total + right * other_total, left * mixed + right * other_mixed, high
    return mixed / total


right = alternatives_of("decode_step")


@right.worth_reading
def step_by_plain_attention(q, k, v, cache_K, cache_V):
    """One query makes a matrix with one row, and chapter 3 does the rest: decoding is attention with a stored past."""
    K = np.concatenate([cache_K, k[None, :]], axis=0)
    V = np.concatenate([cache_V, v[None, :]], axis=0)
    return attention(q[None, :], K, V)[0][0], K, V


@right
def step_with_append(q, k, v, cache_K, cache_V):
    """np.append, and the exps by hand."""
    K, V = np.append(cache_K, [k], axis=0), np.append(cache_V, [v], axis=0)
    e = np.exp(K.dot(q) / np.sqrt(K.shape[1]) - np.max(K.dot(q) / np.sqrt(K.shape[1])))
    return np.average(V, axis=0, weights=e), K, V


@right
def step_with_loops(q, k, v, cache_K, cache_V):
    """Lists of rows and plain loops."""
    keys, values = [*cache_K, k], [*cache_V, v]
    scores = [sum(a * b for a, b in zip(q, key, strict=True)) / math.sqrt(len(q)) for key in keys]
    parts = [math.exp(s - max(scores)) for s in scores]
    output = sum(p * value for p, value in zip(parts, values, strict=True)) / sum(parts)
    return output, np.array(keys), np.array(values)


@right
def step_into_new_arrays(q, k, v, cache_K, cache_V):
    """New arrays of the right size, filled in two strokes; a list is returned."""
    t = cache_K.shape[0]
    K, V = np.empty((t + 1, k.size)), np.empty((t + 1, v.size))
    K[:t], K[t] = cache_K, k
    V[:t], V[t] = cache_V, v
    weights = softmax(np.einsum("ja,a->j", K, q) * q.size**-0.5)
    return [np.einsum("j,jb->b", weights, V), K, V]


@right
def step_with_the_newest_apart(q, k, v, cache_K, cache_V):
    """The newest score is worked out by itself and put behind the others."""
    weights = softmax(np.append(cache_K @ q, q @ k) / np.sqrt(q.shape[0]))
    output = weights[:-1] @ cache_V + weights[-1] * v
    return output, np.r_[cache_K, k[None]], np.r_[cache_V, v[None]]


@right
def step_with_lists_for_caches(q, k, v, cache_K, cache_V):
    """The caches are lists of rows, made into arrays at the end."""
    K, V = [*list(cache_K), k], [*list(cache_V), v]
    weights = softmax(np.stack(K) @ (q / np.sqrt(len(q))))
    return (weights[:, None] * np.stack(V)).sum(axis=0), np.array(K), np.array(V)


@right
def step_of_running_sums(q, k, v, cache_K, cache_V):
    """Starts from the newest and takes the cache in one position at a time, as in `chunked_attention`."""
    top, total, mixed = q @ k / np.sqrt(len(q)), 1.0, v
    for key, value in zip(cache_K, cache_V, strict=True):
        score = q @ key / np.sqrt(len(q))
        high = max(top, score)
        total = total * np.exp(top - high) + np.exp(score - high)
        mixed = mixed * np.exp(top - high) + np.exp(score - high) * value
        top = high
    return mixed / total, np.vstack((cache_K, k)), np.vstack((cache_V, v))
