"""Wrong solutions of chapter 0, one mistake each, with what a student who made it should hear."""

import numpy as np

from autograder.misconception import misconceptions_of

wrong = misconceptions_of("normalize_rows")


@wrong
def divides_by_column_sums(A):
    """Your columns add up to 1, the rows do not. In a sum, `axis` names the axis that goes away: for shape (2, 3),
    axis 0 leaves 3 sums, one for each column, and axis 1 leaves 2. Which of them do you need?"""
    return A / A.sum(axis=0, keepdims=True)


@wrong
def divides_by_the_whole_sum(A):
    """All your entries together add up to 1, so a row alone stays below it: two equal rows would come to 0.5 each.
    Every row needs a sum of its own. What does `sum` add up when it is not told an axis?"""
    return A / A.sum()


@wrong
def sums_lose_their_axis(A):
    """Your row sums are right, but they come as a vector of shape (n,), and NumPy lines shapes up from the right: a
    vector meets the columns. So column j is divided by the sum of row j when A is square, and for most other shapes
    nothing fits. What shape must the sums have for each one to meet its own row?"""
    return A / A.sum(axis=1)


@wrong
def divides_by_the_largest_entry(A):
    """The largest entry of each of your rows is 1, so the row adds up to more than 1: [1, 3] would become [0.33, 1],
    which is 1.33 in all. What must all the entries of a row be divided by so that together they make one whole?"""
    return A / A.max(axis=1, keepdims=True)


@wrong
def length_one_rows(A):
    """The squares of each row add up to 1 in your answer, the entries themselves do not: for example, [3, 4] would
    become [0.6, 0.8], 1.4 in all. That is a row of norm 1. Here the plain sum is to be 1; no squares come in."""
    return A / np.sqrt((A * A).sum(axis=1, keepdims=True))


@wrong
def divides_by_the_row_mean(A):
    """Each of your rows adds up to the number of its entries, not to 1: [1, 3] would become [0.5, 1.5]. You divided by
    the mean, which is the sum already divided once. Which of the two leaves a total of 1?"""
    return A / A.mean(axis=1, keepdims=True)


@wrong
def returns_the_row_sums(A):
    """You hand back the sums of the rows, one number for each. They are right and you need them, as the divisors of
    the next step: the answer has the shape of A."""
    return A.sum(axis=1)


@wrong
def takes_exp_first(A):
    """Your rows add up to 1, but the proportions inside them have changed: [1, 3] should become [0.25, 0.75] and would
    come out as [0.12, 0.88]. You took exp of the entries, which is a softmax: it comes in chapter 1. Here a number
    three times as large stays three times as large."""
    e = np.exp(A - A.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@wrong
def softmax_of_the_rows(A):
    """Your rows add up to 1, but the proportions inside them have changed: [1, 3] should become [0.25, 0.75] and would
    come out as [0.12, 0.88]. You took exp of the entries, which is a softmax: it comes in chapter 1. Here a number
    three times as large stays three times as large."""
    with np.errstate(all="ignore"):
        e = np.exp(A)
        return e / e.sum(axis=1, keepdims=True)


@wrong
def returns_after_the_first_row(A):
    """You hand back the first row alone, rightly divided. If you go through the rows in a loop, look how far in the
    `return` stands: a function ends as soon as it meets one, even in the first round."""
    return A[0] / A[0].sum()


@wrong
def every_row_by_the_first_sum(A):
    """Only the first of your rows adds up to 1: all the others were divided by the first row's sum too. With rows
    [1, 1] and [2, 2] the second comes to 2. Does your divisor change from row to row?"""
    return A / A[0].sum()


@wrong
def leaves_out_the_last_row(A):
    """Your last row comes back as it was given. If you count rows in a loop, which number does the count end with?
    `range(n)` already stops before n."""
    out = A.copy()
    out[:-1] /= out[:-1].sum(axis=1, keepdims=True)
    return out


@wrong
def stays_transposed(A):
    """The numbers are right, but rows and columns have changed places. Turning A round so that a vector of sums lines
    up is a fine idea; afterwards it has to be turned back."""
    return A.T / A.sum(axis=1)


@wrong
def stretched_from_zero_to_one(A):
    """The smallest entry of each of your rows is 0 and the largest 1. That is another kind of scaling: it moves the
    row before it divides, and proportions are lost. [1, 3] should become [0.25, 0.75], since 1 is a quarter of 4. No
    subtraction is needed."""
    low = A.min(axis=1, keepdims=True)
    return (A - low) / (A.max(axis=1, keepdims=True) - low)


@wrong
def subtracts_instead_of_dividing(A):
    """Your rows were moved, not scaled: an equal part of the surplus was taken from each entry, so they add up to 1
    but may hold numbers below 0. [1, 3] should become [0.25, 0.75] and would come out as [-0.5, 1.5]. Which operation
    keeps 3 three times as large as 1?"""
    return A - (A.sum(axis=1, keepdims=True) - 1) / A.shape[1]


@wrong
def whole_number_division(A):
    """Your answer holds whole numbers only, most of them 0: each entry was divided and then rounded down. A share such
    as one half needs the other division sign: `/` keeps what comes after the point, `//` drops it."""
    return A // A.sum(axis=1, keepdims=True)


@wrong
def writes_into_the_rows(A):
    """The numbers are right, but A is no longer what it was: your code writes the result into the array that it was
    given. Whoever called you may still need the old numbers. `A /= …` and `A[i] = …` change the array itself; `A / …`
    makes a new one."""
    A /= A.sum(axis=1, keepdims=True)
    return A


wrong = misconceptions_of("pairwise_dot")


@wrong
def keys_down_the_side(X, Y):
    """Every number is there, but rows and columns have changed places: the rows of X belong down the side, so the
    answer has shape (n_q, n_k). Yours has a row for each row of Y. Which array has to stand on the left?"""
    return Y @ X.T


@wrong
def entry_by_entry(X, Y):
    """You multiplied the arrays entry by entry. That needs arrays of one shape and gives that shape again; a dot
    product of two rows is a single number, the sum of such products, and there is one for every pair of rows."""
    return X * Y


@wrong
def row_with_its_own_partner(X, Y):
    """You took row i of X with row i of Y, and nothing else: one number for each row. Every row of X is to meet every
    row of Y, so that, for example, 2 rows and 4 rows make 2 * 4 = 8 numbers. Which step of yours pairs the rows up one
    to one?"""
    return (X * Y).sum(axis=1)


@wrong
def forgets_to_transpose(X, Y):
    """Your product combines the rows of X with the columns of Y, which runs without an error only when Y is square.
    `A @ B` sums over the last axis of A and the first of B. Both of your arrays have the axis to be summed, d, in the
    same place: what has to happen to one of them first?"""
    return X @ Y


@wrong
def transposes_the_wrong_one(X, Y):
    """You transposed X instead of Y, and that sums over the rows: the answer has shape (d, d) and needs as many rows
    in X as in Y. The sum must run over the entries inside the rows, so that (n_q, n_k) is left."""
    return X.T @ Y


@wrong
def cosine_of_the_angle(X, Y):
    """You divided by the norms of the rows: none of your numbers is above 1. That is the cosine of the angle between
    two rows. In a plain dot product the norm counts: for example, [1, 0] with [3, 0] gives 3, with [1, 0] only 1."""
    return (X @ Y.T) / (np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1) + 1e-12)


@wrong
def cosine_and_nan_for_zeros(X, Y):
    """You divided by the norms of the rows: none of your numbers is above 1, and a row of zeros makes nan. That is the
    cosine of the angle between two rows. In a plain dot product the norm counts: for example, [1, 0] with [3, 0] gives
    3, with [1, 0] only 1."""
    with np.errstate(all="ignore"):
        return (X @ Y.T) / (np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1))


@wrong
def distances(X, Y):
    """You took the distance from each row of X to each row of Y. For two equal rows that is 0, and it can never be
    negative; the dot product of [1, 2] with itself is 5. Multiply entries in pairs and add the products up."""
    return np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1))


@wrong
def x_with_itself(X, Y):
    """You took the rows of X with the rows of X, so Y has no part in your answer. Look for a place where one of the two
    names should be the other."""
    return X @ X.T


@wrong
def y_with_itself(X, Y):
    """You took the rows of Y with the rows of Y, so X has no part in your answer. Look for a place where one of the two
    names should be the other."""
    return Y @ Y.T


@wrong
def never_adds_up(X, Y):
    """You have the products of every pair of rows, entry by entry, in an array of three axes, (n_q, n_k, d). One step
    is left: a dot product adds those d products up. Along which axis?"""
    return X[:, None, :] * Y[None, :, :]


@wrong
def adds_up_along_the_wrong_axis(X, Y):
    """The products of every pair of rows are right, in shape (n_q, n_k, d), but you added up along the second axis:
    over the rows of Y instead of over the entries of a row. What should go away is d, so that (n_q, n_k) is left."""
    return (X[:, None, :] * Y[None, :, :]).sum(axis=1)


@wrong
def mean_instead_of_sum(X, Y):
    """Your numbers are the right ones divided by d, the number of entries in a row: you took a mean where a dot
    product takes a sum. For example, [1, 2] with [3, 4] is 3 + 8 = 11, not 5.5."""
    return X @ Y.T / X.shape[1]


@wrong
def divides_by_the_root(X, Y):
    """Your numbers are the right ones divided by the square root of d. You may have seen that in formulas of attention,
    and chapter 3 will show what it is for. A plain dot product divides by nothing."""
    return X @ Y.T / np.sqrt(X.shape[1])


@wrong
def only_the_last_product(X, Y):
    """Each of your numbers is the product of the last entries of the two rows, and the entries before leave no trace.
    If you go through the entries in a loop, each product has to be added to what is there, not put in its place."""
    return X[:, -1:] * Y[:, -1]


@wrong
def one_number_for_everything(X, Y):
    """You hand back a single number: all the dot products added together. Every pair of rows keeps its own number, in a
    table of shape (n_q, n_k)."""
    return (X @ Y.T).sum()


@wrong
def half_of_the_table(X, Y):
    """Below the diagonal your table holds zeros: a row of X never meets the rows of Y that come before its own number.
    Skipping half of the pairs saves work when a table is symmetric, but X and Y are different arrays: row 1 with row 0
    is not row 0 with row 1."""
    return np.triu(X @ Y.T)


@wrong
def flat_list_of_numbers(X, Y):
    """All your numbers are right and in the right order, but in one long row of n_q * n_k entries. What is asked for is
    a table of shape (n_q, n_k), a row for each row of X."""
    return (X @ Y.T).ravel()


@wrong
def rows_multiplied_in_place(X, Y):
    """Only the first row of your table is right. To make it, your code wrote the products into Y itself, so the second
    row of X already met other numbers, and whoever gave you Y finds it spoilt. `Y *= x` changes the array; `Y * x` makes
    a new one."""
    table = np.zeros((len(X), len(Y)))
    for i, x in enumerate(X):
        Y *= x
        table[i] = Y.sum(axis=1)
    return table
