"""Right solutions of chapter 5 that are written differently from the reference. The checks must accept all of them."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from autograder.misconception import alternatives_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import masked_attention, masked_softmax

right = alternatives_of("split_heads")


@right
def split_with_np_split(X, h):
    """np.split along the columns, and a stack."""
    return np.stack(np.split(X, h, axis=-1), axis=-3)


@right
def split_with_loops(X, h):
    """A slice of columns for each head, written into an empty array."""
    d = X.shape[-1] // h
    heads = np.empty((*X.shape[:-2], h, X.shape[-2], d), dtype=X.dtype)
    for head in range(h):
        heads[..., head, :, :] = X[..., head * d : (head + 1) * d]
    return heads


@right.worth_reading
def split_with_moveaxis(X, h):
    """`np.moveaxis` moves the axis of the heads one place to the left, with no list of axes to count."""
    return np.moveaxis(X.reshape((*X.shape[:-1], h, -1)), -2, -3)


@right
def split_with_einsum(X, h):
    """Einsum does the exchange."""
    return np.einsum("...nhd->...hnd", X.reshape(*X.shape[:-1], h, X.shape[-1] // h))


@right
def split_with_transpose(X, h):
    """A full list of axes for transpose, however many there are."""
    cut = X.reshape(X.shape[:-1] + (h, X.shape[-1] // h))  # noqa: RUF005 - as many write it
    axes = list(range(cut.ndim))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    return cut.transpose(axes)


@right
def split_by_recursion(X, h):
    """One batch entry at a time, down to matrices."""
    if X.ndim > 2:
        return np.array([split_by_recursion(x, h) for x in X])
    return np.array([x.T for x in X.T.reshape(h, -1, len(X))])


@right
def split_with_windows(X, h):
    """Windows of d columns, every d-th of them: a read-only view that is not contiguous."""
    d = X.shape[-1] // h
    return np.lib.stride_tricks.sliding_window_view(X, d, axis=-1)[..., ::d, :].swapaxes(-2, -3)


@right
def split_by_index(X, h):
    """The table of column numbers of each head, used as an index."""
    columns = np.arange(X.shape[-1]).reshape(h, 1, -1)
    rows = np.arange(X.shape[-2]).reshape(1, -1, 1)
    return X[..., rows, columns]


right = alternatives_of("merge_heads")


@right.worth_reading
def merge_with_concatenate(O):
    """The heads one by one, concatenated along the columns. The reshape does the same."""
    return np.concatenate([O[..., head, :, :] for head in range(O.shape[-3])], axis=-1)


@right
def merge_with_moveaxis(O):
    """Positions moved to the front of the heads, and the last two axes rolled into one."""
    moved = np.moveaxis(O, -3, -2)
    return moved.reshape((*moved.shape[:-2], -1))


@right
def merge_with_loops(O):
    """A block of columns for each head, written into zeros."""
    h, n, d = O.shape[-3:]
    merged = np.zeros((*O.shape[:-3], n, h * d))
    for head in range(h):
        merged[..., head * d : head * d + d] = O[..., head, :, :]
    return merged


@right
def merge_with_einsum(O):
    """Einsum does the exchange."""
    X = np.einsum("...hnd->...nhd", O)
    return X.reshape(*X.shape[:-2], X.shape[-2] * X.shape[-1])


@right
def merge_by_recursion(O):
    """One batch entry at a time; hstack for the heads of one."""
    if O.ndim > 3:
        return np.stack([merge_by_recursion(o) for o in O])
    return np.hstack(list(O))


@right
def merge_with_lists(O):
    """Rows of Python floats, put together position by position."""
    if O.ndim > 3:
        return np.array([merge_with_lists(o) for o in O])
    return np.array([[float(x) for head in O for x in head[i]] for i in range(O.shape[1])])


def attend_one(Q, K, V, mask):
    """Return the attention of one head, with scaled queries, and -inf for forbidden scores."""
    scores = np.einsum("...ia,...ja->...ij", Q / Q.shape[-1] ** 0.5, K)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = e / np.sum(e, axis=-1, keepdims=True)
    return np.einsum("...ij,...jb->...ib", weights, V), weights


right = alternatives_of("multi_head_attention")


@right.worth_reading
def one_head_after_another(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """A loop over heads, each with its own slices of the matrices. The outputs are concatenated."""
    d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-2], h, X_q.shape[-2], X_kv.shape[-2]))
    outputs, weights = [], []
    for i in range(h):
        Q, K = X_q @ W_Q[:, i * d_k : (i + 1) * d_k], X_kv @ W_K[:, i * d_k : (i + 1) * d_k]
        V = X_kv @ W_V[:, i * d_v : (i + 1) * d_v]
        output, w = masked_attention(Q, K, V, None if mask is None else mask[..., i, :, :])
        outputs.append(output)
        weights.append(w)
    return np.concatenate(outputs, axis=-1) @ W_O, np.stack(weights, axis=-3)


@right
def sum_of_what_heads_add(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Einsum with matrices cut into heads; the output as a sum over heads, never merged."""
    d_model = len(W_Q)
    A, B, C = (W.reshape(d_model, h, -1) for W in (W_Q, W_K, W_V))
    Q = np.einsum("...nm,mha->...hna", X_q, A)
    K = np.einsum("...nm,mha->...hna", X_kv, B)
    V = np.einsum("...nm,mha->...hna", X_kv, C)
    O, weights = attend_one(Q, K, V, mask)
    return np.einsum("...hna,ham->...nm", O, W_O.reshape(h, -1, W_O.shape[1])), weights


@right
def values_through_w_o_first(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """W_V and W_O of each head multiplied first, then mixed by the weights: no O at all."""
    Q = np.stack(np.split(X_q @ W_Q, h, axis=-1), axis=-3)
    K = np.stack(np.split(X_kv @ W_K, h, axis=-1), axis=-3)
    both = np.stack([v @ o for v, o in zip(np.split(W_V, h, axis=1), np.split(W_O, h, axis=0), strict=True)])
    scores = Q @ K.swapaxes(-1, -2) * Q.shape[-1] ** -0.5
    weights = masked_softmax(scores, np.True_ if mask is None else mask)
    return (weights @ (X_kv[..., None, :, :] @ both)).sum(axis=-3), weights


@right
def forbidden_exps_taken_out(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The exps times the mask, with a 1e-9 in the denominator."""

    def heads(X, W):
        Y = X @ W
        return np.moveaxis(Y.reshape((*Y.shape[:-1], h, -1)), -2, -3)

    Q, K, V = heads(X_q, W_Q), heads(X_kv, W_K), heads(X_kv, W_V)
    S = np.matmul(Q, np.moveaxis(K, -1, -2)) / np.sqrt(K.shape[-1])
    e = np.exp(S - S.max(axis=-1, keepdims=True))
    if mask is not None:
        e = e * mask
    weights = e / (e.sum(axis=-1, keepdims=True) + 1e-9)
    Y = np.moveaxis(weights @ V, -3, -2)
    return Y.reshape((*Y.shape[:-2], -1)) @ W_O, weights


@right
def a_penalty_added_to_the_scores(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """One batch entry at a time; -1e4 added where it is forbidden; a list for the pair."""
    if X_q.ndim > 2:
        shape = (*X_q.shape[:-2], h, X_q.shape[-2], X_kv.shape[-2])
        masks = [None] * len(X_q) if mask is None else np.broadcast_to(mask, shape)
        pairs = [
            a_penalty_added_to_the_scores(q, k, W_Q, W_K, W_V, W_O, h, m)
            for q, k, m in zip(X_q, X_kv, masks, strict=True)
        ]
        return [np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])]
    Q, K, V = ((X @ W).T.reshape(h, -1, len(X)) for X, W in ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V)))
    S = np.swapaxes(Q, 1, 2) @ K / np.sqrt(Q.shape[1])
    if mask is not None:
        S = S + (1 - np.asarray(mask, dtype=float)) * -1e4
    weights = softmax(S)
    output = sum(weights[i] @ V[i].T @ np.split(W_O, h)[i] for i in range(h))
    return [output, weights]


@right
def query_by_query(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Every score by itself, in loops; log-sum-exp for the weights."""
    lead, n_q, n_k = X_q.shape[:-2], X_q.shape[-2], X_kv.shape[-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*lead, h, n_q, n_k))
    weights = np.zeros((*lead, h, n_q, n_k))
    output = np.zeros((*lead, n_q, W_O.shape[1]))
    d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h
    for b in np.ndindex(*lead):
        Q, K, V = X_q[b] @ W_Q, X_kv[b] @ W_K, X_kv[b] @ W_V
        for head in range(h):
            cut, take = slice(head * d_k, head * d_k + d_k), slice(head * d_v, head * d_v + d_v)
            for i in range(n_q):
                scores = np.array([Q[i, cut] @ K[j, cut] / d_k**0.5 for j in range(n_k)])
                scores[~allowed[(*b, head, i)]] = -np.inf
                w = np.exp(scores - np.logaddexp.reduce(scores))
                weights[(*b, head, i)] = w
                output[(*b, i)] += w @ V[:, take] @ W_O[take]
    return output, weights


right = alternatives_of("head_contributions")


@right
def contributions_with_loops(O, W_O):
    """The rows of W_O of each head, sliced in a loop."""
    h, n, d_v = O.shape
    parts = np.zeros((h, n, W_O.shape[1]))
    for i in range(h):
        parts[i] = O[i] @ W_O[i * d_v : (i + 1) * d_v]
    return parts


@right
def contributions_with_split(O, W_O):
    """np.split of W_O along its rows."""
    return np.stack([head @ rows for head, rows in zip(O, np.split(W_O, len(O)), strict=True)])


@right.worth_reading
def contributions_with_einsum(O, W_O):
    """One einsum: W_O is cut into a block of rows for each head, and `d` is summed within each block."""
    return np.einsum("hnd,hdm->hnm", O, W_O.reshape(*O.shape[::2], W_O.shape[1]))


@right
def contributions_by_silencing(O, W_O):
    """All heads but one set to zero, through the whole of W_O."""
    h, n, d_v = O.shape
    parts = []
    for i in range(h):
        alone = np.zeros((n, h * d_v))
        alone[:, i * d_v : (i + 1) * d_v] = O[i]
        parts.append(alone @ W_O)
    return np.array(parts)


@right
def contributions_by_difference(O, W_O):
    """The whole output, minus the output with that head left out."""

    def output(heads):
        return np.concatenate(list(heads), axis=1) @ W_O

    whole = output(O)
    return np.array([whole - output([0 * x if i == k else x for k, x in enumerate(O)]) for i in range(len(O))])


@right
def contributions_column_by_column(O, W_O):
    """A sum over single columns of a head, each an outer product with one row of W_O."""
    h, _, d_v = O.shape
    return np.array([sum(np.outer(O[i, :, a], W_O[i * d_v + a]) for a in range(d_v)) for i in range(h)])


right = alternatives_of("pattern_scores")


@right
def patterns_with_loops(weights):
    """Loops over queries, as the formulas read."""
    n = len(weights)
    copying = uniform = local = previous = 0.0
    for i in range(n):
        copying += max(weights[i]) / n
        uniform += sum(min(w, 1 / n) for w in weights[i]) / n
        for j in (i - 1, i, i + 1):
            if 0 <= j < n:
                local += weights[i, j] / n
        if i > 0:
            previous += weights[i, i - 1] / (n - 1)
    return {"copying": copying, "uniform": uniform, "local": local, "previous": previous}


@right.worth_reading
def patterns_with_traces(weights):
    """Traces of shifted diagonals: the weights on the previous position are one step below the diagonal."""
    n = len(weights)
    return {
        "previous": np.trace(weights, -1) / (n - 1),
        "local": sum(np.trace(weights, k) for k in (-1, 0, 1)) / n,
        "copying": np.sort(weights, axis=1)[:, -1].sum() / n,
        "uniform": np.clip(weights, 0, 1 / n).sum() / n,
    }


@right
def patterns_with_bands(weights):
    """np.tri differences for the band; half the distance from even weights; other entries besides."""
    n = weights.shape[0]
    band = np.tri(n, k=1) - np.tri(n, k=-2)
    return {
        "copying": float(np.mean(np.amax(weights, axis=-1))),
        "uniform": float(np.mean(1 - 0.5 * np.abs(weights - 1 / n).sum(axis=-1))),
        "local": float((weights * band).sum() / n),
        "previous": float(weights[1:, :-1].diagonal().mean()),
        "length": n,
    }


@right
def patterns_with_indices(weights):
    """Fancy indices, and einsum for the sums."""
    n = len(weights)
    rows = np.arange(1, n)
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) < 2
    return {
        "copying": weights[np.arange(n), weights.argmax(axis=1)].mean(),
        "uniform": np.einsum("ij->", np.where(weights > 1 / n, 1 / n, weights)) / n,
        "local": np.einsum("ij,ij->", weights, near) / n,
        "previous": weights[rows, rows - 1].mean(),
    }


@right
def patterns_with_padding(weights):
    """A border of zeros, so that every query has both neighbors, and 0-d arrays as scores."""
    n = len(weights)
    wide = np.pad(weights, ((0, 0), (1, 1)))
    beside = np.array([[wide[i, i], wide[i, i + 1], wide[i, i + 2]] for i in range(n)])
    return {
        "copying": np.array(weights.max(1).mean()),
        "uniform": np.array(1 - np.maximum(weights - 1 / n, 0).sum(1).mean()),
        "local": np.array(beside.sum() / n),
        "previous": np.array(beside[1:, 0].mean()),
    }


right = alternatives_of("plot_attention")


@right
def plot_with_matshow(weights, query_tokens, key_tokens, ax=None):
    """matshow, which puts the keys' labels at the top, and a color bar."""
    if ax is None:
        ax = plt.figure().add_subplot()
    image = ax.matshow(weights)
    ax.figure.colorbar(image)
    ax.set_xticks(np.arange(len(key_tokens)))
    ax.set_yticks(np.arange(len(query_tokens)))
    ax.set_xticklabels(key_tokens, rotation=90)
    ax.set_yticklabels(query_tokens)
    return ax


@right.worth_reading
def plot_with_pcolormesh(weights, query_tokens, key_tokens, ax=None):
    """pcolormesh, with ticks in the middle of rows and columns, a flipped axis, and numbers as text."""
    if ax is None:
        _, ax = plt.subplots()
    ax.pcolormesh(weights, cmap="Greys", edgecolors="white")
    ax.set_xticks(np.arange(weights.shape[1]) + 0.5, labels=key_tokens)
    ax.set_yticks(np.arange(weights.shape[0]) + 0.5, labels=query_tokens)
    ax.invert_yaxis()
    for (i, j), w in np.ndenumerate(weights):
        ax.text(j + 0.5, i + 0.5, f"{w:.2f}", ha="center", va="center")
    return ax


@right
def plot_with_pcolor(weights, query_tokens, key_tokens, ax=None):
    """pcolor of the rows in reverse order, labels in reverse order too."""
    if ax is None:
        _, ax = plt.subplots(figsize=(3, 3))
    ax.pcolor(weights[::-1])
    ax.set_xticks([j + 0.5 for j in range(len(key_tokens))], key_tokens)
    ax.set_yticks([i + 0.5 for i in range(len(query_tokens))], list(reversed(query_tokens)))
    return ax


@right
def plot_with_extent(weights, query_tokens, key_tokens, ax=None):
    """imshow with origin "lower" of the reversed rows, an extent of its own, in percent."""
    if ax is None:
        ax = plt.axes()
    n_q, n_k = weights.shape
    ax.imshow(100 * weights[::-1], origin="lower", extent=(0, n_k, 0, n_q), aspect="auto")
    ax.set_xticks(np.arange(n_k) + 0.5, key_tokens)
    ax.set_yticks(n_q - 0.5 - np.arange(n_q), query_tokens)
    return ax


@right
def plot_with_pyplot(weights, query_tokens, key_tokens, ax=None):
    """The functions of pyplot alone, with the given Axes made the current ones."""
    if ax is None:
        plt.figure()
    else:
        plt.sca(ax)
    plt.imshow(weights, origin="lower")
    plt.gca().invert_yaxis()
    plt.xticks(range(len(key_tokens)), key_tokens, rotation=45)
    plt.yticks(range(len(query_tokens)), query_tokens)
    plt.xlabel("keys")
    plt.ylabel("queries")
    plt.tight_layout()
    drawn = plt.gca()
    plt.show()
    return drawn


@right
def plot_with_bubbles(weights, query_tokens, key_tokens, ax=None):
    """A bubble for each weight: scatter, the larger the heavier."""
    if ax is None:
        _, ax = plt.subplots()
    i, j = np.indices(weights.shape)
    ax.scatter(j.ravel(), i.ravel(), s=400 * weights.ravel() + 1, color="teal")
    ax.set_xlim(-0.5, len(key_tokens) - 0.5)
    ax.set_ylim(len(query_tokens) - 0.5, -0.5)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@right
def plot_with_squares(weights, query_tokens, key_tokens, ax=None):
    """scatter with colored squares, and the rows at negative heights."""
    if ax is None:
        _, ax = plt.subplots()
    i, j = np.indices(weights.shape)
    ax.scatter(j, -i, c=weights.ravel(), marker="s", s=300, cmap="Blues")
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks([-k for k in range(len(query_tokens))], query_tokens)
    return ax


@right
def plot_with_rectangles(weights, query_tokens, key_tokens, ax=None):
    """A rectangle for each weight, the darker the larger; labels on the right and on top."""
    if ax is None:
        _, ax = plt.subplots()
    n_q, n_k = weights.shape
    for i in range(n_q):
        for j in range(n_k):
            ax.add_patch(Rectangle((j, n_q - 1 - i), 1, 1, color=plt.cm.Blues(weights[i, j])))
    ax.set(xlim=(0, n_k), ylim=(0, n_q))
    ax.xaxis.tick_top()
    ax.yaxis.tick_right()
    ax.set_xticks(np.arange(n_k) + 0.5, key_tokens)
    ax.set_yticks(np.arange(n_q)[::-1] + 0.5, query_tokens)
    return ax


@right
def plot_with_coloured_pixels(weights, query_tokens, key_tokens, ax=None):
    """imshow of colors made by hand, and the tokens next to the picture as `text`."""
    if ax is None:
        _, ax = plt.subplots()
    blue = np.stack([1 - weights, 1 - weights, np.ones_like(weights)], axis=-1)
    ax.imshow(blue)
    ax.set_axis_off()
    for j, token in enumerate(key_tokens):
        ax.text(j, -0.7, token, ha="center")
    for i, token in enumerate(query_tokens):
        ax.text(-0.7, i, token, ha="right", va="center")
    return ax


@right
def plot_with_annotations(weights, query_tokens, key_tokens, ax=None):
    """No ticks: the tokens are annotations, a little outside the picture, and so are the numbers in it."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights)
    ax.set(xticks=[], yticks=[])
    for j, token in enumerate(key_tokens):
        ax.annotate(token, (j, 0), xytext=(j, -0.05), textcoords=("data", "axes fraction"), ha="center", va="top")
    for i, token in enumerate(query_tokens):
        ax.annotate(token, (-0.5, i), xytext=(-6, 0), textcoords="offset points", ha="right", va="center")
    for (i, j), w in np.ndenumerate(weights):
        ax.annotate(f"{w:.2f}", (j, i), ha="center", va="center")
    return ax


@right
def plot_with_a_secondary_axis(weights, query_tokens, key_tokens, ax=None):
    """The keys' labels on an axis of their own, above the picture."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights)
    ax.set_xticks([])
    above = ax.secondary_xaxis("top")
    above.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@right
def plot_with_edges(weights, query_tokens, key_tokens, ax=None):
    """pcolormesh with its own edges, so that the middles are whole numbers, and a logarithmic color scale."""
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    down, across = (np.arange(size + 1) - 0.5 for size in weights.shape)
    ax.pcolormesh(across, down, weights, norm="log")
    ax.yaxis.set_inverted(True)
    ax.set_xticks(range(weights.shape[1]), [str(t) for t in key_tokens])
    ax.set_yticks(range(weights.shape[0]), [str(t) for t in query_tokens])
    return ax


right = alternatives_of("equivariance_gap")


@right
def gap_with_loops(attend, X, perm):
    """Row by row, as a Python float."""
    before, after = attend(np.array([X[p] for p in perm])), attend(X)
    return max(float(abs(before[i] - after[p]).max()) for i, p in enumerate(perm))


@right
def gap_with_take(attend, X, perm):
    """np.take along axis 0; the larger one of the two one-sided differences."""
    difference = attend(np.take(X, perm, axis=0)) - np.take(attend(X), perm, axis=0)
    return max(difference.max(), -difference.min())


@right.worth_reading
def gap_with_a_permutation_matrix(attend, X, perm):
    """A permutation matrix on both sides: this is the equation f(P X) = P f(X), written as code."""
    P = np.eye(len(X))[perm]
    return float(np.max(np.abs(attend(P @ X) - P @ attend(X))))


@right
def gap_with_a_norm(attend, X, perm):
    """The largest entry as a norm of order infinity."""
    return np.linalg.norm((attend(X[perm]) - attend(X)[perm]).ravel(), ord=np.inf)


@right
def gap_undone(attend, X, perm):
    """The first output is brought back into the old order, and compared there."""
    back = np.empty_like(perm)
    back[perm] = np.arange(len(perm))
    return np.abs(attend(X[perm])[back] - attend(X)).max()


@right
def gap_by_squares(attend, X, perm):
    """The root of the largest square."""
    return np.sqrt(np.square(np.subtract(attend(X[perm]), attend(X)[perm])).max())
