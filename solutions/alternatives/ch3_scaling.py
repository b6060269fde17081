"""Right solutions of chapter 3 that are written differently from the reference. The checks must accept all of them."""

import math
import operator
import statistics

import numpy as np

from autograder.misconception import alternatives_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch3_scaling import (
    numerical_gradient,
    query_gradient,
    scaled_dot_product_attention,
    softmax_jacobian,
)

right = alternatives_of("score_variance")


@right
def variance_with_normal_and_einsum(d_k, n_samples, rng):
    """The generator's `normal`, an einsum, n - 1 below the line."""
    q = rng.normal(size=(n_samples, d_k))
    k = rng.normal(size=(n_samples, d_k))
    return np.einsum("nd,nd->n", q, k).var(ddof=1)


@right
def variance_with_keys_drawn_first(d_k, n_samples, rng):
    """Keys before queries."""
    K = rng.normal(0, 1, (n_samples, d_k))
    Q = rng.normal(0, 1, (n_samples, d_k))
    return np.var(np.sum(Q * K, axis=1))


@right
def variance_of_one_big_draw(d_k, n_samples, rng):
    """One draw for both, split along its last axis."""
    q, k = np.split(rng.standard_normal((n_samples, 2 * d_k)), 2, axis=1)
    return float(np.var((q * k).sum(1)))


@right
def variance_of_interleaved_draws(d_k, n_samples, rng):
    """One draw with an axis of two in the middle."""
    pairs = rng.standard_normal((n_samples, 2, d_k))
    return (pairs[:, 0] * pairs[:, 1]).sum(axis=-1).var()


@right
def variance_in_a_loop(d_k, n_samples, rng):
    """One pair at a time, and a list of scores."""
    scores = []
    for _ in range(n_samples):
        q = rng.standard_normal(d_k)
        k = rng.standard_normal(d_k)
        scores.append(q @ k)
    return np.var(scores)


@right.worth_reading
def variance_as_mean_square(d_k, n_samples, rng):
    """The mean is known to be 0, so it is not subtracted: the variance is then the mean square."""
    q = rng.standard_normal((n_samples, d_k))
    k = rng.standard_normal((n_samples, d_k))
    return np.mean((q * k).sum(axis=-1) ** 2)


@right
def variance_with_columns_as_vectors(d_k, n_samples, rng):
    """The columns are the vectors."""
    q, k = rng.standard_normal((2, d_k, n_samples))
    return (q * k).sum(axis=0).var()


@right
def variance_with_batched_matmul(d_k, n_samples, rng):
    """Rows times columns, one little product for each pair."""
    q, k = rng.standard_normal((n_samples, d_k)), rng.standard_normal((n_samples, d_k))
    return (q[:, None, :] @ k[:, :, None]).squeeze().var(ddof=1)


@right
def variance_with_a_covariance_matrix(d_k, n_samples, rng):
    """A multivariate normal with the identity as its covariance."""
    q = rng.multivariate_normal(np.zeros(d_k), np.eye(d_k), n_samples, method="cholesky")
    k = rng.multivariate_normal(np.zeros(d_k), np.eye(d_k), n_samples, method="cholesky")
    return (q * k).sum(axis=1).var()


@right
def variance_from_the_statistics_module(d_k, n_samples, rng):
    """Plain Python numbers and the standard library."""
    rows = rng.standard_normal((n_samples, 2 * d_k)).tolist()
    scores = [sum(map(operator.mul, row[:d_k], row[d_k:])) for row in rows]
    return statistics.covariance(scores, scores)


@right
def variance_one_feature_at_a_time(d_k, n_samples, rng):
    """Scores that grow product by product."""
    scores = np.zeros(n_samples)
    for _ in range(d_k):
        scores += rng.standard_normal(n_samples) * rng.standard_normal(n_samples)
    return np.cov(scores)


@right
def variance_with_a_spawned_generator(d_k, n_samples, rng):
    """A new generator, seeded from the given one."""
    own = np.random.default_rng(rng.integers(2**63))
    q, k = own.standard_normal((n_samples, d_k)), own.standard_normal((n_samples, d_k))
    scores = np.einsum("nd,nd->n", q, k)
    return ((scores - scores.mean()) ** 2).sum() / len(scores)


@right
def variance_as_a_squared_deviation(d_k, n_samples, rng):
    """The square of the standard deviation."""
    q = rng.standard_normal(size=[n_samples, d_k])
    k = rng.standard_normal(size=[n_samples, d_k])
    return np.multiply(q, k).sum(axis=-1).std() ** 2


right = alternatives_of("scaled_dot_product_attention")


@right.worth_reading
def attention_with_scaled_queries(Q, K, V):
    """Scales the queries before the product: there are fewer entries to divide than scores."""
    d_k = Q.shape[-1]
    weights = softmax((Q / d_k**0.5) @ K.swapaxes(-2, -1))
    return weights @ V, weights


@right
def attention_with_both_scaled(Q, K, V):
    """Queries and keys, each divided by the fourth root of d_k."""
    root = Q.shape[-1] ** 0.25
    weights = softmax((Q / root) @ np.moveaxis(K / root, -1, -2))
    return np.matmul(weights, V), weights


@right
def attention_with_einsum(Q, K, V):
    """Two einsums with an ellipsis, and exp by hand."""
    scores = np.einsum("...ia,...ja->...ij", Q, K) / np.sqrt(K.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / (e.sum(axis=-1, keepdims=True) + 1e-9)
    return np.einsum("...ij,...jb->...ib", weights, V), weights


@right
def attention_with_loops(Q, K, V):
    """Loops over every batch place, every query and every key."""
    weights = np.zeros(Q.shape[:-1] + K.shape[-2:-1])
    output = np.zeros(Q.shape[:-1] + V.shape[-1:])
    for place in np.ndindex(Q.shape[:-2]):
        for i in range(Q.shape[-2]):
            scores = [float(q_k) / math.sqrt(Q.shape[-1]) for q_k in (Q[place][i] * K[place]).sum(-1)]
            top = max(scores)
            parts = [math.exp(s - top) for s in scores]
            for j, part in enumerate(parts):
                weights[(*place, i, j)] = part / sum(parts)
                output[(*place, i)] += part / sum(parts) * V[place][j]
    return output, weights


@right
def attention_by_recursion(Q, K, V):
    """Computes attention for matrices, and splits and stacks anything with more axes."""
    if Q.ndim > 2:
        parts = [attention_by_recursion(*one) for one in zip(Q, K, V, strict=True)]
        return [np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts])]
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[1])
    weights = np.array([np.exp(row - row.max()) / np.exp(row - row.max()).sum() for row in scores])
    return [np.dot(weights, V), weights]


@right
def attention_with_log_sum_exp(Q, K, V):
    """Logarithms of weights first."""
    scores = np.matmul(Q, np.swapaxes(K, -2, -1)) * Q.shape[-1] ** -0.5
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - top - np.log(np.exp(scores - top).sum(-1, keepdims=True)))
    return weights @ V, weights


@right
def attention_with_the_maximum_at_the_end(Q, K, V):
    """The division by the sum comes after the values are added up."""
    scores = Q @ np.swapaxes(K, -1, -2)
    scores /= np.sqrt(K.shape[-1])
    scores -= np.max(scores, axis=-1)[..., None]
    e = np.exp(scores)
    total = np.sum(e, axis=-1, keepdims=True)
    return (e @ V) / total, e / total


@right
def attention_by_broadcasting(Q, K, V):
    """Every pair side by side, then a sum over the features."""
    scores = (Q[..., :, None, :] * K[..., None, :, :]).sum(-1) / np.sqrt(np.prod(Q.shape[-1:]))
    weights = softmax(scores)
    return (weights[..., None] * V[..., None, :, :]).sum(-2), weights


@right
def attention_moving_the_queries_for_a_moment(Q, K, V):
    """Scales Q in place and restores it before it returns. K and V may be the same array as Q, so they are copied first."""
    root, K, V = np.sqrt(Q.shape[-1]), K.copy(), V.copy()
    Q /= root
    weights = softmax(Q @ np.swapaxes(K, -1, -2))
    Q *= root
    return weights @ V, weights


right = alternatives_of("attention_entropy")


@right
def entropy_with_a_small_number(weights):
    """A tiny number inside the logarithm."""
    return -np.sum(weights * np.log(weights + 1e-12), axis=-1)


@right
def entropy_with_a_less_small_number(weights):
    """1e-9 inside the logarithm."""
    return -(weights * np.log(weights + 1e-9)).sum(-1)


@right
def entropy_with_clipping(weights):
    """Weights clipped from below for the logarithm only."""
    return -(weights * np.log(np.clip(weights, 1e-30, None))).sum(axis=-1)


@right
def entropy_with_nansum(weights):
    """0 times minus infinity is nan, and nansum passes over it."""
    return -np.nansum(weights * np.log(weights), axis=-1)


@right.worth_reading
def entropy_with_a_where_argument(weights):
    """Takes the logarithm only of positive weights, so that 0 ln 0 never occurs."""
    logs = np.zeros_like(weights)
    np.log(weights, out=logs, where=weights > 0)
    return -np.einsum("...j,...j->...", weights, logs)


@right
def entropy_in_loops(weights):
    """Plain loops, with an if."""
    out = np.zeros(weights.shape[:-1])
    for place in np.ndindex(out.shape):
        for w in weights[place]:
            if w > 0:
                out[place] -= w * math.log(w)
    return out


@right
def entropy_along_an_axis(weights):
    """One row at a time, zeros left out by indexing."""
    return np.apply_along_axis(lambda row: -(row[row > 0] * np.log(row[row > 0])).sum(), -1, weights)


@right
def entropy_from_bits(weights):
    """Base 2 first, then bits into nats."""
    safe = np.where(weights == 0, 1, weights)
    return np.sum(weights * np.log2(1 / safe), axis=-1) * np.log(2)


@right
def entropy_with_nan_to_num(weights):
    """nan made into 0 after the fact."""
    return np.nan_to_num(-weights * np.log(weights), nan=0.0).sum(axis=-1)


@right
def entropy_with_powers(weights):
    """The logarithm of a product of powers, where 0 to the 0 is 1."""
    return -np.log(np.prod(weights**weights, axis=-1))


@right
def entropy_below_the_uniform_one(weights):
    """ln(n) minus the distance to equal weights."""
    n = weights.shape[-1]
    ratio = np.where(weights > 0, weights * n, 1.0)
    return np.log(n) - (weights * np.log(ratio)).sum(-1)


right = alternatives_of("softmax_jacobian")


@right.worth_reading
def jacobian_by_broadcasting(p):
    """One column, one row, and the identity: p_i (1[i = j] - p_j), just like the formula."""
    return p[:, None] * (np.eye(p.size) - p[None, :])


@right
def jacobian_with_loops(p):
    """Entry by entry, with an if."""
    n = len(p)
    J = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            J[i, j] = p[i] * (1 - p[i]) if i == j else -p[i] * p[j]
    return J


@right
def jacobian_with_columns(p):
    """p as a column, times itself as a row."""
    s = p.reshape(-1, 1)
    return np.diagflat(s) - s @ s.T


@right
def jacobian_with_einsum(p):
    """Two einsums."""
    return np.einsum("i,ij->ij", p, np.eye(len(p))) - np.einsum("i,j->ij", p, p)


@right
def jacobian_with_a_filled_diagonal(p):
    """The outer product first, the diagonal written into it."""
    J = -np.multiply.outer(p, p)
    J[np.arange(len(p)), np.arange(len(p))] += p
    return J


@right
def jacobian_as_a_list_of_rows(p):
    """A list of rows, each from a list, made into an array at the end."""
    return np.array([[a * ((i == j) - b) for j, b in enumerate(p.tolist())] for i, a in enumerate(p.tolist())])


@right
def jacobian_measured(p):
    """Central differences through the softmax of the logarithms."""
    with np.errstate(all="ignore"):
        s = np.maximum(np.log(p), -700.0)
    columns = [(softmax(s + e) - softmax(s - e)) / 2e-5 for e in 1e-5 * np.eye(len(p))]
    return np.stack(columns, axis=1)


@right
def jacobian_as_a_covariance(p):
    """The covariance of a one-hot draw with these probabilities."""
    centred = np.eye(len(p)) - p
    return centred.T @ (p[:, None] * centred)


@right
def jacobian_with_where(p):
    """np.where on equal indices."""
    i = np.arange(p.shape[0])
    return np.where(i[:, None] == i, p * (1 - p), -p[:, None] * p)


right = alternatives_of("numerical_gradient")


@right
def gradient_with_copies(f, x, eps=1e-5):
    """Two copies for each entry."""
    grad = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += eps
        down[i] -= eps
        grad[i] = (f(up) - f(down)) / (2 * eps)
    return grad


@right
def gradient_in_place_and_back(f, x, eps=1e-5):
    """Changes an entry of x for a moment and restores the old number."""
    grad = np.empty_like(x)
    it = np.nditer(x, flags=["multi_index"])
    for _ in it:
        i = it.multi_index
        old = x[i]
        x[i] = old + eps
        up = f(x)
        x[i] = old - eps
        down = f(x)
        x[i] = old
        grad[i] = (up - down) / (2 * eps)
    return grad


@right
def gradient_there_and_back_by_addition(f, x, eps=1e-5):
    """Goes up, down by two steps, and up again, in x itself. Rounding leaves a change far below the tolerance."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        x[i] += eps
        up = f(x)
        x[i] -= 2 * eps
        down = f(x)
        x[i] += eps
        grad[i] = (up - down) / (2 * eps)
    return grad


@right
def gradient_of_flat_entries(f, x, eps=1e-5):
    """Counts entries in a flat array, but f gets the old shape."""
    slopes = []
    for i in range(x.size):
        step = np.zeros(x.size)
        step[i] = eps
        step = step.reshape(x.shape)
        slopes.append((f(x + step) - f(x - step)) / 2 / eps)
    return np.array(slopes).reshape(x.shape)


@right.worth_reading
def gradient_with_identity_steps(f, x, eps=1e-5):
    """A list comprehension over the rows of an identity: each row is a step along one axis."""
    steps = (eps * np.eye(x.size)).reshape(x.size, *x.shape)
    return np.array([f(x + s) - f(x - s) for s in steps]).reshape(x.shape) / (2 * eps)


@right
def gradient_with_flat_iterators(f, x, eps=1e-5):
    """`.flat` on copies and on the answer."""
    grad = np.zeros_like(x)
    for i in range(x.size):
        moved = np.array(x)
        moved.flat[i] = x.flat[i] + eps
        above = f(moved)
        moved.flat[i] = x.flat[i] - eps
        grad.flat[i] = (above - f(moved)) / (eps + eps)
    return grad


@right
def gradient_with_enumerate(f, x, eps=1e-5):
    """np.ndenumerate, and both sides kept in a small inner function."""

    def moved(i, by):
        y = x.copy()
        y[i] += by
        return float(f(y))

    grad = np.zeros_like(x)
    for i, _ in np.ndenumerate(x):
        grad[i] = 0.5 * (moved(i, eps) - moved(i, -eps)) / eps
    return grad


@right
def gradient_as_the_mean_of_two_sides(f, x, eps=1e-5):
    """The mean of a forward and a backward difference: the same two points."""
    here = f(x)
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = eps
        grad[i] = ((f(x + e) - here) / eps + (here - f(x - e)) / eps) / 2
    return grad


right = alternatives_of("query_gradient")


@right.worth_reading
def gradient_without_a_jacobian_matrix(q, K, V, g):
    """The difference of each g . v from its average, times its weight. It never makes an n by n matrix."""
    root = np.sqrt(q.shape[0])
    w = softmax(K @ q / root)
    worth = V @ g
    return (w * (worth - w @ worth)) @ K / root


@right
def gradient_as_a_sum_over_keys(q, K, V, g):
    """A loop over the keys."""
    d_k = len(q)
    scores = np.array([k @ q for k in K]) / math.sqrt(d_k)
    e = np.exp(scores - scores.max())
    w = e / e.sum()
    output = w @ V
    total = np.zeros(d_k)
    for j in range(len(K)):
        total += w[j] * float(g @ (V[j] - output)) * K[j]
    return total / math.sqrt(d_k)


@right
def gradient_from_left_to_right(q, K, V, g):
    """The chain multiplied from g towards q."""
    w = softmax(q @ K.T / len(q) ** 0.5)
    return g @ V.T @ (np.diag(w) - np.outer(w, w)) @ K / len(q) ** 0.5


@right
def gradient_with_scaled_keys(q, K, V, g):
    """The keys are scaled once, at the start."""
    scaled = K / np.sqrt(K.shape[1])
    return scaled.T @ softmax_jacobian(softmax(scaled @ q)) @ V @ g


@right
def gradient_as_weighted_mean_of_keys(q, K, V, g):
    """Keys minus their weighted mean, with weight times worth."""
    w = softmax(K @ q / np.sqrt(q.size))
    return np.einsum("j,j,ja->a", w, V @ g, K - w @ K) / np.sqrt(q.size)


@right
def gradient_through_attention(q, K, V, g):
    """The weights come from the chapter's own attention, for a single query."""
    _, weights = scaled_dot_product_attention(q[None, :], K, V)
    return (K.T @ (softmax_jacobian(weights[0]) @ V) / np.sqrt(q.shape[-1])) @ g


@right
def gradient_measured(q, K, V, g):
    """Central differences of g . output."""
    return numerical_gradient(lambda x: float(g @ scaled_dot_product_attention(x[None], K, V)[0][0]), q)


@right
def gradient_of_the_covariance(q, K, V, g):
    """The covariance, under the weights, of keys and values."""
    w = softmax(K @ q / np.sqrt(len(q)))
    mean_k, mean_v = w @ K, w @ V
    return (((K - mean_k) * w[:, None]).T @ (V - mean_v) / np.sqrt(len(q))) @ g


@right
def gradient_with_a_guarded_softmax(q, K, V, g):
    """A softmax of its own, with a 1e-9 in the denominator."""
    scores = K @ q / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    w = e / (e.sum() + 1e-9)
    return K.T @ ((np.diag(w) - np.outer(w, w)) @ (V @ g)) / np.sqrt(len(q))


right = alternatives_of("training_step")


@right.worth_reading
def step_with_all_queries_at_once(W_Q, X, K, V, T, rate):
    """No loop: each row of the score gradients is weights times (worth minus mean worth)."""
    root = np.sqrt(K.shape[1])
    weights = softmax(X @ W_Q @ K.T / root)
    errors = weights @ V - T
    worth = errors @ V.T
    scores = weights * (worth - (weights * worth).sum(axis=1, keepdims=True))
    return W_Q - rate * X.T @ scores @ K / root / len(X), (errors**2).sum(axis=1).mean() / 2


@right
def step_as_a_sum_of_outer_products(W_Q, X, K, V, T, rate):
    """The gradient of each query adds an outer product to that of the matrix."""
    total, loss = np.zeros_like(W_Q), 0.0
    for x, target in zip(X, T, strict=True):
        output = scaled_dot_product_attention((x @ W_Q)[None], K, V)[0][0]
        total += np.outer(x, query_gradient(x @ W_Q, K, V, output - target))
        loss += np.linalg.norm(output - target) ** 2 / 2
    return W_Q - rate * total / len(X), loss / len(X)


@right
def step_with_a_measured_gradient(W_Q, X, K, V, T, rate):
    """Central differences of the loss."""

    def loss(W):
        return float(np.mean(np.sum((scaled_dot_product_attention(X @ W, K, V)[0] - T) ** 2, axis=1)) / 2)

    return W_Q - rate * numerical_gradient(loss, W_Q), loss(W_Q)


@right
def step_towards_the_target(W_Q, X, K, V, T, rate):
    """Plus the rate, with the missing part instead of the error, and a list as the pair."""
    missing = T - scaled_dot_product_attention(X @ W_Q, K, V)[0]
    queries = np.array([query_gradient(q, K, V, m) for q, m in zip(X @ W_Q, missing, strict=True)])
    return [W_Q + rate / len(X) * np.einsum("im,ik->mk", X, queries), np.float64((missing**2).sum() / (2 * len(T)))]
