"""Right solutions of chapter 2 that are written differently from the reference. The checks must accept all of them."""

import numpy as np

from autograder.misconception import alternatives_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch2_query_key_value import attention_scores

right = alternatives_of("project_qkv")


@right
def project_with_einsum(X_q, X_kv, W_Q, W_K, W_V):
    """Three einsums with an ellipsis, in a list."""
    return [np.einsum("...nm,md->...nd", X, W) for X, W in ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V))]


@right
def project_with_dot(X_q, X_kv, W_Q, W_K, W_V):
    """np.dot, which is the same as @ when the right side is a matrix."""
    return np.dot(X_q, W_Q), np.dot(X_kv, W_K), np.dot(X_kv, W_V)


@right.worth_reading
def project_keys_and_values_at_once(X_q, X_kv, W_Q, W_K, W_V):
    """One product for keys and values, with the matrices next to each other, split afterwards. Large models do that for
    speed."""
    d_k = W_K.shape[1]
    both = X_kv @ np.concatenate([W_K, W_V], axis=1)
    return X_q @ W_Q, both[..., :d_k], both[..., d_k:]


@right
def project_with_tensordot(X_q, X_kv, W_Q, W_K, W_V):
    """np.tensordot over the last axis of X and the first axis of W."""
    return tuple(np.tensordot(X, W, axes=1) for X, W in ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V)))


@right
def project_with_loops(X_q, X_kv, W_Q, W_K, W_V):
    """Plain loops over the columns of each matrix, recursion over the batch axes."""

    def project(X, W):
        if X.ndim > 2:
            return np.stack([project(part, W) for part in X])
        out = np.zeros((X.shape[0], W.shape[1]))
        for i, row in enumerate(X):
            for j in range(W.shape[1]):
                out[i, j] = sum(row[k] * W[k, j] for k in range(len(row)))
        return out

    return project(X_q, W_Q), project(X_kv, W_K), project(X_kv, W_V)


@right
def project_flattened(X_q, X_kv, W_Q, W_K, W_V):
    """All the positions of the batch below each other, with the batch axes restored afterwards."""

    def project(X, W):
        return (X.reshape(-1, X.shape[-1]) @ W).reshape(*X.shape[:-1], -1)

    return project(X_q, W_Q), project(X_kv, W_K), project(X_kv, W_V)


@right
def project_from_the_left(X_q, X_kv, W_Q, W_K, W_V):
    """Everything transposed, with the matrix on the left."""

    def project(X, W):
        return (W.T @ X.swapaxes(-1, -2)).swapaxes(-1, -2)

    return project(X_q, W_Q), project(X_kv, W_K), project(X_kv, W_V)


right = alternatives_of("attention_scores")


@right.worth_reading
def scores_with_einsum(Q, K):
    """An einsum with an ellipsis: it keeps all batch axes, and you need no transpose."""
    return np.einsum("...ia,...ja->...ij", Q, K)


@right
def scores_by_broadcasting(Q, K):
    """Every query with every key, multiplied and summed over the last axis."""
    return (Q[..., :, None, :] * K[..., None, :, :]).sum(axis=-1)


@right
def scores_transposed_at_the_end(Q, K):
    """Keys first, with rows and columns swapped at the end."""
    return (K @ Q.swapaxes(-2, -1)).swapaxes(-2, -1)


@right
def scores_with_moveaxis(Q, K):
    """np.moveaxis for the transpose, np.matmul for the product."""
    return np.matmul(Q, np.moveaxis(K, -1, -2))


@right
def scores_by_recursion(Q, K):
    """Batch entry by batch entry, with .T on plain matrices only."""
    if Q.ndim == 2:
        return Q @ K.T
    return np.stack([scores_by_recursion(q, k) for q, k in zip(Q, K, strict=True)])


@right
def scores_with_loops(Q, K):
    """Loops over every place of the answer."""
    out = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for place in np.ndindex(*out.shape):
        *batch, i, j = place
        for a in range(Q.shape[-1]):
            out[place] += Q[(*batch, i, a)] * K[(*batch, j, a)]
    return out


@right
def scores_as_nested_lists(Q, K):
    """Nested lists of numbers, made into an array at the end."""
    if Q.ndim > 2:
        return np.array([scores_as_nested_lists(q, k) for q, k in zip(Q, K, strict=True)])
    return np.array([[float(q @ k) for k in K] for q in Q])


@right
def scores_with_transposed_axes(Q, K):
    """np.transpose with a list of axes that is made for the given number of axes."""
    axes = [*range(K.ndim - 2), K.ndim - 1, K.ndim - 2]
    return Q @ K.transpose(axes)


@right
def scores_one_entry_at_a_time(Q, K):
    """An outer product for each of the d_k entries, added up."""
    return sum(Q[..., :, a, None] * K[..., None, :, a] for a in range(Q.shape[-1]))


right = alternatives_of("dot_product_attention")


@right.worth_reading
def attention_with_einsum(Q, K, V):
    """Two einsums around the softmax: the first sums over features, the second over keys."""
    weights = softmax(np.einsum("...ia,...ja->...ij", Q, K), axis=-1)
    return [np.einsum("...ij,...jb->...ib", weights, V), weights]


@right
def attention_normalised_last(Q, K, V):
    """Mixes with exps that are not normalised and divides at the end, with a 1e-9 in the denominator."""
    scores = Q @ K.swapaxes(-1, -2)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = e.sum(axis=-1, keepdims=True) + 1e-9
    return (e @ V) / total, e / total


@right.worth_reading
def attention_query_by_query(Q, K, V):
    """One query at a time, with the rows stacked at the end and recursion over the batch axes."""
    if Q.ndim > 2:
        pairs = [attention_query_by_query(*parts) for parts in zip(Q, K, V, strict=True)]
        return np.stack([output for output, _ in pairs]), np.stack([weights for _, weights in pairs])
    weights = [softmax(K @ q) for q in Q]
    return np.array([w @ V for w in weights]), np.array(weights)


@right
def attention_by_log_sum_exp(Q, K, V):
    """Weights as exp(scores - log-sum-exp of the scores)."""
    scores = attention_scores(Q, K)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.matmul(weights, V), weights


@right
def attention_on_the_side(Q, K, V):
    """Keys down the side and queries across: the softmax runs over axis -2, and everything is transposed at the end."""
    columns = softmax(K @ np.swapaxes(Q, -1, -2), axis=-2)
    return np.swapaxes(np.swapaxes(V, -1, -2) @ columns, -1, -2), np.swapaxes(columns, -1, -2)


@right
def attention_by_broadcasting(Q, K, V):
    """Sums of broadcast products, no matrix product at all."""
    scores = (Q[..., :, None, :] * K[..., None, :, :]).sum(-1)
    weights = softmax(scores)
    return (weights[..., None] * V[..., None, :, :]).sum(-2), weights


@right
def attention_with_plain_loops(Q, K, V):
    """Loops and plain numbers, filled into two arrays."""
    output, weights = np.zeros((*Q.shape[:-1], V.shape[-1])), np.zeros((*Q.shape[:-1], K.shape[-2]))
    for place in np.ndindex(*Q.shape[:-1]):
        batch = place[:-1]
        scores = [float(Q[place] @ key) for key in K[batch]]
        exps = [float(np.exp(s - max(scores))) for s in scores]
        for j, e in enumerate(exps):
            weights[(*place, j)] = e / sum(exps)
            output[place] += e / sum(exps) * V[(*batch, j)]
    return output, weights


@right
def attention_in_place_on_its_own_array(Q, K, V):
    """One array of its own that goes from scores to weights in place."""
    w = Q @ K.swapaxes(-1, -2)
    w -= w.max(-1, keepdims=True)
    np.exp(w, out=w)
    w /= w.sum(-1, keepdims=True)
    return w @ V, w


right = alternatives_of("einsum_attention")


@right
def letters_of_the_axes():
    """Letters that stand for the axes: queries, keys, features, values."""
    return {"SCORES_EQ": "qd,kd->qk", "MIX_EQ": "qk,kv->qv"}


@right
def with_spaces():
    """Spaces around commas and arrow."""
    return {"SCORES_EQ": "i a, j a -> i j", "MIX_EQ": " ij , jb -> ib "}


@right
def with_an_ellipsis():
    """An ellipsis for batch axes, of which there are none here."""
    return {"SCORES_EQ": "...ia,...ja->...ij", "MIX_EQ": "...ij,...jb->...ib"}


@right
def without_an_arrow():
    """No arrow: the letters that occur once are in the right order by themselves."""
    return {"SCORES_EQ": "id,jd", "MIX_EQ": "ij,jk"}


@right
def with_capitals():
    """Capital letters, which NumPy counts as other letters than the small ones."""
    return {"SCORES_EQ": "Qd,Kd->QK", "MIX_EQ": "QK,Kd->Qd"}


@right
def with_the_ellipsis_for_an_axis():
    """An ellipsis in the place of a plain axis."""
    return {"SCORES_EQ": "...a,ja->...j", "MIX_EQ": "...j,jb->...b"}
