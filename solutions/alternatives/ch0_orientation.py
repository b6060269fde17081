"""Right solutions of chapter 0 that are written differently from the reference. The checks must accept all of them."""

import numpy as np

from autograder.misconception import alternatives_of

right = alternatives_of("normalize_rows")


@right
def normalize_with_loops(A):
    """Two plain loops that fill a new array."""
    n, m = A.shape
    out = np.zeros((n, m))
    for i in range(n):
        total = 0.0
        for j in range(m):
            total += A[i, j]
        for j in range(m):
            out[i, j] = A[i, j] / total
    return out


@right.worth_reading
def normalize_with_a_new_axis(A):
    """The sums as a column: indexing with None adds an axis, just as `keepdims=True` keeps it."""
    return A / A.sum(1)[:, None]


@right
def normalize_transposed_twice(A):
    """Transposed so that the vector of sums lines up, and then transposed back."""
    return (A.T / A.T.sum(axis=0)).T


@right
def normalize_a_list_of_rows(A):
    """Row by row, stacked again."""
    return np.stack([row / row.sum() for row in A])


@right
def normalize_as_lists(A):
    """Plain Python lists of numbers, and an array only at the end."""
    return np.array([[float(x) / sum(map(float, row)) for x in row] for row in A])


@right
def normalize_with_a_diagonal_matrix(A):
    """A diagonal matrix of one over the sums, which are themselves a product with ones."""
    return np.diag(1 / (A @ np.ones(A.shape[1]))) @ A


@right
def normalize_with_einsum(A):
    """An einsum for the sums and one for the scaling, with a 1e-9 in the denominator."""
    return np.einsum("nm,n->nm", A, 1 / (np.einsum("nm->n", A) + 1e-9))


@right
def normalize_on_a_copy(A):
    """Works in place, on a copy."""
    out = np.array(A, dtype=float)
    out /= out.sum(axis=-1).reshape(-1, 1)
    return out


@right
def normalize_along_the_axis(A):
    """A function of one row, applied along axis 1."""
    return np.apply_along_axis(lambda row: row / np.sum(row), 1, A)


@right
def normalize_through_logarithms(A):
    """Subtracts logarithms, which is possible because the entries are above 0."""
    return np.exp(np.log(A) - np.log(A.sum(axis=1, keepdims=True)))


@right
def normalize_by_the_mean_and_the_width(A):
    """Divides by the mean of each row times the number of its entries."""
    return A / (A.mean(axis=1, keepdims=True) * A.shape[1])


@right
def normalize_with_running_sums(A):
    """The last entry of each row's running sum is its sum."""
    return A / np.cumsum(A, axis=1)[:, -1:]


right = alternatives_of("pairwise_dot")


@right
def pairs_with_loops(X, Y):
    """Three plain loops."""
    out = np.zeros((X.shape[0], Y.shape[0]))
    for i in range(X.shape[0]):
        for j in range(Y.shape[0]):
            for k in range(X.shape[1]):
                out[i, j] += X[i, k] * Y[j, k]
    return out


@right.worth_reading
def pairs_with_einsum(X, Y):
    """An einsum: `d` is in both arrays but not in the answer, so it is summed over. You need no transpose."""
    return np.einsum("id,jd->ij", X, Y)


@right
def pairs_by_broadcasting(X, Y):
    """Every pair of rows multiplied in three axes, summed over the last."""
    return (X[:, None, :] * Y[None, :, :]).sum(-1)


@right
def pairs_as_nested_lists(X, Y):
    """Lists of numbers, and an array only at the end."""
    return np.array([[float(np.dot(x, y)) for y in Y] for x in X])


@right
def pairs_with_inner(X, Y):
    """np.inner sums over the last axis of both."""
    return np.inner(X, Y)


@right
def pairs_with_tensordot(X, Y):
    """np.tensordot over axis 1 of both."""
    return np.tensordot(X, Y, axes=([1], [1]))


@right
def pairs_transposed_at_the_end(X, Y):
    """The other product, transposed."""
    return (Y @ X.T).T


@right
def pairs_as_a_sum_of_outer_products(X, Y):
    """One outer product for each of the d entries, added up."""
    return sum(np.outer(X[:, k], Y[:, k]) for k in range(X.shape[1]))


@right
def pairs_row_by_row(X, Y):
    """A matrix times a vector for each row of X."""
    return np.array([Y @ x for x in X])


@right
def pairs_column_by_column(X, Y):
    """Columns of the answer, stacked side by side."""
    return np.column_stack([X.dot(y) for y in Y])
