"""Right solutions of chapter 1 that are written differently from the reference. The checks must accept all of them."""

import numpy as np

from autograder.misconception import alternatives_of
from solutions.ch1_weighted_averaging import softmax, weighted_average

right = alternatives_of("weighted_average")


@right
def average_with_loops(weights, X):
    """Two plain loops and a new array."""
    n, d = X.shape
    out = np.zeros(d)
    for i in range(n):
        for j in range(d):
            out[j] += weights[i] * X[i, j]
    return out


@right.worth_reading
def average_with_einsum(weights, X):
    """An einsum over the rows: the letters show which axis is summed over, and that `d` is left."""
    return np.einsum("n,nd->d", weights, X)


@right
def average_with_np_average(weights, X):
    """NumPy's own weighted average."""
    return np.average(X, axis=0, weights=weights)


@right.worth_reading
def average_by_broadcasting(weights, X):
    """The weights as a column, multiplied with the rows and added up. The matrix product does both in one step."""
    return np.sum(weights[:, np.newaxis] * X, axis=0)


@right
def average_with_the_transpose(weights, X):
    """The transposed matrix times the weights."""
    return X.T.dot(weights)


@right
def average_as_a_list(weights, X):
    """A list of numbers, one for each column, made into an array at the end."""
    return np.array([sum(w * x for w, x in zip(weights, column, strict=True)) for column in X.T])


@right
def average_with_python_sum(weights, X):
    """Python's own sum over weighted rows."""
    return sum(w * row for w, row in zip(weights, X, strict=True))


@right
def average_normalised_once_more(weights, X):
    """Divides by the sum of the weights (which is 1) plus a small number that protects the division."""
    return (weights.reshape(-1, 1) * X).sum(0) / (weights.sum() + 1e-9)


@right
def average_as_one_row_squeezed(weights, X):
    """A one-row matrix product, flattened."""
    return (weights.reshape(1, -1) @ X).ravel()


@right
def average_by_growing(weights, X):
    """A copy of the first weighted row that grows in place."""
    total = weights[0] * X[0]
    for i in range(1, len(X)):
        total += weights[i] * X[i]
    return total


right = alternatives_of("hard_lookup")


@right
def lookup_with_a_loop(q, K, V):
    """A loop that remembers the best score so far, starting below every number."""
    best, found = -np.inf, None
    for key, value in zip(K, V, strict=True):
        score = np.dot(key, q)
        if score > best:
            best, found = score, value
    return found


@right
def lookup_with_max_and_a_key(q, K, V):
    """Python's max over the indices, with the score as its key."""
    return V[max(range(len(K)), key=lambda i: float(K[i] @ q))]


@right
def lookup_by_sorting(q, K, V):
    """The last place of the sorted scores."""
    return V[np.argsort(np.inner(K, q))[-1]]


@right.worth_reading
def lookup_with_one_hot_weights(q, K, V):
    """A weighted average with one weight of 1 and all others 0: a hard lookup is the extreme case of a soft one."""
    weights = np.zeros(len(K))
    weights[np.argmax(np.einsum("nd,d->n", K, q))] = 1.0
    return weighted_average(weights, V)


@right
def lookup_with_a_mask(q, K, V):
    """A boolean mask that is true for the best score."""
    scores = (K * q).sum(axis=-1)
    return V[scores == scores.max()][0]


@right
def lookup_with_np_take(q, K, V):
    """np.take along the rows, then a copy."""
    return np.take(V, (q @ K.T).argmax(), axis=0).copy()


@right
def lookup_as_a_list(q, K, V):
    """Sums in plain Python, and a new array with the value."""
    return np.array(V[int(np.argmax([sum(a * b for a, b in zip(q, k, strict=True)) for k in K]))].tolist())


@right
def lookup_with_a_projection(q, K, V):
    """The length of the key's projection onto the query: dividing by the query's length does not change the order."""
    return V[np.argmax(K @ (q / np.linalg.norm(q)))]


right = alternatives_of("softmax")


@right
def softmax_by_log_sum_exp(x, axis=-1):
    """Subtracts the logarithm of the sum of the exps, then takes exp."""
    top = np.max(x, axis=axis, keepdims=True)
    return np.exp(x - top - np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)))


@right.worth_reading
def softmax_by_logaddexp(x, axis=-1):
    """NumPy's logaddexp, which never overflows: subtracting a logarithm before exp is the same as dividing after it."""
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


@right
def softmax_with_moveaxis(x, axis=-1):
    """Moves the axis to the end, works there and moves it back."""
    y = np.moveaxis(x, axis, -1)
    e = np.exp(y - y.max(-1)[..., None])
    return np.moveaxis(e / e.sum(-1)[..., None], -1, axis)


@right
def softmax_along_slices(x, axis=-1):
    """A function of one vector, applied along the axis."""

    def of_a_vector(v):
        e = np.exp(v - max(v))
        return e / sum(e)

    return np.apply_along_axis(of_a_vector, axis, x)


@right
def softmax_with_expand_dims(x, axis=-1):
    """Reductions with the axis restored by hand, and a 1e-9 in the denominator."""
    e = np.exp(x - np.expand_dims(np.max(x, axis), axis))
    return e / (np.expand_dims(np.sum(e, axis), axis) + 1e-9)


@right
def softmax_by_recursion(x, axis=-1):
    """Splits the array along its first axis until only vectors are left, with plain Python numbers there."""

    def along_the_last(y):
        if y.ndim > 1:
            return np.stack([along_the_last(part) for part in y])
        top = max(y)
        exps = [float(np.exp(v - top)) for v in y]
        return np.array([e / sum(exps) for e in exps])

    return np.swapaxes(along_the_last(np.swapaxes(x, axis, -1)), axis, -1)


@right
def softmax_by_pairs(x, axis=-1):
    """One over the sum of exp of the differences from every score. If that is inf, the weight is correctly 0."""
    y = np.moveaxis(x, axis, -1)
    with np.errstate(over="ignore"):
        weights = 1 / np.exp(y[..., None, :] - y[..., :, None]).sum(axis=-1)
    return np.moveaxis(weights, -1, axis)


@right
def softmax_on_a_copy(x, axis=-1):
    """Works in place on a copy of its own, in float64."""
    e = np.array(x, dtype=np.float64)
    e -= np.amax(e, axis=axis, keepdims=True)
    np.exp(e, out=e)
    e /= np.add.reduce(e, axis=axis, keepdims=True)
    return e


@right
def softmax_in_base_two(x, axis=-1):
    """Powers of two with the scores converted: exp(s) is 2 to the s / ln 2."""
    p = np.exp2((x - x.max(axis, keepdims=True)) / np.log(2.0))
    return p / p.sum(axis, keepdims=True)


@right
def softmax_clipped_after_the_shift(x, axis=-1):
    """Shifts by the maximum, then clips exponents far below zero, whose exp is practically 0."""
    e = np.exp(np.clip(x - x.max(axis=axis, keepdims=True), -60.0, 0.0))
    return e / np.clip(e.sum(axis=axis, keepdims=True), 1e-12, None)


right = alternatives_of("soft_lookup")


@right
def soft_lookup_with_loops(q, K, V, temperature=1.0):
    """Loops over keys and values, using NumPy only for exp and the result."""
    scores = [sum(float(a) * float(b) for a, b in zip(q, k, strict=True)) / temperature for k in K]
    top = max(scores)
    exps = [float(np.exp(s - top)) for s in scores]
    out = np.zeros(V.shape[1])
    for e, value in zip(exps, V, strict=True):
        out += e / sum(exps) * value
    return out


@right
def soft_lookup_with_einsum(q, K, V, temperature=1.0):
    """Two einsums around the softmax."""
    weights = softmax(np.einsum("d,nd->n", q, K) / temperature)
    return np.einsum("n,nv->v", weights, V)


@right.worth_reading
def soft_lookup_scaling_the_query(q, K, V, temperature=1.0):
    """Divides the query by the temperature instead of the scores. That is the same, because a score is linear in the
    query."""
    return weighted_average(softmax(K @ (q / temperature)), V)


@right
def soft_lookup_dividing_last(q, K, V, temperature=1.0):
    """Mixes first and divides by the sum of the exps at the end, with a 1e-9 in the denominator."""
    scores = (K * q).sum(axis=1) / temperature
    e = np.exp(scores - scores.max())
    return (e[:, None] * V).sum(axis=0) / (e.sum() + 1e-9)


@right
def soft_lookup_as_a_one_row_matrix(q, K, V, temperature=1.0):
    """Makes the query a matrix with one row, and removes the extra axis at the end."""
    Q = q.reshape(1, -1)
    return (softmax(Q @ K.T / temperature, axis=-1) @ V)[0]


@right
def soft_lookup_with_column_vectors(q, K, V, temperature=1.0):
    """Columns throughout: the softmax runs along axis 0."""
    weights = softmax(K @ q[:, None] * (1.0 / temperature), axis=0)
    return (V.T @ weights).squeeze(axis=1)


@right
def soft_lookup_with_np_average(q, K, V, temperature=1.0):
    """Lets np.average divide by the sum of the exps."""
    scores = np.dot(K, q)
    return np.average(V, axis=0, weights=np.exp((scores - scores.max()) / temperature))


@right
def soft_lookup_by_log_sum_exp(q, K, V, temperature=1.0):
    """Log-sum-exp for the weights, a list of dot products for the mix."""
    scores = np.array([np.vdot(k, q) for k in K]) / temperature
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    return np.array([np.dot(weights, V[:, j]) for j in range(V.shape[1])])
