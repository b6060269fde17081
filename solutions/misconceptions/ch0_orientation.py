"""Wrong solutions of chapter 0. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import numpy as np

from autograder.misconception import misconceptions_of

wrong = misconceptions_of("normalize_rows")


@wrong
def divides_by_column_sums(A):
    """Your columns add up to 1, but your rows do not: each entry is divided by the sum of its column. A table of
    shape (2, 3) has 3 column sums and 2 row sums. In a sum over one axis, `axis` names the axis that goes away. Which
    numbers does each of your sums add up?"""
    return A / A.sum(axis=0, keepdims=True)


@wrong
def divides_by_the_whole_sum(A):
    """All your entries together add up to 1, so each row adds up to less: two equal rows would come to 0.5 each. Every
    row needs its own sum. Which entries does your sum add up? For example, `sum` without an axis adds up all of
    them."""
    return A / A.sum()


@wrong
def sums_lose_their_axis(A):
    """Your row sums are right, but they meet the columns: if A is square, column j is divided by the sum of row j. Most
    other shapes give an error. NumPy lines shapes up from the right, so sums of shape (n,) or (1, n) match the last
    axis. Which shape must the sums have next to the array that you divide?"""
    return A / A.sum(axis=1)


@wrong
def divides_by_the_largest_entry(A):
    """The largest entry of each of your rows is 1, so the row adds up to more than 1. For example, [1, 3] would become
    [0.33, 1], which adds up to 1.33. What must each entry be divided by so that a row adds up to 1?"""
    return A / A.max(axis=1, keepdims=True)


@wrong
def length_one_rows(A):
    """In each of your rows, the squares of the entries add up to 1, but the entries themselves do not. For example, [3,
    4] would become [0.6, 0.8], which adds up to 1.4. Such a row has norm 1. Here the plain sum should be 1, with no
    squares."""
    return A / np.sqrt((A * A).sum(axis=1, keepdims=True))


@wrong
def divides_by_the_row_mean(A):
    """Each of your rows adds up to the number of its entries, not to 1: [1, 3] would become [0.5, 1.5]. That is a
    division by the mean, which is the sum divided by the number of entries. Which of the two leaves a total of 1?"""
    return A / A.mean(axis=1, keepdims=True)


@wrong
def returns_the_row_sums(A):
    """You return the row sums, one number for each row. They are right, but they are only the divisors. The answer
    should have the shape of A. Is the division missing, or is its result not returned?"""
    return A.sum(axis=1)


@wrong
def takes_exp_first(A):
    """Your rows add up to 1, but the proportions inside them have changed. For example, [1, 3] should become [0.25,
    0.75], but your code would give [0.12, 0.88]. You took exp of the entries, which gives a softmax: that comes in
    chapter 1. Here a number that is three times as large should stay three times as large."""
    e = np.exp(A - A.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@wrong
def softmax_of_the_rows(A):
    """Your rows add up to 1, but the proportions inside them have changed. For example, [1, 3] should become [0.25,
    0.75], but your code would give [0.12, 0.88]. You took exp of the entries, which gives a softmax: that comes in
    chapter 1. Here a number that is three times as large should stay three times as large."""
    with np.errstate(all="ignore"):
        e = np.exp(A)
        return e / e.sum(axis=1, keepdims=True)


@wrong
def returns_after_the_first_row(A):
    """You return the first row alone, correctly divided. If you use a loop over the rows, check how far your `return`
    is indented. A function ends at its first `return`, even in the first iteration of a loop."""
    return A[0] / A[0].sum()


@wrong
def every_row_by_the_first_sum(A):
    """Only the first of your rows adds up to 1, because all the others are divided by the first row's sum too. For
    example, with the rows [1, 1] and [2, 2], the second would come to 2. Does your divisor change from row to row? If
    you use a loop, does it get past the first row?"""
    return A / A[0].sum()


@wrong
def sums_run_on(A):
    """Only the first of your rows adds up to 1. Each later row is divided by the sum of all the rows so far, its own
    included. If you add up in a loop, where does the sum of a new row start?"""
    return A / np.cumsum(A.sum(axis=1))[:, None]


@wrong
def leaves_out_the_last_row(A):
    """Your last row is returned unchanged. If you count rows in a loop, at which number does the count end? `range(n)`
    already stops before n."""
    out = A.copy()
    out[:-1] /= out[:-1].sum(axis=1, keepdims=True)
    return out


@wrong
def stays_transposed(A):
    """The numbers are right, but rows and columns are swapped. If you transpose A so that a vector of sums lines up,
    the result has to be transposed back. Where does your code swap axes or indices, and does it swap them back?"""
    return A.T / A.sum(axis=1)


@wrong
def stretched_from_zero_to_one(A):
    """The smallest entry of each of your rows is 0 and the largest is 1. That scaling subtracts before it divides, so
    the proportions are lost. For example, [1, 3] should become [0.25, 0.75], because 1 is a quarter of 4. You need no
    subtraction."""
    low = A.min(axis=1, keepdims=True)
    return (A - low) / (A.max(axis=1, keepdims=True) - low)


@wrong
def subtracts_instead_of_dividing(A):
    """You subtracted the same amount from each entry of a row. So your rows add up to 1, but they may contain numbers
    below 0. For example, [1, 3] should become [0.25, 0.75], but your code would give [-0.5, 1.5]. Which operation keeps
    3 three times as large as 1?"""
    return A - (A.sum(axis=1, keepdims=True) - 1) / A.shape[1]


@wrong
def whole_number_division(A):
    """Your answer contains only whole numbers, most of them 0: each entry was divided and then rounded down. `/` keeps
    the digits after the point. `//` drops them, and so does an array with an integer `dtype`, for example. Where does
    your code lose the digits of a share such as one half?"""
    return A // A.sum(axis=1, keepdims=True)


@wrong
def writes_into_the_rows(A):
    """The numbers are right, but your code writes into A, so A has changed. The caller may still need the old numbers.
    `A /= …` and `A[i] = …` change the array itself. So does writing into `B` after `B = A`, or into a view, such as a
    row from `for row in A` or the slice `A[:]`. `A / …` and `A.copy()` make a new array."""
    A /= A.sum(axis=1, keepdims=True)
    return A


wrong = misconceptions_of("pairwise_dot")


@wrong
def sum_runs_on_in_a_row(X, Y):
    """The first column of your table is right, but each later entry also contains the dot products to the left of it.
    If you add up in a loop, the sum has to start at 0 again for each pair of rows."""
    return np.cumsum(X @ Y.T, axis=1)


@wrong
def sum_runs_on_through_the_table(X, Y):
    """Only the first entry of your table is right. Each later entry also contains all the dot products before it. If
    you add up in a loop, the sum has to start at 0 again for each pair of rows."""
    return np.cumsum(X @ Y.T).reshape(len(X), len(Y))


@wrong
def keys_down_the_side(X, Y):
    """Every number is there, but rows and columns are swapped. Your table has a row for each row of Y. It should have a
    row for each row of X, so that its shape is (n_q, n_k). Does Y come first, in a product or in the outer loop? Or
    does another of your steps swap the two axes?"""
    return Y @ X.T


@wrong
def entry_by_entry(X, Y):
    """Your answer contains the products of the two arrays entry by entry, and they are not added up. The dot product of
    two rows is a single number, the sum of such products. There should be one number for every pair of rows."""
    return X * Y


@wrong
def row_with_its_own_partner(X, Y):
    """Your answer has one number for each row: row i of X is combined only with row i of Y. Every row of X should meet
    every row of Y: for example, 2 rows and 4 rows make 2 * 4 = 8 numbers. Which of your steps pairs the rows one to
    one?"""
    return (X * Y).sum(axis=1)


@wrong
def forgets_to_transpose(X, Y):
    """Your product combines the rows of X with the columns of Y, which runs without an error only if Y is square. `A @
    B` sums over the last axis of A and the first axis of B. In both of your arrays, the axis to sum over, d, comes
    last. So exactly one of the two has to be transposed in the product. Is that so in yours?"""
    return X @ Y


@wrong
def transposes_the_wrong_one(X, Y):
    """Your product sums over the rows, the first axis of both X and Y. Your answer has shape (d, d), and your code runs
    only if X has as many rows as Y. The sum should run over the entries inside the rows, so that (n_q, n_k) is left.
    Where do you take columns instead of rows, for example with a `.T`?"""
    return X.T @ Y


@wrong
def cosine_of_the_angle(X, Y):
    """You divided by the norms of the rows, so none of your numbers is above 1. That is the cosine of the angle between
    two rows. In a plain dot product the norm counts: for example, [1, 0] with [3, 0] gives 3, but with [1, 0] only
    1."""
    return (X @ Y.T) / (np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1) + 1e-12)


@wrong
def cosine_and_nan_for_zeros(X, Y):
    """You divided by the norms of the rows, so none of your numbers is above 1. That is the cosine of the angle between
    two rows. In a plain dot product the norm counts: for example, [1, 0] with [3, 0] gives 3, but with [1, 0] only
    1."""
    with np.errstate(all="ignore"):
        return (X @ Y.T) / (np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1))


@wrong
def cosine_and_zero_for_zeros(X, Y):
    """You divided by the norms of the rows, so none of your numbers is above 1. That is the cosine of the angle between
    two rows. In a plain dot product the norm counts: for example, [1, 0] with [3, 0] gives 3, but with [1, 0] only
    1."""
    norms = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1)
    return (X @ Y.T) / np.where(norms > 0, norms, 1)


@wrong
def distances(X, Y):
    """You computed the distance from each row of X to each row of Y. A distance is 0 for two equal rows and never
    negative, but the dot product of [1, 2] with itself is 5, for example. Multiply the entries in pairs and add up the
    products."""
    return np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1))


@wrong
def x_with_itself(X, Y):
    """You combined the rows of X with the rows of X, so Y has no effect on your answer. Where should your code use Y
    instead of X?"""
    return X @ X.T


@wrong
def y_with_itself(X, Y):
    """You combined the rows of Y with the rows of Y, so X has no effect on your answer. Where should your code use X
    instead of Y?"""
    return Y @ Y.T


@wrong
def never_adds_up(X, Y):
    """Your answer contains the products of every pair of rows, entry by entry, in an array with three axes, (n_q, n_k,
    d). A dot product adds up those d products. Does your code do that, and does it return the result?"""
    return X[:, None, :] * Y[None, :, :]


@wrong
def adds_up_along_the_wrong_axis(X, Y):
    """Your answer has shape (n_q, d): row i is row i of X times the sum of all rows of Y, entry by entry. So your sum
    runs over the rows of Y instead of the entries of a row. The axis d should go away, so that (n_q, n_k) is left."""
    return (X[:, None, :] * Y[None, :, :]).sum(axis=1)


@wrong
def mean_instead_of_sum(X, Y):
    """Your numbers are the right ones divided by d, the number of entries in a row. Each is a mean, but a dot product
    is a sum. For example, [1, 2] with [3, 4] is 3 + 8 = 11, not 5.5."""
    return X @ Y.T / X.shape[1]


@wrong
def product_of_two_sums(X, Y):
    """Each of your numbers is the sum of a row of X times the sum of a row of Y. A product of sums is not a sum of
    products: for example, [1, 2] with [3, 4] is 3 + 8 = 11, not 3 * 7 = 21."""
    return X.sum(axis=1)[:, None] * Y.sum(axis=1)


@wrong
def divides_by_the_root(X, Y):
    """Your numbers are the right ones divided by the square root of d. You may have seen that in formulas for
    attention, and chapter 3 shows what it is for. A plain dot product is not divided by anything."""
    return X @ Y.T / np.sqrt(X.shape[1])


@wrong
def only_the_last_product(X, Y):
    """Each of your numbers is the product of the last entries of the two rows. The earlier entries have no effect. If
    you use a loop over the entries, what happens to each product before the next one is computed?"""
    return X[:, -1:] * Y[:, -1]


@wrong
def one_number_for_everything(X, Y):
    """You return a single number, the sum of all the dot products. Every pair of rows should keep its own number, in a
    table of shape (n_q, n_k)."""
    return (X @ Y.T).sum()


@wrong
def half_of_the_table(X, Y):
    """Below the diagonal, for row i of X and the rows of Y before row i, your table contains zeros. Half of the pairs
    are enough if a table is symmetric. But X and Y are different arrays: row 1 of X with row 0 of Y is not the same as
    row 0 of X with row 1 of Y."""
    return np.triu(X @ Y.T)


@wrong
def flat_list_of_numbers(X, Y):
    """All your numbers are right and in the right order, but they form one long row of n_q * n_k entries. The answer
    should be a table of shape (n_q, n_k), with a row for each row of X."""
    return (X @ Y.T).ravel()


@wrong
def rows_multiplied_in_place(X, Y):
    """Only the first row of your table is right. Your code wrote the products into Y itself, so the second row of X was
    multiplied by changed numbers. The caller's Y has changed too. `Y *= x` changes the array, while `Y * x` makes a new
    array."""
    table = np.zeros((len(X), len(Y)))
    for i, x in enumerate(X):
        Y *= x
        table[i] = Y.sum(axis=1)
    return table


@wrong
def twice_the_products(X, Y):
    """Each of your numbers is twice the right one. If you use the squared distance of two rows, it contains the dot
    product twice, with a minus: |x - y|² = |x|² + |y|² - 2 x · y. Which step makes up for the 2?"""
    return 2 * (X @ Y.T)


@wrong
def the_row_of_y_with_the_number_of_the_row_of_x(X, Y):
    """In each row of your table, all numbers are equal. In row i, each is the dot product of row i of X and row i of Y.
    Which row of Y belongs to column j?"""
    return np.array([[X[i] @ Y[i] for _ in Y] for i in range(len(X))])
